"""Judges, compares and shows stored corpora. ``sds_harness.corpus`` defines their content and records them."""

"""Stored corpora judged, compared and shown. What is in one, and how it is recorded, is in ``sds_harness.corpus``."""

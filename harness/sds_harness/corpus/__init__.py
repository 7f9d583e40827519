"""Corpora: many performances as Parquet, recorded by Spark jobs. FORMAT.md beside this file says what is in one."""

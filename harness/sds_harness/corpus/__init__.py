"""Corpora: many group traces as Parquet files, recorded by Spark jobs. FORMAT.md in this folder describes the
format."""

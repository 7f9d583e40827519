"""Reports: reads what ``run --report`` wrote, and renders pages, certificates and comparisons.

Everything is rendered from a `reading.Report` alone, so that the result is the same during the run and later. Reports
are not trusted: their texts can come from an implementation, and anybody can write such a file.
"""

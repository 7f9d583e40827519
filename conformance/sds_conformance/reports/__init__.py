"""Reports: reads what ``run --report`` wrote, and renders pages, certificates and comparisons.

Each form of a report is rendered from a `report.Report` alone, so that the result is the same at the end of the run and
later.
Reports are untrusted: their texts can come from an implementation, and anybody can write a report file.
"""

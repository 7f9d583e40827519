"""Reports: what ``run --report`` left, read again, and made into pages, certificates and comparisons.

Everything here is made from a `reading.Report` and from nothing else, so that it comes out the same at once and later.
Whatever stands in a report may be hostile: it can come from an implementation, or from whoever wrote the file.
"""

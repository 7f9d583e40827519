"""Compares several reports: what differs, what got better and worse, and when.

``columns.py`` extracts what can be compared from each report, ``comparison.py`` compares reports with each other, and
``history.py`` follows dated reports. The other modules render the result for terminals, as Markdown, HTML and JSON.
"""

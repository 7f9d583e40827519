"""Compares several reports: their differences, and the changes from one report to the next.

``columns.py`` extracts the comparable parts of each report, ``comparison.py`` compares reports with each other, and
``history.py`` follows dated reports. ``limits.py`` compares measured limits. The other modules render the result for
terminals, as Markdown and as HTML.
"""

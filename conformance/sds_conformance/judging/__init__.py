"""Judging: what checks and scenarios are, how they are played, and the verdicts that come of it.

Knows no protocol: what is judged by, a protocol hands over.
"""

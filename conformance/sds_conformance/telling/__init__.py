"""Telling: what was found, as a story on a terminal and as JSON."""

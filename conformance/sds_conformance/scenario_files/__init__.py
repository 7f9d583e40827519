"""Scenario files: schedules that users write, and what must be seen when they are played.

``reader`` reads files and makes scenarios of them. ``expectations`` compares what was seen with what was expected.
"""

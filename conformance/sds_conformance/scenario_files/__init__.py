"""Scenario files: schedules that users write, with expectations about the result.

``reader`` reads files and makes scenarios of them. ``expectations`` compares what was seen with what was expected.
"""

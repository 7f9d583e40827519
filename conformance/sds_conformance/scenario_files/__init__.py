"""Scenario files: schedules that users write, with expectations about the result.

``reader`` reads files and makes scenarios from them. ``expectations`` compares a trace with the expectations.
"""

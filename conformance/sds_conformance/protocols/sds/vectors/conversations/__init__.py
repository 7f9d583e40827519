"""Transcripts: whole conversations of one participant, step by step.

``recording`` turns a scenario, as it is played on the reference, into steps that anybody can play. ``playing`` plays
them on an implementation, and says what came out in words that do not depend on its choice of IDs and filters.
"""

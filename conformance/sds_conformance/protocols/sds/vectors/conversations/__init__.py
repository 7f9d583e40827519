"""Transcripts: conversations of one participant, step by step.

``recording`` converts a scenario, as it is played on the reference, to steps that every implementation can play.
``transcript_player`` plays them and describes the results in a form that does not depend on the implementation's IDs
and filters.
"""

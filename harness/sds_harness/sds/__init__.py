"""Plays schedules of SDS: participants, scripted peers, codecs, and generated schedules."""

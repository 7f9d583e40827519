"""Reads traces of SDS: the messages, signals and states of a participant in a channel, and the behaviour that the
specification demands given these. An "own" message is one that the participant sent itself.
"""

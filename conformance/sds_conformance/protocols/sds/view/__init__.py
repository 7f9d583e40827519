"""Reads traces of SDS: the facts of a participant in a channel, and the behaviour that the text demands given these
facts.
"""

"""Reads traces of SDS: the messages, signals and states of a participant in a channel.

From these, the package computes the behaviour that the specification demands. An "own" message is one that the
participant sent itself.
"""

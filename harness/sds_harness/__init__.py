"""Drives implementations of a protocol from the outside and records what they do as traces.

From the wire up: ``process`` (a child and its watchdog; ``family``: all that come of it), ``link`` (framing),
``session`` (handshake, rules of the testee protocol), ``stage`` (virtual time, participants, scripted
peers), ``trace`` (what happened). ``signals`` says how a program of ours ends when it is asked to.
"""

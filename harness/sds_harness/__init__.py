"""Drives implementations of a protocol from outside and records their behaviour as traces.

These are the layers, from the wire up: ``process`` (the child process and its watchdog; ``family`` finds all
descendants of it), ``link`` (framing), ``session`` (handshake and rules of the testee protocol), ``stage`` (virtual
time, participants, scripted peers), ``trace`` (the recorded steps). ``signals`` ends the program in order on SIGINT,
SIGTERM and SIGHUP.
"""

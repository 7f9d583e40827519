"""Vectors asked of an implementation: pure functions by the codec operations, the rest of a participant.

``subject`` is the implementation and what was answered, ``asking`` goes through the vectors, the other modules know one
shape each. What is expected is never sent.
"""

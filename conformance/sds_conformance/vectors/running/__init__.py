"""Vectors asked of an implementation.

``subject`` is the implementation and what was answered, ``asking`` goes through the vectors; who asks for a shape comes
with the protocol.
"""

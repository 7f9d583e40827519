"""Runs vectors on an implementation.

``subject`` is the implementation and its answers, ``asking`` runs the vectors; the protocol provides a function for
each shape.
"""

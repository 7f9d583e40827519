"""Runs vectors on an implementation.

``subject`` has the implementation and its answers. ``examination`` runs the vectors, with a function of the protocol
for each shape. ``causes`` finds the root causes of wrong answers.
"""

"""Asks an implementation of ClearSkies the vectors of each shape."""

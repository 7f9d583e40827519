"""Plays the vectors of each shape with an implementation of ClearSkies."""

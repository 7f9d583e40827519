"""Plays the vectors of each shape with an implementation. The expected outcome is never sent to it."""

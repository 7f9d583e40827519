"""Asks an implementation the vectors of each shape. What is expected is never sent to it."""

"""Measures limits: the size of each dimension is increased until something breaks."""

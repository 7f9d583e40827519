"""Derives faults from the source of a model by rules: where to alter it, how to play it, and what detects the fault."""

"""Faults derived from a model's own source by rule: where they can be made, how they are played, what finds them."""

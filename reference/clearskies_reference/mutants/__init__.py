"""Mutants: the model with exactly one fault each, to prove that every check can fail.

One module per group of sections; a mutant overrides one step of Peer or LogicalClock, and says whose violation it is.
"""

from . import conflicts, contents, exchanges, layout, persistence, taking, updates
from .registry import MUTANTS, Mutant

__all__ = ["MUTANTS", "Mutant", "conflicts", "contents", "exchanges", "layout", "persistence", "taking", "updates"]

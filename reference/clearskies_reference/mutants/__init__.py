"""Mutants: the model with exactly one fault each, to prove that every check can fail.

Each module has the faults of related sections of the specification. A mutant overrides steps of Peer or
LogicalClock, and names the requirement that it violates. Importing this package registers all mutants.
"""

from importlib import import_module
from pkgutil import walk_packages

from .registry import MUTANTS, Mutant, join_mutants

for _module in walk_packages(__path__, f"{__name__}."):
    import_module(_module.name)

__all__ = ["MUTANTS", "Mutant", "join_mutants"]

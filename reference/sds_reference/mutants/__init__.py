"""Mutants: the reference model with exactly one fault each, to prove that every check can fail.

One module per group of sections; a mutant overrides one step of Channel, Repair or Participant, and says whose
violation it is. ``core`` is about SDS, ``repair`` about its extension SDS-R, ``forum`` about the proposal of 2024, many
of whose faults are those of core. Importing this package registers all of them.
"""

from importlib import import_module
from pkgutil import walk_packages

from .registry import MUTANTS, Mutant, joined

for _module in walk_packages(__path__, f"{__name__}."):
    import_module(_module.name)

__all__ = ["MUTANTS", "Mutant", "joined"]

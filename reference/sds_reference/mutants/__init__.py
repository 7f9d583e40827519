"""Mutants: the reference model with exactly one fault each, to prove that every check can fail.

One module per group of sections; a mutant overrides one step of Channel, Repair or Participant, and says whose
violation it is. ``core`` is about SDS, ``repair`` about its extension SDS-R, ``forum`` about the proposal of 2024, many
of whose faults are those of core.
"""

from . import core, forum, repair
from .registry import MUTANTS, Mutant

__all__ = ["MUTANTS", "Mutant", "core", "forum", "repair"]

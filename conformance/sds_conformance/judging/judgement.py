"""What a check says of one place in a trace."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from functools import lru_cache

from sds_harness.trace import Step


class Outcome(Enum):
    """One observation of a check. A check that makes none was not exercised."""

    HELD = "held"
    """The situation the requirement speaks of arose, and the requirement was met."""
    VIOLATED = "violated"
    NOTED = "noted"
    """The situation arose, and what was seen is worth a word but no reproach."""


@dataclass(slots=True)
class Observation:
    """One observation, at one step; it does not change, for several may be one and the same object."""

    outcome: Outcome
    step: int
    code: str = ""
    """Of a violation: how the requirement is violated, one of `Requirement.codes`."""
    expected: str = ""
    seen: str = ""
    position: str = ""
    """The position that softens a violation to a warning, "" if none does."""


def held(step: Step) -> Observation:
    """The requirement was exercised here and met."""
    return _held_at(step.index)


@lru_cache(4_096)
def _held_at(index: int) -> Observation:
    """Nearly all observations are of this kind, and ten of them are made of each step."""
    return Observation(Outcome.HELD, index)


def violated(step: Step, code: str, expected: str, seen: str, position: str = "") -> Observation:
    """The requirement was violated here, in the way that ``code`` names: ``expected`` and ``seen`` as half sentences
    for the story."""
    return Observation(Outcome.VIOLATED, step.index, code, expected, seen, position)


def noted(step: Step, seen: str) -> Observation:
    """Exercised, with something to tell."""
    return Observation(Outcome.NOTED, step.index, seen=seen)


def judged(step: Step, code: str, met: bool, expected: str, seen: str, position: str = "") -> Observation:
    """The requirement was exercised here, and ``met`` or violated."""
    return _held_at(step.index) if met else violated(step, code, expected, seen, position)

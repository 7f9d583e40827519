"""The observations that a check makes in a trace."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from functools import lru_cache

from sds_harness.trace import Step


class Outcome(Enum):
    """Result of one observation. A requirement about which its check observes nothing was not exercised."""

    HELD = "held"
    """The situation of the requirement arose, and the requirement was met."""
    VIOLATED = "violated"
    NOTED = "noted"
    """The situation of the requirement arose, and something was seen that is worth reporting but is no violation."""


@dataclass(slots=True)
class Observation:
    """One observation at one step. Do not modify it: several places may share one object."""

    outcome: Outcome
    step: int
    code: str = ""
    """How the requirement is violated, one of `Requirement.codes`; only for violations."""
    expected: str = ""
    seen: str = ""
    position: str = ""
    """The position that softens a violation to a warning; "" if none does."""


def observe_met(step: Step) -> Observation:
    """Observe that the requirement was exercised and met at a step."""
    return _observe_met_at(step.index)


@lru_cache(4_096)
def _observe_met_at(index: int) -> Observation:
    """Return the observation of a met requirement. Cached, because there are about ten such observations per step."""
    return Observation(Outcome.HELD, index)


def observe_violation(step: Step, code: str, expected: str, seen: str, position: str = "") -> Observation:
    """Observe a violation at a step. ``code`` is one of `Requirement.codes`; ``expected`` and ``seen`` are parts of
    sentences for reports.
    """
    return Observation(Outcome.VIOLATED, step.index, code, expected, seen, position)


def observe_note(step: Step, seen: str) -> Observation:
    """Observe that the requirement was exercised, and report ``seen``, a deviation that is not a violation."""
    return Observation(Outcome.NOTED, step.index, seen=seen)


def observe_outcome(step: Step, code: str, met: bool, expected: str, seen: str, position: str = "") -> Observation:
    """Observe that the requirement was met or violated at a step, as ``met`` says."""
    return _observe_met_at(step.index) if met else observe_violation(step, code, expected, seen, position)

"""Counts the violations of a requirement by code, and stores their steps and runs."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import NamedTuple

MAX_STEPS = 64
"""Maximum number of steps that are stored per run."""


class ViolationKind(NamedTuple):
    """The code and the severity of a violation."""

    code: str
    """One of `Requirement.codes`."""
    severity: str
    """``fail`` or ``warn``."""


@dataclass
class Tally:
    """All violations of one requirement."""

    kinds: dict[ViolationKind, Counter[str]] = field(default_factory=dict)
    """Maps each kind to the number of violations in each scenario."""
    places: dict[str, set[int]] = field(default_factory=dict)
    """Maps each run to the steps that violate the requirement."""

    def add(self, run: str, scenario: str, step: int, kind: ViolationKind) -> None:
        self.kinds.setdefault(kind, Counter())[scenario] += 1
        steps = self.places.setdefault(run, set())
        if len(steps) < MAX_STEPS:
            steps.add(step)

    @property
    def total(self) -> int:
        return sum(sum(scenarios.values()) for scenarios in self.kinds.values())

    @property
    def scenarios(self) -> list[str]:
        """Names of the scenarios with violations, those with the most violations first."""
        counted: Counter[str] = sum(self.kinds.values(), Counter())
        return [name for name, _ in counted.most_common()]

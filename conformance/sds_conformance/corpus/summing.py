"""What a diff has to say in all, added up: by each task of its range, and on the driver of all tasks.

It is as large as there are ways to differ, and no more of those are held than are ever told, so that a task can hand
its sum over as one small row.
"""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from .classifying import Class, Classified

MOST_CAUSES = 200
"""Causes that are told; the rest are counted. An implementation may differ in as many ways as it likes."""
_HELD = 20 * MOST_CAUSES
"""Causes that a sum keeps apart."""
SAMPLES = 3
"""Schedules that are shown of each cause."""


@dataclass(frozen=True)
class Cause:
    """Divergences that have the same class and the same cause."""

    kind: Class
    cause: str
    reason: str
    schedules: int
    least_step: int
    """The earliest first step."""
    samples: tuple[int, ...]
    """Schedules to look at, those that differ earliest first."""


@dataclass
class _Alike:
    """Of one class and one cause."""

    reason: str
    schedules: int = 0
    first: list[tuple[int, int]] = field(default_factory=list)
    """Step and schedule of those that differ earliest, ascending."""

    def add(self, reason: str, schedules: int, first: Iterable[tuple[int, int]]) -> None:
        self.reason = min(self.reason, reason)
        self.schedules += schedules
        self.first = heapq.nsmallest(SAMPLES, [*self.first, *first])


@dataclass
class Sum:
    """Counts of divergent schedules."""

    classes: Counter[Class] = field(default_factory=Counter)
    alike: dict[tuple[Class, str], _Alike] = field(default_factory=dict)
    violated_a: Counter[str] = field(default_factory=Counter)
    """By requirement or property: schedules in which A violates it."""
    violated_b: Counter[str] = field(default_factory=Counter)
    fields: Counter[str] = field(default_factory=Counter)
    """By normative column: schedules that first differ in it."""
    depths: Counter[tuple[Class, int]] = field(default_factory=Counter)
    """By class and power of two: schedules whose first step that differs is from there up to the next."""

    def add(self, one: Classified) -> None:
        """One divergence more."""
        divergence = one.divergence
        self.classes[one.kind] += 1
        self._alike(one.kind, one.cause, one.reason, 1, [(divergence.step, divergence.schedule)])
        self.violated_a.update(one.violated_a)
        self.violated_b.update(one.violated_b)
        self.fields.update(divergence.fields)
        self.depths[one.kind, max(1, divergence.step).bit_length() - 1] += 1

    def _alike(self, kind: Class, cause: str, reason: str, schedules: int, first: Iterable[tuple[int, int]]) -> None:
        key = (kind, cause)
        if key in self.alike or len(self.alike) < _HELD:
            self.alike.setdefault(key, _Alike(reason)).add(reason, schedules, first)

    def merge(self, other: Sum) -> None:
        """What another range has to say."""
        self.classes.update(other.classes)
        for (kind, cause), alike in other.alike.items():
            self._alike(kind, cause, alike.reason, alike.schedules, alike.first)
        self.violated_a.update(other.violated_a)
        self.violated_b.update(other.violated_b)
        self.fields.update(other.fields)
        self.depths.update(other.depths)

    @property
    def causes(self) -> list[Cause]:
        """The most frequent ones of all, in the order of their classes."""
        order = list(Class)
        ranked = sorted(self.alike.items(), key=lambda item: (-item[1].schedules, order.index(item[0][0]), item[0][1]))
        told = [
            Cause(kind, cause, alike.reason, alike.schedules, alike.first[0][0], tuple(n for _, n in alike.first))
            for (kind, cause), alike in ranked[:MOST_CAUSES]
        ]
        return sorted(told, key=lambda cause: (order.index(cause.kind), -cause.schedules, cause.cause))


def most_common(counts: Counter[str]) -> dict[str, int]:
    """The most frequent ones, ties in the order of the alphabet."""
    return dict(sorted(counts.items(), key=lambda item: (-item[1], item[0]))[:MOST_CAUSES])

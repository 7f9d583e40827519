"""The sum of a diff: a task adds up its range of schedules, and the driver adds up the tasks.

It is as large as there are ways to differ, and no more of those are held than are ever told. A task hands its sum over
as rows of plain columns: what comes from another machine is read as data, and never unpickled.
"""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa

from .classifying import Class, Classified

MOST_CAUSES = 200
"""Causes that are told; the rest are counted. An implementation may differ in as many ways as it likes."""
_HELD = 20 * MOST_CAUSES
"""Causes that a sum keeps apart."""
SAMPLES = 3
"""Schedules that are shown of each cause."""
ROWS = "what string, kind string, name string, reason string, number long, steps array<long>, schedules array<long>"
"""The columns of a sum as rows, in the words of Spark SQL."""
_COLUMNS: dict[str, pa.DataType] = {
    **dict.fromkeys(("what", "kind", "name", "reason"), pa.string()),
    "number": pa.int64(),
    **dict.fromkeys(("steps", "schedules"), pa.list_(pa.int64())),
}
SCHEMA = pa.schema(_COLUMNS)
"""The same for Arrow."""
_BY_NAME = ("violated_a", "violated_b", "fields")


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

    def rows(self) -> Iterator[dict[str, Any]]:
        """The sum as rows."""
        for kind, count in self.classes.items():
            yield _row("class", count, kind)
        for (kind, cause), alike in self.alike.items():
            steps, schedules = [step for step, _ in alike.first], [schedule for _, schedule in alike.first]
            yield _row("cause", alike.schedules, kind, cause, alike.reason, steps, schedules)
        for what in _BY_NAME:
            for name, count in getattr(self, what).items():
                yield _row(what, count, name=name)
        for (kind, depth), count in self.depths.items():
            yield _row("depth", count, kind, steps=[depth])

    def take(self, row: dict[str, Any]) -> None:
        """Add what a row of another sum says. Raises ValueError for one that no sum gives."""
        what, name, count = row["what"], row["name"], row["number"]
        if what in _BY_NAME:
            getattr(self, what)[name] += count
            return
        kind = Class(row["kind"])
        match what:
            case "class":
                self.classes[kind] += count
            case "cause":
                self._alike(kind, name, row["reason"], count, zip(row["steps"], row["schedules"], strict=True))
            case "depth":
                (depth,) = row["steps"]
                self.depths[kind, depth] += count
            case _:
                raise ValueError(f"no sum of a diff has a row of {what!r}")

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


def _row(
    what: str,
    number: int,
    kind: Class | None = None,
    name: str = "",
    reason: str = "",
    steps: Iterable[int] = (),
    schedules: Iterable[int] = (),
) -> dict[str, Any]:
    return {
        "what": what,
        "kind": kind.value if kind is not None else "",
        "name": name,
        "reason": reason,
        "number": number,
        "steps": list(steps),
        "schedules": list(schedules),
    }


def most_common(counts: Counter[str]) -> dict[str, int]:
    """The most frequent ones, ties in the order of the alphabet."""
    return dict(sorted(counts.items(), key=lambda item: (-item[1], item[0]))[:MOST_CAUSES])

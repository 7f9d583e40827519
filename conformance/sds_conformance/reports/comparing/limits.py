"""Compares the measured limits of implementations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from itertools import permutations
from typing import Any

from sds_harness.declaration import printable

from ...exploration.limits.case import SizeOutcome
from ...exploration.limits.row import Weight
from ...exploration.limits.words import number
from ..limits import TONES

MARKS = {
    "+": "no larger size was tried, or none exists",
    "!": "smaller than the declared or the demanded limit",
    "..": "the limit is between the two sizes",
    "-": "not exercised",
    "·": "not measured",
    "N^x": "the cost of a message, by the number of messages",
}
"""Marks that are shown next to a size or instead of a size, with their descriptions."""


@dataclass(frozen=True)
class Extent:
    """The limit of one implementation in one dimension. All strings are printable."""

    title: str
    verdict: str
    held: int | None
    first_not: int | None
    exact: bool
    how: str | None
    requirement: str | None
    timed: bool
    exponent: float | None

    @classmethod
    def from_row(cls, row: Mapping[str, Any]) -> Extent:
        known = {one.name: row[one.name] for one in fields(cls)}
        known["title"] = printable(row["title"], 40)
        known["requirement"] = printable(row["requirement"] or "", 40) or None
        return cls(**known)

    @property
    def tone(self) -> str:
        """Return the verdict whose colour is used for the limit."""
        return TONES[self.verdict]

    @property
    def size(self) -> str:
        """The largest size that held, with one of the `MARKS`; for a cost, how it grows."""
        if self.held is None:
            return "-"
        if self.timed and self.first_not is None:
            if self.exponent is None:
                return "-"
            return f"N^{self.exponent:.2f}" if self.verdict == Weight.WARNING.value else "steady"
        if self.first_not is None:
            return f"{number(self.held)}+"
        upto = "" if self.exact or self.first_not <= self.held + 1 else f"..{number(self.first_not - 1)}"
        return f"{number(self.held)}{upto}{'!' if self.verdict == Weight.FINDING.value else ''}"

    @property
    def failure(self) -> str:
        """The failure at the first failing size; "" if no size failed."""
        return ", ".join(filter(None, (self.how, self.requirement)))

    def less_than(self, other: Extent) -> bool:
        """Return whether this limit is certainly smaller than the limit ``other``.

        Sizes that were not tried, or that were only too slow, are ignored, because the machine may be the reason.
        """
        if self.first_not is None or other.held is None or self.how == SizeOutcome.SLOW.value:
            return False
        return self.first_not <= other.held


@dataclass(frozen=True)
class DimensionReach:
    """The limits of all compared reports in one dimension."""

    dimension: str
    cells: tuple[Extent | None, ...]
    """The limit of each column; None if it was not measured."""

    @property
    def title(self) -> str:
        return next(cell.title for cell in self.cells if cell is not None)

    @property
    def differs(self) -> bool:
        """Return whether the limits differ, or their verdicts, or the growth of the cost."""
        there = [cell for cell in self.cells if cell is not None and cell.held is not None]
        faults = {cell.verdict == Weight.FINDING.value for cell in there}
        grows = {cell.verdict == Weight.WARNING.value for cell in there if cell.exponent is not None}
        return any(a.less_than(b) for a, b in permutations(there, 2)) or len(faults) > 1 or len(grows) > 1

    def to_json(self) -> dict[str, Any]:
        extents = [
            None if cell is None else {key: value for key, value in vars(cell).items() if key not in ("title", "timed")}
            for cell in self.cells
        ]
        return {"dimension": self.dimension, "title": self.title, "differs": self.differs, "extents": extents}


def extents(limits: Mapping[str, Any] | None) -> dict[str, Extent]:
    """Return the limits of a report, by dimension."""
    return (
        {printable(row["dimension"], 40): Extent.from_row(row) for row in limits["rows"]} if limits is not None else {}
    )


def compare_limits(columns: Sequence[Mapping[str, Extent]]) -> tuple[DimensionReach, ...]:
    """Return a row for each dimension, in the order of first appearance."""
    names = dict.fromkeys(name for column in columns for name in column)
    return tuple(DimensionReach(name, tuple(column.get(name) for column in columns)) for name in names)


def smaller(before: Mapping[str, Extent], after: Mapping[str, Extent]) -> list[str]:
    """Return the dimensions with a smaller limit than before, each with both sizes."""
    both = ((before[name], after[name]) for name in before if name in after)
    return [f"{then.title} ({then.size} → {now.size})" for then, now in both if now.less_than(then)]

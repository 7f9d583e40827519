"""Reports side by side: a row for each requirement, and what changed from one report to the next."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from fnmatch import fnmatchcase
from functools import cached_property
from itertools import pairwise
from typing import Any

from ...judging.verdict import Verdict
from .cautions import cautions
from .columns import ABSENT, Column, Told, Way, in_order, titled
from .limits import Reach, reaches

SCHEMA_ID = "sds-conformance/comparison/1"
_RANK = {Verdict.FAIL.value: 0, Verdict.WARN.value: 1, Verdict.PASS.value: 2}
"""The verdicts of what was judged, the worst first."""
_VIOLATED = {Verdict.FAIL.value, Verdict.WARN.value}


class Change(Enum):
    """What became of a requirement from one report to another."""

    WORSE = "worse"
    BETTER = "better"
    OTHERWISE = "violated in another way"
    NO_LONGER = "no longer judged"
    NOW = "now judged"
    STILL_NOT = "still not judged"
    """For another reason than before."""


@dataclass(frozen=True)
class Step:
    """A requirement of which two reports do not say the same."""

    told: Told
    before: str
    after: str


@dataclass(frozen=True)
class Changes:
    """The requirements of which the same became."""

    change: Change
    steps: list[Step]

    @property
    def named(self) -> list[Step]:
        """Those to be told by name: of what was judged in one report only, what is violated in it."""
        if self.change in (Change.WORSE, Change.BETTER, Change.OTHERWISE):
            return self.steps
        return [step for step in self.steps if _VIOLATED & {step.before, step.after}]

    @property
    def others(self) -> str:
        """How many the others are, by their verdicts where they have one; "" if there are none."""
        rest = [step for step in self.steps if step not in self.named]
        counted = Counter(next((v for v in (s.before, s.after) if v in _RANK), s.after) for s in rest)
        return ", ".join(f"{number} {verdict}" for verdict, number in counted.items())


@dataclass(frozen=True)
class Row:
    """One requirement."""

    told: Told
    cells: tuple[str, ...]
    """By column: the verdict, or why there is none."""
    otherwise: frozenset[int]
    """The columns in which it is violated in another way than in the one before."""

    @property
    def differs(self) -> bool:
        """Do those that have a verdict disagree?"""
        return len(set(self.cells) - set(ABSENT)) > 1 or bool(self.otherwise)

    @property
    def everywhere(self) -> bool:
        """Has each a verdict?"""
        return not set(self.cells) & set(ABSENT)


@dataclass(frozen=True)
class Choice:
    """One position of the text, and who goes which way."""

    position: str
    topic: str
    cells: tuple[tuple[Way, ...] | None, ...]
    """By column: the ways it was seen to go; empty where no run showed any, None where the report says nothing."""

    @property
    def differs(self) -> bool:
        """Do those that were seen go different ways?"""
        return len({self.ways_of(number) for number, ways in enumerate(self.cells) if ways}) > 1

    def ways_of(self, number: int) -> frozenset[str]:
        """The names of the ways that a column was seen to go."""
        return frozenset(way.way for way in self.cells[number] or ())

    @property
    def shown(self) -> bool:
        """Was anyone seen to go a way?"""
        return any(self.cells)

    def sides(self) -> list[tuple[str, list[tuple[int, Way]]]]:
        """By what a way is, in words: the columns that go it, with where that shows. One may stand on several sides."""
        out: dict[str, list[tuple[int, Way]]] = {}
        for number, ways in enumerate(self.cells):
            for way in ways or ():
                out.setdefault(f"{way.way}: {way.words}" if way.words else way.way, []).append((number, way))
        return list(out.items())

    @property
    def mixed(self) -> list[int]:
        """The columns that were seen to go several ways."""
        return [number for number, ways in enumerate(self.cells) if ways and len(ways) > 1]

    @property
    def unseen(self) -> list[int]:
        """The columns of which nothing can be told."""
        return [number for number, ways in enumerate(self.cells) if not ways]


@dataclass(frozen=True)
class Comparison:
    """Several reports, in the order in which they were given."""

    columns: tuple[Column, ...]
    rows: tuple[Row, ...]
    choices: tuple[Choice, ...]
    reaches: tuple[Reach, ...] = ()
    """How far they hold, as far as that was measured."""

    @property
    def differences(self) -> list[Row]:
        return [row for row in self.rows if row.differs]

    @property
    def agreements(self) -> list[Row]:
        return [row for row in self.rows if not row.differs]

    @cached_property
    def cautions(self) -> list[str]:
        """What keeps the reports from being compared fairly, in sentences."""
        return cautions(self.columns)

    def agreed(self) -> dict[str, int]:
        """How many requirements all have the same verdict on, by verdict; the rest is judged by some of them only."""
        counted = Counter(row.cells[0] if row.everywhere else "" for row in self.agreements)
        return {verdict.value: counted[verdict.value] for verdict in Verdict if counted[verdict.value]} | (
            {"": counted[""]} if counted[""] else {}
        )

    @property
    def pairs(self) -> list[tuple[int, int]]:
        """The reports between which changes are told."""
        return _pairs(self.columns)

    def changes(self, before: int, after: int) -> list[Changes]:
        """What changed between two reports, what got worse first."""
        a, b = self.columns[before], self.columns[after]
        found: dict[Change, list[Step]] = {change: [] for change in Change}
        for row in self.rows:
            if (change := changed(a, b, row.told.id)) is not None:
                found[change].append(Step(row.told, row.cells[before], row.cells[after]))
        return [Changes(change, steps) for change, steps in found.items() if steps]

    def unlike(self, before: int, after: int) -> list[Choice]:
        """The choices of which two reports show different ways."""
        shown = ((choice, choice.ways_of(before), choice.ways_of(after)) for choice in self.choices)
        return [choice for choice, old, new in shown if old and new and old != new]

    def to_json(self) -> dict[str, Any]:
        """For programs; ``compare.schema.json`` describes it."""
        return {
            "schema": SCHEMA_ID,
            "cautions": self.cautions,
            "columns": [_column(column) for column in self.columns],
            "requirements": [
                {**vars(row.told), "verdicts": list(row.cells), "differs": row.differs} for row in self.rows
            ],
            "changes": [
                {
                    "from": before,
                    "to": after,
                    "requirements": [
                        {"id": step.told.id, "before": step.before, "after": step.after, "change": some.change.value}
                        for some in self.changes(before, after)
                        for step in some.steps
                    ],
                }
                for before, after in self.pairs
            ],
            "ways": [
                {
                    "position": choice.position,
                    "topic": choice.topic,
                    "differs": choice.differs,
                    "ways": [None if ways is None else [vars(way) for way in ways] for ways in choice.cells],
                }
                for choice in self.choices
            ],
            "limits": [reach.to_json() for reach in self.reaches],
        }


def compare(columns: Sequence[Column], only: Sequence[str] = ()) -> Comparison:
    """Set reports side by side; ``only`` are globs of requirements and positions."""
    columns = titled(columns)
    told: dict[str, Told] = {}
    topics: dict[str, str] = {}
    for column in reversed(columns):
        told |= column.told
        topics |= column.topics
    rows = (_row(columns, told[id_]) for id_ in in_order(told) if wanted(id_, only))
    choices = (
        Choice(position, topics[position], tuple(column.ways.get(position) for column in columns))
        for position in in_order(topics)
        if wanted(position, only)
    )
    # What is asked for by IDs is not about sizes.
    measured = reaches([column.limits for column in columns]) if not only else ()
    return Comparison(tuple(columns), tuple(rows), tuple(choices), measured)


def wanted(id_: str, only: Sequence[str]) -> bool:
    """Does an ID match one of the globs, or are there none?"""
    return not only or any(fnmatchcase(id_, glob) for glob in only)


def changed(before: Column, after: Column, requirement: str) -> Change | None:
    """What became of a requirement; None for nothing, and where one of the two reports has no word of it."""
    old, new = before.verdict(requirement), after.verdict(requirement)
    if old in ABSENT or new in ABSENT:
        return None
    if old in _RANK and new in _RANK:
        if old != new:
            return Change.BETTER if _RANK[new] > _RANK[old] else Change.WORSE
        novel = after.codes.get(requirement, frozenset()) - before.codes.get(requirement, frozenset())
        return Change.OTHERWISE if novel else None
    if old in _RANK or new in _RANK:
        return Change.NO_LONGER if old in _RANK else Change.NOW
    return Change.STILL_NOT if old != new else None


def _pairs(columns: Sequence[Column]) -> list[tuple[int, int]]:
    """Each report and the next of the same implementation, or the only two."""
    neighbours = pairwise(range(len(columns)))
    return [(a, b) for a, b in neighbours if len(columns) == 2 or columns[a].name == columns[b].name]


def _row(columns: Sequence[Column], told: Told) -> Row:
    cells = tuple(column.verdict(told.id) for column in columns)
    changes = ((b, changed(columns[a], columns[b], told.id)) for a, b in _pairs(columns))
    return Row(told, cells, frozenset(number for number, change in changes if change is Change.OTHERWISE))


def _column(column: Column) -> dict[str, Any]:
    return {
        "title": column.title,
        "name": column.name,
        "version": column.version,
        "language": column.language,
        "started": column.started.isoformat(timespec="seconds"),
        "revision": column.revision,
        "profile": column.profile,
        "dialect": column.dialect,
        "environments": list(column.environments),
        "narrowed": list(column.narrowed),
        "complete": column.complete,
        "cut_off": column.cut_off,
        "counts": column.counts,
    }

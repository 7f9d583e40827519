"""Compares reports: a row for each requirement, and the changes from one report to the next."""

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
from .cautions import cautions, mark
from .columns import ABSENT, ReportColumn, RequirementData, Way, add_titles, sort_ids
from .limits import DimensionReach, compare_limits

SCHEMA_ID = "sds-conformance/comparison/1"
_RANK = {Verdict.FAIL.value: 0, Verdict.WARN.value: 1, Verdict.PASS.value: 2}
"""Verdicts of judged requirements, the worst first."""
_VIOLATED = {Verdict.FAIL.value, Verdict.WARN.value}


class ResultChange(Enum):
    """How the result of a requirement changed between two reports."""

    WORSE = "worse"
    BETTER = "better"
    OTHERWISE = "violated differently"
    NO_LONGER = "no longer judged"
    NOW = "now judged"
    STILL_NOT = "still not judged"
    """Judged in neither report, for different reasons."""


@dataclass(frozen=True)
class VerdictChange:
    """A requirement with different results in two reports."""

    requirement: RequirementData
    before: str
    after: str


@dataclass(frozen=True)
class Changes:
    """The requirements with the same kind of change."""

    change: ResultChange
    steps: list[VerdictChange]

    @property
    def named_steps(self) -> list[VerdictChange]:
        """Return the changes whose requirements are listed by name. If only one report judged the requirements, only
        violated requirements are listed.
        """
        if self.change in (ResultChange.WORSE, ResultChange.BETTER, ResultChange.OTHERWISE):
            return self.steps
        return [step for step in self.steps if _VIOLATED & {step.before, step.after}]

    @property
    def format_others(self) -> str:
        """Return the number of changes that are not listed by name, by verdict, such as ``2 skipped, 1 error``; ""
        if there are none.
        """
        rest = [step for step in self.steps if step not in self.named_steps]
        counted = Counter(next((v for v in (s.before, s.after) if v in _RANK), s.after) for s in rest)
        return ", ".join(f"{number} {verdict}" for verdict, number in counted.items())


@dataclass(frozen=True)
class ComparisonRow:
    """The results of one requirement in all compared reports."""

    requirement: RequirementData
    cells: tuple[str, ...]
    """For each column, the verdict or the reason why there is no verdict."""
    otherwise: frozenset[int]
    """Numbers of the columns with the verdict of the previous column, but with a code that is not in that column."""

    @property
    def differs(self) -> bool:
        """Return whether the verdicts differ, or the codes of violations."""
        return len(set(self.cells) - set(ABSENT)) > 1 or bool(self.otherwise)

    @property
    def is_judged_everywhere(self) -> bool:
        """Return whether each column has a verdict."""
        return not set(self.cells) & set(ABSENT)


@dataclass(frozen=True)
class PositionRow:
    """The ways that the implementations of all compared reports showed at one position."""

    position: str
    topic: str
    cells: tuple[tuple[Way, ...] | None, ...]
    """For each column, the ways that were shown; empty if no run showed a way, None if the report has no data about
    ways.
    """

    @property
    def differs(self) -> bool:
        """Return whether two columns showed different ways."""
        return len({self.ways_of(number) for number, ways in enumerate(self.cells) if ways}) > 1

    def ways_of(self, number: int) -> frozenset[str]:
        """Return the names of the ways that a column showed."""
        return frozenset(way.way for way in self.cells[number] or ())

    @property
    def is_shown(self) -> bool:
        """Return whether any column showed a way."""
        return any(self.cells)

    def sides(self) -> list[tuple[str, list[tuple[int, Way]]]]:
        """Return (description, columns) for each way, where ``columns`` lists (number of the column, way) for the
        columns that showed the way. One column may have shown several ways.
        """
        out: dict[str, list[tuple[int, Way]]] = {}
        for number, ways in enumerate(self.cells):
            for way in ways or ():
                out.setdefault(f"{way.way}: {way.words}" if way.words else way.way, []).append((number, way))
        return list(out.items())

    @property
    def columns_with_several_ways(self) -> list[int]:
        """The columns that showed several ways."""
        return [number for number, ways in enumerate(self.cells) if ways and len(ways) > 1]

    @property
    def columns_without_way(self) -> list[int]:
        """The columns that showed no way."""
        return [number for number, ways in enumerate(self.cells) if not ways]


@dataclass(frozen=True)
class Comparison:
    """Several reports, in the order in which they were given."""

    columns: tuple[ReportColumn, ...]
    rows: tuple[ComparisonRow, ...]
    choices: tuple[PositionRow, ...]
    reaches: tuple[DimensionReach, ...] = ()

    @property
    def differences(self) -> list[ComparisonRow]:
        return [row for row in self.rows if row.differs]

    @property
    def agreements(self) -> list[ComparisonRow]:
        return [row for row in self.rows if not row.differs]

    @cached_property
    def cautions(self) -> list[str]:
        """Reasons why the comparison may be unfair, as sentences."""
        return cautions(self.columns)

    def count_agreements(self) -> dict[str, int]:
        """Return the number of requirements without differences, by verdict. The key "" counts requirements that were
        judged in some columns only.
        """
        counted = Counter(row.cells[0] if row.is_judged_everywhere else "" for row in self.agreements)
        return {verdict.value: counted[verdict.value] for verdict in Verdict if counted[verdict.value]} | (
            {"": counted[""]} if counted[""] else {}
        )

    @property
    def pairs(self) -> list[tuple[int, int]]:
        """Pairs of column numbers for which changes are shown."""
        return _pairs(self.columns)

    def changes(self, before: int, after: int) -> list[Changes]:
        """The changes between two reports, the worst first."""
        a, b = self.columns[before], self.columns[after]
        found: dict[ResultChange, list[VerdictChange]] = {change: [] for change in ResultChange}
        for row in self.rows:
            if (change := result_change(a, b, row.requirement.id)) is not None:
                found[change].append(VerdictChange(row.requirement, row.cells[before], row.cells[after]))
        return [Changes(change, steps) for change, steps in found.items() if steps]

    def releases(self, before: int, after: int) -> bool:
        """Return whether both columns are reports of the same implementation."""
        return self.columns[before].name == self.columns[after].name

    def describe_change(self, before: int, after: int, change: ResultChange) -> str:
        """Describe the change: from one release to the next, or the difference between two implementations."""
        if self.releases(before, after):
            return change.value
        a, b = mark(before), mark(after)
        return {
            ResultChange.WORSE: f"better in {a}",
            ResultChange.BETTER: f"better in {b}",
            ResultChange.OTHERWISE: "violated in different ways",
            ResultChange.NO_LONGER: f"judged only in {a}",
            ResultChange.NOW: f"judged only in {b}",
            ResultChange.STILL_NOT: "judged in neither report, for different reasons",
        }[change]

    def heading(self, before: int, after: int) -> str:
        """Return the heading of the changes between two columns."""
        a, b = self.columns[before].title, self.columns[after].title
        return f"From {a} to {b}" if self.releases(before, after) else f"{mark(before)} ({a}) and {mark(after)} ({b})"

    def verdicts(self, before: int, after: int, change: VerdictChange) -> str:
        """Format a change of verdict between two reports: ``pass → fail`` if both are of the same implementation, else
        ``A pass, B fail`` with the marks of the reports.
        """
        if self.releases(before, after):
            return f"{change.before} → {change.after}"
        return f"{mark(before)} {change.before}, {mark(after)} {change.after}"

    def differing_positions(self, before: int, after: int) -> list[PositionRow]:
        """Return the positions at which two reports show different ways."""
        shown = ((choice, choice.ways_of(before), choice.ways_of(after)) for choice in self.choices)
        return [choice for choice, old, new in shown if old and new and old != new]

    def to_json(self) -> dict[str, Any]:
        """Return JSON as described by ``compare.schema.json``."""
        return {
            "schema": SCHEMA_ID,
            "cautions": self.cautions,
            "columns": [_column(column) for column in self.columns],
            "requirements": [
                {**vars(row.requirement), "verdicts": list(row.cells), "differs": row.differs} for row in self.rows
            ],
            "changes": [
                {
                    "from": before,
                    "to": after,
                    "requirements": [
                        {
                            "id": step.requirement.id,
                            "before": step.before,
                            "after": step.after,
                            "change": some.change.value,
                        }
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


def compare(columns: Sequence[ReportColumn], only: Sequence[str] = ()) -> Comparison:
    """Compare reports. If there are globs in ``only``, only matching requirements and positions are compared."""
    columns = add_titles(columns)
    data_by_requirement: dict[str, RequirementData] = {}
    topics: dict[str, str] = {}
    for column in reversed(columns):
        data_by_requirement |= column.requirements
        topics |= column.topics
    rows = (
        _row(columns, data_by_requirement[id_]) for id_ in sort_ids(data_by_requirement) if matches_globs(id_, only)
    )
    choices = (
        PositionRow(position, topics[position], tuple(column.ways.get(position) for column in columns))
        for position in sort_ids(topics)
        if matches_globs(position, only)
    )
    # If the user selected requirements or positions by ID, limits are not compared.
    measured = compare_limits([column.limits for column in columns]) if not only else ()
    return Comparison(tuple(columns), tuple(rows), tuple(choices), measured)


def matches_globs(id_: str, only: Sequence[str]) -> bool:
    """Return whether an ID matches one of the globs. True if there are no globs."""
    return not only or any(fnmatchcase(id_, glob) for glob in only)


def result_change(before: ReportColumn, after: ReportColumn, requirement: str) -> ResultChange | None:
    """Return how the result of a requirement changed; None if it did not change, or if a report has no data
    about it.
    """
    old, new = before.verdict(requirement), after.verdict(requirement)
    if old in ABSENT or new in ABSENT:
        return None
    if old in _RANK and new in _RANK:
        if old != new:
            return ResultChange.BETTER if _RANK[new] > _RANK[old] else ResultChange.WORSE
        novel = after.codes.get(requirement, frozenset()) - before.codes.get(requirement, frozenset())
        return ResultChange.OTHERWISE if novel else None
    if old in _RANK or new in _RANK:
        return ResultChange.NO_LONGER if old in _RANK else ResultChange.NOW
    return ResultChange.STILL_NOT if old != new else None


def _pairs(columns: Sequence[ReportColumn]) -> list[tuple[int, int]]:
    """Return pairs of neighbouring reports of the same implementation. Two reports always form a pair."""
    neighbours = pairwise(range(len(columns)))
    return [(a, b) for a, b in neighbours if len(columns) == 2 or columns[a].name == columns[b].name]


def _row(columns: Sequence[ReportColumn], data: RequirementData) -> ComparisonRow:
    cells = tuple(column.verdict(data.id) for column in columns)
    changes = ((b, result_change(columns[a], columns[b], data.id)) for a, b in _pairs(columns))
    return ComparisonRow(
        data, cells, frozenset(number for number, change in changes if change is ResultChange.OTHERWISE)
    )


def _column(column: ReportColumn) -> dict[str, Any]:
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

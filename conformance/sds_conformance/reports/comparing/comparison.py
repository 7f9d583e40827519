"""Compares reports: a row for each requirement, the changes from one report to the next, and reasons why a comparison
may be unfair.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from fnmatch import fnmatchcase
from functools import cached_property
from itertools import pairwise
from typing import Any

from ...judging.formats import format_count
from ...judging.verdict import Verdict
from .columns import ABSENT, NOT_ASKED, UNKNOWN, UNSTATED, ReportColumn, RequirementData, Way, add_titles, sort_ids
from .limits import DimensionReach, compare_limits

SCHEMA_ID = "sds-conformance/comparison/1"
_RANK = {Verdict.FAIL.value: 0, Verdict.WARN.value: 1, Verdict.PASS.value: 2}
"""Verdicts of judged requirements, the worst first."""
_VIOLATED = {Verdict.FAIL.value, Verdict.WARN.value}
MARKS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
"""Letters that stand for columns (reports) where their titles do not fit."""


def mark(number: int) -> str:
    """Return the letter of a column, such as A; after Z, several letters, such as AA. ``number`` counts from 0."""
    high, low = divmod(number, len(MARKS))
    return f"{mark(high - 1) if high else ''}{MARKS[low]}"


def column_marks(numbers: Iterable[int]) -> str:
    """Return the letters of several columns."""
    return ", ".join(map(mark, numbers))


class ResultChange(Enum):
    """How the result of a requirement changed between two reports."""

    WORSE = "worse"
    BETTER = "better"
    OTHERWISE = "violated differently"
    NO_LONGER = "no longer judged"
    NOW = "now judged"
    STILL_NOT = "still not judged"
    """Judged in neither report, for different reasons."""

    @property
    def label(self) -> str:
        """The change as a label, such as "No longer"."""
        return self.name.replace("_", " ").capitalize()


_BETWEEN_IMPLEMENTATIONS = {
    ResultChange.WORSE: ("Better {a}", "better in {a}"),
    ResultChange.BETTER: ("Better {b}", "better in {b}"),
    ResultChange.OTHERWISE: ("Otherwise", "violated in different ways"),
    ResultChange.NO_LONGER: ("Only {a}", "judged only in {a}"),
    ResultChange.NOW: ("Only {b}", "judged only in {b}"),
    ResultChange.STILL_NOT: ("Neither", "judged in neither report, for different reasons"),
}
"""Label and description of a difference between two implementations, whose columns have the marks a and b."""


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
        return [number for number, ways in enumerate(self.cells) if ways and len(ways) > 1]

    @property
    def columns_without_way(self) -> list[int]:
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
        """Reasons why the comparison may be unfair, as sentences; empty if all reports were made in the same way. They
        are printed first, because they may explain all differences.
        """
        return list(_cautions(self.columns))

    @property
    def summary_of_agreements(self) -> str:
        """The number of requirements without differences, by verdict, as a sentence; "" if all differ."""
        counted = Counter(row.cells[0] if row.is_judged_everywhere else "" for row in self.agreements)
        parts = [f"{counted[verdict.value]} {verdict.value}" for verdict in Verdict if counted[verdict.value]]
        parts += [f"{counted['']} judged in some reports only"] if counted[""] else []
        total = format_count(counted.total(), "requirement")
        return f"No difference in {total}: {', '.join(parts)}." if parts else ""

    @property
    def pairs(self) -> list[ReportPair]:
        """The pairs of reports for which changes are shown."""
        return [self.pair(before, after) for before, after in _pairs(self.columns)]

    def pair(self, before: int, after: int) -> ReportPair:
        return ReportPair(self, before, after)

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
                    "from": pair.before,
                    "to": pair.after,
                    "requirements": [
                        {
                            "id": step.requirement.id,
                            "before": step.before,
                            "after": step.after,
                            "change": some.change.value,
                        }
                        for some in pair.changes
                        for step in some.steps
                    ],
                }
                for pair in self.pairs
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


@dataclass(frozen=True)
class ReportPair:
    """Two of the compared reports, and the changes from the one to the other."""

    comparison: Comparison
    before: int
    """Number of the column of the first report."""
    after: int

    @property
    def columns(self) -> tuple[ReportColumn, ReportColumn]:
        return self.comparison.columns[self.before], self.comparison.columns[self.after]

    @property
    def marks(self) -> tuple[str, str]:
        """The letters of the columns."""
        return mark(self.before), mark(self.after)

    @property
    def same(self) -> bool:
        """Are both reports of the same implementation?"""
        a, b = self.columns
        return a.name == b.name

    @property
    def changes(self) -> list[Changes]:
        """The changes between the reports, the worst first."""
        found: dict[ResultChange, list[VerdictChange]] = {change: [] for change in ResultChange}
        for row in self.comparison.rows:
            if (change := result_change(*self.columns, row.requirement.id)) is not None:
                found[change].append(VerdictChange(row.requirement, row.cells[self.before], row.cells[self.after]))
        return [Changes(change, steps) for change, steps in found.items() if steps]

    @property
    def changed_ways(self) -> str:
        """The number of positions at which the reports show different ways, as text; "" if there are none."""
        shown = [(choice.ways_of(self.before), choice.ways_of(self.after)) for choice in self.comparison.choices]
        unlike = sum(bool(old and new and old != new) for old, new in shown)
        return f"{format_count(unlike, 'position')} with a different way" if unlike else ""

    @property
    def heading(self) -> str:
        (a, b), (mark_a, mark_b) = self.columns, self.marks
        return f"From {a.title} to {b.title}" if self.same else f"{mark_a} ({a.title}) and {mark_b} ({b.title})"

    def label(self, change: ResultChange) -> str:
        return change.label if self.same else self._between(change)[0]

    def describe(self, change: ResultChange) -> str:
        """Describe a kind of change: from one release to the next, or the difference between two implementations."""
        return change.value if self.same else self._between(change)[1]

    def _between(self, change: ResultChange) -> list[str]:
        a, b = self.marks
        return [text.format(a=a, b=b) for text in _BETWEEN_IMPLEMENTATIONS[change]]

    def verdicts(self, change: VerdictChange) -> str:
        """Format a change of verdict: ``pass → fail`` if both reports are of the same implementation, else
        ``A pass, B fail`` with the marks of the reports.
        """
        a, b = self.marks
        return f"{change.before} → {change.after}" if self.same else f"{a} {change.before}, {b} {change.after}"


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


def _cautions(columns: Sequence[ReportColumn]) -> Iterator[str]:
    if groups := _group_columns(columns, lambda column: column.revision):
        yield (
            f"The reports are for different revisions: {groups}. A requirement that a revision does not have "
            f"has the mark {ABSENT[UNSTATED]}."
        )
    if groups := _group_columns(columns, lambda column: column.profile):
        yield f"The reports are for different profiles: {groups}."
    if groups := _group_columns(columns, lambda column: ", ".join(column.environments) or "none"):
        yield f"The reports were played in different environments: {groups}."
    if groups := _group_columns(columns, lambda column: "--strict" if column.strict else "without it"):
        yield f"Not all reports are strict: {groups}. A warning in one report can be a failure in a strict report."
    if groups := _group_columns(columns, lambda column: column.dialect or "none"):
        yield f"The reports use different dialects: {groups}."
    if groups := _group_columns(columns, lambda column: column.suite):
        yield f"The reports are from different versions of the suite: {groups}. This may explain changes."
    if few := _marks_of(columns, lambda column: "requirements" in column.narrowed):
        yield (
            f"Not all requirements were selected in {few}: requirements that were not selected have the mark "
            f"{ABSENT[NOT_ASKED]}."
        )
    if few := _marks_of(columns, lambda column: "scenarios" in column.narrowed):
        yield f"Not all scenarios were played in {few}, which can hide faults."
    if cut := _marks_of(columns, lambda column: bool(column.cut_off)):
        yield (
            f"Reports that were cut off: {cut}. A missing result has the mark {ABSENT[UNKNOWN]}, "
            "and is not listed as a change."
        )
    if unfinished := _marks_of(columns, lambda column: not column.complete and not column.cut_off):
        yield f"Reports of runs that ended early: {unfinished}."


def _group_columns(columns: Sequence[ReportColumn], of: Callable[[ReportColumn], str]) -> str:
    """Describe which columns have which value; "" if all columns have the same value."""
    groups: dict[str, list[int]] = {}
    for number, column in enumerate(columns):
        groups.setdefault(of(column), []).append(number)
    if len(groups) == 1:
        return ""
    return "; ".join(f"{column_marks(numbers)} {value}" for value, numbers in groups.items())


def _marks_of(columns: Sequence[ReportColumn], which: Callable[[ReportColumn], bool]) -> str:
    return column_marks(number for number, column in enumerate(columns) if which(column))

"""The history of dated reports: when the verdict or the violations of each requirement changed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import pairwise
from typing import Any

from .columns import ABSENT, ReportColumn, RequirementData, add_titles, sort_ids
from .comparison import Changes, ResultChange, compare, matches_globs, result_change

SCHEMA_ID = "sds-conformance/history/1"


@dataclass(frozen=True)
class HistoryTurn:
    """A change of the verdict or the violation of a requirement, from the report ``before`` to the report ``after``."""

    requirement: RequirementData
    before: ReportColumn
    """The latest earlier report with a verdict on the requirement."""
    after: ReportColumn
    change: ResultChange

    @property
    def verdicts(self) -> tuple[str, str]:
        """The verdicts on the requirement in the two reports."""
        return self.before.verdict(self.requirement.id), self.after.verdict(self.requirement.id)

    @property
    def doubt(self) -> str:
        """Return differences in how the two reports were made, which may explain the change, as text; "" if none."""
        keys = {"suite": "another version of the suite", "environments": "other environments", "strict": "--strict"}
        differing = [label for key, label in keys.items() if getattr(self.before, key) != getattr(self.after, key)]
        return ", ".join(differing)


@dataclass(frozen=True)
class Series:
    """The reports of one implementation, for the same revision, profile and dialect, by date."""

    columns: tuple[ReportColumn, ...]
    turns: tuple[HistoryTurn, ...]
    """The changes of verdicts or violations, the newest first."""
    only: tuple[str, ...] = ()
    """Globs that select requirements by ID; empty if all requirements are selected."""

    @property
    def runs(self) -> list[tuple[ReportColumn, list[Changes] | None]]:
        """The runs, the newest first, each with the changes since the previous run; None for the first run."""
        pairs = [compare([before, after], self.only).pair(0, 1) for before, after in pairwise(self.columns)]
        return list(zip(self.columns, [None, *(pair.changes for pair in pairs)], strict=True))[::-1]

    @property
    def verdicts(self) -> set[str]:
        """All verdicts that occur in the reports."""
        return {verdict for column in self.columns for verdict in column.counts}

    @property
    def title(self) -> str:
        last = self.columns[-1]
        return ", ".join(part for part in (last.name, last.revision, last.profile, last.dialect) if part)

    def to_json(self) -> dict[str, Any]:
        last = self.columns[-1]
        return {
            "name": last.name,
            "revision": last.revision,
            "profile": last.profile,
            "dialect": last.dialect,
            "reports": [
                {
                    "started": column.started.isoformat(timespec="seconds"),
                    "version": column.version,
                    "suite": column.suite,
                    "cut_off": column.cut_off,
                    "counts": column.counts,
                }
                for column in self.columns
            ],
            "turns": [
                {
                    "id": turn.requirement.id,
                    "started": turn.after.started.isoformat(timespec="seconds"),
                    "version": turn.after.version,
                    "before": turn.verdicts[0],
                    "after": turn.verdicts[1],
                    "change": turn.change.value,
                    "doubt": turn.doubt,
                }
                for turn in self.turns
            ],
        }


def histories(columns: Sequence[ReportColumn], only: Sequence[str] = (), since: datetime | None = None) -> list[Series]:
    """Group reports by implementation, revision, profile and dialect. Changes before ``since`` are omitted."""
    series: dict[tuple[str, ...], list[ReportColumn]] = {}
    for column in sorted(columns, key=lambda column: column.started):
        series.setdefault((column.name, column.revision, column.profile, column.dialect), []).append(column)
    return [
        Series(tuple(several), tuple(_turns(several, only, since)), tuple(only))
        for several in map(add_titles, series.values())
    ]


def to_json(series: Sequence[Series]) -> dict[str, Any]:
    """Return JSON as described by ``compare.schema.json``."""
    return {"schema": SCHEMA_ID, "series": [one.to_json() for one in series]}


def _turns(columns: Sequence[ReportColumn], only: Sequence[str], since: datetime | None) -> list[HistoryTurn]:
    data = {id_: data for column in columns for id_, data in column.requirements.items() if matches_globs(id_, only)}
    out: list[HistoryTurn] = []
    for id_ in sort_ids(data):
        for before, after in pairwise(column for column in columns if column.verdict(id_) not in ABSENT):
            if (change := result_change(before, after, id_)) is not None:
                out.append(HistoryTurn(data[id_], before, after, change))
    # The sort is stable: changes in the same report keep the order of the specification.
    out.sort(key=lambda turn: turn.after.started, reverse=True)
    return [turn for turn in out if since is None or turn.after.started >= since]

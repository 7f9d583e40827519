"""Reasons why a comparison may be unfair. They are printed first, because they may explain all differences."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

from .columns import ABSENT, NOT_ASKED, UNKNOWN, UNSTATED, ReportColumn

MARKS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
"""Letters that stand for columns (reports) where their titles do not fit."""


def mark(number: int) -> str:
    """Return the letter of a column, such as A; after Z, several letters, such as AA. ``number`` counts from 0."""
    high, low = divmod(number, len(MARKS))
    return f"{mark(high - 1) if high else ''}{MARKS[low]}"


def column_marks(numbers: Iterable[int]) -> str:
    """Return the letters of several columns."""
    return ", ".join(map(mark, numbers))


def cautions(columns: Sequence[ReportColumn]) -> list[str]:
    """Return the reasons as sentences; empty if all reports were made in the same way."""
    return list(_cautions(columns))


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
        yield f"Not all requirements were selected in {few}: "
        f"requirements that were not selected have the mark {ABSENT[NOT_ASKED]}."
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

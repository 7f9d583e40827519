"""Prints limits on a terminal of 80 columns."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from rich.console import Console
from rich.table import Column
from rich.text import Text

from sds_harness.declaration import printable

from ...judging.causes import Failure, roots
from ...judging.formats import format_count
from ...judging.severity import BREAKDOWN_SEVERITY
from ...judging.verdict import Verdict
from ...presentation.last_screen import CauseLine, sort_causes
from ...presentation.story import plain_table, print_labelled, show_command, unwrapped_column
from ...protocols import protocol_of
from ..text import severity_number
from .row import Weight
from .words import cell, has_details, headline, sentences_about_failure, summary

STYLES = {
    Weight.HELD.value: "green",
    Weight.WARNING.value: "yellow",
    Weight.FINDING.value: "bold red",
    Weight.NOT_EXERCISED.value: "magenta",
    Weight.ERROR.value: "bold white on red",
}


_VERDICTS = {
    Weight.FINDING.value: Verdict.FAIL,
    Weight.WARNING.value: Verdict.WARN,
    Weight.ERROR.value: Verdict.ERROR,
}
_FAILURES = {**_VERDICTS, Weight.ERROR.value: Verdict.FAIL}
"""Errors count as failures here, because only failures and warnings have root causes."""
_ORDER = (Weight.FINDING.value, Weight.ERROR.value, Weight.WARNING.value)


def worst_of(data: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """Return the row with the worst result; None if no dimension failed. ``data`` is the output of `limits --json`."""
    rows = [row for row in data["rows"] if row["verdict"] in _ORDER]
    return min(rows, key=lambda row: _ORDER.index(row["verdict"]), default=None)


def cause_lines(data: Mapping[str, Any]) -> list[CauseLine]:
    """The lines of the last screen: one per root cause, and one per dimension whose failure violates no requirement."""
    rows = [row for row in data["rows"] if row["verdict"] in _VERDICTS]
    lines = [_cause_line(row, BREAKDOWN_SEVERITY) for row in rows if not row["requirement"]]
    lines += [
        _cause_line(group[0], min(severity_number(row["requirement"]) for row in group), len(group) - 1)
        for group in _group_by_root_cause(data, [row for row in rows if row["requirement"]])
    ]
    return sort_causes(lines)


def _cause_line(row: Mapping[str, Any], severity: int, others: int = 0) -> CauseLine:
    more = f" (and in {format_count(others, 'more dimension')})" if others else ""
    return CauseLine(
        _VERDICTS[row["verdict"]],
        severity,
        row["requirement"] or row["dimension"],
        f"{row['title']}, {cell(row['first_not'])}{more}: {headline(row)}",
    )


def _group_by_root_cause(data: Mapping[str, Any], rows: Sequence[Mapping[str, Any]]) -> list[list[Mapping[str, Any]]]:
    """The rows that violate requirements, grouped by root cause; the rows of the root cause itself come first, sorted
    by severity.

    A dimension counts as a run. Only violated requirements are known to be exercised.
    """
    by_requirement: dict[str, list[Mapping[str, Any]]] = {}
    for row in sorted(rows, key=lambda row: _ORDER.index(row["verdict"])):
        by_requirement.setdefault(row["requirement"], []).append(row)
    failures = [
        Failure(
            requirement,
            _FAILURES[those[0]["verdict"]],
            len(those),
            len(those),
            codes=frozenset((row["code"] or "").partition("/")[2] for row in those),
        )
        for requirement, those in by_requirement.items()
    ]
    return [
        [row for requirement in (root.id, *root.under) for row in by_requirement[requirement]]
        for root in roots(protocol_of(data["revision"]).rules, failures)
    ]


def show_limits(console: Console, data: Mapping[str, Any], stories: int | None = None) -> None:
    """Print a row per dimension, then at most ``stories`` failures, each with the command to replay it.

    ``data`` is the output of `limits --json`.
    """
    show_rows(console, data["rows"])
    for row in [row for row in data["rows"] if has_details(row)][:stories]:
        _show_behind(console, row, searched=data["at"] is None)


def show_rows(console: Console, rows: Iterable[Mapping[str, Any]]) -> None:
    """Print the table of dimensions, with one line per row."""
    table = plain_table(
        unwrapped_column("Dimension"),
        Column("Held", justify="right", no_wrap=True),
        Column("Not", justify="right", no_wrap=True),
        Column("What broke there"),
    )
    for row in rows:
        what = Text(headline(row), STYLES[row["verdict"]])
        table.add_row(Text(printable(row["title"], 40)), cell(row["held"]), cell(row["first_not"]), what)
    console.print(table)
    console.print()


def last_line(data: Mapping[str, Any]) -> Text:
    """The result in one sentence."""
    verdicts = {row["verdict"] for row in data["rows"]}
    early = " The remaining sizes were not tried: interrupted." if data["interrupted"] else ""
    about = data["implementation"]
    name = printable(f"{about['name']} {about['version']}".strip()) or "?"
    bad, doubtful = (weight.value in verdicts for weight in (Weight.FINDING, Weight.WARNING))
    sentence = f"{name}: {summary(data['rows'])}, in {data['seconds']:.0f} s.{early}"
    return Text(sentence, "bold red" if bad else "yellow" if doubtful else "bold green")


def _show_behind(console: Console, row: Mapping[str, Any], *, searched: bool) -> None:
    """Print the details of the failure at the first failing size of a row."""
    at = f", {cell(row['first_not'])}" if row["first_not"] is not None else ""
    console.print(Text(f"{printable(row['title'], 40)}{at}: {headline(row)}", STYLES[row["verdict"]]))
    for label, sentence in sentences_about_failure(row, searched=searched):
        print_labelled(console, label, Text(sentence))
    if row["replay"]:
        show_command(console, "Again", row["replay"])
    console.print()

"""Limits as a person reads them on a terminal of 80 columns."""

from __future__ import annotations

import math
from collections.abc import Sequence

from rich.console import Console
from rich.table import Column
from rich.text import Text

from sds_harness.declaration import printable

from ...judging.quoting import counted
from ...telling.story import labelled, plain_table, unbroken
from .measuring import Measured
from .row import Row, Weight

STYLES = {
    Weight.HELD: "green",
    Weight.WARNING: "yellow",
    Weight.FINDING: "bold red",
    Weight.NOT_EXERCISED: "magenta",
    Weight.ERROR: "bold white on red",
}
_MAX_SEEN = 160
_LARGE = 1 << 40
_NEAR = 10_000


def show_limits(console: Console, measured: Measured, replays: Sequence[str]) -> None:
    """A row for each dimension, then what is behind those in which something broke, with the command that shows it."""
    table = plain_table(
        unbroken("Dimension"),
        Column("Held", justify="right", no_wrap=True),
        Column("Not", justify="right", no_wrap=True),
        Column("What broke there"),
    )
    for row in measured.rows:
        held = number(row.held) if row.held is not None else "-"
        first = number(row.first_not.size) if row.first_not is not None else "-"
        table.add_row(Text(row.dimension.title), held, first, Text(headline(row), STYLES[row.weight]))
    console.print(table)
    console.print()
    for row, replay in zip(measured.rows, replays, strict=True):
        if row.first_not is not None and row.held is not None:
            _show_behind(console, row, replay, searched=measured.at is None)


def number(size: int) -> str:
    """A size in a few characters: whole, near a power of two, or rounded."""
    if size < _LARGE:
        return f"{size:,}"
    power = round(math.log2(size))
    off = size - (1 << power)
    return f"2^{power}{f'{off:+,}' if off else ''}" if abs(off) < _NEAR else f"{size:.3g}"


def headline(row: Row) -> str:
    """What became of a dimension, in a few words."""
    case = row.first_not
    if case is None or row.held is None:
        return row.why
    what = f"{case.how.value}, {row.requirement}" if row.requirement else case.how.value
    weight = "" if row.weight is Weight.FINDING else f" ({row.weight.value})"
    declared = f"; declared: {row.declared:,}" if row.declared is not None else ""
    return f"{what}{declared}{weight}"


def last_line(measured: Measured, name: str) -> Text:
    """The outcome in a sentence."""
    rows = measured.rows
    count = {weight: sum(row.weight is weight for row in rows) for weight in Weight}
    findings, warnings = count[Weight.FINDING], count[Weight.WARNING]
    found = f"{counted(findings, 'finding')}, {counted(warnings, 'warning')}"
    early = " The rest was not tried: interrupted." if measured.interrupted else ""
    told = f"{name}: {found} in {counted(len(rows), 'dimension')}, in {measured.seconds:.0f} s.{early}"
    return Text(told, "bold red" if findings else "yellow" if warnings else "bold green")


def _show_behind(console: Console, row: Row, replay: str, *, searched: bool) -> None:
    """What was seen at the first size that does not hold."""
    case = row.first_not
    assert case is not None
    console.print(Text(f"{row.dimension.title}, {number(case.size)}: {headline(row)}", STYLES[row.weight]))
    if searched and not row.exact:
        between = f"between {row.held:,} and {case.size:,}: there was no time to find the first that does not hold"
        labelled(console, "Limit", Text(f"{between}."))
    if case.finding is not None and case.finding.expected:
        labelled(console, "Expected", Text(printable(case.finding.expected, _MAX_SEEN)))
        labelled(console, "Seen", Text(f"step {case.finding.step}: {printable(case.finding.seen, _MAX_SEEN)}"))
    if case.said:
        labelled(console, "Broke", Text(printable(case.said, _MAX_SEEN)))
    if row.weight is Weight.WARNING:
        demanded = row.dimension.demanded
        labelled(console, "Expected", Text(f"{demanded:,} of everybody; beyond: {row.dimension.position}"))
    if row.again is False:
        labelled(console, "Beware", Text("a fresh process did not show the same: does it depend on what came before?"))
    labelled(console, "Again", Text(replay, "blue"), whole=True)
    console.print()

"""Rows of limits in words: for the terminal, for pages and for certificates.

A row is what `limits --json` has of a dimension. It may come out of a file: all that is told here is cut and cleared.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from sds_harness.declaration import printable

from ...judging.quoting import counted
from .row import Weight

_MAX_SEEN = 160
_LARGE = 1 << 40
_NEAR = 10_000


def number(size: int) -> str:
    """A size in a few characters: whole, near a power of two, or rounded."""
    if size < _LARGE:
        return f"{size:,}"
    power = round(math.log2(size))
    off = size - (1 << power)
    return f"2^{power}{f'{off:+,}' if off else ''}" if abs(off) < _NEAR else f"{size:.3g}"


def cell(size: int | None) -> str:
    """A size, or that there is none."""
    return "-" if size is None else number(size)


def ends(row: Mapping[str, Any]) -> bool:
    """Is it known where it does not hold any more?"""
    return row["first_not"] is not None and row["held"] is not None


def headline(row: Mapping[str, Any]) -> str:
    """What became of a dimension, in a few words."""
    if not ends(row):
        return printable(row["why"], _MAX_SEEN)
    weight = "" if row["verdict"] == Weight.FINDING.value else f" ({row['verdict']})"
    declared = f"; declared: {number(row['declared'])}" if row["declared"] is not None else ""
    return f"{broke(row)}{declared}{weight}"


def broke(row: Mapping[str, Any]) -> str:
    """What broke at the first size that did not hold."""
    what = row.get("code") or row["requirement"]
    return f"{row['how']}, {printable(what, 100)}" if what else str(row["how"])


def summary(rows: Sequence[Mapping[str, Any]]) -> str:
    """How many findings and warnings there are, in how many dimensions."""
    verdicts = [row["verdict"] for row in rows]
    found = (f"{counted(verdicts.count(weight.value), weight.value)}" for weight in (Weight.FINDING, Weight.WARNING))
    return f"{', '.join(found)} in {counted(len(verdicts), 'dimension')}"


def behind(row: Mapping[str, Any], *, searched: bool = True) -> Iterator[tuple[str, str]]:
    """What was seen at the first size that does not hold, as labels and sentences; ``searched``, and not only played at
    one size."""
    if searched and ends(row) and not row["exact"]:
        between = f"between {number(row['held'])} and {number(row['first_not'])}"
        yield "Limit", f"{between}: there was no time to find the first that does not hold."
    if row["expected"]:
        yield "Expected", printable(row["expected"], _MAX_SEEN)
        yield "Seen", f"step {row['step']}: {printable(row['seen'] or '', _MAX_SEEN)}"
    if row["said"]:
        yield "Broke", printable(row["said"], _MAX_SEEN)
    if row["exponent"] is not None:
        yield "Seen", f"with twice as many in the log each costs {2 ** row['exponent']:.1f} times as much"
    if row["verdict"] == Weight.WARNING.value:
        demanded = f"{number(row['demanded'])} of everybody; beyond: " if ends(row) else ""
        yield "Demanded", f"{demanded}{printable(row['position'], _MAX_SEEN)}"
    if row["again"] is False:
        yield "Beware", "a fresh process did not show the same: does it depend on what came before?"


def tellable(row: Mapping[str, Any]) -> bool:
    """Is there something behind it?"""
    return ends(row) or row["verdict"] == Weight.WARNING.value

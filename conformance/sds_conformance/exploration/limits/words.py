"""Formats rows of limits for terminals, pages and certificates.

A row is an element of the output of `limits --json`. Rows are untrusted: all texts are shortened and made printable.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from sds_harness.declaration import printable

from ...judging.formats import format_count
from .row import Weight

_MAX_SEEN = 160
_LARGE = 1 << 40
_NEAR = 10_000


def number(size: int) -> str:
    """Format a size briefly: exactly, as a power of two with an offset, or rounded."""
    if size < _LARGE:
        return f"{size:,}"
    power = round(math.log2(size))
    off = size - (1 << power)
    return f"2^{power}{f'{off:+,}' if off else ''}" if abs(off) < _NEAR else f"{size:.3g}"


def cell(size: int | None) -> str:
    """Format a size, or a dash if there is none."""
    return "-" if size is None else number(size)


def has_known_end(row: Mapping[str, Any]) -> bool:
    """Is the first failing size known?"""
    return row["first_not"] is not None and row["held"] is not None


def headline(row: Mapping[str, Any]) -> str:
    """The result of a dimension, in a few words."""
    if not has_known_end(row):
        return printable(row["why"], _MAX_SEEN)
    weight = "" if row["verdict"] == Weight.FINDING.value else f" ({row['verdict']})"
    declared = f"; declared: {number(row['declared'])}" if row["declared"] is not None else ""
    return f"{describe_failure(row)}{declared}{weight}"


def describe_failure(row: Mapping[str, Any]) -> str:
    """The failure at the first failing size."""
    what = row.get("code") or row["requirement"]
    return f"{row['how']}, {printable(what, 100)}" if what else str(row["how"])


def summary(rows: Sequence[Mapping[str, Any]]) -> str:
    """Return how many findings and warnings there are, in how many dimensions."""
    verdicts = [row["verdict"] for row in rows]
    found = (
        f"{format_count(verdicts.count(weight.value), weight.value)}" for weight in (Weight.FINDING, Weight.WARNING)
    )
    return f"{', '.join(found)} in {format_count(len(verdicts), 'dimension')}"


def sentences_about_failure(row: Mapping[str, Any], *, searched: bool = True) -> Iterator[tuple[str, str]]:
    """Yield labels and sentences about the first failing size; ``searched`` is False if only one size was played."""
    if searched and has_known_end(row) and not row["exact"]:
        between = f"between {number(row['held'])} and {number(row['first_not'])}"
        yield "Limit", f"{between}: there was no time to find the smallest failing size."
    if row["expected"]:
        yield "Expected", printable(row["expected"], _MAX_SEEN)
        yield "Seen", f"step {row['step']}: {printable(row['seen'] or '', _MAX_SEEN)}"
    if row["said"]:
        yield "Broke", printable(row["said"], _MAX_SEEN)
    if row["exponent"] is not None:
        yield (
            "Seen",
            f"with twice as many messages in the log, each message costs {2 ** row['exponent']:.1f} times as much",
        )
    if row["verdict"] == Weight.WARNING.value:
        demanded = f"{number(row['demanded'])} of every implementation; beyond: " if has_known_end(row) else ""
        yield "Demanded", f"{demanded}{printable(row['position'], _MAX_SEEN)}"
    if row["again"] is False:
        yield "Warning", "a new process did not show the same failure: does it depend on what was played before?"


def has_details(row: Mapping[str, Any]) -> bool:
    """Does a row have a failure to describe?"""
    return has_known_end(row) or row["verdict"] == Weight.WARNING.value

"""Limits side by side: what is said of a size, and when two of them differ."""

from __future__ import annotations

from typing import Any

import pytest

from sds_conformance.reports.comparing.limits import DimensionReach, Extent, smaller


def extent(held: int | None, first_not: int | None = None, **more: Any) -> Extent:
    known = {
        "title": "things",
        "verdict": "held",
        "timed": False,
        "exponent": None,
        "how": "wrong" if first_not else "",
    }
    exact = first_not is not None and held is not None and first_not == held + 1
    return Extent(held=held, first_not=first_not, exact=exact, **{"requirement": "", **known, **more})


@pytest.mark.parametrize(
    ("one", "output"),
    [
        (extent(4_096), "4,096+"),
        (extent(100, 101, verdict="finding"), "100!"),
        (extent(512, 1_024, verdict="warning"), "512..1,023"),
        (extent(None, verdict="not exercised"), "-"),
        (extent(4_096, timed=True, exponent=0.2), "steady"),
        (extent(4_096, timed=True, exponent=0.53, verdict="warning"), "N^0.53"),
    ],
)
def test_a_size_in_few_characters(one: Extent, output: str) -> None:
    assert one.size == output


@pytest.mark.parametrize(
    ("one", "other", "differ"),
    [
        (extent(4_096), extent(64), False),  # the time of one was over
        (extent(4_096), extent(100, 101), True),
        (extent(100, 101), extent(101, 102), True),
        (extent(4_096), extent(100, 101, how="slow"), False),  # that may be the machine
        (extent(64), extent(100, 101, verdict="finding"), True),  # one declares what it does not hold
        (extent(64, timed=True, exponent=0.1), extent(64, timed=True, exponent=1.0, verdict="warning"), True),
    ],
)
def test_what_was_not_tried_is_no_difference(one: Extent, other: Extent, differ: bool) -> None:
    assert DimensionReach("things", (one, other)).differs is differ
    assert DimensionReach("things", (other, one, None)).differs is differ


def test_only_what_certainly_holds_less_got_smaller() -> None:
    before = {"a": extent(4_096), "b": extent(4_096), "c": extent(100, 101), "d": extent(5)}
    after = {"a": extent(100, 101), "b": extent(64), "c": extent(4_096)}
    assert smaller(before, after) == ["things (4,096+ → 100)"]
    assert smaller(after, before) == ["things (4,096+ → 100)"]

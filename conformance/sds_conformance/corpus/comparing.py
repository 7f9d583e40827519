"""Comparing two corpora of the same schedules, shard range by shard range: which schedules differ, and where first.

The digests of the side tables are looked at first. Only of schedules whose digests differ are rows read, at first their
hashes alone; and of these only the two rows that first differ are looked at column by column. Who trusts no digest has
all rows read, and compared themselves.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import zip_longest
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from sds_harness.corpus.digests import joined, schedule_digest
from sds_harness.corpus.errors import CorpusError
from sds_harness.corpus.manifest import Corpus
from sds_harness.corpus.reader import Stored, by_schedule
from sds_harness.corpus.schema import SCHEDULES_PER_ROW_GROUP
from sds_harness.corpus.shards import DamagedFile

from .first_steps import by_hashes, by_rows, fault_in
from .ranges import DIFFERENT, EXTRA, MISSING, STALE, TWICE, Divergence, RangeReader


def divergences(
    a: Corpus, b: Corpus, schedules: range, *, verify: bool = False, read_all: bool = False
) -> Iterator[Divergence]:
    """The schedules of a range that differ, in no particular order. With ``verify`` digests are computed again, too;
    with ``read_all`` rows are compared whatever their digests say.

    Raises CorpusError where a file is damaged, or where the two have different schedules under one number.
    """
    with RangeReader(a, schedules) as reader_a, RangeReader(b, schedules) as reader_b:
        table_a, table_b = reader_a.digests(), reader_b.digests()
        if verify:
            yield from _stale(reader_a, table_a, "A")
            yield from _stale(reader_b, table_b, "B")
        # What only one of them can show is not compared; then no digest is the same, and all rows are read.
        shown = a.kind.shown
        unseen = shown if a.manifest.can(shown) != b.manifest.can(shown) else ""
        different: list[Divergence] = []
        for one in _by_digest(a, b, table_a, table_b, schedules):
            if one.kind == DIFFERENT:
                different.append(one)
            else:
                yield one
        if read_all:
            steps_a, steps_b = _steps(table_a), _steps(table_b)
            different = [Divergence(n, DIFFERENT, steps=(steps_a[n], steps_b[n])) for n in steps_a.keys() & steps_b]
        first_steps = by_rows if read_all else by_hashes
        different.sort(key=lambda one: one.schedule)
        for start in range(0, len(different), SCHEDULES_PER_ROW_GROUP):
            yield from first_steps(reader_a, reader_b, different[start : start + SCHEDULES_PER_ROW_GROUP], unseen)


def _by_digest(a: Corpus, b: Corpus, one: pa.Table, other: pa.Table, wanted: range) -> Iterator[Divergence]:
    same = one.num_rows == other.num_rows and one["schedule"].equals(other["schedule"]) and _ascends(one["schedule"])
    if same:
        numbers = one["schedule"].to_numpy()
        if (unlike := _unlike(one, other, "plan")).any():
            _other_schedule(a, b, int(numbers[unlike][0]))
        unlike = _unlike(one, other, "digest") | _unlike(one, other, "steps")
        steps = [table["steps"].to_numpy()[unlike].tolist() for table in (one, other)]
        for number, mine, theirs in zip(numbers[unlike].tolist(), *steps, strict=True):
            yield Divergence(number, DIFFERENT, steps=(mine, theirs))
        if one.num_rows == len(wanted):
            return
    yield from _by_number(a, b, one, other, wanted, compared=same)


def _by_number(
    a: Corpus, b: Corpus, one: pa.Table, other: pa.Table, wanted: range, *, compared: bool
) -> Iterator[Divergence]:
    """Where some schedules are missing, or stand twice: one after the other. Those that both have are left out if they
    were ``compared`` already."""
    rows_a, rows_b = by_schedule(one), by_schedule(other)
    for expected, number in zip_longest(wanted, sorted(rows_a.keys() | rows_b.keys())):
        if number != expected:
            where = a.place.shown if expected < a.manifest.schedules else b.place.shown
            raise CorpusError(f"{where} is damaged: schedule {expected} is not in it, although it is complete.")
        those, others = rows_a.get(number, []), rows_b.get(number, [])
        if len(those) > 1 or len(others) > 1:
            yield Divergence(number, TWICE, side="A" if len(those) > 1 else "B")
        elif not those or not others:
            mine, theirs = (those[0]["steps"] if those else 0), (others[0]["steps"] if others else 0)
            yield Divergence(number, MISSING if those else EXTRA, steps=(mine, theirs))
        elif not compared:
            if those[0]["plan"] != others[0]["plan"]:
                _other_schedule(a, b, number)
            if those[0]["digest"] != others[0]["digest"] or those[0]["steps"] != others[0]["steps"]:
                yield Divergence(number, DIFFERENT, steps=(those[0]["steps"], others[0]["steps"]))


def _unlike(one: pa.Table, other: pa.Table, column: str) -> npt.NDArray[np.bool_]:
    return np.asarray(pc.not_equal(one[column], other[column]).to_numpy(), np.bool_)


def _steps(table: pa.Table) -> dict[int, int]:
    """By schedule."""
    return dict(zip(table["schedule"].to_numpy().tolist(), table["steps"].to_numpy().tolist(), strict=True))


def _ascends(column: pa.ChunkedArray[Any]) -> bool:
    numbers = column.to_numpy()
    return bool((numbers[1:] > numbers[:-1]).all())


def _other_schedule(a: Corpus, b: Corpus, number: int) -> None:
    raise CorpusError(
        f"{a.place.shown} and {b.place.shown} have different schedules under number {number}: they were recorded by "
        "suites that generate others, so there is nothing to compare."
    )


def _as_recorded(stored: Stored) -> bool:
    """Are requests, replies and the schedule those of which the digests were made?"""
    try:
        stored.hold_to_digests()
    except DamagedFile:
        return False
    return True


def _stale(reader: RangeReader, side: pa.Table, name: str) -> Iterator[Divergence]:
    """Schedules whose hashes or digests are not those of their rows, or of what is stored beside them."""
    columns, told = reader.corpus.kind.columns, set[int]()
    numbers = np.unique(side["schedule"].to_numpy()).tolist()
    for start in range(0, len(numbers), SCHEDULES_PER_ROW_GROUP):
        for one in reader.whole(numbers[start : start + SCHEDULES_PER_ROW_GROUP]):
            if one.schedule in told:
                continue  # it stands twice, which is told elsewhere
            told.add(one.schedule)
            those = sorted((row for row in one.rows if row["step"]), key=lambda row: row["step"])
            steps = np.array([row["step"] for row in those], np.int64)
            fault = fault_in(steps, one.side["steps"], name)
            if fault is not None:
                yield Divergence(one.schedule, fault[0], fault[2], side=name)
                continue
            wrong = [row for row in those if columns.hash_of(row) != row["row_hash"]]
            digest = schedule_digest(joined(row["row_hash"] for row in those))
            if wrong or digest != one.side["digest"] or not _as_recorded(one):
                yield Divergence(one.schedule, STALE, wrong[0]["step"] if wrong else 0, side=name)

"""Finds where two corpora of the same schedules differ: which schedules, and the first differing step.

The digests in the side tables are compared first. Rows are read only for schedules with different digests. The hashes
of the rows show the first differing step, and the columns of this step are compared. With ``read_all``, no digest or
hash is trusted: all rows are read, and all columns are compared.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from sds_harness.corpus.digests import join_hashes, schedule_digest
from sds_harness.corpus.errors import CorpusError
from sds_harness.corpus.manifest import Corpus
from sds_harness.corpus.reader import Stored, stored_in
from sds_harness.corpus.schema import DIGESTS, SCHEDULES_PER_ROW_GROUP, Columns, Row
from sds_harness.corpus.shards import DamagedFileError, ShardFile, file_name, pair_of

from ..protocols.freedoms import END

DIFFERENT = "different"
"""Kind of a divergence: both corpora have the schedule, and its steps differ."""
MISSING, EXTRA = "missing", "extra"
"""Kinds of divergences: only corpus A has the schedule, or only corpus B has it."""
TRUNCATED, DUPLICATE, TWICE, STALE = "truncated", "duplicate step", "duplicate schedule", "stale digest"
"""Kinds of divergences that are faults of one corpus: a step is missing or duplicated, a schedule is duplicated, or a
digest does not match its rows.
"""
Numbers = npt.NDArray[np.int64]


@dataclass
class Divergence:
    """The first difference of a schedule between two corpora, or a fault of one corpus."""

    schedule: int
    kind: str
    step: int = 0
    """Number of the first differing step, counted among the compared steps; 0 if the divergence has no step."""
    fields: tuple[str, ...] = ()
    """The columns that differ in the first differing step."""
    a: Row | None = None
    """The row of corpus A at the first differing step; None if A does not have this step."""
    b: Row | None = None
    side: str = ""
    """The faulty corpus, ``A`` or ``B``; "" if neither is faulty."""
    steps: tuple[int, int] = field(default=(0, 0))
    """Numbers of compared steps: (in corpus A, in corpus B)."""

    @property
    def row(self) -> Row:
        """The row of the step in A, or else in B."""
        return self.a or self.b or {}

    @property
    def values(self) -> dict[str, list[Any]]:
        """Maps the columns that differ to the values of A and B."""
        return {
            name: [side.get(name) if side is not None else None for side in (self.a, self.b)]
            for name in self.fields
            if name != END
        }


def divergences(
    a: Corpus, b: Corpus, schedules: range, *, verify: bool = False, read_all: bool = False
) -> Iterator[Divergence]:
    """Yield the schedules of a range that differ, in no particular order. ``verify`` recomputes digests.

    Raises CorpusError if a file is damaged, or if the corpora have different schedules with the same number.
    """
    with _RangeReader(a, schedules) as reader_a, _RangeReader(b, schedules) as reader_b:
        sides = reader_a.digests(), reader_b.digests()
        if verify:
            yield from _find_stale(a, schedules, "A")
            yield from _find_stale(b, schedules, "B")
        # If only one of the implementations can show its state, shown states are not compared. All digests differ
        # then, so all rows are read.
        shown = a.kind.shown_columns
        unseen = shown if a.manifest.can(shown) != b.manifest.can(shown) else ""
        different: list[Divergence] = []
        for one in _compare_digests(a, b, sides, schedules, every=read_all):
            if one.kind == DIFFERENT:
                different.append(one)
            else:
                yield one
        for start in range(0, len(different), SCHEDULES_PER_ROW_GROUP):
            group = different[start : start + SCHEDULES_PER_ROW_GROUP]
            yield from _first_steps(reader_a, reader_b, group, unseen, read_all=read_all)


class _RangeReader(ExitStack):
    """Opens the files of all shards with schedules of a range, until the reader is closed."""

    def __init__(self, corpus: Corpus, schedules: range) -> None:
        super().__init__()
        self.corpus, self._range = corpus, schedules
        self._shards: dict[int, tuple[ShardFile, ShardFile]] = {}
        for shard in corpus.manifest.shards_of(schedules):
            side, steps = self._shards[shard] = pair_of(corpus.place, shard, corpus.kind.columns)
            self.enter_context(side)
            self.enter_context(steps)

    def digests(self) -> pa.Table:
        """The columns `DIGESTS` of the side table, for the schedules of the range.

        Raises DamagedFileError if a schedule is in the wrong shard, where no task would find it.
        """
        tables = [pa.table({name: [] for name in DIGESTS})]
        for shard, (side, steps) in self._shards.items():
            table, wanted = side.read(list(DIGESTS)), self.corpus.manifest.range_of(shard)
            numbers = _numbers(table, "schedule")
            for bounds in ((int(numbers.min()), int(numbers.max())) if len(numbers) else None, steps.bounds):
                if bounds is not None and not (wanted.start <= bounds[0] and bounds[1] < wanted.stop):
                    raise DamagedFileError(
                        f"{self.corpus.place.label} is damaged: {file_name(shard)} has schedules {bounds[0]} to "
                        f"{bounds[1]}, but should only have {wanted.start} to {wanted.stop - 1}."
                    )
            tables.append(table.filter(pa.array((numbers >= self._range.start) & (numbers < self._range.stop))))
        return pa.concat_tables(tables[1:] or tables)

    def rows(self, schedules: Sequence[int], columns: Sequence[str]) -> pa.Table:
        """The rows of some schedules, with some columns, ordered by schedule and step. Steps without a number are not
        compared and are left out.
        """
        table = pa.concat_tables([steps.read(columns, schedules) for _, steps in self._shards.values()])
        step = _numbers(table, "step")
        if not step.all():
            table = table.filter(pa.array(step > 0))
            step = step[step > 0]
        schedule = _numbers(table, "schedule")
        ascends = (schedule[1:] > schedule[:-1]) | ((schedule[1:] == schedule[:-1]) & (step[1:] >= step[:-1]))
        return table if ascends.all() else table.take(np.lexsort((step, schedule)))


def _compare_digests(
    a: Corpus, b: Corpus, sides: tuple[pa.Table, pa.Table], wanted: range, *, every: bool
) -> Iterator[Divergence]:
    """Yield the schedules with different digests, ascending; with ``every``, all schedules that both corpora have. Then
    yield missing and duplicate schedules.
    """
    of_a, of_b = (_numbers(side, "schedule") for side in sides)
    absent = np.setdiff1d(np.arange(wanted.start, wanted.stop), np.union1d(of_a, of_b))
    if len(absent):
        where = (a if absent[0] < a.manifest.schedules else b).place.label
        raise CorpusError(f"{where} is damaged: schedule {absent[0]} is missing, although the corpus is complete.")
    twice = dict.fromkeys(_find_duplicates(of_b), "B") | dict.fromkeys(_find_duplicates(of_a), "A")
    common, at_a, at_b = np.intersect1d(of_a, of_b, return_indices=True)
    once = ~np.isin(common, list(twice))
    common, one, other = common[once], sides[0].take(at_a[once]), sides[1].take(at_b[once])
    if (unlike := _rows_that_differ(one, other, "plan")).any():
        raise CorpusError(
            f"{a.place.label} and {b.place.label} have different schedules under number {common[unlike][0]}: they "
            "were recorded by versions that generate different schedules, so they cannot be compared."
        )
    unlike = _rows_that_differ(one, other, "digest") | _rows_that_differ(one, other, "steps") | every
    steps = [_numbers(side, "steps")[unlike].tolist() for side in (one, other)]
    for number, mine, theirs in zip(common[unlike].tolist(), *steps, strict=True):
        yield Divergence(number, DIFFERENT, steps=(mine, theirs))
    for number, name in twice.items():
        yield Divergence(number, TWICE, side=name)
    for kind, side, mine, others in ((MISSING, sides[0], of_a, of_b), (EXTRA, sides[1], of_b, of_a)):
        for row in side.filter(pa.array(~(np.isin(mine, others) | np.isin(mine, list(twice))))).to_pylist():
            yield Divergence(row["schedule"], kind, steps=(row["steps"], 0) if kind == MISSING else (0, row["steps"]))


def _first_steps(
    a: _RangeReader, b: _RangeReader, group: list[Divergence], unseen: str, *, read_all: bool
) -> Iterator[Divergence]:
    """Find the first differing step of a few schedules; rows of the command ``unseen`` are ignored."""
    columns = a.corpus.kind.columns
    numbers = [one.schedule for one in group]
    tables = [reader.rows(numbers, [*columns.printed_names, "row_hash"]) for reader in (a, b)]
    compared = columns.names if read_all else ("row_hash",)
    if (
        read_all
        and not unseen
        and all(_has_all_steps(t, [one.steps[n] for one in group]) for n, t in enumerate(tables))
    ):
        one, other = (table.select(["schedule", "step", *compared]) for table in tables)
        if one.equals(other):
            return  # compare the whole group first, because most groups are equal
    bounds = [_bounds(_numbers(table, "schedule")) for table in tables]
    for divergence in group:
        sides = []
        for table, known in zip(tables, bounds, strict=True):
            start, end = known.get(divergence.schedule, (0, 0))
            sides.append(table.slice(start, end - start))
        faults = (fault_in(_numbers(rows, "step"), divergence.steps[n], "AB"[n]) for n, rows in enumerate(sides))
        if fault := next(filter(None, faults), None):
            divergence.kind, divergence.side, divergence.step = fault
            yield divergence
            continue
        if unseen:
            sides = [rows.filter(pc.not_equal(rows["command"], pa.scalar(unseen))) for rows in sides]
        at = _first_difference(compared, *sides)
        if at is not None:
            rows = [next(iter(side.select(columns.printed_names).slice(at, 1).to_pylist()), None) for side in sides]
            divergence.a, divergence.b = rows
            divergence.step, divergence.fields = divergence.row["step"], _fields_of(columns, *rows)
        elif read_all or unseen:
            continue
        if not divergence.fields:  # the rows are equal, so a hash or digest does not match its rows
            divergence.kind = STALE
        yield divergence


def _fields_of(columns: Columns, a: Row | None, b: Row | None) -> tuple[str, ...]:
    """The normative columns in which two rows differ."""
    if a is None or b is None:
        return (END,)
    return tuple(name for name in columns.names if a[name] != b[name])


def _first_difference(columns: Sequence[str], one: pa.Table, other: pa.Table) -> int | None:
    """Index of the first row in which a column differs, or which only one table has; None if all rows are equal."""
    common = min(one.num_rows, other.num_rows)
    first = common if one.num_rows != other.num_rows else None
    for name in columns:
        a, b = one[name].slice(0, first), other[name].slice(0, first)
        if not a.equals(b):
            first = next(at for at, (x, y) in enumerate(zip(a.to_pylist(), b.to_pylist(), strict=True)) if x != y)
    return first


def fault_in(steps: Numbers, promised: int, side: str) -> tuple[str, str, int] | None:
    """Return the fault if the steps of a schedule are not 1, 2, ... ``promised``: the kind, the side and the step. None
    if there is no fault.
    """
    twice = np.flatnonzero(steps[1:] == steps[:-1])
    if len(twice):
        return DUPLICATE, side, int(steps[twice[0]])
    gaps = np.flatnonzero(steps != np.arange(1, len(steps) + 1))
    if len(gaps):
        return TRUNCATED, side, int(gaps[0]) + 1
    return (TRUNCATED, side, len(steps) + 1) if len(steps) != promised else None


def _find_stale(corpus: Corpus, schedules: range, name: str) -> Iterator[Divergence]:
    """Yield the schedules whose hashes or digests do not match their rows, requests, replies or schedule."""
    reported = set[int]()
    for shard in corpus.manifest.shards_of(schedules):
        for one in stored_in(corpus, shard, schedules, None):
            if one.schedule in reported:
                continue  # a duplicate schedule, which `_compare_digests` reports
            reported.add(one.schedule)
            rows = sorted((row for row in one.rows if row["step"]), key=lambda row: row["step"])
            fault = fault_in(np.array([row["step"] for row in rows], np.int64), one.side["steps"], name)
            if fault is not None:
                yield Divergence(one.schedule, fault[0], fault[2], side=name)
                continue
            wrong = [row["step"] for row in rows if corpus.kind.columns.hash_of(row) != row["row_hash"]]
            digest = schedule_digest(join_hashes(row["row_hash"] for row in rows))
            if wrong or digest != one.side["digest"] or not _is_as_recorded(one):
                yield Divergence(one.schedule, STALE, wrong[0] if wrong else 0, side=name)


def _is_as_recorded(stored: Stored) -> bool:
    """Do requests, replies and schedule match their digests?"""
    try:
        stored.hold_to_digests()
    except DamagedFileError:
        return False
    return True


def _numbers(table: pa.Table, name: str) -> Numbers:
    return table[name].to_numpy().astype(np.int64, copy=False)


def _find_duplicates(numbers: Numbers) -> list[int]:
    known, counts = np.unique(numbers, return_counts=True)
    return list(known[counts > 1].tolist())


def _rows_that_differ(one: pa.Table, other: pa.Table, column: str) -> npt.NDArray[np.bool_]:
    return np.asarray(pc.not_equal(one[column], other[column]).to_numpy(), np.bool_)


def _bounds(schedule: Numbers) -> dict[int, tuple[int, int]]:
    """Map each schedule to the range of its rows; its rows must be contiguous."""
    numbers, starts = np.unique(schedule, return_index=True)
    ends = [*starts[1:].tolist(), len(schedule)][: len(starts)]  # an empty array has no last element
    return dict(zip(numbers.tolist(), zip(starts.tolist(), ends, strict=True), strict=True))


def _has_all_steps(table: pa.Table, promised: list[int]) -> bool:
    """Are the steps of each schedule 1, 2, ... up to its number of steps in ``promised``?"""
    bounds = _bounds(_numbers(table, "schedule")).values()
    counts = [end - start for start, end in bounds]
    if counts != [count for count in promised if count]:
        return False
    starts = np.array([start for start, _ in bounds], np.int64)
    wanted = np.arange(1, table.num_rows + 1) - np.repeat(starts, counts)
    return bool((_numbers(table, "step") == wanted).all())

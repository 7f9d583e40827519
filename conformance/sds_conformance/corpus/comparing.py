"""Comparing two corpora of the same schedules, shard range by shard range: which schedules differ, and where first.

The digests of the side tables are looked at first. Only of schedules whose digests differ are rows read, at first their
hashes alone; and of these only the two rows that first differ are looked at column by column.
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

from sds_harness.corpus.digests import row_hash, schedule_digest
from sds_harness.corpus.errors import CorpusError
from sds_harness.corpus.manifest import Manifest
from sds_harness.corpus.place import Place
from sds_harness.corpus.schema import COMPARED_NAMES, DIGESTS, SCHEDULES_PER_ROW_GROUP
from sds_harness.corpus.shards import ShardFile, pair_of

DIFFERENT = "different"
"""Both have the schedule, and its steps differ."""
MISSING, EXTRA = "missing", "extra"
"""Only A has the schedule, or only B."""
TRUNCATED, DUPLICATE, TWICE, STALE = "truncated", "duplicate step", "duplicate schedule", "stale digest"
"""Faults of a corpus: steps are not there that were recorded, or stand twice; a schedule stands twice; a digest is not
that of the rows."""
DAMAGES = frozenset({TRUNCATED, DUPLICATE, TWICE, STALE})
END = "end"
"""Stands for a column where one side has no more steps."""

OBSERVE = "observe"
"""The command, and the capability, by which an implementation shows its state."""
_HASHES = ("schedule", "step", "command", "row_hash")
_ROW = ("schedule", "position", "step", *COMPARED_NAMES, "message_id", "dependencies")
Row = dict[str, Any]
Numbers = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Corpus:
    """A corpus that is read."""

    place: Place
    manifest: Manifest


@dataclass
class Divergence:
    """Where a schedule first differs."""

    schedule: int
    kind: str
    step: int = 0
    """The first step that differs, by its number among those that are compared; 0 if there is none to name."""
    fields: tuple[str, ...] = ()
    """The columns that differ there."""
    a: Row | None = None
    """The row of A at that step; None if it has none."""
    b: Row | None = None
    side: str = ""
    """A or B, for a fault of one of the corpora."""
    steps: tuple[int, int] = field(default=(0, 0))
    """How many steps that are compared A and B have."""

    @property
    def row(self) -> Row:
        """The step, as one of the sides has it."""
        return self.a or self.b or {}

    @property
    def values(self) -> dict[str, list[Any]]:
        """The fields that differ, with what A and B have."""
        return {
            name: [side.get(name) if side is not None else None for side in (self.a, self.b)]
            for name in self.fields
            if name != END
        }


class RangeReader:
    """What a corpus has of a range of schedules, out of whatever shards that is in."""

    def __init__(self, corpus: Corpus, schedules: range) -> None:
        self._files = ExitStack()
        self._range = schedules
        self._shards: list[tuple[ShardFile, ShardFile]] = []
        manifest = corpus.manifest
        last = min(schedules.stop, manifest.schedules)
        if schedules.start < last:
            for shard in range(schedules.start // manifest.per_shard, (last - 1) // manifest.per_shard + 1):
                side, steps = pair_of(corpus.place, shard)
                self._files.enter_context(side)
                self._files.enter_context(steps)
                self._shards.append((side, steps))

    def digests(self) -> pa.Table:
        """The beginning of the side table. Rows of schedules outside of the range belong to another task, unless they
        are outside of their shard, too: those are nobody's, and nothing is said of them."""
        tables = [side.read(list(DIGESTS)) for side, _ in self._shards]
        if not tables:
            return pa.table({name: [] for name in DIGESTS})
        table = pa.concat_tables(tables)
        numbers = table["schedule"].to_numpy()
        return table.filter(pa.array((numbers >= self._range.start) & (numbers < self._range.stop)))

    def rows(self, schedules: Sequence[int], columns: Sequence[str]) -> pa.Table:
        """Rows of some schedules."""
        return pa.concat_tables([steps.read(columns, schedules) for _, steps in self._shards])

    def __enter__(self) -> RangeReader:
        return self

    def __exit__(self, *what: object) -> None:
        self._files.close()


def divergences(a: Corpus, b: Corpus, schedules: range, *, verify: bool = False) -> Iterator[Divergence]:
    """The schedules of a range that differ, in no particular order; with ``verify`` digests are computed again, too.

    Raises CorpusError where a file is damaged, or where the two have different schedules under one number.
    """
    with RangeReader(a, schedules) as reader_a, RangeReader(b, schedules) as reader_b:
        table_a, table_b = reader_a.digests(), reader_b.digests()
        if verify:
            yield from _stale(reader_a, table_a, "A")
            yield from _stale(reader_b, table_b, "B")
        found = list(_by_digest(a, b, table_a, table_b, schedules))
        yield from (one for one in found if one.kind != DIFFERENT)
        different = {one.schedule: one for one in found if one.kind == DIFFERENT}
        wanted = sorted(different)
        for start in range(0, len(wanted), SCHEDULES_PER_ROW_GROUP):
            group = wanted[start : start + SCHEDULES_PER_ROW_GROUP]
            # What only one of them can show is not compared; then no digest is the same, and all rows are read.
            unseen = {c.manifest.can(OBSERVE) for c in (a, b)} == {True, False}
            yield from _first_steps(reader_a, reader_b, [different[number] for number in group], unseen)


# ---- By their digests ------------------------------------------------------------------------------------------------


def _by_digest(a: Corpus, b: Corpus, one: pa.Table, other: pa.Table, wanted: range) -> Iterator[Divergence]:
    if one.num_rows == other.num_rows and one["schedule"].equals(other["schedule"]) and _ascends(one["schedule"]):
        numbers = one["schedule"].to_numpy()
        if (unlike := _unlike(one, other, "plan")).any():
            _other_schedule(a, b, int(numbers[unlike][0]))
        unlike = _unlike(one, other, "digest") | _unlike(one, other, "steps")
        steps = [table["steps"].to_numpy()[unlike].tolist() for table in (one, other)]
        for number, mine, theirs in zip(numbers[unlike].tolist(), *steps, strict=True):
            yield Divergence(number, DIFFERENT, steps=(mine, theirs))
        if one.num_rows == len(wanted):
            return
    yield from _by_number(a, b, one, other, wanted)


def _by_number(a: Corpus, b: Corpus, one: pa.Table, other: pa.Table, wanted: range) -> Iterator[Divergence]:
    """Where some schedules are missing, or stand twice: one after the other."""
    same = one.num_rows == other.num_rows and one["schedule"].equals(other["schedule"]) and _ascends(one["schedule"])
    rows_a, rows_b = _side_rows(one), _side_rows(other)
    for number in wanted:
        those, others = rows_a.get(number, []), rows_b.get(number, [])
        if len(those) > 1 or len(others) > 1:
            yield Divergence(number, TWICE, side="A" if len(those) > 1 else "B")
        elif not those and not others:
            where = a.place.shown if number < a.manifest.schedules else b.place.shown
            raise CorpusError(f"{where} is damaged: schedule {number} is not in it, although it is complete.")
        elif not those or not others:
            mine, theirs = (those[0]["steps"] if those else 0), (others[0]["steps"] if others else 0)
            yield Divergence(number, MISSING if those else EXTRA, steps=(mine, theirs))
        elif not same:
            if those[0]["plan"] != others[0]["plan"]:
                _other_schedule(a, b, number)
            if those[0]["digest"] != others[0]["digest"] or those[0]["steps"] != others[0]["steps"]:
                yield Divergence(number, DIFFERENT, steps=(those[0]["steps"], others[0]["steps"]))


def _unlike(one: pa.Table, other: pa.Table, column: str) -> npt.NDArray[np.bool_]:
    return np.asarray(pc.not_equal(one[column], other[column]).to_numpy(), np.bool_)


def _ascends(column: pa.ChunkedArray[Any]) -> bool:
    numbers = column.to_numpy()
    return bool((numbers[1:] > numbers[:-1]).all())


def _side_rows(table: pa.Table) -> dict[int, list[Row]]:
    out: dict[int, list[Row]] = {}
    for row in table.to_pylist():
        out.setdefault(row["schedule"], []).append(row)
    return out


def _other_schedule(a: Corpus, b: Corpus, number: int) -> None:
    raise CorpusError(
        f"{a.place.shown} and {b.place.shown} have different schedules under number {number}: they were recorded by "
        "suites that generate others, so there is nothing to compare."
    )


# ---- By their steps --------------------------------------------------------------------------------------------------


def _first_steps(a: RangeReader, b: RangeReader, group: list[Divergence], unseen: bool) -> Iterator[Divergence]:
    """Find the first step that differs, for a few schedules; ``unseen`` leaves out what is shown."""
    numbers = [one.schedule for one in group]
    hashes = [_hashes(reader.rows(numbers, _HASHES), unseen) for reader in (a, b)]
    pending: list[Divergence] = []
    steps: list[dict[int, int]] = [{}, {}]
    for one in group:
        of_a, of_b = (known.get(one.schedule, _NOTHING) for known in hashes)
        fault = _fault(of_a.steps, one.steps[0], "A") or _fault(of_b.steps, one.steps[1], "B")
        if fault is not None:
            one.kind, one.side, one.step = fault
            yield one
            continue
        common = min(len(of_a.hashes), len(of_b.hashes))
        unlike = np.flatnonzero(of_a.hashes[:common] != of_b.hashes[:common])
        if len(unlike) or len(of_a.hashes) != len(of_b.hashes):
            at = int(unlike[0]) if len(unlike) else common
            for known, side in zip(steps, (of_a, of_b), strict=True):
                if at < len(side.kept):
                    known[one.schedule] = int(side.kept[at])
            one.step = steps[0].get(one.schedule) or steps[1][one.schedule]
            pending.append(one)
        elif not unseen:
            one.kind = STALE
            yield one
    if pending:
        numbers = [one.schedule for one in pending]
        wide = [_at(reader.rows(numbers, _ROW), known) for reader, known in zip((a, b), steps, strict=True)]
        for one in pending:
            one.a, one.b = (rows.get(one.schedule) for rows in wide)
            one.fields = fields_of(one.a, one.b)
            if not one.fields:  # a hash that is not that of its row
                one.kind = STALE
            yield one


def fields_of(a: Row | None, b: Row | None) -> tuple[str, ...]:
    """The normative columns in which two rows differ."""
    if a is None or b is None:
        return (END,)
    return tuple(name for name in COMPARED_NAMES if a[name] != b[name])


@dataclass(frozen=True)
class _Steps:
    """The rows of one schedule, in the order of their steps."""

    steps: Numbers
    kept: Numbers
    """Those that are compared here."""
    hashes: Numbers
    """Of these."""


_NOTHING = _Steps(*(np.zeros(0, np.int64) for _ in range(3)))


def _hashes(table: pa.Table, unseen: bool) -> dict[int, _Steps]:
    """By schedule."""
    schedule, step, hashed = (table[name].to_numpy().astype(np.int64) for name in ("schedule", "step", "row_hash"))
    kept = np.asarray(pc.not_equal(table["command"], pa.scalar(OBSERVE)).to_numpy(), np.bool_) | (not unseen)
    counts = step > 0
    order = np.flatnonzero(counts)[np.lexsort((step[counts], schedule[counts]))]
    schedule, step, hashed, kept = schedule[order], step[order], hashed[order], kept[order]
    numbers, starts = np.unique(schedule, return_index=True)
    ends = [*starts[1:].tolist(), len(schedule)]
    out = {}
    for number, start, end in zip(numbers.tolist(), starts.tolist(), ends, strict=True):
        mask = kept[start:end]
        out[int(number)] = _Steps(step[start:end], step[start:end][mask], hashed[start:end][mask])
    return out


def _fault(steps: Numbers, promised: int, side: str) -> tuple[str, str, int] | None:
    """What is wrong with the steps of a schedule, if they are not 1, 2, ... and as many as the side table says."""
    twice = np.flatnonzero(steps[1:] == steps[:-1])
    if len(twice):
        return DUPLICATE, side, int(steps[twice[0]])
    gaps = np.flatnonzero(steps != np.arange(1, len(steps) + 1))
    if len(gaps):
        return TRUNCATED, side, int(gaps[0]) + 1
    return (TRUNCATED, side, len(steps) + 1) if len(steps) != promised else None


def _at(table: pa.Table, steps: dict[int, int]) -> dict[int, Row]:
    """The rows of these steps, by schedule."""
    schedule, step = table["schedule"].to_numpy().astype(np.int64), table["step"].to_numpy().astype(np.int64)
    at = np.array([steps.get(int(number), -1) for number in schedule], np.int64)
    return {row["schedule"]: row for row in table.filter(pa.array(step == at)).to_pylist()}


# ---- Digests computed again ------------------------------------------------------------------------------------------


def _stale(reader: RangeReader, side: pa.Table, name: str) -> Iterator[Divergence]:
    """Schedules whose hashes or digest are not those of their rows."""
    known = _side_rows(side)
    numbers = sorted(known)
    for start in range(0, len(numbers), SCHEDULES_PER_ROW_GROUP):
        group = numbers[start : start + SCHEDULES_PER_ROW_GROUP]
        rows: dict[int, list[Row]] = {}
        for row in reader.rows(group, (*_ROW, "row_hash")).to_pylist():
            if row["step"]:
                rows.setdefault(row["schedule"], []).append(row)
        for number in group:
            those = sorted(rows.get(number, []), key=lambda row: row["step"])
            steps = np.array([row["step"] for row in those], np.int64)
            fault = _fault(steps, known[number][0]["steps"], name)
            if fault is not None:
                yield Divergence(number, fault[0], fault[2], side=name)
                continue
            wrong = [row for row in those if row_hash([row[column] for column in COMPARED_NAMES]) != row["row_hash"]]
            hashes = b"".join(row["row_hash"].to_bytes(8, "little", signed=True) for row in those)
            if wrong or schedule_digest(hashes) != known[number][0]["digest"]:
                yield Divergence(number, STALE, wrong[0]["step"] if wrong else 0, side=name)

"""Where a schedule first differs: found by the hashes of its rows, or by the rows themselves."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from sds_harness.corpus.schema import Columns, Row

from ..protocols.freedoms import END
from .ranges import DUPLICATE, STALE, TRUNCATED, Divergence, Numbers, RangeReader

_HASHES = ("schedule", "step", "command", "row_hash")


def by_hashes(a: RangeReader, b: RangeReader, group: list[Divergence], unseen: str) -> Iterator[Divergence]:
    """Find the first step that differs, for a few schedules; rows of the command ``unseen`` are left out."""
    columns = a.corpus.kind.columns
    numbers = [one.schedule for one in group]
    hashes = [_hashes(reader.rows(numbers, _HASHES), unseen) for reader in (a, b)]
    pending: list[Divergence] = []
    steps: list[dict[int, int]] = [{}, {}]
    for one in group:
        of_a, of_b = (known.get(one.schedule, _NOTHING) for known in hashes)
        fault = fault_in(of_a.steps, one.steps[0], "A") or fault_in(of_b.steps, one.steps[1], "B")
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
        wide = [_at(reader.rows(numbers, columns.told), known) for reader, known in zip((a, b), steps, strict=True)]
        for one in pending:
            one.a, one.b = (rows.get(one.schedule) for rows in wide)
            one.fields = fields_of(columns, one.a, one.b)
            if not one.fields:  # a hash that is not that of its row
                one.kind = STALE
            yield one


def fields_of(columns: Columns, a: Row | None, b: Row | None) -> tuple[str, ...]:
    """The normative columns in which two rows differ."""
    if a is None or b is None:
        return (END,)
    return tuple(name for name in columns.names if a[name] != b[name])


# ---- By their rows ---------------------------------------------------------------------------------------------------


def by_rows(a: RangeReader, b: RangeReader, group: list[Divergence], unseen: str) -> Iterator[Divergence]:
    """Of a few schedules those whose rows differ, each with its first step that does; no hash is looked at."""
    columns = a.corpus.kind.columns
    compared = ["schedule", "step", *columns.names]
    numbers = [one.schedule for one in group]
    of_a, of_b = (_sorted_rows(reader.rows(numbers, columns.told)) for reader in (a, b))
    sides = [(table, _bounds(_numbers(table, "schedule"))) for table in (of_a, of_b)]
    whole = all(_whole(*side, [one.steps[place] for one in group]) for place, side in enumerate(sides))
    if whole and not unseen and of_a.select(compared).equals(of_b.select(compared)):
        return
    for one in group:
        rows_a, rows_b = (_cut(table, *bounds.get(one.schedule, (0, 0))) for table, bounds in sides)
        faults = (
            fault_in(_numbers(rows, "step"), n, side)
            for rows, n, side in zip((rows_a, rows_b), one.steps, "AB", strict=True)
        )
        fault = next(filter(None, faults), None)
        if fault is not None:
            one.kind, one.side, one.step = fault
            yield one
            continue
        if unseen:
            rows_a, rows_b = (rows.filter(pa.array(_kept(rows, unseen))) for rows in (rows_a, rows_b))
        at = _first_unlike(columns.names, rows_a, rows_b)
        if at is not None:
            one.a, one.b = (next(iter(rows.slice(at, 1).to_pylist()), None) for rows in (rows_a, rows_b))
            one.step, one.fields = one.row["step"], fields_of(columns, one.a, one.b)
            yield one


def _cut(table: pa.Table, start: int, end: int) -> pa.Table:
    return table.slice(start, end - start)


def _kept(table: pa.Table, unseen: str) -> npt.NDArray[np.bool_]:
    """Which rows count: those of the command ``unseen`` do not."""
    if not unseen:
        return np.ones(table.num_rows, np.bool_)
    return np.asarray(pc.not_equal(table["command"], pa.scalar(unseen)).to_numpy(), np.bool_)


def _sorted_rows(table: pa.Table) -> pa.Table:
    """Rows that are compared, by schedule and step: as they stand, unless somebody has moved them."""
    step = _numbers(table, "step")
    if not step.all():
        table = table.filter(pa.array(step > 0))
        step = step[step > 0]
    schedule = _numbers(table, "schedule")
    ascends = (schedule[1:] > schedule[:-1]) | ((schedule[1:] == schedule[:-1]) & (step[1:] >= step[:-1]))
    return table if ascends.all() else table.take(np.lexsort((step, schedule)))


def _bounds(schedule: Numbers) -> dict[int, tuple[int, int]]:
    """By schedule: where its rows begin and end, where they stand together."""
    numbers, starts = np.unique(schedule, return_index=True)
    ends = [*starts[1:].tolist(), len(schedule)]
    return dict(zip(numbers.tolist(), zip(starts.tolist(), ends, strict=True), strict=True))


def _whole(table: pa.Table, bounds: dict[int, tuple[int, int]], promised: list[int]) -> bool:
    """Are the steps of each schedule 1, 2, ... and as many as the side table says?"""
    counts = [end - start for start, end in bounds.values()]
    if counts != [count for count in promised if count]:
        return False
    starts = np.array([start for start, _ in bounds.values()], np.int64)
    wanted = np.arange(1, table.num_rows + 1) - np.repeat(starts, counts)
    return bool((_numbers(table, "step") == wanted).all())


def _first_unlike(columns: Sequence[str], one: pa.Table, other: pa.Table) -> int | None:
    """The first row, from 0, in which a normative column differs, or which only one of the tables has."""
    common = min(one.num_rows, other.num_rows)
    first = common if one.num_rows != other.num_rows else None
    for name in columns:
        a, b = one[name].slice(0, first), other[name].slice(0, first)
        if not a.equals(b):
            first = next(at for at, (x, y) in enumerate(zip(a.to_pylist(), b.to_pylist(), strict=True)) if x != y)
    return first


def _numbers(table: pa.Table, name: str) -> Numbers:
    return table[name].to_numpy().astype(np.int64, copy=False)


# ---- By their hashes -------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Steps:
    """The rows of one schedule, in the order of their steps."""

    steps: Numbers
    kept: Numbers
    """Those that are compared here."""
    hashes: Numbers
    """Of these."""


_NOTHING = _Steps(*(np.zeros(0, np.int64) for _ in range(3)))


def _hashes(table: pa.Table, unseen: str) -> dict[int, _Steps]:
    """By schedule."""
    schedule, step, hashed = (_numbers(table, name) for name in ("schedule", "step", "row_hash"))
    kept = _kept(table, unseen)
    counts = step > 0
    order = np.flatnonzero(counts)[np.lexsort((step[counts], schedule[counts]))]
    schedule, step, hashed, kept = schedule[order], step[order], hashed[order], kept[order]
    out = {}
    for number, (start, end) in _bounds(schedule).items():
        mask = kept[start:end]
        out[number] = _Steps(step[start:end], step[start:end][mask], hashed[start:end][mask])
    return out


def fault_in(steps: Numbers, promised: int, side: str) -> tuple[str, str, int] | None:
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
    schedule, step = _numbers(table, "schedule"), _numbers(table, "step")
    at = np.array([steps.get(int(number), -1) for number in schedule], np.int64)
    return {row["schedule"]: row for row in table.filter(pa.array(step == at)).to_pylist()}

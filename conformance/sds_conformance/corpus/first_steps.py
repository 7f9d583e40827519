"""Where a schedule first differs: found by the hashes of its rows, or by the rows themselves."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
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
    tables = [_sorted_rows(reader.rows(numbers, _HASHES)) for reader in (a, b)]
    pending: list[Divergence] = []
    steps: list[dict[int, int]] = [{}, {}]
    for one, sides in _sides(group, tables, unseen):
        at = _first_unlike(("row_hash",), *sides) if sides else None
        if at is not None:
            for known, rows in zip(steps, sides, strict=True):
                if at < rows.num_rows:
                    known[one.schedule] = rows["step"][at].as_py()
            one.step = steps[0].get(one.schedule) or steps[1][one.schedule]
            pending.append(one)
        elif not sides:
            yield one
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


def by_rows(a: RangeReader, b: RangeReader, group: list[Divergence], unseen: str) -> Iterator[Divergence]:
    """Of a few schedules those whose rows differ, each with its first step that does; no hash is looked at."""
    columns = a.corpus.kind.columns
    numbers = [one.schedule for one in group]
    tables = [_sorted_rows(reader.rows(numbers, columns.told)) for reader in (a, b)]
    whole = all(_whole(table, [one.steps[place] for one in group]) for place, table in enumerate(tables))
    compared = ["schedule", "step", *columns.names]
    if whole and not unseen and tables[0].select(compared).equals(tables[1].select(compared)):
        return
    for one, sides in _sides(group, tables, unseen):
        at = _first_unlike(columns.names, *sides) if sides else None
        if at is not None:
            one.a, one.b = (next(iter(rows.slice(at, 1).to_pylist()), None) for rows in sides)
            one.step, one.fields = one.row["step"], fields_of(columns, one.a, one.b)
        if at is not None or not sides:
            yield one


def _sides(
    group: list[Divergence], tables: list[pa.Table], unseen: str
) -> Iterator[tuple[Divergence, tuple[pa.Table, pa.Table] | tuple[()]]]:
    """Each schedule with the rows that A and B have of it; with none where they are no whole schedule, and that is what
    is to be said of it."""
    bounds = [_bounds(_numbers(table, "schedule")) for table in tables]
    for one in group:
        cut = [known.get(one.schedule, (0, 0)) for known in bounds]
        of_a, of_b = (table.slice(start, end - start) for table, (start, end) in zip(tables, cut, strict=True))
        fault = fault_in(_numbers(of_a, "step"), one.steps[0], "A") or fault_in(
            _numbers(of_b, "step"), one.steps[1], "B"
        )
        if fault is not None:
            one.kind, one.side, one.step = fault
            yield one, ()
        elif unseen:
            yield one, (_without(of_a, unseen), _without(of_b, unseen))
        else:
            yield one, (of_a, of_b)


def fields_of(columns: Columns, a: Row | None, b: Row | None) -> tuple[str, ...]:
    """The normative columns in which two rows differ."""
    if a is None or b is None:
        return (END,)
    return tuple(name for name in columns.names if a[name] != b[name])


def _without(table: pa.Table, command: str) -> pa.Table:
    return table.filter(pc.not_equal(table["command"], pa.scalar(command)))


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
    ends = [*starts[1:].tolist(), len(schedule)][: len(starts)]  # of no schedule there is no end
    return dict(zip(numbers.tolist(), zip(starts.tolist(), ends, strict=True), strict=True))


def _whole(table: pa.Table, promised: list[int]) -> bool:
    """Are the steps of each schedule 1, 2, ... and as many as the side table says?"""
    bounds = _bounds(_numbers(table, "schedule")).values()
    counts = [end - start for start, end in bounds]
    if counts != [count for count in promised if count]:
        return False
    starts = np.array([start for start, _ in bounds], np.int64)
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

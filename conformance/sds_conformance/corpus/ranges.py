"""What two corpora differ in, and how their schedules are read range by range, whatever their shards are."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from sds_harness.corpus.manifest import Corpus
from sds_harness.corpus.reader import RowsOf, Stored
from sds_harness.corpus.schema import DIGESTS, Row
from sds_harness.corpus.shards import DamagedFile, ShardFile, file_name, pair_of

from ..protocols.freedoms import END

DIFFERENT = "different"
"""Both have the schedule, and its steps differ."""
MISSING, EXTRA = "missing", "extra"
"""Only A has the schedule, or only B."""
TRUNCATED, DUPLICATE, TWICE, STALE = "truncated", "duplicate step", "duplicate schedule", "stale digest"
"""Faults of a corpus: steps are not there that were recorded, or stand twice; a schedule stands twice; a digest is not
that of the rows."""
Numbers = npt.NDArray[np.int64]


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


def _bounds(schedules: pa.ChunkedArray[Any]) -> tuple[int, int] | None:
    """The least and the greatest; None of none."""
    return (pc.min(schedules).as_py(), pc.max(schedules).as_py()) if len(schedules) else None


class RangeReader(ExitStack):
    """What a corpus has of a range of schedules, out of whatever shards that is in; they are open as long as it is."""

    def __init__(self, corpus: Corpus, schedules: range) -> None:
        super().__init__()
        self.corpus, self._range = corpus, schedules
        self._numbers: list[int] = []
        self._shards: list[tuple[ShardFile, ShardFile]] = []
        manifest = corpus.manifest
        last = min(schedules.stop, manifest.schedules)
        if schedules.start < last:
            for shard in range(schedules.start // manifest.per_shard, (last - 1) // manifest.per_shard + 1):
                side, steps = pair_of(corpus.place, shard, corpus.kind.columns)
                self.enter_context(side)
                self.enter_context(steps)
                self._shards.append((side, steps))
                self._numbers.append(shard)

    def digests(self) -> pa.Table:
        """The beginning of the side table. Rows of schedules outside of the range belong to another task. Raises
        DamagedFile where a schedule is outside of its shard: no task would look at it there."""
        tables = [side.read(list(DIGESTS)) for side, _ in self._shards]
        for shard, table, (_, steps) in zip(self._numbers, tables, self._shards, strict=True):
            wanted = self.corpus.manifest.range_of(shard)
            for bounds in (_bounds(table["schedule"]), steps.bounds):
                if bounds is not None and not (wanted.start <= bounds[0] and bounds[1] < wanted.stop):
                    raise DamagedFile(
                        f"{self.corpus.place.shown} is damaged: {file_name(shard)} has schedules {bounds[0]} to "
                        f"{bounds[1]}, and should have none but {wanted.start} to {wanted.stop - 1}."
                    )
        if not tables:
            return pa.table({name: [] for name in DIGESTS})
        table = pa.concat_tables(tables)
        numbers = table["schedule"].to_numpy()
        return table.filter(pa.array((numbers >= self._range.start) & (numbers < self._range.stop)))

    def whole(self, schedules: Sequence[int]) -> Iterator[Stored]:
        """All that is stored of some schedules, in the order in which they stand."""
        for side, steps in self._shards:
            known = side.read(None, schedules)
            rows = RowsOf(steps.read(None, schedules if known.num_rows else ()))
            for one in known.to_pylist():
                those = sorted(rows.of(one["schedule"]), key=lambda row: row["position"])
                yield Stored(self.corpus, one, those, self.corpus.place.shown)

    def rows(self, schedules: Sequence[int], columns: Sequence[str]) -> pa.Table:
        """Rows of some schedules."""
        return pa.concat_tables([steps.read(columns, schedules) for _, steps in self._shards])

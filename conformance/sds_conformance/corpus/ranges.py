"""What two corpora differ in, and how their schedules are read range by range, whatever their shards are."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sds_harness.corpus.manifest import Manifest
from sds_harness.corpus.place import Place
from sds_harness.corpus.schema import DIGESTS
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

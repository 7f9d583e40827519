"""Runs ``exhaust`` on Spark. A task plays a piece of the enumeration of words, which starts at a given first word.

There is one job per bound. A task starts its own implementation, enumerates words from the first word of its piece, and
returns a tally. Only the finished chunks of a piece count.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator
from dataclasses import dataclass, replace
from itertools import count, islice
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from sds_harness.corpus.jobs import convert_job_failures, run_tasks
from sds_harness.faults import TesteeError
from sds_harness.moment import Instant, after
from sds_harness.schedules.worlds import Word

from ..exploration.campaign import CampaignTally
from ..exploration.exhaustion import CHUNK, ChunkResults, Exhaustion, Task, play_chunks
from ..exploration.exhaustion_campaign import Source
from .tally_rows import ROWS, row_of, rows_of, sum_rows, take

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

CHUNKS = 8
"""Chunks per piece. Playing them takes much longer than starting an implementation."""
_COUNTS = ("played", "impossible", "renamed", "left_out")
_CHUNK, _TROUBLE, _OTHERWISE, _WITHOUT = "chunk", "trouble", "otherwise", "without"


@dataclass(frozen=True)
class Pieces:
    """The task of a Spark job: plays the piece with the given number, and yields its results as rows."""

    order: Exhaustion
    task: Task
    starts: tuple[tuple[int, Word], ...]
    """For each piece: its first chunk, and the first word of that chunk."""
    chunks: int
    """Chunks per piece."""
    until: Instant | None
    """No chunk starts after this moment; None: no time limit."""

    def __call__(self, number: int) -> Iterator[pa.RecordBatch]:
        first, word = self.starts[number]
        piece = replace(self.task, first=first, since=word, chunks=self.chunks)
        rows: list[dict[str, Any]] = []
        cast_under_test = self.order.make_cast_under_test()
        try:
            if not self._is_over_time():
                tally = CampaignTally(cast_under_test.start())
                for share in play_chunks(self.order, cast_under_test, [piece], ended=self._is_over_time):
                    tally.join(share.tally)
                    if share.reason:
                        rows.append(row_of(_TROUBLE, share.reason, 1))
                        break
                    rows += (row_of(name, "", getattr(share, name)) for name in _COUNTS)
                    rows += (row_of(_CHUNK, str(chunk), 1) for chunk in share.chunks)
                    rows += (row_of(_WITHOUT, str(kind), 1) for kind in share.without)
                rows += [row_of(_OTHERWISE, cast_under_test.otherwise, 1)] if cast_under_test.otherwise else []
                rows += rows_of(tally)
        except TesteeError as fault:
            rows.append(row_of(_TROUBLE, f"could not be started: {fault}", 1))
        finally:
            cast_under_test.kill()
        yield pa.RecordBatch.from_pylist(rows or [row_of("schedules", "", 0)])

    def _is_over_time(self) -> bool:
        return _is_over(self.until)


def spread(spark: SparkSession) -> Source:
    """Return a function for ``exhaust`` that plays the schedules in Spark jobs instead of worker processes."""

    def play(
        order: Exhaustion, tasks: list[Task], tally: CampaignTally, left_s: float
    ) -> Generator[ChunkResults, None, None]:
        until = after(left_s) if left_s else None
        for task in tasks:
            starts = tuple(_starts(order, task))
            of_bound = CampaignTally(tally.declaration)
            counts, chunks, without, otherwise = dict.fromkeys(_COUNTS, 0), [], set[int](), ""
            with convert_job_failures():
                rows = run_tasks(spark, range(len(starts)), Pieces(order, task, starts, CHUNKS, until), ROWS)
                for kind, what, number in take(of_bound, sum_rows(rows)):
                    if kind == _CHUNK:
                        chunks.append(int(what))
                    elif kind == _WITHOUT:
                        without.add(int(what))
                    elif kind == _TROUBLE:
                        tally.gave_up = what
                    elif kind == _OTHERWISE:
                        otherwise = what
                    else:
                        counts[kind] = number
            share = ChunkResults(of_bound, task.events, tuple(chunks), without=frozenset(without), otherwise=otherwise)
            for name, number in counts.items():
                setattr(share, name, number)
            yield share
            if tally.gave_up or _is_over(until):
                return

    return play


def _is_over(until: Instant | None) -> bool:
    return until is not None and until.ago_s >= 0


def _starts(order: Exhaustion, task: Task) -> Iterator[tuple[int, Word]]:
    """Yield the pieces of a bound that are not finished: the first chunk of each, and the first word of that chunk."""
    firsts = islice(order.world.words(task.events), None, None, CHUNKS * CHUNK)
    for first, word in zip(count(0, CHUNKS), firsts, strict=False):
        if not task.done.issuperset(range(first, first + CHUNKS)):
            yield first, word

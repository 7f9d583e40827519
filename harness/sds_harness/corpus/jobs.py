"""Spark jobs over the shards of a corpus: one task a piece of work, Arrow batches in and out of Python workers.

Only DataFrames are used, so that the same job runs embedded, on a cluster, and through Spark Connect.
"""

from __future__ import annotations

import contextlib
import gc
import re
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from .errors import CorpusError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

Work = Callable[[int], Iterable[pa.RecordBatch]]
"""What one task does with one number of a job; it has to be something that can be pickled."""
Progress = Callable[[int, int], None]
"""Called now and then with the tasks that are done, and how many there are."""

_EVERY_S = 0.2


def over(spark: SparkSession, numbers: Sequence[int], work: Work, schema: str, tasks: int = 0) -> DataFrame:
    """The rows that ``work`` gives for each number, in so many tasks (0: one for each number).

    ``schema`` is that of the rows, in the words of Spark SQL. Nothing runs before the rows are asked for.
    """
    count = len(numbers)
    known = list(numbers)

    def run(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        settle_garbage()
        for batch in batches:
            for place in batch.column(0).to_pylist():
                yield from work(known[int(place or 0)])

    return spark.range(0, count, 1, min(count, tasks) or count).mapInArrow(run, schema)


def settle_garbage() -> None:
    """A performance is many objects that live and die together; to look through them again and again takes a fifth of
    the time."""
    gc.freeze()
    gc.set_threshold(100_000, 20, 20)


@contextlib.contextmanager
def watched(spark: SparkSession, progress: Progress) -> Iterator[None]:
    """Tell how far the jobs in the block have come. Through Spark Connect nobody says, so nothing is told."""
    context: Any = getattr(spark, "_sc", None)
    if context is None:
        yield
        return
    ended = threading.Event()

    def look() -> None:
        tracker = context.statusTracker()
        while not ended.wait(_EVERY_S):
            with contextlib.suppress(Exception):
                for stage in tracker.getActiveStageIds():
                    info = tracker.getStageInfo(stage)
                    if info is not None:
                        progress(info.numCompletedTasks, info.numTasks)

    watcher = threading.Thread(target=look, daemon=True)
    watcher.start()
    try:
        yield
    finally:
        ended.set()
        watcher.join(2 * _EVERY_S)


@contextlib.contextmanager
def failures_told() -> Iterator[None]:
    """What a worker raised, as the sentence that it was: Spark wraps it into the tracebacks of both languages."""
    try:
        yield
    except CorpusError:
        raise
    except Exception as error:
        raise CorpusError(sentence_of(error)) from None


def sentence_of(error: Exception) -> str:
    """The sentence of a CorpusError in what Spark raised, else the last line of the traceback in a worker."""
    text = str(error)
    found = re.findall(r"^(?:\s*)sds_[\w.]+\.(\w+): (.+)$", text, re.MULTILINE)
    if found:
        return str(found[0][1]).strip()
    lines = [line.strip(" \t:") for line in text.splitlines() if line.strip(" \t:")]
    # What Python raised in a worker, or what Spark says itself; the first line only names a call of ours.
    for pattern in (r"\w+(\.\w+)*(Error|Exception|Interrupt)\b", r"(Caused by|.*Job aborted|.*ExecutorLost)"):
        lines = [line for line in lines if re.match(pattern, line)] or lines
    return f"A Spark job failed: {(lines or [type(error).__name__])[0][:400]}"

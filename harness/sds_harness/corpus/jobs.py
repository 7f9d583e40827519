"""Spark jobs over the shards of a corpus: one task a piece of work, Arrow batches in and out of Python workers.

Only DataFrames are used, so that the same job runs embedded, on a cluster, and through Spark Connect.
"""

from __future__ import annotations

import contextlib
import gc
import re
import threading
import traceback
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from ..declaration import printable
from .errors import CorpusError, SparkFailed, SuiteFault

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

Work = Callable[[int], Iterable[pa.RecordBatch]]
"""What one task does with one number of a job; it has to be something that can be pickled."""
Progress = Callable[[int, int], None]
"""Called now and then with the tasks that are done, and how many there are."""

MOST_TASKS = 1 << 14
"""Of one job."""
_EVERY_S = 0.2


def over(spark: SparkSession, numbers: Sequence[int], work: Work, schema: str, tasks: int = 0) -> DataFrame:
    """The rows that ``work`` gives for each number, in so many tasks (0: one for each number).

    ``schema`` is that of the rows, in the words of Spark SQL. Nothing runs before the rows are asked for. However many
    numbers there are, none of them is written down, and there are no more tasks than Spark can keep in mind.
    """
    count = len(numbers)

    def run(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        settle_garbage()
        with faults_named():
            for batch in batches:
                for place in batch.column(0).to_pylist():
                    yield from work(numbers[int(place or 0)])

    return spark.range(0, count, 1, min(count, tasks or MOST_TASKS)).mapInArrow(run, schema)


def in_schedules(progress: Progress, numbers: int, schedules: int, known: int = 0) -> Progress:
    """Progress in schedules, of which some are ``known`` already, out of that in tasks of a job over so many numbers.

    A task that is done has done its schedules, or has said why not.
    """
    tasks = min(numbers, MOST_TASKS)

    def told(done: int, of: int) -> None:
        if of == tasks:  # else it is the stage that adds up what the others have found
            progress(known + (schedules - known) * done // tasks, schedules)

    return told


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
def faults_named() -> Iterator[None]:
    """What a task raises, as an exception that says whose fault it is: of that alone the driver hears."""
    try:
        yield
    except CorpusError:
        raise
    except (OSError, MemoryError) as error:
        raise CorpusError(f"A task could not go on ({type(error).__name__}): {_line_of(error)}") from None
    except Exception as error:
        raise SuiteFault(f"{type(error).__name__}: {_line_of(error)} ({_place_of(error)})") from None


def _line_of(error: BaseException) -> str:
    return printable(" ".join(str(error).split()), 300) or "no reason was given"


def _place_of(error: BaseException) -> str:
    """The file and line that raised it."""
    frame = traceback.extract_tb(error.__traceback__)[-1]
    return f"{'/'.join(frame.filename.split('/')[-2:])}:{frame.lineno}"


@contextlib.contextmanager
def failures_told() -> Iterator[None]:
    """What a worker raised, as the sentence that it was: Spark wraps it into the tracebacks of both languages.

    Raises CorpusError, SuiteFault where a task of ours failed, and SparkFailed where Spark did.
    """
    try:
        yield
    except Exception as error:
        if type(error).__module__.partition(".")[0] not in ("pyspark", "py4j") and not isinstance(error, OSError):
            raise
        raise told_of(error) from None


def told_of(error: Exception) -> Exception:
    """The exception of a worker in what Spark raised, else the line that says why Spark failed."""
    text = str(error)
    found = re.findall(r"^\s*sds_[\w.]+\.(\w+): (.+)$", text, re.MULTILINE)
    if found:
        name, said = found[-1]
        return (SuiteFault if name == SuiteFault.__name__ else CorpusError)(said.strip())
    if isinstance(error, OSError) or type(error).__name__ == "Py4JNetworkError":
        return SparkFailed(
            f"Spark failed: its Java process is gone ({_line_of(error)}). Was it killed, or short of memory? "
            "--spark-memory gives it more."
        )
    lines = [line.strip(" \t:") for line in text.splitlines() if line.strip(" \t:")]
    # What Python raised in a worker, or what Spark says itself; the first line only names a call of ours.
    for pattern in (r"\w+(\.\w+)*(Error|Exception|Interrupt)\b", r"(Caused by|.*Job aborted|.*ExecutorLost)"):
        lines = [line for line in lines if re.match(pattern, line)] or lines
    return SparkFailed(f"A Spark job failed: {(lines or [type(error).__name__])[0][:400]}")

"""Spark jobs over the shards of a corpus: one task per shard, with Arrow batches in and out of Python workers.

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
from .errors import CorpusError, SparkFailedError, SuiteFaultError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

Work = Callable[[int], Iterable[pa.RecordBatch]]
"""Computes the rows for one number, such as the number of a shard. It must be picklable, because tasks receive it."""
Progress = Callable[[int, int], None]
"""Called several times a second with the number of finished tasks and the number of all tasks."""

MOST_TASKS = 1 << 14
_EVERY_S = 0.2


def run_tasks(spark: SparkSession, numbers: Sequence[int], work: Work, schema: str) -> DataFrame:
    """The rows that ``work`` yields for each of ``numbers``, usually computed by one task per number.

    ``schema`` is the schema of the rows in the notation of Spark SQL. Nothing runs before the rows are read. The
    numbers are not stored in the plan, and the number of tasks is bounded to what Spark can keep in memory.
    """
    count = len(numbers)

    def run(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        settle_garbage()
        with convert_task_failures():
            for batch in batches:
                for place in batch.column(0).to_pylist():
                    yield from work(numbers[int(place or 0)])

    return spark.range(0, count, 1, min(count, MOST_TASKS)).mapInArrow(run, schema)


def in_schedules(progress: Progress, numbers: int, schedules: int, known: int = 0) -> Progress:
    """Return a function that converts progress in tasks to progress in schedules, and reports it to ``progress``.

    ``numbers`` is the count of the job's ``numbers`` in `run_tasks`. ``schedules`` counts all schedules, including the
    ``known`` ones that were recorded before the job.

    A finished task counts as if all its schedules were recorded, although it may have reported that some are missing.
    """
    tasks = min(numbers, MOST_TASKS)

    def report_progress(done: int, of: int) -> None:
        if of == tasks:  # If the number of all tasks differs, Spark is running its own tasks that sum up the results.
            progress(known + (schedules - known) * done // tasks, schedules)

    return report_progress


def settle_garbage() -> None:
    """Make the garbage collector run less often. The many objects of a group trace are freed together, and scanning
    them repeatedly would take a fifth of the time of a task."""
    gc.freeze()
    gc.set_threshold(100_000, 20, 20)


@contextlib.contextmanager
def watch_progress(spark: SparkSession, progress: Progress) -> Iterator[None]:
    """Report the progress of the jobs in the block. Spark Connect has no progress, so nothing is reported there."""
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
def convert_task_failures() -> Iterator[None]:
    """Convert OSError and MemoryError of a task to CorpusError, and other exceptions to SuiteFaultError.

    The driver sees only the type and the text of an exception.
    """
    try:
        yield
    except CorpusError:
        raise
    except (OSError, MemoryError) as error:
        raise CorpusError(f"A task failed ({type(error).__name__}): {_line_of(error)}") from None
    except Exception as error:
        raise SuiteFaultError(f"{type(error).__name__}: {_line_of(error)} ({_place_of(error)})") from None


def _line_of(error: BaseException) -> str:
    return printable(" ".join(str(error).split()), 300) or "no reason was given"


def _place_of(error: BaseException) -> str:
    """The file and line that raised the error."""
    frame = traceback.extract_tb(error.__traceback__)[-1]
    return f"{'/'.join(frame.filename.split('/')[-2:])}:{frame.lineno}"


@contextlib.contextmanager
def convert_job_failures() -> Iterator[None]:
    """Convert the exceptions that Spark raises in the block.

    Spark wraps the exception of a worker into tracebacks of Java and Python.

    Raises CorpusError; SuiteFaultError if a task of the suite failed; SparkFailedError if Spark failed.
    """
    try:
        yield
    except Exception as error:
        if type(error).__module__.partition(".")[0] not in ("pyspark", "py4j") and not isinstance(error, OSError):
            raise
        raise last_error_line(error) from None


def last_error_line(error: Exception) -> Exception:
    """Return the last error of the suite that the text of Spark's exception quotes.
    Return a SparkFailedError with the most informative line of the text if it quotes none.
    """
    text = str(error)
    found = re.findall(r"^\s*sds_[\w.]+\.(\w+): (.+)$", text, re.MULTILINE)
    if found:
        name, last_line = found[-1]
        return (SuiteFaultError if name == SuiteFaultError.__name__ else CorpusError)(last_line.strip())
    if isinstance(error, OSError) or type(error).__name__ == "Py4JNetworkError":
        return SparkFailedError(
            f"Spark failed: its Java process has ended ({_line_of(error)}). Was it killed, or short of memory? "
            "--spark-memory gives it more."
        )
    lines = [line.strip(" \t:") for line in text.splitlines() if line.strip(" \t:")]
    # A Python exception of a worker, or Spark's own reason. The first line only names the call.
    for pattern in (r"\w+(\.\w+)*(Error|Exception|Interrupt)\b", r"(Caused by|.*Job aborted|.*ExecutorLost)"):
        lines = [line for line in lines if re.match(pattern, line)] or lines
    return SparkFailedError(f"A Spark job failed: {(lines or [type(error).__name__])[0][:400]}")

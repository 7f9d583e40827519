"""Messages about a failed Spark job."""

from __future__ import annotations

from collections.abc import Callable

import pytest

pytest.importorskip("pyarrow")
from sds_harness.corpus.errors import CorpusError, SparkFailedError, SuiteFaultError
from sds_harness.corpus.jobs import convert_task_failures, last_error_line

pytestmark = pytest.mark.spark

CALL = "An error occurred while calling o78.collectToPython.\n: org.apache.spark.SparkException: "


@pytest.mark.parametrize(
    ("said", "kind", "output"),
    [
        (
            'Exception:\n  File "x.py", line 3\n'
            "sds_harness.corpus.shards.DamagedFileError: steps/part-1 is damaged: cut.\n",
            CorpusError,
            "steps/part-1 is damaged: cut.",
        ),
        (
            "Traceback:\nsds_harness.corpus.errors.SuiteFaultError: ValueError: zip() is longer (corpus/x.py:3)\n",
            SuiteFaultError,
            "ValueError: zip() is longer (corpus/x.py:3)",
        ),
        (
            'Traceback (most recent call last):\n  File "x.py", line 3\nValueError: no such thing\n',
            SparkFailedError,
            "A Spark job failed: ValueError: no such thing",
        ),
        (
            CALL
            + "Job aborted due to stage failure: Task 5 failed 4 times: Executor heartbeat timed out\n\tat org.x.Y",
            SparkFailedError,
            "A Spark job failed: org.apache.spark.SparkException: Job aborted due to stage failure: Task 5 failed "
            "4 times: Executor heartbeat timed out",
        ),
        ("", SparkFailedError, "A Spark job failed: RuntimeError"),
    ],
)
def test_the_line_that_says_why(said: str, kind: type[Exception], output: str) -> None:
    found = last_error_line(RuntimeError(said))
    assert (type(found), str(found)) == (kind, output)


def broken() -> None:
    raise ValueError("zip() argument 2\nis longer")


def without_room() -> None:
    raise OSError(28, "No space left on device")


def damaged() -> None:
    raise CorpusError("steps/part-1 is damaged.")


@pytest.mark.parametrize(
    ("task", "kind", "output"),
    [
        (broken, SuiteFaultError, r"ValueError: zip\(\) argument 2 is longer \(corpus/test_jobs\.py:\d+\)"),
        (without_room, CorpusError, r"A task failed \(OSError\): .*No space left on device"),
        (damaged, CorpusError, r"steps/part-1 is damaged\."),
    ],
)
def test_a_task_says_whose_fault_it_is(task: Callable[[], None], kind: type[Exception], output: str) -> None:
    """A failure of the suite is never reported as a usage error or as a failure of Spark."""
    with pytest.raises(kind, match=f"^{output}$") as raised, convert_task_failures():
        task()
    assert raised.type is kind

"""What is told of a Spark job that failed."""

from __future__ import annotations

import pytest

pytest.importorskip("pyarrow")
from sds_harness.corpus.jobs import sentence_of

pytestmark = pytest.mark.spark

CALL = "An error occurred while calling o78.collectToPython.\n: org.apache.spark.SparkException: "


@pytest.mark.parametrize(
    ("said", "told"),
    [
        (
            'Exception:\n  File "x.py", line 3\nsds_harness.corpus.shards.DamagedFile: steps/part-1 is damaged: cut.\n',
            "steps/part-1 is damaged: cut.",
        ),
        (
            'Traceback (most recent call last):\n  File "x.py", line 3\nValueError: no such thing\n',
            "A Spark job failed: ValueError: no such thing",
        ),
        (
            CALL
            + "Job aborted due to stage failure: Task 5 failed 4 times: Executor heartbeat timed out\n\tat org.x.Y",
            "A Spark job failed: org.apache.spark.SparkException: Job aborted due to stage failure: Task 5 failed "
            "4 times: Executor heartbeat timed out",
        ),
        ("", "A Spark job failed: RuntimeError"),
    ],
)
def test_the_line_that_says_why(said: str, told: str) -> None:
    assert sentence_of(RuntimeError(said)) == told

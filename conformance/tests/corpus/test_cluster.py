"""Record, check and diff on a standalone cluster: the results are those of Spark in this process."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from run_helpers import reference_command

pytest.importorskip("pyspark")
pytest.importorskip("pyarrow")
from pyarrow import parquet as pq

from recorded_corpora import LocalModel, order_of, record_here
from sds_conformance.exploration.campaign import explore
from spark_cluster import Cluster, cluster

pytestmark = [pytest.mark.spark, pytest.mark.exhaustive]

SCHEDULES = 140
"""Three shards for two workers."""
MUTANT = "sync-does-not-increase"


def typed_on(where: Cluster, *words: object) -> Any:
    """The JSON that a command prints."""
    line = [sys.executable, "-m", "sds_conformance", "corpus", *map(str, words)]
    done = subprocess.run(line, env=where.environment, capture_output=True, text=True, timeout=400, check=False)
    assert done.returncode in (0, 1), done.stderr
    return json.loads(done.stdout)


def test_a_cluster_that_loses_a_worker(tmp_path: Path) -> None:
    a, b, mutant = tmp_path / "a", tmp_path / "b", tmp_path / "mutant"
    here = record_here(tmp_path / "here", order_of(schedules=SCHEDULES), twins=True)
    record_here(mutant, order_of(LocalModel(mutant=MUTANT), SCHEDULES))
    with cluster() as where:
        spark = ("--master", where.url, "--spark-memory", "512m", "--json")
        played = ("--framing", "binary", "--", *reference_command())
        typed_on(where, "record", "--out", a, "--schedules", SCHEDULES, *spark, *played)
        output = typed_on(where, "check", a, *spark)
        live = explore(order_of(schedules=SCHEDULES))
        assert (output["steps"], output["exercised"], output["findings"]) == (live.steps, dict(live.exercised), [])
        found = typed_on(where, "diff", a, mutant, "--out", tmp_path / "d", *spark)
        assert found["violated_b"]["SDS-SYNC-03"]

        line = ["record", "--out", b, "--schedules", SCHEDULES, *spark[:-1], *played]
        process = subprocess.Popen(
            [sys.executable, "-m", "sds_conformance", "corpus", *map(str, line)], env=where.environment
        )
        end = time.monotonic() + 200
        while not list((b / "steps").glob("*")):
            assert process.poll() is None
            assert time.monotonic() < end, "it takes too long"
            time.sleep(0.1)
        where.kill_worker()
        assert process.wait(400) == 0
    for name in ("steps", "schedules"):
        wanted = pq.read_table(here / name).drop(["traces"] if name == "schedules" else [])
        for folder in (a, b):
            # The one in this process has another name, which is in the trace.
            found = pq.read_table(folder / name)
            assert found.drop(["traces"] if name == "schedules" else []).equals(wanted), (folder, name)

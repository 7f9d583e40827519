"""One contestant of ``corpora_rivals.py``, in its own process and possibly in another Python environment.

The first line of standard input is the job, as JSON. The contestant writes a line of JSON to standard output when it is
ready to compare. Each further line of input requests a run, which the contestant answers with a line of JSON. All other
output goes to standard error.

Other environments have neither the suite nor DuckDB, so each contestant imports only what it needs itself.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, replace
from functools import partial, reduce
from importlib import import_module
from importlib.metadata import version
from operator import or_
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

Found = list[tuple[int, int]]
"""Schedules that differ, each with the first step that differs."""
Run = Callable[[], Found | None]
"""Compares once and returns the schedules that differ; None if the contestant does not compare."""


@dataclass(frozen=True)
class Job:
    """The job of a contestant, and its resources."""

    contestant: str
    a: str
    """Folders of the two corpora."""
    b: str
    keys: list[str]
    """Names of the columns on which rows are joined. The second column is the step, which is 0 in rows that are not
    compared."""
    columns: list[str]
    """Names of the columns that are compared."""
    threads: int
    memory: str
    """Heap of Spark's Java process, in Java's notation: ``2g``."""
    scratch: str
    """Folder for temporary files."""


@contextmanager
def scan(job: Job) -> Iterator[Run]:
    """Read both corpora once, and hash all rows without comparing them."""
    with import_module("duckdb").connect(config={"threads": job.threads}) as connection:

        def run() -> None:
            for place in (job.a, job.b):
                query = f"SELECT bit_xor(hash(t)) FROM read_parquet('{place}/steps/*.parquet') t"
                connection.execute(query).fetchall()

        yield run


@contextmanager
def ours(job: Job, *, read_all: bool = False) -> Iterator[Run]:
    """``corpus diff`` without judging the schedules that differ."""
    from pyarrow import parquet

    from sds_conformance.corpus.difference import DIVERGENCES, Differ, diff, range_size
    from sds_conformance.corpus.kinds import kind_of
    from sds_conformance.exploration.assessment import Scope
    from sds_harness.corpus.manifest import read_complete
    from sds_harness.corpus.place import Place
    from sds_harness.corpus.spark import SparkOptions, spark_session

    out = Path(job.scratch) / "out"
    with spark_session(SparkOptions(f"local[{job.threads}]", job.memory)) as spark:

        def run() -> Found:
            shutil.rmtree(out, ignore_errors=True)
            a, b = (read_complete(Place.from_name(folder), kind_of) for folder in (job.a, job.b))
            scope = replace(Scope.select(), requirements=(), properties=())
            size = range_size(a, b, 8 * job.threads)
            differ = Differ(a, b, Place.from_name(str(out)), size, (scope, scope), checks=False, read_all=read_all)
            diff(spark, differ)
            rows = parquet.read_table(out / DIVERGENCES, columns=["schedule", "step"]).to_pylist()
            return [(row["schedule"], row["step"]) for row in rows]

        yield run


@contextmanager
def duckdb_join(job: Job) -> Iterator[Run]:
    """An outer join in DuckDB."""
    schedule, step = job.keys
    names = ", ".join(job.keys + job.columns)
    sides = [
        f"(SELECT {names} FROM read_parquet('{place}/steps/*.parquet') WHERE {step} > 0)" for place in (job.a, job.b)
    ]
    # No column is ever null, so a row that only one corpus has counts as distinct, too.
    distinct = " OR ".join(f"a.{name} IS DISTINCT FROM b.{name}" for name in job.columns)
    query = (
        f"SELECT {schedule}, min({step}) FROM {sides[0]} a FULL JOIN {sides[1]} b USING ({schedule}, {step}) "
        f"WHERE {distinct} GROUP BY {schedule}"
    )
    config = {"threads": job.threads, "temp_directory": f"{job.scratch}/duckdb"}
    with import_module("duckdb").connect(config=config) as connection:
        yield lambda: list(connection.execute(query).fetchall())


@contextmanager
def session(job: Job) -> Iterator[SparkSession]:
    """PySpark with its defaults, except for memory, threads, logging, and a scratch folder for all files."""
    from pyspark.sql import SparkSession

    settings = {
        "spark.driver.memory": job.memory,
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.log.level": "ERROR",
        "spark.local.dir": job.scratch,
        "spark.sql.warehouse.dir": f"{job.scratch}/warehouse",
    }
    builder: Any = SparkSession.Builder().appName(job.contestant).master(f"local[{job.threads}]")
    for key, value in settings.items():
        builder = builder.config(key, value)
    spark: SparkSession = builder.getOrCreate()
    try:
        yield spark
    finally:
        spark.stop()


def compared(spark: SparkSession, job: Job) -> list[DataFrame]:
    """The rows and columns to compare, of each corpus."""
    sides = [spark.read.parquet(f"{place}/steps") for place in (job.a, job.b)]
    return [side.where(side[job.keys[1]] > 0).select(*job.keys, *job.columns) for side in sides]


def first_steps(rows: DataFrame, job: Job) -> Found:
    """Each schedule in ``rows``, with its smallest step."""
    schedule, step = job.keys
    return [(row[0], row[1]) for row in rows.groupBy(schedule).agg({step: "min"}).collect()]


@contextmanager
def spark_join(job: Job) -> Iterator[Run]:
    """An outer join in Spark."""
    with session(job) as spark:

        def run() -> Found:
            one, other = compared(spark, job)
            a, b = one.alias("a"), other.alias("b")
            from pyspark.sql.functions import col

            distinct = reduce(or_, (~col(f"a.{name}").eqNullSafe(col(f"b.{name}")) for name in job.columns))
            return first_steps(a.join(b, job.keys, "full_outer").where(distinct).select(*job.keys), job)

        yield run


@contextmanager
def spark_extension(job: Job) -> Iterator[Run]:
    """``diff`` of G-Research's spark-extension. The column ``diff`` is N for rows that are equal."""
    import_module("gresearch.spark.diff")  # adds the method `diff` to data frames
    with session(job) as spark:

        def run() -> Found:
            a, b = compared(spark, job)
            rows: Any = a
            return first_steps(rows.diff(b, *job.keys).where("diff != 'N'").select(*job.keys), job)

        yield run


@contextmanager
def datacompy(job: Job) -> Iterator[Run]:
    """datacompy, with a tolerance of 0: its rows that differ, and its rows that only one corpus has."""
    compare = import_module("datacompy").SparkSQLCompare
    with session(job) as spark:

        def run() -> Found:
            spark.catalog.clearCache()  # so that no result of the last run is reused
            done = compare(spark, *compared(spark, job), join_columns=job.keys)
            parts = (done.all_mismatch(), done.df1_unq_rows, done.df2_unq_rows)
            return first_steps(reduce(lambda a, b: a.union(b), (part.select(*job.keys) for part in parts)), job)

        yield run


CONTESTANTS: dict[str, tuple[Callable[[Job], AbstractContextManager[Run]], tuple[str, ...]]] = {
    "scan": (scan, ("duckdb",)),
    "ours": (ours, ("pyspark", "pyarrow")),
    "ours-read-all": (partial(ours, read_all=True), ("pyspark", "pyarrow")),
    "duckdb-join": (duckdb_join, ("duckdb",)),
    "spark-join": (spark_join, ("pyspark",)),
    "spark-extension": (spark_extension, ("pyspark-extension", "pyspark")),
    "datacompy": (datacompy, ("datacompy", "pyspark")),
}
"""The contestants by name, each with the packages whose versions are reported."""


def main() -> None:
    argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter).parse_args()
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # Java and its child processes print to stdout

    def answer(**facts: Any) -> None:
        print(json.dumps(facts), file=answers, flush=True)

    job = Job(**json.loads(sys.stdin.readline()))
    contestant, packages = CONTESTANTS[job.contestant]
    try:
        with contestant(job) as run:
            answer(versions={name: version(name) for name in packages})
            for _ in sys.stdin:
                began = time.monotonic()
                found = run()
                answer(seconds=time.monotonic() - began, found=found)
    except ModuleNotFoundError as error:
        answer(error=f"the Python of this contestant has no {error.name}: pip install {' '.join(packages)}")
    except Exception as error:
        said = str(error).strip().splitlines()[:2]  # the first line of a Java exception does not name the cause
        answer(error=f"{type(error).__name__}: {' '.join(said)}"[:400])
        raise


if __name__ == "__main__":
    main()

"""The diff of two corpora, as a Spark job: a task compares a range of schedules, and judges those that differ.

What the tasks find goes straight into Parquet, one row a schedule. Counts, causes and samples are made of that by
Spark; to the driver come as many rows as there are causes, and of those no more than are told.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import TYPE_CHECKING

import pyarrow as pa

from sds_harness.corpus.errors import CorpusError
from sds_harness.corpus.jobs import Progress, failures_told, over, watched
from sds_harness.corpus.place import Place
from sds_harness.corpus.reading import Stored, stored_in
from sds_harness.corpus.schema import SCHEDULES_PER_ROW_GROUP
from sds_harness.corpus.shards import DamagedFile

from .. import checks as _checks
from ..exploration.judging import Scope
from .classifying import COLUMNS, Class, Classified, as_row, at_sight, judged
from .comparing import DIFFERENT, Corpus, Divergence, divergences

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

REGISTERED = _checks
"""Imported for the register that it fills, also in a worker that gets a Differ out of a pickle."""
DIVERGENCES = "divergences"
"""The folder of the Parquet with all divergences."""
MOST_CAUSES = 200
"""Causes that are told; the rest are counted. An implementation may differ in as many ways as it likes."""
SAMPLES = 3
"""Schedules that are shown of each cause."""
_ARROW: dict[str, pa.DataType] = {
    "long": pa.int64(),
    "int": pa.int32(),
    "string": pa.string(),
    "array<string>": pa.list_(pa.string()),
}
_SCHEMA = pa.schema({name: _ARROW[kind] for name, kind in (column.split() for column in COLUMNS.split(", "))})


@dataclass(frozen=True)
class Differ:
    """The task: compares one range of schedules."""

    a: Corpus
    b: Corpus
    per_range: int
    scopes: tuple[Scope, Scope]
    checks: bool = True
    """Run the checks on what differs."""
    verify: bool = False
    """Compute digests again."""

    @property
    def ranges(self) -> int:
        """How many there are."""
        return -(-max(self.a.manifest.schedules, self.b.manifest.schedules) // self.per_range)

    def __call__(self, number: int) -> Iterator[pa.RecordBatch]:
        most = max(self.a.manifest.schedules, self.b.manifest.schedules)
        wanted = range(number * self.per_range, min(most, (number + 1) * self.per_range))
        told: set[int] = set()
        batch: list[Divergence] = []
        for divergence in divergences(self.a, self.b, wanted, verify=self.verify):
            if divergence.schedule in told:
                continue  # a digest that is none has been told, and what follows from it is no more than that
            told.add(divergence.schedule)
            batch.append(divergence)
            if len(batch) == SCHEDULES_PER_ROW_GROUP:
                yield self._told(batch)
                batch = []
        if batch:
            yield self._told(batch)

    def _told(self, batch: list[Divergence]) -> pa.RecordBatch:
        known: dict[int, Classified] = {}
        different = sorted((one for one in batch if self.checks and one.kind == DIFFERENT), key=_number)
        revisions = (self.a.manifest.revision, self.b.manifest.revision)
        numbers = [one.schedule for one in different]
        for one, a, b in zip(different, stored(self.a, numbers), stored(self.b, numbers), strict=True):
            known[one.schedule] = judged(one, a, b, self.scopes, revisions)
        rows = [as_row(known.get(one.schedule) or at_sight(one)) for one in batch]
        return pa.RecordBatch.from_pylist(rows, _SCHEMA)


def _number(divergence: Divergence) -> int:
    return divergence.schedule


@dataclass(frozen=True)
class Cause:
    """Divergences that have the same class and the same cause."""

    kind: Class
    cause: str
    reason: str
    schedules: int
    least_step: int
    """The earliest first step."""
    samples: tuple[int, ...]
    """Schedules to look at, those that differ earliest first."""


@dataclass
class Difference:
    """What the diff says."""

    a: Corpus
    b: Corpus
    identical: int
    """Schedules that both have and in which nothing differs that the text fixes."""
    divergent: int
    """All others."""
    classes: dict[Class, int] = field(default_factory=dict)
    """Schedules, by class."""
    causes: list[Cause] = field(default_factory=list)
    """The most frequent ones of each class."""
    more_causes: int = 0
    """That are not told."""
    violated_a: dict[str, int] = field(default_factory=dict)
    """By requirement or property: divergent schedules in which A violates it."""
    violated_b: dict[str, int] = field(default_factory=dict)
    depths: dict[Class, dict[int, int]] = field(default_factory=dict)
    """By class and power of two: schedules whose first step that differs is from there up to the next."""
    fields: dict[str, int] = field(default_factory=dict)
    """By normative column: schedules that first differ in it."""
    seconds: float = 0.0

    @property
    def same(self) -> bool:
        """Is there nothing but legal differences?"""
        return set(self.classes) <= {Class.LEGAL}


def stored(corpus: Corpus, numbers: Sequence[int]) -> Iterator[Stored]:
    """What a corpus has of some schedules, ascending. Raises DamagedFile where it has nothing."""
    for shard, those in groupby(sorted(numbers), lambda number: number // corpus.manifest.per_shard):
        wanted = list(those)
        found = list(stored_in(corpus.place, shard, wanted))
        if [one.schedule for one in found] != wanted:
            raise DamagedFile(f"{corpus.place.shown} is damaged: shard {shard} has not one each of {wanted}.")
        yield from found


def comparable(a: Corpus, b: Corpus) -> None:
    """Raises CorpusError if these are not corpora of the same schedules."""
    if apart := a.manifest.told_apart(b.manifest):
        raise CorpusError(
            f"{a.place.shown} and {b.place.shown} are not of the same schedules, so there is nothing to compare "
            f"({'; '.join(apart)})."
        )


def diff(spark: SparkSession, differ: Differ, out: Place, progress: Progress = lambda done, of: None) -> Difference:
    """Compare, and write ``divergences/`` into ``out``. Raises CorpusError."""
    folder = out / DIVERGENCES
    with watched(spark, progress), failures_told():
        found = over(spark, range(differ.ranges), differ, COLUMNS)
        found.write.mode("error").option("compression", "zstd").parquet(folder.uri)
        rows = spark.read.schema(COLUMNS).parquet(folder.uri)
        return _summary(rows, differ)


def _summary(rows: DataFrame, differ: Differ) -> Difference:
    from pyspark.sql import Window
    from pyspark.sql import functions as f

    by_class = {Class(row["class"]): row["count"] for row in rows.groupBy("class").count().collect()}
    divergent = sum(by_class.values())
    most = max(differ.a.manifest.schedules, differ.b.manifest.schedules)
    out = Difference(differ.a, differ.b, most - divergent, divergent)
    out.classes = {kind: by_class[kind] for kind in Class if kind in by_class}
    if not divergent:
        return out
    if not out.identical and set(by_class) <= {Class.MISSING, Class.EXTRA}:
        raise CorpusError("The corpora have no schedule in common, so nothing was compared.")
    grouped = rows.groupBy("class", "cause").agg(
        f.count("*").alias("schedules"), f.min("step").alias("least_step"), f.min("reason").alias("reason")
    )
    told = grouped.orderBy(f.desc("schedules"), "class", "cause").limit(MOST_CAUSES)
    causes = told.collect()
    out.more_causes = grouped.count() - len(causes) if len(causes) == MOST_CAUSES else 0
    rank = f.row_number().over(Window.partitionBy("class", "cause").orderBy("step", "schedule"))
    first = rows.select("class", "cause", "schedule", rank.alias("rank")).where(f.col("rank") <= SAMPLES)
    samples: dict[tuple[str, str], list[int]] = {}
    for row in first.join(f.broadcast(told.select("class", "cause")), ["class", "cause"]).orderBy("rank").collect():
        samples.setdefault((row["class"], row.cause), []).append(row.schedule)
    order = list(Class)
    out.causes = sorted(
        (
            Cause(
                Class(row["class"]),
                row.cause,
                row.reason,
                row.schedules,
                row.least_step,
                tuple(samples.get((row["class"], row.cause), ())),
            )
            for row in causes
        ),
        key=lambda cause: (order.index(cause.kind), -cause.schedules, cause.cause),
    )
    depth = f.floor(f.log2(f.greatest(f.col("step"), f.lit(1)))).cast("int").alias("depth")
    for row in rows.groupBy("class", depth).count().collect():
        out.depths.setdefault(Class(row["class"]), {})[row.depth] = row["count"]
    for name, known in (("violated_a", out.violated_a), ("violated_b", out.violated_b), ("fields", out.fields)):
        exploded = rows.select(f.explode(name).alias("what")).groupBy("what").count()
        for row in exploded.orderBy(f.desc("count"), "what").limit(MOST_CAUSES).collect():
            known[row.what] = row["count"]
    return out


def range_size(a: Corpus, b: Corpus, tasks: int) -> int:
    """How many schedules a task compares: whole shards of the corpus that has the larger ones, and as many tasks as are
    wanted, if there are so many shards."""
    size = max(a.manifest.per_shard, b.manifest.per_shard)
    most = max(a.manifest.schedules, b.manifest.schedules)
    shards = -(-most // size)
    return size * max(1, shards // max(1, tasks))

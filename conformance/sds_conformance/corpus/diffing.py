"""The diff of two corpora, as a Spark job: a task compares a range of schedules, and judges those that differ.

What a task finds goes straight into a Parquet file of its own, one row a schedule; to the driver comes its sum. There
are as many ranges as tasks were wanted, however large the corpora are. It is one job of one stage: every other one
would cost a second at the start, and nothing is shuffled. Small corpora are compared by the same tasks in this process.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby
from typing import TYPE_CHECKING, Any

import pyarrow as pa
from pyarrow import parquet as pq

from sds_harness.corpus.errors import CorpusError
from sds_harness.corpus.jobs import Progress, failures_told, faults_named, over, watched
from sds_harness.corpus.manifest import Corpus
from sds_harness.corpus.place import Place
from sds_harness.corpus.reader import Stored, stored_in
from sds_harness.corpus.schema import SCHEDULES_PER_ROW_GROUP
from sds_harness.corpus.shards import DamagedFile, hold_to_count
from sds_harness.declaration import printable

from ..exploration.judging import Scope, judged_revision
from ..protocols import revisions
from .classifying import DIVERGENCE_SCHEMA, Class, Classified, as_row, at_sight, judged
from .comparing import divergences
from .ranges import DIFFERENT, Divergence
from .summing import ROWS, SCHEMA, Cause, Sum

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

DIVERGENCES = "divergences"
"""The folder of the Parquet with all divergences."""
_ROW_GROUP = 8192


@dataclass(frozen=True)
class Differ:
    """The task: compares one range of schedules."""

    a: Corpus
    b: Corpus
    out: Place
    """The folder of the outcome."""
    per_range: int
    scopes: tuple[Scope, Scope]
    checks: bool = True
    """Run the checks on what differs."""
    verify: bool = False
    """Compute digests again."""
    read_all: bool = False
    """Compare all rows, whatever the digests say."""

    @property
    def ranges(self) -> int:
        """How many there are."""
        return -(-self.most // self.per_range)

    @property
    def most(self) -> int:
        """Schedules of the larger corpus."""
        return max(self.a.manifest.schedules, self.b.manifest.schedules)

    def range_of(self, number: int) -> range:
        """The schedules of a range."""
        return range(number * self.per_range, min(self.most, (number + 1) * self.per_range))

    def __call__(self, number: int) -> Iterator[pa.RecordBatch]:
        wanted = self.range_of(number)
        found = Sum()
        # A task that is tried again writes what the first try would have written, under the same name.
        file = self.out / DIVERGENCES / f"part-{number:06}.parquet"
        with (
            file.writing() as half,
            pq.ParquetWriter(half.root, DIVERGENCE_SCHEMA, filesystem=half.system, compression="zstd") as writer,
        ):
            rows: list[dict[str, Any]] = []
            for one in self._classified(wanted):
                found.add(one)
                rows.append(as_row(one))
                if len(rows) == _ROW_GROUP:
                    writer.write_batch(pa.RecordBatch.from_pylist(rows, DIVERGENCE_SCHEMA))
                    rows.clear()
            writer.write_batch(pa.RecordBatch.from_pylist(rows, DIVERGENCE_SCHEMA))
        yield pa.RecordBatch.from_pylist(list(found.rows()), SCHEMA)

    def _classified(self, wanted: range) -> Iterator[Classified]:
        told: set[int] = set()
        batch: list[Divergence] = []
        for divergence in divergences(self.a, self.b, wanted, verify=self.verify, read_all=self.read_all):
            if divergence.schedule in told:
                continue  # a digest that is none has been told, and what follows from it is no more than that
            told.add(divergence.schedule)
            batch.append(divergence)
            if len(batch) == SCHEDULES_PER_ROW_GROUP:
                yield from self._judged(batch)
                batch = []
        yield from self._judged(batch)

    def _judged(self, batch: list[Divergence]) -> Iterator[Classified]:
        known: dict[int, Classified] = {}
        different = sorted(
            (one for one in batch if self.checks and one.kind == DIFFERENT), key=lambda one: one.schedule
        )
        numbers = [one.schedule for one in different]
        for one, a, b in zip(different, stored(self.a, numbers), stored(self.b, numbers), strict=True):
            known[one.schedule] = judged(one, a, b, self.scopes)
        for one in batch:
            yield known.get(one.schedule) or at_sight(one)


@dataclass
class Difference:
    """What the diff says."""

    a: Corpus
    b: Corpus
    identical: int
    """Schedules that both have and in which nothing differs that the text fixes."""
    divergent: int
    """All others."""
    found: Sum
    seconds: float = 0.0

    @cached_property
    def causes(self) -> list[Cause]:
        """The most frequent ones, by class."""
        return self.found.causes

    @property
    def classes(self) -> dict[Class, int]:
        """Divergent schedules, by class."""
        return {kind: self.found.classes[kind] for kind in Class if kind in self.found.classes}

    @property
    def depths(self) -> dict[Class, dict[int, int]]:
        """By class and power of two: schedules whose first step that differs is from there up to the next."""
        out: dict[Class, dict[int, int]] = {}
        for (kind, depth), count in self.found.depths.items():
            out.setdefault(kind, {})[depth] = count
        return out

    @property
    def other_causes(self) -> int:
        """Divergent schedules whose causes are not told, for there are too many."""
        return self.divergent - sum(cause.schedules for cause in self.causes)

    @property
    def translated(self) -> list[str]:
        """A sentence on each side whose private layout was translated, so that its faults are not told here."""
        return [
            f"{name} speaks the dialect {printable(corpus.manifest.dialect, 40)}, which is translated here: what that "
            "layout violates is not told of each schedule, but by `corpus check`."
            for name, corpus in (("A", self.a), ("B", self.b))
            if corpus.manifest.dialect
        ]

    @property
    def same(self) -> bool:
        """Is there nothing but legal differences?"""
        return set(self.classes) <= {Class.LEGAL}


def stored(corpus: Corpus, numbers: Sequence[int]) -> Iterator[Stored]:
    """What a corpus has of some schedules, ascending. Raises DamagedFile where it has nothing."""
    for shard, those in groupby(sorted(numbers), lambda number: number // corpus.manifest.per_shard):
        wanted = list(those)
        found = list(stored_in(corpus, shard, wanted))
        if [one.schedule for one in found] != wanted:
            raise DamagedFile(f"{corpus.place.shown} is damaged: shard {shard} has not one each of {wanted}.")
        yield from found


def comparable(a: Corpus, b: Corpus) -> None:
    """Raises CorpusError if these are not corpora of the same schedules."""
    if a.kind != b.kind:
        raise CorpusError(f"{a.place.shown} and {b.place.shown} are of two protocols, so there is nothing to compare.")
    texts = [revisions()[judged_revision(corpus.manifest.revision)].prefix for corpus in (a, b)]
    if texts[0] != texts[1]:
        raise CorpusError(
            f"{a.place.shown} is of {a.manifest.revision} and {b.place.shown} of {b.manifest.revision}, which are two "
            f"texts, so there is nothing to compare: record both with one --revision."
        )
    versions = (a.manifest.schema_version, b.manifest.schema_version)
    if versions[0] != versions[1]:
        old, new = sorted((a, b), key=lambda corpus: corpus.manifest.schema_version)
        raise CorpusError(
            f"{old.place.shown} is of schema version {min(versions)} and {new.place.shown} of version {max(versions)}, "
            f"which call messages by other names, so nothing can be compared: record {old.place.shown} again."
        )
    if apart := a.manifest.told_apart(b.manifest):
        raise CorpusError(
            f"{a.place.shown} and {b.place.shown} are not of the same schedules, so there is nothing to compare "
            f"({'; '.join(apart)})."
        )


def diff_here(differ: Differ) -> Difference:
    """Compare in this process, and write the divergences. Raises CorpusError."""
    _prepare(differ)
    found = Sum()
    with faults_named():
        for number in range(differ.ranges):
            for batch in differ(number):
                for row in batch.to_pylist():
                    found.take(row)
    return _difference(differ, found)


def diff(spark: SparkSession, differ: Differ, progress: Progress = lambda done, of: None) -> Difference:
    """Compare in a job of Spark, as ``diff_here`` does. Raises CorpusError."""
    _prepare(differ)
    found = Sum()
    with watched(spark, progress), failures_told():
        for row in over(spark, range(differ.ranges), differ, ROWS).collect():
            found.take(row.asDict())
    return _difference(differ, found)


def _prepare(differ: Differ) -> None:
    for corpus in (differ.a, differ.b):
        hold_to_count(corpus)
    (differ.out / DIVERGENCES).make()


def _difference(differ: Differ, found: Sum) -> Difference:
    divergent = found.classes.total()
    identical = differ.most - divergent
    if divergent and not identical and set(found.classes) <= {Class.MISSING, Class.EXTRA}:
        raise CorpusError("The corpora have no schedule in common, so nothing was compared.")
    return Difference(differ.a, differ.b, identical, divergent, found)


def range_size(a: Corpus, b: Corpus, tasks: int) -> int:
    """How many schedules a task compares: whole shards of the corpus that has the larger ones, and as many tasks as are
    wanted, if there are so many shards."""
    size = max(a.manifest.per_shard, b.manifest.per_shard)
    most = max(a.manifest.schedules, b.manifest.schedules)
    shards = -(-most // size)
    return size * max(1, shards // max(1, tasks))

"""The diff of two corpora as a Spark job: a task compares a range of schedules, and judges those that differ.

Each task writes its divergences to a separate Parquet file, one row per schedule, and returns their sum as JSON, never
as a pickle. The size of a sum is bounded, because it keeps a limited number of causes. There are as many ranges as
tasks, however large the corpora are. The job has only one stage, because no data has to be shuffled. Small corpora are
compared by the same tasks in this process.
"""

from __future__ import annotations

import heapq
import json
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import groupby
from typing import TYPE_CHECKING, Any

import pyarrow as pa
from pyarrow import parquet as pq

from sds_harness.corpus.errors import CorpusError
from sds_harness.corpus.jobs import Progress, convert_job_failures, convert_task_failures, run_tasks, watch_progress
from sds_harness.corpus.manifest import Corpus
from sds_harness.corpus.place import Place
from sds_harness.corpus.reader import Stored, stored_in
from sds_harness.corpus.schema import SCHEDULES_PER_ROW_GROUP
from sds_harness.corpus.shards import DamagedFileError, hold_to_count
from sds_harness.declaration import printable

from ..exploration.assessment import Scope, judged_revision
from ..protocols import revisions
from .classes import DIVERGENCE_SCHEMA, Class, Classified, as_row, classify_by_checks, classify_by_kind
from .divergences import DIFFERENT, Divergence, divergences

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

DIVERGENCES = "divergences"
"""The folder of the Parquet files with all divergences."""
_ROW_GROUP = 8192
MOST_CAUSES = 200
"""Maximum number of causes that are reported. Schedules with other causes are only counted."""
_HELD = 20 * MOST_CAUSES
"""Maximum number of causes that a sum stores."""
SAMPLES = 3
"""Maximum number of schedules that are shown for each cause."""
_BY_NAME = ("violated_a", "violated_b", "fields")


@dataclass
class DivergenceCause:
    """Divergences with the same class and cause."""

    kind: Class
    cause: str
    reason: str
    schedules: int = 0
    first: list[tuple[int, int]] = field(default_factory=list)
    """(step, schedule) of the earliest divergences, ascending."""

    @property
    def least_step(self) -> int:
        """The smallest step at which a schedule with this cause diverges."""
        return self.first[0][0]

    @property
    def samples(self) -> tuple[int, ...]:
        """Schedules to show, the earliest divergences first."""
        return tuple(schedule for _, schedule in self.first)

    def add(self, reason: str, schedules: int, first: Iterable[tuple[int, int]]) -> None:
        self.reason = min(self.reason, reason)
        self.schedules += schedules
        self.first = heapq.nsmallest(SAMPLES, [*self.first, *first])


@dataclass
class Sum:
    """Counts of divergent schedules: by class, by cause, by violated requirement and by column."""

    classes: Counter[Class] = field(default_factory=Counter)
    alike: dict[tuple[Class, str], DivergenceCause] = field(default_factory=dict)
    violated_a: Counter[str] = field(default_factory=Counter)
    """Maps requirements and properties to the number of divergent schedules in which A violates them."""
    violated_b: Counter[str] = field(default_factory=Counter)
    fields: Counter[str] = field(default_factory=Counter)
    """Maps normative columns to the number of schedules that differ in them at their first differing step."""
    depths: Counter[tuple[Class, int]] = field(default_factory=Counter)
    """Maps a class and an exponent n to the number of schedules whose first differing step is in [2^n, 2^(n+1))."""

    def add(self, one: Classified) -> None:
        divergence = one.divergence
        self.classes[one.kind] += 1
        self._add_cause(one.kind, one.cause, one.reason, 1, [(divergence.step, divergence.schedule)])
        self.violated_a.update(one.violated_a)
        self.violated_b.update(one.violated_b)
        self.fields.update(divergence.fields)
        self.depths[one.kind, max(1, divergence.step).bit_length() - 1] += 1

    def _add_cause(
        self, kind: Class, cause: str, reason: str, schedules: int, first: Iterable[tuple[int, int]]
    ) -> None:
        key = (kind, cause)
        if key in self.alike or len(self.alike) < _HELD:
            self.alike.setdefault(key, DivergenceCause(kind, cause, reason)).add(reason, schedules, first)

    def to_json(self) -> str:
        """Return the sum as JSON, which is the result of a task."""
        alike = self.alike.items()
        data = {
            "classes": {kind.value: count for kind, count in self.classes.items()},
            "causes": [(kind.value, cause, one.reason, one.schedules, one.first) for (kind, cause), one in alike],
            "depths": [(kind.value, depth, count) for (kind, depth), count in self.depths.items()],
            **{name: getattr(self, name) for name in _BY_NAME},
        }
        return json.dumps(data)

    def add_json(self, text: str) -> None:
        """Add the sum of another task."""
        data = json.loads(text)
        self.classes.update({Class(kind): count for kind, count in data["classes"].items()})
        for kind, cause, reason, schedules, first in data["causes"]:
            self._add_cause(Class(kind), cause, reason, schedules, map(tuple, first))
        self.depths.update({(Class(kind), depth): count for kind, depth, count in data["depths"]})
        for name in _BY_NAME:
            getattr(self, name).update(data[name])

    @property
    def causes(self) -> list[DivergenceCause]:
        """The most frequent causes, at most `MOST_CAUSES` in all classes together, ordered by class."""
        order = list(Class).index
        ranked = sorted(self.alike.values(), key=lambda one: (-one.schedules, order(one.kind), one.cause))
        return sorted(ranked[:MOST_CAUSES], key=lambda one: (order(one.kind), -one.schedules, one.cause))


@dataclass(frozen=True)
class Differ:
    """The task: compares one range of schedules."""

    a: Corpus
    b: Corpus
    out: Place
    """The output folder."""
    per_range: int
    scopes: tuple[Scope, Scope]
    checks: bool = True
    """Judge the schedules that differ?"""
    verify: bool = False
    """Recompute all digests from the rows?"""
    read_all: bool = False
    """Compare all rows, even if the digests are equal?"""

    @property
    def ranges(self) -> int:
        """Number of ranges, one for each task."""
        return -(-self.schedule_count // self.per_range)

    @property
    def schedule_count(self) -> int:
        """Number of schedules in the larger corpus."""
        return max(self.a.manifest.schedules, self.b.manifest.schedules)

    def range_of(self, number: int) -> range:
        """The numbers of the schedules in a range; ``number`` counts ranges from 0."""
        return range(number * self.per_range, min(self.schedule_count, (number + 1) * self.per_range))

    def __call__(self, number: int) -> Iterator[pa.RecordBatch]:
        schedules = self.range_of(number)
        found = Sum()
        # A retried task writes the same data under the same name.
        file = self.out / DIVERGENCES / f"part-{number:06}.parquet"
        with (
            file.write_atomically() as half,
            pq.ParquetWriter(half.root, DIVERGENCE_SCHEMA, filesystem=half.system, compression="zstd") as writer,
        ):
            rows: list[dict[str, Any]] = []
            for one in self._classify(schedules):
                found.add(one)
                rows.append(as_row(one))
                if len(rows) == _ROW_GROUP:
                    writer.write_batch(pa.RecordBatch.from_pylist(rows, DIVERGENCE_SCHEMA))
                    rows.clear()
            writer.write_batch(pa.RecordBatch.from_pylist(rows, DIVERGENCE_SCHEMA))
        yield pa.RecordBatch.from_pylist([{"sum": found.to_json()}])

    def _classify(self, schedules: range) -> Iterator[Classified]:
        reported: set[int] = set()
        batch: list[Divergence] = []
        for divergence in divergences(self.a, self.b, schedules, verify=self.verify, read_all=self.read_all):
            if divergence.schedule in reported:
                continue  # the wrong digest of this schedule is reported, and explains this divergence
            reported.add(divergence.schedule)
            batch.append(divergence)
            if len(batch) == SCHEDULES_PER_ROW_GROUP:
                yield from self._classify_by_checks(batch)
                batch = []
        yield from self._classify_by_checks(batch)

    def _classify_by_checks(self, batch: list[Divergence]) -> Iterator[Classified]:
        known: dict[int, Classified] = {}
        different = sorted(
            (one for one in batch if self.checks and one.kind == DIFFERENT), key=lambda one: one.schedule
        )
        numbers = [one.schedule for one in different]
        for one, a, b in zip(different, read_stored(self.a, numbers), read_stored(self.b, numbers), strict=True):
            known[one.schedule] = classify_by_checks(one, a, b, self.scopes)
        for one in batch:
            yield known.get(one.schedule) or classify_by_kind(one)


@dataclass
class CorpusDifference:
    """The result of a diff."""

    a: Corpus
    b: Corpus
    identical: int
    """Number of schedules that both corpora have, with equal values in all normative columns."""
    divergent: int
    """Number of schedules with a difference in a normative column, and of schedules that only one corpus has."""
    found: Sum
    seconds: float = 0.0

    @cached_property
    def causes(self) -> list[DivergenceCause]:
        """See `Sum.causes`. Computed once."""
        return self.found.causes

    @property
    def classes(self) -> dict[Class, int]:
        """Number of divergent schedules, by class; classes without schedules are left out."""
        return {kind: self.found.classes[kind] for kind in Class if kind in self.found.classes}

    @property
    def depths(self) -> dict[Class, dict[int, int]]:
        """Maps each class and exponent n to the number of schedules whose first differing step is in [2^n, 2^(n+1))."""
        out: dict[Class, dict[int, int]] = {}
        for (kind, depth), count in self.found.depths.items():
            out.setdefault(kind, {})[depth] = count
        return out

    @property
    def other_causes(self) -> int:
        """Number of divergent schedules whose causes are not reported."""
        return self.divergent - sum(cause.schedules for cause in self.causes)

    @property
    def dialect_notes(self) -> list[str]:
        """A sentence for each side whose dialect was translated, because faults of the dialect are not shown."""
        return [
            f"{name} speaks the dialect {printable(corpus.manifest.dialect, 40)}, which is translated here: violations "
            "of that dialect's layout are not listed per schedule; `corpus check` lists them."
            for name, corpus in (("A", self.a), ("B", self.b))
            if corpus.manifest.dialect
        ]

    @property
    def is_legal(self) -> bool:
        return set(self.classes) <= {Class.LEGAL}


def read_stored(corpus: Corpus, numbers: Sequence[int]) -> Iterator[Stored]:
    """Yield the stored data of some schedules, ascending. Raises DamagedFileError if some are missing."""
    for shard, those in groupby(sorted(numbers), lambda number: number // corpus.manifest.per_shard):
        wanted = list(those)
        found = list(stored_in(corpus, shard, wanted))
        if [one.schedule for one in found] != wanted:
            raise DamagedFileError(
                f"{corpus.place.label} is damaged: shard {shard} must have each of the schedules {wanted} exactly once."
            )
        yield from found


def require_comparable(a: Corpus, b: Corpus) -> None:
    """Raise CorpusError if the corpora do not have the same schedules."""
    if a.kind != b.kind:
        raise CorpusError(f"{a.place.label} and {b.place.label} belong to two protocols, so they cannot be compared.")
    texts = [revisions()[judged_revision(corpus.manifest.revision)].prefix for corpus in (a, b)]
    if texts[0] != texts[1]:
        raise CorpusError(
            f"{a.place.label} is of {a.manifest.revision} and {b.place.label} of {b.manifest.revision}, which are "
            "different specifications, so they cannot be compared: record both with one --revision."
        )
    versions = (a.manifest.schema_version, b.manifest.schema_version)
    if versions[0] != versions[1]:
        old, new = sorted((a, b), key=lambda corpus: corpus.manifest.schema_version)
        raise CorpusError(
            f"{old.place.label} is of schema version {min(versions)} and {new.place.label} of version {max(versions)}, "
            f"which name messages differently, so they cannot be compared: record {old.place.label} again."
        )
    if apart := a.manifest.describe_differences(b.manifest):
        raise CorpusError(
            f"{a.place.label} and {b.place.label} have different schedules, so they cannot be compared "
            f"({'; '.join(apart)})."
        )


def diff_here(differ: Differ) -> CorpusDifference:
    """Compare in this process, and write the divergences. Raises CorpusError."""
    _prepare(differ)
    with convert_task_failures():
        batches = [batch for number in range(differ.ranges) for batch in differ(number)]
    return _difference(differ, [row["sum"] for batch in batches for row in batch.to_pylist()])


def diff(spark: SparkSession, differ: Differ, progress: Progress = lambda done, of: None) -> CorpusDifference:
    """Compare in a Spark job, with the same result as ``diff_here``. Raises CorpusError."""
    _prepare(differ)
    with watch_progress(spark, progress), convert_job_failures():
        sums = [row["sum"] for row in run_tasks(spark, range(differ.ranges), differ, "sum string").collect()]
    return _difference(differ, sums)


def _prepare(differ: Differ) -> None:
    for corpus in (differ.a, differ.b):
        hold_to_count(corpus)
    (differ.out / DIVERGENCES).make()


def _difference(differ: Differ, sums: list[str]) -> CorpusDifference:
    found = Sum()
    for text in sums:
        found.add_json(text)
    divergent = found.classes.total()
    identical = differ.schedule_count - divergent
    if divergent and not identical and set(found.classes) <= {Class.MISSING, Class.EXTRA}:
        raise CorpusError("The corpora have no schedule in common, so nothing was compared.")
    return CorpusDifference(differ.a, differ.b, identical, divergent, found)


def range_size(a: Corpus, b: Corpus, tasks: int) -> int:
    """Return the number of schedules per task, for about the given number of tasks. It is a multiple of the larger
    ``per_shard`` of both corpora, so there are at most as many tasks as shards.
    """
    size = max(a.manifest.per_shard, b.manifest.per_shard)
    most = max(a.manifest.schedules, b.manifest.schedules)
    shards = -(-most // size)
    return size * max(1, shards // max(1, tasks))


def most_common(counts: Counter[str]) -> dict[str, int]:
    """Return the most frequent keys, at most `MOST_CAUSES`, with equal counts in alphabetical order."""
    return dict(sorted(counts.items(), key=lambda item: (-item[1], item[0]))[:MOST_CAUSES])

"""Checks a corpus: judges every requirement and property on stored group traces, without the implementation.

A task judges the schedules of one shard. In a Spark job it returns one row per requirement, and Spark adds up the rows
of all tasks. So the number of rows that the driver receives does not depend on the size of the corpus. A small corpus
is judged in this process, because starting Spark would take longer than the tasks.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from sds_harness.corpus import jobs, reader
from sds_harness.corpus.manifest import WORDS, Corpus
from sds_harness.corpus.recorder import raise_corpus_errors
from sds_harness.corpus.rows import Rebuilt
from sds_harness.corpus.shards import DamagedFileError, hold_to_count
from sds_harness.declaration import Declaration, printable
from sds_harness.schedules import GroupTrace, Schedule
from sds_harness.schedules.choices import schedule_name

from ..exploration.assessment import Scope, assess, judged_revision
from ..exploration.campaign import CampaignTally, Played
from ..exploration.cast_under_test import CastKind, under_test
from ..judging.garbage import garbage_collected_at_end, rare_garbage_collection
from .restarting_cast import compare_twins
from .tally_rows import ROWS, row_of, rows_of, sum_rows, take

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

COUNTED = "counted"
"""Kind of the rows with the numbers of verified steps and rows."""
MOST_HERE = 50_000
"""Maximum number of steps in a corpus that is checked or compared without Spark."""


@dataclass(frozen=True)
class Checker:
    """The task: judges the schedules of one shard."""

    corpus: Corpus
    scope: Scope
    everything: bool = False
    """Read and verify all stored data before judging it."""

    def __call__(self, shard: int) -> Iterator[pa.RecordBatch]:
        tally, counted = self.tally(shard)
        counts = [row_of(COUNTED, what, count) for what, count in counted.items()]
        yield pa.RecordBatch.from_pylist([*counts, *rows_of(tally)])

    def tally(self, shard: int) -> tuple[CampaignTally, dict[str, int]]:
        """Return the verdicts on a shard, and the numbers of verified steps and rows. Raises DamagedFileError."""
        tally, found, counted = CampaignTally(declaration_in(self.corpus)), [], {}
        if self.everything:
            compare = partial(compare_twins, judged_revision(self.corpus.manifest.revision))
            count = reader.verify_shard(self.corpus, shard, self.hold_to_manifest, compare)
            counted = {"steps": count.steps, "rows": count.rows}
        for stored in reader.stored_in(self.corpus, shard):
            found.append(stored.schedule)
            with garbage_collected_at_end():
                played = self.judge(shard, stored)
            tally.add(played)
        reader.hold_to_manifest(self.corpus, shard, found)
        return tally, counted

    def judge(self, shard: int, stored: reader.Stored) -> Played:
        """Judge one stored schedule in the same way as a campaign."""
        rebuilt, manifest = stored.group_trace(), self.corpus.manifest
        group_trace = rebuilt.group_trace
        if group_trace.schedule.name != schedule_name(manifest.seed, stored.schedule):
            raise DamagedFileError(f"{stored.where} is damaged: schedule {stored.schedule} belongs to another corpus.")
        self.hold_to_manifest(stored, rebuilt)
        twins = manifest.has_twins(stored.schedule) and group_trace.breakdown is None
        with raise_corpus_errors(reader.stored_twins(stored, shard, self._twin)) as replay:
            assessment = assess(group_trace, self.scope, rebuilt.judged, replay if twins else None)
        return Played(stored.schedule, group_trace.steps, assessment, group_trace.breakdown)

    def _twin(self, stored: reader.Stored, schedule: Schedule) -> GroupTrace:
        rebuilt = stored.group_trace(schedule)
        self.hold_to_manifest(stored, rebuilt)
        return rebuilt.group_trace

    def hold_to_manifest(self, stored: reader.Stored, rebuilt: Rebuilt) -> None:
        """Check that the implementation in the manifest played the schedule. Raises DamagedFileError.

        No digest covers all shards, so a shard could be from another corpus.
        """
        manifest, group_trace = self.corpus.manifest, rebuilt.group_trace
        schedule = group_trace.schedule
        wrong = ""
        if manifest.casting in _CASTINGS and rebuilt.judged != under_test(CastKind(manifest.casting), schedule):
            wrong = f"has other participants under test than the cast {manifest.casting} of the manifest"
        elif other := manifest.find_other_implementation(group_trace, rebuilt.judged):
            wrong = f"was played by {other}, which is not the implementation of the manifest"
        if wrong:
            raise DamagedFileError(f"{stored.where} is damaged: schedule {stored.schedule} {wrong}.")


_CASTINGS = frozenset(casting.value for casting in CastKind)


def small(corpus: Corpus) -> bool:
    """Is the corpus checked and compared without Spark?"""
    return corpus.manifest.steps <= MOST_HERE


def check_here(
    corpus: Corpus, scope: Scope, progress: jobs.Progress = lambda done, of: None, *, everything: bool = False
) -> CampaignTally:
    """Judge a corpus in this process. With ``everything``, verify all stored data first. Raises CorpusError if it is
    damaged.
    """
    checker, manifest = _checker(corpus, scope, everything=everything), corpus.manifest
    tally, counted = CampaignTally(declaration_in(corpus)), Counter[str]()
    with jobs.convert_task_failures(), rare_garbage_collection():
        for shard in range(manifest.shards):
            of_shard, counts = checker.tally(shard)
            tally.join(of_shard)
            counted.update(counts)
            progress(manifest.range_of(shard).stop, manifest.schedules)
    hold_counts(corpus, counted)
    return tally


def check(
    spark: SparkSession,
    corpus: Corpus,
    scope: Scope,
    progress: jobs.Progress = lambda done, of: None,
    *,
    everything: bool = False,
) -> CampaignTally:
    """Judge a corpus in a Spark job, with the same result as ``check_here``. Raises CorpusError."""
    checker, manifest = _checker(corpus, scope, everything=everything), corpus.manifest
    with (
        jobs.watch_progress(spark, jobs.in_schedules(progress, manifest.shards, manifest.schedules)),
        jobs.convert_job_failures(),
    ):
        added = sum_rows(jobs.run_tasks(spark, range(manifest.shards), checker, ROWS))
    tally = CampaignTally(declaration_in(corpus))
    hold_counts(corpus, {what: count for kind, what, count in take(tally, added) if kind == COUNTED})
    return tally


def _checker(corpus: Corpus, scope: Scope, *, everything: bool) -> Checker:
    """Create the task for a corpus after checking that all files exist. Raises CorpusError."""
    (reader.verify_folders if everything else hold_to_count)(corpus)
    return Checker(corpus, scope, everything)


def hold_counts(corpus: Corpus, counted: Mapping[str, int]) -> None:
    """Check that the counted steps and rows equal the numbers in the manifest. Raises DamagedFileError if they
    differ.
    """
    for what, count in counted.items():
        if count != getattr(corpus.manifest, what):
            message = f"the manifest says {getattr(corpus.manifest, what):,}"
            raise DamagedFileError(f"{corpus.place.label} is damaged: it has {count:,} {what}, and {message}.")


def declaration_in(corpus: Corpus) -> Declaration:
    """The declaration of the implementation in the manifest, without unknown capabilities."""
    language, implementation = corpus.kind.language, corpus.manifest.implementation
    empty = Declaration.for_unknown("", language)

    def text(name: str) -> str:
        return printable(str(implementation.get(name) or ""))

    words: dict[str, Any] = {name: text(name) for name in WORDS}
    return replace(
        empty,
        **words,
        revisions=tuple(printable(str(revision)) for revision in implementation.get("revisions") or ()),
        capabilities=frozenset(
            language.capabilities[name]
            for name in implementation.get("capabilities") or ()
            if name in language.capabilities
        ),
        profiles={name: text(corpus.kind.stored_name(name)) for name in empty.profiles},
        limits={name: value if type(value := implementation.get(name)) is int else None for name in empty.limits},
    )

"""Checking a corpus: every requirement and every property judged on stored performances, without the implementation.

A task judges the schedules of one shard and gives a few rows, one for each thing there is to say; Spark adds them up,
or `here.py` does. What comes to the driver is as long as the catalogue, however large the corpus is.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from sds_harness.corpus.jobs import Progress, failures_told, in_schedules, over, watched
from sds_harness.corpus.manifest import WORDS, Corpus
from sds_harness.corpus.reading import Stored, hold_to_manifest, stored_in, twins_of
from sds_harness.corpus.rebuilding import Rebuilt
from sds_harness.corpus.recording import Replay, insisting
from sds_harness.corpus.shards import DamagedFile, hold_to_count
from sds_harness.corpus.verifying import twin_for, verify_folders, verify_shard
from sds_harness.declaration import Declaration, printable
from sds_harness.schedules import Performance, Schedule

from ..exploration.campaign import Played, Tally
from ..exploration.casting import Casting, under_test
from ..exploration.judging import Scope, assess, judged_revision
from ..judging.garbage import garbage_at_the_end
from .company import compare_twins
from .tallying import ROWS, Summed, row_of, rows_of, summed, take

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

COUNTED = "counted"
"""What was verified, beside what was judged."""


@dataclass(frozen=True)
class Checker:
    """The task: judges the schedules of one shard."""

    corpus: Corpus
    scope: Scope
    everything: bool = False
    """All that is stored is read and verified before it is judged."""

    def __call__(self, shard: int) -> Iterator[pa.RecordBatch]:
        tally, found = Tally(declaration_in(self.corpus)), []
        if self.everything:
            compare = partial(compare_twins, judged_revision(self.corpus.manifest.revision))
            count = verify_shard(self.corpus, shard, self.hold_to_manifest, compare)
            yield pa.RecordBatch.from_pylist(
                [row_of(COUNTED, what, getattr(count, what)) for what in ("steps", "rows")]
            )
        for stored in stored_in(self.corpus, shard):
            found.append(stored.schedule)
            with garbage_at_the_end():
                played = self.judge(shard, stored)
            tally.add(played)
        hold_to_manifest(self.corpus, shard, found)
        yield pa.RecordBatch.from_pylist(list(rows_of(tally)))

    def judge(self, shard: int, stored: Stored) -> Played:
        """One stored schedule, as a campaign would have judged it."""
        rebuilt, manifest = stored.performance(), self.corpus.manifest
        performance = rebuilt.performance
        if performance.schedule.name != self.corpus.kind.name_of(manifest.seed, stored.schedule):
            raise DamagedFile(f"{stored.where} is damaged: schedule {stored.schedule} is that of another corpus.")
        self.hold_to_manifest(stored, rebuilt)
        twins = manifest.has_twins(stored.schedule) and performance.breakdown is None
        with insisting(self._stored_twins(shard, stored)) as replay:
            assessment = assess(performance, self.scope, rebuilt.judged, replay if twins else None)
        return Played(stored.schedule, performance.steps, assessment, performance.breakdown)

    def _stored_twins(self, shard: int, of: Stored) -> Replay:
        """Stored twins in the place of an implementation that plays them; they are read when one is asked for."""

        def known() -> Iterator[Stored]:
            yield from twins_of(self.corpus, shard, of.schedule)

        def play(schedule: Schedule) -> Performance:
            stored = twin_for(self.corpus, of, next(twins, None), schedule)
            rebuilt = stored.performance(schedule)
            self.hold_to_manifest(stored, rebuilt)
            return rebuilt.performance

        twins = known()
        return play

    def hold_to_manifest(self, stored: Stored, rebuilt: Rebuilt) -> None:
        """Was it played by whom the manifest names? No digest is over all shards, so one of another corpus may stand
        here. Raises DamagedFile."""
        manifest, performance = self.corpus.manifest, rebuilt.performance
        schedule = performance.schedule
        wrong = ""
        if manifest.casting in _CASTINGS and rebuilt.judged != under_test(Casting(manifest.casting), schedule):
            wrong = "does not have the members under test that the cast of the manifest has"
        elif stranger := manifest.stranger(performance, rebuilt.judged):
            wrong = f"was played by {stranger}, not by what the manifest names"
        if wrong:
            raise DamagedFile(f"{stored.where} is damaged: schedule {stored.schedule} {wrong}.")


_CASTINGS = frozenset(casting.value for casting in Casting)


def check(
    spark: SparkSession,
    corpus: Corpus,
    scope: Scope,
    progress: Progress = lambda done, of: None,
    *,
    everything: bool = False,
) -> Tally:
    """Judge all of a corpus in a job of Spark; before, read and verify ``everything`` in it, if that is wanted. Raises
    CorpusError where it is damaged."""
    checker, manifest = begin(corpus, scope, everything=everything), corpus.manifest
    with watched(spark, in_schedules(progress, manifest.shards, manifest.schedules)), failures_told():
        added = summed(over(spark, range(manifest.shards), checker, ROWS))
    return said(corpus, added)


def begin(corpus: Corpus, scope: Scope, *, everything: bool) -> Checker:
    """The task for each shard, of a corpus of which all files are there. Raises CorpusError."""
    (verify_folders if everything else hold_to_count)(corpus)
    return Checker(corpus, scope, everything)


def said(corpus: Corpus, added: Iterable[Summed]) -> Tally:
    """What all tasks say together. Raises DamagedFile."""
    tally = Tally(declaration_in(corpus))
    counted = {what: count for kind, what, count in take(tally, added) if kind == COUNTED}
    hold_counts(corpus, counted)
    return tally


def hold_counts(corpus: Corpus, counted: Mapping[str, int]) -> None:
    """Hold the manifest to what was counted. Raises DamagedFile."""
    for what, count in counted.items():
        if count != getattr(corpus.manifest, what):
            said = f"the manifest says {getattr(corpus.manifest, what):,}"
            raise DamagedFile(f"{corpus.place.shown} is damaged: it has {count:,} {what}, and {said}.")


def declaration_in(corpus: Corpus) -> Declaration:
    """What the implementation declared, as the manifest has it; what is no name of a capability is left out."""
    language, told = corpus.kind.language, corpus.manifest.implementation
    empty = Declaration.unknown("", language)

    def text(name: str) -> str:
        return printable(str(told.get(name) or ""))

    words: dict[str, Any] = {name: text(name) for name in WORDS}
    return replace(
        empty,
        **words,
        revisions=tuple(printable(str(revision)) for revision in told.get("revisions") or ()),
        capabilities=frozenset(
            language.capabilities[name] for name in told.get("capabilities") or () if name in language.capabilities
        ),
        profiles={name: text(corpus.kind.stored_name(name)) for name in empty.profiles},
        limits={name: value if type(value := told.get(name)) is int else None for name in empty.limits},
    )

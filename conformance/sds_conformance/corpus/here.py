"""Checking a corpus with processes of ours, where that is done before Spark would have its own ready.

The tasks are those of a job of Spark, and what they give is added up in the same way: the outcome is the same.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator
from contextlib import closing
from typing import Any

from sds_harness.corpus.errors import CorpusError, SuiteFault
from sds_harness.corpus.jobs import Progress, faults_named
from sds_harness.corpus.manifest import Corpus
from sds_harness.resources import usable_jobs, why_alone

from ..exploration.campaign import Tally
from ..exploration.judging import Scope
from ..judging.garbage import rarely_collecting
from ..judging.workers import Workers, workers
from .checking import Checker, begin, said
from .tallying import Summed

MOST_HERE = 1_000_000
"""Steps that a corpus may have: they are judged in a minute or two, of which the start of Spark is some seconds."""
FEWEST = 10_000
"""Steps for which it is worth to begin a process of ours."""

Rows = list[dict[str, Any]]
Done = tuple[int, Rows | CorpusError | SuiteFault | None]
"""A shard, and the rows of its task or why there are none; None is what a process ends with."""


def small(corpus: Corpus) -> bool:
    """Is it done here before a job of Spark would be?"""
    return corpus.manifest.steps <= MOST_HERE


def check_here(
    corpus: Corpus,
    scope: Scope,
    progress: Progress = lambda done, of: None,
    *,
    everything: bool = False,
    jobs: int | None = None,
) -> Tally:
    """What `check` says, by so many processes (default: as many as are worth it). Raises CorpusError where the corpus
    is damaged: of several files that are, the first is named."""
    checker, manifest = begin(corpus, scope, everything=everything), corpus.manifest
    if jobs is None:
        jobs = 1 if why_alone() else min(usable_jobs(), manifest.steps // FEWEST)
    sum_up, judged = _Sum(), 0
    wrong: dict[int, CorpusError | SuiteFault] = {}
    with workers() as others, closing(_done(checker, others, max(1, min(jobs, manifest.shards)))) as done:
        for shard, rows in done:
            if isinstance(rows, Exception):
                wrong[shard] = rows
            elif rows is not None:
                sum_up.take(rows)
                judged += len(manifest.range_of(shard))
                progress(judged, manifest.schedules)
    if wrong:
        raise wrong[min(wrong)]
    return said(corpus, sum_up.rows())


class _Sum:
    """Rows by what they are about: how often in all, and the worst."""

    def __init__(self) -> None:
        self._known: dict[tuple[str, str], tuple[int, tuple[int, int, str]]] = {}

    def take(self, rows: Rows) -> None:
        for row in rows:
            key, mine = (row["kind"], row["what"]), (-row["rank"], row["first"], row["told"])
            count, worst = self._known.get(key, (0, mine))
            self._known[key] = count + row["schedules"], min(worst, mine)

    def rows(self) -> Iterator[Summed]:
        for (kind, what), (count, (_, first, told)) in self._known.items():
            yield kind, what, count, first, told


def _done(checker: Checker, others: Workers, jobs: int) -> Generator[Done, None, None]:
    """What comes of all shards, judged here and by ``others``, so many in all. After a fault none is begun any more:
    all before it have been."""
    taken, running = others.counter(shared=jobs > 1), jobs - 1
    for _ in range(running):
        others.start(_work, checker, taken)
    with rarely_collecting():
        for one in _judged(checker, taken):
            yield one
            while (report := others.report(wait=False)) is not None:
                running -= report[1] is None
                yield report
    while running:
        report = others.report()
        if report is not None:
            running -= report[1] is None
            yield report
        elif not others.alive:
            codes = ", ".join(map(str, others.lost())) or "none"
            raise SuiteFault(f"a process of the suite ended before its work was done: {codes}")


def _judged(checker: Checker, taken: Any) -> Iterator[Done]:
    """What comes of shards, as long as there are any that nobody has taken."""
    last = checker.corpus.manifest.shards
    while (shard := _next(taken)) < last:
        try:
            with faults_named():
                rows = [row for batch in checker(shard) for row in batch.to_pylist()]
        except (CorpusError, SuiteFault) as error:
            _leave(taken, last)
            yield shard, error
            return
        yield shard, rows


def _next(taken: Any) -> int:
    with taken.get_lock():
        number: int = taken.value
        taken.value += 1
    return number


def _leave(taken: Any, last: int) -> None:
    with taken.get_lock():
        taken.value = max(taken.value, last)


def _work(reports: Any, checker: Checker, taken: Any) -> None:
    """Judge shards in a process of its own."""
    with rarely_collecting():
        for one in _judged(checker, taken):
            reports.put(one)
    reports.put((0, None))

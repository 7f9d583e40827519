"""Plays every schedule of a small world, bound by bound, as far as the time reaches, on all processors."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass, field
from multiprocessing.synchronize import Event
from typing import Any

from sds_harness.faults import TesteeFault

from ..judging.garbage import rarely_collecting
from ..judging.workers import workers
from .campaign import Tally
from .casting import Company
from .exhaustion import Bound, Exhaustion, Share, Task, join, shares

SAMPLE = 1_000
"""Schedules after which it is estimated how long others take."""
MOST_EVENTS = 64
"""More than anybody could wait for."""


@dataclass
class Coverage:
    """How far it is, and what was found."""

    order: Exhaustion
    tally: Tally
    bounds: list[Bound] = field(default_factory=list)
    """From one event on, without a gap; the last is the one that is aimed at."""
    expected_s: float = 0.0
    """How long what was left when it was planned was expected to take."""
    earlier_s: float = 0.0
    """How long what was resumed had taken."""

    @property
    def finished(self) -> Bound | None:
        """The last bound that was finished whole, with all before it."""
        last = None
        for bound in self.bounds:
            if not bound.whole:
                break
            last = bound
        return last

    @property
    def schedules(self) -> int:
        """All that there are up to the last bound that was finished."""
        finished = self.finished
        return self.before(finished.events + 1) if finished is not None else 0

    def before(self, events: int) -> int:
        """Schedules of fewer events."""
        return sum(bound.schedules for bound in self.bounds if bound.events < events)

    def aim(self, schedules: int) -> Bound:
        """At one event more, with so many schedules."""
        self.bounds.append(Bound(len(self.bounds) + 1, schedules))
        return self.bounds[-1]

    def take(self, share: Share) -> None:
        """What came of a chunk."""
        join(self.tally, share.tally)
        if share.reason:
            self.tally.gave_up = share.reason
        else:
            self.bounds[share.events - 1].take(share)

    def task(self, bound: Bound) -> Task:
        """What is left of a bound."""
        return Task(bound.events, self.before(bound.events), frozenset(bound.chunks))


Told = Callable[[Coverage], None]


def exhaust(
    order: Exhaustion,
    company: Company,
    coverage: Coverage,
    last: int | None,
    planned: Told = lambda coverage: None,
    progress: Told = lambda coverage: None,
) -> None:
    """Play what ``coverage`` does not cover yet, up to ``last`` events, or as many as the time is expected to reach.

    ``company`` has been started, and is not used any more afterwards. First a sample is played here, so that
    ``planned`` can be told what there is to do. An interrupt (Ctrl-C) ends the playing; what was played counts.
    """
    began = time.monotonic()
    tally = coverage.tally

    def late() -> bool:
        return bool(order.time_budget_s) and time.monotonic() - began >= order.time_budget_s

    source: Generator[Share, None, None] | None = None
    try:
        each_s = _sample(order, company, coverage, last, late)
        _plan(order, coverage, last, each_s, began)
        planned(coverage)
        progress(coverage)
        tasks = [coverage.task(bound) for bound in coverage.bounds if not bound.whole]
        if tasks and not tally.gave_up:
            if order.jobs <= 1 or tally.declaration.alone:
                source = _played_here(order, company, tasks, late)
            else:
                company.kill()
                source = _played_by_workers(order, tasks, tally, late)
            for share in source:
                coverage.take(share)
                progress(coverage)
    except KeyboardInterrupt:
        tally.interrupted = True
        if source is not None:
            source.close()
    finally:
        company.kill()
        tally.seconds += time.monotonic() - began
    unfinished = any(not bound.whole for bound in coverage.bounds)
    tally.out_of_time = unfinished and not (tally.interrupted or tally.gave_up or tally.errors) and late()


def _sample(
    order: Exhaustion, company: Company, coverage: Coverage, last: int | None, late: Callable[[], bool]
) -> float:
    """Play the first that are left; the seconds that one took, 0 if nothing was left."""
    settled, began = 0, time.monotonic()
    for events in range(1, (last or MOST_EVENTS) + 1):
        bound = coverage.bounds[events - 1] if events <= len(coverage.bounds) else None
        if bound is None:
            bound = coverage.aim(order.world.count(events))
        if bound.whole:
            continue
        for share in _played_here(order, company, [coverage.task(bound)], late):
            coverage.take(share)
            settled += share.played + share.impossible + share.renamed
            if settled >= SAMPLE or share.reason:
                break
        if settled >= SAMPLE or late() or coverage.tally.gave_up:
            break
    return (time.monotonic() - began) / settled if settled else 0.0


def _plan(order: Exhaustion, coverage: Coverage, last: int | None, each_s: float, began: float) -> None:
    """Aim at the last bound: at that which was asked for, or the last that the time is expected to reach."""
    at_once = max(1, min(order.jobs, os.cpu_count() or 1))
    left_s = order.time_budget_s - (time.monotonic() - began)
    reach = int(left_s / each_s * at_once) if each_s and order.time_budget_s else 0
    while len(coverage.bounds) < (last or MOST_EVENTS):
        left = sum(bound.schedules - bound.settled for bound in coverage.bounds)
        room = None if last else max(0, reach - left)
        if room == 0:
            break
        schedules = order.world.count(len(coverage.bounds) + 1, None if room is None else room + 1)
        if room is not None and schedules > room:
            break
        coverage.aim(schedules)
    left = sum(bound.schedules - bound.settled for bound in coverage.bounds)
    coverage.expected_s = left * each_s / at_once


def _played_here(
    order: Exhaustion, company: Company, tasks: list[Task], late: Callable[[], bool]
) -> Generator[Share, None, None]:
    with rarely_collecting():
        yield from shares(order, company, tasks, ended=late)


def _played_by_workers(
    order: Exhaustion, tasks: list[Task], tally: Tally, late: Callable[[], bool]
) -> Generator[Share, None, None]:
    with workers() as others:
        stop = others.context.Event()
        for worker in range(order.jobs):
            others.start(_work, order, tasks, worker, stop)
        running = order.jobs
        while running:
            if late() and not stop.is_set():
                stop.set()
            got = others.report()
            if got is None:
                running = others.alive
            elif isinstance(got, Share):
                yield got
            else:
                running -= 1
                tally.gave_up = got or tally.gave_up
        for code in others.lost():
            tally.errors["worker"] = f"a worker ended with exit code {code}"


def _work(results: Any, order: Exhaustion, tasks: list[Task], worker: int, stop: Event) -> None:
    """Play every so manieth chunk; at the end, or when the implementation was given up, say so."""
    company, reason = order.company(), ""
    try:
        company.start()
        with rarely_collecting():
            mine: Iterator[Share] = shares(
                order, company, tasks, lambda events, chunk: (events + chunk) % order.jobs == worker, stop.is_set
            )
            for share in mine:
                results.put(share)
    except TesteeFault as fault:
        reason = f"could not be started again: {fault}"
    finally:
        company.kill()
        results.put(reason)

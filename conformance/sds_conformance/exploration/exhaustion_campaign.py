"""Plays all schedules that `exhaustion` enumerates, bound by bound, within the time budget, on all processors."""

from __future__ import annotations

import math
import time
from collections import defaultdict
from collections.abc import Callable, Generator, Iterator
from contextlib import closing
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import takewhile

from sds_harness.resources import usable_processors

from ..judging.garbage import rare_garbage_collection
from .campaign import CampaignTally, play_with_workers
from .cast_under_test import CachingCast
from .exhaustion import Bound, ChunkResults, Exhaustion, Task, play_chunks

SAMPLE = 1_000
"""Number of schedules after which the duration of the rest is estimated."""
MOST_EVENTS = 64
"""Maximum number of events in a schedule. Longer schedules would be too many to play."""


@dataclass
class Coverage:
    """The progress of an exhaustion, and its findings so far."""

    order: Exhaustion
    tally: CampaignTally
    bounds: list[Bound] = field(default_factory=list)
    """The bounds of 1, 2, 3, ... events. The last one is the target."""
    otherwise: str = ""
    """The first answer that differed from the cached answer; "" if none did. After it, the cache is not used."""
    without: frozenset[int] = frozenset()
    """Kinds of events that are excluded because the implementation breaks down at them."""
    expected_s: float = 0.0
    """Duration of the remaining schedules in seconds, as estimated when they were planned."""
    earlier_s: float = 0.0
    """Duration of the run that was resumed, in seconds."""

    @property
    def last_complete(self) -> Bound | None:
        """The last complete bound such that all smaller bounds are complete as well; None if the first is not
        complete.
        """
        return next(reversed([*takewhile(lambda bound: bound.is_complete, self.bounds)]), None)

    @property
    def schedules(self) -> int:
        """Number of schedules up to the last complete bound."""
        finished = self.last_complete
        return self.count_shorter(finished.events + 1) if finished is not None else 0

    def count_shorter(self, events: int) -> int:
        """Number of schedules with fewer than ``events`` events."""
        return sum(bound.schedules for bound in self.bounds if bound.events < events)

    @property
    def settled_count(self) -> int:
        """Number of schedules that need no more playing."""
        return sum(bound.settled_count for bound in self.bounds)

    @property
    def last_proved(self) -> Bound | None:
        """The last complete bound such that no schedule up to this bound was excluded because of a breakdown; None if
        the first bound is not complete, or lacks schedules that were excluded."""
        proved = takewhile(lambda bound: bound.is_complete and not bound.left_out, self.bounds)
        return next(reversed([*proved]), None)

    @property
    def left_out(self) -> int:
        """Number of schedules that are not played because the implementation breaks down at one of their events."""
        return sum(bound.left_out for bound in self.bounds)

    @property
    def remaining_count(self) -> int:
        """Number of schedules in all bounds that are still to be played."""
        return sum(bound.schedules for bound in self.bounds) - self.settled_count

    def add_bound(self, schedules: int) -> Bound:
        """Add the bound with one more event, which has this number of schedules."""
        self.bounds.append(Bound(len(self.bounds) + 1, schedules))
        return self.bounds[-1]

    def take(self, share: ChunkResults) -> None:
        self.tally.join(share.tally)
        self.otherwise = self.otherwise or share.otherwise
        self.without |= share.without
        if share.reason:
            self.tally.gave_up = share.reason
        else:
            self.bounds[share.events - 1].take(share)

    def task(self, bound: Bound) -> Task:
        """The remaining part of a bound."""
        return Task(bound.events, self.count_shorter(bound.events), frozenset(bound.chunks))


CoverageListener = Callable[[Coverage], None]
Source = Callable[[Exhaustion, list[Task], CampaignTally, float], Generator[ChunkResults, None, None]]
"""Plays tasks. The tally records an abandoned implementation. The last argument is the time left in seconds; 0 for no
limit.
"""


def exhaust(
    order: Exhaustion,
    cast_under_test: CachingCast,
    coverage: Coverage,
    last: int | None,
    planned: CoverageListener = lambda coverage: None,
    progress: CoverageListener = lambda coverage: None,
    elsewhere: Source | None = None,
) -> None:
    """Play the schedules that are missing in ``coverage``, up to ``last`` events. Without ``last``, the maximum is the
    number of events whose schedules fit into the time budget, by estimate.

    ``cast_under_test`` must be started. The caller must not use it afterwards. A sample is played in this process
    first, so that ``planned`` can report the amount of work. If time is left at the end, more events are planned,
    and ``planned`` is called again. Workers play the rest, or ``elsewhere`` if it is given. An interrupt (Ctrl-C)
    ends the playing; the schedules that were played count.
    """
    began = time.monotonic()
    tally = coverage.tally

    def left_s() -> float:
        return order.time_budget_s - (time.monotonic() - began)

    def is_out_of_time() -> bool:
        return bool(order.time_budget_s) and left_s() <= 0

    source: Generator[ChunkResults, None, None] | None = None
    alone = tally.declaration.alone or (order.jobs <= 1 and elsewhere is None)
    try:
        each_s = _sample(order, cast_under_test, coverage, last, is_out_of_time) / (
            1 if alone else _count_processes(order)
        )
        while _plan(order, coverage, last, each_s, left_s()) or source is None:
            planned(coverage)
            progress(coverage)
            if not coverage.remaining_count or tally.gave_up or tally.not_started:
                break
            tasks = [coverage.task(bound) for bound in coverage.bounds if not bound.is_complete]
            pace = _Pace(tasks[-1].events)
            order = replace(order, without=coverage.without)
            if alone:
                source = _play_here(order, cast_under_test, tasks, is_out_of_time)
            else:
                cast_under_test.kill()
                source = (elsewhere or _play_with_workers)(
                    order, tasks, tally, max(left_s(), 0.001) if order.time_budget_s else 0.0
                )
            for share in source:
                coverage.take(share)
                pace.take(share)
                progress(coverage)
            if (
                tally.gave_up
                or tally.not_started
                or tally.errors
                or not all(bound.is_complete for bound in coverage.bounds)
            ):
                break
            each_s = pace.each_s()
    except KeyboardInterrupt:
        tally.interrupted = True
        if source is not None:
            source.close()
    finally:
        cast_under_test.kill()
        tally.seconds += time.monotonic() - began
    unfinished = any(not bound.is_complete for bound in coverage.bounds)
    tally.out_of_time = (
        unfinished
        and not (tally.interrupted or tally.gave_up or tally.not_started or tally.errors)
        and is_out_of_time()
    )


class _Pace:
    """Measures the time per schedule, only on the longest schedules: those with ``events`` events."""

    def __init__(self, events: int) -> None:
        self._events = events
        self._since = time.monotonic()
        self._worked_s = self._longest_s = 0.0
        self._longest = 0

    def take(self, share: ChunkResults) -> None:
        self._worked_s += share.seconds
        if share.events == self._events:
            self._longest_s += share.seconds
            self._longest += share.settled_count

    def each_s(self) -> float:
        """Seconds per schedule, with the current parallelism."""
        if not (self._longest and self._worked_s):
            return 0.0
        return (time.monotonic() - self._since) * self._longest_s / self._worked_s / self._longest


def _count_processes(order: Exhaustion) -> int:
    return max(1, min(order.jobs, usable_processors()))


def _sample(
    order: Exhaustion, cast_under_test: CachingCast, coverage: Coverage, last: int | None, late: Callable[[], bool]
) -> float:
    """Play the first `SAMPLE` remaining schedules. Return the mean time of the longest ones in seconds, or 0 if
    unknown.
    """
    settled, each_s = 0, 0.0
    for events in range(1, (last or MOST_EVENTS) + 1):
        bound = coverage.bounds[events - 1] if events <= len(coverage.bounds) else _add_next_bound(order, coverage)
        if bound is None:
            break
        if bound.is_complete:
            continue
        before, began = settled, time.monotonic()
        for share in _play_here(order, cast_under_test, [coverage.task(bound)], late):
            coverage.take(share)
            settled += share.settled_count
            if settled >= SAMPLE or share.reason:
                break
        if settled > before:
            each_s = (time.monotonic() - began) / (settled - before)
        if settled >= SAMPLE or late() or coverage.tally.gave_up:
            break
    return each_s


def _add_next_bound(order: Exhaustion, coverage: Coverage, most: int | None = None) -> Bound | None:
    """Add the next bound and return it; None if it has no schedules, or more than ``most`` schedules."""
    schedules = order.world.count(len(coverage.bounds) + 1, None if most is None else most + 1)
    return coverage.add_bound(schedules) if schedules and (most is None or schedules <= most) else None


def _plan(order: Exhaustion, coverage: Coverage, last: int | None, each_s: float, left_s: float) -> bool:
    """Add bounds up to the requested bound, or as many bounds as fit into the time. Return True if any schedules are
    left to play.
    """
    reach = int(left_s / each_s) if each_s and order.time_budget_s else 0
    while len(coverage.bounds) < (last or MOST_EVENTS):
        room = None if last else max(0, reach - coverage.remaining_count)
        if room == 0 or _add_next_bound(order, coverage, room) is None:
            break
    coverage.expected_s = coverage.remaining_count * each_s
    return bool(coverage.remaining_count)


def _play_here(
    order: Exhaustion, cast_under_test: CachingCast, tasks: list[Task], late: Callable[[], bool]
) -> Generator[ChunkResults, None, None]:
    with rare_garbage_collection():
        yield from play_chunks(order, cast_under_test, tasks, ended=late)


def _play_with_workers(
    order: Exhaustion, tasks: list[Task], tally: CampaignTally, left_s: float
) -> Generator[ChunkResults, None, None]:
    until = time.monotonic() + left_s if left_s else math.inf
    played: defaultdict[int, set[int]] = defaultdict(set)
    """Maps numbers of events to the finished chunks."""

    def is_late() -> bool:
        return time.monotonic() >= until

    def play_rest(worker: int) -> Iterator[ChunkResults]:
        rest = [replace(task, done=task.done | played[task.events]) for task in tasks]
        with rare_garbage_collection():
            yield from _play_nth_chunks(order, rest, worker, is_late)

    play = partial(_play_nth_chunks, order, tasks)
    with closing(play_with_workers(order.jobs, play, play_rest, tally, is_late)) as source:
        for share in source:
            played[share.events].update(share.chunks)
            yield share


def _play_nth_chunks(
    order: Exhaustion, tasks: list[Task], worker: int, ended: Callable[[], bool]
) -> Iterator[ChunkResults]:
    """Play the chunks of one worker: every n-th chunk, where n is the number of workers."""

    def is_mine(events: int, chunk: int) -> bool:
        return (events + chunk) % order.jobs == worker

    with order.make_cast_under_test().started() as cast_under_test:
        yield from play_chunks(order, cast_under_test, tasks, is_mine, ended)

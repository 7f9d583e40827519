"""A campaign: many generated schedules, played and judged, on as many processors as there are.

Which schedules are played follows from the seed and their number alone; which worker plays which, from nothing but the
number. So a campaign says the same on every machine, and an interrupted one says it of the schedules it came to.
"""

from __future__ import annotations

import gc
import multiprocessing
import os
import signal
import time
from collections import Counter
from collections.abc import Callable, Generator
from dataclasses import dataclass, field
from functools import cached_property
from multiprocessing.synchronize import Event
from queue import Empty
from typing import Any

from sds_harness.declaration import Declaration
from sds_harness.faults import Breakdown, TesteeFault
from sds_harness.link import Limits
from sds_harness.schedules import Schedule

from ..judging.runner import Connect
from ..judging.verdict import RANK, Finding
from ..protocols import default, repertoire_of
from .casting import Casting, Company
from .casts import NotPlayed
from .judging import Assessment, Scope, assess

TWINS_EVERY = 8
"""Every so many schedules are played a second time in another way, to compare: that costs as much as a new one."""
PATIENCE_S = 5.0


@dataclass(frozen=True)
class Order:
    """What a campaign plays and judges. Plain data, for workers to be given it."""

    connect: Connect
    limits: Limits = field(default_factory=Limits)
    dialect: str = ""
    revision: str = field(default_factory=lambda: default().rules.current)
    profile: str = "full"
    casting: Casting = Casting.TOGETHER
    grammar: Any = None
    """What schedules may contain, None for anything."""
    seed: int = 0
    examples: int = 500
    time_budget_s: float = 0.0
    """After that no further schedule is begun; 0 is no limit."""
    jobs: int = 1
    strict: bool = False
    twins: bool = True
    told: bool = False
    """Deviations from a MAY count as findings."""

    @cached_property
    def scope(self) -> Scope:
        return Scope.of(self.profile, self.revision, strict=self.strict, told=self.told)

    def schedule(self, index: int) -> Schedule:
        """The schedule of that number."""
        repertoire = repertoire_of(self.revision)
        return repertoire.generated(self.seed, index, self.grammar or repertoire.grammar())

    def company(self) -> Company:
        return Company(self.connect, self.limits, self.casting, self.revision, self.dialect)


@dataclass
class Played:
    """One schedule of a campaign."""

    index: int
    steps: int
    assessment: Assessment
    breakdown: Breakdown | None = None


@dataclass
class Tally:
    """What all schedules of a campaign say together."""

    declaration: Declaration
    schedules: int = 0
    steps: int = 0
    found: dict[str, Finding] = field(default_factory=dict)
    """By requirement or property: the worst finding, and of these that of the first schedule."""
    found_at: dict[str, int] = field(default_factory=dict)
    """The number of that schedule."""
    found_in: Counter[str] = field(default_factory=Counter)
    """In how many schedules."""
    exercised: Counter[str] = field(default_factory=Counter)
    """By requirement or property: in how many schedules."""
    situations: Counter[str] = field(default_factory=Counter)
    """In how many schedules each arose."""
    errors: dict[str, str] = field(default_factory=dict)
    seconds: float = 0.0
    interrupted: bool = False
    out_of_time: bool = False
    gave_up: str = ""
    """Why not all was played, if the implementation broke too often."""

    def add(self, played: Played) -> None:
        """Take one in; the order in which they come makes no difference."""
        self.schedules += 1
        self.steps += played.steps
        assessment = played.assessment
        self.exercised.update({what: 1 for what, count in assessment.exercised.items() if count})
        self.situations.update({what: 1 for what, count in assessment.situations.items() if count})
        for where, error in assessment.errors.items():
            self.errors[where] = min(error, self.errors.get(where, error))
        for what in {finding.requirement for finding in assessment.findings}:
            self.found_in[what] += 1
        for finding in assessment.findings:
            what, known = finding.requirement, self.found.get(finding.requirement)
            if known is None or (-RANK[finding.severity], played.index) < (-RANK[known.severity], self.found_at[what]):
                self.found[what], self.found_at[what] = finding, played.index


Progress = Callable[[Tally], None]


def explore(order: Order, progress: Progress = lambda tally: None) -> Tally:
    """Play and judge. Raises TesteeFault if the implementation cannot be driven at all.

    An interrupt (Ctrl-C) ends the playing; what was played counts.
    """
    began = time.monotonic()
    company = order.company()
    try:
        tally = Tally(company.start())
        alone = order.jobs <= 1
        source = _played_here(order, company, tally, began) if alone else _played_by_workers(order, tally, began)
        if not alone:
            company.kill()
        try:
            for played in source:
                tally.add(played)
                progress(tally)
        except KeyboardInterrupt:
            tally.interrupted = True
            source.close()
    finally:
        company.kill()
    tally.seconds = time.monotonic() - began
    return tally


def play_one(order: Order, company: Company, index: int, scope: Scope | None = None) -> Played:
    """Play the schedule of that number and judge it, by ``scope`` if that is not the order's own. Raises NotPlayed."""
    schedule = order.schedule(index)
    performance = company.play(schedule)
    replay = company.play if order.twins and not index % TWINS_EVERY and performance.breakdown is None else None
    assessment = assess(performance, scope or order.scope, company.judged(schedule), replay)
    return Played(index, performance.steps, assessment, performance.breakdown)


def _played_here(order: Order, company: Company, tally: Tally, began: float) -> Generator[Played, None, None]:
    for index in range(order.examples):
        if _late(order, began):
            tally.out_of_time = True
            return
        try:
            yield play_one(order, company, index)
        except NotPlayed as reason:
            tally.gave_up = str(reason)
            return


def _late(order: Order, began: float) -> bool:
    return bool(order.time_budget_s) and time.monotonic() - began >= order.time_budget_s


def _played_by_workers(order: Order, tally: Tally, began: float) -> Generator[Played, None, None]:
    # A fresh interpreter for each: a fork of this one would share its pipes and its threads.
    context = multiprocessing.get_context("spawn")
    results, stop = context.Queue(), context.Event()
    workers = [context.Process(target=_work, args=(order, worker, results, stop)) for worker in range(order.jobs)]
    for worker in workers:
        worker.start()
    running = order.jobs
    try:
        while running:
            if _late(order, began) and not stop.is_set():
                tally.out_of_time = True
                stop.set()
            try:
                got = results.get(timeout=0.2)
            except Empty:
                running = sum(worker.is_alive() for worker in workers)
                continue
            if isinstance(got, Played):
                yield got
            else:
                running -= 1
                tally.gave_up = got or tally.gave_up
        for worker in workers:
            worker.join(PATIENCE_S)
            if worker.exitcode:
                tally.errors["worker"] = f"a worker ended with exit code {worker.exitcode}"
    finally:
        stop.set()
        for worker in workers:
            worker.join(PATIENCE_S)
            if worker.is_alive():
                worker.terminate()
        results.cancel_join_thread()


def _work(order: Order, worker: int, results: Any, stop: Event) -> None:
    """Play every so manieth schedule; at the end, or when the implementation was given up, say so."""
    # The one who is asked to stop is the one who started us: an interrupt of the terminal reaches all of us.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    # A performance is many objects that live and die together: looking through them again and again for garbage took
    # a fifth of the time.
    gc.freeze()
    gc.set_threshold(100_000, 20, 20)
    company, reason, parent = order.company(), "", os.getppid()
    try:
        company.start()
        for index in range(worker, order.examples, order.jobs):
            if stop.is_set() or os.getppid() != parent:
                break
            results.put(play_one(order, company, index))
    except NotPlayed as error:
        reason = str(error)
    except TesteeFault as fault:
        reason = f"could not be started again: {fault}"
    finally:
        company.kill()
        results.put(reason)

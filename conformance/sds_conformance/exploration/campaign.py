"""A campaign: many generated schedules, played and judged, on as many processors as there are.

Which schedules are played follows from the seed and their number alone; which worker plays which, from nothing but the
number. So a campaign says the same on every machine, and an interrupted one says it of the schedules it came to.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Generator
from dataclasses import dataclass, field
from functools import cached_property
from multiprocessing.synchronize import Event
from typing import Any

from sds_harness.declaration import Declaration
from sds_harness.faults import Breakdown
from sds_harness.link import Limits
from sds_harness.schedules import Schedule

from ..judging.again import Again
from ..judging.garbage import garbage_at_the_end, rarely_collecting
from ..judging.runner import Connect
from ..judging.verdict import RANK, Finding
from ..judging.workers import workers
from ..protocols import default, repertoire_of
from .casting import Casting, Company
from .casts import NotPlayed
from .judging import Assessment, Scope, assess

TWINS_EVERY = 8
"""Every so many schedules are played a second time in another way, to compare: that costs as much as a new one."""


@dataclass(frozen=True)
class Order:
    """What a campaign plays and judges. Plain data, for workers to be given it."""

    connect: Connect
    limits: Limits = field(default_factory=Limits)
    dialect: str | None = None
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
    flaky: dict[str, Again] = field(default_factory=dict)
    """What of it does not come back each time that its schedule is played again."""
    errors: dict[str, str] = field(default_factory=dict)
    seconds: float = 0.0
    shrinking_s: float = 0.0
    """Of these, what it took to shrink and prove what was found."""
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
        alone = order.jobs <= 1 or tally.declaration.alone
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
    with garbage_at_the_end():
        return _play_one(order, company, index, scope or order.scope)


def _play_one(order: Order, company: Company, index: int, scope: Scope) -> Played:
    schedule = order.schedule(index)
    performance = company.play(schedule)
    replay = company.play if order.twins and not index % TWINS_EVERY and performance.breakdown is None else None
    assessment = assess(performance, scope, company.judged(schedule), replay)
    return Played(index, performance.steps, assessment, performance.breakdown)


def _played_here(order: Order, company: Company, tally: Tally, began: float) -> Generator[Played, None, None]:
    with rarely_collecting():
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
    with workers() as others:
        stop = others.context.Event()
        for worker in range(order.jobs):
            others.start(_work, order, worker, stop)
        running = order.jobs
        while running:
            if _late(order, began) and not stop.is_set():
                tally.out_of_time = True
                stop.set()
            got = others.report()
            if got is None:
                running = others.alive
            elif isinstance(got, Played):
                yield got
            else:
                running -= 1
                tally.gave_up = got or tally.gave_up
        for code in others.lost():
            tally.errors["worker"] = f"a worker ended with exit code {code}"


def _work(results: Any, order: Order, worker: int, stop: Event) -> None:
    """Play every so manieth schedule; at the end, or when the implementation was given up, say so."""
    company, reason = order.company(), ""
    try:
        company.start_again()
        with rarely_collecting():
            for index in range(worker, order.examples, order.jobs):
                if stop.is_set():
                    break
                results.put(play_one(order, company, index))
    except NotPlayed as error:
        reason = str(error)
    finally:
        company.kill()
        results.put(reason)

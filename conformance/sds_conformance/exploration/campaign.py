"""A campaign: many generated schedules, played and judged on all processors.

The seed and the number of schedules decide which schedules are played, and the number of a schedule decides which
worker plays it. So a campaign has the same result on every machine, and an interrupted one has it for the schedules it
played.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Generator, Iterable
from dataclasses import dataclass, field, replace
from functools import cached_property
from multiprocessing.synchronize import Event
from typing import Any

from sds_harness.declaration import Declaration
from sds_harness.faults import Breakdown, TesteeError
from sds_harness.link import Limits
from sds_harness.resources import MissingResourceError
from sds_harness.schedules import Schedule

from ..judging.catalogue import ANOTHER_LAYOUT
from ..judging.exits import Exit
from ..judging.finding_replays import FindingReplays
from ..judging.garbage import garbage_collected_at_end, rare_garbage_collection
from ..judging.runner import Connect
from ..judging.verdict import RANK, Finding, Verdict
from ..judging.workers import workers
from ..protocols import default, repertoire_of
from ..scenario_files.expectations import ExpectationResult, check
from .assessment import Assessment, Scope, assess
from .casts import NotPlayedError, NotStartedError
from .company import Casting, Company

TWINS_EVERY = 8
"""Every n-th schedule is played a second time in another way, to compare; that costs as much as a new one."""


@dataclass(frozen=True)
class CampaignOrder:
    """The schedules of a campaign and how to judge them. Plain data, so that workers can receive it."""

    connect: Connect
    limits: Limits = field(default_factory=Limits)
    dialect: str | None = None
    revision: str = field(default_factory=lambda: default().rules.current)
    profile: str = "full"
    casting: Casting = Casting.TOGETHER
    grammar: Any = None
    """The possible content of schedules; None for everything."""
    seed: int = 0
    examples: int = 500
    """The number of generated schedules."""
    time_budget_s: float = 0.0
    """No schedule starts after this time; 0 means no limit."""
    jobs: int = 1
    strict: bool = False
    twins: bool = True
    include_notes: bool = False
    """Deviations from a MAY count as findings."""
    files: tuple[Schedule, ...] = ()
    """Schedules of users, which are played first. Their expectations are checked."""
    shrink_budget_s: float = 0.0
    """The time to shrink one counterexample; 0 means no limit."""

    @cached_property
    def scope(self) -> Scope:
        return Scope.select(self.profile, self.revision, strict=self.strict, include_notes=self.include_notes)

    def schedule(self, index: int) -> Schedule:
        """The schedule with that number. Schedules of users come first."""
        if index < len(self.files):
            return self.files[index]
        repertoire = repertoire_of(self.revision)
        return repertoire.generated(self.seed, index - len(self.files), self.grammar or repertoire.grammar())

    @property
    def schedules(self) -> int:
        """The number of all schedules."""
        return len(self.files) + self.examples

    def company(self) -> Company:
        return Company(self.connect, self.limits, self.casting, self.revision, self.dialect)


@dataclass
class Played:
    """One schedule of a campaign."""

    index: int
    steps: int
    assessment: Assessment
    breakdown: Breakdown | None = None
    expectations: ExpectationResult | None = None
    """None if the schedule is not of a user."""


@dataclass
class CampaignTally:
    """The results of all schedules of a campaign."""

    declaration: Declaration
    schedules: int = 0
    steps: int = 0
    found: dict[str, Finding] = field(default_factory=dict)
    """By requirement or property: the worst finding; among equally bad ones, that of the first schedule."""
    found_at: dict[str, int] = field(default_factory=dict)
    """The number of that schedule."""
    found_in: Counter[str] = field(default_factory=Counter)
    """Number of schedules with a finding."""
    exercised: Counter[str] = field(default_factory=Counter)
    """By requirement or property: number of schedules that exercised it."""
    situations: Counter[str] = field(default_factory=Counter)
    """Number of schedules in which each situation arose."""
    flaky: dict[str, FindingReplays] = field(default_factory=dict)
    """Findings that not every replay of their schedule shows."""
    expectations: dict[int, ExpectationResult] = field(default_factory=dict)
    """The results of expectations, by the number of the user's schedule."""
    errors: dict[str, str] = field(default_factory=dict)
    seconds: float = 0.0
    shrinking_s: float = 0.0
    """The part of ``seconds`` spent on shrinking and replaying findings."""
    interrupted: bool = False
    out_of_time: bool = False
    gave_up: str = ""
    """Why some schedules were not played, if the implementation broke down too often."""
    not_started: str = ""
    """Why some schedules were not played, if a process of the implementation did not start, such as for lack of memory.
    """

    def add(self, played: Played) -> None:
        """Add the result of one schedule; the order does not matter."""
        self.schedules += 1
        self.steps += played.steps
        assessment = played.assessment
        self.exercised.update({what: 1 for what, count in assessment.exercised.items() if count})
        self.situations.update({what: 1 for what, count in assessment.situations.items() if count})
        if played.expectations is not None:
            self.expectations[played.index] = played.expectations
        for where, error in assessment.errors.items():
            self.errors[where] = min(error, self.errors.get(where, error))
        for what in {finding.requirement for finding in assessment.findings}:
            self.found_in[what] += 1
        for finding in assessment.findings:
            what, known = finding.requirement, self.found.get(finding.requirement)
            if known is None or (*weight(finding), played.index) < (*weight(known), self.found_at[what]):
                self.found[what], self.found_at[what] = finding, played.index

    @property
    def unmet_count(self) -> int:
        """Number of expectations that were not met."""
        return sum(len(result.unmet) for result in self.expectations.values())

    @property
    def exit_code(self) -> Exit:
        """The exit code of the campaign. `text.last_line` is the sentence for the same result."""
        if self.interrupted:
            return Exit.INTERRUPTED
        if self.unmet_count or any(finding.severity is Verdict.FAIL for finding in self.found.values()):
            return Exit.NON_CONFORMANT
        if self.errors:
            return Exit.OURS
        if self.not_started:
            return Exit.NOT_DRIVEN
        if not (self.found or any(self.exercised.values())):
            return Exit.NOT_DRIVEN if self.gave_up else Exit.NOTHING_EXERCISED
        return Exit.NON_CONFORMANT if self.gave_up else Exit.CONFORMANT


def weight(finding: Finding) -> tuple[int, bool]:
    """A sort key: the worst finding first, and findings that only a dialect explains last."""
    return -RANK[finding.severity], finding.code == ANOTHER_LAYOUT


@dataclass(frozen=True)
class WorkerEnded:
    """A worker has played everything it can."""

    worker: int
    gave_up: str = ""
    not_started: str = ""
    """Why a process of the implementation did not start."""
    at: int = 0
    """The first schedule that was not played for that reason."""


NO_ROOM = "the machine has no room for another process of the suite"
Progress = Callable[[CampaignTally], None]


def explore(
    order: CampaignOrder,
    progress: Progress = lambda tally: None,
    begun: Callable[[Declaration], None] = lambda declared: None,
) -> CampaignTally:
    """Play and judge. ``begun`` is called after the handshake.

    Raises TesteeError if the implementation cannot be driven at all. An interrupt (Ctrl-C) ends the playing; the
    schedules that were played count.
    """
    began = time.monotonic()
    company = order.company()
    try:
        tally = CampaignTally(company.start())
        begun(tally.declaration)
        alone = order.jobs <= 1 or tally.declaration.alone
        source = (
            _play_here(order, company, tally, began, range(order.schedules))
            if alone
            else _play_with_workers(order, tally, began)
        )
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


def play_one(order: CampaignOrder, company: Company, index: int, scope: Scope | None = None) -> Played:
    """Play and judge the schedule with that number; ``scope`` replaces that of the order. Raises NotPlayedError."""
    with garbage_collected_at_end():
        return _play_one(order, company, index, scope or order.scope)


def _play_one(order: CampaignOrder, company: Company, index: int, scope: Scope) -> Played:
    schedule = order.schedule(index)
    group_trace = company.play(schedule)
    replay = company.play if order.twins and not index % TWINS_EVERY and group_trace.breakdown is None else None
    assessment = assess(group_trace, scope, company.participants_under_test(schedule), replay)
    result = check(group_trace, scope.repertoire.reading) if index < len(order.files) else None
    return Played(index, group_trace.steps, assessment, group_trace.breakdown, result)


def _play_here(
    order: CampaignOrder, company: Company, tally: CampaignTally, began: float, indices: Iterable[int]
) -> Generator[Played, None, None]:
    with rare_garbage_collection():
        for index in indices:
            if _is_out_of_time(order, began):
                tally.out_of_time = True
                return
            try:
                yield play_one(order, company, index)
            except NotStartedError as reason:
                tally.not_started = str(reason)
                return
            except NotPlayedError as reason:
                tally.gave_up = str(reason)
                return


def _is_out_of_time(order: CampaignOrder, began: float) -> bool:
    return bool(order.time_budget_s) and time.monotonic() - began >= order.time_budget_s


def _play_with_workers(order: CampaignOrder, tally: CampaignTally, began: float) -> Generator[Played, None, None]:
    left = {worker: WorkerEnded(worker, not_started=NO_ROOM, at=worker) for worker in range(order.jobs)}
    """By worker: the schedules that are not played yet."""
    with workers() as others:
        stop = others.context.Event()
        running = 0
        for worker in range(order.jobs):
            try:
                others.start(_work, order, worker, stop)
                running += 1
            except MissingResourceError as missing:
                left[worker] = WorkerEnded(worker, not_started=str(missing), at=worker)
        while running:
            if _is_out_of_time(order, began) and not stop.is_set():
                tally.out_of_time = True
                stop.set()
            got = others.report()
            if got is None:
                running = others.alive_count
            elif isinstance(got, Played):
                worker = got.index % order.jobs
                left[worker] = replace(left[worker], at=got.index + order.jobs)
                yield got
            else:
                running -= 1
                tally.gave_up = got.gave_up or tally.gave_up
                if got.not_started:
                    left[got.worker] = got
                else:
                    del left[got.worker]
        lost = others.wait_for_failures()
    if lost:
        tally.errors["worker"] = f"a worker ended with exit code {lost[-1]}"
        return
    # The machine may have lacked resources for several processes; with one it can continue.
    for ended in left.values():
        yield from _play_remaining(order, tally, began, ended)


def _play_remaining(
    order: CampaignOrder, tally: CampaignTally, began: float, ended: WorkerEnded
) -> Generator[Played, None, None]:
    """Play the schedules that a worker left."""
    company = order.company()
    try:
        company.start()
        yield from _play_here(order, company, tally, began, range(ended.at, order.schedules, order.jobs))
    except TesteeError as fault:
        tally.not_started = f"{ended.not_started}; and later: {fault}"
    finally:
        company.kill()


def _work(results: Any, order: CampaignOrder, worker: int, stop: Event) -> None:
    """Play every n-th schedule. Report at the end, or when the implementation was abandoned."""
    company, index = order.company(), worker
    try:
        company.start()
        with rare_garbage_collection():
            for index in range(worker, order.schedules, order.jobs):
                if stop.is_set():
                    break
                results.put(play_one(order, company, index))
        ended = WorkerEnded(worker)
    except (NotStartedError, TesteeError) as fault:
        ended = WorkerEnded(worker, not_started=str(fault), at=index)
    except NotPlayedError as reason:
        ended = WorkerEnded(worker, gave_up=str(reason))
    finally:
        company.kill()
    results.put(ended)

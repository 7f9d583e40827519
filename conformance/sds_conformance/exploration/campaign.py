"""A campaign: many generated schedules, played and judged on all processors.

The seed and the number of schedules decide which schedules are played, and the index of a schedule decides which worker
plays it. So a campaign has the same result on every machine. The result of an interrupted campaign is the same for the
schedules that it played.
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
from .cast_under_test import CastKind, CastUnderTest
from .casts import NotPlayedError, NotStartedError

TWINS_EVERY = 8
"""If this is n, every n-th schedule is played a second time with a change, for properties that compare two group
traces. The second play takes as long as another schedule.
"""


@dataclass(frozen=True)
class CampaignOrder:
    """The schedules of a campaign and how to judge them. Plain data, so that workers can receive it."""

    connect: Connect
    limits: Limits = field(default_factory=Limits)
    dialect: str | None = None
    revision: str = field(default_factory=lambda: default().rules.current)
    profile: str = "full"
    casting: CastKind = CastKind.TOGETHER
    grammar: Any = None
    """The grammar that limits the content of generated schedules; None for the default grammar."""
    seed: int = 0
    examples: int = 500
    """The number of generated schedules."""
    time_budget_s: float = 0.0
    """No schedule starts after this time, in seconds from the start of the campaign; 0 means no limit."""
    jobs: int = 1
    strict: bool = False
    twins: bool = True
    include_notes: bool = False
    """Notes, such as deviations from a MAY, count as findings."""
    files: tuple[Schedule, ...] = ()
    """Schedules from files of users, which are played first. Their expectations are checked."""
    shrink_budget_s: float = 0.0
    """Maximum time to shrink one counterexample, in seconds; 0 means no limit."""

    @cached_property
    def scope(self) -> Scope:
        return Scope.select(self.profile, self.revision, strict=self.strict, include_notes=self.include_notes)

    def schedule(self, index: int) -> Schedule:
        """Return the schedule with that index, from 0. Schedules of users come first."""
        if index < len(self.files):
            return self.files[index]
        repertoire = repertoire_of(self.revision)
        return repertoire.generated(self.seed, index - len(self.files), self.grammar or repertoire.grammar())

    @property
    def schedules(self) -> int:
        """Number of schedules of users and generated schedules."""
        return len(self.files) + self.examples

    def cast_under_test(self) -> CastUnderTest:
        return CastUnderTest(self.connect, self.limits, self.casting, self.revision, self.dialect)


@dataclass
class Played:
    """The result of one schedule of a campaign."""

    index: int
    steps: int
    assessment: Assessment
    breakdown: Breakdown | None = None
    expectations: ExpectationResult | None = None
    """Result of the expectations in the schedule's file; None for a generated schedule."""


@dataclass
class CampaignTally:
    """The results of all schedules of a campaign."""

    declaration: Declaration
    schedules: int = 0
    steps: int = 0
    found: dict[str, Finding] = field(default_factory=dict)
    """Maps requirements and properties to the worst finding. Among equally bad findings, the finding of the first
    schedule counts.
    """
    found_at: dict[str, int] = field(default_factory=dict)
    """Maps requirements and properties to the index of the schedule of the finding in ``found``."""
    found_in: Counter[str] = field(default_factory=Counter)
    """Maps requirements and properties to the number of schedules with a finding."""
    exercised: Counter[str] = field(default_factory=Counter)
    """Maps requirements and properties to the number of schedules that exercised them."""
    situations: Counter[str] = field(default_factory=Counter)
    """Maps situations to the number of schedules in which they arose."""
    flaky: dict[str, FindingReplays] = field(default_factory=dict)
    """Findings that not every replay of their schedule shows, by requirement or property."""
    expectations: dict[int, ExpectationResult] = field(default_factory=dict)
    """Maps the index of each schedule of a user to the result of its expectations."""
    errors: dict[str, str] = field(default_factory=dict)
    seconds: float = 0.0
    shrinking_s: float = 0.0
    """The part of ``seconds`` that was spent on shrinking and replaying findings."""
    interrupted: bool = False
    out_of_time: bool = False
    gave_up: str = ""
    """Why some schedules were not played, if the implementation broke down too often."""
    not_started: str = ""
    """Why some schedules were not played, if a process of the implementation did not start (for example, for lack of
    memory).
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
        """The exit code of the campaign. `text.last_line` says the same in a sentence."""
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
    """Return a sort key. The worst finding comes first; among equally bad findings, those caused by a dialect come
    last.
    """
    return -RANK[finding.severity], finding.code == ANOTHER_LAYOUT


@dataclass(frozen=True)
class WorkerEnded:
    """Report of a worker that can play no further schedule."""

    worker: int
    gave_up: str = ""
    not_started: str = ""
    """Why a process of the implementation did not start."""
    at: int = 0
    """Index of the first schedule that the worker did not play."""


NO_ROOM = "the machine has no room for another process of the suite"
Progress = Callable[[CampaignTally], None]


def explore(
    order: CampaignOrder,
    progress: Progress = lambda tally: None,
    begun: Callable[[Declaration], None] = lambda declared: None,
) -> CampaignTally:
    """Play and judge the schedules of a campaign. ``begun`` is called after the handshake.

    Raises TesteeError if the implementation cannot be tested at all. An interrupt (Ctrl-C) ends the playing; the
    schedules that were played count.
    """
    began = time.monotonic()
    cast_under_test = order.cast_under_test()
    try:
        tally = CampaignTally(cast_under_test.start())
        begun(tally.declaration)
        alone = order.jobs <= 1 or tally.declaration.alone
        source = (
            _play_here(order, cast_under_test, tally, began, range(order.schedules))
            if alone
            else _play_with_workers(order, tally, began)
        )
        if not alone:
            cast_under_test.kill()
        try:
            for played in source:
                tally.add(played)
                progress(tally)
        except KeyboardInterrupt:
            tally.interrupted = True
            source.close()
    finally:
        cast_under_test.kill()
    tally.seconds = time.monotonic() - began
    return tally


def play_one(order: CampaignOrder, cast_under_test: CastUnderTest, index: int, scope: Scope | None = None) -> Played:
    """Play and judge the schedule with that index. ``scope`` overrides `CampaignOrder.scope`. Raises NotPlayedError."""
    with garbage_collected_at_end():
        return _play_one(order, cast_under_test, index, scope or order.scope)


def _play_one(order: CampaignOrder, cast_under_test: CastUnderTest, index: int, scope: Scope) -> Played:
    schedule = order.schedule(index)
    group_trace = cast_under_test.play(schedule)
    replay = cast_under_test.play if order.twins and not index % TWINS_EVERY and group_trace.breakdown is None else None
    assessment = assess(group_trace, scope, cast_under_test.participants_under_test(schedule), replay)
    result = check(group_trace, scope.repertoire.reading) if index < len(order.files) else None
    return Played(index, group_trace.steps, assessment, group_trace.breakdown, result)


def _play_here(
    order: CampaignOrder, cast_under_test: CastUnderTest, tally: CampaignTally, began: float, indices: Iterable[int]
) -> Generator[Played, None, None]:
    with rare_garbage_collection():
        for index in indices:
            if _is_out_of_time(order, began):
                tally.out_of_time = True
                return
            try:
                yield play_one(order, cast_under_test, index)
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
    """Maps each worker to the reason why it stopped, and to its first schedule that is not played."""
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
    # The machine may have lacked resources for several processes. Continue with this process only.
    for ended in left.values():
        yield from _play_remaining(order, tally, began, ended)


def _play_remaining(
    order: CampaignOrder, tally: CampaignTally, began: float, ended: WorkerEnded
) -> Generator[Played, None, None]:
    """Play the schedules that a worker did not play."""
    cast_under_test = order.cast_under_test()
    try:
        cast_under_test.start()
        yield from _play_here(order, cast_under_test, tally, began, range(ended.at, order.schedules, order.jobs))
    except TesteeError as fault:
        tally.not_started = f"{ended.not_started}; and later: {fault}"
    finally:
        cast_under_test.kill()


def _work(results: Any, order: CampaignOrder, worker: int, stop: Event) -> None:
    """Play the schedules of one of n workers: every n-th schedule, from number ``worker``. Report at the end, or when
    the implementation is abandoned."""
    cast_under_test, index = order.cast_under_test(), worker
    try:
        cast_under_test.start()
        with rare_garbage_collection():
            for index in range(worker, order.schedules, order.jobs):
                if stop.is_set():
                    break
                results.put(play_one(order, cast_under_test, index))
        ended = WorkerEnded(worker)
    except (NotStartedError, TesteeError) as fault:
        ended = WorkerEnded(worker, not_started=str(fault), at=index)
    except NotPlayedError as reason:
        ended = WorkerEnded(worker, gave_up=str(reason))
    finally:
        cast_under_test.kill()
    results.put(ended)

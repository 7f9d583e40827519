"""A campaign: many generated schedules, played and judged on all processors.

The seed and the number of schedules decide which schedules are played, and the index of a schedule decides which worker
plays it. So a campaign has the same result on every machine. The result of an interrupted campaign is the same for the
schedules that it played.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass, field
from functools import cached_property, partial
from multiprocessing.synchronize import Event
from typing import Any, TypeVar

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
        assessment = played.assessment
        one = CampaignTally(self.declaration, 1, played.steps, errors=assessment.errors)
        one.exercised.update({what: 1 for what, count in assessment.exercised.items() if count})
        one.situations.update({what: 1 for what, count in assessment.situations.items() if count})
        one.found_in.update({finding.requirement: 1 for finding in assessment.findings})
        for finding in assessment.findings:
            one._keep_worst(finding, played.index)
        if played.expectations is not None:
            self.expectations[played.index] = played.expectations
        self.join(one)

    def join(self, more: CampaignTally) -> None:
        """Add the results ``more`` of other schedules; the order does not matter."""
        self.schedules += more.schedules
        self.steps += more.steps
        self.exercised.update(more.exercised)
        self.situations.update(more.situations)
        self.found_in.update(more.found_in)
        self.errors |= {where: min(error, self.errors.get(where, error)) for where, error in more.errors.items()}
        for what, finding in more.found.items():
            self._keep_worst(finding, more.found_at[what])

    def _keep_worst(self, finding: Finding, index: int) -> None:
        what, known = finding.requirement, self.found.get(finding.requirement)
        if known is None or (*weight(finding), index) < (*weight(known), self.found_at[what]):
            self.found[what], self.found_at[what] = finding, index

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


NO_ROOM = "the machine has no room for another process of the suite"
Progress = Callable[[CampaignTally], None]
T = TypeVar("T")


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


@garbage_collected_at_end()
def play_one(order: CampaignOrder, cast_under_test: CastUnderTest, index: int, scope: Scope | None = None) -> Played:
    """Play and judge the schedule with that index. ``scope`` overrides `CampaignOrder.scope`. Raises NotPlayedError."""
    scope = scope or order.scope
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
    unplayed = list(range(order.jobs))
    """The first schedule of each worker that is not played."""

    def play_rest(worker: int) -> Iterator[Played]:
        with order.cast_under_test().started() as cast_under_test:
            indices = range(unplayed[worker], order.schedules, order.jobs)
            yield from _play_here(order, cast_under_test, tally, began, indices)

    def is_late() -> bool:
        late = _is_out_of_time(order, began)
        tally.out_of_time |= late
        return late

    with closing(play_with_workers(order.jobs, partial(_play_nth, order), play_rest, tally, is_late)) as source:
        for played in source:
            unplayed[played.index % order.jobs] = played.index + order.jobs
            yield played


def _play_nth(order: CampaignOrder, worker: int, ended: Callable[[], bool]) -> Iterator[Played]:
    """Play the schedules of one of n workers: every n-th schedule, from number ``worker``."""
    with order.cast_under_test().started() as cast_under_test:
        for index in range(worker, order.schedules, order.jobs):
            if ended():
                return
            yield play_one(order, cast_under_test, index)


def play_with_workers(
    jobs: int,
    play: Callable[[int, Callable[[], bool]], Iterator[T]],
    play_rest: Callable[[int], Iterator[T]],
    tally: CampaignTally,
    is_late: Callable[[], bool],
) -> Generator[T, None, None]:
    """Yield the results of ``jobs`` workers. Each calls ``play``, which can be pickled, with its number, and with a
    function that returns True when ``is_late`` has returned True here.

    ``play_rest`` plays, in this process, the rest of a worker that the machine lacked resources for. The tally records
    an abandoned implementation.
    """
    left = dict.fromkeys(range(jobs), NO_ROOM)
    """Maps each worker that did not end regularly to the reason."""
    with workers() as others:
        stop = others.context.Event()
        running = 0
        for worker in range(jobs):
            try:
                others.start(_work, worker, play, stop)
                running += 1
            except MissingResourceError as missing:
                left[worker] = str(missing)
        while running:
            if is_late():
                stop.set()
            got = others.report()
            if got is None:
                running = others.alive_count
            elif not isinstance(got, WorkerEnded):
                yield got
            else:
                running -= 1
                tally.gave_up = got.gave_up or tally.gave_up
                if got.not_started:
                    left[got.worker] = got.not_started
                else:
                    del left[got.worker]
        lost = others.wait_for_failures()
    if lost:
        tally.errors["worker"] = f"a worker ended with exit code {lost[-1]}"
        return
    # The machine may have lacked resources for several processes. Continue with this process only.
    for worker, reason in left.items():
        try:
            yield from play_rest(worker)
        except TesteeError as fault:
            tally.not_started = f"{reason}; and later: {fault}"


def _work(results: Any, worker: int, play: Callable[[int, Callable[[], bool]], Iterator[object]], stop: Event) -> None:
    """Play in a worker. Report at the end, or when the implementation is abandoned."""
    try:
        with rare_garbage_collection():
            for result in play(worker, stop.is_set):
                results.put(result)
        ended = WorkerEnded(worker)
    except (NotStartedError, TesteeError) as fault:
        ended = WorkerEnded(worker, not_started=str(fault))
    except NotPlayedError as reason:
        ended = WorkerEnded(worker, gave_up=str(reason))
    results.put(ended)

"""Judges all selected requirements on one implementation."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from sds_harness.declaration import Declaration
from sds_harness.faults import FaultKind, TesteeError
from sds_harness.link import Limits
from sds_harness.signals import defer_signals
from sds_harness.trace import Trace

from .causes import Cause, causes
from .deafness import Hearing
from .exits import Exit
from .garbage import rare_garbage_collection
from .known_runs import KnownRuns
from .plan import Plan, find_unplayable_environments
from .positions import Ways, WayShown
from .registry import Run, scenario_of
from .run_player import EVERYTHING, Keep, RunPlayer, RunResult
from .run_summary import RunSummary
from .runner import (
    ALL_RUNS,
    END,
    PATIENCE,
    BrokenRun,
    Connect,
    Runner,
    exhausted_resource,
    tolerated_breakdowns,
)
from .trace_storage import Traces, dumps
from .verdict import Judge, RequirementVerdict, Verdict
from .work_distribution import LostUnit, RulesOf, SharedWork, WorkerOrder, units_of, useful_jobs
from .workers import workers

ENOUGH = 0.9
"""Share of the requirements that must be exercised; below it, "conforms" is printed only together with the share."""

Progress = Callable[[str, int, int], None]
"""Called with the name of the run that starts, its number and the number of runs."""


@dataclass
class Certification:
    """The result of judging one implementation."""

    plan: Plan
    declaration: Declaration
    dialect: str
    strict: bool
    verdicts: list[RequirementVerdict] = field(default_factory=list)
    breakdowns: list[BrokenRun] = field(default_factory=list)
    traces: Mapping[str, Trace[Any]] = field(default_factory=dict)
    """By the name of the run: traces with findings or breakdowns, and those of the plain environment if they are kept.
    """
    doubt_data: list[Any] = field(default_factory=list)
    """The data that `Rules.extract_doubt_data` extracted from the runs. Reports use it to mark doubtful verdicts."""
    played_runs: list[str] = field(default_factory=list)
    """The names of the runs that were played, in order."""
    steps: int = 0
    unmet_expectations: dict[str, tuple[tuple[int, str], ...]] = field(default_factory=dict)
    """Maps runs of scenario files to their unmet expectations: the index of each, and what was seen."""
    unchecked: dict[str, str] = field(default_factory=dict)
    """Maps runs of scenario files to the reason why their expectations were not checked."""
    left_out: dict[str, str] = field(default_factory=dict)
    """Maps each environment that was skipped to the reason."""
    sightings: dict[str, dict[str, int]] = field(default_factory=dict)
    """Maps each requirement to the runs that exercised it, each with the number of observations."""
    causes: list[Cause] = field(default_factory=list)
    """The root causes of the failures and warnings, each with the failures that it explains."""
    started: datetime = field(default_factory=lambda: datetime.now(UTC))
    ways: dict[str, list[WayShown]] = field(default_factory=dict)
    """Maps each position that a run can show to the ways of the implementation; no ways if no run showed one."""
    way_errors: dict[str, str] = field(default_factory=dict)
    """Maps positions to the error of the suite that occurred while the position was examined."""
    seconds: float = 0.0
    gave_up: bool = False
    """Some runs were not played, because the implementation broke down too often, or a resource was used up."""
    exhausted_resource: str = ""
    """The resource that was used up; "" if none was."""
    ended_early: bool = False
    """The run ended at the first failure, as requested."""
    interrupted: bool = False
    is_driven: bool = True
    """The handshake succeeded."""

    @property
    def runs(self) -> int:
        return len(self.played_runs)

    @property
    def scenarios(self) -> int:
        """The number of different scenarios that were played, in any environment."""
        return len({scenario_of(run) for run in self.played_runs})

    def count(self, verdict: Verdict) -> int:
        return sum(1 for v in self.verdicts if v.verdict is verdict)

    def tolerates(self, broken: BrokenRun) -> bool:
        """Does a breakdown only count as a warning?"""
        return broken.breakdown.kind.value in tolerated_breakdowns(strict=self.strict, narrowed=self.plan.narrowed)

    @property
    def exit_code(self) -> int:
        """Exit code: 0 conformant, 1 not conformant, 3 could not be tested, 4 nothing was exercised, 70 an error of the
        suite, 130 interrupted.
        """
        if self.interrupted:
            return Exit.INTERRUPTED
        hard = {b.breakdown.kind.value for b in self.breakdowns if not self.tolerates(b)}
        if FaultKind.DEAF.value in hard:
            return Exit.NON_CONFORMANT
        if self.unmet_expectations:
            return Exit.NON_CONFORMANT
        if not any(v.exercised for v in self.verdicts):
            return Exit.NOT_DRIVEN if hard else Exit.NOTHING_EXERCISED
        if self.count(Verdict.FAIL) or hard:
            return Exit.NON_CONFORMANT
        return Exit.OURS if self.count(Verdict.ERROR) else Exit.CONFORMANT


def certify(
    connect: Connect,
    what: Plan,
    limits: Limits,
    *,
    dialect: str | None = None,
    strict: bool = False,
    running: bool = False,
    progress: Progress = lambda name, number, total: None,
    first: Collection[str] = (),
    enough: Callable[[str], bool] | None = None,
    keep: Keep = EVERYTHING,
    known: KnownRuns | None = None,
    failing: Callable[[int], None] = lambda requirements: None,
    jobs: int = 1,
    rules_of: RulesOf | None = None,
    begun: Callable[[Certification, int], None] = lambda outcome, runs: None,
) -> Certification:
    """Play the runs of a plan and judge them. Raises TesteeError if the implementation cannot be tested at all.

    An implementation that is ``running`` already is not restarted: environments that need a new process are skipped.
    The runs ``first`` are played before the others. If ``enough`` is given, it is called with each failed requirement,
    and with ``breakdown`` or ``expectation`` after a run with a breakdown or an unmet expectation; playing ends after
    the first run for which it returns True. ``keep`` selects the data of each run that is stored in addition to
    verdicts. Results of known runs are taken from ``known``. ``begun`` is called after the handshake with the number of
    runs to play, ``failing`` after each run with the number of requirements that fail so far. Up to ``jobs`` processes
    play if ``rules_of`` gives them the rules, each with its own process of the implementation; the result is the same.

    After an interrupt (Ctrl-C, SIGTERM, SIGHUP) no further run is played; the runs that were played are judged.
    """
    began = time.monotonic()
    runner = Runner(connect, limits, what.rules, what.revision, dialect)
    try:
        declaration = runner.start()
        used = runner.dialect
        out = Certification(what, declaration, used.name if used else "", strict)
        out.left_out = find_unplayable_environments(
            what.environments, declaration, what.rules.revisions[what.revision], running
        )
        runs = [run for run in what.runs if run.environment.name not in out.left_out]
        begun(out, len(runs))
        units = units_of([run for run in runs if run.name in first])
        units += units_of([run for run in runs if run.name not in first])
        collector = _ResultCollector(out, runs)
        reporter = _ProgressReporter(progress, len(runs))
        player = RunPlayer(runner, what.rules, what.requirements, keep, known=known, on_start=reporter.on_start)
        with ExitStack() as stack:
            work = SharedWork(player, units, what.rules.language, reporter.on_end)
            jobs = useful_jobs(units, jobs)
            if rules_of is not None and jobs > 1 and not declaration.alone:
                others = stack.enter_context(workers())
                files = tuple(scenario for scenario in what.scenarios if scenario.file is not None)
                declared = dumps(declaration)
                order = WorkerOrder(connect, limits, what.revision, dialect, declared, what.requirements, keep, files)
                work.start_workers(others, order, rules_of, jobs)
            stack.enter_context(rare_garbage_collection())
            try:
                for result in work.results():
                    if isinstance(result, LostUnit):
                        collector.record_lost_unit(result)
                        continue
                    collector.take(result)
                    if result.run:
                        failing(len(collector.judge.failed_requirements))
                    if collector.gave_up:
                        break
                    if result.run and enough is not None and collector.should_stop(enough):
                        out.ended_early = len(out.played_runs) < len(runs)
                        collector.take(player.end())
                        break
            except KeyboardInterrupt:
                out.interrupted = True
                with defer_signals():
                    for result in work.drain():
                        collector.take(result)
    finally:
        runner.kill()
    with defer_signals():
        collector.conclude()
        out.seconds = time.monotonic() - began
    return out


class _ResultCollector:
    """Adds the results of runs, in their order, to a certification."""

    def __init__(self, out: Certification, runs: Sequence[Run]) -> None:
        rules = out.plan.rules
        self.judge = Judge(rules, out.plan.requirements, strict=out.strict)
        self._out = out
        self._runs = {run.name: run for run in runs}
        self._plain_runs = {run.name for run in runs if run.plain}
        self._ways = Ways()
        self._hearing = Hearing()
        """The number of messages that the participants received and had to show in all runs, and whether they showed
        any.
        """
        self._traces = out.traces = Traces(rules.language)
        self._consecutive_breakdowns = 0
        self._broke = self._missed_expectation = False

    @property
    def gave_up(self) -> bool:
        """True if no further run can be played, or if the implementation broke down too often in a row."""
        return self._consecutive_breakdowns >= PATIENCE or bool(exhausted_resource(self._out.breakdowns))

    def take(self, result: RunResult) -> None:
        out, summary = self._out, result.summary
        self._consecutive_breakdowns = result.count_consecutive_breakdowns(self._consecutive_breakdowns)
        # Report only once that a process does not exit.
        known = any(broken.where == END for broken in out.breakdowns)
        out.breakdowns += [broken for broken in result.breakdowns if not (known and broken.where == END)]
        self._broke = summary is not None and summary.breakdown is not None
        self._missed_expectation = bool(result.unmet)
        if summary is None:
            return
        if result.unmet:
            out.unmet_expectations[result.run] = result.unmet
        if result.unchecked:
            out.unchecked[result.run] = result.unchecked
        self.judge.take(summary, self._runs[result.run])
        self._hearing.add(summary.hearing)
        self._ways.merge(summary.ways)
        out.played_runs.append(result.run)
        out.steps += summary.steps
        if result.doubt_data is not None:
            out.doubt_data.append(result.doubt_data)
        if result.trace is not None:
            self._keep(result.run, result.trace)

    def record_lost_unit(self, lost: LostUnit) -> None:
        """Record the unplayed runs of a unit as an error of the suite, because the worker process ended too early."""
        for run in lost.unit:
            if run.name not in self._out.played_runs:
                why, declared = f"{run.name}: {lost.why}", self._out.declaration
                counted = run.scenario.exercises
                summary = RunSummary(run.name, declared, 0, suite_error=why, counted=counted)
                self.judge.take(summary, run)

    def should_stop(self, enough: Callable[[str], bool]) -> bool:
        """Does ``enough`` return True for a requirement that has failed so far? ``enough`` is also called with
        "breakdown" if the last run broke down, and with "expectation" if the last run did not meet an expectation.
        """
        last = {"breakdown": self._broke, "expectation": self._missed_expectation}
        return any(map(enough, [*self.judge.failed_requirements, *(what for what, so in last.items() if so)]))

    def _keep(self, run: str, packed: bytes) -> None:
        """Keep the traces that reports need: those of plain runs, even without findings, and those with failures."""
        self._traces.add(run, packed)
        wanted = {finding.run for verdict in self.judge.evidence for finding in verdict.findings}
        wanted |= {*self._out.unmet_expectations} | {broken.where for broken in self._out.breakdowns}
        self._traces.keep_only(wanted | self._plain_runs)

    def conclude(self) -> None:
        """Set the verdicts, and all other results that depend on every run."""
        out = self._out
        out.gave_up, out.exhausted_resource = self.gave_up, exhausted_resource(out.breakdowns)
        why_unplayed = ""
        if out.interrupted:
            why_unplayed = "not played, because the run was interrupted"
        elif out.ended_early:
            why_unplayed = "not played, because the run ended at the first failure"
        elif out.exhausted_resource:
            why_unplayed = f"not played: {out.exhausted_resource} was used up"
        elif out.gave_up:
            why_unplayed = "not played: too many breakdowns"
        played = {*out.played_runs}
        for run in self._runs.values():
            if run.name not in played:
                self.judge.record_unplayed(run, why_unplayed or "not played: too many breakdowns")
        out.verdicts = self.judge.verdicts()
        out.ways, out.way_errors = self._ways.group_by_position(out.plan.rules), self._ways.errors
        out.sightings = {requirement: self.judge.sightings(requirement) for requirement in out.plan.requirements}
        out.causes = causes(out.plan.rules, out.verdicts, out.sightings, out.dialect)
        if not why_unplayed and self._hearing.deaf:
            out.breakdowns.append(BrokenRun.at_last_step(ALL_RUNS, self._hearing.breakdown))


class _ProgressReporter:
    def __init__(self, progress: Progress, total: int) -> None:
        self._progress = progress
        self._total = total
        self._done = 0

    def on_start(self, run: str) -> None:
        """Report that a run starts in this process."""
        self._progress(run, self._done, self._total)

    def on_end(self, run: str) -> None:
        """Report that a run was played, in this process or in another one."""
        self._done += 1
        self._progress(run, self._done, self._total)


def not_driven(what: Plan, name: str, fault: TesteeError, dialect: str | None, strict: bool) -> Certification:
    """Return the result for an implementation that failed the handshake. Only its ``name`` is known."""
    out = Certification(
        what, Declaration.for_unknown(name, what.rules.language), dialect or "", strict, is_driven=False
    )
    judge = Judge(what.rules, what.requirements, strict=strict)
    for run in what.runs:
        judge.record_unplayed(run, "not played: the implementation could not be tested")
    out.verdicts = judge.verdicts()
    out.breakdowns = [BrokenRun.at_last_step("handshake", fault.breakdown)]
    return out

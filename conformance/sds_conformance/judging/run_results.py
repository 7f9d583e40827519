"""Collects the results of runs, in their order, for a certification."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from sds_harness.declaration import Declaration

from .deafness import Hearing
from .positions import Ways
from .registry import Run
from .rules import Rules
from .run_player import RunResult
from .run_summary import RunSummary
from .runner import END, PATIENCE, BrokenRun, exhausted_resource
from .trace_storage import Traces
from .verdict import Judge
from .work_distribution import LostUnit


class ResultCollector:
    """The results of all runs that were added so far."""

    def __init__(self, rules: Rules, requirements: Sequence[str], runs: Iterable[Run], *, strict: bool) -> None:
        self.judge = Judge(rules, requirements, strict=strict)
        self.ways = Ways()
        self.traces = Traces(rules.language)
        self.played: list[str] = []
        self.hearing = Hearing()
        """The number of messages that the participants received and had to show in all runs, and whether they showed
        any.
        """
        self.steps = 0
        self.breakdowns: list[BrokenRun] = []
        self.doubt_data: list[Any] = []
        """The data that `Rules.extract_doubt_data` extracted from each run."""
        self.unmet: dict[str, tuple[tuple[int, str], ...]] = {}
        """Maps runs of scenario files to the expectations that were not met."""
        self.unchecked: dict[str, str] = {}
        """Maps runs of scenario files to the reason why their expectations were not checked."""
        self._runs = {run.name: run for run in runs}
        self._plain_runs = {run.name for run in self._runs.values() if run.plain}
        """The runs whose traces are kept even without findings."""
        self._consecutive_breakdowns = 0
        self._broke = self._missed_expectation = False

    @property
    def exhausted_resource(self) -> str:
        """The resource that is used up; "" if none is."""
        return exhausted_resource(self.breakdowns)

    @property
    def gave_up(self) -> bool:
        """True if no further run can be played, or if the implementation broke down too often in a row."""
        return self._consecutive_breakdowns >= PATIENCE or bool(self.exhausted_resource)

    def take(self, result: RunResult) -> None:
        self._consecutive_breakdowns = result.count_consecutive_breakdowns(self._consecutive_breakdowns)
        # Report only once that a process does not exit.
        known = any(broken.where == END for broken in self.breakdowns)
        self.breakdowns += [broken for broken in result.breakdowns if not (known and broken.where == END)]
        summary = result.summary
        self._broke = summary is not None and summary.breakdown is not None
        self._missed_expectation = bool(result.unmet)
        if summary is None:
            return
        if result.unmet:
            self.unmet[result.run] = result.unmet
        if result.unchecked:
            self.unchecked[result.run] = result.unchecked
        self.judge.take(summary, self._runs[result.run])
        self.hearing.add(summary.hearing)
        self.ways.merge(summary.ways)
        self.played.append(result.run)
        self.steps += summary.steps
        if result.doubt_data is not None:
            self.doubt_data.append(result.doubt_data)
        if result.trace is not None:
            self._keep(result.run, result.trace)

    def record_lost_unit(self, lost: LostUnit, declaration: Declaration) -> None:
        """Record the unplayed runs of a unit as an error of the suite, because the worker process ended too early."""
        for run in lost.unit:
            if run.name not in self.played:
                why = f"{run.name}: {lost.why}"
                counted = run.scenario.exercises
                summary = RunSummary(run.name, run.environment.name, declaration, 0, suite_error=why, counted=counted)
                self.judge.take(summary, run)

    def should_stop(self, enough: Callable[[str], bool]) -> bool:
        """Does ``enough`` return True for a requirement that has failed so far? ``enough`` is also called with
        "breakdown" if the last run broke down, and with "expectation" if the last run did not meet an expectation.
        """
        last = {"breakdown": self._broke, "expectation": self._missed_expectation}
        return any(map(enough, [*self.judge.failed_requirements, *(what for what, so in last.items() if so)]))

    def _keep(self, run: str, packed: bytes) -> None:
        self.traces.add(run, packed)
        found = {finding.run for verdict in self.judge.evidence for finding in verdict.findings}
        self.traces.keep_only(found | self._plain_runs | {*self.unmet} | {broken.where for broken in self.breakdowns})

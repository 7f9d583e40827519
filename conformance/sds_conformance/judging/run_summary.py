"""Applies the checks to one trace, and keeps the data from which verdicts are computed.

The data are extracted in the process that played the run, which can then drop the trace.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from sds_harness.declaration import Declaration
from sds_harness.faults import Breakdown
from sds_harness.trace import Trace

from .check_selection import CheckSelection
from .deafness import Hearing
from .garbage import garbage_collection_paused
from .judgement import Observation, Outcome
from .positions import WayReader, Ways
from .registry import Check, Register
from .rules import Rules, View

_HELD = Outcome.HELD


@dataclass(slots=True)
class ReportedObservation:
    """One observation to report, with its place."""

    check: str
    run: str
    environment: str
    participant: str
    channel_id: str
    observation: Observation
    stderr: tuple[str, ...]
    """Lines that the implementation wrote to stderr at that step."""
    recorded: int
    """First line of the run's trace in the transcript; 0 without a transcript."""


@dataclass(slots=True)
class CheckResult:
    """The result of one check on one view, if it observed anything or raised an error."""

    check: Check
    accepted_any: bool | None
    """Did the participant show any of the messages that it received? See ``Rules.accepted_any``."""
    places: int
    """Number of observations of any kind."""
    reported: list[ReportedObservation]
    """Violations and notes."""
    exception: str = ""


class ApplicableChecks:
    """Selects the checks of some requirements whose capabilities are declared."""

    def __init__(self, register: Register, requirements: Iterable[str]) -> None:
        self._facts = register.facts
        self._checks = [check for requirement in requirements for check in register.checks.get(requirement, ())]
        self._known: dict[tuple[frozenset[int], bool], CheckSelection[Check]] = {}
        """Cache: most implementations declare the same capabilities in all runs."""

    def select(self, declared: Declaration, *, together: bool = False) -> CheckSelection[Check]:
        """Return the checks for a declaration; with ``together``, only those that compare participants."""
        key = declared.capabilities, together
        if key not in self._known:
            wanted = (check for check in self._checks if check.together or not together)
            self._known[key] = CheckSelection(
                self._facts, (check for check in wanted if not declared.missing_capabilities(check.needs))
            )
        return self._known[key]


def apply_checks(applicable: CheckSelection[Check], accepted: Iterable[tuple[View, bool | None]]) -> list[CheckResult]:
    """Apply the checks to views, and return the results ordered by check, then by view. Each view is paired with
    whether its participant showed any of the messages that it received.
    """
    found = [
        (place, number, sight)
        for number, (view, took) in enumerate(accepted)
        for place, check in applicable.select(view)
        if (sight := _apply_check(check, view, took)) is not None
    ]
    found.sort(key=lambda one: one[:2])
    return [sight for _, _, sight in found]


def _counting_requirements(
    rules: Rules, trace: Trace[Any], views: Sequence[View], requirements: Sequence[str]
) -> Sequence[str]:
    """Return the requirements that may be judged on a trace: all of them or, if the trace violates the requirement that
    its environment presumes, only that requirement.
    """
    presumed = rules.environments[trace.environment].presumes
    presumed = next((r for r in rules.register.counterparts.get(presumed, ()) if r in requirements), presumed)
    with suppress(Exception):  # an error of the check is recorded where it is applied
        if any(
            observation.outcome is Outcome.VIOLATED
            for check in rules.register.checks.get(presumed, ())
            for view in views
            for observation in check.function(view)
        ):
            return [presumed] if presumed in requirements else []
    return requirements


def _apply_check(check: Check, view: View, took: bool | None) -> CheckResult | None:
    places, reported, wrong = 0, [], ""
    try:
        for observation in check.function(view):
            places += 1
            if observation.outcome is not _HELD:
                reported.append(_report(check, view, observation))
    except Exception as error:  # an error of the suite must not become a verdict on the implementation
        wrong = f"{type(error).__name__}: {error}"
    return CheckResult(check, took, places, reported, wrong) if places or wrong else None


def _report(check: Check, view: View, observation: Observation) -> ReportedObservation:
    trace, number = view.trace, observation.step
    return ReportedObservation(
        check.name,
        trace.schedule,
        trace.environment,
        view.party.name,
        view.channel_id,
        observation,
        trace.steps[number - 1].stderr if 0 < number <= len(trace.steps) else (),
        trace.recorded,
    )


@dataclass(slots=True)
class RequirementResult:
    """The results of a run for one requirement."""

    exercised: int = 0
    """Number of observations. If the participant showed none of the messages that it received, only violations and
    notes count.
    """
    places: dict[bool | None, int] = field(default_factory=dict)
    """Number of all observations. The key says whether the participant showed any of the messages that it received
    (None: unknown).
    """
    reported: list[ReportedObservation] = field(default_factory=list)
    error: str = ""

    def add(self, result: CheckResult, trace: Trace[Any]) -> None:
        if result.exception:
            self.error = f"{result.check.name} on {trace.schedule}: {result.exception}"
        if result.places:
            self.places[result.accepted_any] = self.places.get(result.accepted_any, 0) + result.places
        # If the participant showed no message, requirements that were met do not count.
        self.exercised += len(result.reported) if result.accepted_any is False else result.places
        self.reported += result.reported


@dataclass
class RunSummary:
    """The results of one run. Plain data, because another process may have played the run."""

    run: str
    declaration: Declaration
    steps: int
    breakdown: Breakdown | None = None
    suite_error: str = ""
    stopped: str = ""
    counted: tuple[str, ...] = ()
    """The requirements that may be judged on the run."""
    hearing: Hearing = field(default_factory=Hearing)
    """The number of messages that the participants received and had to show, and whether they showed any."""
    results: dict[str, RequirementResult] = field(default_factory=dict)
    """Results by requirement; requirements without observations and errors are left out."""
    reading_error: str = ""
    """The exception that was raised when the trace was read. In that case there are no other results of the run."""
    ways: Ways = field(default_factory=Ways)
    """The ways of the implementation that the run shows."""

    @classmethod
    def from_trace(cls, trace: Trace[Any]) -> RunSummary:
        """Return a summary with the data of a trace that is not judged yet."""
        return cls(
            trace.schedule,
            trace.declaration,
            len(trace.steps),
            trace.breakdown,
            trace.suite_error,
            trace.stopped,
        )

    @property
    def has_reports(self) -> bool:
        """Is there an observation to report?"""
        return any(met.reported for met in self.results.values())


class TraceJudge:
    """Judges traces, one by one, for some requirements."""

    def __init__(self, rules: Rules, requirements: Iterable[str], *, ways: bool = False) -> None:
        """With ``ways``, also find the ways of the implementation. Checks and ways are read from the same views,
        because making views is expensive.
        """
        self._rules = rules
        self._requirements = tuple(requirements)
        self._ways = WayReader(rules) if ways else None
        self._checks = ApplicableChecks(rules.register, self._requirements)

    def judge(self, trace: Trace[Any]) -> RunSummary:
        summary = RunSummary.from_trace(trace)
        try:
            self._apply_checks(trace, summary)
        except Exception as error:  # an error of the suite must not become a verdict on the implementation
            summary.reading_error = f"{trace.schedule}: {type(error).__name__}: {error}"
        return summary

    @garbage_collection_paused()
    def _apply_checks(self, trace: Trace[Any], summary: RunSummary) -> None:
        rules = self._rules
        views = rules.views(trace)
        if self._ways is not None:
            summary.ways = self._ways.read(trace, views)
        accepted = [(view, rules.accepted_any(view)) for view in views]
        counted = dict.fromkeys(_counting_requirements(rules, trace, views, self._requirements))
        results: dict[str, RequirementResult] = {}
        for result in apply_checks(self._checks.select(trace.declaration), accepted):
            if result.check.requirement in counted:
                results.setdefault(result.check.requirement, RequirementResult()).add(result, trace)
        hearing = Hearing()
        for view in views:
            hearing.add(rules.count_shown_messages(view))
        summary.counted, summary.hearing, summary.results = tuple(counted), hearing, results

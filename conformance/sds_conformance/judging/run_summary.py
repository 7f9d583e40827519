"""The data of one run from which verdicts are computed. It is extracted in the process that played the run, which can
then drop the trace.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from sds_harness.declaration import Declaration
from sds_harness.faults import Breakdown
from sds_harness.trace import Trace

from .deafness import Hearing
from .garbage import garbage_collection_paused
from .judgement import Observation
from .observations import Applicable, CheckResult, CheckResults, observe
from .positions import WayReader, Ways
from .rules import Rules


@dataclass(slots=True)
class ReportedObservation:
    """One observation to report, with its place."""

    check: str
    participant: str
    channel_id: str
    observation: Observation
    stderr: tuple[str, ...]
    """Lines that the implementation wrote to stderr at that step."""


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


@dataclass
class RunSummary:
    """The results of one run. Plain data, because another process may have played the run."""

    run: str
    environment: str
    declaration: Declaration
    steps: int
    recorded: int = 0
    """First line of the run in the transcript; 0 without a transcript."""
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
            trace.environment,
            trace.declaration,
            len(trace.steps),
            trace.recorded,
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
        self._checks_for: dict[frozenset[int], Applicable] = {}
        """Cache: maps the set of declared capabilities to the applicable checks."""

    def judge(self, trace: Trace[Any]) -> RunSummary:
        summary = RunSummary.from_trace(trace)
        try:
            sights = self._apply_checks(trace, summary)
        except Exception as error:  # an error of the suite must not become a verdict on the implementation
            summary.reading_error = f"{trace.schedule}: {type(error).__name__}: {error}"
            return summary
        summary.counted = tuple(sights)
        summary.hearing = sights.hearing
        summary.results = {
            requirement: _merge_check_results(seen, trace) for requirement, seen in sights.items() if seen
        }
        return summary

    def _apply_checks(self, trace: Trace[Any], summary: RunSummary) -> CheckResults:
        with garbage_collection_paused():
            views = self._rules.views(trace)
            if self._ways is not None:
                summary.ways = self._ways.read(trace, views)
            return observe(self._rules, trace, views, self._applicable_checks(trace.declaration))

    def _applicable_checks(self, declared: Declaration) -> Applicable:
        known = self._checks_for.get(declared.capabilities)
        if known is None:
            applicable = Applicable(self._rules.register, self._requirements, declared)
            known = self._checks_for[declared.capabilities] = applicable
        return known


def report_observation(sight: CheckResult, observation: Observation, trace: Trace[Any]) -> ReportedObservation:
    """Return an observation of a check with its place."""
    step = observation.step
    stderr = trace.steps[step - 1].stderr if 0 < step <= len(trace.steps) else ()
    return ReportedObservation(sight.check.name, sight.participant, sight.channel_id, observation, stderr)


def _merge_check_results(seen: Iterable[CheckResult], trace: Trace[Any]) -> RequirementResult:
    met = RequirementResult()
    for sight in seen:
        if sight.error:
            met.error = sight.error
        if sight.places:
            met.places[sight.accepted_any] = met.places.get(sight.accepted_any, 0) + sight.places
        # If the participant showed no message, requirements that were met do not count.
        met.exercised += sight.places - (sight.held if sight.accepted_any is False else 0)
        met.reported += [report_observation(sight, observation, trace) for observation in sight.reported]
    return met

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
from .observations import ApplicableChecks, CheckResult, ReportedObservation, apply_checks, counting_requirements
from .positions import WayReader, Ways
from .rules import Rules


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
        counted = dict.fromkeys(counting_requirements(rules, trace, views, self._requirements))
        results: dict[str, RequirementResult] = {}
        for result in apply_checks(self._checks.select(trace.declaration), accepted):
            if result.check.requirement in counted:
                results.setdefault(result.check.requirement, RequirementResult()).add(result, trace)
        hearing = Hearing()
        for view in views:
            hearing.add(rules.count_shown_messages(view))
        summary.counted, summary.hearing, summary.results = tuple(counted), hearing, results

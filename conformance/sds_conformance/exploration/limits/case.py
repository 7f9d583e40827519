"""Plays a dimension at one size, and judges the trace by all checks."""

from __future__ import annotations

import math
import time
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

import psutil

from sds_harness.faults import Breakdown, FaultKind
from sds_harness.stage import NEEDS, Stage
from sds_harness.trace import Step, Trace

from ...judging.registry import Run, Scenario
from ...judging.rules import Rules
from ...judging.run_summary import RunSummary, TraceJudge
from ...judging.runner import Runner
from ...judging.verdict import RANK, Finding, Verdict, finding_of, severity_of
from ...protocols.dimensions import Dimension


class SizeOutcome(Enum):
    """Kinds of results of playing a dimension at one size."""

    HELD = "held"
    WRONG = "wrong"
    """A requirement was violated."""
    UNMET = "expectation not met"
    """An expectation of a scenario file was not met."""
    REFUSED = "refused"
    LOST = "lost"
    """Messages were accepted but not processed, at a size at which no requirement demands processing."""
    CRASHED = "crashed"
    """The conversation ended or became invalid."""
    SLOW = "slow"
    MEMORY = "out of memory"
    LACKING = "not declared"
    """The implementation does not declare a capability that the dimension needs."""
    UNREACHED = "not reached"
    """The time or the memory of the harness was used up."""
    OURS = "error"
    """The suite itself failed."""

    @property
    def limits(self) -> bool:
        """Does the result mean that the implementation failed at this size?"""
        return self in _LIMITS


_LIMITS = {
    SizeOutcome.WRONG,
    SizeOutcome.UNMET,
    SizeOutcome.REFUSED,
    SizeOutcome.LOST,
    SizeOutcome.CRASHED,
    SizeOutcome.SLOW,
    SizeOutcome.MEMORY,
}
_BREAKDOWNS = {
    FaultKind.HANG: SizeOutcome.SLOW,
    FaultKind.OUT_OF_MEMORY: SizeOutcome.MEMORY,
    FaultKind.TOO_MUCH: SizeOutcome.UNREACHED,
    FaultKind.TOO_LONG: SizeOutcome.UNREACHED,
    FaultKind.OUT_OF_TIME: SizeOutcome.UNREACHED,
}
"""The result for each kind of breakdown that is not a crash."""


@dataclass(frozen=True)
class SizeResult:
    """The result of playing a dimension at one size, with its finding and duration."""

    size: int
    outcome: SizeOutcome
    reason: str = ""
    """A description of what happened, if there is no finding."""
    finding: Finding | None = None
    """The worst finding that is new at this size."""
    failing: frozenset[str] = field(default=frozenset(), repr=False)
    """All violated requirements."""
    steps: int = 0
    spent_s: float = 0.0
    """CPU seconds that the implementation used for the timed operations; 0 if the dimension is not timed."""
    seconds: float = 0.0
    """Duration in seconds, including the judging."""

    @property
    def held(self) -> bool:
        return self.outcome is SizeOutcome.HELD

    @property
    def same_as(self) -> tuple[SizeOutcome, str]:
        """Key for comparing two cases: equal keys mean the same result."""
        return self.outcome, self.finding.requirement if self.finding is not None else ""

    def describe(self) -> str:
        """Describe the finding; if there is none, give the reason for the outcome."""
        if self.finding is None:
            return self.reason
        return f"{self.finding.expected}; seen: {self.finding.seen}" if self.finding.expected else self.finding.seen


class Cases:
    """Plays dimensions on one implementation."""

    def __init__(self, runner: Runner, rules: Rules, requirements: Iterable[str], *, strict: bool = False) -> None:
        self.runner = runner
        self._rules = rules
        self._strict = strict
        self._trace_judge = TraceJudge(rules, requirements)

    def play(self, dimension: Dimension, size: int, known: frozenset[str] = frozenset()) -> SizeResult:
        """Play the dimension at one size. Requirements in ``known`` are violated at any size, so they do not count."""
        began = time.perf_counter()
        parts: list[str] = []
        spent: list[float] = []

        def play(stage: Stage[Any]) -> None:
            pid = stage.session.link.pid
            before_s = _spent_s(pid) if dimension.timed else 0.0
            parts.append(dimension.play(stage, size))
            spent.append(_spent_s(pid) - before_s if dimension.timed else 0.0)

        before = len(self.runner.breakdowns)
        trace = self.runner.trace_of(Run(Scenario(f"{dimension.name}-{size}", play, ())))
        if trace is None:
            broken = self.runner.breakdowns[before].breakdown
            return SizeResult(
                size, _breakdown_outcome(broken, dimension, size), _detail(broken), seconds=time.perf_counter() - began
            )
        # Timed dimensions are not judged: other dimensions play the same operations and are judged.
        summary = RunSummary.from_trace(trace) if dimension.timed else self._trace_judge.judge(trace)
        findings = self._findings(summary)
        new = [finding for finding in findings if finding.requirement not in known]
        how, why = _result_of(trace, summary, bool(new), "".join(parts))
        if trace.breakdown is not None:
            how, why = _breakdown_outcome(trace.breakdown, dimension, size), _detail(trace.breakdown)
        about = dimension.about
        worst = min(
            new, key=lambda f: (-RANK[f.severity], f.requirement not in about, f.step, f.requirement), default=None
        )
        return SizeResult(
            size,
            how,
            why,
            worst if how.limits else None,
            frozenset(finding.requirement for finding in findings),
            len(trace.steps),
            math.fsum(spent),
            time.perf_counter() - began,
        )

    def _findings(self, summary: RunSummary) -> list[Finding]:
        """Return failures and warnings: the first one of each requirement and severity."""
        out: dict[tuple[str, Verdict], Finding] = {}
        for requirement_id, met in summary.results.items():
            requirement = self._rules.catalogue.requirements[requirement_id]
            for reported in met.reported:
                severity = severity_of(requirement, reported.observation, strict=self._strict)
                if severity is not Verdict.PASS and (requirement_id, severity) not in out:
                    out[requirement_id, severity] = finding_of(requirement_id, reported, severity, requirement.softened)
        return list(out.values())


def _result_of(trace: Trace[Any], summary: RunSummary, violated: bool, stop_reason: str) -> tuple[SizeOutcome, str]:
    """Return the kind of result that a trace without a breakdown has, and the reason for it."""
    ours = (
        trace.suite_error
        or summary.reading_error
        or next((met.error for met in summary.results.values() if met.error), "")
    )
    if ours:
        return SizeOutcome.OURS, ours
    if NEEDS in trace.stopped:
        return SizeOutcome.LACKING, trace.stopped.partition(NEEDS)[2]
    refused = next(
        (step for step in trace.steps if step.answer == "rejected" and not _is_repetition(step, trace)), None
    )
    if refused is not None:
        reason = refused.reply.rejected.reason if refused.reply is not None else ""
        return SizeOutcome.REFUSED, f"step {refused.index}, {refused.command}: {reason or 'no reason given'}"
    if trace.unchecked:
        return SizeOutcome.LACKING, trace.unchecked.removeprefix(NEEDS)
    if violated or trace.stopped:
        return SizeOutcome.WRONG, trace.stopped
    if trace.unmet:
        return SizeOutcome.UNMET, stop_reason
    if stop_reason:
        return SizeOutcome.LOST, stop_reason
    return SizeOutcome.HELD, ""


def _is_repetition(refused: Step, trace: Trace[Any]) -> bool:
    """Was the same request accepted before? A repetition may be rejected."""

    def normalized_request(step: Step) -> Any:
        request = type(step.request)()
        request.CopyFrom(step.whole_request)
        request.id = getattr(request, step.command).now_ms = 0
        return request

    what = normalized_request(refused)
    earlier = (step for step in trace.of(refused.participant) if step.index < refused.index)
    return any(
        step.command == refused.command and step.answer != "rejected" and normalized_request(step) == what
        for step in earlier
    )


def _breakdown_outcome(breakdown: Breakdown, dimension: Dimension, size: int) -> SizeOutcome:
    """Return the result of a breakdown. A reply that is too large for a frame is allowed beyond the demanded size."""
    if breakdown.kind is FaultKind.OVERSIZED and size > dimension.demanded:
        return SizeOutcome.UNREACHED
    return _BREAKDOWNS.get(breakdown.kind, SizeOutcome.CRASHED)


def _detail(breakdown: Breakdown) -> str:
    return f"{breakdown.kind.value}: {breakdown.detail}"


def _spent_s(pid: int | None) -> float:
    """CPU seconds that process ``pid`` and its children have used; None means this process. Wall time would depend on
    other processes.
    """
    if pid is None:
        return time.process_time()
    total = 0.0
    with suppress(psutil.Error):
        process = psutil.Process(pid)
        for one in (process, *process.children(recursive=True)):
            with suppress(psutil.Error):
                times = one.cpu_times()
                total += times.user + times.system
    return total

"""Replays the failures of a run: a root cause whose scenario does not fail every time is reported as flaky.

Few runs are replayed, however many failed: the reported scenario of each root cause, and one run for each kind of
breakdown. Each replay uses a new process, so that earlier runs cannot influence it.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial

from sds_harness.faults import FaultKind
from sds_harness.link import Limits

from .certification import Certification
from .finding_replays import ENOUGH, TIMES, FindingReplays
from .registry import Run
from .runner import Connect, Runner
from .verdict import RANK, Finding, Judge, Verdict

MOST_RUNS = 10
"""Maximum number of runs that are replayed because a requirement fails in them."""
MOST_BREAKDOWNS = 3
"""Maximum number of breakdowns that are replayed. A hanging implementation takes the full timeout each time."""


@dataclass
class _FailedRun:
    """One run to replay, and the failures to look for."""

    run: Run
    findings: dict[str, Finding] = field(default_factory=dict)
    """Findings by requirement."""
    broke: FaultKind | None = None

    @property
    def failures(self) -> list[str]:
        return [*self.findings, *([self.broke.value] if self.broke is not None else [])]

    @property
    def enough(self) -> int:
        return ENOUGH if self.findings else 1


def replay_failures(
    outcome: Certification,
    connect: Connect,
    limits: Limits,
    *,
    dialect: str | None = None,
    progress: Callable[[str, int, int], None] = lambda *_: None,
) -> None:
    """Replay the failures, and store in the outcome how often each was reproduced.

    An interrupt ends the replays. The arguments are those of `certify`: without a ``dialect`` the declared one is used.
    """
    if outcome.interrupted or outcome.gave_up:
        return
    chosen, began = _select_runs(outcome), time.monotonic()
    try:
        for number, played in enumerate(chosen):
            progress(played.run.name, number, len(chosen))
            again = _replay_run(played, partial(_replay_failures, outcome, played, connect, limits, dialect))
            _store_replays(outcome, played, again)
    except KeyboardInterrupt:
        pass  # all runs are done, and their findings remain valid
    outcome.seconds += time.monotonic() - began


def _select_runs(outcome: Certification) -> list[_FailedRun]:
    runs = {run.name: run for run in outcome.plan.runs}
    chosen: dict[str, _FailedRun] = {}
    for cause in outcome.causes:
        finding = next((f for f in cause.verdict.findings if f.severity is Verdict.FAIL), None)
        if finding is not None and (finding.run in chosen or len(chosen) < MOST_RUNS):
            played = chosen.setdefault(finding.run, _FailedRun(runs[finding.run]))
            played.findings[finding.requirement] = finding
    kinds = set[tuple[FaultKind, str, str]]()
    for broken in outcome.breakdowns:
        kind = (broken.breakdown.kind, broken.breakdown.detail, broken.command)
        if broken.where in runs and kind not in kinds and len(kinds) < MOST_BREAKDOWNS:
            kinds.add(kind)
            chosen.setdefault(broken.where, _FailedRun(runs[broken.where])).broke = broken.breakdown.kind
    return list(chosen.values())


def _replay_run(played: _FailedRun, shown_once: Callable[[], list[str]]) -> dict[str, FindingReplays]:
    """Return how often each failure was reproduced."""
    counts: Counter[str] = Counter()
    times = 0
    while times < TIMES and not (times >= played.enough and all(counts[what] == times for what in played.failures)):
        times += 1
        counts.update(shown_once())
    return {what: FindingReplays(counts[what], times) for what in played.failures}


def _replay_failures(
    outcome: Certification, played: _FailedRun, connect: Connect, limits: Limits, dialect: str | None
) -> list[str]:
    """Replay a run once in a new process; return the failures that were reproduced."""
    plan = outcome.plan
    runner = Runner(connect, limits, plan.rules, plan.revision, dialect, outcome.declaration)
    try:
        trace = runner.trace_of(played.run)
        if trace is None:
            return []
        judge = Judge(plan.rules, played.findings, strict=outcome.strict)
        judge.add(trace, played.run)
        found = [finding for verdict in judge.verdicts() for finding in verdict.findings]
        reproduced = [
            what for what, before in played.findings.items() if any(_is_reproduced(before, now) for now in found)
        ]
        broke = trace.breakdown is not None and trace.breakdown.kind is played.broke
        return [*reproduced, *([played.broke.value] if played.broke is not None and broke else [])]
    finally:
        runner.kill()


def _is_reproduced(before: Finding, now: Finding) -> bool:
    return now.is_like(before) and RANK[now.severity] >= RANK[before.severity]


def _store_replays(outcome: Certification, played: _FailedRun, again: dict[str, FindingReplays]) -> None:
    for verdict in outcome.verdicts:
        if verdict.requirement.id in played.findings:
            verdict.replays = again[verdict.requirement.id]
    for place, broken in enumerate(outcome.breakdowns):
        if played.broke is not None and broken.where == played.run.name:
            outcome.breakdowns[place] = replace(broken, replays=again[played.broke.value])

"""Playing again what failed in a run: a root cause whose scenario does not fail each time is flaky, and told as that.

Few things are played again, whatever has failed: the scenario that is told of each root cause, and a breakdown of each
sort. Each time it is another process, so that nothing is left in it of what was played before.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial

from sds_harness.faults import FaultKind
from sds_harness.link import Limits

from .again import ENOUGH, TIMES, Again
from .certification import Certification
from .registry import Run
from .runner import Connect, Runner
from .verdict import RANK, Finding, Judge, Verdict

MOST_RUNS = 10
"""Scenarios that are played again because requirements fail there."""
MOST_BREAKDOWNS = 3
"""And because the conversation broke. One that hangs takes all the time it has."""


@dataclass
class _Played:
    """What is looked for in one run."""

    run: Run
    findings: dict[str, Finding] = field(default_factory=dict)
    """By requirement: what failed there."""
    broke: FaultKind | None = None

    @property
    def wanted(self) -> list[str]:
        return [*self.findings, *([self.broke.value] if self.broke is not None else [])]

    @property
    def enough(self) -> int:
        return ENOUGH if self.findings else 1


def repeat(
    outcome: Certification,
    connect: Connect,
    limits: Limits,
    *,
    dialect: str | None = None,
    progress: Callable[[str, int, int], None] = lambda *_: None,
) -> None:
    """Play again what failed, and note in the outcome how often it came back. An interrupt ends it.

    It is driven as by `certify`: without a ``dialect`` in the one that it declares.
    """
    if outcome.interrupted or outcome.gave_up:
        return
    chosen, began = _chosen(outcome), time.monotonic()
    try:
        for number, played in enumerate(chosen):
            progress(played.run.name, number, len(chosen))
            again = _repeated(played, partial(_shown, outcome, played, connect, limits, dialect))
            _note(outcome, played, again)
    except KeyboardInterrupt:
        pass  # all was played, and what was found stands
    outcome.seconds += time.monotonic() - began


def _chosen(outcome: Certification) -> list[_Played]:
    """The runs to play again, with what to look for."""
    runs = {run.name: run for run in outcome.plan.runs}
    chosen: dict[str, _Played] = {}
    for cause in outcome.causes:
        finding = next((f for f in cause.verdict.findings if f.severity is Verdict.FAIL), None)
        if finding is not None and (finding.run in chosen or len(chosen) < MOST_RUNS):
            played = chosen.setdefault(finding.run, _Played(runs[finding.run]))
            played.findings[finding.requirement] = finding
    sorts = set[tuple[FaultKind, str, str]]()
    for broken in outcome.breakdowns:
        sort = (broken.breakdown.kind, broken.breakdown.detail, broken.command)
        if broken.where in runs and sort not in sorts and len(sorts) < MOST_BREAKDOWNS:
            sorts.add(sort)
            chosen.setdefault(broken.where, _Played(runs[broken.where])).broke = broken.breakdown.kind
    return list(chosen.values())


def _repeated(played: _Played, shown_once: Callable[[], list[str]]) -> dict[str, Again]:
    """How often each thing came back."""
    shown: Counter[str] = Counter()
    times = 0
    while times < TIMES and not (times >= played.enough and all(shown[what] == times for what in played.wanted)):
        times += 1
        shown.update(shown_once())
    return {what: Again(shown[what], times) for what in played.wanted}


def _shown(outcome: Certification, played: _Played, connect: Connect, limits: Limits, dialect: str | None) -> list[str]:
    """What came back of it, played once in a fresh process."""
    plan = outcome.plan
    runner = Runner(connect, limits, plan.rules, plan.revision, dialect, outcome.declaration)
    try:
        for run, trace in runner.play([played.run]):
            judge = Judge(plan.rules, played.findings, strict=outcome.strict)
            judge.add(trace, run)
            found = [finding for verdict in judge.verdicts() for finding in verdict.findings]
            back = [what for what, before in played.findings.items() if any(_shows_again(before, now) for now in found)]
            broke = trace.breakdown is not None and trace.breakdown.kind is played.broke
            return [*back, *([played.broke.value] if played.broke is not None and broke else [])]
        return []
    finally:
        runner.kill()


def _shows_again(before: Finding, now: Finding) -> bool:
    return now.is_like(before) and RANK[now.severity] >= RANK[before.severity]


def _note(outcome: Certification, played: _Played, again: dict[str, Again]) -> None:
    for verdict in outcome.verdicts:
        if verdict.requirement.id in played.findings:
            verdict.again = again[verdict.requirement.id]
    for place, broken in enumerate(outcome.breakdowns):
        if played.broke is not None and broken.where == played.run.name:
            outcome.breakdowns[place] = replace(broken, again=again[played.broke.value])

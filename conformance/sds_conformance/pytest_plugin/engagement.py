"""Drives the implementation in a pytest session. Each run is played once, when its result is first needed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import pytest

from sds_harness.declaration import Declaration, printable
from sds_harness.faults import FaultKind, TesteeError
from sds_harness.stage import Stage
from sds_harness.trace import Trace

from ..judging.certification import Certification
from ..judging.plan import find_unplayable_environments
from ..judging.registry import Run, Scenario
from ..judging.rules import UnknownDialectError
from ..judging.runner import BrokenRun, Runner, tolerated_breakdowns
from ..judging.verdict import RANK, Judge, RequirementVerdict, Verdict
from .session_options import SessionOptions
from .stories import LONGEST, StoryError, brief_of, describe_breakdown, story_of

UNDRIVEN = "the implementation could not be tested: the first error says why"
GAVE_UP = "inconclusive: not played: too many breakdowns"


@dataclass(frozen=True)
class RunVerdict:
    """The verdict on one requirement from one run, without the trace, because a session has thousands of verdicts."""

    verdict: Verdict
    exercised: int = 0
    reason: str = ""
    story: str = ""
    """The story of a failure or warning; "" otherwise."""
    brief: str = ""
    """The failure or warning in one sentence."""
    codes: frozenset[str] = frozenset()


@dataclass(frozen=True)
class RunOutcome:
    """The data of one run that its items need: verdicts, the breakdown, and expectations that were not met."""

    judged: Mapping[str, RunVerdict] = field(default_factory=dict)
    """Maps requirements to verdicts: the requirements of the run's scenario, and other requirements that the run
    violates.
    """
    exercised_beside: int = 0
    """Number of observations of the requirements for which the scenario was not written."""
    broke: StoryError | None = None
    error: str = ""
    """The exception that the scenario raised, which is an error of the suite; "" if there was none."""
    surprises: tuple[str, ...] = ()
    """The expectations of the file that were not met, a sentence each."""
    unchecked: str = ""
    """Why the expectations of the file were not checked; "" if they were."""
    unplayed: str = ""
    """Why the run was not played; "" if it was."""


class Engagement:
    """The implementation of a pytest session, and the results of its runs."""

    def __init__(self, asked: SessionOptions) -> None:
        self.asked = asked
        what = asked.what
        self._runner = Runner(asked.connect, asked.limits, what.rules, what.revision, asked.dialect)
        self._declaration: Declaration | None = None
        self._left_out: Mapping[str, str] = {}
        self._undriven = False
        self._outcomes: dict[str, RunOutcome] = {}
        self._runs_for: dict[str, list[Run]] = {}
        for run in what.runs:
            for requirement in run.scenario.exercises:
                self._runs_for.setdefault(requirement, []).append(run)

    def start(self) -> None:
        """Perform the handshake once.

        If the handshake fails, the first call raises StoryError, and later calls skip the item.
        """
        if self._undriven:
            pytest.skip(UNDRIVEN)
        if self._declaration is not None:
            return
        what = self.asked.what
        try:
            declared = self._runner.start()
            known = self._runner.dialect  # read the dialect now, so that an unknown dialect is reported only once
        except TesteeError as fault:
            self._undriven = True
            raise describe_breakdown(BrokenRun.at_last_step("handshake", fault.breakdown)) from None
        except UnknownDialectError as error:
            self._undriven = True
            sentence = printable(str(error), LONGEST)
            raise StoryError(sentence, sentence) from None
        self._dialect = known.name if known is not None else ""
        self._left_out = find_unplayable_environments(
            what.environments, declared, what.rules.revisions[what.revision], False
        )
        self._declaration = declared

    def honesty(self) -> None:
        """Check the reply to an unknown command. Raises StoryError if it was not rejected."""
        self.start()
        for broken in self._runner.breakdowns:
            if broken.breakdown.kind is FaultKind.DISHONEST or broken.where == "honesty probe":
                raise describe_breakdown(broken)

    def outcome(self, run: Run) -> RunOutcome:
        """Return the result of a run. Play the run if it was not played yet."""
        if run.name not in self._outcomes:
            self._outcomes[run.name] = self._play(run)
        return self._outcomes[run.name]

    def unrelated_findings(self, run: Run) -> dict[str, RunVerdict]:
        """Return the findings of a run about requirements for which its scenario was not written.

        A finding is left out if a run of a scenario that was written for its requirement shows it as well.

        If needed, the runs for these requirements are played first, so the result does not depend on the order of the
        items.
        """
        found = self.outcome(run).judged
        beside = {r: judged for r, judged in found.items() if r not in run.scenario.exercises}
        return {r: judged for r, judged in beside.items() if not self._is_shown_by_own_runs(r, judged.verdict)}

    def enter(self, scenario: Scenario) -> Stage[Any]:
        """Return the stage for a user's own schedule, in the plain environment.

        Skips the test if the implementation broke down too often. Raises StoryError if the handshake fails.
        """
        self.start()
        if self._runner.gave_up:
            pytest.skip(GAVE_UP)
        stage = self._runner.stage(Run(scenario))
        if stage is None:
            raise describe_breakdown(self._runner.breakdowns[-1])
        return stage

    @property
    def play_context(self) -> Any:
        """See `Runner.play_context`."""
        return self._runner.play_context

    def judge(
        self, trace: Trace[Any], requirements: Iterable[str], run: Run | None = None
    ) -> tuple[list[RequirementVerdict], Certification]:
        """Return the verdicts on one trace, and a certification of this trace, from which stories are printed."""
        judge = Judge(self.asked.what.rules, requirements, strict=self.asked.strict)
        judge.add(trace, run)
        assert self._declaration is not None
        outcome = Certification(self.asked.what, self._declaration, self._dialect, self.asked.strict)
        outcome.traces = {trace.schedule: trace}
        return judge.verdicts(), outcome

    def known_reason(self, run: Run, requirement: str, judged: RunVerdict) -> str:
        """Return the reasons in the baseline why a failure is expected; "" if the baseline lacks one of its codes."""
        baseline = self.asked.baseline
        if judged.verdict is not Verdict.FAIL or baseline is None:
            return ""
        reasons = []
        for code in sorted(judged.codes):
            entry = next((e for e in baseline.entries if e.covers(requirement, code, run.scenario.name, "run")), None)
            if entry is None:
                return ""
            reasons.append(printable(entry.reason, LONGEST) or "the baseline lists the failure")
        return "; ".join(dict.fromkeys(reasons))

    def close(self) -> list[BrokenRun]:
        """End the process, and return the breakdowns that fail nothing, such as a process that does not exit."""
        self._runner.close()
        return [broken for broken in self._runner.breakdowns if broken.breakdown.kind.value in tolerated_breakdowns()]

    def kill(self) -> None:
        """Kill the process of the implementation."""
        self._runner.kill()

    def _play(self, run: Run) -> RunOutcome:
        self.start()
        if why := self._left_out.get(run.environment.name):
            return RunOutcome(unplayed=why)
        if self._runner.gave_up:
            return RunOutcome(unplayed=GAVE_UP)
        stage = self._runner.stage(run)
        if stage is None:
            return RunOutcome(broke=describe_breakdown(self._runner.breakdowns[-1]))
        with self._runner.play_context(stage):
            run.scenario.function(stage)
        trace = stage.trace
        verdicts, outcome = self.judge(trace, self.asked.what.requirements, run)
        broke = None
        if trace.breakdown is not None:
            again = self.asked.invocation.play(run.name, trace.environment)
            broke = describe_breakdown(BrokenRun.at_last_step(run.name, trace.breakdown, trace), trace, again)
        judged, beside = dict(self._worth_keeping(verdicts, outcome, run)), 0
        for verdict in verdicts:
            if verdict.requirement.id not in run.scenario.exercises:
                beside += verdict.exercised
        return RunOutcome(judged, beside, broke, trace.suite_error, surprises(run, trace), trace.unchecked)

    def _worth_keeping(
        self, verdicts: Iterable[RequirementVerdict], outcome: Certification, run: Run
    ) -> Iterator[tuple[str, RunVerdict]]:
        for verdict in verdicts:
            name = verdict.requirement.id
            if verdict.verdict in (Verdict.FAIL, Verdict.WARN, Verdict.ERROR):
                again = self.asked.invocation.replay(name, verdict.worst)
                story = story_of(verdict, outcome, again), brief_of(verdict)
                codes = frozenset(f.code for f in verdict.findings if f.severity is verdict.verdict)
                yield name, RunVerdict(verdict.verdict, verdict.exercised, verdict.reason, *story, codes)
            elif name in run.scenario.exercises:
                yield name, RunVerdict(verdict.verdict, verdict.exercised, verdict.reason)

    def _is_shown_by_own_runs(self, requirement: str, verdict: Verdict) -> bool:
        runs = sorted(self._runs_for.get(requirement, ()), key=lambda run: run.name not in self._outcomes)
        shown = (self.outcome(run).judged.get(requirement) for run in runs)
        return any(judged is not None and RANK.get(judged.verdict, 0) >= RANK.get(verdict, 3) for judged in shown)


def surprises(run: Run, trace: Trace[Any]) -> tuple[str, ...]:
    """Return a sentence for each expectation of a scenario file that was not met: place, expected, and seen."""
    file = run.scenario.file
    if file is None:
        return ()
    out = []
    for index, seen in trace.unmet:
        line, expected = file.expected[index] if index >= 0 else (0, "the participants stop sending messages")
        place = f"{file.path}, line {line}" if line else file.path
        out.append(printable(f"{place}: expected: {expected}; seen: {seen}", LONGEST))
    return tuple(out)

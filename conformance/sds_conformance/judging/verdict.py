"""Verdicts: what all observations of all traces say about each requirement."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

from sds_harness.declaration import Declaration, printable
from sds_harness.environment import PLAIN
from sds_harness.stage import NEEDS
from sds_harness.trace import Trace

from .catalogue import Requirement
from .judgement import Observation, Outcome
from .registry import Check, Run, scenario_of
from .rules import Rules, View

OBSERVE = "observe"
"""The capability to show the state, in every language that has it."""
MAX_FINDINGS = 5
"""Findings kept of one requirement; the rest are counted."""
MAX_OF_ONE_RUN = 2
MAX_TEXT = 400
"""Characters of what was expected and seen: IDs in it come from the implementation."""


class Verdict(Enum):
    """The verdict on one requirement."""

    PASS = "pass"
    FAIL = "fail"
    WARN = "warn"
    """A SHOULD was violated, or a MUST that a position softens."""
    INCONCLUSIVE = "inconclusive"
    """Not exercised, or the implementation broke before."""
    SKIPPED = "skipped"
    """A capability is not declared."""
    ERROR = "error"
    """The suite itself failed."""


RANK = {Verdict.PASS: 0, Verdict.WARN: 1, Verdict.FAIL: 2}
"""How bad a finding is."""


@dataclass(frozen=True)
class Finding:
    """One place where a requirement was violated, or where there is something to tell."""

    requirement: str
    check: str
    run: str
    """Name of the scenario, with that of the environment."""
    environment: str
    participant: str
    channel_id: str
    step: int
    expected: str
    seen: str
    position: str
    severity: Verdict
    """FAIL, WARN, or PASS for a note."""
    recorded: int = field(default=0, compare=False)
    """The line of the transcript with which its trace begins, 0 without one."""

    @property
    def scenario(self) -> str:
        return scenario_of(self.run)


def severity_of(requirement: Requirement, observation: Observation, *, strict: bool = False) -> Verdict:
    """How much a violation weighs, PASS for what is only told; ``strict`` lets no position soften it."""
    if observation.outcome is Outcome.NOTED or requirement.optional:
        return Verdict.PASS
    soft = observation.position or requirement.softened
    if requirement.binding and (strict or not soft):
        return Verdict.FAIL
    return Verdict.WARN


def finding_of(
    check: Check, view: View, requirement: Requirement, observation: Observation, severity: Verdict
) -> Finding:
    """What a check has observed, with its place."""
    return Finding(
        check.requirement,
        check.name,
        view.trace.schedule,
        view.trace.environment,
        view.party.name,
        view.channel_id,
        observation.step,
        printable(observation.expected, MAX_TEXT),
        printable(observation.seen, MAX_TEXT),
        observation.position or requirement.softened,
        severity,
        view.trace.recorded,
    )


@dataclass
class RequirementVerdict:
    """The verdict on one requirement, with its evidence."""

    requirement: Requirement
    verdict: Verdict = Verdict.INCONCLUSIVE
    exercised: int = 0
    """Observations: places where the situation arose that the requirement speaks of."""
    places: dict[bool | None, int] = field(default_factory=dict)
    """All such places, by whether the participant took anything of what it was sent there. Where it took nothing, what
    seems right is so for want of messages, and is not counted."""
    traces: int = 0
    """Runs in which it was exercised."""
    findings: list[Finding] = field(default_factory=list)
    findings_dropped: int = 0
    reason: str = ""
    """Why it is inconclusive or skipped, or what went wrong in the suite."""


class Judge:
    """Takes traces one by one, keeps evidence, and gives the verdicts at the end."""

    def __init__(self, rules: Rules, requirement_ids: Iterable[str], *, strict: bool = False) -> None:
        self._rules = rules
        self._register = rules.register
        self._strict = strict
        self._verdicts = {
            requirement_id: RequirementVerdict(rules.catalogue.requirements[requirement_id])
            for requirement_id in requirement_ids
        }
        self._errors: dict[str, str] = {}
        self._obstacles: dict[str, list[str]] = {}
        self._lacking: dict[str, set[str]] = {}
        self._sightings: dict[str, dict[str, int]] = {}
        self._declared: Declaration | None = None
        self._worst: dict[str, Verdict] = {}
        self._checks_for: dict[frozenset[int], dict[str, list[Check]]] = {}
        """By the capabilities that are declared, and by requirement."""

    def add(self, trace: Trace[Any], run: Run | None = None) -> bool:
        """Judge one trace; ``run`` says what it was played for. Was anything found that is worth a word?"""
        try:
            views = self._rules.views(trace)
        except Exception as error:  # a fault of ours must not pass for a verdict on somebody else
            for requirement_id in self._verdicts:
                self._errors.setdefault(requirement_id, f"{trace.schedule}: {type(error).__name__}: {error}")
            return False
        self._declared = trace.declaration
        heard = [self._rules.heard(view) for view in views]
        found = False
        applicable = self._applicable(trace.declaration)
        played_for = frozenset(run.scenario.exercises) if run is not None else frozenset()
        for requirement_id, verdict in self._judged(trace, views).items():
            told = len(verdict.findings) + verdict.findings_dropped
            exercised = sum(
                self._apply(check, view, took, verdict)
                for check in applicable[requirement_id]
                for view, took in zip(views, heard, strict=True)
            )
            verdict.exercised += exercised
            verdict.traces += bool(exercised)
            found |= told != len(verdict.findings) + verdict.findings_dropped
            if requirement_id in played_for and not exercised:
                self._note_obstacle(requirement_id, trace)
            if requirement_id in played_for and trace.suite_error:
                self._errors[requirement_id] = trace.suite_error
            if exercised:
                self._sightings.setdefault(requirement_id, {})[trace.schedule] = exercised
        return found

    def _applicable(self, declared: Declaration) -> dict[str, list[Check]]:
        """The checks of each requirement that have what they need; what they lack is kept for the verdicts."""
        known = self._checks_for.get(declared.capabilities)
        if known is None:
            known = self._checks_for[declared.capabilities] = {}
            for requirement_id in self._verdicts:
                checks = self._register.checks.get(requirement_id, ())
                lacking = {name for check in checks for name in declared.lacking(check.needs)}
                if lacking:
                    self._lacking.setdefault(requirement_id, set()).update(lacking)
                known[requirement_id] = [check for check in checks if not declared.lacking(check.needs)]
        return known

    def _judged(self, trace: Trace[Any], views: Sequence[View]) -> dict[str, RequirementVerdict]:
        """The verdicts that a trace counts for: all, unless its environment presumes what is violated in it."""
        presumed = self._rules.environments[trace.environment].presumes
        presumed = next((r for r in self._register.counterparts.get(presumed, ()) if r in self._verdicts), presumed)
        with suppress(Exception):  # an error in it is noted where the check is applied
            if any(
                observation.outcome is Outcome.VIOLATED
                for check in self._register.checks.get(presumed, ())
                for view in views
                for observation in check.function(view)
            ):
                return {presumed: self._verdicts[presumed]} if presumed in self._verdicts else {}
        return self._verdicts

    def unplayed(self, run: Run, why: str) -> None:
        """A run was not played at all."""
        for requirement_id in run.scenario.exercises:
            self._obstacles.setdefault(requirement_id, []).append(f"{run.name}: {why}")

    def sightings(self, requirement_id: str) -> dict[str, int]:
        """Runs in which the requirement was exercised, with the number of observations."""
        return self._sightings.get(requirement_id, {})

    def verdicts(self) -> list[RequirementVerdict]:
        """The verdicts, in the order of the catalogue."""
        for requirement_id, verdict in self._verdicts.items():
            verdict.verdict, verdict.reason = self._conclude(requirement_id, verdict)
        return list(self._verdicts.values())

    def _apply(self, check: Check, view: View, took: bool | None, verdict: RequirementVerdict) -> int:
        count = 0
        try:
            for observation in check.function(view):
                verdict.places[took] = verdict.places.get(took, 0) + 1
                if took is False and observation.outcome is Outcome.HELD:
                    continue
                count += 1
                if observation.outcome is not Outcome.HELD:
                    self._keep(check, view, verdict, observation)
        except Exception as error:  # a fault of ours must not pass for a verdict on somebody else
            where = f"{check.name} on {view.trace.schedule}"
            self._errors[check.requirement] = f"{where}: {type(error).__name__}: {error}"
        return count

    def _keep(self, check: Check, view: View, verdict: RequirementVerdict, observation: Observation) -> None:
        severity = severity_of(verdict.requirement, observation, strict=self._strict)
        worst = self._worst.setdefault(check.requirement, severity)
        if RANK[severity] > RANK[worst]:
            self._worst[check.requirement] = severity
        same = [f for f in verdict.findings if f.run == view.trace.schedule and f.severity is severity]
        if len(same) >= MAX_OF_ONE_RUN:
            verdict.findings_dropped += 1
            return
        verdict.findings.append(finding_of(check, view, verdict.requirement, observation, severity))
        # Told are the worst, and of these the ones that are reached in the fewest steps.
        verdict.findings.sort(key=lambda f: (-RANK[f.severity], f.environment != PLAIN.name, f.step))
        if len(verdict.findings) > MAX_FINDINGS:
            verdict.findings_dropped += 1
            verdict.findings.pop()

    def _note_obstacle(self, requirement_id: str, trace: Trace[Any]) -> None:
        if trace.breakdown is not None:
            why = f"the implementation broke down first ({trace.breakdown.kind.value} in {trace.schedule})"
        elif trace.stopped:
            why = f"{trace.schedule}: {trace.stopped}"
        else:
            return
        self._obstacles.setdefault(requirement_id, []).append(why)

    def _conclude(self, requirement_id: str, verdict: RequirementVerdict) -> tuple[Verdict, str]:
        if requirement_id in self._errors:
            return Verdict.ERROR, self._errors[requirement_id]
        worst = self._worst.get(requirement_id, Verdict.PASS)
        if worst is not Verdict.PASS:
            return worst, ""
        if True in verdict.places or (verdict.exercised and False not in verdict.places):
            return Verdict.PASS, ""
        if verdict.places:
            return Verdict.INCONCLUSIVE, "all that others sent was refused, or came to nothing"
        obstacles = self._obstacles.get(requirement_id, [])
        broken = [why for why in obstacles if "broke down" in why]
        if broken:
            return Verdict.INCONCLUSIVE, broken[0]
        excuse = self._rules.excuse(requirement_id, self._declared) if self._declared is not None else ""
        if excuse:
            return Verdict.SKIPPED, excuse
        lacking = self._lacking.get(requirement_id, set())
        needed = [why.partition(NEEDS)[2] for why in obstacles if NEEDS in why]
        if lacking or needed:
            names = sorted(lacking) or needed[:1]
            return Verdict.SKIPPED, f"not declared: {', '.join(names)}"
        if obstacles:
            return Verdict.INCONCLUSIVE, obstacles[0]
        observable = self._declared is None or self._declared.can_by_name(OBSERVE)
        if not observable and self._rules.language.number_of(OBSERVE) is not None:
            return Verdict.SKIPPED, f"not declared: {OBSERVE}"
        return Verdict.INCONCLUSIVE, "not exercised"

"""Verdicts: the result of each requirement from the observations in all traces."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, NamedTuple

from sds_harness.declaration import Declaration, printable
from sds_harness.environment import PLAIN
from sds_harness.stage import NEEDS, NOT_OPENED
from sds_harness.trace import Trace

from .catalogue import Requirement
from .finding_replays import FindingReplays
from .judgement import Observation, Outcome
from .registry import Run, scenario_of
from .rules import Rules
from .run_summary import ReportedObservation, RunSummary, TraceJudge

OBSERVE = "observe"
"""The capability to show the state, in every testee protocol that has it."""
MAX_FINDINGS = 5
"""Maximum number of findings that are stored per requirement. Further findings are only counted."""
MAX_OF_ONE_RUN = 2
MAX_STEPS = 64
"""Maximum number of steps that are stored per run."""
MAX_TEXT = 400
"""Maximum length of ``expected`` and ``seen``, in characters. They contain IDs from the implementation, which can be
long.
"""


class Verdict(Enum):
    """The verdict on one requirement."""

    PASS = "pass"
    FAIL = "fail"
    WARN = "warn"
    """A SHOULD was violated, or a MUST that a position softens."""
    INCONCLUSIVE = "inconclusive"
    """Not exercised, or the implementation broke down before the check could judge the requirement."""
    SKIPPED = "skipped"
    """A needed capability is not declared."""
    ERROR = "error"
    """The suite itself failed."""


RANK = {Verdict.PASS: 0, Verdict.WARN: 1, Verdict.FAIL: 2}
"""The higher the rank, the worse the verdict."""


@dataclass(frozen=True)
class Finding:
    """A violation at one step, or a note."""

    requirement: str
    code: str
    """How the requirement is violated, one of its codes in the catalogue; "" for a note."""
    run: str
    """Name of the run: of the scenario, and of the environment unless this is the plain environment."""
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
    """First line of the run's trace in the transcript; 0 without a transcript."""
    stderr_lines: tuple[str, ...] = field(default=(), compare=False)
    """Lines that the implementation wrote to stderr at that step."""

    @property
    def scenario(self) -> str:
        return scenario_of(self.run)

    @property
    def full_code(self) -> str:
        return full_code(self.requirement, self.code)

    @property
    def severity_name(self) -> str:
        """The name used in files: ``fail``, ``warn`` or ``note``."""
        return "note" if self.severity is Verdict.PASS else self.severity.value

    def is_like(self, other: Finding) -> bool:
        """Do both findings have the same requirement and code?"""
        return (self.requirement, self.code) == (other.requirement, other.code)


def full_code(requirement: str, code: str) -> str:
    """Return requirement and code in the form of reports, such as ``SDS-RECV-06/delivered-early``; only the requirement
    if ``code`` is "".
    """
    return f"{requirement}/{code}" if code else requirement


def severity_of(requirement: Requirement, observation: Observation, *, strict: bool = False) -> Verdict:
    """Return the severity of an observation, PASS for a note; with ``strict``, positions do not soften it."""
    if observation.outcome is Outcome.NOTED or requirement.optional:
        return Verdict.PASS
    soft = observation.position or requirement.softened
    if requirement.is_binding and (strict or not soft):
        return Verdict.FAIL
    return Verdict.WARN


def finding_of(requirement: str, reported: ReportedObservation, severity: Verdict, softened: str = "") -> Finding:
    """Create a finding about a requirement or property; ``softened`` is `Requirement.softened`."""
    observation = reported.observation
    return Finding(
        requirement,
        observation.code,
        reported.run,
        reported.environment,
        reported.participant,
        reported.channel_id,
        observation.step,
        printable(observation.expected, MAX_TEXT),
        printable(observation.seen, MAX_TEXT),
        observation.position or softened,
        severity,
        reported.recorded,
        reported.stderr,
    )


class ViolationKind(NamedTuple):
    """The code and the severity of a violation."""

    code: str
    """One of `Requirement.codes`."""
    severity: str
    """``fail`` or ``warn``."""


@dataclass
class Tally:
    """All violations of one requirement."""

    kinds: dict[ViolationKind, Counter[str]] = field(default_factory=dict)
    """Maps each kind to the number of violations in each scenario."""
    places: dict[str, set[int]] = field(default_factory=dict)
    """Maps each run to the steps that violate the requirement."""

    def add(self, run: str, scenario: str, step: int, kind: ViolationKind) -> None:
        self.kinds.setdefault(kind, Counter())[scenario] += 1
        steps = self.places.setdefault(run, set())
        if len(steps) < MAX_STEPS:
            steps.add(step)

    @property
    def total(self) -> int:
        return sum(sum(scenarios.values()) for scenarios in self.kinds.values())

    @property
    def scenarios(self) -> list[str]:
        """Names of the scenarios with violations, those with the most violations first."""
        counted: Counter[str] = sum(self.kinds.values(), Counter())
        return [name for name, _ in counted.most_common()]


@dataclass
class RequirementVerdict:
    """The verdict on one requirement, with its evidence."""

    requirement: Requirement
    verdict: Verdict = Verdict.INCONCLUSIVE
    exercised: int = 0
    """Number of observations: places where the situation of the requirement arose."""
    places: dict[bool | None, int] = field(default_factory=dict)
    """Number of all observations. The key says whether the participant showed any of the messages that it received
    (None: unknown).

    If the participant showed none, requirements may seem met only because messages are lacking. Such observations are
    not counted in ``exercised``.
    """
    traces: int = 0
    """Number of runs that exercised the requirement."""
    findings: list[Finding] = field(default_factory=list)
    findings_dropped: int = 0
    tally: Tally = field(default_factory=Tally)
    """All violations, including those without a stored finding."""
    checks_by_outcome: dict[Outcome, set[str]] = field(default_factory=dict)
    """Maps each outcome to the names of the checks that observed it."""
    replays: FindingReplays | None = None
    """Result of replaying the reported finding; None if it was not replayed."""
    reason: str = ""
    """Why the verdict is inconclusive or skipped, or the error of the suite."""

    @property
    def worst(self) -> Finding | None:
        """The finding that reports show first; None if none was stored."""
        return next((finding for finding in self.findings if finding.severity is self.verdict), None)


class Judge:
    """Takes the results of runs one by one, stores evidence, and computes the verdicts at the end."""

    def __init__(self, rules: Rules, requirement_ids: Iterable[str], *, strict: bool = False) -> None:
        self._rules = rules
        self._strict = strict
        self._verdicts = {
            requirement_id: RequirementVerdict(rules.catalogue.requirements[requirement_id])
            for requirement_id in requirement_ids
        }
        self._errors: dict[str, str] = {}
        self._obstacles: dict[str, list[str]] = {}
        self._attempts: Counter[str] = Counter()
        """By requirement: the number of selected runs that should exercise it."""
        self._unopened: Counter[str] = Counter()
        """By requirement: the number of these runs that ended because the implementation refused a participant."""
        self._observed: dict[str, dict[str, int]] = {}
        self._declared: Declaration | None = None
        self._worst: dict[str, Verdict] = {}
        self._declarations: dict[frozenset[int], Declaration] = {}
        """By set of capabilities: a declaration of the runs so far."""

    def add(self, trace: Trace[Any], run: Run | None = None) -> None:
        """Judge one trace; ``run`` is the run in which the trace was recorded."""
        self.take(TraceJudge(self._rules, self._verdicts).judge(trace), run)

    def take(self, summary: RunSummary, run: Run | None = None) -> None:
        """Add the results of a run."""
        self._declared = summary.declaration
        self._declarations.setdefault(summary.declaration.capabilities, summary.declaration)
        if summary.reading_error:
            for requirement_id in self._verdicts:
                self._errors.setdefault(requirement_id, summary.reading_error)
            return
        for requirement_id, met in summary.results.items():
            verdict = self._verdicts[requirement_id]
            verdict.exercised += met.exercised
            verdict.traces += bool(met.exercised)
            for took, places in met.places.items():
                verdict.places[took] = verdict.places.get(took, 0) + places
            if met.error:
                self._errors[requirement_id] = met.error
            for reported in met.reported:
                self._keep(summary, verdict, reported)
            if met.exercised:
                self._observed.setdefault(requirement_id, {})[summary.run] = met.exercised
        for requirement_id in run.scenario.exercises if run is not None else ():
            self._attempts[requirement_id] += 1
            self._unopened[requirement_id] += summary.stopped.startswith(NOT_OPENED)
            if requirement_id not in self._verdicts or requirement_id not in summary.counted:
                continue
            if requirement_id not in summary.results or not summary.results[requirement_id].exercised:
                self._note_obstacle(requirement_id, summary)
            if summary.suite_error:
                self._errors[requirement_id] = summary.suite_error

    @property
    def failed_requirements(self) -> list[str]:
        """The requirements that have failed so far, and those with an error of the suite."""
        return [*self._errors, *(what for what, worst in self._worst.items() if worst is Verdict.FAIL)]

    def record_unplayed(self, run: Run, why: str) -> None:
        """Record why a run was not played."""
        for requirement_id in run.scenario.exercises:
            self._attempts[requirement_id] += 1
            self._obstacles.setdefault(requirement_id, []).append(f"{run.name}: {why}")

    @property
    def evidence(self) -> Iterable[RequirementVerdict]:
        """The evidence so far. The verdicts in it are not computed yet."""
        return self._verdicts.values()

    def sightings(self, requirement_id: str) -> dict[str, int]:
        """Runs that exercised the requirement, with the number of observations."""
        return self._observed.get(requirement_id, {})

    def verdicts(self) -> list[RequirementVerdict]:
        """Compute the verdicts, in the order of the catalogue."""
        for requirement_id, verdict in self._verdicts.items():
            verdict.verdict, verdict.reason = self._conclude(requirement_id, verdict)
        return list(self._verdicts.values())

    def _keep(self, summary: RunSummary, verdict: RequirementVerdict, reported: ReportedObservation) -> None:
        requirement, observation = verdict.requirement, reported.observation
        verdict.checks_by_outcome.setdefault(observation.outcome, set()).add(reported.check)
        severity = severity_of(requirement, observation, strict=self._strict)
        worst = self._worst.setdefault(requirement.id, severity)
        if RANK[severity] > RANK[worst]:
            self._worst[requirement.id] = severity
        if severity is not Verdict.PASS:
            kind = ViolationKind(observation.code, severity.value)
            verdict.tally.add(summary.run, scenario_of(summary.run), observation.step, kind)
        same = [f for f in verdict.findings if f.run == summary.run and f.severity is severity]
        if len(same) >= MAX_OF_ONE_RUN:
            verdict.findings_dropped += 1
            return
        finding = finding_of(requirement.id, reported, severity, requirement.softened)
        verdict.findings.append(finding)
        # Keep the worst findings, and among them those that are reached in the fewest steps.
        verdict.findings.sort(key=lambda f: (-RANK[f.severity], f.environment != PLAIN.name, f.step))
        if len(verdict.findings) > MAX_FINDINGS:
            verdict.findings_dropped += 1
            verdict.findings.pop()

    def _note_obstacle(self, requirement_id: str, summary: RunSummary) -> None:
        if summary.breakdown is not None:
            breakdown = f"{summary.breakdown.kind.value} in {summary.run}"
            why = f"the implementation broke down before the requirement was exercised ({breakdown})"
        elif summary.stopped:
            why = f"{summary.run}: {summary.stopped}"
        else:
            return
        self._obstacles.setdefault(requirement_id, []).append(why)

    def _conclude(self, requirement_id: str, verdict: RequirementVerdict) -> tuple[Verdict, str]:
        if requirement_id in self._errors:
            failed = Verdict.INCONCLUSIVE if verdict.requirement.experimental else Verdict.ERROR
            return failed, self._errors[requirement_id]
        worst = self._worst.get(requirement_id, Verdict.PASS)
        if worst is not Verdict.PASS:
            return worst, ""
        if True in verdict.places or (verdict.exercised and False not in verdict.places):
            return Verdict.PASS, ""
        if verdict.places:
            return Verdict.INCONCLUSIVE, "all messages of other participants were refused, or had no effect"
        obstacles = self._obstacles.get(requirement_id, [])
        broken = [why for why in obstacles if "broke down" in why]
        if broken:
            return Verdict.INCONCLUSIVE, broken[0]
        excuse = self._rules.excuse(requirement_id, self._declared) if self._declared is not None else ""
        if excuse:
            return Verdict.SKIPPED, excuse
        attempts = self._attempts[requirement_id]
        if self._attempts and not attempts:
            return Verdict.INCONCLUSIVE, "not played: no scenario for it was selected"
        if obstacles and self._unopened[requirement_id] == attempts:
            return Verdict.INCONCLUSIVE, obstacles[0]
        checks = self._rules.register.checks.get(requirement_id, ())
        declarations = self._declarations.values()
        lacking = {name for c in checks for declared in declarations for name in declared.missing_capabilities(c.needs)}
        needed = [why.partition(NEEDS)[2] for why in obstacles if NEEDS in why]
        if lacking or needed:
            names = sorted(lacking) or needed[:1]
            reason = f"not declared: {', '.join(names)}"
            return Verdict.SKIPPED, self._declared.why_skipped(names) if self._declared is not None else reason
        if obstacles:
            return Verdict.INCONCLUSIVE, obstacles[0]
        observable = self._declared is None or self._declared.can_by_name(OBSERVE)
        if not observable and self._rules.language.number_of(OBSERVE) is not None:
            return Verdict.SKIPPED, f"not declared: {OBSERVE}"
        return Verdict.INCONCLUSIVE, "not exercised"

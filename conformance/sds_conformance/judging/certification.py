"""One certification: all selected requirements judged on one implementation."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import Any

from sds_harness.declaration import Declaration
from sds_harness.environment import PLAIN, Environment
from sds_harness.faults import TesteeFault
from sds_harness.link import Limits
from sds_harness.revision import Revision
from sds_harness.trace import Trace

from .catalogue import Catalogue
from .exits import Exit
from .registry import Run, Scenario, scenario_of
from .rules import Rules
from .runner import SOFT_FAULTS, BrokenRun, Connect, Runner
from .verdict import Judge, RequirementVerdict, Verdict

Progress = Callable[[str, int, int], None]
"""Called with the run that starts, its number and how many there are."""


@dataclass(frozen=True)
class Plan:
    """What is judged and what is played for it."""

    rules: Rules
    revision: str
    profile: str
    requirements: tuple[str, ...]
    scenarios: tuple[Scenario, ...]
    environments: tuple[Environment, ...] = (PLAIN,)

    @property
    def catalogue(self) -> Catalogue:
        return self.rules.catalogue

    @property
    def runs(self) -> tuple[Run, ...]:
        """Every scenario in every environment, one environment after the other; long ones in the first only."""
        return tuple(
            Run(scenario, environment)
            for number, environment in enumerate(self.environments)
            for scenario in self.scenarios
            if not (number and scenario.long)
        )


@dataclass
class Certification:
    """The outcome."""

    plan: Plan
    declaration: Declaration
    dialect: str
    strict: bool
    verdicts: list[RequirementVerdict] = field(default_factory=list)
    breakdowns: list[BrokenRun] = field(default_factory=list)
    traces: dict[str, Trace[Any]] = field(default_factory=dict)
    """By the name of the run: those in the plain environment, and those in which something was found."""
    played: list[str] = field(default_factory=list)
    """The names of the runs that were played, in order."""
    steps: int = 0
    left_out: dict[str, str] = field(default_factory=dict)
    """Environments that were not entered, with the reason."""
    sightings: dict[str, dict[str, int]] = field(default_factory=dict)
    """By requirement: the runs that exercised it, with the number of observations."""
    seconds: float = 0.0
    gave_up: bool = False
    """The implementation broke down so often that the rest was not played."""
    interrupted: bool = False
    driven: bool = True
    """The implementation got through the handshake."""

    @property
    def runs(self) -> int:
        return len(self.played)

    @property
    def scenarios(self) -> int:
        """How many different scenarios were played, in whatever environments."""
        return len({scenario_of(run) for run in self.played})

    def count(self, verdict: Verdict) -> int:
        return sum(1 for v in self.verdicts if v.verdict is verdict)

    @property
    def exit_code(self) -> int:
        """0 conformant, 1 not, 3 could not be driven, 4 nothing was exercised, 130 interrupted."""
        if self.interrupted:
            return Exit.INTERRUPTED
        hard = [b for b in self.breakdowns if b.breakdown.kind not in SOFT_FAULTS or self.strict]
        if not any(v.exercised for v in self.verdicts):
            return Exit.NOT_DRIVEN if hard else Exit.NOTHING_EXERCISED
        bad = self.count(Verdict.FAIL) + self.count(Verdict.ERROR)
        return Exit.NON_CONFORMANT if bad or hard else Exit.CONFORMANT


def plan(
    rules: Rules,
    select: Iterable[str] = (),
    deselect: Iterable[str] = (),
    profile: str = "",
    revision: str = "",
    scenarios: Iterable[str] = (),
    environments: Iterable[str] = (PLAIN.name,),
) -> Plan:
    """The requirements that match the globs and have checks, and what to play, in which environments.

    Checks look at all scenarios, so all are played unless globs in ``scenarios`` narrow them down, or the profile
    leaves out all that they are for, or the text of the revision says nothing of it. Without a profile everything is
    judged, without a revision the current one.
    """
    profile, revision = profile or rules.full, revision or rules.current
    known = rules.catalogue.requirements
    select, deselect, played, entered = list(select), list(deselect), list(scenarios), list(environments)
    chosen = tuple(
        requirement.id
        for requirement in rules.judged(revision, profile)
        if not select or any(fnmatchcase(requirement.id, glob) for glob in select)
        if not any(fnmatchcase(requirement.id, glob) for glob in deselect)
    )
    spoken = {requirement for requirement in known if requirement.startswith(f"{rules.revisions[revision].prefix}-")}
    within = {requirement for requirement in spoken if rules.in_profile(known[requirement], profile)}
    return Plan(
        rules,
        revision,
        profile,
        chosen,
        tuple(
            s
            for s in rules.register.scenarios.values()
            if spoken.intersection(s.exercises)
            if (any(fnmatchcase(s.name, glob) for glob in played) if played else within.intersection(s.exercises))
        ),
        tuple(e for e in rules.environments.values() if any(fnmatchcase(e.name, glob) for glob in entered)),
    )


def certify(
    connect: Connect,
    what: Plan,
    limits: Limits,
    *,
    dialect: str = "",
    strict: bool = False,
    running: bool = False,
    progress: Progress = lambda name, number, total: None,
) -> Certification:
    """Play and judge. Raises TesteeFault if the implementation cannot be driven at all.

    One that is ``running`` already is not started anew: environments that are about the process are left out.
    An interrupt (Ctrl-C) ends the playing; what was played is judged.
    """
    started = time.monotonic()
    runner = Runner(connect, limits, what.rules, what.revision, dialect)
    judge = Judge(what.rules, what.requirements, strict=strict)
    try:
        declaration = runner.start()
        used = runner.dialect
        out = Certification(what, declaration, used.name if used else "", strict)
        out.left_out = _left_out(what.environments, declaration, what.rules.revisions[what.revision], running)
        runs = [run for run in what.runs if run.environment.name not in out.left_out]
        try:
            for run, trace in runner.play(_announced(runs, progress)):
                found = judge.add(trace, run)
                out.played.append(run.name)
                out.steps += len(trace.steps)
                # What nobody will ask for again would only fill the memory.
                if found or trace.breakdown is not None or run.environment is PLAIN:
                    out.traces[run.name] = trace
                progress(run.name, len(out.played), len(runs))
        except KeyboardInterrupt:
            out.interrupted = True
            runner.kill()
        runner.close()
        out.gave_up = runner.gave_up
        why = "not played, because the run was interrupted" if out.interrupted else "not played: too many breakdowns"
        played = set(out.played)
        for run in runs:
            if run.name not in played:
                judge.unplayed(run, why)
    finally:
        runner.kill()
    out.verdicts = judge.verdicts()
    out.sightings = {requirement: judge.sightings(requirement) for requirement in what.requirements}
    out.breakdowns = runner.breakdowns
    out.seconds = time.monotonic() - started
    return out


def not_driven(what: Plan, name: str, fault: TesteeFault, dialect: str, strict: bool) -> Certification:
    """The outcome for an implementation that does not get through the handshake; ``name`` is what is known of it."""
    out = Certification(what, Declaration.unknown(name, what.rules.language), dialect, strict, driven=False)
    judge = Judge(what.rules, what.requirements, strict=strict)
    for run in what.runs:
        judge.unplayed(run, "not played: the implementation could not be driven")
    out.verdicts = judge.verdicts()
    out.breakdowns = [BrokenRun.at("handshake", fault.breakdown)]
    return out


def _announced(runs: list[Run], progress: Progress) -> Iterator[Run]:
    for number, run in enumerate(runs):
        progress(run.name, number, len(runs))
        yield run


def _left_out(
    environments: Iterable[Environment], declared: Declaration, revision: Revision, running: bool
) -> dict[str, str]:
    out: dict[str, str] = {}
    for environment in environments:
        if unfit := environment.unfit(revision):
            out[environment.name] = unfit
        elif running and environment.variables:
            out[environment.name] = "skipped, for it needs a process of its own, and the implementation runs already"
        elif lacking := declared.lacking(environment.needs):
            out[environment.name] = declared.why_skipped(lacking)
    return out

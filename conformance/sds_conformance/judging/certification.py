"""One certification: all selected requirements judged on one implementation."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from fnmatch import fnmatchcase

from sds_harness.declaration import Declaration, capability_name
from sds_harness.environment import ENVIRONMENTS, PLAIN, Environment
from sds_harness.faults import TesteeFault
from sds_harness.link import Limits
from sds_harness.trace import Trace
from sds_reference import REVISIONS, Revision

from ..protocols.sds import checks as _checks
from ..protocols.sds import scenarios as _scenarios
from ..protocols.sds.catalogue import CURRENT, Catalogue, Requirement, load_catalogue
from .registry import CHECKS, SCENARIOS, Run, Scenario, scenario_of
from .runner import SOFT_FAULTS, BrokenRun, Connect, Runner
from .verdict import Judge, RequirementVerdict, Verdict

PROFILES: dict[str, str] = {
    "full": "SDS with the SDS-R extension",
    "core": "SDS without the SDS-R extension",
    "sds-r": "the SDS-R extension alone",
}
"""Requirement profiles: what a certification is about."""

EXIT_CONFORMANT = 0
EXIT_NON_CONFORMANT = 1
EXIT_USAGE = 2
EXIT_NOT_DRIVEN = 3
EXIT_NOTHING_EXERCISED = 4
EXIT_INTERRUPTED = 130

Progress = Callable[[str, int, int], None]
"""Called with the run that starts, its number and how many there are."""


@dataclass(frozen=True)
class Plan:
    """What is judged and what is played for it."""

    catalogue: Catalogue
    revision: str
    profile: str
    requirements: tuple[str, ...]
    scenarios: tuple[Scenario, ...]
    environments: tuple[Environment, ...] = (PLAIN,)

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
    traces: dict[str, Trace] = field(default_factory=dict)
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
            return EXIT_INTERRUPTED
        hard = [b for b in self.breakdowns if b.breakdown.kind not in SOFT_FAULTS or self.strict]
        if not any(v.exercised for v in self.verdicts):
            return EXIT_NOT_DRIVEN if hard else EXIT_NOTHING_EXERCISED
        bad = self.count(Verdict.FAIL) + self.count(Verdict.ERROR)
        return EXIT_NON_CONFORMANT if bad or hard else EXIT_CONFORMANT


def plan(
    select: Iterable[str] = (),
    deselect: Iterable[str] = (),
    profile: str = "full",
    revision: str = CURRENT,
    scenarios: Iterable[str] = (),
    environments: Iterable[str] = (PLAIN.name,),
) -> Plan:
    """The requirements that match the globs and have checks, and what to play, in which environments.

    Checks look at all scenarios, so all are played unless globs in ``scenarios`` narrow them down, or the profile
    leaves out all that they are for, or the text of the revision says nothing of it.
    """
    catalogue = load_catalogue()
    select, deselect, played, entered = list(select), list(deselect), list(scenarios), list(environments)
    chosen = tuple(
        requirement.id
        for requirement in catalogue.requirements.values()
        if requirement.id in CHECKS and requirement.stated_in(revision) and _in_profile(requirement, profile)
        if not select or any(fnmatchcase(requirement.id, glob) for glob in select)
        if not any(fnmatchcase(requirement.id, glob) for glob in deselect)
    )
    spoken = {r.id for r in catalogue.requirements.values() if r.id.startswith(f"{REVISIONS[revision].prefix}-")}
    within = {requirement for requirement in spoken if _in_profile(catalogue.requirements[requirement], profile)}
    return Plan(
        catalogue,
        revision,
        profile,
        chosen,
        tuple(
            s
            for s in SCENARIOS.values()
            if spoken.intersection(s.exercises)
            if (any(fnmatchcase(s.name, glob) for glob in played) if played else within.intersection(s.exercises))
        ),
        tuple(e for e in ENVIRONMENTS.values() if any(fnmatchcase(e.name, glob) for glob in entered)),
    )


def _in_profile(requirement: Requirement, profile: str) -> bool:
    return profile == "full" or requirement.core == (profile == "core")


def certify(
    connect: Connect,
    what: Plan,
    limits: Limits,
    *,
    dialect: str = "",
    strict: bool = False,
    progress: Progress = lambda name, number, total: None,
) -> Certification:
    """Play and judge. Raises TesteeFault if the implementation cannot be driven at all.

    An interrupt (Ctrl-C) ends the playing; what was played is judged.
    """
    started = time.monotonic()
    runner = Runner(connect, limits, what.revision, dialect)
    judge = Judge(what.catalogue, what.requirements, strict=strict)
    try:
        declaration = runner.start()
        used = runner.dialect
        out = Certification(what, declaration, used.name if used else "", strict)
        out.left_out = _left_out(what.environments, declaration, REVISIONS[what.revision])
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
    out = Certification(what, Declaration.unknown(name), dialect, strict, driven=False)
    judge = Judge(what.catalogue, what.requirements, strict=strict)
    for run in what.runs:
        judge.unplayed(run, "not played: the implementation could not be driven")
    out.verdicts = judge.verdicts()
    out.breakdowns = [BrokenRun("handshake", 0, "", fault.breakdown)]
    return out


def _announced(runs: list[Run], progress: Progress) -> Iterator[Run]:
    for number, run in enumerate(runs):
        progress(run.name, number, len(runs))
        yield run


def _left_out(environments: Iterable[Environment], declared: Declaration, revision: Revision) -> dict[str, str]:
    out: dict[str, str] = {}
    for environment in environments:
        lacking = [capability_name(c) for c in environment.needs if not declared.can(c)]
        if environment.sds_r and not revision.repairs:
            out[environment.name] = f"{revision.name} has no SDS-R"
        elif lacking:
            out[environment.name] = f"not declared: {', '.join(lacking)}"
    return out


REGISTERED = (_checks, _scenarios)
"""The packages whose import fills the registers."""

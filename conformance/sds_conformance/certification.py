"""One certification: all selected requirements judged on one implementation."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from fnmatch import fnmatchcase

from sds_harness.declaration import Declaration
from sds_harness.link import Limits, Link
from sds_harness.trace import Trace

from . import checks as _checks
from . import scenarios as _scenarios
from .catalogue import CURRENT, Catalogue, load_catalogue
from .registry import CHECKS, SCENARIOS, Scenario
from .runner import SOFT_FAULTS, BrokenRun, Runner
from .verdict import Judge, RequirementVerdict, Verdict

PROFILES: dict[str, str] = {"core": "SDS without the SDS-R extension"}
"""Requirement profiles: what a certification is about."""

EXIT_CONFORMANT = 0
EXIT_NON_CONFORMANT = 1
EXIT_USAGE = 2
EXIT_NOT_DRIVEN = 3
EXIT_NOTHING_EXERCISED = 4
EXIT_INTERRUPTED = 130

Progress = Callable[[str, int, int], None]
"""Called with the scenario that starts, its number and how many there are."""


@dataclass(frozen=True)
class Plan:
    """What is judged and what is played for it."""

    catalogue: Catalogue
    requirements: tuple[str, ...]
    scenarios: tuple[Scenario, ...]


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
    sightings: dict[str, dict[str, int]] = field(default_factory=dict)
    """By requirement: the schedules that exercised it, with the number of observations."""
    seconds: float = 0.0
    gave_up: bool = False
    """The implementation broke down so often that the rest was not played."""
    interrupted: bool = False

    def count(self, verdict: Verdict) -> int:
        return sum(1 for v in self.verdicts if v.verdict is verdict)

    @property
    def steps(self) -> int:
        return sum(len(trace.steps) for trace in self.traces.values())

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
    profile: str = "core",
    revision: str = CURRENT,
    scenarios: Iterable[str] = (),
) -> Plan:
    """The requirements that match the globs and have checks, and the scenarios to play.

    Checks look at all scenarios, so all are played unless globs in ``scenarios`` narrow them down.
    """
    catalogue = load_catalogue(revision)
    select, deselect, played = list(select), list(deselect), list(scenarios)
    chosen = tuple(
        requirement.id
        for requirement in catalogue.requirements.values()
        if requirement.id in CHECKS and (requirement.core or profile != "core")
        if not select or any(fnmatchcase(requirement.id, glob) for glob in select)
        if not any(fnmatchcase(requirement.id, glob) for glob in deselect)
    )
    return Plan(
        catalogue,
        chosen,
        tuple(s for s in SCENARIOS.values() if not played or any(fnmatchcase(s.name, glob) for glob in played)),
    )


def certify(
    connect: Callable[[], Link],
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
    runner = Runner(connect, limits, what.catalogue.revision, dialect)
    judge = Judge(what.catalogue, what.requirements, strict=strict)
    try:
        declaration = runner.start()
        used = runner.dialect
        out = Certification(what, declaration, used.name if used else "", strict)
        try:
            for number, (scenario, trace) in enumerate(runner.play(_announced(what.scenarios, progress)), 1):
                out.traces[scenario.name] = trace
                judge.add(trace, scenario)
                progress(scenario.name, number, len(what.scenarios))
        except KeyboardInterrupt:
            out.interrupted = True
            runner.kill()
        runner.close()
        out.gave_up = runner.gave_up
        why = "not played, because the run was interrupted" if out.interrupted else "not played: too many breakdowns"
        for scenario in what.scenarios:
            if scenario.name not in out.traces:
                judge.unplayed(scenario, why)
    finally:
        runner.kill()
    out.verdicts = judge.verdicts()
    out.sightings = {requirement: judge.sightings(requirement) for requirement in what.requirements}
    out.breakdowns = runner.breakdowns
    out.seconds = time.monotonic() - started
    return out


def _announced(played: tuple[Scenario, ...], progress: Progress) -> Iterable[Scenario]:
    for number, scenario in enumerate(played):
        progress(scenario.name, number, len(played))
        yield scenario


REGISTERED = (_checks, _scenarios)
"""The packages whose import fills the registers."""

"""Selects the requirements to judge and the scenarios to play for them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase

from sds_harness.declaration import Declaration
from sds_harness.environment import PLAIN, Environment
from sds_harness.revision import Revision

from .catalogue import Catalogue
from .registry import Run, Scenario
from .rules import Rules


@dataclass(frozen=True)
class Plan:
    """The requirements to judge, and the scenarios and environments to play."""

    rules: Rules
    revision: str
    profile: str
    requirements: tuple[str, ...]
    scenarios: tuple[Scenario, ...]
    environments: tuple[Environment, ...] = (PLAIN,)
    narrowed: frozenset[str] = frozenset()
    """Names of the fields of which the user selected only a part: ``requirements``, ``scenarios``, ``environments``."""

    @property
    def catalogue(self) -> Catalogue:
        return self.rules.catalogue

    @property
    def runs(self) -> tuple[Run, ...]:
        """Every scenario in every environment, ordered by environment; long scenarios only in the first one."""
        return tuple(
            Run(scenario, environment)
            for number, environment in enumerate(self.environments)
            for scenario in self.scenarios
            if not (number and scenario.long)
        )

    def keep_own_scenarios(self, also: Collection[str] = ()) -> Plan:
        """Keep only the scenarios that were written for the requirements of the plan, and those named in ``also``.

        A plan that judges all requirements keeps all scenarios.
        """
        judged = set(self.requirements)
        if judged.issuperset(r.id for r in self.rules.judged_requirements(self.revision, self.profile)):
            return self
        own = tuple(s for s in self.scenarios if judged.intersection(s.exercises) or s.name in also)
        less = {"scenarios"} if len(own) < len(self.scenarios) else set()
        return replace(self, scenarios=own, narrowed=self.narrowed | less)


def plan(
    rules: Rules,
    select: Iterable[str] = (),
    deselect: Iterable[str] = (),
    profile: str = "",
    revision: str = "",
    scenarios: Iterable[str] = (),
    environments: Iterable[str] = (PLAIN.name,),
    files: Sequence[Scenario] = (),
) -> Plan:
    """Select the requirements to judge, and the scenarios and environments to play. A requirement is judged if it has a
    check and matches a glob in ``select`` and none in ``deselect``; without globs in ``select``, all are judged.

    Each check judges all scenarios, so all scenarios are played by default. If there are globs in ``scenarios``, only
    matching scenarios are played. A scenario is not played if the profile excludes all its requirements, or if the
    revision states none of them. If there are ``files`` (scenarios that were read from files), only these and the
    scenarios that the globs select are played. The default profile is everything; the default revision is the current
    one.
    """
    profile, revision = profile or rules.full, revision or rules.current
    known = rules.catalogue.requirements
    select, deselect, scenarios, environments = map(list, (select, deselect, scenarios, environments))
    names, globs = {*scenarios}, [glob for glob in scenarios if glob not in rules.register.scenarios]
    chosen = tuple(
        requirement.id
        for requirement in rules.judged_requirements(revision, profile)
        if (not select or _matches(requirement.id, select)) and not _matches(requirement.id, deselect)
    )
    stated = {requirement for requirement in known if requirement.startswith(f"{rules.revisions[revision].prefix}-")}
    in_profile = {requirement for requirement in stated if rules.is_in_profile(known[requirement], profile)}
    return Plan(
        rules,
        revision,
        profile,
        chosen,
        tuple(
            s
            for s in rules.register.scenarios.values()
            if stated.intersection(s.exercises)
            if (s.name in names or _matches(s.name, globs) if scenarios else in_profile.intersection(s.exercises))
            if scenarios or not files
        )
        + tuple(files),
        tuple(e for e in rules.environments.values() if _matches(e.name, environments)),
        frozenset(
            what
            for what, some in {
                "requirements": select or deselect,
                "scenarios": scenarios or files,
                "environments": "*" not in environments,
            }.items()
            if some
        ),
    )


def _matches(name: str, globs: Iterable[str]) -> bool:
    return any(fnmatchcase(name, glob) for glob in globs)


def find_unplayable_environments(
    environments: Iterable[Environment], declared: Declaration, revision: Revision, running: bool
) -> dict[str, str]:
    """Return the environments that cannot be played, each with the reason. ``running`` means that the implementation
    cannot be restarted.
    """
    out: dict[str, str] = {}
    for environment in environments:
        if unfit := environment.why_unfit(revision):
            out[environment.name] = unfit
        elif running and environment.variables:
            out[environment.name] = (
                "skipped, because the environment needs its own process, and the implementation is already running"
            )
        elif lacking := declared.missing_capabilities(environment.needs):
            out[environment.name] = declared.why_skipped(lacking)
    return out

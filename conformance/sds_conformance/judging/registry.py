"""The one register of checks and scenarios. Runs, the command line, docs and tests read it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from sds_harness.environment import PLAIN, Environment
from sds_harness.sds.stage import Stage

from ..protocols.sds.view.channel_view import ChannelView
from .judgement import Observation

CheckFunction = Callable[[ChannelView], Iterator[Observation]]
ScenarioFunction = Callable[[Stage], None]


@dataclass(frozen=True)
class Check:
    """Decides one requirement on one channel of a trace."""

    requirement: str
    function: CheckFunction
    needs: tuple[int, ...]
    """Capabilities without which it has nothing to look at."""

    @property
    def name(self) -> str:
        return self.function.__name__

    @property
    def summary(self) -> str:
        return (self.function.__doc__ or "").strip().splitlines()[0]


@dataclass(frozen=True)
class Scenario:
    """A schedule written by hand."""

    name: str
    function: ScenarioFunction
    declared: tuple[str, ...]
    """Requirements that it was written for."""
    long: bool = False
    """Its many steps would teach nothing more in another environment."""
    repeats_sync_ids: bool = False
    """Sync messages in it have IDs that other messages have, which SDS alone lets them have."""

    @property
    def exercises(self) -> tuple[str, ...]:
        """Requirements that it is played for: those it was written for, and those of other texts that say the same."""
        common = self.declared if not self.repeats_sync_ids else ()
        alike = [other for requirement in common for other in COUNTERPARTS.get(requirement, ())]
        return tuple(dict.fromkeys([*self.declared, *alike]))

    @property
    def summary(self) -> str:
        return (self.function.__doc__ or "").strip().splitlines()[0]


@dataclass(frozen=True)
class Run:
    """A scenario in an environment."""

    scenario: Scenario
    environment: Environment = PLAIN

    @property
    def name(self) -> str:
        """Name of the scenario, with that of the environment unless it is the plain one."""
        plain = self.environment.name == PLAIN.name
        return self.scenario.name if plain else f"{self.scenario.name}{IN}{self.environment.name}"


IN = "@"
"""Between a scenario and the environment it is played in."""


def scenario_of(run: str) -> str:
    """The scenario in the name of a run."""
    return run.partition(IN)[0]


CHECKS: dict[str, list[Check]] = {}
"""Checks by requirement."""
SCENARIOS: dict[str, Scenario] = {}
"""Scenarios by name."""
COUNTERPARTS: dict[str, list[str]] = {}
"""By requirement: those of other texts that say the same, in part at least."""


def check(requirement: str, *needs: int) -> Callable[[CheckFunction], CheckFunction]:
    """Register a check of ``requirement``."""

    def register(function: CheckFunction) -> CheckFunction:
        CHECKS.setdefault(requirement, []).append(Check(requirement, function, needs))
        return function

    return register


def same_as(requirement: str, *functions: CheckFunction) -> None:
    """Register checks that are registered already under a requirement of another text that says the same."""
    known = {registered.function: registered for checks in CHECKS.values() for registered in checks}
    for function in functions:
        original = known[function]
        CHECKS.setdefault(requirement, []).append(Check(requirement, function, original.needs))
        counterpart(original.requirement, requirement)


def counterpart(requirement: str, other: str) -> None:
    """Play the scenarios of ``requirement`` for ``other``, one of another text that is about the same."""
    alike = COUNTERPARTS.setdefault(requirement, [])
    if other not in alike:
        alike.append(other)


def scenario(
    *exercises: str, long: bool = False, repeats_sync_ids: bool = False
) -> Callable[[ScenarioFunction], ScenarioFunction]:
    """Register a scenario that is played for the requirements ``exercises``, given without their prefix SDS-, if any.

    A ``long`` one is played in one environment only, the plain one unless that is left out; one that
    ``repeats_sync_ids`` is not played for another text than the one of its requirements.
    """

    def register(function: ScenarioFunction) -> ScenarioFunction:
        name = function.__name__.replace("_", "-")
        if name in SCENARIOS:
            raise ValueError(f"two scenarios are called {name}")
        ids = tuple(short if short.startswith("FORUM-") else f"SDS-{short}" for short in exercises)
        SCENARIOS[name] = Scenario(name, function, ids, long, repeats_sync_ids)
        return function

    return register

"""The one register of checks and scenarios. Runs, the command line, docs and tests read it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from sds_harness.environment import PLAIN, Environment
from sds_harness.stage import Stage

from .channel_view import ChannelView
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
    exercises: tuple[str, ...]
    """Requirements that it is played for."""
    long: bool = False
    """Its many steps would teach nothing more in another environment."""

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


def check(requirement: str, *needs: int) -> Callable[[CheckFunction], CheckFunction]:
    """Register a check of ``requirement``."""

    def register(function: CheckFunction) -> CheckFunction:
        CHECKS.setdefault(requirement, []).append(Check(requirement, function, needs))
        return function

    return register


def scenario(*exercises: str, long: bool = False) -> Callable[[ScenarioFunction], ScenarioFunction]:
    """Register a scenario that is played for the requirements ``exercises``, given without their prefix SDS-.

    A ``long`` one is played in one environment only, the plain one unless that is left out.
    """

    def register(function: ScenarioFunction) -> ScenarioFunction:
        name = function.__name__.replace("_", "-")
        if name in SCENARIOS:
            raise ValueError(f"two scenarios are called {name}")
        SCENARIOS[name] = Scenario(name, function, tuple(f"SDS-{short}" for short in exercises), long)
        return function

    return register

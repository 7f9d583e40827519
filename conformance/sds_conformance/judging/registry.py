"""The register of checks and scenarios, one for each protocol."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, wraps
from typing import Any, TypeVar

from sds_harness.docstrings import first_line
from sds_harness.environment import PLAIN, Environment
from sds_harness.schedules import Schedule

from .check_selection import Facts
from .judgement import Observation
from .table import Fact, RuleRow, Table
from .view_cache import cache_per_view

E = TypeVar("E", bound=Fact)
CheckFunction = Callable[[Any], Iterator[Observation]]
"""Judges a view of a trace. The class of the view depends on the protocol."""
ShowingFunction = Callable[[Any], Iterator[tuple[Any, str]]]
"""Takes a view of a trace. Yields the steps that prove an option of a position, each with the name of the option."""
ScenarioFunction = Callable[[Any], None]
"""Plays a scenario on a stage. The class of the stage depends on the protocol."""


@dataclass(frozen=True)
class Check:
    """Judges one requirement on one view of a trace."""

    requirement: str
    function: CheckFunction
    needs: tuple[int, ...]
    """Capabilities that the implementation must declare; without them the check has nothing to judge."""
    of: tuple[str, ...] = ()
    """Facts that a view must have; the check is not applied to other views."""
    together: bool = False
    """Does the check compare participants? Then its result for a participant depends on the steps of others as well."""

    @property
    def name(self) -> str:
        return self.function.__name__

    @property
    def summary(self) -> str:
        return first_line(self.function)


@dataclass(frozen=True)
class Showing:
    """Shows which option of a position the implementation takes in a view."""

    position: str
    function: ShowingFunction
    needs: tuple[int, ...] = ()
    of: tuple[str, ...] = ()
    """``needs`` and ``of`` have the same meaning as in `Check`."""

    @property
    def name(self) -> str:
        return self.function.__name__


@dataclass(frozen=True)
class ScenarioFile:
    """The file of a user that a scenario was read from."""

    path: str
    """The path that the user typed, or a path in the folder that the user typed."""
    description: str = ""
    expected: tuple[tuple[int, str], ...] = ()
    """The expectations of the file: the line of each, 0 if it is unknown, and a sentence."""


@dataclass(frozen=True)
class Scenario:
    """A test case written by hand."""

    name: str
    function: ScenarioFunction
    declared: tuple[str, ...]
    """The requirements that the scenario was written for."""
    violated: frozenset[str] = frozenset()
    """The subset of ``declared`` that only a faulty implementation exercises in this scenario."""
    long: bool = False
    """The scenario has many steps and would show nothing new in another environment."""
    of_one_text: bool = False
    """The scenario depends on rules of one specification. It is not played for equivalent requirements of others."""
    counterparts: Mapping[str, Sequence[str]] = field(default_factory=dict, repr=False, compare=False)
    """Maps requirements to equivalent requirements of other specifications."""
    file: ScenarioFile | None = None
    """The file that the scenario was read from; None if the scenario is built in."""
    write: Callable[[], Schedule] | None = field(default=None, repr=False, compare=False)
    """Writes the schedule to play; None if the scenario is a function that is called with the stage."""

    @property
    def schedule(self) -> Schedule | None:
        """The schedule to play; None if the scenario is a function that is called with the stage."""
        return self.write() if self.write is not None else None

    @property
    def exercises(self) -> tuple[str, ...]:
        """The requirements for which the scenario is played: `declared`, and equivalent requirements of other
        specifications.
        """
        common = self.declared if not self.of_one_text else ()
        alike = [other for requirement in common for other in self.counterparts.get(requirement, ())]
        return tuple(dict.fromkeys([*self.declared, *alike]))

    @property
    def summary(self) -> str:
        if self.file is not None:
            return self.file.description.partition("\n")[0] or f"a scenario of the file {self.file.path}"
        return first_line(self.function)


@dataclass(frozen=True)
class Run:
    """A scenario in an environment."""

    scenario: Scenario
    environment: Environment = PLAIN

    @property
    def plain(self) -> bool:
        """Is the scenario played in the plain environment?"""
        return self.environment.name == PLAIN.name

    @property
    def name(self) -> str:
        """Name of the scenario, followed by the name of the environment unless this is the plain environment."""
        return self.scenario.name if self.plain else f"{self.scenario.name}{IN}{self.environment.name}"


IN = "@"
"""Separates scenario and environment in the name of a run."""


def scenario_of(run: str) -> str:
    """Return the scenario in the name of a run."""
    return run.partition(IN)[0]


class Register:
    """The checks and scenarios of a protocol."""

    def __init__(self, prefix: str, *others: str, facts: Facts | None = None) -> None:
        """``prefix`` is put before the IDs of requirements, unless they begin with one of ``others``, the prefixes of
        other specifications. ``facts`` are the facts that checks can require of a view.
        """
        self.prefix, self._others = prefix, others
        self.facts: Facts = facts or {}
        self.checks: dict[str, list[Check]] = {}
        self.scenarios: dict[str, Scenario] = {}
        self.counterparts: dict[str, list[str]] = {}
        """Maps requirements to requirements of other specifications that are equivalent, at least in part."""
        self.of_tables: dict[str, list[Check]] = {}
        """The subset of ``checks`` that was registered by `table`."""
        self._tables: list[frozenset[str]] = []
        """The requirements of each `Table`: one mistake violates only one of them."""
        self.shown: dict[str, list[Showing]] = {}
        """The functions that show options, by position, for all positions that a run can show."""

    def check(
        self, requirement: str, *needs: int, of: str = "", together: bool = False
    ) -> Callable[[CheckFunction], CheckFunction]:
        """Register a check of ``requirement``. The check is skipped without the capabilities ``needs``, and for views
        that lack a fact named in ``of``. Set ``together`` for a check that compares several views. Raises ValueError
        for unknown facts.
        """
        about = self._check_fact_names(of)

        def register(function: CheckFunction) -> CheckFunction:
            self.checks.setdefault(requirement, []).append(Check(requirement, function, needs, about, together))
            return function

        return register

    def table(
        self,
        facts: Callable[[Any], Iterable[E]],
        describe: Callable[[E, RuleRow[E]], tuple[str, str]],
        rows: Sequence[RuleRow[E]],
        *,
        of: str = "",
        apart: bool = False,
    ) -> None:
        """Register a `Table` as a check of each requirement that has rows in it. ``of`` is the same as in `check`.

        With ``apart``, each requirement has a separate table, so one mistake may violate several requirements.
        """
        about, requirements = self._check_fact_names(of), dict.fromkeys(row.requirement for row in rows)
        groups = [[row for row in rows if row.requirement == each] for each in requirements] if apart else [rows]

        @wraps(facts)
        def as_tuple(view: Any) -> Iterable[E]:
            return tuple(facts(view))

        found = cache_per_view(as_tuple) if apart else facts
        for table in (Table(found, describe, group) for group in groups):
            self._tables.append(frozenset(row.requirement for row in table.rows))
            for requirement, needs in dict.fromkeys((row.requirement, row.needs) for row in table.rows):
                check = Check(requirement, table.check(requirement, needs), needs, about)
                if apart:
                    check.function.__name__ += f"_of_{requirement}"
                self.checks.setdefault(requirement, []).append(check)
                self.of_tables.setdefault(requirement, []).append(check)

    def shows(self, position: str, *needs: int, of: str = "") -> Callable[[ShowingFunction], ShowingFunction]:
        """Register a function that finds the steps that show which option of a position an implementation takes.

        ``needs`` and ``of`` are the same as in `check`.
        """
        about = self._check_fact_names(of)

        def register(function: ShowingFunction) -> ShowingFunction:
            self.shown.setdefault(position, []).append(Showing(position, function, needs, about))
            return function

        return register

    def same_as(self, requirement: str, *checks: CheckFunction | str) -> None:
        """Also register existing checks under an equivalent requirement of another specification.

        A check that belongs to a table is given by the ID of its requirement.
        """
        known = {registered.function: [registered] for checks in self.checks.values() for registered in checks}
        for check in checks:
            for original in self.of_tables[check] if isinstance(check, str) else known[check]:
                self.checks.setdefault(requirement, []).append(replace(original, requirement=requirement))
                self.counterpart(original.requirement, requirement)

    def counterpart(self, requirement: str, other: str) -> None:
        """Play the scenarios of ``requirement`` also for ``other``, an equivalent requirement of another
        specification.
        """
        alike = self.counterparts.setdefault(requirement, [])
        if other not in alike:
            alike.append(other)

    def _check_fact_names(self, of: str) -> tuple[str, ...]:
        names = tuple(of.split())
        if unknown := [name for name in names if name not in self.facts]:
            raise ValueError(f"there is no fact {unknown[0]!r}: the facts are {', '.join(self.facts)}")
        return names

    def with_counterparts_of(self, requirement: str) -> set[str]:
        """Return the requirement, and the requirements of which it is a counterpart."""
        return {requirement} | {original for original, alike in self.counterparts.items() if requirement in alike}

    def share_table(self, requirement: str, other: str) -> bool:
        """Do both requirements, or requirements of which they are counterparts, have rows in one table? Then a mistake
        violates only one of them, and the circumstances decide which.
        """
        alike, others = self.with_counterparts_of(requirement), self.with_counterparts_of(other)
        return any(alike & table and others & table for table in self._tables)

    def scenario(
        self,
        *exercises: str,
        violated: tuple[str, ...] = (),
        long: bool = False,
        of_one_text: bool = False,
        write: Callable[[], Schedule] | None = None,
    ) -> Callable[[ScenarioFunction], ScenarioFunction]:
        """Register a scenario for the requirements ``exercises``, given without the default prefix.

        ``violated`` are requirements, not listed in ``exercises``, that only a faulty implementation exercises in the
        scenario. A ``long`` scenario is played in one environment only, the plain one if selected. With ``of_one_text``
        it is not played for equivalent requirements of other specifications. ``write`` writes it as a schedule. Raises
        ValueError if the name exists.
        """

        def register(function: ScenarioFunction) -> ScenarioFunction:
            name = function.__name__.replace("_", "-")
            if name in self.scenarios:
                raise ValueError(f"two scenarios are called {name}")
            ids, only = (
                tuple(short if short.startswith(self._others) else f"{self.prefix}{short}" for short in those)
                for those in (exercises, violated)
            )
            self.scenarios[name] = Scenario(
                name, function, ids + only, frozenset(only), long, of_one_text, self.counterparts, write=write
            )
            return function

        return register

    def schedule(
        self,
        write: Callable[[Callable[..., None]], Schedule],
        perform: Callable[[Schedule, Any], object],
        *exercises: str,
        **options: Any,
    ) -> Callable[[Callable[..., None]], ScenarioFunction]:
        """Register, as a scenario, a function that writes a schedule.

        ``write`` calls the registered function and returns its schedule; ``perform`` plays the schedule on a stage. The
        other parameters are those of ``scenario``.
        """

        def register(plot: Callable[..., None]) -> ScenarioFunction:
            @cache
            def schedule() -> Schedule:
                return write(plot)

            @wraps(plot)
            def play(stage: Any) -> None:
                perform(schedule(), stage)

            return self.scenario(*exercises, write=schedule, **options)(play)

        return register

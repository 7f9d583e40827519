"""Distributes the units of a run among processes. Results are yielded in the order of the units.

Each unit has its own process of the implementation. The runs of a unit depend on the plan only, so the report does not
depend on the number of worker processes.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from itertools import groupby
from types import SimpleNamespace
from typing import Any

from sds_harness.environment import PLAIN
from sds_harness.language import Language
from sds_harness.link import Limits
from sds_harness.resources import MissingResourceError

from .garbage import rare_garbage_collection
from .registry import IN, Run, Scenario
from .rules import Rules
from .run_player import Keep, RunPlayer, RunResult
from .runner import Connect, Runner
from .trace_storage import dumps, loads
from .workers import Workers

PIECES = 4
"""Number of units into which the runs of the first environment are divided. This environment has the long runs, and
takes as long as several other environments.
"""

FEWEST = 60
"""Minimum number of runs per process for which a worker process saves time."""

Unit = tuple[Run, ...]
RulesOf = Callable[[str], Rules]
"""Returns the rules of a revision. Must be a function at the top level of a module, so that it can be pickled for
workers.
"""


@dataclass(frozen=True)
class LostUnit:
    """A unit that was not completed, because its worker process ended too early."""

    unit: Unit
    why: str


def useful_jobs(units: Sequence[Unit], jobs: int) -> int:
    """Return the number of processes, at most ``jobs``, that save time. Starting one takes longer than a few runs."""
    return max(1, min(jobs, len(units), sum(map(len, units)) // FEWEST))


@dataclass(frozen=True)
class WorkerOrder:
    """The arguments of a worker. Plain data."""

    connect: Connect
    limits: Limits
    revision: str
    dialect: str | None
    declaration: bytes
    """The declaration, pickled by `dumps`."""
    requirements: tuple[str, ...]
    keep: Keep
    files: tuple[Scenario, ...] = ()
    """The scenarios that were read from files. Workers know all other scenarios by name."""


def units_of(runs: Sequence[Run]) -> list[Unit]:
    """Group runs into units: one per environment, but several for the first environment."""
    out: list[Unit] = []
    for _, several in groupby(runs, lambda run: run.environment.name):
        unit = tuple(several)
        size = len(unit) if out else -(-len(unit) // PIECES)
        out += [unit[start : start + size] for start in range(0, len(unit), size)]
    return out


class SharedWork:
    """Plays the units in this process and, once they are started, in workers."""

    def __init__(
        self, player: RunPlayer, units: Sequence[Unit], language: Language, received: Callable[[str], None]
    ) -> None:
        """``received`` is called with the name of each run whose result arrived, from any process."""
        self._language = language
        self._player = player
        self._units = units
        self._received = received
        self._workers: Workers | None = None
        self._unit_counter: Any = SimpleNamespace(value=1, get_lock=nullcontext)
        """Number of the next unit to play. This process plays the first unit, because its implementation is running."""
        self._arrived_results: defaultdict[int, deque[bytes | RunResult]] = defaultdict(deque)
        """The arrived results by unit. Results of workers stay pickled until they are yielded."""
        self._current_unit = 0
        self._returned: list[int] = []
        """Units that workers could not start, for example because the implementation lacked memory."""
        self._begun: set[int] = set()
        """Units of which a worker sent a result."""

    def start_workers(self, others: Workers, order: WorkerOrder, rules_of: RulesOf, jobs: int) -> None:
        """Start workers, so that ``jobs`` processes play in total."""
        self._workers = others
        self._unit_counter = others.context.Value("i", 1)
        names = [[run.name for run in unit] for unit in self._units]
        for _ in range(jobs - 1):
            try:
                others.start(_play_units, order, rules_of, names, self._unit_counter)
            except MissingResourceError:
                return  # the processes that were started play all units

    def results(self) -> Iterator[RunResult | LostUnit]:
        """Yield the results of all units, in their order."""
        mine = 0 if self._units else None
        while mine is not None:
            yield from self._play(mine)
            mine = _claim_next_unit(self._unit_counter, len(self._units))
        while self._current_unit < len(self._units):
            assert self._workers is not None, "this process plays its units to the end"
            alive = self._workers.alive_count
            took = self._process_report(wait=True)
            if self._returned:
                yield from self._play(self._returned.pop())
            elif not took and not alive:
                lost = self._workers.wait_for_failures()
                if lost or self._current_unit in self._begun:
                    codes = ", ".join(map(str, lost)) or "none"
                    yield LostUnit(
                        self._units[self._current_unit],
                        f"a process of the suite ended before its work was done (exit codes: {codes})",
                    )
                    self._current_unit += 1
                else:
                    yield from self._play(self._current_unit)
            yield from self._results_in_order()

    def _play(self, number: int) -> Iterator[RunResult]:
        for result in self._player.play_unit(self._units[number]):
            self._arrived_results[number].append(result)
            if result.run:
                self._received(result.run)
            while self._process_report(wait=False):
                pass
            yield from self._results_in_order()

    def drain(self) -> Iterator[RunResult]:
        """After an interrupt: yield the results that have arrived."""
        while self._process_report(wait=False, quiet=True):
            pass
        for unit in sorted(self._arrived_results):
            while self._arrived_results[unit]:
                yield self._unpack(self._arrived_results[unit].popleft())

    def _process_report(self, *, wait: bool, quiet: bool = False) -> bool:
        """Store the next report of a worker; with ``quiet``, report no progress. Return False if nothing arrived."""
        report = self._workers.report(wait=wait) if self._workers is not None else None
        if report is None:
            return False
        unit, run, result = report
        if result is None:
            self._returned.append(unit)
            return True
        self._begun.add(unit)
        self._arrived_results[unit].append(result)
        if run and not quiet:
            self._received(run)
        return True

    def _results_in_order(self) -> Iterator[RunResult]:
        while self._arrived_results[self._current_unit]:
            result = self._unpack(self._arrived_results[self._current_unit].popleft())
            self._current_unit += not result.run
            yield result

    def _unpack(self, result: bytes | RunResult) -> RunResult:
        return loads(result, self._language) if isinstance(result, bytes) else result


def find_run(rules: Rules, name: str, files: Sequence[Scenario] = ()) -> Run:
    """Return the run with that name; ``files`` are the scenarios that were read from files."""
    scenario, _, environment = name.partition(IN)
    known = next((file for file in files if file.name == scenario), None) or rules.register.scenarios[scenario]
    return Run(known, rules.environments[environment or PLAIN.name])


def _claim_next_unit(unit_counter: Any, unit_count: int) -> int | None:
    """Claim the next unit that no process has claimed, and return its number; None if there is none."""
    with unit_counter.get_lock():
        number: int = unit_counter.value
        unit_counter.value += 1
    return number if number < unit_count else None


def _play_units(
    reports: Any, order: WorkerOrder, rules_of: RulesOf, units: Sequence[Sequence[str]], unit_counter: Any
) -> None:
    """Play units, given as names of runs, until none is left."""
    rules = rules_of(order.revision)
    declared = loads(order.declaration, rules.language)
    runner = Runner(order.connect, order.limits, rules, order.revision, order.dialect, declared)
    player = RunPlayer(runner, rules, order.requirements, order.keep)
    try:
        with rare_garbage_collection():
            while (number := _claim_next_unit(unit_counter, len(units))) is not None:
                for place, result in enumerate(
                    player.play_unit([find_run(rules, name, order.files) for name in units[number]])
                ):
                    if not place and result.summary is None:
                        # The machine may lack resources for so many implementations: give the unit back for later.
                        reports.put((number, "", None))
                        return
                    reports.put((number, result.run, dumps(result)))
    finally:
        runner.kill()

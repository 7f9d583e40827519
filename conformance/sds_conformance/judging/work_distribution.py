"""Distributes the units of a run among processes. Results are yielded in the order of the units.

Each unit has its own process of the implementation, and the plan alone decides which runs it contains. So the report
does not depend on the number of processes.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any, Protocol

from sds_harness.environment import PLAIN
from sds_harness.language import Language
from sds_harness.link import Limits
from sds_harness.resources import MissingResourceError

from .garbage import rarely_collecting
from .registry import IN, Run, Scenario
from .rules import Rules
from .run_player import Keep, RunPlayer, RunResult
from .runner import Connect, Runner
from .trace_storage import dumps, loads
from .workers import Workers

PIECES = 4
"""Parts into which the first environment is cut: it has the long runs, and takes as long as several others."""

FEWEST = 60
"""Number of runs from which a worker process pays off."""

Unit = tuple[Run, ...]
RulesOf = Callable[[str], Rules]
"""Returns the rules of a revision in any process: must be a function of a module, so that it can be pickled."""


@dataclass(frozen=True)
class LostUnit:
    """A unit whose worker process ended before the unit was done."""

    unit: Unit
    why: str


@dataclass(frozen=True)
class Sharing:
    """Number of processes that play at the same time, each with its own process of the implementation."""

    jobs: int
    rules_of: RulesOf

    def jobs_for(self, units: Sequence[Unit]) -> int:
        """Number of processes that pay off: starting one takes longer than playing a few runs."""
        return max(1, min(self.jobs, len(units), sum(map(len, units)) // FEWEST))


@dataclass(frozen=True)
class WorkerOrder:
    """The arguments of a worker. Plain data."""

    connect: Connect
    limits: Limits
    revision: str
    dialect: str | None
    declaration: bytes
    """Made by `dumps`."""
    requirements: tuple[str, ...]
    keep: Keep
    files: tuple[Scenario, ...] = ()
    """The scenarios that were read from files. Workers know all others by name."""


def units_of(runs: Sequence[Run]) -> list[Unit]:
    """Group runs into units that share a process: one per environment; the first one is cut into pieces."""
    out: list[Unit] = []
    for _, several in groupby(runs, lambda run: run.environment.name):
        unit = tuple(several)
        size = len(unit) if out else -(-len(unit) // PIECES)
        out += [unit[start : start + size] for start in range(0, len(unit), size)]
    return out


class ResultSource(Protocol):
    """An iterator of results."""

    def results(self) -> Iterator[RunResult | LostUnit]:
        """Yield the results of all units, in their order."""
        ...

    def drain(self) -> Iterator[RunResult]:
        """After an interrupt: yield the results that have arrived."""
        ...


class LocalWork(ResultSource):
    """Plays the units in this process, one after the other."""

    def __init__(self, player: RunPlayer, units: Sequence[Unit]) -> None:
        self._player = player
        self._units = units

    def results(self) -> Iterator[RunResult | LostUnit]:
        for unit in self._units:
            yield from self._player.play_unit(unit)

    def drain(self) -> Iterator[RunResult]:
        yield from ()


class SharedWork(ResultSource):
    """Plays the units in this process and in workers."""

    def __init__(
        self,
        player: RunPlayer,
        units: Sequence[Unit],
        others: Workers,
        language: Language,
        received: Callable[[str], None],
    ) -> None:
        """``received`` is called with the name of each run whose result arrived."""
        self._language = language
        self._player = player
        self._units = units
        self._others = others
        self._received = received
        self._taken = others.context.Value("i", 0)
        self._came: defaultdict[int, deque[bytes | RunResult]] = defaultdict(deque)
        """By unit; results of workers stay pickled until they are yielded."""
        self._at = 0
        self._returned: list[int] = []
        """Units that workers could not start, for example because the implementation lacked memory."""
        self._begun: set[int] = set()
        """Units from which workers sent a result."""

    def begin(self, order: WorkerOrder, rules_of: RulesOf, jobs: int) -> None:
        """Start workers, so that ``jobs`` processes play in total."""
        self._taken.value = 1  # this process plays the first unit, because it has the implementation running
        names = [[run.name for run in unit] for unit in self._units]
        for _ in range(jobs - 1):
            try:
                self._others.start(_work, order, rules_of, names, self._taken)
            except MissingResourceError:
                return  # fewer processes play the units

    def results(self) -> Iterator[RunResult | LostUnit]:
        mine: int | None = 0
        while mine is not None:
            yield from self._play(mine)
            mine = _next(self._taken, len(self._units))
        while self._at < len(self._units):
            alive = self._others.alive_count
            took = self._take_in(wait=True)
            if self._returned:
                yield from self._play(self._returned.pop())
            elif not took and not alive:
                lost = self._others.lost()
                if lost or self._at in self._begun:
                    codes = ", ".join(map(str, lost)) or "none"
                    yield LostUnit(
                        self._units[self._at], f"a process of the suite ended before its work was done: {codes}"
                    )
                    self._at += 1
                else:
                    yield from self._play(self._at)
            yield from self._results_in_order()

    def _play(self, number: int) -> Iterator[RunResult]:
        for result in self._player.play_unit(self._units[number]):
            self._came[number].append(result)
            while self._take_in(wait=False):
                pass
            yield from self._results_in_order()

    def drain(self) -> Iterator[RunResult]:
        while self._receive(wait=False) is not None:  # no progress is reported after an interrupt
            pass
        for unit in sorted(self._came):
            while self._came[unit]:
                yield self._unpack(self._came[unit].popleft())

    def _take_in(self, *, wait: bool) -> bool:
        run = self._receive(wait=wait)
        if run:
            self._received(run)
        return run is not None

    def _receive(self, *, wait: bool) -> str | None:
        """Return the run whose result arrived; "" at the end of a unit, None if nothing arrived."""
        report = self._others.report(wait=wait)
        if report is None:
            return None
        unit, run, result = report
        if result is None:
            self._returned.append(unit)
            return ""
        self._begun.add(unit)
        self._came[unit].append(result)
        return str(run)

    def _results_in_order(self) -> Iterator[RunResult]:
        while self._came[self._at]:
            result = self._unpack(self._came[self._at].popleft())
            self._at += not result.run
            yield result

    def _unpack(self, result: bytes | RunResult) -> RunResult:
        return loads(result, self._language) if isinstance(result, bytes) else result


def find_run(rules: Rules, name: str, files: Sequence[Scenario] = ()) -> Run:
    """Return the run with that name; ``files`` are the scenarios that were read from files."""
    scenario, _, environment = name.partition(IN)
    known = next((file for file in files if file.name == scenario), None) or rules.register.scenarios[scenario]
    return Run(known, rules.environments[environment or PLAIN.name])


def _next(taken: Any, there_are: int) -> int | None:
    """Return the number of the next unit that no process plays; None if there is none."""
    with taken.get_lock():
        number: int = taken.value
        taken.value += 1
    return number if number < there_are else None


def _work(reports: Any, order: WorkerOrder, rules_of: RulesOf, units: Sequence[Sequence[str]], taken: Any) -> None:
    """Play units, given as names of runs, until none is left."""
    rules = rules_of(order.revision)
    declared = loads(order.declaration, rules.language)
    runner = Runner(order.connect, order.limits, rules, order.revision, order.dialect, declared)
    player = RunPlayer(runner, rules, order.requirements, order.keep)
    try:
        with rarely_collecting():
            while (number := _next(taken, len(units))) is not None:
                for place, result in enumerate(
                    player.play_unit([find_run(rules, name, order.files) for name in units[number]])
                ):
                    if not place and result.summary is None:  # it may start when fewer processes play: return the unit
                        reports.put((number, "", None))
                        return
                    reports.put((number, result.run, dumps(result)))
    finally:
        runner.kill()

"""Shares the units of a run among processes. What comes of it comes in the order of the units, whoever played them.

A unit has a process of the implementation of its own, and which runs are in it follows from the plan alone: so the
report is the same however many play.
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
from sds_harness.resources import ResourceMissing

from .garbage import rarely_collecting
from .keeping import dumps, loads
from .playing import Keep, Player, Result
from .registry import IN, Run
from .rules import Rules
from .runner import Connect, Runner
from .workers import Workers

PIECES = 4
"""Of the first environment: the long runs are in it, and it takes as long as several others."""

FEWEST = 60
"""Runs for which it is worth to begin a process of ours."""

Unit = tuple[Run, ...]
RulesOf = Callable[[str], Rules]
"""Gives the rules of a revision, in whatever process it is called: a function of a module."""


@dataclass(frozen=True)
class Lost:
    """A unit that a process of ours was playing when it ended."""

    unit: Unit
    why: str


@dataclass(frozen=True)
class Sharing:
    """How many play at the same time, each with a process of the implementation of its own."""

    jobs: int
    rules_of: RulesOf

    def jobs_for(self, units: Sequence[Unit]) -> int:
        """How many are worth it: one that has hardly anything to play takes longer to begin than it saves."""
        return max(1, min(self.jobs, len(units), sum(map(len, units)) // FEWEST))


@dataclass(frozen=True)
class Order:
    """What a worker is told. Plain data."""

    connect: Connect
    limits: Limits
    revision: str
    dialect: str | None
    declaration: bytes
    """By `dumps`."""
    requirements: tuple[str, ...]
    keep: Keep


def units_of(runs: Sequence[Run]) -> list[Unit]:
    """Runs that share a process: those of an environment; the first one is cut in pieces."""
    out: list[Unit] = []
    for _, several in groupby(runs, lambda run: run.environment.name):
        unit = tuple(several)
        size = len(unit) if out else -(-len(unit) // PIECES)
        out += [unit[start : start + size] for start in range(0, len(unit), size)]
    return out


class Source(Protocol):
    """Where results come from."""

    def results(self) -> Iterator[Result | Lost]:
        """What comes of all units, in their order."""
        ...

    def rest(self) -> Iterator[Result]:
        """After an interrupt: what has come by then."""
        ...


class Alone(Source):
    """Units that are played here, one after the other."""

    def __init__(self, player: Player, units: Sequence[Unit]) -> None:
        self._player = player
        self._units = units

    def results(self) -> Iterator[Result | Lost]:
        for unit in self._units:
            yield from self._player.unit(unit)

    def rest(self) -> Iterator[Result]:
        yield from ()


class Shared(Source):
    """Units that are played here and by workers."""

    def __init__(
        self,
        player: Player,
        units: Sequence[Unit],
        others: Workers,
        language: Language,
        received: Callable[[str], None],
    ) -> None:
        """``received`` is called with each run of which a result came."""
        self._language = language
        self._player = player
        self._units = units
        self._others = others
        self._received = received
        self._taken = others.context.Value("i", 0)
        self._came: defaultdict[int, deque[bytes | Result]] = defaultdict(deque)
        """By unit; those of workers stay packed until it is their turn."""
        self._at = 0
        self._returned: list[int] = []
        """Units that others could not begin: the implementation did not start, for example for lack of memory."""
        self._begun: set[int] = set()
        """Units of which others have sent something."""

    def begin(self, order: Order, rules_of: RulesOf, jobs: int) -> None:
        """Have others play as well, so many of us in all."""
        self._taken.value = 1  # the first is for who has the implementation running
        names = [[run.name for run in unit] for unit in self._units]
        for _ in range(jobs - 1):
            try:
                self._others.start(_work, order, rules_of, names, self._taken)
            except ResourceMissing:
                return  # the units are played by fewer

    def results(self) -> Iterator[Result | Lost]:
        mine: int | None = 0
        while mine is not None:
            yield from self._play(mine)
            mine = _next(self._taken, len(self._units))
        while self._at < len(self._units):
            there = self._others.alive
            took = self._take_in(wait=True)
            if self._returned:
                yield from self._play(self._returned.pop())
            elif not took and not there:
                lost = self._others.lost()
                if lost or self._at in self._begun:
                    codes = ", ".join(map(str, lost)) or "none"
                    yield Lost(self._units[self._at], f"a process of the suite ended before its work was done: {codes}")
                    self._at += 1
                else:
                    yield from self._play(self._at)
            yield from self._in_turn()

    def _play(self, number: int) -> Iterator[Result]:
        for result in self._player.unit(self._units[number]):
            self._came[number].append(result)
            while self._take_in(wait=False):
                pass
            yield from self._in_turn()

    def rest(self) -> Iterator[Result]:
        while self._arrived(wait=False) is not None:  # which tells nobody: there is nothing to look forward to
            pass
        for unit in sorted(self._came):
            while self._came[unit]:
                yield self._unpacked(self._came[unit].popleft())

    def _take_in(self, *, wait: bool) -> bool:
        run = self._arrived(wait=wait)
        if run:
            self._received(run)
        return run is not None

    def _arrived(self, *, wait: bool) -> str | None:
        """The run of which a result came, "" for the end of a unit, None if nothing did."""
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

    def _in_turn(self) -> Iterator[Result]:
        while self._came[self._at]:
            result = self._unpacked(self._came[self._at].popleft())
            self._at += not result.run
            yield result

    def _unpacked(self, result: bytes | Result) -> Result:
        return loads(result, self._language) if isinstance(result, bytes) else result


def named_run(rules: Rules, name: str) -> Run:
    """The run of that name."""
    scenario, _, environment = name.partition(IN)
    return Run(rules.register.scenarios[scenario], rules.environments[environment or PLAIN.name])


def _next(taken: Any, there_are: int) -> int | None:
    """The number of the next unit that nobody plays, None if there is none."""
    with taken.get_lock():
        number: int = taken.value
        taken.value += 1
    return number if number < there_are else None


def _work(reports: Any, order: Order, rules_of: RulesOf, units: Sequence[Sequence[str]], taken: Any) -> None:
    """Play units, of which the names of the runs are given, as long as there are any that nobody plays."""
    rules = rules_of(order.revision)
    declared = loads(order.declaration, rules.language)
    runner = Runner(order.connect, order.limits, rules, order.revision, order.dialect, declared)
    player = Player(runner, rules, order.requirements, order.keep)
    try:
        with rarely_collecting():
            while (number := _next(taken, len(units))) is not None:
                for place, result in enumerate(player.unit([named_run(rules, name) for name in units[number]])):
                    if not place and result.shown is None:  # it may start where fewer play: others find out
                        reports.put((number, "", None))
                        return
                    reports.put((number, result.run, dumps(result)))
    finally:
        runner.kill()

"""Interoperability: every ordered pair of implementations, including each with itself, plays all exchanges."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from itertools import product
from typing import Any

from sds_harness.faults import Breakdown
from sds_harness.schedules import GroupTrace

from ..exploration.casts import Cast, NotPlayedError
from ..judging.exits import Exit
from ..judging.runner import BrokenRun, tolerated_breakdowns
from ..protocols import exchanges_of
from ..protocols.exchanges import (
    RECEIVER,
    AspectMark,
    Cell,
    Exchange,
    Exchanges,
    Pair,
    PairSide,
    failed_cell,
    left_open,
)


@dataclass
class PairResult:
    """How the receiver of a pair understands the sender."""

    pair: Pair
    through: str
    """Name of the aspect without which no message is understood at all."""
    cells: dict[str, Cell] = field(default_factory=dict)
    """The result of each aspect of the exchanges, by the name of the aspect."""

    @property
    def is_understood(self) -> bool:
        """Is at least one message understood, and none misunderstood?"""
        through = self.cells.get(self.through)
        return not self.misunderstood and through is not None and through.mark is AspectMark.YES

    @property
    def misunderstood(self) -> tuple[str, ...]:
        return tuple(aspect for aspect, cell in self.cells.items() if cell.mark is AspectMark.NO)


@dataclass
class Interop:
    """The results of all pairs."""

    exchanges: Exchanges
    names: tuple[str, ...]
    sides: dict[str, PairSide]
    """The implementations that completed the handshake, by name."""
    undriven: dict[str, Breakdown]
    pair_results: dict[tuple[str, str], PairResult] = field(default_factory=dict)
    """The results by (sender, receiver). Each implementation is also paired with itself, which shows its own faults."""
    breakdowns: list[tuple[str, BrokenRun]] = field(default_factory=list)
    group_traces: int = 0
    steps: int = 0
    interrupted: bool = False

    @property
    def notes(self) -> list[str]:
        """Differences between declarations which are no fault, as sentences."""
        pairs = [m.pair for (a, b), m in self.pair_results.items() if self.names.index(a) < self.names.index(b)]
        return [note for pair in pairs for note in self.exchanges.notes(pair)]

    @property
    def misunderstandings(self) -> list[PairResult]:
        """The pairs for which `PairResult.is_understood` is False, in the order of the matrix."""
        return [result for result in self.pair_results.values() if not result.is_understood]

    @property
    def exit_code(self) -> int:
        """Exit code: 0 if everything is understood; 1 if an aspect is misunderstood or an implementation broke down; 3
        if an implementation could not be tested; 4 if a pair understood no message, although no aspect is
        misunderstood; 130 if interrupted.
        """
        if self.interrupted:
            return Exit.INTERRUPTED
        if self.undriven:
            return Exit.NOT_DRIVEN
        hard = {run.breakdown.kind.value for _, run in self.breakdowns} - tolerated_breakdowns()
        if hard or any(result.misunderstood for result in self.pair_results.values()):
            return Exit.NON_CONFORMANT
        return Exit.CONFORMANT if not self.misunderstandings else Exit.NOTHING_EXERCISED

    def to_json(self) -> dict[str, Any]:
        """The result as JSON; all strings of implementations are limited in length."""
        return {
            "implementations": [self._implementation(name) for name in self.names],
            "aspects": [{"id": aspect, "meaning": meaning} for aspect, meaning in self.exchanges.aspects.items()],
            "pairs": [
                {
                    "sender": sender,
                    "receiver": receiver,
                    "understood": result.is_understood,
                    "translated": result.pair.translated,
                    "aspects": {
                        aspect: {"mark": cell.mark.value, "reason": cell.reason}
                        for aspect, cell in result.cells.items()
                    },
                }
                for (sender, receiver), result in self.pair_results.items()
            ],
            "notes": self.notes,
            "breakdowns": [
                {
                    "implementation": name,
                    "where": run.where,
                    "step": run.step,
                    "command": run.command,
                    "kind": run.breakdown.kind.value,
                    "detail": run.breakdown.detail,
                    "stderr": list(run.breakdown.stderr),
                }
                for name, run in self.breakdowns
            ],
            "group traces": self.group_traces,
            "steps": self.steps,
            "interrupted": self.interrupted,
            "exit_code": self.exit_code,
        }

    def _implementation(self, name: str) -> dict[str, Any]:
        if name in self.undriven:
            breakdown = self.undriven[name]
            return {"name": name, "driven": False, "kind": breakdown.kind.value, "detail": breakdown.detail}
        side = self.sides[name]
        return {
            "name": name,
            "driven": True,
            "calls_itself": f"{side.declared.name} {side.declared.version}".strip(),
            "dialect": side.dialect,
            **{f"{name}_profile": side.declared.profile(name) for name in self.exchanges.profiles},
        }


def explore(
    cast: Cast,
    progress: Callable[[str, int, int], None] = lambda what, number, total: None,
    begun: Callable[[Interop], None] = lambda outcome: None,
) -> Interop:
    """Start a cast, play all exchanges with each ordered pair, and close it. ``begun`` is called after the handshakes,
    ``progress`` with a description of what is played now, its number from 0, and the total number.

    An interrupt ends the playing; the exchanges that were played count. Raises RevisionMismatchError.
    """
    cast.start()
    cast.check_text()
    dialects = {name: cast.dialect(name) for name in cast.driven}
    sides = {n: PairSide(n, cast.declarations[n], d.name if d is not None else "") for n, d in dialects.items()}
    exchanges = exchanges_of(cast.revision)
    out = Interop(exchanges, tuple(cast.implementations), sides, cast.undriven, breakdowns=cast.breakdowns)
    begun(out)
    pairs = [Pair(sender, receiver) for sender in sides.values() for receiver in sides.values()]
    total = len(pairs) * len(exchanges.all)
    for number, (pair, exchange) in enumerate(product(pairs, exchanges.all)):
        names = (pair.sender.name, pair.receiver.name)
        progress(f"{names[0]} → {names[1]}: {exchange.name}", number, total)
        result = out.pair_results.setdefault(names, PairResult(pair, exchanges.through))
        try:
            result.cells |= (
                _cells_of_exchange(cast, pair, exchange, out) if not out.interrupted else _interrupted_cells(exchange)
            )
        except KeyboardInterrupt:
            out.interrupted = True
            cast.kill()
            result.cells |= _interrupted_cells(exchange)
    cast.close()
    progress("done", total, total)
    return out


def _interrupted_cells(exchange: Exchange) -> dict[str, Cell]:
    return dict.fromkeys(exchange.judges, left_open("not played because of an interrupt"))


def _cells_of_exchange(cast: Cast, pair: Pair, exchange: Exchange, out: Interop) -> dict[str, Cell]:
    """Play an exchange, and return the cells (results of aspects) that it fills."""
    lacking = exchange.needs(pair)
    if lacking:
        return dict.fromkeys(exchange.judges, left_open(lacking))
    cells: dict[str, Cell] = {}
    for schedule in exchange.schedules:
        roles = {m: (pair.receiver if m == RECEIVER else pair.sender).name for m in schedule.names}
        try:
            group_trace = cast.play(schedule, roles, translated=exchange.translated)
        except NotPlayedError as without:
            return cells or dict.fromkeys(exchange.judges, failed_cell(str(without)))
        out.group_traces += 1
        out.steps += group_trace.steps
        heard = out.exchanges.read(group_trace, {member: cast.dialect(name) for member, name in roles.items()})
        cells = {aspect: judge(heard, pair) for aspect, judge in exchange.judges.items()}
        broke = _cut_short(cast, group_trace, roles)
        if broke is not None:
            # Aspects that were not understood before the breakdown get the breakdown as their reason.
            cells = {aspect: cell if cell.mark is AspectMark.YES else broke for aspect, cell in cells.items()}
        if group_trace.breakdown is not None or not any(cell.mark is AspectMark.NO for cell in cells.values()):
            break
    return cells


def _cut_short(cast: Cast, group_trace: GroupTrace, roles: Mapping[str, str]) -> Cell | None:
    """Return the cell for a group trace that ended early; None if the group trace is complete."""
    broken = cast.broken_in(group_trace, roles)
    if broken is not None:
        name, breakdown = broken
        return failed_cell(f"{name} must act: it broke down ({breakdown.kind.value}: {breakdown.detail})")
    return failed_cell("stopped: the messages did not end") if group_trace.storm else None

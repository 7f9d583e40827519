"""Plays a schedule on a cast: participants on stages, the network between them, and virtual time.

What is played is a function of the schedule and of the implementations, and of nothing else. Here is what a schedule of
any protocol has; the player of a protocol adds its own operations, and how its participants are driven.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Generic, TypeVar

from ..faults import TesteeFault
from ..stage import ScheduleStopped
from .network import Network
from .operations import (
    EVERYBODY,
    STRAIGHT,
    Calm,
    Crash,
    Cut,
    Heal,
    Join,
    Links,
    Look,
    Member,
    Operation,
    Route,
    Schedule,
    StepClock,
    Tick,
    Wait,
)
from .performance import Act, Loss, Packet, Performance, S, T, W

MAX_PACKETS = 1_000
"""With more from one operation, or in one calm round, it is broken off: somebody answers without end."""
MAX_STEPS = 50_000
"""Of a performance, all participants together: it has to fit into memory."""
QUIET_ROUNDS = 2
"""In calm, where nobody lacks anything."""

A = TypeVar("A")
"""Drives a participant."""


class Storm(Exception):
    """There is no end of messages."""


class TooLong(Exception):
    """More steps were asked for than can be played."""


class Player(ABC, Generic[A, S, T, W]):
    """One performance."""

    def __init__(self, schedule: Schedule, stages: Mapping[str, Any]) -> None:
        """``stages`` says on which stage each of the members stands."""
        self.schedule = schedule
        self._stages = stages
        self._distinct: list[Any] = list({id(stage): stage for stage in stages.values()}.values())
        cast = {name: stages[name].trace for name in schedule.names}
        self.performance: Performance[S, T, W] = Performance(schedule, [stage.trace for stage in self._distinct], cast)
        self._epochs = {id(stage): stage.now_ms for stage in self._distinct}
        self._elapsed = 0
        self._clocks = {member.name: member.clock_ms for member in schedule.members}
        self._actors: dict[str, A] = {}
        self._network = Network[W](schedule.seed)
        self._operation = 0
        self._packets_before = 0
        self._arriving = False
        self._does: dict[type[Operation], Callable[..., None]] = {
            Tick: self._tick,
            Wait: lambda op: self._pass(op.ms),
            Look: self._look,
            Join: lambda op: self._open(self._member(op.who)),
            Crash: self._crash,
            StepClock: self._step_clock,
            Links: self._network.change,
            Cut: self._network.cut,
            Heal: lambda op: self._network.heal(),
            Calm: self._calm,
        }

    # ---- what is its protocol's ------------------------------------------------------------------------------------

    @abstractmethod
    def _opened(self, member: Member) -> A:
        """Open a participant on its stage."""

    @abstractmethod
    def _broadcasts(self, step: S) -> Sequence[W]:
        """What a step handed to the network."""

    @abstractmethod
    def _hear(self, listener: str, actor: A, wire: W) -> None:
        """Something arrives at a participant."""

    @abstractmethod
    def _tick(self, op: Tick) -> None:
        """The periodic work runs that is due."""

    @abstractmethod
    def _look(self, op: Look) -> None:
        """Participants show their state."""

    @abstractmethod
    def _round(self, op: Calm) -> None:
        """What everybody does in a calm round, once its period has passed."""

    @abstractmethod
    def _account(self) -> object:
        """What changes when anything new happens."""

    @abstractmethod
    def _longest_ms(self) -> int:
        """How long a message may be under way that somebody still lacks, 0 if nobody lacks any."""

    def _left(self, packet: Packet[W]) -> None:
        """A packet was broadcast, and has not arrived anywhere yet."""

    # ---- all of it -------------------------------------------------------------------------------------------------

    def play(self) -> Performance[S, T, W]:
        """From the opening of the participants to their end."""
        show = self.performance
        try:
            self._open_all()
            for index, operation in enumerate(self.schedule.operations):
                self._operation = index
                self._packets_before = len(show.packets)
                show.began[index] = self._elapsed
                self._try(index, lambda op=operation: self._does[type(op)](op))  # type: ignore[misc]
        except TesteeFault as fault:
            self._broke(fault)
        except Storm:
            show.storm = True
        except TooLong:
            show.left_out[self._operation] = f"there were {MAX_STEPS:,} steps, and the rest was not played"
        for stage in self._distinct:
            if stage.trace.breakdown is None:
                try:
                    stage.close()
                except TesteeFault as fault:
                    self._broke(fault)
        # They hold the player, and it the performance: now whoever has that alone keeps it in memory.
        self._does.clear()
        return show

    def _broke(self, fault: TesteeFault) -> None:
        """Note the first breakdown, and with whom."""
        show = self.performance
        if show.breakdown is None:
            show.breakdown = fault.breakdown
            last = [trace.steps[-1] for trace in show.traces if trace.breakdown is not None and trace.steps]
            show.broken = last[0].participant if last else ""

    def _try(self, index: int, play: Callable[[], None]) -> None:
        """An operation that cannot be had is left out; the rest is played all the same."""
        try:
            play()
        except ScheduleStopped as stopped:
            self.performance.left_out[index] = str(stopped)

    # ---- participants ----------------------------------------------------------------------------------------------

    def _member(self, name: str) -> Member:
        return next(member for member in self.schedule.members if member.name == name)

    def _open_all(self) -> None:
        self._operation = -1
        for member in self.schedule.members:
            if not member.late:
                self._try(-1, lambda: self._open(member))  # noqa: B023

    def _open(self, member: Member) -> None:
        if member.name in self._actors or member.name in self.performance.crashed:
            return
        opened: list[A] = []
        self._act(member.name, lambda: opened.append(self._opened(member)), STRAIGHT)
        self._actors[member.name] = opened[0]

    def _crash(self, op: Crash) -> None:
        if self._actors.pop(op.who, None) is not None or op.who not in self.performance.parties:
            self.performance.crashed.setdefault(op.who, self._operation)

    def _step_clock(self, op: StepClock) -> None:
        self._clocks[op.who] += op.ms

    def _those(self, who: str) -> list[str]:
        """The participants that are there, of those an operation means."""
        return [name for name in self.schedule.names if name in self._actors and who in (EVERYBODY, name)]

    # ---- steps -----------------------------------------------------------------------------------------------------

    def _act(
        self,
        who: str,
        does: Callable[[], object],
        route: Route,
        packet: Packet[W] | None = None,
        source: str = "network",
        label: str = "",
    ) -> None:
        """Let a participant do something at its own time; what it broadcasts goes into the network."""
        if len(self.performance.acts) >= MAX_STEPS:
            raise TooLong
        stage = self._stages[who]
        stage.now_ms = max(1, self._epochs[id(stage)] + self._elapsed + self._clocks[who])
        before = len(stage.trace.steps)
        try:
            does()
        finally:
            show = self.performance
            for step in stage.trace.steps[before:]:
                arrived = packet if step.command == "receive" else None
                act = Act(len(show.acts) + 1, who, step, stage.trace, self._elapsed, self._operation, arrived, source)
                show.acts.append(act)
                self._broadcast(act, step, route, label)

    def _broadcast(self, act: Act[S, T, W], step: S, route: Route, label: str) -> None:
        for wire in self._broadcasts(step):
            packet = self._packet(act.who, wire, act.number, label)
            label = ""
            self._carry(packet, [name for name in self._actors if name != act.who], route)

    def _packet(self, sender: str, wire: W, act: int, label: str) -> Packet[W]:
        show = self.performance
        packet = Packet(len(show.packets) + 1, sender, wire, self._elapsed, act, self._operation, label)
        show.packets.append(packet)
        if len(show.packets) - self._packets_before > MAX_PACKETS:
            raise Storm
        if label:
            show.labels.setdefault(label, packet)
        self._left(packet)
        return packet

    def _carry(self, packet: Packet[W], listeners: list[str], route: Route) -> None:
        for listener, why in self._network.carry(packet, listeners, route):
            self.performance.losses.append(Loss(packet, listener, self._elapsed, why))
        self._arrive(self._elapsed)

    def _arrive(self, until_ms: int) -> None:
        """What is due arrives, unless something is arriving already: then that one goes on with it."""
        if self._arriving:
            return
        self._arriving = True
        try:
            while (due := self._network.due(until_ms)) is not None:
                self._elapsed = max(self._elapsed, due[0])
                self._receive(due[1], due[2])
        finally:
            self._arriving = False

    def _receive(self, listener: str, packet: Packet[W], source: str = "network", wire: W | None = None) -> None:
        actor = self._actors.get(listener)
        if actor is None:
            why = "crashed" if listener in self.performance.crashed else "absent"
            self.performance.losses.append(Loss(packet, listener, self._elapsed, why))
            return
        self._act(listener, lambda: self._hear(listener, actor, wire or packet.wire), STRAIGHT, packet, source)

    def _pass(self, milliseconds: int) -> None:
        until = self._elapsed + milliseconds
        self._arrive(until)
        self._elapsed = until

    def _calm(self, op: Calm) -> None:
        self._network.heal()
        show, quiet = self.performance, 0
        show.settled = False
        before = self._account()
        for _ in range(op.rounds):
            self._packets_before = len(show.packets)
            self._pass(op.period_ms)
            self._round(op)
            show.calm_rounds += 1
            account = self._account()
            quiet = quiet + 1 if account == before else 0
            before = account
            # While somebody lacks a message, the longest time has to pass that it may take.
            if quiet >= QUIET_ROUNDS - (-self._longest_ms() // op.period_ms):
                show.settled = True
                return

"""Plays a schedule on participants that broadcast, with the simulated network between them.

This class plays the operations of all such protocols. The player of each protocol adds its own operations and drives
its participants.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from .base_player import MAX_STEPS, A, BasePlayer, MessageStormError, ScheduleTooLongError
from .group_trace import Act, Loss, Packet, S, T, W
from .network import Network
from .operations import STRAIGHT, Crash, Cut, Heal, Join, Links, Member, Route, Schedule

MAX_PACKETS = 1_000
"""Maximum number of packets of one operation or one calm round. With more, the run is stopped, because participants
answer each other without end."""


class Player(BasePlayer[A, S, T, W]):
    """Plays one schedule and records its group trace."""

    def __init__(self, schedule: Schedule, stages: Mapping[str, Any], length_factor: int = 1) -> None:
        super().__init__(schedule, stages, length_factor)
        self._network = Network[W](schedule.seed)
        self._arriving = False
        self._does |= {
            Join: lambda op: self._try_to_open(self._member(op.who)),
            Crash: self._crash,
            Links: self._network.change,
            Cut: self._network.cut,
            Heal: lambda op: self._network.heal(),
        }

    # ---- implemented by each protocol ------------------------------------------------------------------------------

    @abstractmethod
    def _opened(self, member: Member) -> A:
        """Open a participant on its stage."""

    @abstractmethod
    def _broadcasts(self, step: S) -> Sequence[W]:
        """The messages that the reply of a step asks the network to broadcast."""

    @abstractmethod
    def _requested(self, step: S) -> W | None:
        """The one broadcast in the reply that the command asked for, not a resend or a response; None if there is
        none."""

    @abstractmethod
    def _deliver(self, listener: str, actor: A, wire: W) -> None:
        """Deliver a message to a participant."""

    def _after_broadcast(self, packet: Packet[W]) -> None:
        """Called when a packet was broadcast and before it arrives anywhere."""

    # ---- participants ----------------------------------------------------------------------------------------------

    def _open(self, member: Member) -> None:
        if member.name in self._actors or member.name in self.group_trace.crashed:
            return
        opened: list[A] = []
        self._act(member.name, lambda: opened.append(self._opened(member)), STRAIGHT)
        self._actors[member.name] = opened[0]

    def _crash(self, op: Crash) -> None:
        if self._actors.pop(op.who, None) is not None or op.who not in self.group_trace.parties:
            self.group_trace.crashed.setdefault(op.who, self._operation)

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
        """Call ``does``, which makes a participant take steps. Record the steps as acts, and carry their broadcasts
        over the network."""
        if len(self.group_trace.acts) >= MAX_STEPS * self._length_factor:
            raise ScheduleTooLongError(f"the maximum of {MAX_STEPS * self._length_factor:,} steps was reached")
        stage = self._at(who)
        before = len(stage.trace.steps)
        try:
            does()
        finally:
            group_trace = self.group_trace
            # ``does`` can cause several steps: the environment and questions to the codec add some.
            labelled = [step for step in stage.trace.steps[before:] if label and step.command.startswith("send")][-1:]
            for step in stage.trace.steps[before:]:
                arrived = packet if step.command == "receive" else None
                act = Act(
                    len(group_trace.acts) + 1, who, step, stage.trace, self._elapsed, self._operation, arrived, source
                )
                group_trace.acts.append(act)
                self._broadcast(act, step, route, label if step in labelled else "")

    def _broadcast(self, act: Act[S, T, W], step: S, route: Route, label: str) -> None:
        requested = self._requested(step) if label else None
        for wire in self._broadcasts(step):
            packet = self._packet(act.who, wire, act.number, label if wire is requested else "")
            self._carry(packet, [name for name in self._actors if name != act.who], route)

    def _packet(self, sender: str, wire: W, act: int, label: str) -> Packet[W]:
        group_trace = self.group_trace
        packet = Packet(len(group_trace.packets) + 1, sender, wire, self._elapsed, act, self._operation, label)
        group_trace.packets.append(packet)
        if len(group_trace.packets) - self._packets_before > MAX_PACKETS * self._length_factor:
            raise MessageStormError
        if label:
            group_trace.labels.setdefault(label, packet)
        self._after_broadcast(packet)
        return packet

    def _carry(self, packet: Packet[W], listeners: list[str], route: Route) -> None:
        for listener, why in self._network.carry(packet, listeners, route):
            self.group_trace.losses.append(Loss(packet, listener, self._elapsed, why))
        self._arrive(self._elapsed)

    def _arrive(self, until_ms: int) -> None:
        """Deliver all messages that are due. A nested call does nothing: the outer call delivers the new messages,
        too."""
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
            why = "crashed" if listener in self.group_trace.crashed else "absent"
            self.group_trace.losses.append(Loss(packet, listener, self._elapsed, why))
            return
        self._act(listener, lambda: self._deliver(listener, actor, wire or packet.wire), STRAIGHT, packet, source)

    def _heal(self) -> None:
        self._network.heal()

    def _pass(self, milliseconds: int) -> None:
        until = self._elapsed + milliseconds
        self._arrive(until)
        self._elapsed = until

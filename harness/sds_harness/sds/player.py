"""Plays a schedule on a cast: participants on stages, the network between them, and virtual time.

What is played is a function of the schedule and of the implementations, and of nothing else.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from sds_proto.testee.v1 import testee_pb2 as pb
from sds_reference import UNNAMED_CHANNEL, HistoryEntry, Kind, Message, encode

from ..faults import TesteeFault
from ..schedules.network import Network
from ..schedules.operations import (
    EVERYBODY,
    STRAIGHT,
    Again,
    Calm,
    Crash,
    Cut,
    Ephemeral,
    Garble,
    Heal,
    Join,
    Links,
    Look,
    Lookup,
    Member,
    Route,
    Say,
    Schedule,
    Send,
    StepClock,
    Sync,
    Tick,
    Wait,
)
from ..schedules.performance import Act, Loss, Packet, Performance
from ..stage import ScheduleStopped
from .actor import Actor
from .encodings import ENCODINGS
from .stage import Stage
from .trace import Step, Wire

MAX_PACKETS = 1_000
"""With more from one operation, or in one calm round, it is broken off: somebody answers without end."""
QUIET_ROUNDS = 2
"""In calm, where nobody lacks anything."""
MAX_LAMPORT = 2**64 - 1


class Storm(Exception):
    """There is no end of messages."""


def play(schedule: Schedule, stages: Mapping[str, Stage]) -> Performance:
    """Play a schedule; ``stages`` says on which stage each of its members stands.

    The stages are closed at the end. A breakdown of an implementation ends the performance and is noted in it.
    """
    return Player(schedule, stages).play()


def hint_of(label: str) -> bytes:
    """A retrieval hint; no text, for it is the transport's and need not be any."""
    return b"hint\xff\x00 of " + label.encode()


class Player:
    """One performance."""

    def __init__(self, schedule: Schedule, stages: Mapping[str, Stage]) -> None:
        self.schedule = schedule
        self._stages = stages
        distinct = list({id(stage): stage for stage in stages.values()}.values())
        self._distinct = distinct
        cast = {name: stages[name].trace for name in schedule.names}
        self.performance = Performance(schedule, [stage.trace for stage in distinct], cast)
        self._epochs = {id(stage): stage.now_ms for stage in distinct}
        self._elapsed = 0
        self._clocks = {member.name: member.clock_ms for member in schedule.members}
        self._actors: dict[str, Actor] = {}
        self._network = Network(schedule.seed)
        self._operation = 0
        self._packets_before = 0
        self._store: dict[tuple[str, str], Packet] = {}
        self._has: dict[str, dict[tuple[str, str], None]] = {name: {} for name in schedule.names}
        self._signals = self._accounted = self._accounted_packets = 0
        self._asked: set[tuple[str, str, str]] = set()
        self._wants: dict[str, dict[tuple[str, str], None]] = {name: {} for name in schedule.names}
        self._does: dict[type, Callable[..., None]] = {
            Send: self._send,
            Sync: self._sync,
            Ephemeral: self._ephemeral,
            Tick: self._tick,
            Wait: lambda op: self._pass(op.ms),
            Look: self._look,
            Join: lambda op: self._open(self._member(op.who)),
            Crash: self._crash,
            StepClock: self._step_clock,
            Links: self._network.change,
            Cut: self._network.cut,
            Heal: lambda op: self._network.heal(),
            Lookup: self._lookup,
            Again: self._again,
            Say: self._say,
            Garble: self._garble,
            Calm: self._calm,
        }

    def play(self) -> Performance:
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
        for stage in self._distinct:
            if stage.trace.breakdown is None:
                try:
                    stage.close()
                except TesteeFault as fault:
                    self._broke(fault)
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
        stage = self._stages[member.name]
        channels = self.schedule.channels
        if not stage.trace.declaration.can(pb.CAPABILITY_CHANNELS):
            channels = channels[:1]
        asked = pb.Configuration(**dict(self.schedule.configuration))  # type: ignore[arg-type]
        if member.sds_r is not None:
            asked.sds_r = member.sds_r
        self._actors[member.name] = self._on(
            member.name, lambda: stage.open(member.name, channels, configuration=asked)
        )

    def _crash(self, op: Crash) -> None:
        if self._actors.pop(op.who, None) is not None or op.who not in self.performance.parties:
            self.performance.crashed.setdefault(op.who, self._operation)

    def _step_clock(self, op: StepClock) -> None:
        self._clocks[op.who] += op.ms

    def _those(self, who: str) -> list[str]:
        """The participants that are there, of those an operation means."""
        return [name for name in self.schedule.names if name in self._actors and who in (EVERYBODY, name)]

    def _on(self, who: str, does: Callable[[], Actor]) -> Actor:
        """Open a participant."""
        out: list[Actor] = []
        self._act(who, lambda: out.append(does()), STRAIGHT)
        return out[0]

    # ---- steps -----------------------------------------------------------------------------------------------------

    def _act(
        self,
        who: str,
        does: Callable[[], object],
        route: Route,
        packet: Packet | None = None,
        source: str = "network",
        label: str = "",
    ) -> None:
        """Let a participant do something at its own time; what it broadcasts goes into the network."""
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

    def _broadcast(self, act: Act, step: Step, route: Route, label: str) -> None:
        for wire in step.broadcasts:
            packet = self._packet(act.who, wire, act.number, label)
            label = ""
            self._carry(packet, [name for name in self._actors if name != act.who], route)

    def _packet(self, sender: str, wire: Wire, act: int, label: str) -> Packet:
        show = self.performance
        packet = Packet(len(show.packets) + 1, sender, wire, self._elapsed, act, self._operation, label)
        show.packets.append(packet)
        if len(show.packets) - self._packets_before > MAX_PACKETS:
            raise Storm
        if label:
            show.labels.setdefault(label, packet)
        message = wire.message
        if message is not None and message.kind is Kind.CONTENT:
            key = (message.channel_id, message.message_id)
            self._store.setdefault(key, packet)
            if act and sender in self._has:
                self._has[sender][key] = None
        return packet

    def _carry(self, packet: Packet, listeners: list[str], route: Route) -> None:
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

    _arriving = False

    def _receive(self, listener: str, packet: Packet, source: str = "network", wire: Wire | None = None) -> None:
        actor = self._actors.get(listener)
        if actor is None:
            why = "crashed" if listener in self.performance.crashed else "absent"
            self.performance.losses.append(Loss(packet, listener, self._elapsed, why))
            return
        self._meet(listener, (wire or packet.wire).message)
        self._act(listener, lambda: actor.receive(wire or packet.wire), STRAIGHT, packet, source)

    def _meet(self, listener: str, message: Message | None) -> None:
        """Keep account of what a participant has, and of what it knows to miss."""
        if message is None or message.kind not in (Kind.CONTENT, Kind.SYNC):
            return
        has, wants = self._has[listener], self._wants[listener]
        if message.kind is Kind.CONTENT:
            has[message.channel_id, message.message_id] = None
        wants.update(dict.fromkeys((message.channel_id, entry.message_id) for entry in message.causal_history))
        self._wants[listener] = {key: None for key in wants if key not in has}

    def _pass(self, milliseconds: int) -> None:
        until = self._elapsed + milliseconds
        self._arrive(until)
        self._elapsed = until

    # ---- operations ------------------------------------------------------------------------------------------------

    def _channel(self, who: str, number: int) -> str:
        channels = self._actors[who].party.channels
        return channels[min(number, len(channels) - 1)]

    def _send(self, op: Send) -> None:
        for who in self._those(op.who):
            for number in range(1, op.times + 1):
                self._packets_before = len(self.performance.packets)
                self._send_one(op, who, op.label if number == op.times else f"{op.label}.{number}")

    def _send_one(self, op: Send, who: str, label: str) -> None:
        actor, channel = self._actors[who], self._channel(who, op.channel)
        hinted = op.hint and actor.stage.trace.declaration.can(pb.CAPABILITY_RETRIEVAL_HINTS)
        hint = hint_of(label) if hinted else None
        # The content belongs to the label, not to the number of messages sent before, so that a message stays what it
        # is when others are taken away.
        content = bytes.fromhex(op.raw) or (op.content or f"content {label} of {who}").encode()
        self._act(who, lambda: actor.send(content, channel, retrieval_hint=hint), op.route, label=label)

    def _sync(self, op: Sync) -> None:
        for who in self._those(op.who):
            actor, channel = self._actors[who], self._channel(who, op.channel)
            self._act(who, lambda: actor.send_sync(channel), op.route)  # noqa: B023

    def _ephemeral(self, op: Ephemeral) -> None:
        for who in self._those(op.who):
            actor, channel = self._actors[who], self._channel(who, op.channel)
            content = bytes.fromhex(op.raw) or b"typing"
            self._act(who, lambda: actor.send_ephemeral(content, channel), op.route)  # noqa: B023

    def _tick(self, op: Tick) -> None:
        for who in self._those(op.who):
            self._act(who, self._actors[who].tick, op.route)

    def _look(self, op: Look) -> None:
        for who in self._those(op.who):
            actor = self._actors[who]
            for channel in actor.party.channels:
                ids = [key[1] for key in self._has[who] if key[0] == channel][-20:]
                self._act(who, lambda: actor.observe(*ids, channel_id=channel), STRAIGHT)  # noqa: B023

    def _lookup(self, op: Lookup) -> None:
        for who in self._those(op.who):
            asked: set[tuple[str, str]] = set()
            while wanted := [key for key in self._wants[who] if key not in asked]:
                asked.update(wanted)
                for key in wanted:
                    packet = self._store.get(key)
                    if packet is not None and key not in self._has[who]:
                        self._receive(who, packet, "store")

    def _again(self, op: Again) -> None:
        packet = self.performance.labels.get(op.label)
        if packet is None or op.to not in self._actors or packet.wire.message is None:
            return
        wire = packet.wire
        if op.asks:
            asks = self._entries(op.asks, senders=True, hints=False)
            wire = Wire(encode(replace(packet.wire.message, repair_request=asks)), None)
        self._receive(op.to, packet, "again", wire)

    def _say(self, op: Say) -> None:
        wire = Wire(ENCODINGS[op.encoding](encode(self._said(op))), None)
        packet = self._packet(op.peer, wire, 0, op.label)
        self._carry(packet, self._those(op.to), op.route)

    def _garble(self, op: Garble) -> None:
        if op.to in self._actors:
            packet = self._packet("noise", Wire(bytes.fromhex(op.wire), None), 0, "")
            self._receive(op.to, packet)

    def _calm(self, op: Calm) -> None:
        self._network.heal()
        show, quiet = self.performance, 0
        show.settled = False
        before = self._account()
        for _ in range(op.rounds):
            self._packets_before = len(show.packets)
            self._pass(op.period_ms)
            self._tick(Tick())
            for channel in range(len(self.schedule.channels) or 1):
                self._try_each_sync(channel)
            if op.store:
                self._lookup(Lookup())
            show.calm_rounds += 1
            account = self._account()
            quiet = quiet + 1 if account == before else 0
            before = account
            if quiet >= self._patience(op.period_ms):
                show.settled = True
                return

    def _account(self) -> tuple[int, int, int]:
        """What changes when anything new happens: signals, but those of what is missing, which are repeated; who has
        got what; and who has asked for what."""
        show = self.performance
        for act in show.acts[self._accounted :]:
            self._signals += sum(event.WhichOneof("event") != "missing" for event in act.step.events)
        for packet in show.packets[self._accounted_packets :]:
            message = packet.wire.message
            if message is not None:
                self._asked.update((packet.sender, message.channel_id, e.message_id) for e in message.repair_request)
        self._accounted, self._accounted_packets = len(show.acts), len(show.packets)
        return self._signals, sum(map(len, self._has.values())), len(self._asked)

    def _patience(self, period_ms: int) -> int:
        """Rounds in which nothing new happens, after which nothing will: while somebody lacks a message, the longest
        period has to pass in which it may be resent, asked for, or answered."""
        longest = 0
        for who, actor in self._actors.items():
            party = actor.party
            if any(key not in self._has[who] for key in self._store if key[0] in party.channels):
                c = party.in_force
                repair = c.t_max_ms if c.sds_r else 0
                longest = max(longest, 2 * c.resend_unacknowledged_ms, c.resend_possibly_acknowledged_ms, repair)
        return QUIET_ROUNDS + -(-longest // period_ms)

    def _try_each_sync(self, channel: int) -> None:
        for who in self._those(EVERYBODY):
            if channel < len(self._actors[who].party.channels):
                self._try(self._operation, lambda: self._sync(Sync(who, channel)))  # noqa: B023

    # ---- what scripted peers say -----------------------------------------------------------------------------------

    def _said(self, op: Say) -> Message:
        channel = self.schedule.channels[op.channel] if self.schedule.channels else UNNAMED_CHANNEL
        epoch = min(self._epochs.values())
        lamport = None
        if op.lamport_ms is not None:
            lamport = max(0, min(MAX_LAMPORT, epoch + self._elapsed + op.lamport_ms))
        content = f"content {op.label} of {op.peer}" if op.content == "usual" else op.content
        said = bytes.fromhex(op.raw) or (None if content is None else content.encode())
        bloom_filter: bytes | None = bytes.fromhex(op.raw_filter) if op.raw_filter else None
        if op.filter is not None and not op.raw_filter:
            bloom_filter = self._filter([self._id(label) for label in op.filter])
        return Message(
            op.poses_as or op.peer,
            self._id(op.id_of) if op.id_of else f"{op.peer}-{op.label}",
            channel,
            lamport,
            self._entries(op.after, senders=op.senders_named, hints=op.hint),
            bloom_filter,
            self._entries(op.asks, senders=True, hints=False, unknown=None),
            said,
        )

    def _filter(self, message_ids: list[str]) -> bytes | None:
        """By the profile of the first implementation; for the others it is a filter they may not understand."""
        stage = self._distinct[0]
        return stage.filter_over(*message_ids) if stage.trace.parties else None

    def _id(self, label: str) -> str:
        packet = self.performance.labels.get(label)
        message = packet.wire.message if packet is not None else None
        return message.message_id if message is not None else f"never-{label}"

    def _entries(
        self, labels: tuple[str, ...], *, senders: bool, hints: bool, unknown: str | None = "nobody"
    ) -> tuple[HistoryEntry, ...]:
        """Entries for labels; ``unknown`` is the sender of what was never sent."""
        out = []
        for label in labels:
            message_id, packet = self._id(label), self.performance.labels.get(label)
            message = packet.wire.message if packet is not None else None
            sender = (message.sender_id if message is not None else unknown) if senders else None
            out.append(HistoryEntry(message_id, hint_of(label) if hints else None, sender))
        return tuple(out)

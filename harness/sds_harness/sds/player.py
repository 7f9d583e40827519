"""Plays a schedule of SDS: participants, the store, scripted peers, and calm rounds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace

from sds_proto.testee.v1 import testee_pb2 as pb
from sds_reference import SDS_2026_01, UNNAMED_CHANNEL, HistoryEntry, Kind, Message, Revision
from sds_reference.wire_formats import is_text

from ..schedules import operations, player
from ..schedules.expressions import MAX_LAMPORT, MOST
from ..schedules.performance import NEVER
from ..schedules.performer import raise_if_stopped
from ..stage import ScheduleStoppedError
from .actor import MAX_TICKS, QUIET_TICKS, Actor
from .encodings import ENCODINGS
from .operations import (
    EVERYBODY,
    STRAIGHT,
    Again,
    Calm,
    Entry,
    Ephemeral,
    Garble,
    Look,
    Lookup,
    Mark,
    Member,
    Receive,
    Reference,
    Say,
    Schedule,
    Send,
    Settle,
    Sync,
    Tick,
    Write,
)
from .performance import Packet, Performance
from .stage import Stage
from .trace import Step, Trace, Wire

NO_FILTER = "the message needs a bloom filter"
"""The start of the reason why a message of a scripted peer was not written."""


def play(schedule: Schedule, stages: Mapping[str, Stage]) -> Performance:
    """Play a schedule; ``stages`` is the stage of each member.

    The stages are closed at the end. A breakdown of an implementation ends the performance and is recorded in it.
    """
    return Player(schedule, stages).play()


def perform(schedule: Schedule, stage: Stage) -> None:
    """Play a schedule as a scenario: all participants are played on one stage, which stays open.

    Raises ScheduleStoppedError after the end if an operation was refused or the schedule requires more than the
    implementation has, and TesteeError if the implementation breaks down.
    """
    raise_if_stopped(Player(schedule, dict.fromkeys(schedule.names, stage)).perform(), NO_FILTER)


def hint_of(label: str) -> bytes:
    """A retrieval hint. It is not valid text, because hints belong to the transport and may be any bytes."""
    return b"hint\xff\x00 of " + label.encode()


class Player(player.Player[Actor, Step, Trace, Wire]):
    """One performance."""

    def __init__(self, schedule: Schedule, stages: Mapping[str, Stage]) -> None:
        super().__init__(schedule, stages)
        self._revision: Revision = self._distinct[0].revision if self._distinct else SDS_2026_01
        self._store: dict[tuple[str, str], Packet] = {}
        self._syncs: dict[tuple[str, str], Packet] = {}
        """Sync messages that others may depend on: revisions that log sync messages also store them."""
        self._counts: dict[str, int] = {}
        """The greatest Lamport timestamp that participants have sent in each channel."""
        self._has: dict[str, dict[tuple[str, str], None]] = {name: {} for name in schedule.names}
        self._signals = self._accounted = self._accounted_packets = 0
        self._asked: set[tuple[str, str, str]] = set()
        self._wants: dict[str, dict[tuple[str, str], None]] = {name: {} for name in schedule.names}
        self._heard: dict[str, set[tuple[str, str]]] = {name: set() for name in schedule.names}
        """The sync messages that each participant has, in revisions in which others may depend on them."""
        self._hint: bytes | None = None
        """The retrieval hint that the transport has for the message that arrives."""
        self._marks: dict[str, int] = {}
        """The virtual time of each mark, in epoch milliseconds."""
        self._does |= {
            Send: self._send,
            Sync: self._sync,
            Ephemeral: self._ephemeral,
            Lookup: self._lookup,
            Again: self._repeat_message,
            Say: self._say,
            Write: self._write,
            Receive: self._receive_all,
            Settle: self._settle,
            Mark: self._mark,
            Garble: self._garble,
        }

    # ---- participants ----------------------------------------------------------------------------------------------

    def _opened(self, member: operations.Member) -> Actor:
        stage: Stage = self._stages[member.name]
        channels, configuration = self.schedule.channels, dict(self.schedule.configuration)
        participant_id = instance = ""
        if isinstance(member, Member):
            configuration |= dict(member.configuration)
            participant_id = member.participant_id
            instance = member.name.removeprefix(f"{participant_id} (").removesuffix(")") if participant_id else ""
            if member.channels:
                channels = tuple(channels[number] for number in member.channels)
            elif not stage.trace.declaration.can(pb.CAPABILITY_CHANNELS):
                channels = channels[:1]
        pb_configuration = pb.Configuration(**configuration)  # type: ignore[arg-type]
        if isinstance(member, Member) and member.sds_r is not None:
            pb_configuration.sds_r = member.sds_r
        return stage.open(participant_id or member.name, channels, configuration=pb_configuration, instance=instance)

    def _broadcasts(self, step: Step) -> Sequence[Wire]:
        return step.broadcasts

    def _requested(self, step: Step) -> Wire | None:
        return step.asked_for

    def _after_broadcast(self, packet: Packet) -> None:
        message = packet.wire.message
        if message is None:
            return
        key, sender = (message.channel_id, message.message_id), packet.sender if packet.act else ""
        if sender:
            channel_id, lamport = message.channel_id, message.lamport_timestamp or 0
            self._counts[channel_id] = max(lamport, self._counts.get(channel_id, 0))
        if message.kind is Kind.CONTENT:
            self._store.setdefault(key, packet)
            if sender in self._has:
                self._has[sender][key] = None
                self._wants[sender].pop(key, None)
        elif message.kind is Kind.SYNC and self._revision.syncs_are_logged:
            self._syncs.setdefault(key, packet)
            if sender in self._heard:
                self._heard[sender].add(key)
                self._wants[sender].pop(key, None)

    def _hear(self, listener: str, actor: Actor, wire: Wire) -> None:
        self._meet(listener, wire.message)
        actor.receive(wire, retrieval_hint=self._hint)

    def _meet(self, listener: str, message: Message | None) -> None:
        """Record what a participant has, and which messages it knows to be missing."""
        if message is None or message.kind not in (Kind.CONTENT, Kind.SYNC):
            return
        has, heard, wants = self._has[listener], self._heard[listener], self._wants[listener]
        channel_id, message_id = message.channel_id, message.message_id
        if message.kind is Kind.CONTENT:
            has[channel_id, message_id] = None
            wants.pop((channel_id, message_id), None)
        elif self._revision.syncs_are_logged:
            heard.add((channel_id, message_id))
            wants.pop((channel_id, message_id), None)
        for entry in message.causal_history:
            key = channel_id, entry.message_id
            if key not in has and key not in heard:
                wants[key] = None

    # ---- operations ------------------------------------------------------------------------------------------------

    def _channel(self, who: str, number: int) -> str:
        channels, member = self._actors[who].party.channels, self._member(who)
        if isinstance(member, Member) and number in member.channels:
            return channels[member.channels.index(number)]
        return channels[min(number, len(channels) - 1)]

    def _in_force(self, name: str) -> int | None:
        if name == MAX_LAMPORT:
            return min(self._revision.wire.max_lamport, MOST)
        field = pb.Configuration.DESCRIPTOR.fields_by_name.get(name)
        for actor in self._actors.values() if field is not None else ():
            for configuration in (actor.party.in_force, actor.party.asked):
                if configuration.HasField(name):
                    return int(getattr(configuration, name))
        return None

    def _send(self, op: Send) -> None:
        for who in self._open_participants(op.who):
            for number in range(1, op.times + 1):
                self._packets_before = len(self.performance.packets)
                self._send_one(op, who, op.label if number == op.times else f"{op.label}.{number}")

    def _send_one(self, op: Send, who: str, label: str) -> None:
        actor, channel = self._actors[who], self._channel(who, op.channel)
        hinted = op.hint and actor.stage.trace.declaration.can(pb.CAPABILITY_RETRIEVAL_HINTS)
        hint = (b"" if "hint" in op.empty else hint_of(label)) if hinted else None
        can = actor.stage.trace.declaration.can
        chooses_id = can(pb.CAPABILITY_MESSAGE_ID_ACCEPTED) or can(pb.CAPABILITY_MESSAGE_ID_REQUIRED)
        message_id = (op.message_id if chooses_id else "") or None
        # The content depends on the label, not on the number of messages before, so that it stays the same when
        # shrinking removes other messages.
        content: bytes | None = None
        if not op.numbered:
            content = self._to_sendable(bytes.fromhex(op.raw) or (op.content or f"content {label} of {who}").encode())
        content = b"" if "content" in op.empty else content
        with suppress(*([ScheduleStoppedError] if op.may_be_refused else [])):
            self._act(who, lambda: actor.send(content, channel, message_id, hint), op.route, label=label)

    def _sync(self, op: Sync) -> None:
        for who in self._open_participants(op.who):
            actor, channel = self._actors[who], self._channel(who, op.channel)
            if op.or_content and not actor.stage.trace.declaration.can(pb.CAPABILITY_SYNC):
                self._send_one(Send(who, op.label, op.channel, numbered=True, route=op.route), who, op.label)
            else:
                self._act(who, lambda: actor.send_sync(channel), op.route, label=op.label)  # noqa: B023

    def _ephemeral(self, op: Ephemeral) -> None:
        for who in self._open_participants(op.who):
            actor, channel = self._actors[who], self._channel(who, op.channel)
            content = self._to_sendable(bytes.fromhex(op.raw) or b"typing")
            self._act(who, lambda: actor.send_ephemeral(content, channel), op.route)  # noqa: B023

    def _tick(self, op: Tick) -> None:
        for who in self._open_participants(op.who):
            self._act(who, self._actors[who].tick, op.route)

    def _look(self, op: Look) -> None:
        for who in self._open_participants(op.who):
            actor = self._actors[who]
            for channel in actor.party.channels if op.channel is None else (self._channel(who, op.channel),):
                if op.filter is None:
                    ids = [key[1] for key in self._has[who] if key[0] == channel][-20:]
                else:
                    ids = list(map(self._id, op.filter))
                self._act(who, lambda: actor.observe(*ids, channel_id=channel), STRAIGHT)  # noqa: B023

    def _lookup(self, op: Lookup) -> None:
        for who in self._open_participants(op.who):
            requested: set[tuple[str, str]] = set()
            while pending := [key for key in self._wants[who] if key not in requested]:
                requested.update(pending)
                for key in pending:
                    packet = self._store.get(key) or self._syncs.get(key)
                    if packet is not None and key not in self._has[who] and key not in self._heard[who]:
                        self._receive(who, packet, "store")

    def _repeat_message(self, op: Again) -> None:
        packet = self.performance.labels.get(op.label)
        if packet is None or op.to not in self._actors or packet.wire.message is None:
            return
        wire = packet.wire
        if op.asks:
            asks = self._entries(op.asks, senders=True, hints=False)
            wire = self._encode_message(replace(packet.wire.message, repair_request=asks))
        self._receive(op.to, packet, "again", wire)

    def _say(self, op: Say) -> None:
        self._carry(self._written_by(op), self._open_participants(op.to), op.route)

    def _write(self, op: Write) -> None:
        self._written_by(op)

    def _written_by(self, op: Write) -> Packet:
        """Write the message of a scripted peer."""
        return self._packet(op.peer, self._encode_message(self._message_of(op), op.encoding), 0, op.label)

    def _receive_all(self, op: Receive) -> None:
        requested_ids = self._asked_by(op.who) if op.asked else None
        self._hint = bytes.fromhex(op.hint) if op.hint else None
        try:
            for label in op.messages:
                packet = self.performance.labels.get(label)
                if packet is not None and (requested_ids is None or self._id(label) in requested_ids):
                    self._receive(op.who, packet, "again")
        finally:
            self._hint = None

    def _asked_by(self, who: str) -> set[str]:
        """The IDs in the repair request of the newest broadcast of a participant."""
        newest = next((packet for packet in reversed(self.performance.packets) if packet.sender == who), None)
        message = newest.wire.message if newest is not None and newest.act else None
        return {one.message_id for one in message.repair_request} if message is not None else set()

    def _settle(self, op: Settle) -> None:
        for who in self._open_participants(op.who):
            actor, quiet = self._actors[who], 0
            if op.undelivered and not self._is_undelivered(actor, self._id(op.undelivered)):
                continue
            in_force = actor.party.in_force
            for _ in range(MAX_TICKS):
                self._advance(in_force.incoming_sweep_ms if in_force.HasField("incoming_sweep_ms") else 60_000)
                ticks: list[Step] = []
                self._act(who, lambda: ticks.append(actor.tick()), STRAIGHT)  # noqa: B023
                progress = any(event.kind in ("delivered", "lost") for event in ticks[0].events)
                quiet = 0 if progress else quiet + 1
                if quiet >= QUIET_TICKS:
                    break

    def _is_undelivered(self, actor: Actor, message_id: str) -> bool:
        """Whether an implementation that shows deliveries has not delivered a message yet."""
        trace = actor.stage.trace
        return trace.declaration.can(pb.CAPABILITY_DELIVERED) and not any(
            event.kind == "delivered" and event.message_id == message_id
            for step in reversed(trace.steps)
            if step.participant == actor.name
            for event in step.events
        )

    def _mark(self, op: Mark) -> None:
        self._marks[op.label] = self._now_ms

    def _garble(self, op: Garble) -> None:
        if op.to in self._actors:
            packet = self._packet("noise", Wire(bytes.fromhex(op.wire), None, self._revision.wire), 0, "")
            self._receive(op.to, packet)

    # ---- calm ------------------------------------------------------------------------------------------------------

    def _round(self, op: Calm) -> None:
        self._tick(Tick())
        for channel in range(len(self.schedule.channels) or 1):
            for who in self._open_participants(EVERYBODY):
                if channel < len(self._actors[who].party.channels):
                    self._try(self._operation, lambda: self._sync(Sync(who, channel)))  # noqa: B023
        if op.store:
            self._lookup(Lookup())

    def _account(self) -> tuple[int, int, int]:
        """Counts that change whenever anything new happens.

        These are signals (except for repeated reports of missing messages), messages received, and distinct repair
        requests.
        """
        show = self.performance
        for act in show.acts[self._accounted :]:
            self._signals += sum(event.kind != "missing" for event in act.step.events)
        for packet in show.packets[self._accounted_packets :]:
            message = packet.wire.message
            if message is not None:
                self._asked.update((packet.sender, message.channel_id, e.message_id) for e in message.repair_request)
        self._accounted, self._accounted_packets = len(show.acts), len(show.packets)
        return self._signals, sum(map(len, self._has.values())), len(self._asked)

    def _longest_ms(self) -> int:
        """The longest period in which a missing message may be resent, requested, or sent in an answer."""
        longest = 0
        for who, actor in self._actors.items():
            party = actor.party
            if any(key not in self._has[who] for key in self._store if key[0] in party.channels):
                c = party.in_force
                repair = c.t_max_ms if c.sds_r else 0
                longest = max(longest, 2 * c.resend_unacknowledged_ms, c.resend_possibly_acknowledged_ms, repair)
        return longest

    # ---- messages of scripted peers --------------------------------------------------------------------------------

    def _message_of(self, op: Write) -> Message:
        stage: Stage = self._distinct[0]
        channel = stage.label(self.schedule.channels[op.channel]) if self.schedule.channels else UNNAMED_CHANNEL
        peer = stage.peer(op.peer, channel)
        lamport = None
        if op.lamport_ms is not None:
            lamport = max(
                0, min(self._revision.wire.max_lamport, self._usual_lamport(channel, op.since) + op.lamport_ms)
            )
        if op.lamport is not None:
            lamport = self._value(op.lamport) if isinstance(op.lamport, str) else op.lamport
        content = f"content {op.label} of {op.peer}" if op.content == "usual" else op.content
        content_bytes = self._to_sendable(bytes.fromhex(op.raw)) or (None if content is None else content.encode())
        message_id = f"{peer.name}-{op.label}"
        if op.number:
            peer.skip(op.number - 1)
            numbered = (
                peer.ephemeral(b"") if lamport is None else peer.sync(0) if not content_bytes else peer.content(0)
            )
            message_id, content_bytes = (
                numbered.message_id,
                numbered.content if op.content == "usual" and not op.raw else content_bytes,
            )
        bloom_filter: bytes | None = bytes.fromhex(op.raw_filter) if op.raw_filter else None
        if op.filter is not None and not op.raw_filter:
            # In the profile of the first implementation; the others may not understand the filter.
            bloom_filter = stage.filter_over(*map(self._id, op.filter)) if stage.trace.parties else None
            if bloom_filter is None and not isinstance(op, Say):
                raise ScheduleStoppedError(f"{NO_FILTER}: none can be made that the implementation understands")
        if op.filter_of:
            packet = self.performance.labels.get(op.filter_of)
            copied = packet.wire.message if packet is not None else None
            if copied is None or copied.bloom_filter is None:
                raise ScheduleStoppedError(f"{NO_FILTER}: {op.filter_of} has none")
            bloom_filter = copied.bloom_filter
        history = self._entries(op.after, senders=op.senders_named, hints=op.hint)
        if "hints" in op.empty:
            history = tuple(replace(entry, retrieval_hint=b"") for entry in history)
        if op.message_id or op.id_of:
            message_id = op.message_id or self._id(op.id_of)
        return Message(
            "" if "sender" in op.empty else stage.label(op.poses_as) if op.poses_as else peer.name,
            "" if "message_id" in op.empty else message_id,
            channel,
            lamport,
            history,
            b"" if "filter" in op.empty else bloom_filter,
            self._entries(op.asks, senders=True, hints=False, unknown=None),
            content_bytes,
        )

    def _usual_lamport(self, channel_id: str, since: str = "") -> int:
        """The Lamport timestamp that a peer would use now if it had received everything that participants sent.

        With ``since``, the time of that mark or the timestamp of that message.
        """
        if since in self._marks:
            return self._marks[since]
        packet = self.performance.labels.get(since)
        if packet is not None and packet.wire.message is not None:
            return packet.wire.message.lamport_timestamp or 0
        if self._revision.lamport_follows_clock:
            epoch: int = min(self._epochs.values())
            return epoch + self._elapsed
        return self._counts.get(channel_id, 0) + 1

    def _encode_message(self, message: Message, encoding: str = "usual") -> Wire:
        """A message in the layout of the specification."""
        layout, stage = self._revision.wire, self._distinct[0]
        raw = ENCODINGS[encoding](layout.encode(message))
        known: dict[bytes, Wire] = stage.wires if stage.dialect is None else {}
        if raw not in known:
            known[raw] = Wire(raw, None, layout)
        return known[raw]

    def _to_sendable(self, content: bytes) -> bytes:
        """Content that can be sent: if only text can be sent, other bytes are reduced to ASCII."""
        stage: Stage = self._distinct[0]
        return content if is_text(content) else stage.as_sendable(content)

    def _id(self, reference: Reference) -> str:
        if isinstance(reference, Entry):
            if reference.id is not None:
                return reference.id
            reference = reference.label
        packet = self.performance.labels.get(reference)
        message = packet.wire.message if packet is not None else None
        return message.message_id if message is not None else f"{NEVER}{reference}"

    def _entries(
        self, references: tuple[Reference, ...], *, senders: bool, hints: bool, unknown: str | None = "nobody"
    ) -> tuple[HistoryEntry, ...]:
        """Entries for messages; ``unknown`` is the sender of messages that were never sent."""
        out = []
        for one in references:
            if isinstance(one, Entry):
                hint = None if one.hint is None else bytes.fromhex(one.hint)
                sender = self._distinct[0].label(one.sender) if one.sender else one.sender
                out.append(HistoryEntry(self._id(one), hint, sender))
                continue
            message_id, packet = self._id(one), self.performance.labels.get(one)
            message = packet.wire.message if packet is not None else None
            sender = (message.sender_id if message is not None else unknown) if senders else None
            out.append(HistoryEntry(message_id, hint_of(one) if hints else None, sender))
        return tuple(out)

"""Plays a schedule of SDS: participants, the store, scripted peers, and calm rounds."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import fields, replace
from typing import Any

from sds_proto.testee.v1 import testee_pb2 as pb
from sds_reference import (
    HASH_PROFILES,
    PROFILES,
    REVISIONS,
    SDS_2026_01,
    UNNAMED_CHANNEL,
    HistoryEntry,
    Kind,
    Message,
    Revision,
    t_req_offset,
    t_resp_offset,
)
from sds_reference.wire_formats import is_text

from ..schedules import expressions, operations
from ..schedules.base_player import (
    MAX_STEPS,
    BasePlayer,
    MessageStormError,
    ScheduleTooLongError,
    raise_if_stopped,
)
from ..schedules.expressions import MOST, OF_SDS, UNTOLD
from ..schedules.group_trace import NEVER
from ..schedules.network import Network
from ..stage import ScheduleStoppedError
from . import operations as ops
from .actor import MAX_TICKS, QUIET_TICKS, Actor
from .encodings import ENCODINGS
from .group_trace import Act, GroupTrace, Loss, Packet
from .peer import unknown_ids
from .stage import Stage
from .trace import Step, Trace, Wire

MAX_PACKETS = 1_000
"""Maximum number of packets of one operation or one calm round. With more, the run is stopped, because participants
answer each other without end."""
MOST_BUILT = 100_000
"""Maximum number of message IDs in a bloom filter that the codec is asked to build."""
MOST_QUERIED = 20_000
"""Maximum number of message IDs in one query to the codec. So many IDs have a third of a megabyte."""
MOST_ONES = 1 << 20
"""Maximum size, in bytes, of a filter in which all bits are set."""

NO_FILTER = "the message needs a bloom filter"
"""Begins each reason why a message of a scripted peer was not written for lack of a bloom filter."""


def play(schedule: ops.Schedule, stages: Mapping[str, Stage]) -> GroupTrace:
    """Play a schedule. ``stages`` has the stage of each member, by name.

    The stages are closed at the end. A breakdown of an implementation ends the group trace and is recorded in it.
    """
    return Player(schedule, stages).play()


def perform(schedule: ops.Schedule, stage: Stage, length_factor: int = 1) -> GroupTrace:
    """Play a schedule as a scenario: all participants are played on one stage, which stays open.

    ``length_factor`` multiplies the maximum length of the group trace.

    Raises ScheduleStoppedError at the end if an operation could not be played or a `require` operation ended the
    schedule. Raises TesteeError if the implementation breaks down.
    """
    group_trace = Player(schedule, dict.fromkeys(schedule.names, stage), length_factor).perform()
    raise_if_stopped(group_trace, NO_FILTER)
    return group_trace


def _requested_ids(packet: Packet) -> set[str]:
    message = packet.wire.message
    return {entry.message_id for entry in message.repair_request} if message is not None else set()


def hint_of(label: str) -> bytes:
    """The retrieval hint for the message with this label. It is invalid UTF-8, because hints may be any bytes."""
    return b"hint\xff\x00 of " + label.encode()


class Player(BasePlayer[Actor, Step, Trace, Wire]):
    """Plays one schedule and records its group trace."""

    def __init__(self, schedule: ops.Schedule, stages: Mapping[str, Stage], length_factor: int = 1) -> None:
        super().__init__(schedule, stages, length_factor)
        self._network = Network[Wire](schedule.seed)
        self._arriving = False
        self._revision: Revision = self._distinct[0].revision if self._distinct else SDS_2026_01
        self._store: dict[tuple[str, str], Packet] = {}
        self._syncs: dict[tuple[str, str], Packet] = {}
        """The sent sync messages, by channel and message ID, in revisions in which messages may depend on sync
        messages. A store has them, too."""
        self._counts: dict[str, int] = {}
        """The greatest Lamport timestamp that participants have sent in each channel."""
        self._has: dict[str, dict[tuple[str, str], None]] = {name: {} for name in schedule.names}
        self._signals = self._accounted = self._accounted_packets = 0
        self._asked: set[tuple[str, str, str]] = set()
        self._wants: dict[str, dict[tuple[str, str], None]] = {name: {} for name in schedule.names}
        self._has_syncs: dict[str, set[tuple[str, str]]] = {name: set() for name in schedule.names}
        """The sync messages that each participant has, in revisions in which other messages may depend on sync
        messages."""
        self._hint: bytes | None = None
        """The retrieval hint that the transport passes on with the message that is arriving; None for none."""
        self._marks: dict[str, int] = {}
        """The virtual time of each mark, in epoch milliseconds."""
        self._packets_at_marks: dict[str, int] = {}
        """The number of packets in the group trace at each mark, by label."""

    # ---- participants ----------------------------------------------------------------------------------------------

    def _open(self, member: operations.Member) -> None:
        if member.name in self._actors or member.name in self.group_trace.crashed:
            return
        opened: list[Actor] = []
        self._act(member.name, lambda: opened.append(self._opened(member)), ops.STRAIGHT)
        self._actors[member.name] = opened[0]

    def _opened(self, member: operations.Member) -> Actor:
        """Open a participant on its stage."""
        stage: Stage = self._stages[member.name]
        channels, configuration = self.schedule.channels, dict(self.schedule.configuration)
        participant_id = instance = ""
        if isinstance(member, ops.Member):
            configuration |= dict(member.configuration)
            participant_id = member.participant_id
            instance = member.name.removeprefix(f"{participant_id} (").removesuffix(")") if participant_id else ""
            if member.channels:
                channels = tuple(channels[number] for number in member.channels)
            elif not stage.trace.declaration.can(pb.CAPABILITY_CHANNELS):
                channels = channels[:1]
        pb_configuration = pb.Configuration(**configuration)  # type: ignore[arg-type]
        if isinstance(member, ops.Member) and member.sds_r is not None:
            pb_configuration.sds_r = member.sds_r
        return stage.open(participant_id or member.name, channels, configuration=pb_configuration, instance=instance)

    def _play_join(self, op: ops.Join) -> None:
        self._try_to_open(self._member(op.who))

    def _play_crash(self, op: ops.Crash) -> None:
        if self._actors.pop(op.who, None) is not None or op.who not in self.group_trace.parties:
            self.group_trace.crashed.setdefault(op.who, self._operation)

    # ---- steps and the network -------------------------------------------------------------------------------------

    def _play_links(self, op: ops.Links) -> None:
        self._network.change(op)

    def _play_cut(self, op: ops.Cut) -> None:
        self._network.cut(op)

    def _play_heal(self, op: ops.Heal) -> None:
        self._heal()

    def _heal(self) -> None:
        self._network.heal()

    def _act(
        self,
        who: str,
        does: Callable[[], object],
        route: ops.Route,
        packet: Packet | None = None,
        source: str = "network",
        label: str = "",
    ) -> None:
        """Call ``does``, which makes a participant take steps.

        Record the steps as acts, and carry their broadcasts over the network.
        """
        if len(self.group_trace.acts) >= MAX_STEPS * self._length_factor:
            raise ScheduleTooLongError(f"the maximum of {MAX_STEPS * self._length_factor:,} steps was reached")
        stage: Stage = self._at(who)
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
                requested = step.asked_for if step in labelled else None
                for wire in step.broadcasts:
                    sent = self._packet(who, wire, act.number, label if wire is requested else "")
                    self._carry(sent, [name for name in self._actors if name != who], route)

    def _packet(self, sender: str, wire: Wire, act: int, label: str) -> Packet:
        group_trace = self.group_trace
        packet = Packet(len(group_trace.packets) + 1, sender, wire, self._elapsed, act, self._operation, label)
        group_trace.packets.append(packet)
        if len(group_trace.packets) - self._packets_before > MAX_PACKETS * self._length_factor:
            raise MessageStormError
        if label:
            group_trace.labels.setdefault(label, packet)
        self._record_broadcast(packet)
        return packet

    def _carry(self, packet: Packet, listeners: list[str], route: ops.Route) -> None:
        for listener, why in self._network.carry(packet, listeners, route):
            self.group_trace.losses.append(Loss(packet, listener, self._elapsed, why))
        self._arrive(self._elapsed)

    def _arrive(self, until_ms: int) -> None:
        """Deliver all messages that are due.

        A nested call does nothing: the outer call delivers the new messages, too.
        """
        if self._arriving:
            return
        self._arriving = True
        try:
            while (due := self._network.due(until_ms)) is not None:
                self._elapsed = max(self._elapsed, due[0])
                self._receive(due[1], due[2])
        finally:
            self._arriving = False

    def _receive(self, listener: str, packet: Packet, source: str = "network", wire: Wire | None = None) -> None:
        actor = self._actors.get(listener)
        if actor is None:
            why = "crashed" if listener in self.group_trace.crashed else "absent"
            self.group_trace.losses.append(Loss(packet, listener, self._elapsed, why))
            return
        self._act(listener, lambda: self._deliver(listener, actor, wire or packet.wire), ops.STRAIGHT, packet, source)

    def _pass(self, milliseconds: int) -> None:
        until = self._elapsed + milliseconds
        self._arrive(until)
        self._elapsed = until

    def _record_broadcast(self, packet: Packet) -> None:
        """Record which messages exist and who has them, before a packet arrives anywhere."""
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
            if sender in self._has_syncs:
                self._has_syncs[sender].add(key)
                self._wants[sender].pop(key, None)

    def _deliver(self, listener: str, actor: Actor, wire: Wire) -> None:
        self._record_messages(listener, wire.message)
        actor.receive(wire, retrieval_hint=self._hint)

    def _record_messages(self, listener: str, message: Message | None) -> None:
        """Record that a participant has ``message``, and which messages of the causal history it lacks."""
        if message is None or message.kind not in (Kind.CONTENT, Kind.SYNC):
            return
        has, has_syncs, wants = self._has[listener], self._has_syncs[listener], self._wants[listener]
        channel_id, message_id = message.channel_id, message.message_id
        if message.kind is Kind.CONTENT:
            has[channel_id, message_id] = None
            wants.pop((channel_id, message_id), None)
        elif self._revision.syncs_are_logged:
            has_syncs.add((channel_id, message_id))
            wants.pop((channel_id, message_id), None)
        for entry in message.causal_history:
            key = channel_id, entry.message_id
            if key not in has and key not in has_syncs:
                wants[key] = None

    # ---- operations ------------------------------------------------------------------------------------------------

    def _channel(self, who: str, number: int) -> str:
        channels, member = self._actors[who].party.channels, self._member(who)
        if isinstance(member, ops.Member) and number in member.channels:
            return channels[member.channels.index(number)]
        return channels[min(number, len(channels) - 1)]

    def _in_force(self, name: str) -> int | None:
        if name in OF_SDS:
            return self._of_sds(name)
        field = pb.Configuration.DESCRIPTOR.fields_by_name.get(name)
        for actor in self._actors.values() if field is not None else ():
            for configuration in (actor.party.in_force, actor.party.asked):
                if configuration.HasField(name):
                    return int(getattr(configuration, name))
        return None

    def _of_sds(self, name: str) -> int:
        """The value of a name that only SDS has, such as ``missing``, in an expression."""
        group_trace, declared = self.group_trace, [stage.trace.declaration for stage in self._distinct]
        match name:
            case expressions.MAX_LAMPORT:
                return min(self._revision.wire.max_lamport, MOST)
            case expressions.FILTER_BYTES:
                messages = (packet.wire.message for packet in reversed(group_trace.packets) if packet.act)
                return next((len(message.bloom_filter) for message in messages if message and message.bloom_filter), 0)
            case expressions.MISSING:
                return sum(map(len, self._wants.values()))
            case expressions.ROUND_MESSAGES | expressions.ROUND_REQUESTS:
                sent = [packet for packet in group_trace.packets[self._packets_before_round :] if packet.act]
                return len(sent) if name == expressions.ROUND_MESSAGES else sum(map(bool, map(_requested_ids, sent)))
            case expressions.FILTERS_ARE_KNOWN:
                return int(all(one.profile("bloom") in PROFILES for one in declared))
            case _:
                if not all(one.can(pb.CAPABILITY_OBSERVE) for one in declared):
                    return 0
                states = (step.state for stage in self._distinct for step in reversed(stage.trace.steps))
                last = next((state for state in states if state is not None), None)
                return int(last is not None and last.HasField("outgoing_repairs"))

    def _play_send(self, op: ops.Send) -> None:
        for who in self._open_participants(op.who):
            for number in range(1, op.times + 1):
                self._packets_before = len(self.group_trace.packets)
                self._send_one(op, who, op.label if number == op.times else f"{op.label}.{number}")

    def _send_one(self, op: ops.Send, who: str, label: str) -> None:
        actor, channel = self._actors[who], self._channel(who, op.channel)
        hinted = op.hint and actor.stage.trace.declaration.can(pb.CAPABILITY_RETRIEVAL_HINTS)
        given = bytes.fromhex(op.raw_hint) or hint_of(label)
        hint = (b"" if "hint" in op.empty else given) if hinted else None
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

    def _play_sync(self, op: ops.Sync) -> None:
        for who in self._open_participants(op.who):
            actor, channel = self._actors[who], self._channel(who, op.channel)
            if op.or_content and not actor.stage.trace.declaration.can(pb.CAPABILITY_SYNC):
                self._send_one(ops.Send(who, op.label, op.channel, numbered=True, route=op.route), who, op.label)
            else:
                self._act(who, lambda: actor.send_sync(channel), op.route, label=op.label)  # noqa: B023

    def _play_ephemeral(self, op: ops.Ephemeral) -> None:
        for who in self._open_participants(op.who):
            actor, channel = self._actors[who], self._channel(who, op.channel)
            content = b"" if op.empty else self._to_sendable(bytes.fromhex(op.raw) or b"typing")
            with suppress(*([ScheduleStoppedError] if op.may_be_refused else [])):
                self._act(who, lambda: actor.send_ephemeral(content, channel), op.route)  # noqa: B023

    def _play_tick(self, op: ops.Tick) -> None:
        for who in self._open_participants(op.who):
            self._act(who, self._actors[who].tick, op.route)

    def _play_look(self, op: ops.Look) -> None:
        for who in self._open_participants(op.who):
            actor = self._actors[who]
            for channel in actor.party.channels if op.channel is None else (self._channel(who, op.channel),):
                if op.filter is None:
                    ids = [key[1] for key in self._has[who] if key[0] == channel][-20:]
                else:
                    ids = list(map(self._id, op.filter))
                self._act(who, lambda: actor.observe(*ids, channel_id=channel), ops.STRAIGHT)  # noqa: B023

    def _play_lookup(self, op: ops.Lookup) -> None:
        for who in self._open_participants(op.who):
            requested: set[tuple[str, str]] = set()
            while pending := [key for key in self._wants[who] if key not in requested]:
                requested.update(pending)
                for key in pending:
                    packet = self._store.get(key) or self._syncs.get(key)
                    if packet is not None and key not in self._has[who] and key not in self._has_syncs[who]:
                        self._receive(who, packet, "store")

    def _play_again(self, op: ops.Again) -> None:
        packet = self.group_trace.labels.get(op.label)
        if packet is None or op.to not in self._actors or packet.wire.message is None:
            return
        wire = packet.wire
        if op.asks:
            asks = self._entries(op.asks, senders=True, hints=False)
            wire = self._encode_message(replace(packet.wire.message, repair_request=asks))
        self._receive(op.to, packet, "again", wire)

    def _play_say(self, op: ops.Say) -> None:
        self._carry(self._written_by(op), self._open_participants(op.to), op.route)

    def _play_write(self, op: ops.Write) -> None:
        self._written_by(op)

    def _written_by(self, op: ops.Write) -> Packet:
        return self._packet(op.peer, self._encode_message(self._message_of(op), op.encoding, op.layout), 0, op.label)

    def _play_receive(self, op: ops.Receive) -> None:
        requested_ids = self._asked_by(op.who) if op.asked else None
        sent_ids = self._sent_since(op.unanswered_since, op.who) if op.unanswered_since else None
        hinted = self._distinct[0].trace.declaration.can(pb.CAPABILITY_RETRIEVAL_HINTS) and (op.hint or op.empty)
        self._hint = bytes.fromhex(op.hint) if hinted else None
        try:
            for label in op.messages:
                packet = self.group_trace.labels.get(label)
                if packet is None or (requested_ids is not None and self._id(label) not in requested_ids):
                    continue
                if sent_ids is None or not sent_ids.issuperset(_requested_ids(packet)):
                    self._receive(op.who, packet, "again")
        finally:
            self._hint = None

    def _asked_by(self, who: str) -> set[str]:
        """The IDs in the repair request of the newest broadcast of a participant."""
        newest = next((packet for packet in reversed(self.group_trace.packets) if packet.sender == who), None)
        return _requested_ids(newest) if newest is not None and newest.act else set()

    def _sent_since(self, mark: str, who: str) -> set[str]:
        packets = self.group_trace.packets[self._packets_at_marks.get(mark, 0) :]
        sent = (packet.wire.message for packet in packets if packet.sender == who and packet.act)
        return {message.message_id for message in sent if message is not None}

    def _play_settle(self, op: ops.Settle) -> None:
        for who in self._open_participants(op.who):
            actor, quiet = self._actors[who], 0
            if op.undelivered and not self._is_undelivered(actor, self._id(op.undelivered)):
                continue
            in_force = actor.party.in_force
            for _ in range(MAX_TICKS):
                self._advance(in_force.incoming_sweep_ms if in_force.HasField("incoming_sweep_ms") else 60_000)
                ticks: list[Step] = []
                self._act(who, lambda: ticks.append(actor.tick()), ops.STRAIGHT)  # noqa: B023
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

    def _play_mark(self, op: ops.Mark) -> None:
        self._marks[op.label] = self._now_ms
        self._packets_at_marks[op.label] = len(self.group_trace.packets)

    def _play_garble(self, op: ops.Garble) -> None:
        raw, dialect = bytes.fromhex(op.wire), None
        if op.label:
            whole, dialect = self.group_trace.labels.get(op.label), self._distinct[0].dialect
            if whole is None:
                return
            raw = dialect.to_private(whole.wire.text) if dialect is not None else whole.wire.text
            raw = raw[: op.end or len(raw) * op.percent // 100]
        if op.to in self._actors:
            self._receive(op.to, self._packet("noise", Wire(raw, dialect, self._revision.wire), 0, ""))

    # ---- times of repairs ------------------------------------------------------------------------------------------

    def _play_await(self, op: ops.Await) -> None:
        for who in self._open_participants(op.who):
            due = [self._due_ms(who, label) for label in op.messages]
            if op.nth > len(due):
                raise ScheduleStoppedError(f"nth is {op.nth}, and the number of messages is {len(due)}")
            known = sorted(time for time in due if time is not None)
            if len(known) == len(due):
                period = known[op.nth - 1] + op.ms - self._now_ms
                period = min(period, self._value(op.most)) if op.most else period
            elif op.otherwise:
                period = self._value(op.otherwise)
            else:
                raise ScheduleStoppedError(f"{UNTOLD}times of repairs, or the hash")
            if period > 0:
                self._advance(period)

    def _due_ms(self, who: str, label: str) -> int | None:
        """Epoch milliseconds when a participant is due to request a message or to respond with it; None if unknown."""
        actor, message_id = self._actors[who], self._id(label)
        trace, party = actor.stage.trace, actor.party
        own = [step for step in trace.steps if step.participant == actor.name]
        state = next((step.state for step in reversed(own) if step.state is not None), None)
        for shown in (*state.outgoing_repairs.entries, *state.incoming_repairs.entries) if state is not None else ():
            if shown.message_id == message_id:
                return int(shown.due_ms)
        packet = self.group_trace.labels.get(label)
        message = packet.wire.message if packet is not None else None
        profile = HASH_PROFILES.get(trace.declaration.profile("hash"))
        in_force = party.in_force
        begin = max((step.now_ms for step in own if step.command == "receive"), default=None)
        if profile is None or message is None or begin is None or not in_force.HasField("t_max_ms"):
            return None
        if (message.channel_id, message_id) not in self._has[who]:
            return begin + t_req_offset(profile, party.participant_id, message_id, in_force.t_min_ms, in_force.t_max_ms)
        return begin + t_resp_offset(profile, party.participant_id, message.sender_id, message_id, in_force.t_max_ms)

    # ---- codec -----------------------------------------------------------------------------------------------------

    def _play_build_filter(self, op: ops.BuildFilter) -> None:
        stage, members, queried = self._distinct[0], op.members, op.queried
        if op.who:
            if op.who not in self._actors:
                return
            capacity = self._actors[op.who].party.in_force.bloom_capacity
            if not 0 < op.times * capacity <= MOST_BUILT:
                most = MOST_BUILT // op.times
                too_large = f"a bloom filter for {capacity:,} IDs cannot be filled: {most:,} at most"
                unknown = "Opened does not report bloom_capacity, so the bloom filter cannot be filled"
                raise ScheduleStoppedError(too_large if capacity else unknown)
            members = tuple(f"bob-{number}" for number in range(1, op.times * capacity + 1))
            queried = members[-(capacity // 10) :]
        step = stage.step("", pb.Request(build_filter=pb.BuildFilter(message_ids=members)))
        built = step.reply.filter.bloom_filter if step.answer == "filter" else b""
        if not built or (op.who and stage.trace.declaration.profile("bloom") in PROFILES):
            return
        queried += unknown_ids(op.strangers)
        for start in range(0, len(queried), MOST_QUERIED):
            query = pb.QueryFilter(bloom_filter=built, message_ids=queried[start : start + MOST_QUERIED])
            stage.step("", pb.Request(query_filter=query))

    def _play_repair_times(self, op: ops.RepairTimes) -> None:
        asked: dict[str, Any] = {field.name: getattr(op, field.name) for field in fields(op) if field.name != "when"}
        self._distinct[0].step("", pb.Request(repair_times=pb.RepairTimes(now_ms=self._now_ms, **asked)))

    # ---- calm ------------------------------------------------------------------------------------------------------

    def _round(self, op: ops.Calm) -> None:
        self._play_tick(ops.Tick())
        for channel in range(len(self.schedule.channels) or 1):
            for who in self._open_participants(ops.EVERYBODY):
                if channel < len(self._actors[who].party.channels):
                    self._try(self._operation, lambda: self._play_sync(ops.Sync(who, channel)))  # noqa: B023
        if op.store:
            self._play_lookup(ops.Lookup())

    def _account(self) -> tuple[int, int, int]:
        """Counts that change between two calm rounds if the first of them changed anything.

        They are the numbers of signals (without signals of missing messages), of messages that participants have, and
        of distinct requests for repairs.
        """
        group_trace = self.group_trace
        for act in group_trace.acts[self._accounted :]:
            self._signals += sum(event.kind != "missing" for event in act.step.events)
        for packet in group_trace.packets[self._accounted_packets :]:
            message = packet.wire.message
            if message is not None:
                self._asked.update((packet.sender, message.channel_id, e.message_id) for e in message.repair_request)
        self._accounted, self._accounted_packets = len(group_trace.acts), len(group_trace.packets)
        return self._signals, sum(map(len, self._has.values())), len(self._asked)

    def _longest_ms(self) -> int:
        """Maximum milliseconds until a missing message is resent or repaired; 0 if no participant misses one."""
        longest = 0
        for who, actor in self._actors.items():
            party = actor.party
            if any(key not in self._has[who] for key in self._store if key[0] in party.channels):
                c = party.in_force
                repair = c.t_max_ms if c.sds_r else 0
                longest = max(longest, 2 * c.resend_unacknowledged_ms, c.resend_possibly_acknowledged_ms, repair)
        return longest

    # ---- messages of scripted peers --------------------------------------------------------------------------------

    def _message_of(self, op: ops.Write) -> Message:
        stage: Stage = self._distinct[0]
        channel = stage.label(self.schedule.channels[op.channel]) if self.schedule.channels else UNNAMED_CHANNEL
        peer = stage.peer(op.peer, channel)
        lamport = None
        if op.lamport_ms is not None:
            lamport = max(
                0, min(self._revision.wire.max_lamport, self._usual_lamport(channel, op.since) + op.lamport_ms)
            )
        if op.lamport is not None:
            most = self._revision.wire.max_lamport
            lamport = self._value(op.lamport) if isinstance(op.lamport, str) else min(op.lamport, most)
        content = f"content {op.label} of {op.peer}" if op.content == "usual" else op.content
        content_bytes = self._to_sendable(bytes.fromhex(op.raw)) or (None if content is None else content.encode())
        message_id = f"{peer.name}-{op.label}"
        if op.number:
            peer.skip(op.number - 1 + self._round_number * self._messages_per_round.get(op.peer, 0))
            numbered = (
                peer.ephemeral(b"") if lamport is None else peer.sync(0) if not content_bytes else peer.content(0)
            )
            message_id, content_bytes = (
                numbered.message_id,
                numbered.content if op.content == "usual" and not op.raw else content_bytes,
            )
        bloom_filter: bytes | None = bytes.fromhex(op.raw_filter) if op.raw_filter else None
        if op.ones:
            bloom_filter = b"\xff" * max(0, min(MOST_ONES, self._value(op.ones)))
        if op.filter is not None and not op.raw_filter:
            # The filter has the bloom profile of the first implementation. Other implementations may not understand it.
            bloom_filter = stage.filter_over(*map(self._id, op.filter)) if stage.trace.parties else None
            if bloom_filter is None and not isinstance(op, ops.Say):
                raise ScheduleStoppedError(
                    f"{NO_FILTER}: the suite cannot build one that the implementation understands"
                )
        if op.filter_of:
            packet = self.group_trace.labels.get(op.filter_of)
            copied = packet.wire.message if packet is not None else None
            if copied is None or copied.bloom_filter is None:
                raise ScheduleStoppedError(f"{NO_FILTER}: {op.filter_of} has none")
            bloom_filter = copied.bloom_filter
        history = self._entries(op.after, senders=op.senders_named, hints=op.hint)
        if "hints" in op.empty:
            history = tuple(replace(entry, retrieval_hint=b"") for entry in history)
        if op.message_id or op.id_of:
            message_id = op.message_id or self._id(ops.Entry(op.id_of, twin=op.twin))
        if op.length:
            content_bytes = bytes(op.length)
        return Message(
            "" if "sender" in op.empty else stage.label(op.poses_as) if op.poses_as else peer.name,
            "" if "message_id" in op.empty else message_id,
            "" if "channel" in op.empty else channel,
            lamport,
            history,
            b"" if "filter" in op.empty else bloom_filter,
            self._entries(op.asks, senders=True, hints=False, unknown=None),
            content_bytes,
        )

    def _usual_lamport(self, channel_id: str, since: str = "") -> int:
        """The Lamport timestamp that a peer would use now if it had received everything that participants sent.

        If ``since`` is the label of a mark, the virtual time of the mark; if it is the label of a message, the
        timestamp of the message.
        """
        if since in self._marks:
            return self._marks[since]
        packet = self.group_trace.labels.get(since)
        if packet is not None and packet.wire.message is not None:
            return packet.wire.message.lamport_timestamp or 0
        if self._revision.lamport_follows_clock:
            epoch: int = min(self._epochs.values())
            return epoch + self._elapsed
        return self._counts.get(channel_id, 0) + 1

    def _encode_message(self, message: Message, encoding: str = "usual", revision: str = "") -> Wire:
        """The bytes of a message in the wire layout of the schedule's revision, or of ``revision`` if given."""
        layout, stage = self._revision.wire, self._distinct[0]
        raw = ENCODINGS[encoding]((REVISIONS[revision].wire if revision else layout).encode(message))
        known: dict[bytes, Wire] = stage.wires if stage.dialect is None else {}
        if raw not in known:
            known[raw] = Wire(raw, None, layout)
        return known[raw]

    def _to_sendable(self, content: bytes) -> bytes:
        """The content, or its ASCII characters if it is not text and the implementation can send only text."""
        stage: Stage = self._distinct[0]
        return content if is_text(content) else stage.as_sendable(content)

    def _id(self, reference: ops.Reference) -> str:
        if isinstance(reference, ops.Entry):
            if reference.id is not None:
                return reference.id
            if reference.twin:
                return self._twin(self._id(reference.label), reference.twin)
            reference = reference.label
        packet = self.group_trace.labels.get(reference)
        message = packet.wire.message if packet is not None else None
        return message.message_id if message is not None else f"{NEVER}{reference}"

    def _twin(self, message_id: str, kind: str) -> str:
        """An ID that is similar to ``message_id`` but different.

        If there is no such ID of this kind, an ID that was never sent.
        """
        twin = ops.TWINS[kind](message_id)
        return twin if twin not in ("", message_id) else f"{NEVER}{kind}"

    def _entries(
        self, references: tuple[ops.Reference, ...], *, senders: bool, hints: bool, unknown: str | None = "nobody"
    ) -> tuple[HistoryEntry, ...]:
        """Make the entries of a causal history or a repair request.

        ``unknown`` is the sender named for messages that were never sent.
        """
        out = []
        for one in references:
            if isinstance(one, ops.Entry):
                hint = None if one.hint is None else bytes.fromhex(one.hint)
                sender = self._distinct[0].label(one.sender) if one.sender else one.sender
                out.append(HistoryEntry(self._id(one), hint, sender))
                continue
            message_id, packet = self._id(one), self.group_trace.labels.get(one)
            message = packet.wire.message if packet is not None else None
            sender = (message.sender_id if message is not None else unknown) if senders else None
            out.append(HistoryEntry(message_id, hint_of(one) if hints else None, sender))
        return tuple(out)

"""Plays a schedule of ClearSkies: applications, links, and scripted peers."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping

from clearskies_proto.testee.v1 import testee_pb2 as pb
from clearskies_reference.vector_clock import is_id

from ..schedules import base_player, operations
from ..schedules.base_player import MAX_STEPS, ScheduleTooLongError, raise_if_stopped
from ..stage import ScheduleStoppedError
from . import operations as ops
from .actor import Actor
from .clubs import READ_ONLY, peer_id, record_id
from .frames import GET_UPDATES, UPDATE, Frame
from .group_trace import Act, GroupTrace, Loss, Packet, Wire
from .links import PeerLink, ScriptedLink
from .network import CountedNetwork
from .peer import ScriptedPeer
from .peer_messages import alter_time, members_of, message_of_write, replay_message, sign_frame, value_of
from .stage import ROUND_MS, Stage, play_until_quiet
from .streams import Message, Stream
from .trace import Step, Trace

CUT = "cut"
"""The reason of a loss: the link broke."""
NO_LINK = "there is no link"
"""The start of the reason why a scripted peer sent nothing: the participant closed the link."""
MOST_WRITTEN = 64 << 20
"""Maximum number of bytes that all scripted peers together may write: peers relay each byte to all others."""
READER, READER_ONLY = "stranger", "reader"
"""The scripted peers that request everything: a writer and a read-only peer."""
ANSWER_TICKS = 4
"""Number of ticks after a request for all records: some implementations collect messages for seconds before they send
them."""


_RESOLUTIONS = {int(known): known for known in (pb.RESOLUTION_MERGE, pb.RESOLUTION_SEPARATE)}
"""The conflict resolutions that `open` can request, by number. Without one, a peer uses its default."""


def play(schedule: ops.Schedule, stages: Mapping[str, Stage]) -> GroupTrace:
    """Play a schedule; ``stages`` has the stage of each participant under test, by name.

    The stages are closed at the end. A breakdown of an implementation ends the group trace and is recorded in it.
    """
    return Player(schedule, stages).play()


def perform(schedule: ops.Schedule, stage: Stage, length_factor: int = 1, *optional: str) -> GroupTrace:
    """Play a schedule as a scenario: all participants are played on one stage, which stays open.

    ``length_factor`` multiplies the maximum length of the group trace.

    Raises ScheduleStoppedError after the end if an operation was refused, or if the implementation lacks something that
    the schedule requires. A reason that begins with one of ``optional`` raises nothing. Raises TesteeError if the
    implementation breaks down.
    """
    group_trace = Player(schedule, dict.fromkeys(schedule.names, stage), length_factor).perform()
    raise_if_stopped(group_trace, *optional)
    return group_trace


class Player(base_player.BasePlayer[Actor, Step, Trace, Wire]):
    """Plays one schedule and records its group trace."""

    def __init__(self, schedule: ops.Schedule, stages: Mapping[str, Stage], length_factor: int = 1) -> None:
        super().__init__(schedule, stages, length_factor)
        self._home: Stage = self._distinct[0]
        self._network = CountedNetwork(self._home, self._at, self._on_step, self._lost)
        self._noted = {id(stage): len(stage.trace.steps) for stage in self._distinct}
        self._bodies = self._home.trace.bodies.for_another_trace()
        self._streams: dict[tuple[int, str], Stream] = {}
        self._streams_of: dict[int, list[Stream]] = {}
        self._closed: dict[str, Actor] = {}
        self._lines: list[PeerLink] = []
        self._peers: dict[str, ScriptedPeer] = {}
        self._writes: dict[tuple[str, str], str] = {}
        """The label of the last change, by the writer and the uuid."""
        self._signed: dict[str, Message] = {}
        """By label, the first signed message with the update."""
        self._first_sent: dict[str, Message] = {}
        """By label, the update as a participant has sent it first."""
        self._written: dict[str, tuple[Frame, str]] = {}
        """The messages of scripted peers by label, unsigned, each with how it is signed when it is sent."""
        self._links: list[ScriptedLink] = []
        self._named: dict[str, ScriptedLink] = {}
        """The links that `connect` operations have named, by name."""
        for stage in self._distinct:
            stage.network = self._network
            stage.trace.bodies = self._bodies.for_another_trace()
            for name in schedule.names:
                stage.trace.club.join(name)

    def perform(self) -> GroupTrace:
        try:
            return super().perform()
        finally:
            self._network.drop_callbacks()

    # ---- participants ----------------------------------------------------------------------------------------------

    def _open(self, member: operations.Member) -> None:
        stage: Stage = self._at(member.name)
        kind = member if isinstance(member, ops.Member) else ops.Member(member.name)
        declared = stage.trace.declaration
        resolution = int(dict(self.schedule.configuration).get("resolution", pb.RESOLUTION_UNSPECIFIED))
        try:
            actor = stage.open(
                member.name,
                read_only=kind.read_only,
                resolution=_RESOLUTIONS.get(resolution),
                store=kind.store and declared.can(pb.CAPABILITY_STORE),
            )
        finally:
            self._record_new_steps()
        self._actors[member.name] = actor

    def _play_close(self, op: ops.Close) -> None:
        actor = self._actors.pop(op.who, None)
        if actor is None:
            return
        self._closed[op.who] = actor
        self._at(op.who)
        try:
            actor.close()
        finally:
            self._record_new_steps()

    def _play_reopen(self, op: ops.Reopen) -> None:
        actor = (self._actors if op.killed else self._closed).pop(op.who, None)
        if actor is None:
            return
        self._at(op.who)
        try:
            self._actors[op.who] = actor.reopen(forget=op.forget, killed=op.killed)
        finally:
            self._record_new_steps()

    def _find_actor(self, who: str) -> Actor | None:
        """The actor of a participant, with its clock set to the time of the participant; None if it is not open."""
        self._at(who)
        return self._actors.get(who)

    def _play_tick(self, op: ops.Tick) -> None:
        for who in self._open_participants(op.who):
            self._at(who)
            self._actors[who].tick()

    def _play_look(self, op: ops.Look) -> None:
        for who in self._open_participants(op.who):
            self._at(who)
            self._actors[who].observe()
            self._record_new_steps()

    def _play_settle(self, op: ops.Settle) -> None:
        def play_round() -> None:
            self._pass(ROUND_MS)
            self._play_tick(ops.Tick())

        traces = [stage.trace for stage in self._distinct]
        try:
            play_until_quiet(traces, play_round, len(self._home.environment.clock_offsets_ms))
        except ScheduleStoppedError as stopped:
            raise ScheduleTooLongError(str(stopped)) from None

    def _play_compare_clocks(self, op: ops.CompareClocks) -> None:
        if (actor := self._find_actor(op.who)) is not None:
            one, other = (json.dumps(self._numbers(clock)).encode() for clock in (op.one, op.other))
            try:
                actor.do(pb.Request(compare_clocks=pb.CompareClocks(one=one, other=other)))
            finally:
                self._record_new_steps()

    # ---- applications ----------------------------------------------------------------------------------------------

    def _play_put(self, op: ops.Put) -> None:
        for number in range(1, op.times + 1):
            actor = self._find_actor(op.who)
            if actor is None:
                return
            more = f".{number}" if number > 1 else ""
            label = op.label + more
            self._writing = label
            text, uuid = op.text or None, record_id(op.record) if op.record else ""
            value = value_of(op.value) if op.value else "x" * op.length or f"value {label} of {op.who}"
            actor.put(op.key + more, value, text=text if not op.value and not op.length else None, uuid=uuid)

    def _play_rename(self, op: ops.Rename) -> None:
        if (actor := self._find_actor(op.who)) is not None:
            self._writing = op.label
            actor.rename(op.key, op.new_key)

    def _play_delete(self, op: ops.Delete) -> None:
        if (actor := self._find_actor(op.who)) is not None:
            self._writing = op.label
            actor.delete(op.key)

    _writing = ""
    """Label of the change in progress."""

    # ---- links -----------------------------------------------------------------------------------------------------

    def _lines_between(self, who: str, to: str) -> list[PeerLink]:
        """The links between two participants; with ``EVERYBODY`` as one name all links of the other participant, and as
        both names all links."""
        self._lines = [line for line in self._lines if not line.broken]
        named = {who, to} - {ops.EVERYBODY}
        return [line for line in self._lines if named <= {end.name for end in line.ends}]

    def _play_link(self, op: ops.LinkPeers) -> None:
        one, other = self._find_actor(op.who), self._find_actor(op.to)
        if one is None or other is None or one is other or (not op.second and self._lines_between(op.who, op.to)):
            return
        self._lines.append(self._network.join(one, other, held=op.held))

    def _play_unlink(self, op: ops.Unlink) -> None:
        for line in self._lines_between(op.who, op.to):
            line.cut()

    def _play_hold(self, op: ops.Hold) -> None:
        for line in self._lines_between(op.who, op.to):
            line.hold()

    def _play_release(self, op: ops.Release) -> None:
        for line in self._lines_between(op.who, op.to):
            if op.who and (op.size or op.one_way):
                sender = next(end for end in line.ends if end.name == op.who)
                if op.size:
                    line.let_through(sender, op.size)
                else:
                    line.let_all_through(sender)
            else:
                line.release()

    # ---- scripted peers --------------------------------------------------------------------------------------------

    def _peer(self, name: str, *, read_only: bool) -> ScriptedPeer:
        peer = self._peers.get(name)
        if peer is None:
            peer = self._peers[name] = self._home.peer(name, read_only=read_only)
            self._enter(name)
        return peer

    def _enter(self, name: str) -> str:
        """Add a member to the club. Returns its ID."""
        for stage in self._distinct:
            stage.trace.club.join(name)
        return peer_id(name)

    def _scripted_link(self, op: ops.Scripted | ops.Say) -> ScriptedLink | None:
        """The link of a scripted peer to a participant; a new one if there is none. None if the participant is not
        open. Raises ScheduleStoppedError if the operation names a link that does not exist."""
        actor = self._find_actor(op.to)
        if actor is None:
            return None
        peer = self._peer(op.peer, read_only=op.read_only)
        if op.link:
            named = self._named.get(op.link)
            if named is None or named.broken:
                raise ScheduleStoppedError(f"{NO_LINK} {op.link} to {op.to}, although more is scheduled on it")
            return named
        return next(self._links_between(peer, actor), None) or self._join(actor, peer)

    def _join(self, actor: Actor, peer: ScriptedPeer) -> ScriptedLink:
        link = self._network.join_scripted(actor, peer)
        self._links.append(link)
        return link

    def _links_between(self, peer: ScriptedPeer, actor: Actor) -> Iterator[ScriptedLink]:
        return (link for link in list(self._links) if (link.peer, link.actor) == (peer, actor) and not link.broken)

    def _play_connect(self, op: ops.Connect) -> None:
        if (actor := self._find_actor(op.to)) is not None:
            self._named[op.link] = self._join(actor, self._peer(op.peer, read_only=op.read_only))

    def _write_to(self, link: ScriptedLink, what: Frame | bytes, label: str = "") -> None:
        data = what if isinstance(what, bytes) else what.wire
        self._bytes_written += len(data)
        if self._bytes_written > MOST_WRITTEN * self._length_factor:
            raise ScheduleTooLongError(
                f"scripted peers have sent more than {MOST_WRITTEN * self._length_factor >> 20} MiB"
            )
        if not link.broken:
            packet = self._packet(link.peer.name, link.number, data, 0, label)
            self._network.sent(packet, link.actor.name)
            link.send(what)

    _bytes_written = 0

    def _play_write(self, op: ops.Write) -> None:
        self._message_by(op, self._peer(op.peer, read_only=op.read_only))

    def _message_by(self, op: ops.Write, peer: ScriptedPeer) -> Frame:
        """Let a scripted peer write a message, which is not signed yet."""
        self._home.now_ms = self._epochs[id(self._home)] + self._elapsed
        poses_as = self._enter(op.poses_as) if op.poses_as else ""
        clock = self._numbers(op.clock) if op.clock is not None else None
        frame = message_of_write(op, peer, self._update(op.after), clock, poses_as)
        self._written.setdefault(op.label, (frame, op.signature))
        return frame

    def _numbers(self, entries: tuple[ops.Entry, ...]) -> dict[str, int]:
        return {self._enter(entry.peer): self._revision_of(entry.label) or entry.number for entry in entries}

    def _revision_of(self, label: str) -> int:
        """The revision of a change; 0 if it was never sent."""
        update = self._update(label)
        revision = update.body.members.get("last_updated_rev") if update is not None else None
        return revision if type(revision) is int else 0

    def _update(self, label: str) -> Message | None:
        """The update with a label; None if it was never sent or written."""
        if label in self._first_sent:
            return self._first_sent[label]
        packet = self.group_trace.labels.get(label)
        if packet is not None:
            return next((message for message in packet.wire.messages if message.type == UPDATE), None)
        if label in self._written:
            return Message(0, 0, 0, self._bodies.read(self._written[label][0].body), None)
        return None

    def _play_say(self, op: ops.Say) -> None:
        link = self._scripted_link(op)
        if link is None or link.broken:
            return
        frame = self._message_by(op, link.peer)
        self._write_to(link, sign_frame(frame, op.signature, link.peer, link.level), op.label)

    def _play_again(self, op: ops.Again) -> None:
        link = self._scripted_link(op)
        packet = self.group_trace.labels.get(op.label)
        sent = packet.wire.messages if packet is not None else ()
        message = self._signed.get(op.label) or next(iter(sent), None)
        if link is not None and message is not None:
            self._write_to(link, replay_message(message, flipped=op.flipped))

    def _play_send(self, op: ops.Send) -> None:
        if (link := self._scripted_link(op)) is None:
            return
        sent = [(label, part) for one in op.messages for label, part in self._copies(one, link)]
        if op.joined and sent:
            sent = [("", b"".join(part if isinstance(part, bytes) else part.wire for _, part in sent))]
        for label, part in sent:
            self._write_to(link, part, label)

    def _copies(self, one: str | ops.MessageCopy, link: ScriptedLink) -> Iterator[tuple[str, Frame | bytes]]:
        """Yield the label and the message that ``one`` names, signed as the link requires. The label is "" for a part
        and for an altered message. Yield nothing if the message was never written or sent."""
        copy = one if isinstance(one, ops.MessageCopy) else ops.MessageCopy(one)
        if copy.label in self._written:
            frame = sign_frame(*self._written[copy.label], link.peer, link.level)
        else:
            write = self._signed if READ_ONLY in (link.level, link.peer.level) else self._first_sent
            message = write.get(copy.label) or self._first_sent.get(copy.label)
            if message is None:
                return
            frame = replay_message(message, flipped=False)
        frame = alter_time(frame) if copy.altered else frame
        if copy.begin or copy.end is not None:
            yield "", frame.wire[copy.begin : copy.end]
        else:
            yield copy.label if not copy.altered else "", frame

    def _play_ask(self, op: ops.Ask) -> None:
        if (link := self._scripted_link(op)) is not None:
            club = self._home.trace.club
            since = {club.join(name): op.known for name in self.schedule.names} if op.known else {}
            since |= self._numbers(op.since)
            self._write_to(link, link.peer.get_updates(since, **members_of(op.members)))

    def _play_garble(self, op: ops.Garble) -> None:
        if (link := self._scripted_link(op)) is not None:
            self._write_to(link, bytes.fromhex(op.wire))

    def _play_leave(self, op: ops.Leave) -> None:
        peer, actor = self._peers.get(op.peer), self._find_actor(op.to)
        named = self._named.get(op.link)
        for link in self._links_between(peer, actor) if peer is not None and actor is not None else ():
            if not op.link or link is named:
                link.cut()

    def _play_read(self, op: ops.Read) -> None:
        links = []
        reader = self._home.peer(READER_ONLY if op.read_only else READER, read_only=op.read_only)
        self._enter(reader.name)
        for who in self._open_participants(op.who):
            self._at(who)
            links.append(self._network.join_scripted(self._actors[who], reader))
            self._write_to(links[-1], reader.get_updates())
        # Some implementations answer only at a `tick`.
        for _ in range(ANSWER_TICKS):
            self._pass(ROUND_MS)
            self._play_tick(ops.Tick(op.who))
        for link in links:
            link.cut()

    # ---- calm ------------------------------------------------------------------------------------------------------

    def _heal(self) -> None:
        self._play_release(ops.Release())

    def _round(self, op: ops.Calm) -> None:
        self._play_tick(ops.Tick())

    def _account(self) -> int:
        return self._news

    _news = 0
    """Updates and requests so far, without repeated ones. Other messages do not change a database."""

    # ---- results ---------------------------------------------------------------------------------------------------

    def _on_step(self, actor: Actor, step: Step) -> None:
        """Called after a step, before the network sends the messages of the step."""
        if step.command in ("put", "rename", "delete") and step.uuid and self._writing:
            self._writes[actor.name, step.uuid] = self._writing
            self._writing = ""
        self._record_new_steps()

    def _record_new_steps(self) -> None:
        """Record new steps as acts, and their messages as packets."""
        group_trace = self.group_trace
        for stage in self._distinct:
            trace: Trace = stage.trace
            for step in trace.steps[self._noted[id(stage)] :]:
                self._noted[id(stage)] += 1
                arrived = self._network.arriving if step.command == "receive" else None
                act = Act(
                    len(group_trace.acts) + 1, step.participant, step, trace, self._elapsed, self._operation, arrived
                )
                group_trace.acts.append(act)
                for number, data in step.sent:
                    packet = self._packet(step.participant, number, data, act.number)
                    if listener := self._network.listener_of(number, step.participant):
                        self._network.sent(packet, listener)
        if len(group_trace.acts) >= MAX_STEPS * self._length_factor:
            raise ScheduleTooLongError(f"the maximum of {MAX_STEPS * self._length_factor:,} steps was reached")

    def _packet(self, sender: str, number: int, data: bytes, act: int, label: str = "") -> Packet:
        group_trace = self.group_trace
        stream = self._streams.get((number, sender))
        if stream is None:
            stream = self._streams[number, sender] = Stream(number, self._bodies, self._home.profile)
            for other in self._streams_of.setdefault(number, []):
                stream.face(other)
            self._streams_of[number].append(stream)
        messages = tuple(stream.feed(data, act))
        self._news += sum(message.type in (UPDATE, GET_UPDATES) and not message.repeated for message in messages)
        label = label or self._label_of(sender, messages, act)
        wire = Wire(number, data, messages, self._home.trace.club)
        packet = Packet(len(group_trace.packets) + 1, sender, wire, self._elapsed, act, self._operation, label)
        group_trace.packets.append(packet)
        if label:
            group_trace.labels.setdefault(label, packet)
        return packet

    def _label_of(self, sender: str, messages: tuple[Message, ...], act: int) -> str:
        """The label of the peer's own change that appears in the messages, if it appears in an act for the first time;
        "" if there is none."""
        found = [(message, label) for message in messages if (label := self._label_of_one(sender, message))]
        for message, label in found:
            self._first_sent.setdefault(label, message)
        for message, label in found:
            if message.signature is not None:
                self._signed.setdefault(label, message)
            known = self.group_trace.labels.get(label)
            if known is None or known.act == act:
                return label
        return ""

    def _label_of_one(self, sender: str, message: Message) -> str:
        """The label of the peer's own change in a message; "" if there is none."""
        members = message.body.members
        uuid, by = members.get("uuid"), members.get("last_updated_by")
        if message.type != UPDATE or not is_id(uuid) or by != peer_id(sender):
            return ""
        return self._writes.get((sender, str(uuid)), "")

    def _lost(self, packet: Packet, listener: str) -> None:
        self.group_trace.losses.append(Loss(packet, listener, self._elapsed, CUT))

"""Plays a schedule of ClearSkies: applications, links, and scripted peers."""

from __future__ import annotations

from collections.abc import Mapping

from clearskies_proto.testee.v1 import testee_pb2 as pb
from clearskies_reference.vector_clock import is_id

from ..schedules import operations, performer
from ..schedules.performer import MAX_STEPS, TooLong
from .actor import Actor
from .carrying import CountedNetwork
from .frames import GET_UPDATES, UPDATE
from .links import Line, ScriptedLink
from .operations import (
    EVERYBODY,
    Again,
    Ask,
    Calm,
    Close,
    Delete,
    Garble,
    Hold,
    Leave,
    Link,
    Look,
    Member,
    Put,
    Read,
    Release,
    Rename,
    Reopen,
    Say,
    Schedule,
    Scripted,
    Tick,
    Unlink,
)
from .peer import ScriptedPeer
from .performance import Act, Loss, Packet, Performance, Wire
from .saying import replayed, said
from .stage import ROUND_MS, Stage
from .streams import Message, Stream
from .trace import Step, Trace

CUT = "cut"
"""The reason of a loss: the link broke."""
MOST_SPOKEN = 64 << 20
"""Most bytes that all scripted peers may write: each byte is repeated to all peers."""
READER, READER_ONLY = "stranger", "reader"
"""The strangers that ask for everything: a writer and a read-only peer."""
ANSWER_TICKS = 4
"""Ticks after a stranger's request: some implementations collect what they send for seconds."""


_RESOLUTIONS = {int(known): known for known in (pb.RESOLUTION_MERGE, pb.RESOLUTION_SEPARATE)}
"""By number; the default is not requested."""


def play(schedule: Schedule, stages: Mapping[str, Stage]) -> Performance:
    """Play a schedule; ``stages`` is the stage of each member.

    The stages are closed at the end. A breakdown of an implementation ends the performance and is recorded in it.
    """
    return Player(schedule, stages).play()


class Player(performer.Performer[Actor, Step, Trace, Wire]):
    """One performance."""

    def __init__(self, schedule: Schedule, stages: Mapping[str, Stage]) -> None:
        super().__init__(schedule, stages)
        self._home: Stage = self._distinct[0]
        self._network = CountedNetwork(self._home, self._at, self._took, self._lost)
        self._noted = {id(stage): len(stage.trace.steps) for stage in self._distinct}
        self._bodies = self._home.trace.bodies.beside()
        self._streams: dict[tuple[int, str], Stream] = {}
        self._closed: dict[str, Actor] = {}
        self._lines: list[Line] = []
        self._peers: dict[str, ScriptedPeer] = {}
        self._writes: dict[tuple[str, str], str] = {}
        """The label of the last change, by the writer and the uuid."""
        self._signed: dict[str, Message] = {}
        """By label, the first signed copy of the update."""
        for stage in self._distinct:
            stage.network = self._network
            stage.trace.bodies = self._bodies.beside()
            for name in schedule.names:
                stage.trace.club.join(name)
        self._does |= {
            Put: self._put,
            Rename: self._rename,
            Delete: self._delete,
            Link: self._link,
            Unlink: self._unlink,
            Hold: self._hold,
            Release: self._release,
            Close: self._close,
            Reopen: self._reopen,
            Read: self._read,
            Say: self._say,
            Again: self._again,
            Ask: self._ask,
            Garble: self._garble,
            Leave: self._leave,
        }

    def perform(self) -> Performance:
        try:
            return super().perform()
        finally:
            self._network.let_go()

    # ---- participants ----------------------------------------------------------------------------------------------

    def _open(self, member: operations.Member) -> None:
        stage: Stage = self._at(member.name)
        kind = member if isinstance(member, Member) else Member(member.name)
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
            self._note()
        self._actors[member.name] = actor

    def _close(self, op: Close) -> None:
        actor = self._actors.pop(op.who, None)
        if actor is None:
            return
        self._closed[op.who] = actor
        self._at(op.who)
        try:
            actor.close()
        finally:
            self._note()

    def _reopen(self, op: Reopen) -> None:
        actor = self._closed.pop(op.who, None)
        if actor is None:
            return
        self._at(op.who)
        try:
            self._actors[op.who] = actor.reopen(forget=op.forget)
        finally:
            self._note()

    def _present(self, who: str) -> Actor | None:
        """The actor of an open participant, at its own time; None if it is not open."""
        self._at(who)
        return self._actors.get(who)

    def _tick(self, op: Tick) -> None:
        for who in self._those(op.who):
            self._at(who)
            self._actors[who].tick()

    def _look(self, op: Look) -> None:
        for who in self._those(op.who):
            self._at(who)
            self._actors[who].observe()
            self._note()

    # ---- applications ----------------------------------------------------------------------------------------------

    def _put(self, op: Put) -> None:
        for number in range(1, op.times + 1):
            actor = self._present(op.who)
            if actor is None:
                return
            more = f".{number}" if number > 1 else ""
            label = op.label + more
            self._writing = label
            text = op.text or None
            actor.put(op.key + more, f"value {label} of {op.who}", text=text)

    def _rename(self, op: Rename) -> None:
        if (actor := self._present(op.who)) is not None:
            self._writing = op.label
            actor.rename(op.key, op.new_key)

    def _delete(self, op: Delete) -> None:
        if (actor := self._present(op.who)) is not None:
            self._writing = op.label
            actor.delete(op.key)

    _writing = ""
    """Label of the change in progress."""

    # ---- links -----------------------------------------------------------------------------------------------------

    def _between(self, who: str, to: str) -> list[Line]:
        """The links between two participants, or all links of one participant, or all links."""
        self._lines = [line for line in self._lines if not line.broken]
        named = {who, to} - {EVERYBODY}
        return [line for line in self._lines if named <= {end.name for end in line.ends}]

    def _link(self, op: Link) -> None:
        one, other = self._present(op.who), self._present(op.to)
        if one is None or other is None or one is other or (not op.second and self._between(op.who, op.to)):
            return
        self._lines.append(self._network.join(one, other, held=op.held))

    def _unlink(self, op: Unlink) -> None:
        for line in self._between(op.who, op.to):
            line.cut()

    def _hold(self, op: Hold) -> None:
        for line in self._between(op.who, op.to):
            line.hold()

    def _release(self, op: Release) -> None:
        for line in self._between(op.who, op.to):
            if op.size and op.who:
                line.let_through(next(end for end in line.ends if end.name == op.who), op.size)
            else:
                line.release()

    # ---- scripted peers --------------------------------------------------------------------------------------------

    def _scripted(self, op: Scripted) -> ScriptedLink | None:
        """The link of a scripted peer to a participant; a new one if there is none. None if the participant is not
        open."""
        actor = self._present(op.to)
        if actor is None:
            return None
        peer = self._peers.get(op.peer)
        if peer is None:
            peer = self._peers[op.peer] = self._home.peer(op.peer, read_only=op.read_only)
            for stage in self._distinct:
                stage.trace.club.join(op.peer)
        link = next((link for link in peer.links if link.actor is actor and not link.broken), None)
        return link or self._network.join_scripted(actor, peer)

    def _write(self, link: ScriptedLink, data: bytes, label: str = "") -> None:
        """Let a scripted peer write to its link."""
        self._spoken += len(data)
        if self._spoken > MOST_SPOKEN:
            raise TooLong(f"scripted peers had more to say than {MOST_SPOKEN >> 20} MiB")
        if not link.broken:
            packet = self._packet(link.peer.name, link.number, data, 0, label)
            self._network.sent(packet, link.actor.name)
            link.send(data)

    _spoken = 0
    """Bytes that scripted peers have written."""

    def _say(self, op: Say) -> None:
        link = self._scripted(op)
        if link is None or link.broken:
            return
        self._home.now_ms = self._epochs[id(self._home)] + self._elapsed
        before = self.performance.labels.get(op.after)
        after = _update(before) if before is not None else None
        poses_as = self._home.trace.club.join(op.poses_as) if op.poses_as else ""
        frame = said(op, link.peer, link.level, after, poses_as)
        self._write(link, frame.wire, op.label)

    def _again(self, op: Again) -> None:
        link = self._scripted(op)
        packet = self.performance.labels.get(op.label)
        sent = packet.wire.messages if packet is not None else ()
        message = self._signed.get(op.label) or next(iter(sent), None)
        if link is not None and message is not None:
            self._write(link, replayed(message, flipped=op.flipped).wire)

    def _ask(self, op: Ask) -> None:
        if (link := self._scripted(op)) is not None:
            club = self._home.trace.club
            since = {club.join(name): op.known for name in self.schedule.names} if op.known else {}
            self._write(link, link.peer.get_updates(since).wire)

    def _garble(self, op: Garble) -> None:
        if (link := self._scripted(op)) is not None:
            self._write(link, bytes.fromhex(op.wire))

    def _leave(self, op: Leave) -> None:
        peer, actor = self._peers.get(op.peer), self._present(op.to)
        for link in list(peer.links) if peer is not None else []:
            if link.actor is actor:
                link.cut()

    def _read(self, op: Read) -> None:
        links = []
        reader = self._home.peer(READER_ONLY if op.read_only else READER, read_only=op.read_only)
        for stage in self._distinct:
            stage.trace.club.join(reader.name)
        for who in self._those(op.who):
            self._at(who)
            links.append(self._network.join_scripted(self._actors[who], reader))
            self._write(links[-1], reader.get_updates().wire)
        # Some implementations answer when they are ticked.
        for _ in range(ANSWER_TICKS):
            self._pass(ROUND_MS)
            self._tick(Tick(op.who))
        for link in links:
            link.cut()

    # ---- calm ------------------------------------------------------------------------------------------------------

    def _heal(self) -> None:
        self._release(Release())

    def _round(self, op: Calm) -> None:
        self._tick(Tick())

    def _account(self) -> int:
        return self._said

    _said = 0
    """Updates and requests so far, without repeated ones. Other messages do not change a database."""

    # ---- results ---------------------------------------------------------------------------------------------------

    def _took(self, actor: Actor, step: Step) -> None:
        """Called after a step, before its messages go under way."""
        if step.command in ("put", "rename", "delete") and step.uuid and self._writing:
            self._writes[actor.name, step.uuid] = self._writing
            self._writing = ""
        self._note()

    def _note(self) -> None:
        """Record new steps as acts, and their messages as packets."""
        show = self.performance
        for stage in self._distinct:
            trace: Trace = stage.trace
            for step in trace.steps[self._noted[id(stage)] :]:
                self._noted[id(stage)] += 1
                arrived = self._network.arriving if step.command == "receive" else None
                act = Act(len(show.acts) + 1, step.participant, step, trace, self._elapsed, self._operation, arrived)
                show.acts.append(act)
                for number, data in step.sent:
                    packet = self._packet(step.participant, number, data, act.number)
                    if listener := self._network.listener_of(number, step.participant):
                        self._network.sent(packet, listener)
        if len(show.acts) >= MAX_STEPS:
            raise TooLong(f"there were {MAX_STEPS:,} steps")

    def _packet(self, sender: str, number: int, data: bytes, act: int, label: str = "") -> Packet:
        show = self.performance
        stream = self._streams.get((number, sender))
        if stream is None:
            stream = self._streams[number, sender] = Stream(number, self._bodies, self._home.profile)
            for (link, who), other in self._streams.items():
                if link == number and who != sender:
                    stream.face(other)
        messages = tuple(stream.feed(data, act))
        self._said += sum(message.type in (UPDATE, GET_UPDATES) and not message.repeated for message in messages)
        label = label or self._label_of(sender, messages, act)
        wire = Wire(number, data, messages, self._home.trace.club)
        packet = Packet(len(show.packets) + 1, sender, wire, self._elapsed, act, self._operation, label)
        show.packets.append(packet)
        if label:
            show.labels.setdefault(label, packet)
        return packet

    def _label_of(self, sender: str, messages: tuple[Message, ...], act: int) -> str:
        """The label of the peer's own change that appears in the messages, if it appears in an act for the first time;
        "" if there is none."""
        for message in messages:
            members = message.body.members
            uuid, by = members.get("uuid"), members.get("last_updated_by")
            if message.type != UPDATE or not is_id(uuid) or by != self._home.trace.club.join(sender):
                continue
            label = self._writes.get((sender, str(uuid)), "")
            if label and message.signature is not None:
                self._signed.setdefault(label, message)
            known = self.performance.labels.get(label)
            if label and (known is None or known.act == act):
                return label
        return ""

    def _lost(self, packet: Packet, listener: str) -> None:
        self.performance.losses.append(Loss(packet, listener, self._elapsed, CUT))


def _update(packet: Packet) -> Message | None:
    """The first update that ends in a packet."""
    return next((message for message in packet.wire.messages if message.type == UPDATE), None)

"""Traces of ClearSkies: the bytes on the links of each peer, and the messages in them.

Links are streams, so a message may begin in one step and end in a later one. Streams are assembled on demand, each byte
once.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import PurePath
from typing import Any, NamedTuple

from clearskies_proto.testee.v1 import testee_pb2 as pb
from clearskies_reference import AccessLevel, SignatureProfile

from .. import trace
from ..declaration import printable
from .bodies import Bodies
from .clubs import LEVEL_FROM_PB, READ_WRITE, Club, profile_called
from .streams import Message, Stream

_NO_RECORD = pb.Record()


class Event(NamedTuple):
    """A signal of a peer to its application, decoded from the testee protocol."""

    kind: str
    """``changed``, ``conflict`` or ``link_closed``; "" for any other signal."""
    record: pb.Record = _NO_RECORD
    """The new state of a changed record; empty in other events."""
    uuid: str = ""
    """In a conflict, the uuid of the existing record."""
    incoming_uuid: str = ""
    """In a conflict, the uuid of the incoming record."""
    link: int = 0
    """The number of the closed link."""
    reason: str = ""
    """Why the link was closed, as reported by the implementation."""

    @classmethod
    def of(cls, event: pb.Event) -> Event:
        """Convert the event of a reply."""
        match event.WhichOneof("event"):
            case "changed":
                return cls("changed", record=event.changed.record)
            case "conflict":
                return cls("conflict", uuid=event.conflict.uuid, incoming_uuid=event.conflict.incoming_uuid)
            case "link_closed":
                return cls("link_closed", link=event.link_closed.link, reason=event.link_closed.reason)
        return cls("")


@dataclass(frozen=True)
class Text:
    """A revision of the specification. There is only one."""

    name: str
    title: str
    prefix: str


CLEARSKIES_DATABASE = Text("clearskies-database", "ClearSkies database extension", "CSDB")


def store_name(path: str) -> str:
    """The part of a store's path that its copies share; "" if there is no store."""
    return PurePath(path).name.partition(".")[0]


@dataclass
class Step(trace.Step):
    """One command to one peer, and its answer."""

    messages_field = "sent"
    request: pb.Request
    reply: pb.Reply | None

    def lighten(self) -> None:
        reply = self.reply
        if reply is None or not reply.effects.sent or reply.ByteSize() < trace.LARGE_REPLY_BYTES:
            return
        self._move_messages(
            [(each.link, self.known.setdefault(data := each.data, data)) for each in reply.effects.sent]
        )

    def _sent_again(self, message: tuple[int, bytes]) -> pb.Sent:
        return pb.Sent(link=message[0], data=message[1])

    @cached_property
    def link(self) -> int:
        """The link that the command names; 0 if none."""
        return int(getattr(getattr(self.request, self.command), "link", 0))

    @cached_property
    def effects(self) -> pb.Effects | None:
        """The effects in the reply; None if the reply has no effects."""
        return self.reply.effects if self.reply is not None and self.answer == "effects" else None

    @cached_property
    def events(self) -> list[Event]:
        """Signals of the implementation, in order."""
        return [Event.of(event) for event in self.effects.events] if self.effects is not None else []

    @cached_property
    def sent(self) -> list[tuple[int, bytes]]:
        """The bytes written to links, in order, each with the number of the link."""
        if self.effects is None:
            return []
        return self._moved or [(each.link, each.data) for each in self.effects.sent]

    @cached_property
    def uuid(self) -> str:
        """The uuid of the written record, in lower case; "" if it is not reported."""
        return self.effects.uuid.lower() if self.effects is not None else ""

    @property
    def state(self) -> pb.State | None:
        """The state in the reply; None if there is none."""
        return self.reply.state if self.reply is not None and self.answer == "state" else None

    @property
    def refusal(self) -> str:
        """Why the command was refused; "" if it was not."""
        if self.reply is None or self.answer != "rejected":
            return ""
        return printable(self.reply.rejected.reason) or "no reason given"

    def sent_on(self, link: int) -> bytes:
        """The bytes written to one link."""
        return b"".join(data for number, data in self.sent if number == link)

    def signals(self, kind: str) -> list[Event]:
        """The signals of this kind, in order."""
        return [event for event in self.events if event.kind == kind]


@dataclass
class Party(trace.Party):
    """A peer under test. The handle is the one from its last ``open``."""

    level: AccessLevel = READ_WRITE

    @property
    def peer_id(self) -> str:
        """The ID of the peer: 32 lower-case hexadecimal digits."""
        return self.participant_id


@dataclass
class Connection:
    """One link as the peer under test at one end sees it: the bytes in both directions."""

    participant: str
    number: int
    peer_id: str
    """ID of the peer at the other end."""
    level: AccessLevel
    """Access level of the peer at the other end."""
    began: int
    """Index of the step in which the link began."""
    sent: Stream
    arrived: Stream
    ended: int = 0
    """Index of the step in which the link ended; 0 while the link exists."""
    closed_by_peer: bool = False
    """Whether the peer under test closed the link on its own initiative."""
    reason: str = ""
    """Why the link ended, as reported by the peer."""


@dataclass(frozen=True)
class Stray:
    """Bytes for a link that does not exist."""

    participant: str
    step: int
    link: int
    data: bytes


class _Wiring:
    """The links and messages of a trace, from the steps that were read so far."""

    def __init__(self, profile: SignatureProfile | None, bodies: Bodies) -> None:
        self.profile = profile
        self.bodies = bodies
        self.read = 0
        """Number of steps read."""
        self.connections: list[Connection] = []
        self.strays: list[Stray] = []
        self.out: dict[int, list[Message]] = {}
        self.into: dict[int, list[Message]] = {}
        self._open: dict[tuple[str, int], Connection] = {}

    def take(self, step: Step) -> None:
        """Read one more step."""
        match step.command:
            case "connect" if step.effects is not None:
                self._begin(step)
            case "receive":
                self._carry(step, step.link, step.request.receive.data, arrived=True)
        for link, data in step.sent:
            self._carry(step, link, data, arrived=False)
        for closed in step.signals("link_closed"):
            self._end(step, closed.link, True, printable(closed.reason))
        if step.command == "disconnect":
            self._end(step, step.link)
        elif step.command in ("close", "open"):
            for participant, link in list(self._open):
                if participant == step.participant:
                    self._end(step, link)

    def _begin(self, step: Step) -> None:
        command = step.request.connect
        number = command.link
        level = LEVEL_FROM_PB.get(command.access_level, READ_WRITE)
        sent, arrived = (Stream(number, self.bodies, self.profile) for _ in range(2))
        sent.face(arrived)
        connection = Connection(step.participant, number, command.peer_id, level, step.index, sent, arrived)
        self._open[step.participant, number] = connection
        self.connections.append(connection)

    def _carry(self, step: Step, link: int, data: bytes, *, arrived: bool) -> None:
        connection = self._open.get((step.participant, link))
        if connection is None:
            self.strays.append(Stray(step.participant, step.index, link, data))
            return
        stream, whole = (connection.arrived, self.into) if arrived else (connection.sent, self.out)
        if messages := stream.feed(data, step.index):
            whole.setdefault(step.index, []).extend(messages)

    def _end(self, step: Step, link: int, by_peer: bool = False, reason: str = "") -> None:
        connection = self._open.pop((step.participant, link), None)
        if connection is not None:
            connection.ended, connection.closed_by_peer, connection.reason = step.index, by_peer, reason


@dataclass
class Trace(trace.Trace[Step]):
    """The steps of one play of one schedule, and the links and messages in them."""

    club: Club = field(default_factory=Club)
    """The names of peers by ID."""
    unsettled: list[int] = field(default_factory=list)
    """Steps at which the schedule stopped waiting, because the peers did not become quiet (CA-3)."""
    bodies: Bodies = field(default_factory=Bodies, init=False, compare=False, repr=False)
    _wiring: _Wiring | None = field(default=None, init=False, compare=False, repr=False)

    @property
    def connections(self) -> list[Connection]:
        """All links of all peers under test, each end separately, in the order in which they began."""
        return self._read().connections

    @property
    def strays(self) -> list[Stray]:
        """Bytes that were written to, or arrived on, links that do not exist or no longer exist."""
        return self._read().strays

    def links_of(self, participant: str) -> Iterator[Connection]:
        """The links of one peer."""
        return (each for each in self.connections if each.participant == participant)

    def out(self, step: Step) -> list[Message]:
        """The messages that end in the bytes sent in a step, in order."""
        return self._read().out.get(step.index, [])

    def into(self, step: Step) -> list[Message]:
        """The messages that end in the bytes received in a step, in order."""
        return self._read().into.get(step.index, [])

    def _read(self) -> _Wiring:
        if self._wiring is None:
            self._wiring = _Wiring(profile_called(self.declaration.profile("signature")), self.bodies)
        wiring = self._wiring
        # A step without an answer is not complete, unless the conversation broke.
        for step in self.steps[wiring.read :]:
            if step.reply is None and self.breakdown is None:
                break
            wiring.take(step)
            wiring.read += 1
        return wiring

    def __getstate__(self) -> dict[str, Any]:
        """Omit values that can be recomputed."""
        return {**self.__dict__, "bodies": Bodies(), "_wiring": None, "_steps_of": {}}

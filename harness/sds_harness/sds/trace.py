"""Traces of SDS: the messages on the network in each step, as bytes and decoded."""

from __future__ import annotations

import itertools
from contextlib import suppress
from dataclasses import dataclass, field, fields
from operator import attrgetter
from typing import NamedTuple

from sds_proto.testee.v1 import testee_pb2 as pb
from sds_reference import (
    SDS_2026_01,
    V2026_01,
    HistoryEntry,
    Kind,
    MalformedMessageError,
    Message,
    Revision,
    WireFormat,
)
from sds_reference.testee.dialect import Dialect
from sds_reference.wire_fields import WireField, split

from .. import trace
from ..lazy import LazyProperty


class Event(NamedTuple):
    """A signal of an implementation to its application about a channel, decoded from the testee protocol."""

    kind: str
    """The kind of signal: ``delivered``, ``acknowledged``, ``possibly_acknowledged``, ``missing`` or ``lost``; "" for
    an unknown signal."""
    channel_id: str
    message_ids: tuple[str, ...]
    """The messages of the signal: one, or several for ``missing`` and ``lost``."""
    content: bytes = b""
    """The content of the delivered message."""
    missing: tuple[HistoryEntry, ...] = ()
    """For ``missing``: the entries of the missing dependencies, with their retrieval hints."""

    @classmethod
    def of(cls, event: pb.Event) -> Event:
        """Convert the event of a reply."""
        kind, channel_id = event.WhichOneof("event") or "", event.channel_id
        match kind:
            case "":
                return cls(kind, channel_id, ())
            case "delivered":
                return cls(kind, channel_id, (event.delivered.message_id,), event.delivered.content)
            case "missing":
                entries = tuple(
                    HistoryEntry(entry.message_id, entry.retrieval_hint if entry.HasField("retrieval_hint") else None)
                    for entry in event.missing.entries
                )
                return cls(kind, channel_id, tuple(entry.message_id for entry in entries), missing=entries)
            case "lost":
                return cls(kind, channel_id, tuple(event.lost.message_ids))
        return cls(kind, channel_id, (getattr(event, kind).message_id,))

    @property
    def message_id(self) -> str:
        """The ID of the first message that the signal names; "" if it names none."""
        return self.message_ids[0] if self.message_ids else ""


class Wire:
    """A message on the network: its bytes, and the decoded message or the reason why the bytes cannot be decoded."""

    __slots__ = ("_fields", "dialect", "error", "message", "raw", "text")

    def __init__(self, raw: bytes, dialect: Dialect | None, layout: WireFormat = V2026_01) -> None:
        """``layout`` is the wire format of the revision of the specification."""
        self.raw = raw
        """The bytes as they were sent."""
        self.dialect = dialect
        """The private layout of the bytes; None for the layout of the specification."""
        self.text: bytes = raw
        """The bytes in the layout of the specification: translated if a dialect is in use."""
        self.message: Message | None = None
        """The decoded message; None if the bytes cannot be decoded."""
        self.error = ""
        """Why the bytes cannot be decoded; "" if they can."""
        try:
            if dialect is not None:
                self.text = dialect.to_text(raw)
            self.message = layout.decode(self.text)
        except MalformedMessageError as error:
            self.error = str(error)
        self._fields: list[WireField] | None = None

    def copy_for_step(self) -> Wire:
        """A copy for another step that has the same bytes.

        Each step has its own message object, so that the identity of the object shows in which step a message was sent.
        """
        other = Wire.__new__(Wire)
        other.raw, other.dialect, other.text, other.error = self.raw, self.dialect, self.text, self.error
        other.message = Message(*_parts(self.message)) if self.message is not None else None
        other._fields = self._fields
        return other

    def translate(self) -> None:
        """Replace the bytes of the dialect by the bytes in the layout of the specification."""
        self.raw, self.dialect, self._fields = self.text, None, None

    @property
    def fields(self) -> list[WireField] | None:
        """The top-level fields of the bytes, in their order; None if the bytes cannot be split into fields."""
        if self._fields is None:
            with suppress(MalformedMessageError):
                self._fields = split(self.raw)
        return self._fields


_KINDS = {"send": Kind.CONTENT, "send_ephemeral": Kind.EPHEMERAL, "send_sync": Kind.SYNC}
"""Maps a command to the kind of message that it sends."""
_parts = attrgetter(*(part.name for part in fields(Message)))
LARGE_WIRE_BYTES = 1 << 12
"""Arriving messages of at least this size in bytes are stored once, because a broadcast arrives at every other
participant, and its bloom filter may have many kilobytes."""


@dataclass
class Step(trace.Step):
    """One command to one participant, and its answer."""

    messages_field = "broadcasts"
    request: pb.Request
    reply: pb.Reply | None
    dialect: Dialect | None = None
    layout: WireFormat = V2026_01
    """The wire layout of the revision."""

    def lighten(self) -> None:
        if self.command == "receive" and len(self.request.receive.wire) >= LARGE_WIRE_BYTES:
            self._arrived = self.received.raw
            lighter = pb.Request()  # clearing a field does not free its memory
            self.request.receive.ClearField("wire")
            lighter.CopyFrom(self.request)
            self.request = lighter
        reply = self.reply
        if reply is None or len(reply.effects.broadcasts) < 2 or reply.ByteSize() < trace.LARGE_REPLY_BYTES:
            return
        self._move_messages([wire.raw for wire in self.broadcasts])

    @property
    def whole_request(self) -> pb.Request:
        if self._arrived is None:
            return self.request
        whole = pb.Request()
        whole.CopyFrom(self.request)
        whole.receive.wire = self._arrived
        return whole

    _arrived: bytes | None = field(default=None, init=False, compare=False, repr=False)
    """The message that was removed from the request. Its bytes are shared with other steps of the trace."""

    def _wire(self, raw: bytes) -> Wire:
        first: Wire | None = self.known.get(raw)
        if first is None:
            first = self.known[raw] = Wire(raw, self.dialect, self.layout)
        return first.copy_for_step()

    @LazyProperty
    def events(self) -> list[Event]:
        """Signals of the implementation, in order."""
        events = self.reply.effects.events if self.reply is not None and self.answer == "effects" else ()
        return [Event.of(event) for event in events]

    @LazyProperty
    def broadcasts(self) -> list[Wire]:
        """The messages, and other bytes, that the reply of the step asks the network to broadcast, in order."""
        if self.reply is None or self.answer != "effects":
            return []
        return [self._wire(raw) for raw in self._moved or self.reply.effects.broadcasts]

    @LazyProperty
    def received(self) -> Wire:
        """The message that arrived, as bytes and decoded. Use it for steps of the command ``receive`` only."""
        return self._wire(self.request.receive.wire if self._arrived is None else self._arrived)

    @property
    def arrived(self) -> Message | None:
        """The message of a ``receive``; None for other commands, and for bytes that are not a message."""
        return self.received.message if self.command == "receive" else None

    @LazyProperty
    def messages(self) -> list[Message]:
        """The decoded messages of the broadcasts, in order. Bytes that are not a message are left out."""
        return [wire.message for wire in self.broadcasts if wire.message is not None]

    @LazyProperty
    def asked_for(self) -> Wire | None:
        """The broadcast that the command of the application requested; None if the command sends none, or nothing was
        broadcast.

        Resends and due sync messages may be in the same reply, before or after it. For a content or ephemeral message,
        this is the broadcast with the ``message_id`` in the reply; for a sync message, it is the first sync message. If
        there is no such broadcast, it is the first broadcast that has the content in the command or cannot be decoded,
        else the first broadcast.
        """
        kind = _KINDS.get(self.command)
        if kind is None or not self.broadcasts:
            return None
        alike = [wire for wire in self.broadcasts if wire.message is not None and wire.message.kind is kind]
        if kind is Kind.SYNC:
            return next(iter(alike), self.broadcasts[0])
        message_id = self.reply.effects.message_id if self.reply is not None else ""
        named = [wire for wire in self.broadcasts if wire.message is not None and wire.message.message_id == message_id]
        content = getattr(self.request, self.command).content
        likely = (w for w in self.broadcasts if w.message is None or (w in alike and w.message.content == content))
        usual = (wire for wire in named if wire in alike)
        return next(itertools.chain(usual, named, likely), self.broadcasts[0])

    @property
    def new(self) -> Message | None:
        """The message that the command of the application requested; None if there is none, or if it cannot be
        decoded."""
        return self.asked_for.message if self.asked_for is not None else None

    @property
    def state(self) -> pb.State | None:
        """The state in the reply; None if there is none."""
        return self.reply.state if self.reply is not None and self.answer == "state" else None

    @LazyProperty
    def shown_log(self) -> list[str]:
        """The message IDs of the log in the shown state, in its order; empty without a state."""
        return [entry.message_id for entry in self.state.log.entries] if self.state is not None else []

    def signals(self, kind: str, channel_id: str) -> list[Event]:
        """The signals of this kind in a channel, in order."""
        return [event for event in self.events if event.channel_id == channel_id and event.kind == kind]


@dataclass
class Trace(trace.Trace[Step]):
    """The steps of one play of one schedule of SDS."""

    revision: Revision = SDS_2026_01
    dialect: Dialect | None = None

    def translate(self) -> None:
        """Translate all bytes on the network from a dialect to the layout of the specification, in place.

        Checks of the layout then do not judge the dialect.
        """
        for step in self.steps:
            for wire in (*step.broadcasts, *([step.received] if step.command == "receive" else [])):
                wire.translate()

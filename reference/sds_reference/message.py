"""Section "Message": the structure that content, sync and ephemeral messages share, and its wire format."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Any

from google.protobuf.message import DecodeError

from sds_proto.wire.v2026_01 import message_pb2 as pb

from .errors import MalformedMessageError
from .values import setters

MAX_LAMPORT = 2**64 - 1
"""Largest value of the wire's ``uint64 lamport_timestamp``."""


class Kind(Enum):
    """The kind of a message.

    The kind follows from two fields: whether ``lamport_timestamp`` is set, and whether ``content`` is set (sections
    "Message", "Ephemeral").
    """

    CONTENT = "content"
    """Lamport timestamp and content."""
    SYNC = "sync"
    """Lamport timestamp, no content ("Periodic Sync Message")."""
    EPHEMERAL = "ephemeral"
    """Content, no Lamport timestamp ("Ephemeral Messages")."""
    UNDEFINED = "undefined"
    """Neither Lamport timestamp nor content: the specification does not define such a message."""


@dataclass(frozen=True, slots=True, init=False)
class HistoryEntry:
    """A reference to an earlier message. Only ``message_id`` identifies it; the other fields help to find it."""

    message_id: str
    retrieval_hint: bytes | None = None
    sender_id: str | None = None

    def __init__(self, message_id: str, retrieval_hint: bytes | None = None, sender_id: str | None = None) -> None:
        _set_entry_id(self, message_id)
        _set_hint(self, retrieval_hint)
        _set_entry_sender(self, sender_id)


_set_entry_id, _set_hint, _set_entry_sender = setters(HistoryEntry)


@dataclass(frozen=True, slots=True, init=False)
class Message:
    """An SDS message, with the fields of all revisions; ``None`` is "unset" on the wire."""

    sender_id: str
    message_id: str
    channel_id: str
    lamport_timestamp: int | None = None
    causal_history: tuple[HistoryEntry, ...] = ()
    bloom_filter: bytes | None = None
    repair_request: tuple[HistoryEntry, ...] = ()
    content: bytes | None = None

    def __init__(
        self,
        sender_id: str,
        message_id: str,
        channel_id: str,
        lamport_timestamp: int | None = None,
        causal_history: tuple[HistoryEntry, ...] = (),
        bloom_filter: bytes | None = None,
        repair_request: tuple[HistoryEntry, ...] = (),
        content: bytes | None = None,
    ) -> None:
        _set_sender(self, sender_id)
        _set_id(self, message_id)
        _set_channel(self, channel_id)
        _set_lamport(self, lamport_timestamp)
        _set_history(self, causal_history)
        _set_filter(self, bloom_filter)
        _set_request(self, repair_request)
        _set_content(self, content)

    @property
    def kind(self) -> Kind:
        """The kind of this message. Zero-length content counts as unset."""
        if self.lamport_timestamp is None:
            return Kind.EPHEMERAL if self.content else Kind.UNDEFINED
        return Kind.CONTENT if self.content else Kind.SYNC


(
    _set_sender,
    _set_id,
    _set_channel,
    _set_lamport,
    _set_history,
    _set_filter,
    _set_request,
    _set_content,
) = setters(Message)


def encode(message: Message) -> bytes:
    """The wire bytes of ``message`` in the layout of SDS, fields in ascending order."""
    wire: bytes = fields_of(message, pb.Message).SerializeToString()
    return wire


def decode(wire: bytes) -> Message:
    """Parse ``wire``, in the layout of SDS.

    As in proto3, unknown fields are ignored and the last occurrence of a scalar field wins.

    Raises MalformedMessageError for bytes that do not parse, including invalid UTF-8.
    """
    try:
        return message_of(pb.Message.FromString(wire))
    except DecodeError as error:
        raise MalformedMessageError(f"not an SDS message: {error}") from None


def fields_of(message: Message, kind: Any) -> Any:
    """Return a protobuf message of type ``kind`` with the fields of ``message``; unset fields stay unset.

    Raises ValueError for a value that does not fit its field.
    """
    out = kind(
        sender_id=message.sender_id,
        message_id=message.message_id,
        channel_id=message.channel_id,
        lamport_timestamp=message.lamport_timestamp,
        bloom_filter=message.bloom_filter,
        content=message.content,
    )
    for entries, field in (message.causal_history, out.causal_history), (message.repair_request, out.repair_request):
        for entry in entries:
            field.add(message_id=entry.message_id, retrieval_hint=entry.retrieval_hint, sender_id=entry.sender_id)
    return out


def message_of(fields: Any) -> Message:
    """Return the Message with the fields of a protobuf message."""
    return Message(
        fields.sender_id,
        fields.message_id,
        fields.channel_id,
        fields.lamport_timestamp if fields.HasField("lamport_timestamp") else None,
        tuple([_entry(entry) for entry in fields.causal_history]),
        fields.bloom_filter if fields.HasField("bloom_filter") else None,
        tuple([_entry(entry) for entry in fields.repair_request]) if fields.repair_request else (),
        fields.content if fields.HasField("content") else None,
    )


def _entry(entry: Any) -> HistoryEntry:
    return HistoryEntry(
        entry.message_id,
        entry.retrieval_hint if entry.HasField("retrieval_hint") else None,
        entry.sender_id if entry.HasField("sender_id") else None,
    )

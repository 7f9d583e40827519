"""Section "Message": the structure that content, sync and ephemeral messages share, and its wire format."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from google.protobuf.message import DecodeError

from sds_proto.wire.v2026_01 import message_pb2 as pb

from .errors import MalformedMessage

MAX_LAMPORT = 2**64 - 1
"""Largest value of the wire's ``uint64 lamport_timestamp``."""


class Kind(Enum):
    """What a message is. The wire has no flag: presence of two fields decides (sections "Message", "Ephemeral")."""

    CONTENT = "content"
    """Lamport timestamp and content."""
    SYNC = "sync"
    """Lamport timestamp, no content ("Periodic Sync Message")."""
    EPHEMERAL = "ephemeral"
    """Content, no Lamport timestamp ("Ephemeral Messages")."""
    UNDEFINED = "undefined"
    """Neither: the text gives it no meaning."""


@dataclass(frozen=True, slots=True)
class HistoryEntry:
    """A reference to an earlier message. Only ``message_id`` is its identity; the rest helps to find it."""

    message_id: str
    retrieval_hint: bytes | None = None
    sender_id: str | None = None


@dataclass(frozen=True, slots=True)
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

    @property
    def kind(self) -> Kind:
        """Unset and zero-length content are the same."""
        if self.lamport_timestamp is None:
            return Kind.EPHEMERAL if self.content else Kind.UNDEFINED
        return Kind.CONTENT if self.content else Kind.SYNC


def encode(message: Message) -> bytes:
    """The wire bytes of ``message`` in the layout of SDS, fields in ascending order."""
    out = pb.Message(
        sender_id=message.sender_id,
        message_id=message.message_id,
        channel_id=message.channel_id,
        lamport_timestamp=message.lamport_timestamp,
        bloom_filter=message.bloom_filter,
        content=message.content,
    )
    for entry in message.causal_history:
        out.causal_history.add(
            message_id=entry.message_id, retrieval_hint=entry.retrieval_hint, sender_id=entry.sender_id
        )
    for entry in message.repair_request:
        out.repair_request.add(
            message_id=entry.message_id, retrieval_hint=entry.retrieval_hint, sender_id=entry.sender_id
        )
    return out.SerializeToString()


def decode(wire: bytes) -> Message:
    """Parse ``wire``, in the layout of SDS.

    Unknown fields are ignored and the last of a repeated scalar wins, as proto3 has it.

    Raises MalformedMessage for bytes that do not parse, invalid UTF-8 among them.
    """
    try:
        parsed = pb.Message.FromString(wire)
    except DecodeError as error:
        raise MalformedMessage(f"not an SDS message: {error}") from None
    return Message(
        parsed.sender_id,
        parsed.message_id,
        parsed.channel_id,
        parsed.lamport_timestamp if parsed.HasField("lamport_timestamp") else None,
        tuple([_entry(entry) for entry in parsed.causal_history]),
        parsed.bloom_filter if parsed.HasField("bloom_filter") else None,
        tuple([_entry(entry) for entry in parsed.repair_request]) if parsed.repair_request else (),
        parsed.content if parsed.HasField("content") else None,
    )


def _entry(entry: pb.HistoryEntry) -> HistoryEntry:
    return HistoryEntry(
        entry.message_id,
        entry.retrieval_hint if entry.HasField("retrieval_hint") else None,
        entry.sender_id if entry.HasField("sender_id") else None,
    )

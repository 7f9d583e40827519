"""Wire formats: how messages are encoded. Each revision of the specification has one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from google.protobuf.message import DecodeError

from sds_proto.wire.forum_2024 import message_pb2 as forum_pb

from .errors import MalformedMessageError
from .message import MAX_LAMPORT, HistoryEntry, Message, decode, encode


@dataclass(frozen=True, slots=True)
class WireFormat:
    """Encodes and decodes messages in the layout of one or more revisions."""

    name: str
    encode: Callable[[Message], bytes]
    """Encodes a message. Fields that the layout does not have are left out."""
    decode: Callable[[bytes], Message]
    """Decodes a message. Raises MalformedMessageError."""
    max_lamport: int
    """Largest Lamport timestamp that fits."""
    text_only: bool = False
    """Content is a string field: only UTF-8 text fits."""


def is_text(content: bytes) -> bool:
    """Is ``content`` valid UTF-8, so that it fits a field of type string?"""
    try:
        content.decode()
    except UnicodeDecodeError:
        return False
    return True


def _encode_forum(message: Message) -> bytes:
    if not is_text(message.content or b""):
        raise MalformedMessageError("the content is not UTF-8 text, but its field is a string")
    return forum_pb.Message(
        sender_id=message.sender_id,
        message_id=message.message_id,
        lamport_timestamp=message.lamport_timestamp,
        causal_history=[entry.message_id for entry in message.causal_history],
        channel_id=message.channel_id,
        bloom_filter=message.bloom_filter,
        content=(message.content or b"").decode(),
    ).SerializeToString()


def _decode_forum(wire: bytes) -> Message:
    """Decode a message of the proposal.

    An empty field without presence counts as unset; negative timestamps are malformed.
    """
    try:
        parsed = forum_pb.Message.FromString(wire)
    except DecodeError as error:
        raise MalformedMessageError(f"not a message of the proposal: {error}") from None
    if parsed.lamport_timestamp < 0:
        raise MalformedMessageError(f"the Lamport timestamp {parsed.lamport_timestamp} is negative")
    return Message(
        parsed.sender_id,
        parsed.message_id,
        parsed.channel_id,
        parsed.lamport_timestamp if parsed.HasField("lamport_timestamp") else None,
        tuple([HistoryEntry(message_id) for message_id in parsed.causal_history]),
        parsed.bloom_filter if parsed.HasField("bloom_filter") else None,
        (),
        parsed.content.encode() or None,
    )


V2026_01 = WireFormat("v2026_01", encode, decode, MAX_LAMPORT)
"""The format of SDS."""
FORUM_2024 = WireFormat("forum_2024", _encode_forum, _decode_forum, 2**31 - 1, text_only=True)
"""The format of the proposal of 2024: other field numbers, other types, and causal histories of IDs only."""

"""Protobuf by hand: the parts from which wire vectors are put together, so that no encoder decides what they hold."""

from __future__ import annotations

from dataclasses import replace

from sds_reference import Message
from sds_reference.wire_fields import FIXED32, FIXED64, LEN, VARINT, varint

START_GROUP, END_GROUP = 3, 4

SENDER_ID, MESSAGE_ID, CHANNEL_ID, LAMPORT, HISTORY, FILTER, REQUEST, CONTENT = 1, 2, 3, 10, 11, 12, 13, 20
"""Field numbers of ``Message``."""
ENTRY_ID, ENTRY_HINT, ENTRY_SENDER = 1, 2, 3
"""Field numbers of ``HistoryEntry``."""


def key(number: int, wire_type: int, least_bytes: int = 1) -> bytes:
    """The tag of a field."""
    return varint(number << 3 | wire_type, least_bytes)


def length(number: int, payload: bytes | str, least_bytes: int = 1) -> bytes:
    """A length-delimited field, its length in at least so many bytes."""
    data = payload.encode() if isinstance(payload, str) else payload
    return key(number, LEN) + varint(len(data), least_bytes) + data


def number(field: int, value: int, least_bytes: int = 1) -> bytes:
    """A varint field, its value in at least so many bytes."""
    return key(field, VARINT) + varint(value, least_bytes)


def fixed64(field: int, value: int) -> bytes:
    return key(field, FIXED64) + value.to_bytes(8, "little")


def fixed32(field: int, value: int) -> bytes:
    return key(field, FIXED32) + value.to_bytes(4, "little")


def entry(message_id: str, hint: bytes | None = None, sender_id: str | None = None) -> bytes:
    """The inside of a HistoryEntry."""
    out = length(ENTRY_ID, message_id)
    if hint is not None:
        out += length(ENTRY_HINT, hint)
    if sender_id is not None:
        out += length(ENTRY_SENDER, sender_id)
    return out


WHO = length(SENDER_ID, "bob") + length(MESSAGE_ID, "b1") + length(CHANNEL_ID, "c1")
"""The three identifiers of every ordinary vector."""
WHEN = number(LAMPORT, 1000)
WHAT = length(CONTENT, "hi")

ORDINARY = Message("bob", "b1", "c1", 1000, content=b"hi")
"""What ``WHO + WHEN + WHAT`` says."""


def ordinary(**changes: object) -> Message:
    """The ordinary message with other fields."""
    return replace(ORDINARY, **changes)  # type: ignore[arg-type]

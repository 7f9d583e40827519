"""Messages of the proposal by hand: its field numbers, and the parts that its wire vectors are put together from."""

from __future__ import annotations

from dataclasses import replace

from sds_reference import HistoryEntry, Message

from .wire_bytes import length, number

SENDER_ID, MESSAGE_ID, LAMPORT, HISTORY, CHANNEL_ID, FILTER, CONTENT = 1, 2, 3, 4, 5, 6, 7
"""Field numbers of ``Message``."""

LARGEST = 2**31 - 1
"""The greatest int32."""

WHO = length(SENDER_ID, "bob") + length(MESSAGE_ID, "b1")
WHEN = number(LAMPORT, 1000)
WHERE = length(CHANNEL_ID, "c1")
WHAT = length(CONTENT, "hi")

ORDINARY = Message("bob", "b1", "c1", 1000, content=b"hi")
"""What ``WHO + WHEN + WHERE + WHAT`` says."""


def ordinary(**changes: object) -> Message:
    """The ordinary message with other fields."""
    return replace(ORDINARY, **changes)  # type: ignore[arg-type]


def lamport(value: int) -> bytes:
    """The timestamp; one below zero is a varint of ten bytes."""
    return number(LAMPORT, value % 2**64)


def history(*message_ids: str) -> bytes:
    """The causal history: a plain string for each ID."""
    return b"".join(length(HISTORY, message_id) for message_id in message_ids)


def named(*message_ids: str) -> tuple[HistoryEntry, ...]:
    """The same, as it is read."""
    return tuple(map(HistoryEntry, message_ids))

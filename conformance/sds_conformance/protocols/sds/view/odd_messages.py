"""Messages that a conforming sender would not have sent, or that an implementation may refuse."""

from __future__ import annotations

from collections.abc import Callable, Collection

from sds_reference import MAX_LAMPORT, Message

LARGEST_HISTORY = 200
LARGEST_LAMPORT = 2**53 + 10
"""Largest Lamport timestamp that must be accepted. Larger timestamps may be refused (AMB-14)."""
ROOM_AFTER = 100
"""Number of timestamps below the maximum that a participant may keep in reserve for its next messages."""
LARGEST_CONTENT = 100 * 1024
LARGEST_ID = 1024
LARGEST_HINT = 64
NAMELESS = "no sender ID (AMB-50)"
"""The oddity of a message that only lacks a sender ID, as all messages of an older revision do."""
BEYOND_BOUND = "a Lamport timestamp beyond the declared bound (AMB-107)"
BEYOND_SIZE = "content beyond the declared limit"
WITHOUT_ID = "an empty ID (AMB-51)"
BEYOND_LIMITS = (BEYOND_BOUND, BEYOND_SIZE)
"""The oddities of messages beyond a declared limit."""
DROPPABLE = (*BEYOND_LIMITS, WITHOUT_ID)
"""The oddities of messages that an implementation may drop silently."""


def in_another_layout(message: Message, channels: Collection[str]) -> bool:
    """Is the message probably in another wire layout, because it has neither a message ID nor one of the channel IDs
    ``channels``?

    A sync message without an ID has a channel ID (AMB-51).
    """
    return not message.message_id and message.channel_id not in channels


def describe_oddity(
    message: Message, now_ms: int, limit: Callable[[str], int | None], max_lamport: int = MAX_LAMPORT
) -> str:
    """The reason why a conforming sender would not send a message, or why it may be refused; "" if there is none.

    ``limit`` returns a declared limit by its name, None if there is none. ``max_lamport`` is the largest value of the
    wire format.
    """
    lamport = message.lamport_timestamp or 0
    ahead = limit("lamport_ahead_ms")
    if lamport > max_lamport - ROOM_AFTER:
        return "a Lamport timestamp so large that only a few larger timestamps exist (AMB-14)"
    if lamport > LARGEST_LAMPORT:
        return "a Lamport timestamp beyond 2^53+10 (AMB-14)"
    if ahead is not None and lamport > now_ms + ahead:
        return BEYOND_BOUND
    size, largest = len(message.content or b""), limit("content_bytes")
    if largest is not None and size > largest:
        return BEYOND_SIZE
    if size > LARGEST_CONTENT:
        return "content beyond the size that every implementation must take"
    if len(message.causal_history) > LARGEST_HISTORY:
        return "a causal history of more than 200 entries (AMB-47)"
    if len(message.repair_request) > LARGEST_HISTORY:
        return "a repair request of more than 200 entries (AMB-47)"
    ids = [entry.message_id for entry in message.causal_history]
    if not message.message_id:
        return WITHOUT_ID
    if "" in ids:
        return "a dependency on an empty ID (AMB-46)"
    if len(message.message_id) > LARGEST_ID:
        return "a message ID of more than 1,024 characters"
    if message.message_id in ids:
        return "a dependency on itself (AMB-44)"
    return "" if message.sender_id else NAMELESS

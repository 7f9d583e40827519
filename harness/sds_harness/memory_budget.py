"""Limits the memory for a conversation: an implementation whose every reply is legal can still send too much in all."""

from __future__ import annotations

from google.protobuf.message import Message

LARGE_BYTES = 1 << 16
"""A message of fewer bytes counts with its encoded size only, without its entries."""
ENTRY_BYTES = 96
"""Bytes of memory for an entry of a list. Even an empty entry, which has two bytes on the wire, takes that much."""


COPIES = 2
"""Number of copies of a large message in memory until it is judged: one as received, one decoded."""


def weight(message: Message, size: int) -> int:
    """Bytes of memory for a message of this encoded size and its decoded form; a cheap estimate."""
    return size if size < LARGE_BYTES else COPIES * size + ENTRY_BYTES * _entries(message)


def _entries(message: Message) -> int:
    """The number of entries in the lists of a large message, including the large messages within it."""
    if message.ByteSize() < LARGE_BYTES:
        return 0
    out = 0
    for field, value in message.ListFields():
        if isinstance(value, Message):
            out += _entries(value)
        elif not isinstance(value, str | bytes | int | float):
            out += len(value)
            # A map has no index 0. Its values are small in all messages of the protocols.
            is_map = field.message_type is not None and field.message_type.GetOptions().map_entry
            if not is_map and isinstance(value[0], Message):
                out += sum(map(_entries, value))
    return out


class MemoryBudget:
    """The memory budget of one run, in bytes."""

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.used = 0

    def add_message(self, message: Message, size: int) -> bool:
        """Add a message of this encoded size to the budget. Returns False once the limit is exceeded."""
        self.used += weight(message, size)
        return self.used <= self.limit

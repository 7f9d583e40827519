"""How much of a conversation is kept: an implementation whose every reply is legal can still say too much in all."""

from __future__ import annotations

from collections.abc import Mapping

from google.protobuf.message import Message

LARGE_BYTES = 1 << 16
"""What stands in smaller messages does not matter."""
ENTRY_BYTES = 96
"""What an entry of a list takes in memory, even an empty one: on the wire that is two bytes."""


def weight(message: Message) -> int:
    """What a message takes in memory, in bytes; rough, and cheap."""
    size = message.ByteSize()
    return size if size < LARGE_BYTES else size + ENTRY_BYTES * _entries(message)


def _entries(message: Message) -> int:
    """How many there are in the lists of a large message, and of large ones in it."""
    if message.ByteSize() < LARGE_BYTES:
        return 0
    out = 0
    for _, value in message.ListFields():
        if isinstance(value, Message):
            out += _entries(value)
        elif not isinstance(value, str | bytes | int | float):
            entries = list(value.values() if isinstance(value, Mapping) else value)
            out += len(entries)
            if isinstance(entries[0], Message):
                out += sum(map(_entries, entries))
    return out


class Room:
    """What one run may keep, in bytes."""

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.used = 0

    def holds(self, *messages: Message) -> bool:
        """Take them in; False once it is more than there is room for."""
        self.used += sum(map(weight, messages))
        return self.used <= self.limit

"""How much of a conversation is kept: an implementation whose every reply is legal can still say too much in all."""

from __future__ import annotations

from google.protobuf.message import Message

LARGE_BYTES = 1 << 16
"""What stands in smaller messages does not matter."""
ENTRY_BYTES = 96
"""What an entry of a list takes in memory, even an empty one: on the wire that is two bytes."""


COPIES = 2
"""How often a large message is in memory until it is judged: as it came, and as what is decoded of it."""


def weight(message: Message) -> int:
    """Bytes of memory that a message and its decoded form take; rough, and cheap."""
    size = message.ByteSize()
    return size if size < LARGE_BYTES else COPIES * size + ENTRY_BYTES * _entries(message)


def _entries(message: Message) -> int:
    """How many there are in the lists of a large message, and of large ones in it."""
    if message.ByteSize() < LARGE_BYTES:
        return 0
    out = 0
    for field, value in message.ListFields():
        if isinstance(value, Message):
            out += _entries(value)
        elif not isinstance(value, str | bytes | int | float):
            out += len(value)
            # Of a map nothing stands at place 0; what it maps to is small in all that there is.
            is_map = field.message_type is not None and field.message_type.GetOptions().map_entry
            if not is_map and isinstance(value[0], Message):
                out += sum(map(_entries, value))
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

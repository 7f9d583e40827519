"""Bounds the length of the identifiers of an implementation.

A reply may have 64 MiB, since the content of a message may be large. Identifiers are stored and compared many times:
one of 40 MB in a single reply took 4.7 GiB of memory. So they have their own bound. The bound belongs to this suite and
to no specification; it grows with the size of the requests that the suite sends.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any

from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.message import Message

MAX_BYTES = 64 << 10
"""Maximum length of an identifier in bytes, unless the suite has sent a larger request in the same conversation.
Identifiers in use have 32 to 64 bytes."""


def too_long(pairs: Iterable[tuple[str, str]], limit: int) -> str:
    """Describes the first identifier, given as name and value, that is longer than ``limit`` bytes; "" if there is
    none."""
    for name, value in pairs:
        # A character has at most 4 bytes.
        if 4 * len(value) > limit and (size := len(value.encode("utf-8", "surrogatepass"))) > limit:
            return f"an identifier of {size:,} bytes ({name}); the limit is {limit:,}"
    return ""


def in_message(message: Message, names: Collection[str]) -> Iterator[tuple[str, str]]:
    """The identifiers in a message of a testee protocol: the values of all fields with these names. For maps,
    the keys."""
    for field, value in message.ListFields():
        if field.message_type is not None and field.message_type.GetOptions().map_entry:
            if field.name in names:
                yield from ((field.name, key) for key in value)
        elif field.message_type is not None:
            for part in value if field.is_repeated else (value,):
                yield from in_message(part, names)
        elif field.name in names and field.type == FieldDescriptor.TYPE_STRING:
            yield from ((field.name, one) for one in (value if field.is_repeated else (value,)))


def in_body(members: Mapping[str, Any], names: Collection[str]) -> Iterator[tuple[str, str]]:
    """The identifiers in a JSON body: the members with these names. If a member is an object, its keys."""
    for name in names:
        value = members.get(name)
        if isinstance(value, str):
            yield name, value
        elif isinstance(value, dict):
            yield from ((name, key) for key in value)

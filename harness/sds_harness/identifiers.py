"""How long the identifiers of an implementation may be.

A reply may have 64 MiB, since the content of a message may be large. Identifiers are kept and compared many times over:
one of 40 MB in a single reply took 4.7 GiB here. So they have a bound of their own, which is a bound of this suite and
of no text: it rises with what the suite itself sends.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any

from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.message import Message

MAX_BYTES = 64 << 10
"""Of an identifier, unless the suite has sent a larger request in the same conversation. Those in use have 32 to 64
bytes, and the log of a filter with 10,000 messages then still fits a reply."""


def too_long(pairs: Iterable[tuple[str, str]], limit: int) -> str:
    """Which of some identifiers, given as name and value, is longer than ``limit``; "" if none is."""
    for name, value in pairs:
        # No character has more than 4 bytes.
        if 4 * len(value) > limit and (size := len(value.encode("utf-8", "surrogatepass"))) > limit:
            return f"an identifier of {size:,} bytes ({name}); the limit is {limit:,}"
    return ""


def in_message(message: Message, names: Collection[str]) -> Iterator[tuple[str, str]]:
    """The identifiers in a message of a testee protocol: its fields of these names. Of a map its keys count."""
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
    """The identifiers in a body of JSON: its members of these names, and of objects among them the names in these."""
    for name in names:
        value = members.get(name)
        if isinstance(value, str):
            yield name, value
        elif isinstance(value, dict):
            yield from ((name, key) for key in value)

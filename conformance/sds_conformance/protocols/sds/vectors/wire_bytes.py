"""Protobuf by hand: the parts from which wire vectors are put together, so that no encoder decides what they hold.

What has the same fields under other numbers is put together in the same way: a ``Layout`` for each text.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from sds_reference import HistoryEntry, Message
from sds_reference.wire_fields import FIXED32, FIXED64, LEN, VARINT, varint

from .texts import of_proposal, of_sds

START_GROUP, END_GROUP = 3, 4

ENTRY_ID, ENTRY_HINT, ENTRY_SENDER = 1, 2, 3
"""Field numbers of ``HistoryEntry``."""
LARGEST_INT32 = 2**31 - 1
"""The greatest timestamp of the proposal."""

ORDINARY = Message("bob", "b1", "c1", 1000, content=b"hi")


def ordinary(**changes: object) -> Message:
    """The ordinary message with other fields."""
    return replace(ORDINARY, **changes)  # type: ignore[arg-type]


def named(*message_ids: str) -> tuple[HistoryEntry, ...]:
    """A causal history of nothing but IDs."""
    return tuple(map(HistoryEntry, message_ids))


def key(number: int, wire_type: int, least_bytes: int = 1) -> bytes:
    """The tag of a field."""
    return varint(number << 3 | wire_type, least_bytes)


def length(number: int, payload: bytes | str, least_bytes: int = 1) -> bytes:
    """A length-delimited field, its length in at least so many bytes."""
    data = payload.encode() if isinstance(payload, str) else payload
    return key(number, LEN) + varint(len(data), least_bytes) + data


def number(field: int, value: int, least_bytes: int = 1) -> bytes:
    """A varint field, its value in at least so many bytes; one below zero takes ten."""
    return key(field, VARINT) + varint(value % 2**64, least_bytes)


def fixed64(field: int, value: int) -> bytes:
    return key(field, FIXED64) + value.to_bytes(8, "little")


def fixed32(field: int, value: int) -> bytes:
    return key(field, FIXED32) + value.to_bytes(4, "little")


def entry(said: HistoryEntry) -> bytes:
    """The inside of a HistoryEntry."""
    out = length(ENTRY_ID, said.message_id)
    if said.retrieval_hint is not None:
        out += length(ENTRY_HINT, said.retrieval_hint)
    if said.sender_id is not None:
        out += length(ENTRY_SENDER, said.sender_id)
    return out


@dataclass(frozen=True)
class Layout:
    """The fields of ``Message`` in one of the texts."""

    numbers: dict[str, int]
    """By name, ascending."""
    entries: bool
    """The causal history holds messages; otherwise plain strings."""
    free: tuple[int, int, int]
    """Numbers of no field."""
    ids: Callable[[str], list[str]]
    """The requirements of the text, by their IDs without the prefix."""
    protobuf: str
    """The requirement that messages are protobuf, without its prefix."""

    def __getitem__(self, name: str) -> int:
        return self.numbers[name]

    def part(self, name: str, value: object) -> bytes:
        """The bytes that say one field; none where there is no value, nor for a list without entries."""
        field = self.numbers[name]
        if isinstance(value, tuple):
            return b"".join(length(field, entry(each) if self.entries else each.message_id) for each in value)
        if isinstance(value, int):
            return number(field, value)
        return length(field, value) if isinstance(value, str | bytes) else b""

    def wire(self, message: Message = ORDINARY, /, **parts: bytes) -> bytes:
        """The bytes that say a message, its fields ascending; ``parts`` stand in place of these fields."""
        return b"".join(parts.get(name, self.part(name, getattr(message, name))) for name in self.numbers)

    def until(self, name: str) -> bytes:
        """What stands before a field of the ordinary message."""
        names = list(self.numbers)
        return b"".join(self.part(each, getattr(ORDINARY, each)) for each in names[: names.index(name)])


SDS = Layout(
    {
        "sender_id": 1,
        "message_id": 2,
        "channel_id": 3,
        "lamport_timestamp": 10,
        "causal_history": 11,
        "bloom_filter": 12,
        "repair_request": 13,
        "content": 20,
    },
    entries=True,
    free=(4, 5, 6),
    ids=of_sds,
    protobuf="MSG-24",
)
PROPOSAL = Layout(
    {
        "sender_id": 1,
        "message_id": 2,
        "lamport_timestamp": 3,
        "causal_history": 4,
        "channel_id": 5,
        "bloom_filter": 6,
        "content": 7,
    },
    entries=False,
    free=(8, 8, 9),
    ids=of_proposal,
    protobuf="01",
)

"""Protobuf below the level of messages: numbered fields in wire order."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, cast

from google.protobuf.empty_pb2 import Empty
from google.protobuf.message import DecodeError
from google.protobuf.unknown_fields import UnknownFieldSet

from .errors import MalformedMessageError
from .values import setters

VARINT = 0
FIXED64 = 1
LEN = 2
FIXED32 = 5

_LONGEST_VARINT = 10
"""Number of bytes of the longest varint, which holds 64 bits."""
_SMALL_BYTES = 256
"""Maximum size in bytes of an input of ``split`` whose result is cached: history entries are smaller, and one entry is
in many messages."""


@dataclass(frozen=True, slots=True, init=False)
class WireField:
    """One field: ``value`` is an int for VARINT, FIXED64 and FIXED32, bytes for LEN."""

    number: int
    wire_type: int
    value: int | bytes

    def __init__(self, number: int, wire_type: int, value: int | bytes) -> None:
        _set_number(self, number)
        _set_type(self, wire_type)
        _set_value(self, value)


_set_number, _set_type, _set_value = setters(WireField)


def split(wire: bytes) -> list[WireField]:
    """The top-level fields of ``wire``. Raises MalformedMessageError if it is not protobuf."""
    return [*_split_small(wire)] if len(wire) <= _SMALL_BYTES else [*_split(wire)]


def _split(wire: bytes) -> tuple[WireField, ...]:
    try:
        empty = Empty.FromString(wire)
    except DecodeError as error:
        raise MalformedMessageError(f"not protobuf: {error}") from None
    return tuple(_fields(empty))


_split_small = lru_cache(4_096)(_split)


def _fields(empty: Empty) -> Iterator[WireField]:
    for field in cast("Iterable[Any]", UnknownFieldSet(empty)):
        if field.wire_type not in (VARINT, FIXED64, LEN, FIXED32):
            raise MalformedMessageError(f"field {field.field_number} is a protobuf group, which no message has")
        yield WireField(field.field_number, field.wire_type, field.data)


def count_missing_bytes(wire: bytes) -> int:
    """Number of bytes that the last field of ``wire`` lacks by its length; 0 if it is complete or has no length."""
    at, size = 0, len(wire)
    while at < size:
        tag, at = _read_varint(wire, at)
        wire_type = tag & 7
        if wire_type == VARINT:
            _, at = _read_varint(wire, at)
        elif wire_type == LEN:
            length, at = _read_varint(wire, at)
            at += length
        elif wire_type in (FIXED64, FIXED32):
            at += 8 if wire_type == FIXED64 else 4
        else:
            return 0
        if at > size:
            return at - size if wire_type == LEN else 0
    return 0


def _read_varint(wire: bytes, at: int) -> tuple[int, int]:
    """The varint at a place, and the place after it; a varint without end is 0."""
    value = 0
    for shift, byte in enumerate(wire[at : at + _LONGEST_VARINT]):
        value |= (byte & 0x7F) << 7 * shift
        if byte < 0x80:
            return value, at + shift + 1
    return 0, len(wire)


def varint(value: int, least_bytes: int = 1) -> bytes:
    """Base-128 encoding of an unsigned value. ``least_bytes`` pads it to a longer encoding, which is legal."""
    out = bytearray()
    while value > 0x7F or len(out) + 1 < least_bytes:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def join(fields: Iterable[WireField]) -> bytes:
    """Encode ``fields`` in their order."""
    out = bytearray()
    for field in fields:
        out += varint(field.number << 3 | field.wire_type)
        if isinstance(field.value, bytes):
            out += varint(len(field.value)) + field.value
        elif field.wire_type == VARINT:
            out += varint(field.value)
        else:
            out += field.value.to_bytes(8 if field.wire_type == FIXED64 else 4, "little")
    return bytes(out)

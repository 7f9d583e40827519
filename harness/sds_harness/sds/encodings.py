"""Encodings of the same message that protobuf allows but encoders rarely use."""

from __future__ import annotations

from collections.abc import Callable

from sds_reference.wire_fields import FIXED32, FIXED64, LEN, VARINT, WireField, join, split, varint


def _overlong(wire: bytes) -> bytes:
    out = bytearray()
    for field in split(wire):
        if field.wire_type == VARINT and isinstance(field.value, int):
            out += varint(field.number << 3 | VARINT) + varint(field.value, least_bytes=10)
        else:
            out += join([field])
    return bytes(out)


def _unknown_inside(wire: bytes) -> bytes:
    fields = split(wire)
    entries = [f for f in fields if f.number in (11, 13) and f.wire_type == LEN and isinstance(f.value, bytes)]
    further = join([WireField(99, LEN, b"from the future"), WireField(98, VARINT, 7)])
    return join([WireField(f.number, LEN, bytes(f.value) + further) if f in entries else f for f in fields])


ENCODINGS: dict[str, Callable[[bytes], bytes]] = {
    "usual": lambda wire: wire,
    "reversed": lambda wire: join(sorted(split(wire), key=lambda field: -field.number)),
    "unknown": lambda wire: wire + join([WireField(99, LEN, b"from the future"), WireField(98, VARINT, 7)]),
    "unknown-4": lambda wire: wire + join([WireField(97, FIXED32, 7)]),
    "unknown-8": lambda wire: wire + join([WireField(98, FIXED64, 7)]),
    "unknown-inside": _unknown_inside,
    "twice": lambda wire: join([WireField(2, LEN, b"overwritten")]) + wire,
    "overlong": _overlong,
    "overlong-last": lambda wire: _overlong(join(sorted(split(wire), key=lambda field: field.wire_type == VARINT))),
}
"""The encodings by name. All keep the order of repeated fields."""

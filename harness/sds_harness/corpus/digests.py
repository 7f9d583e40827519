"""Digests of a corpus. They are stored, so their input is part of the format: see FORMAT.md.

All are BLAKE2b over JSON or over other digests, in order. Swapping two rows or repeating one changes the digest of
their schedule.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from hashlib import blake2b
from typing import Any

import orjson

_encode = json.JSONEncoder(ensure_ascii=True, separators=(",", ":"), check_circular=False).encode
_MASK = (1 << 64) - 1
_NONE = (-1).to_bytes(8, "little", signed=True)


def to_signed(value: int) -> int:
    """The signed number with the bits of an unsigned 64-bit number. Spark has no unsigned integers and would turn them
    into decimals."""
    value &= _MASK
    return value - (1 << 64) if value >> 63 else value


def digest64(values: Sequence[Any]) -> int:
    """Signed 64-bit digest of JSON values; 0 for an empty sequence."""
    if not values:
        return 0
    return _digest64(_encode(values).encode())


def plain_digest64(values: Sequence[Any]) -> int:
    """Return ``digest64(values)`` in a third of the time, for texts, integers, booleans and lists of these.

    orjson writes the JSON. Its output is the same if all characters are printable ASCII, as they almost always are.
    Otherwise this falls back to ``digest64``.
    """
    if not values:
        return 0
    try:
        text = orjson.dumps(values)
        if text.isascii() and b"\x7f" not in text:
            return _digest64(text)
    except TypeError:  # a lone surrogate, or a number of more than 64 bits
        pass
    return digest64(values)


def _digest64(text: bytes) -> int:
    return int.from_bytes(blake2b(text, digest_size=8).digest(), "little", signed=True)


def join_hashes(row_hashes: Iterable[int]) -> bytes:
    """The hashes of rows in order, 8 little-endian bytes each."""
    return b"".join(row_hash.to_bytes(8, "little", signed=True) for row_hash in row_hashes)


def schedule_digest(row_hashes: bytes) -> bytes:
    """16 bytes: the digest of the joined hashes of the compared rows."""
    return blake2b(row_hashes, digest_size=16).digest()


def exact_digest(messages: Iterable[bytes | None]) -> bytes:
    """16 bytes: the digest of all requests and replies in order, each after its length; the length of a missing reply
    is -1."""
    hashed = blake2b(digest_size=16)
    for message in messages:
        hashed.update(_NONE if message is None else len(message).to_bytes(8, "little") + message)
    return hashed.digest()


def plan_digest(text: str) -> bytes:
    """16 bytes: the digest of a schedule as stored in the side table."""
    return blake2b(text.encode(), digest_size=16).digest()

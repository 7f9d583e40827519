"""Section "Conflicts": vector clocks, which show whether the writer of one change of a record knew another change."""

from __future__ import annotations

from collections.abc import Mapping

from .errors import MalformedMessageError

MAX_INTEGER = (1 << 64) - 1
"""The largest "64-bit integer", for clock numbers and revisions. Read as unsigned, because the specification mentions
no sign."""
MAX_MEMBERS = 8_192
"""Maximum number of members of a received clock: a club "may have hundreds or thousands of peers"."""

VectorClock = Mapping[str, int]
"""Numbers by peer ID. "At first all values are zero": an absent peer has 0. No clock is changed in place."""


def is_before(one: VectorClock, other: VectorClock) -> bool:
    """Is each number of ``one`` at most the number of the same peer in ``other``?

    If each is before the other, they are equal. If neither is, they are concurrent (CA-12).
    """
    return all(number <= other.get(peer_id, 0) for peer_id, number in one.items())


def merge(one: VectorClock, other: VectorClock) -> VectorClock:
    """Return a clock that has, for each peer, the larger number of the two clocks."""
    out = dict(one)
    for peer_id, number in other.items():
        if number > out.get(peer_id, 0):
            out[peer_id] = number
    return out


def with_number(clock: VectorClock, peer_id: str, number: int) -> VectorClock:
    """Return a copy of ``clock`` in which ``peer_id`` has ``number``."""
    return {**clock, peer_id: number}


def vector_clock(value: object) -> VectorClock:
    """The clock in a JSON value. Raises MalformedMessageError. Members that are 0 count as absent."""
    if not isinstance(value, dict):
        raise MalformedMessageError("a vector clock must be a JSON object")
    if len(value) > MAX_MEMBERS:
        raise MalformedMessageError(f"a vector clock has {len(value)} members; the limit is {MAX_MEMBERS}")
    for peer_id, number in value.items():
        if not is_id(peer_id):
            raise MalformedMessageError(
                f"{peer_id[:40]!r} in a vector clock is not a peer ID: a peer ID has 32 lower-case hex digits"
            )
        if type(number) is not int or not 0 <= number <= MAX_INTEGER:
            raise MalformedMessageError("each number of a vector clock must be an integer from 0 to 2^64-1")
    return {peer_id: number for peer_id, number in value.items() if number}


_HEX = frozenset("0123456789abcdef")


def is_id(value: object) -> bool:
    """Is ``value`` a 128-bit ID of a peer or a record, written as 32 lower-case hex digits?"""
    return isinstance(value, str) and len(value) == 32 and _HEX.issuperset(value)

"""Section "Conflicts": the result of a conflict, computed from the two records alone."""

from __future__ import annotations

import json
from hashlib import sha256

from . import json_text
from .record import Record


def pick_winner(one: Record, other: Record) -> tuple[Record, Record]:
    """The winner and the loser: "the record with the largest update_time"."""
    return (one, other) if one.rank > other.rank else (other, one)


def merge_values(winner: Record, loser: Record) -> str:
    """The merged value: for two objects, the members of both, and the winner's member where both have one."""
    if winner.deleted or loser.deleted:
        return winner.value
    ours, theirs = json.loads(winner.value), json.loads(loser.value)
    if not (isinstance(ours, dict) and isinstance(theirs, dict)):
        return winner.value
    return json_text.write(ours | {name: value for name, value in theirs.items() if name not in ours})


def uuid_of_loser(loser: Record) -> str:
    """The uuid of a losing version, the same on all peers.

    It is as random as the uuid of the record, from which it is derived.
    """
    by, rev = loser.version
    return sha256(f"{loser.uuid} {by} {rev}".encode()).hexdigest()[:32]


def key_of_loser(loser: Record) -> str:
    """The new key of a losing version, the same on all peers."""
    return f"{loser.key} ({uuid_of_loser(loser)[:8]})"

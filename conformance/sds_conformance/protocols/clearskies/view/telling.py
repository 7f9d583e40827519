"""How findings name things, so that people know them again in a story."""

from __future__ import annotations

from sds_harness.clearskies.trace import Trace

from ....judging.quoting import identifier, json_of, short
from .facts import Update
from .shown import Seen

OF_AN_ID = 8
"""So many digits of an ID are shown of whom nobody knows by name."""


def name_of(trace: Trace, peer_id: str | None) -> str:
    """What a peer is called here; who is not of the club is told by the beginning of the ID."""
    if peer_id is None:
        return "nobody"
    name = trace.club.name_of(peer_id)
    return short(name) if name != peer_id else f"{peer_id[:OF_AN_ID]}…"


def named(trace: Trace, update: Update) -> str:
    """An update as findings quote it: its record by its key, and which version of it."""
    key = identifier(update.key) if update.key is not None else "a record without a key"
    deletion = "the deletion of " if update.deleted else ""
    return f"{deletion}{key}, revision {update.rev} of {name_of(trace, update.by)}"


def told_of(seen: Seen) -> str:
    """What a record says that was shown."""
    if seen.deleted:
        return "it is deleted"
    key = identifier(seen.key) if seen.key is not None else "no key"
    return f"{json_of(seen.value, 80)} under {key}"

"""The keys of records, and records whose keys a peer may confuse.

A peer that takes two keys for equal sees a conflict where there is none, and may delete one of the two records (CA-8).
The fault is then in its keys (CSDB-07), not in its deletions (CSDB-13).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple
from unicodedata import normalize

from sds_harness.clearskies.trace import Step

from ....judging.view_cache import cache_per_view
from .peer_view import PeerView

_BEGINNING = 64
"""Characters from which on keys with the same beginning may be taken for equal."""


def _first_characters(key: str) -> str:
    return key[:_BEGINNING] if len(key) > _BEGINNING else key


def _as_number(key: str) -> str:
    return str(int(key)) if key.isascii() and key.isdigit() and len(key) < 2 * _BEGINNING else key


_FORMS: tuple[Callable[[str], str], ...] = (
    lambda key: normalize("NFKC", key).casefold().strip(),
    lambda key: key.partition("\0")[0],
    lambda key: key.rstrip("/"),
    lambda key: key.encode("ascii", "replace").decode(),
    _first_characters,
    _as_number,
)
"""Ways to read a key that make different keys equal."""


def are_similar(one: str, other: str) -> bool:
    """Return whether a usual fault makes two different keys equal."""
    return one != other and any(form(one) == form(other) for form in _FORMS)


class FalseConflict(NamedTuple):
    """A signalled conflict of two records that never had the same key."""

    step: Step
    uuids: frozenset[str]
    keys: tuple[str, str]


@cache_per_view
def find_false_conflicts(view: PeerView) -> list[FalseConflict]:
    """All of them. A record without a known key may have had any."""
    out = []
    for step in view.steps:
        for event in step.signals("conflict"):
            one, other = (_keys_until(view, uuid, step) for uuid in (event.uuid, event.incoming_uuid))
            if event.uuid != event.incoming_uuid and one and other and not set(one) & set(other):
                out.append(FalseConflict(step, frozenset((event.uuid, event.incoming_uuid)), (one[-1], other[-1])))
    return out


def find_confused_record(view: PeerView, uuid: str, step: Step) -> str:
    """The key of another record that the peer may take for the key of this one; "" if there is none."""
    own = _keys_until(view, uuid, step)
    confused = {one for each in find_false_conflicts(view) if uuid in each.uuids for one in each.uuids}
    for other in _keys_of_records(view):
        keys = _keys_until(view, other, step) if other != uuid else []
        similar = (key for key in keys if any(are_similar(key, mine) for mine in own))
        if found := next(similar, keys[-1] if keys and other in confused else ""):
            return found
    return ""


def has_given_its_key_away(view: PeerView, uuid: str, step: Step) -> bool:
    """Has another record a former key of a record? A peer that keeps the former key (CSDB-22) sees a conflict."""
    keys = _keys_until(view, uuid, step)
    former = set(keys).difference(keys[-1:])
    return any(
        former & set(_keys_until(view, other, step))
        for other in (_keys_of_records(view) if former else ())
        if other != uuid
    )


@cache_per_view
def _keys_of_records(view: PeerView) -> dict[str, list[tuple[int, str]]]:
    """By uuid: the keys that a record got, each with the index of the step."""
    out: dict[str, list[tuple[int, str]]] = {}
    for index, uuid, key in sorted(_all_keys(view), key=lambda each: each[0]):
        if uuid and key is not None:
            out.setdefault(uuid, []).append((index, key))
    return out


def _all_keys(view: PeerView) -> Iterator[tuple[int, str | None, str | None]]:
    resolutions = (update for update in view.sent if update.by == view.peer_id)
    updates = (update for update in (*view.received, *resolutions) if not update.deleted)
    yield from ((update.step.index, update.uuid, update.key) for update in updates)
    yield from ((change.step.index, change.uuid, change.key) for change in view.changes)


def _keys_until(view: PeerView, uuid: str, step: Step) -> list[str]:
    return [key for index, key in _keys_of_records(view).get(uuid, ()) if index <= step.index]

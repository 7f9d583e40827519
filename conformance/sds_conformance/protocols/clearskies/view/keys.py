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
"""A peer may confuse two keys whose first characters are equal, up to this number of characters."""


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
"""Usual faults in reading a key, which make different keys equal."""


class FalseConflict(NamedTuple):
    """A signalled conflict of two records that never had the same key."""

    step: Step
    uuids: frozenset[str]
    keys: tuple[str, str]


@cache_per_view
def find_false_conflicts(view: PeerView) -> list[FalseConflict]:
    """Return all signalled conflicts of two records that never had the same key. A record
    whose key is unknown may have had any key.
    """
    out = []
    for step in view.steps:
        for event in step.signals("conflict"):
            one, other = (_keys_until(view, uuid, step) for uuid in (event.uuid, event.incoming_uuid))
            if event.uuid != event.incoming_uuid and one and other and not set(one) & set(other):
                out.append(FalseConflict(step, frozenset((event.uuid, event.incoming_uuid)), (one[-1], other[-1])))
    return out


def find_confused_record(view: PeerView, uuid: str, step: Step) -> str:
    """The key of another record that the peer may confuse with the key of this record; "" if there is none."""
    found = [
        (other.record, other.at, other.key)
        for mine in _keys_until(view, uuid, step)
        for form in _forms_of(mine)
        for other in _keys_by_form(view).get(form, ())
        if other.uuid != uuid and other.at <= step.index and other.key != mine
    ]
    confused = {one for each in find_false_conflicts(view) if uuid in each.uuids for one in each.uuids}
    for number, other in enumerate(_keys_of_records(view) if confused else ()):
        keys = _keys_until(view, other, step) if other in confused and other != uuid else []
        found += [(number, step.index, keys[-1])] if keys else []
    return min(found)[2] if found else ""


def has_given_its_key_away(view: PeerView, uuid: str, step: Step) -> bool:
    """Does another record have a former key of this record?

    A peer that does not change keys (CSDB-22) still has the former key, and so signals a conflict.
    """
    keys = _keys_until(view, uuid, step)
    return any(
        other.uuid != uuid and other.key == former and other.at <= step.index
        for former in set(keys).difference(keys[-1:])
        for other in _keys_by_form(view).get((0, former), ())
    )


class _Key(NamedTuple):
    """A key that a record got at a step."""

    record: int
    """Number of the record, from 0. The records are numbered in the order in which they got their first keys."""
    at: int
    """Index of the step at which the record got the key."""
    uuid: str
    key: str


def _forms_of(key: str) -> Iterator[tuple[int, str]]:
    """Yield (0, the key), and for each fault of ``_FORMS`` (number of the fault, the key that the fault reads)."""
    yield 0, key
    yield from ((number, form(key)) for number, form in enumerate(_FORMS, 1))


@cache_per_view
def _keys_by_form(view: PeerView) -> dict[tuple[int, str], list[_Key]]:
    """The keys of all records, by (number, form) of `_forms_of`."""
    out: dict[tuple[int, str], list[_Key]] = {}
    for number, (uuid, keys) in enumerate(_keys_of_records(view).items()):
        for index, key in keys:
            for form in _forms_of(key):
                out.setdefault(form, []).append(_Key(number, index, uuid, key))
    return out


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

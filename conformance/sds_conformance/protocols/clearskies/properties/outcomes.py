"""The outcome that the specification promises for each key: the record that every peer must have under it at the end.

Nothing is expected in these cases:

- a peer may refuse a change or an update
- two update_times are equal (CA-9)
- a change is not later than the version it changes, so that its result depends on the order of arrival (CA-8)
- the latest version with a key is not the last version of its record, so another record may get the key
- a peer lost its store and used revisions twice
- a peer received a revision after a later one of the same writer, or never, and no peer had to send it again (CA-5)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from ..view.facts import Update, VersionId, dominates
from ..view.knowledge import SAFE_INTEGER
from ..view.latest import find_unique_latest
from .club_view import ClubView, PeerHistory


@dataclass(frozen=True)
class Expected:
    """The record that every peer of a group must have under one key at the end."""

    key: str
    update: Update | None
    """The version that has the key; None if no version has it."""
    needed: tuple[VersionId, ...]
    """The versions that a peer must have received to reach the outcome."""


def find_outcomes(view: ClubView, group: Sequence[PeerHistory]) -> list[Expected]:
    """The certain outcomes for a group, by key."""
    if view.has_impostor or view.has_unasked_updates or any(side.reuses_revisions for side in view.histories.values()):
        return []
    if dict(view.group_trace.schedule.configuration).get("resolution"):
        return []  # the application was asked to resolve by another rule than time
    known = {version for side in group for version in (*side.known_versions, *side.doubtful)}
    doubtful = {version[0] for side in group for version in side.doubtful - side.known_versions.keys()}
    records: dict[str, list[Update]] = {}
    keys: dict[str, set[str]] = {}
    for version in known:
        update = view.versions[version].first
        records.setdefault(version[0], []).append(update)
        if update.key is not None and not update.deleted:
            keys.setdefault(update.key, set()).add(version[0])
    winners = {uuid: None if uuid in doubtful else _find_winner(view, group, all_) for uuid, all_ in records.items()}
    found = (_expect_key(key, uuids, winners, records) for key, uuids in sorted(keys.items()))
    return [expected for expected in found if expected is not None]


def _expect_key(
    key: str, uuids: set[str], winners: Mapping[str, Update | None], records: Mapping[str, Sequence[Update]]
) -> Expected | None:
    ends = [winner for uuid in uuids if (winner := winners[uuid]) is not None]
    if len(ends) < len(uuids):
        return None
    needed = tuple(winner.version for winner in ends if winner.version is not None)
    there = [winner for winner in ends if not winner.deleted and winner.key == key]
    if len(uuids) == 1:
        return Expected(key, there[0] if there else None, needed)
    # A peer that saw two records with one key may delete or hide the loser, so the winner must still have the key.
    latest = find_unique_latest(u for uuid in uuids for u in records[uuid] if u.key == key and not u.deleted)
    return Expected(key, latest, needed) if latest is not None and latest in there else None


def _find_winner(view: ClubView, group: Sequence[PeerHistory], versions: Sequence[Update]) -> Update | None:
    """The version of a record that all peers must have at the end; None if the specification does not decide it."""
    if not all(_is_plain(view, update) for update in versions):
        return None
    winner = _newest_and_latest(versions) or (None if view.shows_hops else _last_of_a_chain(versions))
    return None if winner is None or _may_be_skipped(view, group, winner) else winner


def _is_plain(view: ClubView, update: Update) -> bool:
    """Does every peer read the version in the same way?"""
    if update.version is None or len(view.versions[update.version].contents) > 1:
        return False
    if update.time is None or update.clock is None or update.fault:
        return False
    return update.largest_integer <= SAFE_INTEGER and len(update.clock) <= 100


def _newest_and_latest(versions: Sequence[Update]) -> Update | None:
    """The version with the largest update_time, if no version descends from it. It wins in every order of arrival."""
    latest = find_unique_latest(versions)
    if latest is None or any(dominates(u.clock, latest.clock) for u in versions if u is not latest):
        return None
    return latest


def _last_of_a_chain(versions: Sequence[Update]) -> Update | None:
    """The version that descends from all others, if they form a chain."""
    ordered = sorted(versions, key=lambda update: sum((update.clock or {}).values()))
    for earlier, later in pairwise(ordered):
        if not dominates(later.clock, earlier.clock) or dominates(earlier.clock, later.clock):
            return None
    return ordered[-1]


def _may_be_skipped(view: ClubView, group: Sequence[PeerHistory], winner: Update) -> bool:
    """Did a peer of the group receive a later change of the winner's writer, and the winner afterwards or never?

    The peer may skip the winner: it may assume that it has all lower revisions of the writer (CA-5).
    """
    if not (view.may_lose_updates or winner.by not in view.members):
        return False
    for side in group:
        others = ((v, at) for v, (at, _) in side.known_versions.items() if v != winner.version)
        later = [at for (_, by, rev), at in others if by == winner.by and rev >= (winner.rev or 0)]
        own = side.known_versions.get(winner.version) if winner.version is not None else None
        if later and (own is None or own[0] > min(later)):
            return True
    return False


def is_same_value(one: Any, other: Any) -> bool:
    """Are two JSON values equal for every implementation? Numbers are compared as doubles."""
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    if isinstance(one, int | float) and isinstance(other, int | float):
        try:
            return float(one) == float(other)
        except OverflowError:
            return True
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(is_same_value, one, other))
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(is_same_value(value, other[name]) for name, value in one.items())
    return bool(one == other)

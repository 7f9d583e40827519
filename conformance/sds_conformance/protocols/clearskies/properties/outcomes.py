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

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from clearskies_reference import Timestamp

from ..view.facts import Update, VersionId, dominates
from .club_view import ClubView, PeerHistory, VersionFacts

_SAFE_INTEGER = 1 << 53
"""Some implementations do not keep integers above this one (CA-6)."""


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
    records: dict[str, list[VersionFacts]] = {}
    for version in known:
        records.setdefault(version[0], []).append(view.versions[version])
    winners = {uuid: None if uuid in doubtful else _find_winner(view, group, f) for uuid, f in records.items()}
    keys: dict[str, set[str]] = {}
    for uuid, facts in records.items():
        for each in facts:
            if each.first.key is not None and not each.first.deleted:
                keys.setdefault(each.first.key, set()).add(uuid)
    out = []
    for key, uuids in sorted(keys.items()):
        expected = _expect_key(key, uuids, winners, records)
        if expected is not None:
            out.append(expected)
    return out


def _expect_key(
    key: str,
    uuids: set[str],
    winners: Mapping[str, VersionFacts | None],
    records: Mapping[str, Sequence[VersionFacts]],
) -> Expected | None:
    ends = [winner for uuid in uuids if (winner := winners[uuid]) is not None]
    if len(ends) < len(uuids):
        return None
    needed = tuple(winner.version for winner in ends)
    there = [w for w in ends if not w.first.deleted and w.first.key == key]
    if len(uuids) == 1:
        return Expected(key, there[0].first if there else None, needed)
    # A peer that saw two records with one key may delete or hide the loser, so the winner must still have the key.
    had = [f for uuid in uuids for f in records[uuid] if f.first.key == key and not f.first.deleted]
    latest = _unique_latest(had)
    if latest is None or latest not in there:
        return None
    return Expected(key, latest.first, needed)


def _find_winner(view: ClubView, group: Sequence[PeerHistory], facts: Sequence[VersionFacts]) -> VersionFacts | None:
    """The version of a record that all peers must have at the end; None if the specification does not decide it."""
    if not all(map(_is_plain, facts)):
        return None
    winner = _newest_and_latest(facts) or (None if view.shows_hops else _last_of_a_chain(facts))
    if winner is None or _may_be_skipped(view, group, winner):
        return None
    return winner


def _is_plain(facts: VersionFacts) -> bool:
    """Does every peer read the version in the same way?"""
    if len(facts.contents) > 1 or facts.time is None or facts.clock is None or facts.first.fault:
        return False
    return max([facts.version[2], *facts.clock.values()]) <= _SAFE_INTEGER and len(facts.clock) <= 100


def _newest_and_latest(facts: Sequence[VersionFacts]) -> VersionFacts | None:
    """The version with the largest update_time, if no version descends from it. It wins in every order of arrival."""
    latest = _unique_latest(facts)
    if latest is None or any(dominates(f.clock, latest.clock) for f in facts if f is not latest):
        return None
    return latest


def _last_of_a_chain(facts: Sequence[VersionFacts]) -> VersionFacts | None:
    """The version that descends from all others, if they form a chain."""
    ordered = sorted(facts, key=lambda each: sum((each.clock or {}).values()))
    for earlier, later in pairwise(ordered):
        if not dominates(later.clock, earlier.clock) or dominates(earlier.clock, later.clock):
            return None
    return ordered[-1]


def _unique_latest(facts: Iterable[VersionFacts]) -> VersionFacts | None:
    """The version with the largest update_time; None if two versions have that time."""
    timed: list[tuple[Timestamp, VersionFacts]] = [(f.time, f) for f in facts if f.time is not None]
    if not timed:
        return None
    most = max(time for time, _ in timed)
    latest = [f for time, f in timed if time == most]
    return latest[0] if len(latest) == 1 else None


def _may_be_skipped(view: ClubView, group: Sequence[PeerHistory], winner: VersionFacts) -> bool:
    """Did a peer of the group receive a later change of the winner's writer, and the winner afterwards or never?

    The peer may skip the winner: it may assume that it has all lower revisions of the writer (CA-5).
    """
    if not (view.may_lose_updates or winner.by not in view.members):
        return False
    _, by, rev = winner.version
    for side in group:
        others = ((v, at) for v, (at, _) in side.known_versions.items() if v != winner.version)
        later = [at for version, at in others if version[1] == by and version[2] >= rev]
        own = side.known_versions.get(winner.version)
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

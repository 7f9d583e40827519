"""Finds the latest version: the winner of any number of conflicts about one record or one key.

A `Meeting` is judged only while the model knows which version the peer has, and a conflict can leave this open. One
rule needs no such knowledge. The version with the largest update_time wins in every order of arrival if no other
version descends from it, and if its clock has a number that no other version has. It is then newer than any present
version, or in conflict with it and later.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from clearskies_reference import VectorClock, is_before

from ....judging.view_cache import cache_per_view
from .facts import Change, RecordVersion, Shown, Update, VersionId, grouped, has_zeros, same_content
from .knowledge import SAFE_INTEGER, Arrival
from .meetings import accepts_updates
from .peer_view import PeerView


@dataclass(frozen=True)
class Latest:
    """The latest version of a record, or of all records with one key, and a state that the peer showed afterwards."""

    update: Update
    shown: Shown
    seen: RecordVersion
    """The version that the state shows."""
    is_within_one_second: bool
    """Does another version have a time in the same second (CA-9)?"""

    @property
    def is_left(self) -> bool:
        """Does the state show the content of the latest version?"""
        return self.seen.version == self.update.version or same_content(self.seen.content, self.update.content)


@dataclass(frozen=True)
class _Versions:
    """The versions of one record that a peer certainly received or wrote."""

    updates: Sequence[Update]
    """The first copy of each version."""
    clocks: Sequence[tuple[VersionId, VectorClock]]
    """The clocks of all copies."""

    def find_latest(self, view: PeerView) -> Update | None:
        """The version that wins in every order of arrival; None if the order may decide."""
        latest = find_unique_latest(self.updates)
        if latest is None:
            return None
        mine = [clock for version, clock in self.clocks if version == latest.version]
        others = [clock for version, clock in self.clocks if version != latest.version]
        if any(is_before(clock, other) for other in others for clock in mine):
            return None
        return latest if latest.by == view.peer_id or _has_a_new_number(view, mine[0], others) else None

    def has_concurrent(self, latest: Update) -> bool:
        """Is any other version concurrent with the latest one?"""
        clock = next(clock for version, clock in self.clocks if version == latest.version)
        return not all(is_before(other, clock) for version, other in self.clocks)


def _has_a_new_number(view: PeerView, clock: VectorClock, others: Iterable[VectorClock]) -> bool:
    """Does a clock have a number that is larger than in all other clocks?

    If not, the merge of the other clocks may descend from the version, although none of them does. The peer's own
    number proves nothing, because the peer may count arrivals.
    """
    known = largest_numbers(others)
    return any(n > known.get(member, 0) for member, n in clock.items() if member != view.peer_id)


def largest_numbers(clocks: Iterable[VectorClock]) -> dict[str, int]:
    """The largest number of each member in any of the clocks."""
    known: dict[str, int] = {}
    for clock in clocks:
        known |= {member: n for member, n in clock.items() if n > known.get(member, 0)}
    return known


def find_unique_latest(updates: Iterable[Update]) -> Update | None:
    """The version with the largest update_time; None if two versions have that time, or if a version has no time."""
    timed = [(update.time, update) for update in updates]
    times = [time for time, _ in timed if time is not None]
    if not times or len(times) < len(timed):
        return None
    most = max(times)
    latest = [update for time, update in timed if time == most]
    return latest[0] if len(latest) == 1 else None


@cache_per_view
def find_latest_of_records(view: PeerView) -> list[Latest]:
    """The latest version of each record that had several conflicts, with each state that the peer showed afterwards."""
    out = []
    for shown in view.shown_states if accepts_updates(view) else ():
        for uuid, seen in shown.records.items():
            versions = _find_versions(view, uuid, shown)
            if versions is None or len(versions.updates) < 3:
                continue
            if seen.version not in {update.version for update in versions.updates}:
                continue  # the peer has resolved a conflict by a change of its own (CA-8)
            latest = versions.find_latest(view)
            if latest is None or _had_rivals(view, versions):
                continue
            others = [update for update in versions.updates if update is not latest]
            if versions.has_concurrent(latest):
                out.append(Latest(latest, shown, seen, _shares_a_second(latest, others)))
    return out


@cache_per_view
def find_latest_with_keys(view: PeerView) -> list[Latest]:
    """The latest version among all records that had the same key, with each observed state afterwards.

    When a record loses its key, a peer may delete or rename it, with its own clock as the update_time. So a later
    version of that record certainly gets the key only if its update_time is after the peer's clock.
    """
    out = []
    for shown in view.shown_states if accepts_updates(view) else ():
        if shown.on_the_wire:
            continue  # hidden records are sent, too
        for key, uuids in _uuids_with_keys(view).items():
            holders = [seen for seen in shown.records.values() if not seen.deleted and seen.key == key]
            if len(uuids) < 2 or len(holders) != 1:
                continue
            found = {uuid: _find_versions(view, uuid, shown) for uuid in uuids}
            known = [versions for versions in found.values() if versions is not None]
            if len(known) < len(uuids):
                continue
            updates = [update for each in known for update in each.updates]
            latest = find_unique_latest(update for update in updates if update.key == key and not update.deleted)
            if latest is None or latest not in [each.find_latest(view) for each in known]:
                continue
            others = [update for update in updates if update is not latest]
            again = any(update.uuid == latest.uuid for update in others)
            if again and _is_later_than_the_clock(view, latest) and holders[0].version in {u.version for u in updates}:
                out.append(Latest(latest, shown, holders[0], _shares_a_second(latest, others)))
    return out


def _is_later_than_the_clock(view: PeerView, update: Update) -> bool:
    clock_ms = max((step.now_ms for step in view.steps), default=0)
    return update.time is not None and update.time.seconds > clock_ms // 1_000


def _shares_a_second(latest: Update, others: Iterable[Update]) -> bool:
    times = [other.time for other in others if other.time is not None]
    return latest.time is not None and any(time.seconds == latest.time.seconds for time in times)


def _had_rivals(view: PeerView, versions: _Versions) -> bool:
    """Did another record have one of the keys? Then this record may have lost its key."""
    keys = {update.key for update in versions.updates}
    return any(len(uuids) > 1 for key, uuids in _uuids_with_keys(view).items() if key in keys)


@cache_per_view
def _uuids_with_keys(view: PeerView) -> dict[str, set[str]]:
    """By key: the uuids of the records that ever had it."""
    out: dict[str, set[str]] = {}
    for update in (*view.received, *view.own):
        if update.key is not None and update.uuid is not None and not update.deleted:
            out.setdefault(update.key, set()).add(update.uuid)
    for change in view.changes:
        out.setdefault(change.key, set()).add(change.uuid)
    return out


@cache_per_view
def _arrivals_by_uuid(view: PeerView) -> dict[str | None, list[Arrival]]:
    return grouped(view.arrivals, lambda arrival: arrival.update.uuid)


def _find_versions(view: PeerView, uuid: str, shown: Shown) -> _Versions | None:
    """The versions of a record that the peer had received or written before a state; None if that is uncertain."""
    allowed = (a for a in _arrivals_by_uuid(view).get(uuid, ()) if not a.prohibition)
    arrivals = [arrival for arrival in allowed if arrival.step.index < shown.step.index]
    changes = [change for change in view.changes if change.uuid == uuid and change.step.index < shown.step.index]
    own = [update for update in view.own if update.uuid == uuid]
    if any(change.shown is None for change in changes) or any(update in view.unexplained for update in own):
        return None
    own = [change.shown for change in changes if change.shown is not None]
    if not all(_is_certain(view, arrival, shown) for arrival in arrivals):
        return None
    first: dict[object, Update] = {}
    for copy in (*own, *(arrival.update for arrival in arrivals)):
        known = first.setdefault(copy.version, copy)
        if not same_content(known.content, copy.content) or known.time != copy.time:
            return None
    clocks = [(a.update.version, a.update.clock) for a in arrivals]
    clocks += [(change.shown.version, _clock_of_change(view, change, arrivals)) for change in changes if change.shown]
    parsed = [(version, clock) for version, clock in clocks if version is not None and clock is not None]
    return _Versions(tuple(first.values()), parsed) if len(parsed) == len(clocks) else None


def _clock_of_change(view: PeerView, change: Change, arrivals: Iterable[Arrival]) -> VectorClock | None:
    """The clock that a change had when it was made. A copy that is sent later may include later arrivals."""
    clock = change.shown.clock if change.shown is not None else None
    if clock is None or (change.shown is not None and change.shown.step is change.step):
        return clock
    known = largest_numbers(
        a.update.clock for a in arrivals if a.update.clock is not None and a.step.index < change.step.index
    )
    return {member: n if member == view.peer_id else min(n, known.get(member, 0)) for member, n in clock.items()}


def _is_certain(view: PeerView, arrival: Arrival, shown: Shown) -> bool:
    """Did the peer have to accept an update before a state, whatever it knew before?"""
    update = arrival.update
    if update.version is None or arrival.excuse or arrival.declined or update.version in view.leaked_versions:
        return False
    if has_zeros(update) or update.largest_integer > SAFE_INTEGER or not (update.in_utc or view.is_traced(update)):
        return False
    in_order = arrival.step.index < shown.as_of.index and view.known.same_era(arrival.step.index, shown.step.index)
    return in_order and update.by != view.peer_id and not any(_overtook(arrival, other) for other in view.arrivals)


def _overtook(arrival: Arrival, other: Arrival) -> bool:
    """Did a later revision of the same writer arrive before an update? Then the peer may ignore the update (CA-5)."""
    one, two = arrival.update, other.update
    return other.step.index < arrival.step.index and one.by == two.by and (two.rev or 0) > (one.rev or 0)

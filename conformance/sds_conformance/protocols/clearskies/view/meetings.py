"""Meetings of two versions of a record, or of two records with one key, at a peer, and their outcomes.

An outcome is read from the states that the peer shows until something else happens to the records. Absence on the wire
proves nothing: an answer may leave out records that the peer has. An application sees one record for each key. On the
wire the loser may still be present, deleted or not, or be absent (CA-8), so only an impossible outcome is a fault
there.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from clearskies_proto.testee.v1 import testee_pb2 as pb
from clearskies_reference import VectorClock

from ....judging.formats import json_of
from ....judging.view_cache import cache_per_view
from .facts import (
    RecordVersion,
    Shown,
    Update,
    VersionId,
    dominates,
    equal,
    grouped,
    has_wide_numbers,
    has_zeros,
    same_content,
)
from .knowledge import SAFE_INTEGER, Arrival
from .peer_view import PeerView

# ---- Meetings --------------------------------------------------------------------------------------------------------


class Meeting:
    """An update that arrived, and the version that was present of its record, or of another record with its key."""

    def __init__(self, arrival: Arrival, there: Update, signalled: bool | None) -> None:
        self.arrival, self.incoming, self.step = arrival, arrival.update, arrival.step
        self.present = there
        """The version that was present: of the same record, or of another one with the same key."""
        self.signalled = signalled
        """Did the peer signal a conflict? None if it does not declare such signals, or if there is no conflict."""
        self.alike = same_content(self.incoming.content, there.content)
        """Do both versions have the same content for an application?"""
        self.uuids = {self.incoming.uuid, there.uuid}
        self.later: Update | None = None
        """The version with the larger update_time; None if the times are equal, or one is missing."""
        self.is_within_one_second = False
        """Are both update_times in the same second (CA-9)?"""
        one, other = self.incoming.time, there.time
        if one is not None and other is not None:
            self.is_within_one_second = one.seconds == other.seconds
            if one != other:
                self.later = self.incoming if one > other else self.present

    def other_than(self, update: Update) -> Update:
        """The other one of the two versions."""
        return self.present if update is self.incoming else self.incoming

    @property
    def differs_only_beyond_doubles(self) -> bool:
        """Are the clocks of the two versions different, but equal if their numbers are read as doubles (CA-6)?"""
        one, other = self.incoming.clock or {}, self.present.clock or {}
        return one != other and _as_doubles(one) == _as_doubles(other)


def _as_doubles(clock: VectorClock) -> dict[str, float]:
    return {member: float(number) for member, number in clock.items()}


@cache_per_view
def accepts_updates(view: PeerView) -> bool:
    """Does the trace show that the peer accepted any version of another peer? If not, checks do not judge which version
    is newer.
    """
    made = {arrival.update.uuid for arrival in view.arrivals if arrival.outcome == "new"}
    made -= {change.uuid for change in view.changes}
    return any(update.uuid in made for update in view.sent) or any(
        made & shown.records.keys() for shown in view.shown_states
    )


@cache_per_view
def find_version_meetings(view: PeerView) -> list[Meeting]:
    """The updates that arrived while the present version of their record was certain."""
    out = []
    never = {arrival.update.version for arrival in view.arrivals if arrival.declined}
    for arrival in view.arrivals:
        there = arrival.before
        if arrival.outcome not in ("older", "equal", "newer", "conflict") or there is None or there.version is None:
            continue
        if not {there.version, arrival.update.version} & never:
            conflict = arrival.outcome == "conflict"
            out.append(Meeting(arrival, there, _is_signalled(view, arrival, {there.uuid}) if conflict else None))
    return out


@cache_per_view
def find_key_meetings(view: PeerView) -> list[Meeting]:
    """The records that arrived with a key that another record certainly had, including refused ones."""
    out = []
    for arrival in view.arrivals:
        concerned = arrival.outcome in ("new", "newer") and not arrival.update.deleted
        if not concerned or view.arrived_with_others(arrival) or len(_uuids_by_key(view)[arrival.update.key]) == 1:
            continue
        there = _find_rival(view, arrival)
        if there is not None and there.version is not None and not _keeps_key(view, arrival):
            out.append(Meeting(arrival, there, _is_signalled(view, arrival, {arrival.update.uuid, there.uuid})))
    return out


def _keeps_key(view: PeerView, arrival: Arrival) -> bool:
    """Does the record of an update keep its earlier key (CSDB-22)?"""
    before = arrival.before
    if before is None or before.key == arrival.update.key:
        return False
    later = (shown for shown in view.shown_states if shown.as_of.index > arrival.step.index)
    seen = next((shown.records.get(str(arrival.update.uuid)) for shown in later), None)
    return seen is not None and seen.key == before.key


def uuids_with_key(view: PeerView, key: str | None) -> set[str | None]:
    """The uuids of the records that ever had a key."""
    return _uuids_by_key(view).get(key, set())


@cache_per_view
def _uuids_by_key(view: PeerView) -> dict[str | None, set[str | None]]:
    """By key: the uuids of the records that ever had it."""
    out: dict[str | None, set[str | None]] = {}
    for update in view.received:
        out.setdefault(update.key, set()).add(update.uuid)
    for change in view.changes:
        out.setdefault(change.key, set()).add(change.uuid)
    return out


def _find_rival(view: PeerView, arrival: Arrival) -> Update | None:
    """The only other record that certainly had the key of an update when it arrived; None if the updated record had the
    key itself.
    """
    update, before = arrival.update, arrival.step.index - 1
    own = arrival.held
    if own is not None and (own.update is None or (own.update.key == update.key and not own.update.deleted)):
        return None
    rivals = [
        held
        for uuid, held in view.known.all_at(before)
        if uuid != update.uuid and any(not each.deleted and each.key == update.key for each in held.candidates)
    ]
    return rivals[0].update if len(rivals) == 1 else None


class Fate:
    """The first state that a peer showed after two versions of a record met."""

    def __init__(self, meeting: Meeting, shown: Shown, seen: RecordVersion) -> None:
        self.meeting, self.shown, self.seen = meeting, shown, seen
        both = (meeting.incoming, meeting.present)
        found = [update for update in both if update.version == seen.version]
        if not found and not meeting.alike:
            found = [update for update in both if same_content(seen.content, update.content)]
        self.survivor = found[0] if found else None
        """The version that the state shows; None if neither, or if both have equal content."""

    @property
    def involves_zeros(self) -> bool:
        """Does the clock of one of the two versions have a zero?"""
        return has_zeros(self.meeting.incoming) or has_zeros(self.meeting.present)

    @property
    def is_mixed(self) -> bool:
        """Does the surviving version have the revision of one of the two versions, and content of the other?"""
        update, seen = self.survivor, self.seen
        if update is None or seen.version != update.version or same_content(seen.content, update.content):
            return False
        other = self.meeting.other_than(update)
        if seen.deleted != update.deleted:
            return seen.deleted == other.deleted
        key = seen.key != update.key and seen.key == other.key
        return key or (not equal(seen.value, update.value) and equal(seen.value, other.value))


@cache_per_view
def find_fates(view: PeerView) -> list[Fate]:
    """The first shown state after each meeting of two versions."""
    out = []
    for meeting in find_version_meetings(view):
        uuid = str(meeting.incoming.uuid)
        shown = next((shown for shown in find_states_after(view, meeting) if uuid in shown.records), None)
        if shown is None or _may_have_lost_its_key(view, meeting, shown.records[uuid]):
            continue
        out.append(Fate(meeting, shown, shown.records[uuid]))
    return out


def _may_have_lost_its_key(view: PeerView, meeting: Meeting, seen: RecordVersion) -> bool:
    """May the arrived version have been accepted and deleted at once, because another record has its key?"""
    return seen.deleted and not meeting.incoming.deleted and len(_uuids_by_key(view)[meeting.incoming.key]) > 1


def find_states_after(view: PeerView, meeting: Meeting) -> Iterator[Shown]:
    """Yield the states that the peer showed after a meeting, until something else happened to the records."""
    end = _find_end(view, meeting)
    for shown in view.shown_states:
        if shown.as_of.index > meeting.step.index and shown.step.index < end:
            yield shown


def find_change_after(view: PeerView, meeting: Meeting) -> Update | None:
    """The first copy of the application's next change after a meeting; None if something else comes first."""
    end = _find_end(view, meeting)
    change = next((change for change in view.changes if change.step.index == end), None)
    return change.shown if change is not None and change.uuid == meeting.incoming.uuid else None


def _find_end(view: PeerView, meeting: Meeting) -> int:
    """The index of the step in which something else happens to the records; one more than the last index if nothing
    does.
    """
    first, keys = meeting.step.index, {meeting.incoming.key, meeting.present.key}
    both = {meeting.incoming.version, meeting.present.version}
    came = (
        a.step.index
        for a in view.arrivals
        if a.step.index > first
        and (a.update.uuid in meeting.uuids or a.update.key in keys)
        and (
            a.update.version not in both
            or _descends_from_both(a.update, meeting)
            or _is_no_longer_older(a.update, meeting)
        )
    )
    made = (
        change.step.index
        for change in view.changes
        if change.step.index > first and (change.uuid in meeting.uuids or {change.key, change.old_key} & keys)
    )
    return min([*came, *made, len(view.trace.steps) + 1])


def _descends_from_both(update: Update, meeting: Meeting) -> bool:
    """Does an update have the ID of one of the two versions, but descend from both?

    A peer that lost its store reuses revisions.
    """
    one, other = meeting.incoming.clock, meeting.present.clock
    if update.version == meeting.present.version:
        return dominates(update.clock, one)
    return dominates(update.clock, other) and not dominates(one, update.clock)


def _is_no_longer_older(update: Update, meeting: Meeting) -> bool:
    """Does an update have the older version with an increased clock (CA-15), so that it is no longer older?"""
    copy = meeting.arrival.outcome == "older" and update.version == meeting.incoming.version
    return copy and not dominates(meeting.present.clock, update.clock)


def _is_signalled(view: PeerView, arrival: Arrival, uuids: set[str | None]) -> bool | None:
    if not view.can(pb.CAPABILITY_CONFLICT):
        return None
    first = arrival.step.index
    last = next((index for index in view.quiet if index > first), len(view.trace.steps))
    return any(first <= index <= last and uuids & signalled for index, signalled in _signalled_conflicts(view))


@cache_per_view
def _signalled_conflicts(view: PeerView) -> list[tuple[int, set[str | None]]]:
    """All signalled conflicts: the index of the step, and the uuids."""
    return [
        (step.index, {event.uuid.lower(), event.incoming_uuid.lower()})
        for step in view.steps
        for event in step.signals("conflict")
    ]


# ---- Outcomes of conflicts -------------------------------------------------------------------------------------------


class Contest:
    """Two records with one key, and a state that a peer showed after the second record arrived."""

    def __init__(self, meeting: Meeting, shown: Shown, *, relayed: bool) -> None:
        """``relayed``: the peer sent the arrived record to others."""
        self.meeting, self.shown = meeting, shown
        key, there = meeting.incoming.key, shown.records.values()
        self.with_key = [seen for seen in there if not seen.deleted and seen.key == key]
        """The records that are present with the key."""
        both = meeting.uuids <= shown.records.keys()
        self.key_is_lost = not self.with_key and both
        """Are both records present, and neither has the key?"""
        trace = relayed or meeting.signalled or meeting.incoming.uuid in shown.records
        self.ignored = not trace and any(seen.uuid == meeting.present.uuid for seen in self.with_key)
        """Is the state the same as if the update had not arrived?"""
        self.key_holder: Update | None = None
        """The version that has the key in the state; None if the state does not show it."""
        if len(self.with_key) == 1 and (both or not shown.on_the_wire):
            (seen,) = self.with_key
            two = (meeting.incoming, meeting.present)
            alike = (u for u in two if seen.uuid == u.uuid and same_content(seen.content, u.content))
            self.key_holder = next(alike, None)


@cache_per_view
def find_contests(view: PeerView) -> list[Contest]:
    """The states that a peer showed after a second record with a key arrived, until the records changed again."""
    out = []
    for meeting in find_key_meetings(view):
        if not meeting.arrival.declined:
            sent = (u for u in view.sent if u.step.index >= meeting.step.index and u.uuid == meeting.incoming.uuid)
            relayed = any(sent)
            out += [Contest(meeting, shown, relayed=relayed) for shown in find_states_after(view, meeting)]
    return out


def find_last_states(view: PeerView) -> Iterator[tuple[Meeting, Shown]]:
    """Yield the meetings of two records with one key, each with the last state that the peer showed afterwards.

    Meetings are left out if a third record ever had the key, or if one of the two records was ever changed.
    """
    if not view.shown_states or not accepts_updates(view):
        return
    last = view.shown_states[-1]
    ours = {other.peer_id for other in view.everybody}
    for meeting in find_key_meetings(view):
        key, uuids = meeting.incoming.key, meeting.uuids
        written = [
            (c.uuid, c.kind) for v in view.everybody for c in v.changes if c.uuid in uuids or key in (c.key, c.old_key)
        ]
        sent = {
            (u.version, u.deleted) for v in view.everybody for u in v.received if u.uuid in uuids and u.by not in ours
        }
        written += [(str(version and version[0]), "delete" if deleted else "put") for version, deleted in sent]
        if sorted(written) == sorted((str(uuid), "put") for uuid in uuids) and last.as_of.index > meeting.step.index:
            yield meeting, last


@dataclass(frozen=True)
class Holding:
    """The records that a peer shows at the end under a key that two records had."""

    meeting: Meeting
    shown: Shown
    contents: tuple[RecordVersion, ...]
    versions: frozenset[VersionId | None]
    """The versions of the two records that arrived, or that the peer wrote."""

    @property
    def values_text(self) -> str:
        values = [json_of(seen.value, 60) for seen in self.contents]
        return " and ".join(values) or "nothing"

    def agrees_with(self, other: Holding) -> bool:
        """Can both peers show the same record to applications?"""
        common = [
            one
            for one in self.contents
            if any(one.version == two.version or same_content(one.content, two.content) for two in other.contents)
        ]
        if self.shown.on_the_wire or other.shown.on_the_wire:
            return bool(common)
        return len(common) == len(self.contents) == len(other.contents)


def find_comparable_holdings(view: PeerView) -> Iterator[tuple[Holding, Holding, PeerView]]:
    """Yield the final states of two peers that received the same versions of two records with one key."""
    for meeting in find_key_meetings(view):
        one = _find_holding(view, meeting)
        for other_view in view.everybody:
            other = _find_holding(other_view, meeting) if one is not None and other_view is not view else None
            if one is not None and other is not None and one.versions == other.versions:
                yield one, other, other_view


def _find_holding(view: PeerView, meeting: Meeting) -> Holding | None:
    """The final state of a key at a peer. None if the peer has not received both records, or has not shown them since;
    also None if the outcome depends on the order of two versions with equal clocks.
    """
    key, uuids = meeting.incoming.key, meeting.uuids
    last, known = 0, set[str | None]()
    updates = [update for update in view.own if update.uuid in uuids]
    for arrival in view.arrivals:
        if arrival.prohibition or arrival.declined:
            continue
        if arrival.update.uuid in uuids or arrival.update.key == key:
            if arrival.update.largest_integer > SAFE_INTEGER:
                return None  # CSDB-25 and CSDB-41 judge such fields
            last = max(last, arrival.step.index)
            known.add(arrival.update.uuid)
            updates.append(arrival.update)
    for change in view.changes:
        if change.uuid in uuids or key in (change.key, change.old_key):
            last = max(last, change.step.index)
            known.add(change.uuid)
    # A third record would change the outcome.
    shown = [shown for shown in view.shown_states if shown.as_of.index > last]
    if known != uuids or not shown or not accepts_updates(view) or _clocks_of_two_versions_are_equal(updates):
        return None
    best = next((each for each in reversed(shown) if not each.on_the_wire), shown[-1])
    contents = tuple(seen for seen in best.records.values() if not seen.deleted and seen.key == key)
    untraced = uuids - best.records.keys()
    left_out = best.on_the_wire and any(uuids <= m.uuids and m.signalled for m in find_key_meetings(view))
    if not contents or (untraced and left_out):
        return None
    return Holding(meeting, best, contents, frozenset(update.version for update in updates))


def _clocks_of_two_versions_are_equal(updates: Iterable[Update]) -> bool:
    """Do two versions of one record have equal clocks? A peer discards the second to arrive (CSDB-48)."""
    versions: dict[tuple[str | None, frozenset[tuple[str, int]]], VersionId | None] = {}
    for update in updates:
        if update.clock is not None:
            first = versions.setdefault((update.uuid, frozenset(update.clock.items())), update.version)
            if first != update.version:
                return True
    return False


def find_linked_states(view: PeerView) -> Iterator[tuple[Shown, Shown, PeerView]]:
    """Yield the last observed states of this peer and of each other peer under test that is linked to it until the end.

    Both peers have requested updates and have processed all that arrived before these states.
    """
    mine = _find_final_state(view)
    for other in view.everybody if mine is not None else ():
        links = (link for link in view.links if link.peer_id == other.peer_id and not link.connection.ended)
        if any(link.asked and link.subscribed_at is not None and not link.doubtful_from for link in links):
            theirs = _find_final_state(other)
            if mine is not None and theirs is not None:
                yield mine, theirs, other


def find_results(view: PeerView, shown: Shown) -> Iterator[RecordVersion]:
    """Yield the records of a state that the peer made itself by resolving conflicts: no change of the application has
    this content, and no version of another peer had it when it first arrived.
    """
    first = {update.version: update for update in reversed(view.received) if update.by != view.peer_id}
    came = grouped(first.values(), lambda update: update.uuid)
    made = grouped(view.changes, lambda change: change.uuid)
    for uuid, seen in shown.records.items():
        arrived = any(same_content(seen.content, update.content) for update in came.get(uuid, ()))
        written = any(change.kind == "rename" or equal(change.value, seen.value) for change in made.get(uuid, ()))
        if not (seen.deleted or arrived or written) and view.in_conflict(shown.step):
            yield seen


def _find_final_state(view: PeerView) -> Shown | None:
    """The last state that the peer was observed in, if no update arrived and no record changed since it was quiet."""
    shown = next((shown for shown in reversed(view.shown_states) if not shown.on_the_wire), None)
    last = [change.step.index for change in view.changes[-1:]] + [update.step.index for update in view.received[-1:]]
    return shown if shown is not None and shown.as_of.index > max(last, default=0) else None


def find_ties(view: PeerView) -> Iterator[tuple[Fate, Fate, PeerView]]:
    """Yield the outcomes at two peers of a conflict between versions with the same update_time."""
    mine = [fate for fate in find_fates(view) if _is_tie(fate)]
    for other_view in view.everybody if mine else ():
        for other in find_fates(other_view) if other_view is not view else ():
            for one in mine:
                if _is_tie(other) and _versions_that_met(one) == _versions_that_met(other):
                    yield one, other, other_view


def _is_tie(fate: Fate) -> bool:
    meeting = fate.meeting
    same = meeting.incoming.time is not None and meeting.incoming.time == meeting.present.time and not meeting.alike
    return bool(same and fate.survivor) and meeting.arrival.outcome == "conflict" and meeting.signalled is not False


def _versions_that_met(fate: Fate) -> set[VersionId | None]:
    return {fate.meeting.incoming.version, fate.meeting.present.version}


def find_resolved_conflicts(view: PeerView) -> Iterator[tuple[Meeting, Shown, str]]:
    """Yield the conflicts that the application resolves, each with the next state and a sentence on the content that
    this state lacks; "" if it lacks nothing.
    """
    met = [fate.meeting for fate in find_fates(view) if fate.meeting.arrival.outcome == "conflict"]
    for meeting in [*met, *find_key_meetings(view)]:
        one, other = meeting.incoming, meeting.present
        if one.deleted or other.deleted or meeting.alike or not meeting.later:
            continue
        shown = next(find_states_after(view, meeting), None)
        if shown is None:
            continue
        values = [seen.value for seen in shown.records.values() if not seen.deleted]
        if has_wide_numbers([one.value, other.value]) and not view.can(pb.CAPABILITY_WIDE_INTEGERS):
            continue
        if view.resolution == pb.RESOLUTION_SEPARATE:
            lost = next((u for u in (one, other) if not any(equal(u.value, value) for value in values)), None)
            yield meeting, shown, "" if lost is None else f"no record has the value of revision {lost.rev}"
        elif isinstance(one.value, dict) and isinstance(other.value, dict):
            whole = {**one.value, **other.value} if meeting.later is other else {**other.value, **one.value}
            there = any(equal(value, whole) for value in values)
            yield meeting, shown, "" if there else "no record has the members of both objects"

"""What comes of conflicts: who has a key of which two records came, and whether all peers come to the same.

An application sees one record with a key. On the wire the one that has lost may still be there, deleted or not, or not
any more (CA-8): there, only what cannot be is told from what can.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from clearskies_proto.testee.v1 import testee_pb2 as pb

from ....judging.once import once
from ....judging.quoting import json_of
from .authority import SAFE_INTEGER
from .facts import Update, Version, equal, same_content
from .meetings import INCOMING, PRESENT, Fate, Meeting, declined, fates, keys_met, shown_after, takes_updates
from .peer_view import PeerView
from .shown import Seen, Shown


def resolution(view: PeerView) -> int:
    """Who resolves conflicts here, as far as that is known: by default nobody does in the place of the text's rule."""
    for configuration in (view.party.in_force, view.party.asked):
        if configuration.HasField("resolution"):
            return int(configuration.resolution)
    return pb.RESOLUTION_UNSPECIFIED


def by_default(view: PeerView) -> bool:
    """Has no application said otherwise?"""
    return resolution(view) == pb.RESOLUTION_UNSPECIFIED


@dataclass(frozen=True)
class Contest:
    """Two records with one key, and what a peer showed after they had met."""

    meeting: Meeting
    shown: Shown
    relayed: bool
    """Did the peer pass on the one that came?"""

    @property
    def having(self) -> list[Seen]:
        """Those that are there with the key."""
        key = self.meeting.incoming.key
        return [seen for seen in self.shown.records.values() if not seen.deleted and seen.key == key]

    @property
    def nobody(self) -> bool:
        """Is there surely none?"""
        return not self.having and self.meeting.uuids <= self.shown.records.keys()

    @property
    def ignored(self) -> bool:
        """Is the one that came as if it had not come?"""
        trace = self.relayed or self.meeting.signalled or self.meeting.incoming.uuid in self.shown.records
        return not trace and any(seen.uuid == self.meeting.there.uuid for seen in self.having)

    @property
    def left(self) -> str:
        """Which of the two has the key, "" if that is not to be seen."""
        if len(self.having) != 1 or not (self.meeting.uuids <= self.shown.records.keys() or not self.shown.on_the_wire):
            return ""
        (seen,) = self.having
        for name, update in ((INCOMING, self.meeting.incoming), (PRESENT, self.meeting.there)):
            if seen.uuid == update.uuid and same_content(seen.content, update.content):
                return name
        return ""


@once
def contests(view: PeerView) -> list[Contest]:
    """What a peer showed after two records with one key had met, until something else happened to them."""
    out = []
    for meeting in keys_met(view):
        if not declined(view, meeting.arrival):
            sent = (u for u in view.sent if u.step.index >= meeting.step.index and u.uuid == meeting.incoming.uuid)
            relayed = any(sent)
            out += [Contest(meeting, shown, relayed) for shown in shown_after(view, meeting)]
    return out


@dataclass(frozen=True)
class Holding:
    """What a peer shows at the end under a key of which two records came."""

    meeting: Meeting
    shown: Shown
    contents: tuple[Seen, ...]
    versions: frozenset[Version | None]
    """Those of the two records that ever came or were made here."""

    @property
    def told(self) -> str:
        values = [json_of(seen.value, 60) for seen in self.contents]
        return " and ".join(values) or "nothing"

    def agrees(self, other: Holding) -> bool:
        """Can both show the same record to applications?"""
        common = [one for one in self.contents if any(_are_alike(one, two) for two in other.contents)]
        if self.shown.on_the_wire or other.shown.on_the_wire:
            return bool(common)
        return len(common) == len(self.contents) == len(other.contents)


def _are_alike(one: Seen, other: Seen) -> bool:
    return one.version == other.version or same_content(one.content, other.content)


def disagreement(view: PeerView) -> Iterator[tuple[Holding, Holding, PeerView]]:
    """Where a peer and another one know of the same versions of two records with a key, what each of them shows at the
    end."""
    for meeting in keys_met(view):
        one = _holding(view, meeting)
        for whose in view.everybody:
            other = _holding(whose, meeting) if one is not None and whose is not view else None
            if one is not None and other is not None and one.versions == other.versions:
                yield one, other, whose


def _holding(view: PeerView, meeting: Meeting) -> Holding | None:
    """The last word of a peer on a key; None if it does not know of both records, or has not shown them since, or if
    it hangs on the order in which two versions came, for their clocks are equal."""
    key, uuids = meeting.incoming.key, meeting.uuids
    last, known = 0, set[str | None]()
    heard = [update for update in view.own if update.uuid in uuids]
    for arrival in view.arrivals:
        if arrival.must_not or declined(view, arrival):
            continue
        if arrival.update.uuid in uuids or arrival.update.key == key:
            if arrival.update.largest > SAFE_INTEGER:
                return None  # CSDB-25 and CSDB-41
            last = max(last, arrival.step.index)
            known.add(arrival.update.uuid)
            heard.append(arrival.update)
    for change in view.changes:
        if change.uuid in uuids or key in (change.key, change.old_key):
            last = max(last, change.step.index)
            known.add(change.uuid)
    # A third one would be another matter.
    shown = [shown for shown in view.shown if shown.as_of.index > last]
    if known != uuids or not shown or not takes_updates(view) or _clocks_of_two_versions_are_equal(heard):
        return None
    best = next((each for each in reversed(shown) if not each.on_the_wire), shown[-1])
    contents = tuple(seen for seen in best.records.values() if not seen.deleted and seen.key == key)
    untraced = uuids - best.records.keys()
    left_out = best.on_the_wire and any(uuids <= m.uuids and m.signalled for m in keys_met(view))
    if not contents or (untraced and left_out):
        return None
    return Holding(meeting, best, contents, frozenset(update.version for update in heard))


def _clocks_of_two_versions_are_equal(updates: Iterable[Update]) -> bool:
    """Of two such versions of a record the one that comes second is discarded (CSDB-48)."""
    versions: dict[tuple[str | None, frozenset[tuple[str, int]]], Version | None] = {}
    for update in updates:
        if update.clock is not None:
            first = versions.setdefault((update.uuid, frozenset(update.clock.items())), update.version)
            if first != update.version:
                return True
    return False


def ties(view: PeerView) -> Iterator[tuple[Fate, Fate, PeerView]]:
    """Where two versions with one update_time are in conflict here and elsewhere, what was left in both places."""
    mine = [fate for fate in fates(view) if _is_tie(fate)]
    for whose in view.everybody if mine else ():
        for other in fates(whose) if whose is not view else ():
            for one in mine:
                if _is_tie(other) and _met(one) == _met(other):
                    yield one, other, whose


def version_left(fate: Fate) -> Version | None:
    """The version that a peer had after two of them met."""
    return (fate.meeting.incoming if fate.left == INCOMING else fate.meeting.there).version


def _is_tie(fate: Fate) -> bool:
    meeting = fate.meeting
    same = meeting.incoming.time is not None and meeting.incoming.time == meeting.there.time and not meeting.alike
    return bool(same and fate.left) and meeting.arrival.outcome == "conflict" and meeting.signalled is not False


def _met(fate: Fate) -> set[Version | None]:
    return {fate.meeting.incoming.version, fate.meeting.there.version}


def unresolved(view: PeerView) -> Iterator[tuple[Meeting, Shown, str]]:
    """What met in a conflict that the application resolves, and what is missing of it afterwards, "" if nothing is."""
    met = [fate.meeting for fate in fates(view) if fate.meeting.arrival.outcome == "conflict"]
    for meeting in [*met, *keys_met(view)]:
        one, other = meeting.incoming, meeting.there
        if one.deleted or other.deleted or meeting.alike or not meeting.later:
            continue
        shown = next(shown_after(view, meeting), None)
        if shown is None:
            continue
        values = [seen.value for seen in shown.records.values() if not seen.deleted]
        if resolution(view) == pb.RESOLUTION_SEPARATE:
            lost = next((u for u in (one, other) if not any(equal(u.value, value) for value in values)), None)
            yield meeting, shown, "" if lost is None else f"the value of revision {lost.rev} is nowhere"
        elif isinstance(one.value, dict) and isinstance(other.value, dict):
            whole = {**one.value, **other.value} if meeting.later == PRESENT else {**other.value, **one.value}
            there = any(equal(value, whole) for value in values)
            yield meeting, shown, "" if there else "there is no record with the members of both"

"""Updates that a peer must send to others, its requests, and its copies of other peers' versions.

Changes must be sent to all peers that sent a request, and each request must be answered, by the peer's next quiet step
(see `PeerView.quiet`). A version that has been overwritten by then need not be sent.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator
from itertools import pairwise
from typing import NamedTuple

from clearskies_proto.testee.v1 import testee_pb2 as pb
from clearskies_reference.vector_clock import MAX_INTEGER, is_id
from sds_harness.clearskies.trace import Step

from ....judging.view_cache import cache_per_view
from .facts import (
    Change,
    LinkView,
    RecordVersion,
    Request,
    Shown,
    Update,
    VersionId,
    equal,
    grouped,
    parse_record,
    same_content,
)
from .knowledge import SAFE_INTEGER, Arrival
from .meetings import Contest, Fate, find_contests, find_fates, uuids_with_key
from .peer_view import PeerView

# ---- Changes that must be sent, and answers --------------------------------------------------------------------------


class DueUpdate(NamedTuple):
    """A change that must be sent on one link, if the trace shows whether it was sent."""

    link: LinkView
    source: Change | Arrival
    """A change of the peer's own application, or an update that arrived."""
    copies: list[Update]
    """The updates that were sent on the link for the change, from its step on."""


@cache_per_view
def find_due_changes(view: PeerView) -> list[DueUpdate]:
    """The changes of the peer's application, for each link on which the other end sent a request."""
    out = []
    for change in view.changes if view.writes else ():
        version = change.shown.version if change.shown is not None else None
        for link in _find_subscribed_links(view, change.step):
            later = (u for u in _possible_copies(link, change) if u.step.index >= change.step.index)
            copies = [u for u in later if _is_in_time(view, link, change.step, u) and _is_copy(view, change, u, link)]
            if copies or (
                not (change.shown is not None and _was_sent_by_other_end(view, link, change.step, version))
                and not _may_be_named_as_known(view, link, change)
                and _find_due_step(view, change, link) is not None
            ):
                out.append(DueUpdate(link, change, copies))
    return out


@cache_per_view
def find_due_relays(view: PeerView) -> list[DueUpdate]:
    """The updates that were new to the peer, for each link with a request, except links of their senders."""
    out = []
    for arrival in view.arrivals:
        uuid, version = str(arrival.update.uuid), arrival.update.version
        for link in _find_other_subscribers(view, arrival) if arrival.due else ():
            later = (u for u in link.sent if u.step.index >= arrival.step.index)
            copies = [u for u in later if _is_in_time(view, link, arrival.step, u) and u.version == version]
            due = view.due(arrival.step, link)
            if copies or (
                due is not None
                and not _was_sent_by_other_end(view, link, arrival.step, version)
                and not _may_be_named_as_known(view, link, arrival)
                and version not in view.unaccepted
                and view.has(uuid, version, due)
            ):
                out.append(DueUpdate(link, arrival, copies))
    return [*out, *_find_due_winners(view)]


def _possible_copies(link: LinkView, change: Change) -> list[Update]:
    """The updates on a link that may have been sent for a change, in order."""
    if not change.step.uuid:
        return link.sent
    version = change.shown.version if change.shown is not None else None
    uuids = {change.step.uuid, None, version[0] if version is not None else None}
    places = sorted(place for uuid in uuids for place in link.places_by_uuid.get(uuid, ()))
    return [link.sent[place] for place in places]


def _is_copy(view: PeerView, change: Change, update: Update, link: LinkView) -> bool:
    """Was an update on a link sent for a change?

    Another version with the same content belongs to a later change, unless it was sent before this change was due.
    """
    if change.shown is None or update.version == change.shown.version or update.by != view.peer_id:
        return change.is_shown_by(update)
    due = view.due(change.step, link)
    return change.is_in(update) and (due is None or update.step.index <= due.index)


def _may_be_named_as_known(view: PeerView, link: LinkView, source: Change | Arrival) -> bool:
    """Did the last request of the other end name a change as known, with no quiet step since? The peer may still have
    to answer this request, and then leaves the change out. A change of the application may have any revision.
    """
    by, rev = (source.update.by, source.update.rev or 0) if isinstance(source, Arrival) else (view.peer_id, 1)
    last = [request for request in link.requests if request.step.index < source.step.index][-1]
    return (last.since or {}).get(str(by), 0) >= rev and view.quiet_before(source.step) < last.step.index


def _is_in_time(view: PeerView, link: LinkView, cause: Step, update: Update) -> bool:
    """Was an update sent before the step at which it was due, or later without a new request in between?"""
    due = view.due(cause, link)
    return due is None or not any(due.index <= r.step.index <= update.step.index for r in link.requests)


def _find_due_winners(view: PeerView) -> Iterator[DueUpdate]:
    """Yield the versions that won or resolved a conflict, for each link with a request. The time counts from the step
    in which the peer first shows the version.
    """
    won: list[Fate | Contest] = []
    for fate in find_fates(view):
        meeting = fate.meeting
        if meeting.arrival.outcome == "conflict" and fate.survivor is meeting.incoming and not meeting.alike:
            won.append(fate)
    won += [contest for contest in find_contests(view) if contest.key_holder is contest.meeting.incoming]
    for each in won:
        arrival, update = each.meeting.arrival, each.meeting.incoming
        for link in _find_other_subscribers(view, arrival):
            if not _was_sent_by_other_end(view, link, arrival.step, update.version):
                copies = [u for u in link.sent if u.step.index >= arrival.step.index and u.uuid == update.uuid]
                if copies or view.due(each.shown.step, link) is not None:
                    yield DueUpdate(link, arrival, copies)


def _was_sent_by_other_end(view: PeerView, link: LinkView, step: Step, version: VersionId | None) -> bool:
    """Did the other end send a version on a link before it was due there? A peer need not send a version back to its
    sender.
    """
    due = view.due(step, link)
    last = due.index if due is not None else link.ended
    return any(
        update.version == version and update.step.index <= last
        for other in view.links
        if other.peer_id == link.peer_id
        for update in other.received
    )


class RequestAnswer:
    """An answer to a request: the updates that certainly belong to it, and those that were sent."""

    def __init__(self, view: PeerView, link: LinkView, request: Request) -> None:
        self.link, self.request = link, request
        since, step = request.since or {}, request.step
        self.due = due = view.due(step, link)
        """The step by which the answer must be complete; None if the trace does not show it."""
        last = due.index if due is not None else link.ended
        # An update that arrived with the request may have been processed after it.
        held = [held for _, held in view.known.all_at(step.index) if held.step is not step]
        there = [each.update for each in held if each.update is not None]
        # If a forbidden version overwrote another version, only the forbidden version is reported.
        gone = {version[0] for version in view.leaked_versions if version is not None}
        there = [u for u in there if u.version not in view.unaccepted and u.version is not None and u.uuid not in gone]
        new = [update for update in there if (update.rev or 0) > since.get(str(update.by), 0)]
        stale = {update.version for update in there} - {update.version for update in new}
        # A version that is overwritten before the answer is complete need not be sent.
        self.expected = [u for u in new if due is None or view.has(str(u.uuid), u.version, due)]
        """The versions that the peer had and the client lacked."""
        wanted = {update.version for update in self.expected}
        later = [update for update in link.sent if step.index <= update.step.index <= last]
        copies = grouped((update for update in later if update.version in wanted), lambda update: update.version)
        self.delivered = [first for first, *_ in copies.values()]
        """The first update sent after the request for each expected version, in order."""
        sent = {update.version for update in link.sent if update.step.index <= last}
        self.missing = [update for update in self.expected if due is not None and update.version not in sent]
        """The expected versions that were never sent on the link."""
        # Changes since the last quiet step may be sent without a request.
        quiet = view.quiet_before(step)
        again = {a.update.version for a in view.arrivals if quiet < a.step.index <= last}
        again |= {c.shown.version for c in view.changes if c.shown is not None and quiet < c.step.index <= last}
        self.known = [update for update in later if update.version in stale - again]
        """The sent updates with versions that the client named as known."""
        self.unsent = (
            list(_find_unsent_changes(view, link, request)) if due is not None and view.peer_id not in since else []
        )
        """Changes of the peer's application that the client cannot know and that were never sent to any peer."""
        self.is_silent = not later
        """Was nothing sent on the link after the request?"""
        self.lacks_everything = bool(self.expected) and len(self.missing) == len(self.expected)
        """Were versions expected, and was none of them sent?"""


@cache_per_view
def find_answers(view: PeerView) -> list[RequestAnswer]:
    """The answers to all requests."""
    return [
        RequestAnswer(view, link, request)
        for link in view.links
        for request in link.requests
        if request.since is not None
    ]


@cache_per_view
def find_incomplete_answers(view: PeerView) -> list[tuple[Shown, LinkView, list[RecordVersion]]]:
    """(Observed state, link, records that the answer on the link lacks) for each request for everything that was
    answered shortly before or after the peer was observed. Requests are left out if a record changed between
    the observation and the answer.
    """
    out = []
    for observed, _, link in _find_neighbouring_states(view):
        answered = {(update.uuid, update.deleted) for update in link.sent}
        there = [seen for seen in observed.records.values() if not seen.deleted and is_id(seen.uuid)]
        out.append((observed, link, [seen for seen in there if (seen.uuid, False) not in answered]))
    return out


class SentHolder(NamedTuple):
    """The latest record among those that a peer sends under one key, and what the application sees under the key."""

    shown: Shown
    """The observed state."""
    link: LinkView
    """The link on which everything was requested shortly before or after."""
    latest: RecordVersion
    """The sent record with the largest update_time."""
    seen: tuple[RecordVersion, ...]
    """The observed records with the key that are not deleted."""


@cache_per_view
def find_sent_holders(view: PeerView) -> list[SentHolder]:
    """The keys that several records had, in each observed state with an answer to a request for everything.

    No record changes between the state and the answer. A peer that receives the answer sees the latest record under the
    key, so the application of the sender sees it as well, or the peers disagree for ever (CA-8).
    """
    out = []
    for observed, asked, link in _find_neighbouring_states(view):
        versions = grouped(link.sent, lambda update: update.uuid)
        if None in versions:
            continue  # the answer has a record without a valid uuid, which CSDB-08 judges
        for key in {seen.key for seen in asked.records.values() if seen.key is not None}:
            if len(uuids_with_key(view, key)) < 2:
                continue
            live = [seen for seen in asked.records.values() if seen.key == key and not seen.deleted]
            known = all(
                seen.time is not None and all(u.key == key and not u.deleted for u in versions[seen.uuid])
                for seen in live
            )
            seconds = sorted((seen.time.seconds for seen in live if seen.time is not None), reverse=True)
            if not live or not known or seconds[:1] == seconds[1:2]:
                continue  # an answer can contain former versions, and a tie may be decided in either way (CA-9)
            latest = next(seen for seen in live if seen.time is not None and seen.time.seconds == seconds[0])
            here = observed.records.get(str(latest.uuid))
            if here is None or here.deleted or here.key == key:
                same = (seen for seen in observed.records.values() if seen.key == key and not seen.deleted)
                out.append(SentHolder(observed, link, latest, tuple(same)))
    return out


@cache_per_view
def find_withheld_records(view: PeerView) -> list[tuple[Shown, LinkView, RecordVersion, bool]]:
    """(State, link, record, was the record there before the request?) for each shown record of another peer whose key
    another record had, and each link on which updates were requested and the record was never sent.

    A peer may drop a record that loses its key (CA-8), but if its application sees the record later, the peers that
    requested updates must see it as well.
    """
    out = []
    first: dict[VersionId | None, Arrival] = {}
    for arrival in view.arrivals:
        first.setdefault(arrival.update.version, arrival)
    arrived = [arrival.step.index for arrival in view.arrivals]
    for shown in view.shown_states:
        if shown.on_the_wire or bisect_left(arrived, shown.as_of.index) < bisect_left(arrived, shown.step.index):
            continue
        for seen in shown.records.values():
            came = first.get(seen.version)
            if seen.deleted or came is None or came.excuse or len(uuids_with_key(view, seen.key)) < 2:
                continue
            for link in _find_subscribed_links(view, shown.as_of):
                asked = link.requests[0].step
                due = view.due(max(asked, came.step, key=lambda step: step.index), link)
                if due is not None and due.index <= shown.as_of.index and not _may_have(view, link, seen, shown.step):
                    out.append((shown, link, seen, came.step.index < asked.index))
    return out


def _may_have(view: PeerView, link: LinkView, seen: RecordVersion, step: Step) -> bool:
    """May the other end of a link have a version, because it was sent on a link, or because the other end named it?"""
    links = [other for other in view.links if other.peer_id == link.peer_id]
    if seen.by == link.peer_id or any(other.in_doubt(step) for other in links):
        return True
    named = (request.since or {} for other in links for request in other.requests)
    if any(since.get(str(seen.by), 0) >= (seen.rev or 0) for since in named):
        return True
    return any(
        update.version == seen.version or (update.uuid == seen.uuid and same_content(update.content, seen.content))
        for other in links
        for update in (*other.sent, *other.received)
    )


def _find_neighbouring_states(view: PeerView) -> Iterator[tuple[Shown, Shown, LinkView]]:
    """Yield observed states, each with the answer to a request for everything shortly before or after, and its link. No
    record changes between the two.
    """
    for one, other in pairwise(view.shown_states):
        if one.on_the_wire is other.on_the_wire:
            continue
        observed, asked = (other, one) if one.on_the_wire else (one, other)
        link = asked.link
        window = range(min(one.as_of.index, one.asked.index), other.step.index + 1)
        changed = any(c.step.index in window for c in view.changes)
        came = any(a.step.index in window for a in view.arrivals)
        if link is not None and not changed and not came and view.due(asked.asked, link) is not None:
            yield observed, asked, link


def _find_unsent_changes(view: PeerView, link: LinkView, request: Request) -> Iterator[Change]:
    for change in view.changes if view.writes else ():
        if change.kind != "put" or change.shown is not None or change.step.index >= request.step.index:
            continue
        # Skip changes that other checks judge (the peer confused two records), and content that was sent already.
        one = any(c.uuid == change.step.uuid != "" and c.key != change.key for c in view.changes)
        if one or any(map(change.is_in, view.sent)) or view.in_conflict(request.step):
            continue
        if view.known.same_era(change.step.index, request.step.index) and _find_due_step(
            view, change, link, request.step
        ):
            yield change


def _find_subscribed_links(view: PeerView, step: Step) -> Iterator[LinkView]:
    """Yield the links that are open in a step, if the other end sent a request before this step."""
    for link in view.links:
        if link.subscribed_at is not None and link.subscribed_at < step.index and link.is_open_in(step):
            yield link


def _has_no_effect(view: PeerView, change: Change) -> bool:
    """Is a change without effect on other peers? It writes equal content, or deletes a record that was never sent."""
    updates = [u for u in (*view.sent, *view.received) if u.step.index < change.step.index and u.key == change.key]
    if change.kind == "delete":
        return all(_is_under_another_key(view, update, change.step) for update in updates)
    if change.kind != "put":
        return False
    last = max(updates, key=lambda update: update.step.index, default=None)
    if last is not None and not last.deleted and equal(last.value, change.value):
        return True
    before = [c for c in view.changes if c.step.index < change.step.index and change.key in (c.key, c.old_key)]
    return bool(before) and before[-1].kind == "put" and equal(before[-1].value, change.value)


def _is_under_another_key(view: PeerView, update: Update, by: Step) -> bool:
    """Was the record of an update renamed or deleted before the step ``by``? Then a deletion of the update's key may
    leave the record as it is.
    """
    updates = (u for u in (*view.sent, *view.received) if u.step.index < by.index and u.uuid == update.uuid)
    return any(other.deleted or other.key != update.key for other in updates)


def _find_other_subscribers(view: PeerView, arrival: Arrival) -> Iterator[LinkView]:
    """The links of `_find_subscribed_links` to other peers than the sender of an update."""
    source = view.link_of(arrival.update).peer_id
    return (link for link in _find_subscribed_links(view, arrival.step) if link.peer_id != source)


def _find_due_step(view: PeerView, change: Change, link: LinkView, since: Step | None = None) -> Step | None:
    """The step by which a change must be sent on a link, unless a newer version exists by then.

    The time counts from the change, or from ``since``, the step of a request.
    """
    due = view.due(since or change.step, link)
    if due is None:
        return None
    if change.shown is not None and change.uuid:
        return due if view.has(change.uuid, change.shown.version, due) else None
    if _has_no_effect(view, change):
        return None
    keys, window = {change.key, change.old_key}, range(change.step.index + 1, due.index + 1)
    again = any(other.step.index in window and {other.key, other.old_key} & keys for other in view.changes)
    arrived = any(a.step.index in window and not a.prohibition and a.update.key in keys for a in view.arrivals)
    return None if again or arrived else due


# ---- Requests --------------------------------------------------------------------------------------------------------


class RevisionBounds:
    """One request, with the revisions of other peers that were known when it was sent."""

    def __init__(self, view: PeerView, request: Request) -> None:
        self.step = request.step
        self.since = request.since or {}
        link = view.link_of(request)
        # A peer may build a request when the link begins, and send it later.
        formed = link.began if request is link.asked[0] else request.step.index
        self.at_least = _find_least_revisions(view, formed)
        """By other peer: the highest revision in the records that this peer certainly has (CA-11)."""
        came = [a.update for a in view.arrivals if a.step.index <= request.step.index]
        self.at_most = _find_highest_revisions(came)
        """By peer: the highest revision that ever arrived, also in forbidden updates, which CSDB-03, CSDB-06 and
        CSDB-16 judge.
        """
        refused = find_refused_updates(view)
        self.without_refused = _find_highest_revisions(update for update in came if id(update) not in refused)
        """As ``at_most``, without the malformed updates that the peer refused."""


@cache_per_view
def find_revision_bounds(view: PeerView) -> list[RevisionBounds]:
    """All readable requests of a peer, without requests that repeat the preceding request."""
    return [RevisionBounds(view, each) for each in view.asked if each.since is not None and not each.message.repeated]


@cache_per_view
def find_refused_updates(view: PeerView) -> set[int]:
    """The ids (``id``) of the malformed updates that the peer certainly refused: no later state or message has them.

    A peer may accept a malformed update. The state proves nothing if something else changed the record or the key
    before the next shown state, if the peer had the record or another one with its key, which may hide it (CA-8), or if
    the update is a deletion, which some implementations cannot show.
    """
    versions = {(seen.by, seen.rev) for shown in view.shown_states for seen in shown.records.values()}
    versions |= {(update.by, update.rev) for update in view.sent}
    arrivals, changes = view.arrivals, view.changes
    states = sorted(view.shown_states, key=lambda state: state.as_of.index)
    arrived, changed = ([each.step.index for each in items] for items in (arrivals, changes))
    shown = [state.as_of.index for state in states]
    out = set()
    for arrival in arrivals:
        update, index = arrival.update, arrival.step.index
        nearest = bisect_right(shown, index)
        if not update.fault or arrival.prohibition or (update.by, update.rev) in versions or nearest == len(states):
            continue
        if arrival.held is not None or update.deleted or uuids_with_key(view, update.key) - {update.uuid}:
            continue
        last = states[nearest].step.index
        came = (a.update for a in arrivals[bisect_right(arrived, index) : bisect_right(arrived, last)])
        made = changes[bisect_right(changed, index) : bisect_right(changed, last)]
        if not any(update.uuid == other.uuid or update.key == other.key for other in came) and not any(
            update.uuid == change.uuid or update.key in (change.key, change.old_key) for change in made
        ):
            out.add(id(update))
    return out


def _find_highest_revisions(updates: Iterable[Update]) -> dict[str, int]:
    """By writer: the highest revision in its updates."""
    out: dict[str, int] = {}
    for update in updates:
        if update.by is not None:
            out[update.by] = max(update.rev or 0, out.get(update.by, 0))
    return out


def _find_least_revisions(view: PeerView, index: int) -> dict[str, int]:
    """By other peer: the highest revision in the records that this peer had at its last quiet step and still has. Later
    updates do not count, because the peer may not have processed them yet.
    """
    quiet = max((step for step in view.quiet if step < index), default=0)
    # The peer may have closed a link instead of accepting an update.
    closed = {link.ended for link in view.links if link.connection.closed_by_peer}
    known = (held for _, held in view.known.all_at(index - 1) if held.step.index <= quiet)
    there = [held.update for held in known if held.update is not None and held.step.index not in closed]
    most = MAX_INTEGER if view.can(pb.CAPABILITY_WIDE_INTEGERS) else SAFE_INTEGER
    sure = (u for u in there if u.version not in view.unaccepted and u.by != view.peer_id and 0 < (u.rev or 0) <= most)
    return _find_highest_revisions(sure)


# ---- Copies of versions of others ------------------------------------------------------------------------------------


class VersionCopy(NamedTuple):
    """A copy of another peer's version.

    Versions that were in conflict are left out, because their resolution may have other content under the same revision
    (CA-8). Versions that may be refused are left out as well, because the peer may read them in another way.
    """

    step: Step
    seen: RecordVersion
    arrival: Arrival
    """The arrival of the original with the same content, if there is one."""
    signalled: bool
    """Was the copy signalled to the application, not sent?"""

    @property
    def original(self) -> Update:
        return self.arrival.update


@cache_per_view
def find_copies(view: PeerView) -> list[VersionCopy]:
    """All copies: the sent ones, then those in Changed events."""
    events = [(step, parse_record(event.record), True) for step in view.steps for event in step.signals("changed")]
    seen: list[tuple[Step, RecordVersion, bool]] = [*((update.step, update, False) for update in view.sent), *events]
    return [
        VersionCopy(step, copy, arrival, signalled)
        for step, copy, signalled in seen
        if copy.by != view.peer_id and (arrival := _find_original(view, copy, step)) is not None
    ]


def _find_original(view: PeerView, copy: RecordVersion, step: Step) -> Arrival | None:
    """The original that arrived before a step; None if there is none, or if it was in conflict."""
    came = [arrival for arrival in _arrivals_by_version(view).get(copy.version, ()) if arrival.step.index <= step.index]
    if not came or copy.uuid in view.contested(step):
        return None
    return next((each for each in came if same_content(each.update.content, copy.content)), came[-1])


@cache_per_view
def _arrivals_by_version(view: PeerView) -> dict[VersionId | None, list[Arrival]]:
    taken = (a for a in view.arrivals if a.update.version is not None and not (a.prohibition or a.excuse))
    return grouped(taken, lambda arrival: arrival.update.version)


def find_repeated_version(view: PeerView, update: Update) -> Update | None:
    """The version of another peer whose content an update repeats under another version; None if there is none."""
    if view.in_conflict(update.step):
        return None
    before = view.known.at(str(update.uuid), update.step.index - 1)
    came = [a.update for a in view.arrivals if a.update.uuid == update.uuid and a.step.index <= update.step.index]
    known = before.update if before is not None else None
    for other in [*reversed(came), *([known] if known is not None else [])]:
        same = other.key == update.key and other.deleted == update.deleted and equal(other.value, update.value)
        if same and other.by != update.by:
            return other
    return None

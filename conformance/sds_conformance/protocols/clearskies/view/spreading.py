"""Updates that a peer owes to others, its requests, and its copies of versions of others.

Its changes and those of others are owed to all who have asked, and answers to those who ask, until the peer is quiet.
A version that has been overwritten by then need not be sent.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import pairwise

from clearskies_proto.testee.v1 import testee_pb2 as pb
from clearskies_reference.vector_clock import MAX_INTEGER, is_id
from sds_harness.clearskies.trace import Step

from ....judging.once import once
from .facts import Change, LinkView, Request, Seen, Shown, Update, Version, equal, grouped, of_record, same_content
from .knowledge import SAFE_INTEGER, Arrival
from .meetings import INCOMING, fates
from .peer_view import PeerView

# ---- Changes that are owed, and answers ------------------------------------------------------------------------------


class Owed:
    """One change that is owed on one link: of the peer's own application, or an update that came."""

    __slots__ = ("arrival", "cause", "change", "copies", "link", "settled")

    def __init__(self, link: LinkView, source: Change | Arrival, copies: list[Update], due: Step | None) -> None:
        """``due`` is where it is seen that nothing came; None where something did, or where nothing tells."""
        self.link, self.cause = link, source.step
        self.change = source if isinstance(source, Change) else None
        self.arrival = source if isinstance(source, Arrival) else None
        self.copies = copies
        """Those that were sent on the link from then on."""
        self.settled = bool(copies) or due is not None
        """Is it known what became of it?"""


@once
def changes_owed(view: PeerView) -> list[Owed]:
    """The changes of its application, for each link whose other end had asked."""
    out = []
    for change in view.changes if view.writes else ():
        for link in _subscribed(view, change.step):
            later = (u for u in link.sent if u.step.index >= change.step.index and _in_time(view, link, change.step, u))
            copies = [update for update in later if _is_copy(view, change, update, link)]
            told = change.shown is not None and _said_meanwhile(view, link, change.step, change.shown.version)
            due = None if copies or told or _may_be_known(view, change, link) else _due(view, change, link)
            out.append(Owed(link, change, copies, due))
    return out


@once
def relays_owed(view: PeerView) -> list[Owed]:
    """What it was told that it did not know, for each link whose other end had asked but that of who told it."""
    out = []
    for arrival in view.arrivals:
        if not arrival.due:
            continue
        source = view.link_of(arrival.update).peer_id
        version = arrival.update.version
        for link in _subscribed(view, arrival.step):
            if link.peer_id != source:
                later = (u for u in link.sent if u.step.index >= arrival.step.index)
                later = (u for u in later if _in_time(view, link, arrival.step, u))
                copies = [update for update in later if update.version == version]
                told = not copies and _said_meanwhile(view, link, arrival.step, version)
                known = _was_named(view, link, arrival)
                due = None if copies or told or known else view.due(arrival.step, link)
                if due is not None and (
                    version in view.untaken or not view.has(str(arrival.update.uuid), version, due)
                ):
                    due = None
                out.append(Owed(link, arrival, copies, due))
    return [*out, *_winners_owed(view)]


def _is_copy(view: PeerView, change: Change, update: Update, link: LinkView) -> bool:
    """Is an update on a link a copy of a change? Another version with its content is that of a later change, unless it
    was sent before this one was due."""
    if change.shown is None or update.version == change.shown.version or update.by != view.peer_id:
        return change.is_shown_by(update)
    due = view.due(change.step, link)
    return change.is_in(update) and (due is None or update.step.index <= due.index)


def _was_named(view: PeerView, link: LinkView, arrival: Arrival) -> bool:
    """Did the other end say that it knows an update, in a request that perhaps was answered after that had come?"""
    last = [request for request in link.requests if request.step.index < arrival.step.index][-1]
    named = (last.since or {}).get(str(arrival.update.by), 0) >= (arrival.update.rev or 0)
    return named and view.quiet_before(arrival.step) < last.step.index


def _in_time(view: PeerView, link: LinkView, cause: Step, update: Update) -> bool:
    """Was an update sent before it was due, or at least without having been asked for once more since then?"""
    due = view.due(cause, link)
    return due is None or not any(due.index <= r.step.index <= update.step.index for r in link.requests)


def _winners_owed(view: PeerView) -> Iterator[Owed]:
    """What came and won a conflict, as it came or as what was made of it: once the peer shows that, it has it, and has
    not had it before."""
    for fate in fates(view):
        arrival = fate.meeting.arrival
        if arrival.outcome != "conflict" or fate.left != INCOMING or fate.meeting.alike:
            continue
        source = view.link_of(arrival.update).peer_id
        for link in _subscribed(view, arrival.step):
            if link.peer_id != source and not _said_meanwhile(view, link, arrival.step, arrival.update.version):
                later = (update for update in link.sent if update.step.index >= arrival.step.index)
                copies = [update for update in later if update.uuid == arrival.update.uuid]
                due = None if copies else view.due(fate.shown.step, link)
                yield Owed(link, arrival, copies, due)


def _said_meanwhile(view: PeerView, link: LinkView, step: Step, version: Version | None) -> bool:
    """Did the other end of a link send a version before it was due there, since that came about in a step? It need not
    be told what it said."""
    due = view.due(step, link)
    last = due.index if due is not None else link.ended
    return any(
        update.version == version and update.step.index <= last
        for other in view.links
        if other.peer_id == link.peer_id
        for update in other.received
    )


class Answer:
    """An answer to a request: the updates that surely belong in it, and those that came."""

    def __init__(self, view: PeerView, link: LinkView, request: Request) -> None:
        self.link, self.request = link, request
        since, step = request.since or {}, request.step
        self.due = due = view.due(step, link)
        """The step by which the answer must be whole; None if nothing tells."""
        last = due.index if due is not None else link.ended
        # An update that came with the request may have come behind it.
        held = [held for _, held in view.known.all_at(step.index) if held.step is not step]
        there = [each.update for each in held if each.update is not None]
        # A version that was overwritten by a forbidden one is gone: that is reported once.
        gone = {version[0] for version in view.leaked if version is not None}
        there = [u for u in there if u.version not in view.untaken and u.version is not None and u.uuid not in gone]
        new = [update for update in there if (update.rev or 0) > since.get(str(update.by), 0)]
        stale = {update.version for update in there} - {update.version for update in new}
        # A version that is overwritten before the answer is whole need not be in it.
        self.expected = [u for u in new if due is None or view.has(str(u.uuid), u.version, due)]
        """The versions that the peer had and the client had not."""
        wanted = {update.version for update in self.expected}
        later = [update for update in link.sent if step.index <= update.step.index <= last]
        self.given = list(_first(update for update in later if update.version in wanted))
        """The first copy of each of these that was sent after the request, in order."""
        sent = {update.version for update in link.sent if update.step.index <= last}
        self.missing = [update for update in self.expected if due is not None and update.version not in sent]
        """Those that never were sent on the link."""
        # Changes since the peer was quiet may be on their way without having been asked for.
        quiet = view.quiet_before(step)
        again = {a.update.version for a in view.arrivals if quiet < a.step.index <= last}
        again |= {c.shown.version for c in view.changes if c.shown is not None and quiet < c.step.index <= last}
        self.known = [update for update in later if update.version in stale - again]
        """Copies of versions that the client said to have."""
        self.unsent = list(_unsent(view, link, request)) if due is not None and view.peer_id not in since else []
        """Changes of its application that the client cannot know, and that never were sent to any peer."""
        self.silent = not later
        """Nothing at all came."""
        self.nothing_came = bool(self.expected) and len(self.missing) == len(self.expected)
        """Nothing of the expected versions came."""

    def has(self, update: Update) -> bool:
        """Is an update part of it?"""
        return update.step is self.request.step or any(update is given for given in self.given)

    def names(self, update: Update) -> bool:
        """Does the request name the peer that wrote it?"""
        return update.by in (self.request.since or {})


@once
def answers(view: PeerView) -> list[Answer]:
    """The answers to all requests."""
    return [
        Answer(view, link, request) for link in view.links for request in link.requests if request.since is not None
    ]


@once
def untold(view: PeerView) -> list[tuple[Shown, LinkView, list[Seen]]]:
    """What a peer showed when it was observed, the link of who asked for everything before or after that, with nothing
    between the two that changes a record, and what is there and was not told on it."""
    out = []
    for one, other in pairwise(view.shown):
        if one.on_the_wire is other.on_the_wire:
            continue
        observed, asked = (other, one) if one.on_the_wire else (one, other)
        link = asked.link
        window = range(min(one.as_of.index, one.asked.index), other.step.index + 1)
        changed = any(c.step.index in window for c in view.changes)
        came = any(a.step.index in window for a in view.arrivals)
        if link is None or changed or came or view.due(asked.asked, link) is None:
            continue
        told = {(update.uuid, update.deleted) for update in link.sent}
        there = [seen for seen in observed.records.values() if not seen.deleted and is_id(seen.uuid)]
        out.append((observed, link, [seen for seen in there if (seen.uuid, False) not in told]))
    return out


def _unsent(view: PeerView, link: LinkView, request: Request) -> Iterator[Change]:
    for change in view.changes if view.writes else ():
        before = change.kind == "put" and change.shown is None and change.step.index < request.step.index
        # Who takes two records for one is told of that; who writes what is there already need not change anything.
        one = any(c.uuid == change.step.uuid != "" and c.key != change.key for c in view.changes)
        if not before or one or any(map(change.is_in, view.sent)) or view.in_conflict(request.step):
            continue
        if view.known.same_era(change.step.index, request.step.index) and _due(view, change, link, request.step):
            yield change


def _first(updates: Iterable[Update]) -> Iterator[Update]:
    seen: set[Version | None] = set()
    for update in updates:
        if update.version not in seen:
            seen.add(update.version)
            yield update


def _subscribed(view: PeerView, step: Step) -> Iterator[LinkView]:
    """The links whose other end had asked before a step, and that were there then."""
    for link in view.links:
        if link.subscribed is not None and link.subscribed < step.index and link.there(step):
            yield link


def _may_be_known(view: PeerView, change: Change, link: LinkView) -> bool:
    """Does a request for what follows some revision of the peer's own, which it may have looked at after a change,
    perhaps say that the change is known?"""
    last = [request for request in link.requests if request.step.index < change.step.index][-1]
    if not (last.since or {}).get(view.peer_id):
        return False
    return not any(last.step.index < index < change.step.index for index in view.quiet)


def _need_not_be_told(view: PeerView, change: Change) -> bool:
    """Does a change change nothing for anybody: is it a write of what was there, or the deletion of what nobody had
    heard of?"""
    heard = [u for u in (*view.sent, *view.received) if u.step.index < change.step.index and u.key == change.key]
    if change.kind == "delete":
        return all(_is_under_another_key(view, update, change.step) for update in heard)
    last = max(heard, key=lambda update: update.step.index, default=None)
    same = last is not None and not last.deleted and equal(last.value, change.value)
    before = [c for c in view.changes if c.step.index < change.step.index and change.key in (c.key, c.old_key)]
    return change.kind == "put" and (same or (bool(before) and before[-1].says_the_same(change)))


def _is_under_another_key(view: PeerView, update: Update, by: Step) -> bool:
    """Was the record of an update, which a step deletes by its key, renamed or deleted before, as far as one knows?"""
    heard = (u for u in (*view.sent, *view.received) if u.step.index < by.index and u.uuid == update.uuid)
    return any(other.deleted or other.key != update.key for other in heard)


def _due(view: PeerView, change: Change, link: LinkView, since: Step | None = None) -> Step | None:
    """When a change must have been sent, if who listens has asked ``since`` then, unless something newer came about
    before."""
    due = view.due(since or change.step, link)
    if due is None:
        return None
    if change.shown is not None and change.uuid:
        return due if view.has(change.uuid, change.shown.version, due) else None
    if _need_not_be_told(view, change):
        return None
    keys, window = {change.key, change.old_key}, range(change.step.index + 1, due.index + 1)
    again = any(other.step.index in window and {other.key, other.old_key} & keys for other in view.changes)
    came = any(a.step.index in window and not a.must_not and a.update.key in keys for a in view.arrivals)
    return None if again or came else due


# ---- Requests --------------------------------------------------------------------------------------------------------


class Asking:
    """One request, with the revisions of each other peer that were known then."""

    def __init__(self, view: PeerView, request: Request) -> None:
        self.step = request.step
        self.since = request.since or {}
        link = view.link_of(request)
        # A request may have been formed when the link began, although it was sent later.
        formed = link.began if request is link.asked[0] else request.step.index
        self.at_least = _least(view, formed)
        """The result of a scan of all records that surely are there (CA-11)."""
        came = (a.update for a in view.arrivals if a.step.index <= request.step.index)
        self.at_most = _highest(came)
        """The highest revision that ever came. Of forbidden updates it is CSDB-03, CSDB-06 and CSDB-16."""


@once
def askings(view: PeerView) -> list[Asking]:
    """All requests of a peer that can be read, without repetitions of the one before."""
    return [Asking(view, each) for each in view.asked if each.since is not None and not each.message.repeated]


def _highest(updates: Iterable[Update]) -> dict[str, int]:
    """The highest revision of each peer."""
    out: dict[str, int] = {}
    for update in updates:
        if update.by is not None:
            out[update.by] = max(update.rev or 0, out.get(update.by, 0))
    return out


def _least(view: PeerView, index: int) -> dict[str, int]:
    """The highest revisions of what was there when the peer was quiet last, and still is: it may be slow to process."""
    quiet = max((step for step in view.quiet if step < index), default=0)
    # It may have closed a link in place of taking an update.
    closed = {link.ended for link in view.links if link.connection.closed_by_peer}
    known = (held for _, held in view.known.all_at(index - 1) if held.step.index <= quiet)
    there = [held.update for held in known if held.update is not None and held.step.index not in closed]
    most = MAX_INTEGER if view.can(pb.CAPABILITY_WIDE_INTEGERS) else SAFE_INTEGER
    sure = (u for u in there if u.version not in view.untaken and u.by != view.peer_id and 0 < (u.rev or 0) <= most)
    return _highest(sure)


# ---- Copies of versions of others ------------------------------------------------------------------------------------


class Copy:
    """A version of another peer, as a peer repeats it.

    Versions that were in conflict are left out: their outcome may say something else under the same revision (CA-8). So
    are those that may be refused, which the peer may read in another way.
    """

    __slots__ = ("arrival", "original", "seen", "signalled", "step")

    def __init__(self, step: Step, seen: Seen, arrival: Arrival, *, signalled: bool) -> None:
        """``arrival`` is one with the same content, if any is. A copy is sent, or ``signalled`` to the application."""
        self.step, self.seen, self.signalled = step, seen, signalled
        self.arrival, self.original = arrival, arrival.update


@once
def copies(view: PeerView) -> list[Copy]:
    """All copies: those that were sent, then those in Changed events."""
    events = [(step, of_record(event.record), True) for step in view.steps for event in step.signals("changed")]
    seen: list[tuple[Step, Seen, bool]] = [*((update.step, update, False) for update in view.sent), *events]
    return [
        Copy(step, copy, arrival, signalled=signalled)
        for step, copy, signalled in seen
        if copy.by != view.peer_id and (arrival := _original(view, copy, step)) is not None
    ]


def _original(view: PeerView, copy: Seen, step: Step) -> Arrival | None:
    """The original that came until a step; None if there is none, or if it was in conflict."""
    came = [arrival for arrival in _received_as(view).get(copy.version, ()) if arrival.step.index <= step.index]
    if not came or copy.uuid in view.contested(step):
        return None
    return next((each for each in came if same_content(each.update.content, copy.content)), came[-1])


@once
def _received_as(view: PeerView) -> dict[Version | None, list[Arrival]]:
    taken = (a for a in view.arrivals if a.update.version is not None and not (a.must_not or a.may_not))
    return grouped(taken, lambda arrival: arrival.update.version)


def repeated(view: PeerView, update: Update) -> Update | None:
    """The version of another peer that an update repeats under another name; None if there is none."""
    before = view.known.at(str(update.uuid), update.step.index - 1)
    came = [a.update for a in view.arrivals if a.update.uuid == update.uuid and a.step.index <= update.step.index]
    known = before.update if before is not None else None
    for other in [*reversed(came), *([known] if known is not None else [])]:
        same = other.key == update.key and other.deleted == update.deleted and equal(other.value, update.value)
        if same and other.by != update.by and not view.in_conflict(update.step):
            return other
    return None

"""Finds the option of each position that a peer takes: what it sends, requests and shows.

Each function yields the steps that prove an option; its docstring says what the proof is.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from sds_harness.clearskies.clubs import READ_ONLY
from sds_harness.clearskies.trace import Step

from .register import shows
from .view.peer_view import PeerView
from .view.replication import find_revision_bounds


@shows("CA-1", of="changes links")
def updates_sent_before_requests(view: PeerView) -> Iterator[tuple[Step, str]]:
    """A change is made while the other end of a link has requested nothing: the change is sent on that link, or not."""
    for change in view.changes:
        for link in view.links:
            if not link.is_open_in(change.step) or (link.subscribed_at or change.step.index) < change.step.index:
                continue
            until = link.subscribed_at or link.readable_until
            copies = (update for update in link.sent if change.step.index <= update.step.index < until)
            if (copy := next((update for update in copies if change.is_shown_by(update)), None)) is not None:
                yield copy.step, "unasked"
                return
            due = view.due(change.step, link)
            if due is not None and due.index < until:
                yield due, "asked"
                return


@shows("CA-2", of="writes links-to-readers received")
def updates_relayed_to_readers(view: PeerView) -> Iterator[tuple[Step, str]]:
    """A signed update with an unknown member is relayed to a read-only peer: its bytes are the same, or differ."""
    signed = (arrival.update for arrival in view.arrivals if arrival.update.message.signature is not None)
    came = {update.version: update.message.body.raw for update in signed}
    for link in view.links:
        for update in link.sent if link.level is READ_ONLY else ():
            body = came.get(update.version)
            unchanged = update.message.body.raw == body
            if body is not None and (b'"x-written-by"' in body or not unchanged):
                yield update.step, "repeats" if unchanged else "signs-again"
                return


@shows("CA-4", of="own")
def first_revision(view: PeerView) -> Iterator[tuple[Step, str]]:
    """The first change of a new peer has revision 1 or 2."""
    for change in view.changes[:1]:
        if change.shown is not None and view.opened_afresh(change.step) and change.shown.rev in (1, 2):
            yield change.shown.step, "one" if change.shown.rev == 1 else "two"


@shows("CA-11", of="asked received")
def known_revisions(view: PeerView) -> Iterator[tuple[Step, str]]:
    """The newest record of a peer was overwritten: later requests still name the record's revision, or a lower one."""
    for asking in find_revision_bounds(view):
        taken = [a.update for a in view.arrivals if a.step.index < asking.step.index and a.outcome in ("new", "newer")]
        began = next(view.link_of(request).began for request in view.asked if request.step is asking.step)
        quiet = max((step for step in view.quiet if step < began), default=0)
        for peer, least in asking.at_least.items():
            newest = max((u for u in taken if u.by == peer), key=lambda u: u.rev or 0, default=None)
            if newest is None or not least < (newest.rev or 0) == asking.at_most[peer]:
                continue
            # Updates that arrived before the last quiet step were accepted before the link began.
            later = (u for u in taken if u.uuid == newest.uuid and newest.step.index < u.step.index <= quiet)
            own = (c for c in view.changes if c.uuid == newest.uuid and newest.step.index < c.step.index < began)
            written_over = any(u.by != peer for u in later) or any(own)
            if written_over and asking.since.get(peer) in (least, newest.rev):
                yield asking.step, "scans" if asking.since[peer] == least else "counts"
                return


@shows("CA-7", of="changes")
def scope_of_own_numbers(view: PeerView) -> Iterator[tuple[Step, str]]:
    """Two new records are sent at once: the peer's number in the second clock is larger than in the first, or not."""
    made = [c for c in view.changes if c.kind == "put" and c.shown is not None and c.shown.step is c.step]
    came = {arrival.update.key for arrival in view.arrivals}
    for one, other in pairwise(made):
        others = [change for change in view.changes if change is not one and change.step.index < other.step.index]
        known = came | {key for change in others for key in (change.key, change.old_key)}
        new = one.key not in known and other.key not in known | {one.key}
        if not new or one.shown is None or other.shown is None or not (one.shown.clock and other.shown.clock):
            continue
        listeners = [sum(update.step is change.step for update in view.sent) for change in (one, other)]
        first, second = (clock.get(view.peer_id, 0) for clock in (one.shown.clock, other.shown.clock))
        if listeners[0] == listeners[1]:
            yield other.step, "of-peers" if second > first else "of-records"
            return


@shows("CA-8", of="received shown")
def fate_of_losing_records(view: PeerView) -> Iterator[tuple[Step, str]]:
    """Two live records with one key arrive: the record that loses the key is shown unchanged, or not."""
    for shown in view.shown_states if view.resolves_by_time else ():
        accepted = (arrival for arrival in view.arrivals if not arrival.prohibition)
        came = [arrival.update for arrival in accepted if arrival.step.index < shown.asked.index]
        live = {update.uuid: update.key for update in came if not update.deleted}
        ended = {update.uuid for update in came if update.deleted}
        for one, other in ((a, b) for a in live for b in live if a != b and live[a] == live[b]):
            if not shown.on_the_wire or {one, other} & ended or one is None or other is None:
                continue
            winner, loser = shown.records.get(one), shown.records.get(other)
            if winner is None or winner.deleted or winner.key != live[one]:
                continue
            if loser is None:
                yield shown.step, "gone"
            elif loser.deleted:
                yield shown.step, "deleted"
            else:
                yield shown.step, "hidden" if loser.key == live[other] else "renamed"
            return


@shows("CA-13", of="changes")
def value_of_deletions(view: PeerView) -> Iterator[tuple[Step, str]]:
    """A deletion is sent: the value in the update is null or missing, or is another value."""
    for change in view.changes:
        if change.kind == "delete" and change.shown is not None and change.shown.deleted:
            yield change.shown.step, "kept" if change.shown.value is not None else "emptied"
            return

"""What a peer sends to whom, and how it knows what to ask for."""

from __future__ import annotations

from collections.abc import Iterator

from sds_harness.clearskies.clubs import READ_ONLY
from sds_harness.clearskies.trace import Step

from ..register import way
from ..view.peer_view import PeerView
from ..view.spreading import askings


@way(
    "CA-1",
    {"asked": "sends changes to those who have asked alone", "unasked": "sends changes to all who are connected"},
    of="changes links",
)
def whether_to_send_unasked(view: PeerView) -> Iterator[tuple[Step, str]]:
    """A change is made while somebody is connected who has not asked, and is sent there, or is not when it is due."""
    for change in view.changes:
        for link in view.links:
            if not link.there(change.step) or (link.subscribed or change.step.index) < change.step.index:
                continue
            until = link.subscribed or link.readable
            copies = (update for update in link.sent if change.step.index <= update.step.index < until)
            if (copy := next((update for update in copies if change.is_shown_by(update)), None)) is not None:
                yield copy.step, "unasked"
                return
            due = view.due(change.step, link)
            if due is not None and due.index < until:
                yield due, "asked"
                return


@way(
    "CA-2",
    {"repeats": "repeats signed messages as they came", "signs-again": "signs again what it passes on"},
    of="writes links-to-readers received",
)
def how_to_pass_on_to_readers(view: PeerView) -> Iterator[tuple[Step, str]]:
    """What came signed goes to a read-only peer in the same bytes, with a member that nobody knows; or in others."""
    signed = (arrival.update for arrival in view.arrivals if arrival.update.message.signature is not None)
    came = {update.version: update.message.body.raw for update in signed}
    for link in view.links:
        for update in link.sent if link.level is READ_ONLY else ():
            body = came.get(update.version)
            if body is not None and update.message.body.raw != body:
                yield update.step, "signs-again"
                return
            if body is not None and b'"x-written-by"' in body:
                yield update.step, "repeats"
                return


@way("CA-4", {"one": "its first change has the revision 1", "two": "its first change has the revision 2"}, of="own")
def where_revisions_start(view: PeerView) -> Iterator[tuple[Step, str]]:
    """The first change of a peer that is opened for the first time has the one or the other."""
    for change in view.changes[:1]:
        if change.shown is not None and view.opened_afresh(change.step) and change.shown.rev in (1, 2):
            yield change.shown.step, "one" if change.shown.rev == 1 else "two"


@way(
    "CA-11",
    {"scans": "finds what it knows in the records", "counts": "keeps the highest known revisions separately"},
    of="asked received",
)
def how_to_know_what_is_known(view: PeerView) -> Iterator[tuple[Step, str]]:
    """The newest record of a peer was written over, and a request names its revision still, or the one before."""
    for asking in askings(view):
        taken = [a.update for a in view.arrivals if a.step.index < asking.step.index and a.outcome in ("new", "newer")]
        for peer, least in asking.at_least.items():
            most = max((update.rev or 0 for update in taken if update.by == peer), default=0)
            if least < most == asking.at_most[peer] and asking.since.get(peer) in (least, most):
                yield asking.step, "scans" if asking.since[peer] == least else "counts"
                return

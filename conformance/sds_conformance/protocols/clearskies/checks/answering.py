"""Section "Requesting Updates": what is answered, and what follows."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from clearskies_proto.testee.v1 import testee_pb2 as pb

from ....judging.judgement import Observation, held, judged, violated
from ..register import check
from ..view.facts import Update
from ..view.knowledge import SAFE_INTEGER
from ..view.peer_view import PeerView
from ..view.spreading import Answer, answers, changes_owed, relays_owed, untold


@check("CSDB-31", of="asked requests")
def who_asks_answers(view: PeerView) -> Iterator[Observation]:
    """Whoever has asked is asked on the same connection, and answers."""
    for answer in answers(view):
        if answer.link.asked and answer.link.asked[0].step.index <= answer.request.step.index and answer.expected:
            if answer.given:
                yield held(answer.request.step)
            elif answer.nothing_came and answer.silent:
                whom = view.end_of(answer.link)
                expected = f"an answer for {whom}, which has something to get: {view.named(answer.missing[0])}"
                yield violated(answer.request.step, "not-answered", expected, "nothing came")


@check("CSDB-32", of="requests")
def answers_can_be_empty(view: PeerView) -> Iterator[Observation]:
    """Where there is nothing to send nothing is sent, and the connection stays."""
    for answer in answers(view):
        link, step = answer.link, answer.request.step
        if answer.expected or answer.known or link.in_doubt(step):
            continue
        closed = link.connection.closed_by_peer and link.ended <= (answer.due.index if answer.due else step.index)
        if closed or answer.due is not None:
            reason = link.connection.reason
            seen = f"the connection is closed: {reason}" if reason else "the connection is closed"
            yield judged(step, "connection-closed", not closed, "no updates, because there are none", seen)


@check("CSDB-32", of="requests")
def each_request_is_answered(view: PeerView) -> Iterator[Observation]:
    """A second request on a connection is answered like the first one, with all that it does not name."""
    for answer in answers(view):
        first = answer.link.requests[0]
        if answer.request is first or not answer.expected or answer.link.in_doubt(answer.request.step):
            continue
        asked = {update.uuid for update in answer.expected}
        if answer.given:
            yield held(answer.request.step)
        elif any(update.step.index > answer.request.step.index and update.uuid in asked for update in answer.link.sent):
            continue  # answered late
        elif answer.due is not None and answer.silent and view.quiet_before(answer.request.step) > first.step.index:
            expected = f"an answer with {view.named(answer.expected[0])}, for {view.end_of(answer.link)}"
            yield violated(
                answer.request.step,
                "second-request-not-answered",
                expected,
                "nothing, although the first request was answered",
            )


@check("CSDB-33", of="requests sent")
def answers_are_sorted(view: PeerView) -> Iterator[Observation]:
    """The updates of an answer are sorted by last_updated_rev."""
    for answer in answers(view):
        for one, other in pairwise(answer.given):
            expected = f"revision {one.rev} or above, after {view.named(one)}"
            yield judged(
                other.step, "answer-not-sorted", (other.rev or 0) >= (one.rev or 0), expected, view.named(other)
            )


@check("CSDB-34", of="writes requests")
def answers_have_the_unnamed(view: PeerView) -> Iterator[Observation]:
    """An answer has the records of peers that the request does not name."""
    for answer in answers(view):
        if answer.request.since and not answer.nothing_came:
            for update in answer.expected:
                if not answer.names(update) and not update.deleted:
                    yield from _given(view, answer, update, "unnamed-peer-left-out")


@check("CSDB-35", of="requests")
def who_has_asked_gets_all(view: PeerView) -> Iterator[Observation]:
    """After a request, changes come on that connection as they are made or heard of, without asking again."""
    for owed in [*changes_owed(view), *relays_owed(view)]:
        if owed.settled and (view.writes or owed.change is not None):
            what = owed.change.key if owed.change is not None else owed.arrival.update.key if owed.arrival else ""
            expected = f"an update of {what!r} for {view.end_of(owed.link)}, who has asked"
            code = "update-not-relayed" if owed.change is None else "change-not-sent"
            yield judged(owed.cause, code, bool(owed.copies), expected, "none came on that connection")


@check("CSDB-37", of="writes requests")
def nothing_is_skipped_in_answers(view: PeerView) -> Iterator[Observation]:
    """An answer has all records that the client does not know."""
    for answer in answers(view):
        if answer.nothing_came:
            continue  # CSDB-31
        for update in answer.expected:
            if not answer.request.since and not update.deleted:
                yield from _given(view, answer, update, "record-left-out")
        for change in answer.unsent if answer.given else ():
            expected = f"{change.key!r}, written at step {change.step.index}, for {view.name(answer.link.peer_id)}"
            yield violated(answer.request.step, "record-left-out", expected, "nothing of it, there or elsewhere")


@check("CSDB-37", pb.CAPABILITY_OBSERVE, of="writes shown")
def applications_see_what_is_told(view: PeerView) -> Iterator[Observation]:
    """An answer to a request for everything has all records that the application sees."""
    for shown, link, missing in untold(view):
        seen = f"nothing of it for {view.end_of(link)}, who asked for everything"
        yield judged(
            shown.step, "record-left-out", not missing, f"{missing[0].key!r}, which is shown" if missing else "", seen
        )


@check("CSDB-37", of="received shown")
def nothing_is_skipped_on_arrival(view: PeerView) -> Iterator[Observation]:
    """An update is taken if it comes with others or in pieces, where one is taken that comes alone and whole."""
    for arrival in view.arrivals:
        concerned = arrival.outcome == "new" and view.put_together(arrival) and arrival.update.largest <= SAFE_INTEGER
        if concerned and (proof := view.proof(arrival)) is not None:
            several = view.one_of_many(arrival)
            code = "update-of-several-skipped" if several else "update-in-pieces-skipped"
            how = "one of several that came" if several else "which came in pieces, until"
            expected = f"{view.named(arrival.update)}, {how} at step {arrival.step.index}"
            yield judged(proof.shown.step, code, proof.is_there, expected, view.had(proof))


@check("CSDB-37", of="sent received")
def order_is_kept(view: PeerView) -> Iterator[Observation]:
    """What comes from one peer in the order of its revisions is passed on in that order."""
    sources = dict.fromkeys((update.version for update in view.in_a_row), 0)
    # To who has lost its store its own updates come from others.
    sources |= {arrival.update.version: arrival.update.link.number for arrival in view.arrivals if arrival.due}
    answered = {id(update) for answer in answers(view) for update in answer.link.sent if answer.has(update)}
    for link in view.links:
        last: dict[tuple[str | None, int], Update] = {}
        seen: set[object] = set()
        for update in link.sent:
            source = sources.get(update.version, link.number)
            if source == link.number or update.version in seen:
                continue  # it is not passed on, or not for the first time
            seen.add(update.version)
            if id(update) in answered:
                continue  # CSDB-33
            before = last.get((update.by, source))
            if before is not None and before.rev != update.rev and _came_in_order(view, before, update):
                expected = f"{view.named(update)} before {view.named(before)}"
                yield judged(
                    update.step,
                    "relayed-out-of-order",
                    (update.rev or 0) > (before.rev or 0),
                    expected,
                    "it came after that",
                )
            last[update.by, source] = update


@check("CSDB-59", of="writes requests")
def answers_begin_after_what_is_known(view: PeerView) -> Iterator[Observation]:
    """Of a peer that the request names an answer has what is above its revision, and nothing else."""
    for answer in answers(view):
        for update in answer.known:
            since = (answer.request.since or {}).get(str(update.by), 0)
            yield violated(
                update.step,
                "known-update-sent",
                f"nothing of {view.name(update.by)} up to revision {since}",
                view.named(update),
            )
        if answer.nothing_came:
            continue
        for update in answer.expected:
            if answer.names(update) and not update.deleted:
                yield from _given(view, answer, update, "named-peer-left-out")


def _given(view: PeerView, answer: Answer, update: Update, code: str) -> Iterator[Observation]:
    step, whom = answer.request.step, view.end_of(answer.link)
    if update in answer.missing:
        yield violated(step, code, f"{view.named(update)}, for {whom}", "nothing of it on that connection")
    elif answer.given:
        yield held(step)


def _came_in_order(view: PeerView, one: Update, other: Update) -> bool:
    """Did two versions of one writer come about here in the order of their revisions?"""
    first, second = sorted((one, other), key=lambda update: update.rev or 0)
    until = max(one.step.index, other.step.index)
    # A peer that has lost its store reuses its revisions for other versions.
    came = [a for a in view.arrivals if (a.due or a.outcome == "open") and a.step.index <= until]
    places = {arrival.update.version: place for place, arrival in enumerate(came)}
    return places.get(first.version, 0) <= places.get(second.version, 0)

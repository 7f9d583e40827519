"""Checks of replication: requests, answers, and the changes that are sent to all peers that have requested updates."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from itertools import pairwise

from clearskies_proto.testee.v1 import testee_pb2 as pb
from sds_harness.clearskies.clubs import READ_WRITE

from ....judging.judgement import Observation, observe_met, observe_note, observe_outcome, observe_violation
from ..register import Judgements, check, check_several
from ..view.facts import Change, LinkView, Request, Update, VersionId, dominates, grouped
from ..view.knowledge import SAFE_INTEGER, exceeds_size_of_request
from ..view.peer_view import PeerView
from ..view.replication import (
    DueUpdate,
    RequestAnswer,
    find_answers,
    find_due_changes,
    find_due_relays,
    find_incomplete_answers,
    find_revision_bounds,
    find_withheld_records,
)
from .messages import find_signature_fault

_MANY_COPIES = 100
"""More copies of one record than this after a single operation prove endless relaying."""

# ---- Requests --------------------------------------------------------------------------------------------------------


@check("CSDB-29", of="links")
def updates_are_requested_on_each_connection(view: PeerView) -> Iterator[Observation]:
    """On a new connection, a peer requests updates."""
    for link in view.links:
        if _find_earlier_connection(view, link):
            continue  # one connection to a peer is enough: CSDB-36
        start = view.trace.steps[link.began - 1]
        if link.asked or view.due(start, link) is not None:
            step, expected = link.asked[0].step if link.asked else start, f"a request to {view.name_other_end(link)}"
            yield observe_outcome(step, "not-asked", bool(link.asked), expected, "no request was sent")


@check("CSDB-29", of="asked received")
def requests_name_the_highest_known_revisions(view: PeerView) -> Iterator[Observation]:
    """A request has the highest known revision of each peer, or the result of a scan of all records (CA-11)."""
    for asking in find_revision_bounds(view):
        too_many = exceeds_size_of_request(view.trace.declaration, len(asking.at_most))
        for peer, least in asking.at_least.items():
            seen = asking.since.get(peer, 0)
            if peer not in asking.since and too_many:
                continue  # a request that names all peers would be larger than declared
            code = "since-too-low" if peer in asking.since else "known-peer-not-named"
            expected = f"revision {least} or higher for {view.name(peer)}, because the peer has a record with it"
            yield observe_outcome(asking.step, code, seen >= least, expected, f"{seen or 'nothing'}")


@check("CSDB-37", of="asked")
def requests_name_no_unknown_revisions(view: PeerView) -> Iterator[Observation]:
    """A request names no revision above the known ones: the updates in between would never be sent."""
    for asking in find_revision_bounds(view):
        for peer, seen in asking.since.items():
            if peer != view.peer_id:
                most = asking.at_most.get(peer, 0)
                expected = f"revision {most} or lower for {view.name(peer)}, because no higher revision arrived"
                rounded = most > SAFE_INTEGER and not view.can(pb.CAPABILITY_WIDE_INTEGERS)
                position = "CA-6" if rounded and float(seen) == float(most) else ""
                yield observe_outcome(asking.step, "since-too-high", seen <= most, expected, f"{seen}", position)


@check("CSDB-37", of="asked received")
def requests_name_no_refused_revisions(view: PeerView) -> Iterator[Observation]:
    """A request does not count a malformed update as known that the peer has refused: a valid update with the same
    revision would never be sent.
    """
    for asking in find_revision_bounds(view):
        for peer, any_most in asking.at_most.items():
            seen, most = asking.since.get(peer, 0), asking.without_refused.get(peer, 0)
            if peer != view.peer_id and most < any_most <= SAFE_INTEGER and seen <= any_most:
                expected = f"at most {most} for {view.name(peer)}: revision {any_most} was malformed and is not present"
                yield observe_outcome(asking.step, "since-too-high", seen <= most, expected, f"{seen}")


@check("CSDB-36", of="links")
def updates_are_requested_on_one_connection(view: PeerView) -> Iterator[Observation]:
    """A peer requests updates on only one of several connections to the same peer."""
    for link in view.links:
        step, other = view.trace.steps[link.began - 1], _find_earlier_connection(view, link)
        if other is not None and other.asked and view.due(step, link) is not None:
            twice = [request for request in link.asked if request.step.index < other.ended]
            seen = f"a second request, after the one at step {other.asked[0].step.index}"
            step, expected = twice[0].step if twice else step, "no request on a second connection"
            yield observe_outcome(step, "asked-twice", not twice, expected, seen)


@check("CSDB-36", of="links")
def several_connections_are_tolerated(view: PeerView) -> Iterator[Observation]:
    """A peer keeps both connections open when the same peer opens a second one."""
    for link in view.links:
        if (other := _find_earlier_connection(view, link)) is None:
            continue
        step = view.trace.steps[link.began - 1]
        for each in (other, link):
            closed = each.connection.closed_by_peer and not each.in_doubt(step) and each.ended == step.index
            if closed or view.due(step, each) is not None:
                expected = f"two connections to {view.name_other_end(link)}"
                seen = f"one is closed: {each.connection.reason or 'no reason given'}"
                yield observe_outcome(step, "connection-closed", not closed, expected, seen)


def _find_earlier_connection(view: PeerView, link: LinkView) -> LinkView | None:
    """An earlier connection to the same peer that is still open; None if there is none."""
    return next((o for o in view.links if o.peer_id == link.peer_id and o.began < link.began <= o.ended), None)


# ---- Answers ---------------------------------------------------------------------------------------------------------


@check("CSDB-31", of="asked requests")
def peers_that_request_also_answer(view: PeerView) -> Iterator[Observation]:
    """A peer that requests updates on a connection also answers the requests on it."""
    for answer in find_answers(view):
        if answer.link.asked and answer.link.asked[0].step.index <= answer.request.step.index and answer.expected:
            if answer.delivered:
                yield observe_met(answer.request.step)
            elif answer.lacks_everything and answer.is_silent:
                whom = view.name_other_end(answer.link)
                expected = f"an answer for {whom}, which lacks {view.named(answer.missing[0])}"
                yield observe_violation(answer.request.step, "not-answered", expected, "no answer was sent")


@check("CSDB-32", of="requests")
def answers_can_be_empty(view: PeerView) -> Iterator[Observation]:
    """If there is nothing to send, the peer sends nothing and keeps the connection open."""
    for answer in find_answers(view):
        link, step = answer.link, answer.request.step
        if answer.expected or answer.known or link.in_doubt(step):
            continue
        closed = link.connection.closed_by_peer and link.ended <= (answer.due.index if answer.due else step.index)
        if closed and _arrived_with_others(link, answer.request):
            continue  # the peer may have closed the connection because of another message
        if closed or answer.due is not None:
            reason = link.connection.reason
            seen = f"the connection is closed: {reason}" if reason else "the connection is closed"
            yield observe_outcome(step, "connection-closed", not closed, "no updates, because there are none", seen)


def _arrived_with_others(link: LinkView, request: Request) -> bool:
    """Did other messages arrive on a link from the step of a request until the link was closed?"""
    until = range(request.step.index, link.ended + 1)
    return any(message.step in until for message in link.connection.arrived.messages if message is not request.message)


@check("CSDB-32", of="requests")
def each_request_is_answered(view: PeerView) -> Iterator[Observation]:
    """A peer answers the second request on a connection like the first one."""
    for answer in find_answers(view):
        first, step = answer.link.requests[0], answer.request.step
        if answer.request is first or not answer.expected or answer.link.in_doubt(step):
            continue
        asked = {update.uuid for update in answer.expected}
        if answer.delivered:
            yield observe_met(step)
        elif any(update.step.index > step.index and update.uuid in asked for update in answer.link.sent):
            continue  # the answer came late
        elif answer.due is not None and answer.is_silent and view.quiet_before(step) > first.step.index:
            expected = f"an answer with {view.named(answer.expected[0])}, for {view.name_other_end(answer.link)}"
            seen = f"nothing, although the first request (step {first.step.index}) was answered"
            yield observe_violation(step, "second-request-not-answered", expected, seen)


@check("CSDB-33", of="requests sent")
def answers_are_sorted(view: PeerView) -> Iterator[Observation]:
    """The updates of an answer are sorted by last_updated_rev."""
    for answer in find_answers(view):
        for one, other in pairwise(answer.delivered):
            met, expected = (other.rev or 0) >= (one.rev or 0), f"revision {one.rev} or above, after {view.named(one)}"
            yield observe_outcome(other.step, "answer-not-sorted", met, expected, view.named(other))


@check("CSDB-37", of="requests sent")
def answers_keep_the_order_of_each_writer(view: PeerView) -> Iterator[Observation]:
    """The updates of one writer are in an answer in the order of their revisions.

    If the connection breaks in between, the next request names the highest revision that arrived, so an update with a
    lower revision is never sent. CSDB-33 judges the order of updates of different writers.
    """
    for answer in find_answers(view):
        for updates in grouped(answer.delivered, lambda update: update.by).values():
            for one, other in pairwise(updates):
                met, expected = (other.rev or 0) >= (one.rev or 0), f"{view.named(other)} before {view.named(one)}"
                seen = "the two updates were sent in reverse order"
                yield observe_outcome(other.step, "answer-out-of-order", met, expected, seen)


@check_several(
    *("CSDB-05", "CSDB-18", "CSDB-34", "CSDB-37", "CSDB-59"),
    needs={
        "CSDB-05": (pb.CAPABILITY_READ_ONLY,),
        "CSDB-18": (pb.CAPABILITY_READ_ONLY, pb.CAPABILITY_STORE),
    },
    of="requests",
)
def answers_are_complete(view: PeerView) -> Judgements:
    """An answer has all records that the client has not received, even after a restart."""
    for answer in find_answers(view):
        for update in answer.expected:
            missing = update in answer.missing
            if not (answer.delivered or missing):
                continue
            expected = f"{view.named(update)}, for {view.name_other_end(answer.link)}"
            for requirement, code in _find_rules_of_answer(view, answer, update):
                seen = "no copy is sent on that connection"
                yield requirement, observe_outcome(answer.request.step, code, not missing, expected, seen)


def _find_rules_of_answer(view: PeerView, answer: RequestAnswer, update: Update) -> Iterator[tuple[str, str]]:
    """Yield the requirements that demand an update in an answer, each with the code of its violation."""
    if not view.writes:
        if update in answer.missing:
            yield "CSDB-05", "record-left-out"
        if update.step.index < view.opened_before(answer.link.began):
            yield "CSDB-18", "lost-on-restart"
    elif not (answer.lacks_everything or update.deleted):  # CSDB-31 judges empty answers
        if not answer.request.since:
            yield "CSDB-37", "record-left-out"
        elif update.by in answer.request.since:
            yield "CSDB-59", "named-peer-left-out"
        else:
            yield "CSDB-34", "unnamed-peer-left-out"


@check("CSDB-59", of="writes requests")
def answers_begin_after_the_named_revisions(view: PeerView) -> Iterator[Observation]:
    """An answer has no update at or below the revision that the request names for the writer of the update."""
    for answer in find_answers(view):
        for update in answer.known:
            since = (answer.request.since or {}).get(str(update.by), 0)
            expected = f"no update of {view.name(update.by)} at or below revision {since}"
            yield observe_violation(update.step, "known-update-sent", expected, view.named(update))


@check("CSDB-37", of="writes requests")
def own_records_are_in_answers(view: PeerView) -> Iterator[Observation]:
    """An answer has the records that the application wrote, even if they were never sent before."""
    for answer in find_answers(view):
        for change in answer.unsent if answer.delivered else ():
            expected = f"{change.key!r}, written at step {change.step.index}"
            expected += f", in the answer to {view.name(answer.link.peer_id)}"
            yield observe_violation(
                answer.request.step, "record-left-out", expected, "no copy is sent on any connection"
            )


@check("CSDB-37", pb.CAPABILITY_OBSERVE, of="writes shown")
def shown_records_are_in_answers(view: PeerView) -> Iterator[Observation]:
    """An answer to a request for everything has all records that the application sees."""
    yield from _judge_completeness(view, "record-left-out", frozenset())


@check("CSDB-18", pb.CAPABILITY_READ_ONLY, pb.CAPABILITY_OBSERVE, of="reads-only shown")
def readers_keep_the_messages_of_what_they_show(view: PeerView) -> Iterator[Observation]:
    """A read-only peer answers a request for everything with a signed message of each record that it shows."""
    # CSDB-05 judges versions that arrived without a signature.
    yield from _judge_completeness(view, "message-not-kept", view.unsigned_versions)


def _judge_completeness(view: PeerView, code: str, excluded: Collection[VersionId | None]) -> Iterator[Observation]:
    """Judge that an answer to a request for everything has all shown records, except the ``excluded`` versions."""
    for shown, link, missing in find_incomplete_answers(view):
        left = [seen for seen in missing if seen.version not in excluded]
        expected = f"{left[0].key!r}, which is shown" if left else ""
        yield observe_outcome(
            shown.step,
            code,
            not left,
            expected,
            f"no copy is sent for {view.name_other_end(link)}, which requested everything",
        )


# ---- Changes that are sent and relayed -------------------------------------------------------------------------------


@check_several("CSDB-14", "CSDB-20", "CSDB-35", of="requests")
def changes_are_sent_to_all_who_have_asked(view: PeerView) -> Judgements:
    """Local changes and new updates are sent to all peers that have requested updates."""
    for required in (*find_due_changes(view), *find_due_relays(view)):
        observation, own = _judge_due_update(view, required), isinstance(required.source, Change)
        if own:
            yield "CSDB-14", observation
        elif view.writes:
            yield "CSDB-20", observation
        if own or view.writes:
            yield "CSDB-35", observation


def _judge_due_update(view: PeerView, required: DueUpdate) -> Observation:
    """Judge that a change is sent on a link."""
    source = required.source
    if isinstance(source, Change):
        code = "deletion-not-sent" if source.kind == "delete" else "change-not-sent"
        what = f"the {source.kind} of {source.key!r} at step {source.step.index}"
    else:
        code = "deletion-not-relayed" if source.update.deleted else "update-not-relayed"
        what = view.named(source.update)
    expected, met = f"{what}, for {view.name_other_end(required.link)}", bool(required.copies)
    return observe_outcome(source.step, code, met, expected, "no copy is sent on that link")


@check("CSDB-37", pb.CAPABILITY_OBSERVE, of="writes requests shown")
def shown_again_records_were_in_answers(view: PeerView) -> Iterator[Observation]:
    """A record that the application sees after another record lost their key was in the answers to earlier requests."""
    yield from _judge_withheld(view, "record-left-out", was_there=True)


@check("CSDB-35", pb.CAPABILITY_OBSERVE, of="writes requests shown")
def shown_again_records_were_relayed(view: PeerView) -> Iterator[Observation]:
    """A record that the application sees after another record lost their key was relayed after earlier requests."""
    yield from _judge_withheld(view, "update-not-relayed", was_there=False)


def _judge_withheld(view: PeerView, code: str, *, was_there: bool) -> Iterator[Observation]:
    for shown, link, seen, there in find_withheld_records(view) if view.writes else ():
        if there is was_there:
            expected = f"{seen.key!r}, which is shown, for {view.name_other_end(link)}"
            yield observe_violation(shown.step, code, expected, "no copy is sent on that link")


@check("CSDB-05", pb.CAPABILITY_READ_ONLY, of="reads-only")
def readers_relay_signed_updates(view: PeerView) -> Iterator[Observation]:
    """A read-only peer relays updates, with a read-write peer's signature, to all peers that have requested updates."""
    for required in find_due_relays(view):
        yield _judge_due_update(view, required)
    for shown, link, missing in find_incomplete_answers(view):
        # A read-only peer must not keep an update that arrived without a signature (CA-17).
        for left in (seen for seen in missing if seen.version in view.unsigned_versions):
            expected = f"{left.key!r}, which is shown, for {view.name_other_end(link)}, with a signature"
            seen = "no copy is sent: the peer received the record without a signature and stored it"
            yield observe_violation(shown.step, "unsigned-update-kept", expected, seen)
    not_to_relay = {arrival.update.version for arrival in view.arrivals if arrival.prohibition} - view.unsigned_versions
    for update in view.sent:
        if update.by == view.peer_id:
            continue  # CSDB-03 judges own updates
        # CSDB-03 and CSDB-06 judge updates that must be refused.
        if update.message.profile is not None and update.version not in not_to_relay:
            expected, (code, seen) = (
                f"{view.named(update)}, with the signature of a read-write peer",
                find_signature_fault(update),
            )
            yield observe_outcome(update.step, code, update.message.signer is READ_WRITE, expected, seen)


@check("CSDB-19", of="received")
def known_updates_are_not_relayed_again(view: PeerView) -> Iterator[Observation]:
    """An update that arrives again is not relayed again."""
    for arrival in view.arrivals:
        if arrival.outcome != "present":
            continue
        version = arrival.update.version
        for link in view.links:
            # The second arrival is not the reason for a copy that is late or answers a request.
            settled = view.quiet_before(arrival.step)
            asked = any(request.step.index > settled for request in link.requests)
            first = min(a.step.index for a in view.arrivals if a.update.version == version)
            if link.subscribed_at is None or not link.is_open_in(arrival.step) or asked or first > settled:
                continue
            copies = [update for update in link.sent if update.version == version]
            before = [update for update in copies if update.step.index < arrival.step.index]
            again = [
                u for u in copies if u.step.index >= arrival.step.index and not _adds_clock_numbers(view, u, before)
            ]
            if again and before:
                expected = f"no second {view.named(arrival.update)} for {view.name_other_end(link)}"
                seen = f"a second copy is sent, after the update arrived again at step {arrival.step.index}"
                yield observe_violation(again[0].step, "relayed-again", expected, seen)
            elif copies and view.due(arrival.step, link) is not None:
                yield observe_met(arrival.step)


@check("CSDB-19", of="sent received")
def gossip_ends(view: PeerView) -> Iterator[Observation]:
    """Peers stop relaying updates (CA-3), unless an application resolves conflicts by further changes (CA-8)."""
    last = view.sent[-1]
    if not view.resolves_by_time:
        return
    if not view.trace.unsettled:
        if len(view.everybody) > 1 and view.in_conflict(last.step) and view.quiet and view.quiet[-1] > last.step.index:
            yield observe_met(last.step)
        return
    begun = max(step.index for step in view.steps if step.command not in ("receive", "tick", "close"))
    copies = sum(update.uuid == last.uuid and update.step.index > begun for update in view.sent)
    if copies > _MANY_COPIES:
        expected = "the end of the traffic, because all peers have all updates"
        yield observe_violation(last.step, "never-ends", expected, f"{copies} copies of {view.named(last)}")


def _adds_clock_numbers(view: PeerView, update: Update, before: list[Update]) -> bool:
    """Does the clock have a number of another peer that no earlier copy of the update has?

    The winner of a conflict is sent again with merged clocks (CA-3, CA-8).
    """
    others = {member: n for member, n in (update.clock or {}).items() if member != view.peer_id}
    return not any(dominates(each.clock, others) for each in before)


@check("CSDB-21", of="received requests")
def updates_are_not_sent_back(view: PeerView) -> Iterator[Observation]:
    """An update is not sent back to its sender. A violation is only a note: the rule is an optimization."""
    for arrival in view.arrivals:
        link = view.link_of(arrival.update)
        asked = any(request.step.index >= arrival.step.index for request in link.requests)
        if not arrival.due or link.subscribed_at is None or asked:
            continue
        back = [u for u in link.sent if u.step.index >= arrival.step.index and u.version == arrival.update.version]
        if back:
            yield observe_note(
                back[0].step, f"{view.named(arrival.update)} is sent back to {view.name_other_end(link)}"
            )
        elif view.due(arrival.step, link) is not None:
            yield observe_met(arrival.step)


@check("CSDB-37", of="sent received")
def relayed_updates_keep_their_order(view: PeerView) -> Iterator[Observation]:
    """A peer relays the updates of one writer in the order of their revisions, if they arrived in that order."""
    sources = dict.fromkeys((change.shown.version for change in view.changes if change.shown is not None), 0)
    # A peer that has lost its store receives its own updates from others.
    sources |= {arrival.update.version: arrival.update.link.number for arrival in view.arrivals if arrival.due}
    answered = {id(update) for answer in find_answers(view) for update in answer.delivered}
    asked_in = {(answer.link.number, answer.request.step.index) for answer in find_answers(view)}
    for link in view.links:
        last: dict[tuple[str | None, int], Update] = {}
        seen: set[object] = set()
        for update in link.sent:
            source = sources.get(update.version, link.number)
            if source == link.number or update.version in seen:
                continue  # the peer did not relay the update, or relays it again
            seen.add(update.version)
            if id(update) in answered or (link.number, update.step.index) in asked_in:
                continue  # CSDB-33 judges answers
            before = last.get((update.by, source))
            if before is not None and before.rev != update.rev and _arrived_in_order(view, before, update):
                met, expected = (
                    (update.rev or 0) > (before.rev or 0),
                    f"{view.named(update)} before {view.named(before)}",
                )
                seen_order = "the two updates were sent in reverse order"
                yield observe_outcome(update.step, "relayed-out-of-order", met, expected, seen_order)
            last[update.by, source] = update


def _arrived_in_order(view: PeerView, one: Update, other: Update) -> bool:
    """Did two versions of one writer arrive, or were they written, in the order of their revisions?"""
    first, second = sorted((one, other), key=lambda update: update.rev or 0)
    until = max(one.step.index, other.step.index)
    # A peer that has lost its store reuses its revisions for other versions.
    arrived = [a for a in view.arrivals if (a.due or a.outcome == "open") and a.step.index <= until]
    places = {arrival.update.version: place for place, arrival in enumerate(arrived)}
    return places.get(first.version, 0) <= places.get(second.version, 0)

"""Section SEND: "Send Message"."""

from __future__ import annotations

import itertools
from bisect import bisect_left, bisect_right
from collections.abc import Collection, Iterator

from sds_harness.sds.trace import Step
from sds_proto.testee.v1 import testee_pb2 as pb
from sds_reference import MAX_LAMPORT

from .....judging.judgement import Observation, held, judged, noted, violated
from .....judging.once import once
from ...register import check
from ...view.channel_view import ChannelView
from ...view.declared_limits import limit_in_force
from ...view.facts import Sent
from ...view.filters import ENOUGH, Membership, hold_all, missing_from
from ...view.histories import log_is_astray, own_are_shown, with_outsiders
from ...view.lateness import may_be_delivered_late
from ...view.odd_messages import LARGEST_CONTENT, LARGEST_ID, LARGEST_LAMPORT, ROOM_AFTER
from ...view.refusals import offered
from ...view.resends import given_up
from ...view.timestamps import (
    lamport_sends,
)


@check("SDS-SEND-03", of="outgoing")
def lamport_is_the_increased_one(view: ChannelView) -> Iterator[Observation]:
    """The message carries the timestamp after the increase: what the participant shows, and one more each time."""
    previous: Sent | None = None
    for sent, seen in lamport_sends(view):
        e = sent.lamport
        if previous is not None and e.source in ("send", "sync") and e.counts_on and not e.late_delivery:
            before = previous.message.lamport_timestamp
            if seen == e.low:
                yield held(sent.step)
            elif e.low > MAX_LAMPORT:
                pass  # there is no such timestamp: SDS-SEND-01
            elif seen <= (before or 0) and _nothing_between(view, previous, sent) and not e.tolerates(seen):
                yield violated(
                    sent.step, "not-increased", f"{e.low}, one more than the {before} of the message before", f"{seen}"
                )
        previous = sent
    # What moves the timestamp without leave has requirements of its own: a copy SDS-OUTSWEEP-05, an ephemeral message
    # SDS-EPHEMERAL-07. That a refused command moves it is nobody's.
    steps = [*(r.step for r in view.received), *(d.step for d in view.delivered), *(c.step for c in view.copies)]
    steps += [ephemeral.step for ephemeral in view.ephemerals]
    steps += [step for step in view.trace.of(view.party.name) if step.answer == "rejected"]
    moved = sorted(step.index for step in steps)
    for observed in view.observed:
        last = next((s for s in reversed(view.outgoing) if s.step.index < observed.step.index), None)
        if last is None or not observed.state.HasField("lamport_timestamp") or last.message.lamport_timestamp is None:
            continue
        if any(sync.step is last.step for sync in view.syncs):
            continue  # the same step sent a sync message as well
        quiet = bisect_right(moved, last.step.index) == bisect_left(moved, observed.step.index)
        quiet &= view.can(pb.CAPABILITY_DELIVERED) or not view.received
        if quiet and not last.repeat and last.step.command == "send":
            met = observed.state.lamport_timestamp == last.message.lamport_timestamp
            expected = f"the local timestamp {observed.state.lamport_timestamp} in the message that was just sent"
            yield judged(observed.step, "not-the-local-one", met, expected, f"{last.message.lamport_timestamp} in it")


def _nothing_between(view: ChannelView, previous: Sent, sent: Sent) -> bool:
    """Was there nothing between two own messages that could have moved the timestamp, before it was increased?"""
    between = view.trace.steps[previous.step.index : sent.step.index - 1]
    here = (step for step in between if step.participant == view.party.name)
    return all(step.command in ("observe", "query_filter", "build_filter") for step in here)


def judge_history(view: ChannelView, sent: Sent, expected: list[str]) -> Iterator[Observation]:
    """Does its causal history hold these?

    That own messages are not in the log at all is SEND-11's to say. What does not belong in the log has a requirement
    of its own, and so has a log that is not in order, whose end is another one.
    """
    own = any(item.own for item in sent.before)
    if set(sent.history) == set(expected):
        yield held(sent.step)
    elif not (own and not own_are_shown(view)) and not with_outsiders(view, sent) and not log_is_astray(view):
        entries, wanted = set(sent.history), set(expected)
        yield violated(
            sent.step,
            "missing-entry" if entries < wanted else "too-many-entries" if entries > wanted else "wrong-entries",
            f"the last {len(expected)} IDs of the log, {expected}",
            f"{list(sent.history)}",
        )


def history_end(view: ChannelView, sent: Sent) -> list[str] | None:
    """The IDs that belong in the causal history, ascending; None where the log before is not certain."""
    size = view.history_size_of(sent)
    if not size or not sent.certain or sent.repeat:
        return None
    expected = [item.message_id for item in sent.before[-size:]]
    return expected if all(view.kept.holds(i, sent.step.index - 1) for i in expected) else None


def tied_at_the_edge(sent: Sent, expected: list[str]) -> bool:
    """Is the first expected message tied in Lamport with the one before it? Then their order is another's matter."""
    tail = sent.before
    edge = len(tail) - len(expected) - 1
    return bool(expected) and edge >= 0 and tail[edge].lamport == tail[edge + 1].lamport


@check("SDS-SEND-04", of="sent")
def history_is_the_end_of_the_log(view: ChannelView) -> Iterator[Observation]:
    """The causal history holds the last n IDs of the log, late arrivals notwithstanding."""
    for sent in view.sent:
        expected = history_end(view, sent)
        if expected is not None and not tied_at_the_edge(sent, expected):
            yield from judge_history(view, sent, expected)


@check("SDS-SEND-05", of="outgoing")
def history_is_ordered(view: ChannelView) -> Iterator[Observation]:
    """Causal histories are in log order, oldest or newest first, always the same way.

    Where the log itself is in another order, they may well be in that.
    """
    direction = 0
    for sent in view.outgoing:
        places = {item.message_id: item.lamport for item in sent.tail}
        lamports = [places[message_id] for message_id in sent.history if message_id in places]
        steps = [(b > a) - (b < a) for a, b in itertools.pairwise(lamports) if a != b]
        if not steps or not sent.certain or log_is_astray(view):
            continue
        if any(step != steps[0] for step in steps):
            yield violated(
                sent.step, "wrong-order", "the causal history in log order", f"Lamport timestamps {lamports} in it"
            )
        elif direction not in (0, steps[0]):
            yield violated(
                sent.step, "direction-changed", "the same direction as in the messages before", "the opposite one"
            )
        else:
            direction = steps[0]
            yield held(sent.step)


@check("SDS-SEND-06", pb.CAPABILITY_DELIVERED, of="arrived")
def histories_of_any_length_accepted(view: ChannelView) -> Iterator[Observation]:
    """Messages with 0 to 200 entries in their causal history are taken."""
    for received in offered(view):
        if received.plain and not received.unmet:
            if received.delivered:
                yield held(received.step)
            else:
                count = len(received.message.causal_history)
                yield violated(
                    received.step,
                    "refused" if received.rejected else "never-delivered",
                    f"a message with {count} dependencies, all met, to be delivered",
                    "nothing",
                )


@check("SDS-SEND-07", of="sent")
def two_entries_by_default(view: ChannelView) -> Iterator[Observation]:
    """Without configuration, a causal history has the recommended two entries."""
    if view.party.asked.HasField("causal_history_size"):
        return
    for sent in view.sent:
        if sent.certain and sent.log_size >= 3 and not sent.repeat:
            if len(sent.history) == 2:
                yield held(sent.step)
            else:
                known = view.configuration.HasField("causal_history_size")
                size = view.configuration.causal_history_size if known else len(sent.history)
                yield noted(sent.step, f"causal histories of {size} entries by default; the text recommends 2")


@check("SDS-SEND-08", of="outgoing")
def hints_as_supplied(view: ChannelView) -> Iterator[Observation]:
    """A history entry has the hint that was supplied for its ID, or none."""
    for sent in view.outgoing:
        for entry in sent.message.causal_history:
            given = view.hints.get(entry.message_id, set())
            if not given and entry.retrieval_hint is None:
                continue
            expected = f"the hint supplied for {entry.message_id!r}, or none"
            seen = f"{entry.retrieval_hint!r}"
            yield judged(
                sent.step, "wrong-hint", entry.retrieval_hint is None or entry.retrieval_hint in given, expected, seen
            )


def received_before(view: ChannelView, sent: Sent, *, delivered: bool) -> list[str]:
    """IDs of content received before ``sent``, the newest that every roll-over keeps; only delivered ones if asked."""
    known, key = _known_received(view), (sent.step.index, delivered)
    if key not in known:
        known[key] = _received_before(view, sent, delivered)
    return known[key]


@once
def _known_received(_: ChannelView) -> dict[tuple[int, bool], list[str]]:
    """Kept by step, for checks ask again and again what a filter has to hold."""
    return {}


def _received_before(view: ChannelView, sent: Sent, delivered: bool) -> list[str]:
    kept = max(1, view.configuration.bloom_capacity // 10) if view.configuration.HasField("bloom_capacity") else 1
    index = sent.step.index
    # Own and ephemeral messages and copies may take room in the filter as well (AMB-19, AMB-36, AMB-112).
    others = bisect_left(_taking_room(view), index)
    holds = view.filter_of(sent.message.bloom_filter)
    others += holds is not None and bool(holds(sent.message.message_id))
    end = bisect_left(view.received, index, key=lambda r: r.step.index)
    newest = view.received[max(0, end - max(0, kept - others)) : end]
    return [
        r.message.message_id
        for r in newest
        if r.acceptable and (not delivered or (r.delivered and r.delivered[0].step.index < index))
    ]


@once
def _taking_room(view: ChannelView) -> list[int]:
    """Indices of the steps at which own messages went out whose IDs a filter may hold."""
    own = view.sent + view.ephemerals + (view.syncs if view.revision.syncs_are_logged else [])
    return sorted(sent.step.index for sent in own)


def judge_members(
    step: Step, holds: Membership, message_ids: Collection[str], expected: str, seen: str = "it is not in it"
) -> Iterator[Observation]:
    """Does a filter hold all of these? One that is known to be missing takes the place of ``{}`` in the words."""
    if missing := missing_from(holds, message_ids):
        yield violated(step, "not-in-filter", expected.format(repr(missing)), seen.format(repr(missing)))
    elif hold_all(holds, message_ids):
        yield held(step)


def judge_strangers(
    step: Step, holds: Membership, ids: Collection[str], expected: str, *, code: str
) -> Iterator[Observation]:
    """Does a filter hold what it has no reason to? A few of them may be in it by chance, but not all of enough."""
    found = hold_all(holds, ids) if len(ids) >= ENOUGH else None
    if found is not None:
        yield judged(step, code, not found, expected, f"all {len(ids)} of them")


@check("SDS-SEND-09", of="received sent")
def filter_is_current(view: ChannelView) -> Iterator[Observation]:
    """The filter in a message holds what was delivered before it was sent."""
    for sent in view.sent:
        expected = received_before(view, sent, delivered=True)
        holds = view.filter_of(sent.message.bloom_filter)
        if holds is None or not expected or sent.repeat:
            continue
        yield from judge_members(sent.step, holds, expected, "{}, delivered before, in the filter of the message")


@check("SDS-SEND-10", pb.CAPABILITY_RESEND)
def sent_messages_wait_for_acknowledgement(view: ChannelView) -> Iterator[Observation]:
    """A sent message is in the outgoing buffer until it is acknowledged."""
    for observed in view.showing("outgoing"):
        buffered = {entry.message_id for entry in observed.state.outgoing.entries}
        for message_id, spoken_for in observed.outstanding.items():
            if message_id in buffered:
                yield held(observed.step)
            elif not spoken_for:
                expected = f"{message_id!r}, not acknowledged, in the outgoing buffer"
                seen = f"{sorted(buffered) or 'none'}"
                yield violated(
                    observed.step, "not-kept", expected, seen, given_up(view, message_id, observed.step.index)
                )
    resent = {copy.message.message_id for copy in view.copies}
    for sent in view.sent:
        if sent.message.message_id in resent:
            yield held(sent.step)


@check("SDS-SEND-10")
def ordinary_sends_are_broadcast(view: ChannelView) -> Iterator[Observation]:
    """Ordinary content is taken and broadcast, under an ordinary ID where one is given."""
    for step in ordinary_sends(view, "send"):
        if step.answer == "rejected" and _hardly_anything_follows(view, step):
            continue  # to refuse is legal after a timestamp beyond 2^53+10, or near the end of the range (AMB-14)
        yield taken(step)


def ordinary_sends(view: ChannelView, command: str) -> Iterator[Step]:
    """Where content is to be sent that nobody has reason to refuse."""
    declared = limit_in_force(view.trace, "content_bytes")
    largest = LARGEST_CONTENT if declared is None else min(declared, LARGEST_CONTENT)
    for step in view.trace.of(view.party.name):
        if step.command == command and step.channel_id == view.channel_id and step.reply is not None:
            request = getattr(step.request, command)
            if 0 < len(request.content) <= largest and _may_be_used(view, request.message_id, step):
                yield step


def taken(step: Step) -> Observation:
    """Is what is to be sent taken and broadcast?"""
    if step.answer == "rejected":
        assert step.reply is not None
        return violated(step, "refused", "ordinary content to be sent", f"a refusal: {step.reply.rejected.reason[:80]}")
    return judged(step, "not-broadcast", bool(step.broadcasts), "ordinary content to be broadcast", "no broadcast")


def _may_be_used(view: ChannelView, message_id: str, step: Step) -> bool:
    """Is it an ID that nobody has used or named, of characters that nobody minds, or none at all?"""
    if not message_id:
        return True
    plain = message_id.isascii() and message_id.isprintable() and len(message_id) <= LARGEST_ID
    return plain and _known_since(view).get(message_id, step.index) >= step.index


@once
def _known_since(view: ChannelView) -> dict[str, int]:
    """By ID: the index of the first step in which a message has or names it."""
    since: dict[str, int] = {}
    said = [(sent.step.index, sent.message) for sent in view.sent]
    said += [(received.step.index, received.message) for received in view.received]
    for index, message in said:
        for message_id in (message.message_id, *(entry.message_id for entry in message.causal_history)):
            since[message_id] = min(index, since.get(message_id, index))
    return since


def _hardly_anything_follows(view: ChannelView, step: Step) -> bool:
    """Had the participant received a timestamp which many cannot count on from?"""
    before = (r for r in view.received if r.step.index < step.index)
    most = min(LARGEST_LAMPORT, view.revision.wire.max_lamport - ROOM_AFTER)
    return any((r.message.lamport_timestamp or 0) > most for r in before)


@check("SDS-SEND-11", of="outgoing")
def own_messages_are_in_the_log(view: ChannelView) -> Iterator[Observation]:
    """Own messages enter the own log: the next one refers to them, and replies to them are delivered.

    Where some are shown as in it, another that is not among the last is there all the same, or it is not complete; and
    a reply that is not delivered has another reason then, or where nothing is, unless the log lacks what it names.
    """
    for sent in view.outgoing:
        expected = history_end(view, sent)
        if not expected:
            continue
        own = [item.message_id for item in sent.tail if item.own and item.message_id in expected]
        if not own or tied_at_the_edge(sent, expected):
            continue
        everything_own = {item.message_id for item in sent.tail if item.own}
        if not everything_own.isdisjoint(sent.history):
            yield held(sent.step)
        elif not own_are_shown(view) and not with_outsiders(view, sent):
            yield violated(
                sent.step, "not-logged", f"the own message {own[-1]!r} in causal_history", f"{list(sent.history)}"
            )
    if not view.can(pb.CAPABILITY_DELIVERED):
        return
    for received in view.received:
        if not received.plain or received.unmet:
            continue
        ids = [entry.message_id for entry in received.message.causal_history]
        known = ids and all(view.own(message_id) for message_id in ids)
        # What broke down over it delivered nothing any more, and that is told as such.
        if known and received.step.reply is not None and not may_be_delivered_late(view, received):
            met = bool(received.delivered)
            if not met and (not view.delivered or (own_are_shown(view) and not _absent(view, ids))):
                continue  # SDS-RECV-07
            yield judged(
                received.step,
                "reply-never-delivered",
                met,
                f"a reply to the own message {ids[0]!r} to be delivered",
                "nothing",
            )


def _absent(view: ChannelView, message_ids: list[str]) -> bool:
    """Does the log, as it is last shown, lack one of these own messages?"""
    bounded = limit_in_force(view.trace, "log_entries") is not None
    shown = [] if bounded else view.showing("log")[-1:]
    before = shown[0].step.index if shown else 0
    logged = {message_id for observed in shown for message_id in observed.step.shown_log}
    sent = (own for message_id in message_ids if (own := view.own(message_id)) is not None)
    return any(own.step.index < before and own.message.message_id not in logged for own in sent)

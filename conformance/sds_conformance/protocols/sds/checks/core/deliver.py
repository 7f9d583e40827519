"""Section DELIVER: "Deliver Message", and section CONFLICT: "Resolve Conflicts"."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence

from sds_harness.sds.trace import Step
from sds_proto.testee.v1 import testee_pb2 as pb
from sds_reference import Kind

from .....judging.judgement import Observation, held, judged, violated
from ...register import check
from ...view.channel_view import ChannelView
from ...view.dependencies import depends
from ...view.facts import LogItem
from ...view.histories import outsiders
from ...view.log_orders import Neighbours, neighbours
from ...view.repair_tracker import NEVER

_PAIRS = 3
"""So many pairs in the order of arrival are not so by chance, in an order of another kind: SDS-CONFLICT-01."""


@check("SDS-DELIVER-01", of="received sent")
def own_messages_are_above_what_they_name(view: ChannelView) -> Iterator[Observation]:
    """An own message is above every message in its causal history, whose timestamps the local one has followed.

    This is for who gives no delivery events.
    """
    if view.can(pb.CAPABILITY_DELIVERED):
        return
    for sent in view.sent:
        lamport = sent.message.lamport_timestamp
        came = [view.arrivals[message_id] for message_id in sent.history if message_id in view.arrivals]
        # Of copies that differ, either may be in the log.
        named = [one[0] for one in came if len(one) == 1 and one[0].acceptable]
        if lamport is None or sent.repeat or not named:
            continue
        most = max(named, key=lambda received: received.message.lamport_timestamp or 0)
        above = most.message.lamport_timestamp or 0
        expected = f"lamport_timestamp above {above}, that of {most.message.message_id!r}, which its history names"
        yield judged(sent.step, "too-low", lamport > above, expected, f"{lamport}")


@check("SDS-DELIVER-04", pb.CAPABILITY_DELIVERED, of="log-of-two")
def inserted_by_lamport(view: ChannelView) -> Iterator[Observation]:
    """A late message is inserted where its Lamport timestamp belongs, not where it arrived."""
    for pair in neighbours(view):
        if pair.tied or not pair.inserted_before:
            continue
        if pair.in_order:
            yield held(pair.step)
        else:
            yield violated(pair.step, "wrong-order", pair.expected, "the order of arrival")


@check("SDS-DELIVER-05", pb.CAPABILITY_DELIVERED, of="ties")
def ties_resolved_on_insertion(view: ChannelView) -> Iterator[Observation]:
    """Among equal timestamps the place is decided by "Resolve Conflicts", not by the order of arrival."""
    tied = [pair for pair in neighbours(view) if pair.tied and not (pair.first.own or pair.second.own)]
    by_arrival = all(pair.first.arrival < pair.second.arrival for pair in tied)
    wrong = {(pair.first.message_id, pair.second.message_id) for pair in tied if not pair.in_order}
    for pair in tied:
        if not pair.inserted_before or (by_arrival and len(wrong) < _PAIRS):
            continue
        expected = f"{pair.second.message_id!r} before {pair.first.message_id!r}: equal Lamport, smaller ID"
        seen = "the order in which they arrived"
        yield judged(
            pair.step, "order-of-arrival", not by_arrival, expected, seen, "AMB-88" if pair.in_utf16_order else ""
        )


@check("SDS-DELIVER-06", pb.CAPABILITY_DELIVERED)
def logged_once(view: ChannelView) -> Iterator[Observation]:
    """However often a message arrives, it is in the log once."""
    duplicates = [r for r in view.received if r.duplicate]
    twice = {r.message.message_id for r in duplicates if not r.own}
    since = {r.message.message_id: r.step.index for r in reversed(duplicates)}
    for observed in view.observed:
        ids = observed.step.shown_log
        double = _double(ids)
        again = since and any(since.get(message_id, NEVER) < observed.step.index for message_id in ids)
        if double is not None or again:
            yield judged(
                observed.step,
                "logged-twice",
                double is None,
                f"{double!r} once in the log",
                f"{ids.count(double or '')} times",
            )
    for delivery in view.delivered:
        again = delivery.again and not delivery.maybe_dropped
        if again and delivery.received is not None and delivery.received.kind is Kind.CONTENT:
            yield violated(
                delivery.step,
                "delivered-twice",
                f"{delivery.message_id!r} delivered once",
                "a second delivery",
                "AMB-24",
            )
    for sent in view.outgoing:
        double = _double(sent.history)
        if double is not None:
            others = outsiders(view, sent.history, sent.step.index)
            double = _double([message_id for message_id in sent.history if message_id not in others])
        if double is not None:
            yield violated(
                sent.step, "logged-twice", f"{double!r} once in causal_history", f"{sent.history.count(double)} times"
            )
        elif not twice.isdisjoint(sent.history):
            yield held(sent.step)


def _double(ids: Sequence[str]) -> str | None:
    """The first of the IDs that stands there twice, None if none does."""
    if len(set(ids)) == len(ids):
        return None
    counts = Counter(ids)
    return next((message_id for message_id in ids if counts[message_id] > 1), None)


@check("SDS-DELIVER-07", pb.CAPABILITY_DELIVERED, of="delivered unmet")
def delivered_in_causal_order(view: ChannelView) -> Iterator[Observation]:
    """Of what is delivered in one step, what a message depends on comes before it.

    Where that is delivered only in a later step, the message did not wait: SDS-RECV-05 and SDS-RECV-06.
    """
    if view.gives_up:
        return
    first: dict[str, tuple[int, Step]] = {}
    for number, delivery in enumerate(view.delivered):
        first.setdefault(delivery.message_id, (number, delivery.step))
    for delivery in view.delivered:
        received = delivery.received
        if received is None or received.kind is not Kind.CONTENT or delivery.again or not received.unmet:
            continue
        named = [entry.message_id for entry in received.message.causal_history]
        number = first[delivery.message_id][0]
        after = (i for i in named if i in first and first[i][1] is delivery.step and first[i][0] > number)
        late = next((i for i in after if not depends(view, i, delivery.message_id)), None)
        expected = f"{late!r} delivered before {delivery.message_id!r}, which names it"
        yield judged(delivery.step, "delivered-early", late is None, expected, "after it")


# ---- CONFLICT --------------------------------------------------------------------------------------------------------


def _judge(pair: Neighbours) -> Observation:
    if pair.in_order:
        return held(pair.step)
    first, second = pair.first.message_id, pair.second.message_id
    why = "equal Lamport timestamps, so the smaller ID (by UTF-8 bytes) first"
    expected, soft = f"{second!r} before {first!r} in the log: {why}", "AMB-88" if pair.in_utf16_order else ""
    return violated(
        pair.step,
        "utf16-order" if pair.in_utf16_order else "wrong-order",
        expected,
        f"{first!r} before {second!r}",
        soft,
    )


_HASH = re.compile("(?:[0-9a-f]{2}){4,}")


def _is_hash(item: LogItem) -> bool:
    return _HASH.fullmatch(item.message_id) is not None


@check("SDS-CONFLICT-01", pb.CAPABILITY_DELIVERED, of="ties")
def ties_ascend_by_id(view: ChannelView) -> Iterator[Observation]:
    """Messages with equal Lamport timestamps are in ascending order of message ID."""
    for pair in neighbours(view):
        hashes = _is_hash(pair.first) and _is_hash(pair.second)
        if pair.tied and not hashes and not (pair.first.own or pair.second.own):
            yield _judge(pair)


@check("SDS-CONFLICT-02", pb.CAPABILITY_DELIVERED, of="ties")
def lowest_hash_first(view: ChannelView) -> Iterator[Observation]:
    """Where IDs are hashes, the lowest hash comes first."""
    for pair in neighbours(view):
        hashes = _is_hash(pair.first) and _is_hash(pair.second)
        alike = len(pair.first.message_id) == len(pair.second.message_id)
        if pair.tied and hashes and alike and not (pair.first.own or pair.second.own):
            yield _judge(pair)


@check("SDS-CONFLICT-03", pb.CAPABILITY_DELIVERED, of="ties")
def own_messages_take_part(view: ChannelView) -> Iterator[Observation]:
    """Own messages are ordered among those with equal timestamps like everybody else's."""
    for pair in neighbours(view):
        if pair.tied and pair.first.own != pair.second.own:
            yield _judge(pair)

"""Acknowledgements and deliveries that an implementation postpones from the arrival of a message to the next sweep.

The specification requires acknowledgements and deliveries "upon receiving a message". SDS-RECV-11 judges late
acknowledgements, SDS-RECV-07 late deliveries (AMB-94, AMB-143). All other checks accept the result of the next sweep.
If an implementation never acknowledges or delivers on arrival, the result is unknown until a sweep has run.
"""

from __future__ import annotations

from bisect import bisect_right

from sds_harness.sds.trace import Step
from sds_proto.testee.v1 import testee_pb2 as pb
from sds_reference import Kind

from ....judging.view_cache import cache_per_view
from .channel_view import ChannelView
from .facts import Mention, Received


def next_sweep(view: ChannelView, step: Step) -> Step | None:
    """The first tick after a step; None if there is none."""
    at = bisect_right(view.ticks, step.index, key=lambda tick: tick.index)
    return view.ticks[at] if at < len(view.ticks) else None


@cache_per_view
def _acknowledges_on_arrival(view: ChannelView) -> bool:
    return not view.can(pb.CAPABILITY_ACKNOWLEDGED) or any(ack.step.command == "receive" for ack in view.acks)


@cache_per_view
def _delivers_on_arrival(view: ChannelView) -> bool:
    return not view.can(pb.CAPABILITY_DELIVERED) or any(
        delivery.step.command == "receive" and delivery.received is not None and delivery.received.kind is Kind.CONTENT
        for delivery in view.delivered
    )


def find_late_sweep(view: ChannelView, mention: Mention) -> Step | None:
    """The first sweep after a mention arrived, if this sweep acknowledged the mentioned own message.

    None if the own message was acknowledged on arrival or never, or if other messages are acknowledged on arrival.
    """
    sweep = next_sweep(view, mention.received.step)
    if _acknowledges_on_arrival(view) or sweep is None or mention.received.rejected:
        return None
    acks = view.ack_evidence(mention.message_id).acks
    return sweep if any(ack.step is sweep and not (mention.in_history and ack.possibly) for ack in acks) else None


def was_noticed(view: ChannelView, mention: Mention, at_once: bool | None) -> bool | None:
    """Was the mentioned own message acknowledged when the mention arrived, or in the next sweep?

    ``at_once`` is the answer for the arrival alone. Returns None if unknown, or if no sweep has run yet.
    """
    if at_once or mention.received.rejected or _acknowledges_on_arrival(view):
        return at_once
    if find_late_sweep(view, mention) is not None:
        return True
    return at_once if next_sweep(view, mention.received.step) is not None else None


def first_mention(view: ChannelView, message_id: str) -> int | None:
    """Index of the first step in which another participant's message names an own message, even before it was sent.

    None if the implementation acknowledges on arrival, or if no message names it.
    """
    if _acknowledges_on_arrival(view):
        return None
    naming = (r for r in view.received if any(entry.message_id == message_id for entry in r.message.causal_history))
    return next((received.step.index for received in naming if not received.own), None)


def may_be_delivered_late(view: ChannelView, received: Received) -> bool:
    """May the message still be delivered, because the implementation delivers only in sweeps and no sweep has run
    yet?
    """
    return not _delivers_on_arrival(view) and next_sweep(view, received.step) is None

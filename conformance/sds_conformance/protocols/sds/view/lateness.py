"""Work on what has arrived that is done by the next sweep: one fault, with a name of its own.

"Upon receiving a message" is when the text has it done: that acknowledgements are noticed later is SDS-RECV-11's
matter, and that content is delivered later SDS-RECV-07's (AMB-94, AMB-143). To all other checks what the next sweep
brings has come, and what no sweep could bring yet, of an implementation that is not seen to do it on arrival, is open.
"""

from __future__ import annotations

from bisect import bisect_right

from sds_harness.sds.trace import Step
from sds_proto.testee.v1 import testee_pb2 as pb
from sds_reference import Kind

from ....judging.once import once
from .channel_view import ChannelView
from .facts import Mention, Received


@once
def _ticks_at(view: ChannelView) -> list[int]:
    return [tick.index for tick in view.ticks]


def next_sweep(view: ChannelView, step: Step) -> Step | None:
    """The first tick after a step."""
    at = bisect_right(_ticks_at(view), step.index)
    return view.ticks[at] if at < len(view.ticks) else None


@once
def _acknowledges_on_arrival(view: ChannelView) -> bool:
    return not view.can(pb.CAPABILITY_ACKNOWLEDGED) or any(ack.step.command == "receive" for ack in view.acks)


@once
def _delivers_on_arrival(view: ChannelView) -> bool:
    return not view.can(pb.CAPABILITY_DELIVERED) or any(
        delivery.step.command == "receive" and delivery.received is not None and delivery.received.kind is Kind.CONTENT
        for delivery in view.delivered
    )


def noticed_late(view: ChannelView, mention: Mention) -> Step | None:
    """The sweep by which an acknowledgement was noticed, as soon as one ran; None if it was at once, or never."""
    sweep = next_sweep(view, mention.received.step)
    if _acknowledges_on_arrival(view) or sweep is None or mention.received.rejected:
        return None
    acks = view.standing(mention.message_id).acks
    return sweep if any(ack.step is sweep and not (mention.certain and ack.possibly) for ack in acks) else None


def settled(view: ChannelView, mention: Mention, at_once: bool | None) -> bool | None:
    """Was an acknowledgement noticed, at once or by the next sweep? None where nothing tells, or no sweep came yet."""
    if at_once or mention.received.rejected or _acknowledges_on_arrival(view):
        return at_once
    if noticed_late(view, mention) is not None:
        return True
    return at_once if next_sweep(view, mention.received.step) is not None else None


def named_early(view: ChannelView, message_id: str) -> int | None:
    """The step of the first message that names an own one, perhaps before it was sent, where a sweep may read it."""
    if _acknowledges_on_arrival(view):
        return None
    naming = (r for r in view.received if any(entry.message_id == message_id for entry in r.message.causal_history))
    return next((received.step.index for received in naming if not received.own), None)


def may_be_delivered_late(view: ChannelView, received: Received) -> bool:
    """Is there no delivery because no sweep came, in a trace that shows none on arrival?"""
    return not _delivers_on_arrival(view) and next_sweep(view, received.step) is None

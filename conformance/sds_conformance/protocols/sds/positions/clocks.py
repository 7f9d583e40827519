"""Positions on the value of the Lamport timestamp."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from sds_harness.sds.trace import Step

from ..register import shows
from ..view.channel_view import ChannelView
from ..view.facts import ENDS, LamportExpectation
from ..view.odd_messages import LARGEST_LAMPORT
from ..view.timestamps import moved_sends


def _first(view: ChannelView) -> Iterator[tuple[Step, int]]:
    """Yield the first own message and its timestamp, if nothing had arrived and the clock is known."""
    for sent in view.outgoing[:1]:
        came = any(arrivals[0].step.index < sent.step.index for arrivals in view.arrivals.values())
        lamport = sent.message.lamport_timestamp
        if lamport is not None and sent.lamport.now.exact and sent.lamport.source == "open" and not came:
            yield sent.step, lamport


@shows("AMB-12")
def first_in_the_same_millisecond(view: ChannelView) -> Iterator[tuple[Step, str]]:
    """Show whether the first timestamp of a channel is the time of its creation in milliseconds, or one more.

    Only a message that is sent in the millisecond of the creation is a proof.
    """
    opened = view.party.opened_ms
    for step, lamport in _first(view):
        if step.now_ms == opened and lamport in (opened, opened + 1):
            yield step, "the-time" if lamport == opened else "one-more"


@shows("AMB-111")
def initialised(view: ChannelView) -> Iterator[tuple[Step, str]]:
    """Show whether the first timestamp of a channel follows from the time of its creation or from the time of the first
    send.

    Only a clock that goes back between the two is a proof.
    """
    opened = view.party.opened_ms
    for step, lamport in _first(view):
        if step.now_ms + 1 < opened and lamport in (opened, opened + 1):
            yield step, "at-open"
        elif step.now_ms + 1 < opened and lamport in (step.now_ms, step.now_ms + 1):
            yield step, "at-first-use"


@shows("AMB-14")
def at_the_end(view: ChannelView) -> Iterator[tuple[Step, str]]:
    """Show whether the message after the largest 64-bit timestamp has the same timestamp, has a smaller one, or is
    refused.
    """
    for sent in view.outgoing:
        lamport, e = sent.message.lamport_timestamp, sent.lamport
        if lamport is None or e.previous <= LARGEST_LAMPORT:
            continue
        if e.stays_at_maximum(lamport):
            yield sent.step, "stays"
        elif lamport < e.previous:
            yield sent.step, "wraps"
    ends = (d.step for d in view.delivered if d.received and d.received.message.lamport_timestamp in ENDS)
    largest = next(ends, None)
    if largest is None:
        return
    for step in view.trace.of(view.party.name):
        later = step.channel_id == view.channel_id and step.index > largest.index
        if later and step.command == "send" and step.answer == "rejected" and step.request.send.content:
            yield step, "sends-no-more"


def _show_change(
    view: ChannelView, highs: Callable[[LamportExpectation], tuple[int, int]], unchanged: str, changed: str
) -> Iterator[tuple[Step, str]]:
    """Yield the way ``changed`` if an event changed the local timestamp, or ``unchanged`` if it did not.

    ``highs`` returns (upper bound of the next timestamp if this event changed the local timestamp, upper bound if only
    other events changed it).
    """
    for sent, seen in moved_sends(view):
        e = sent.lamport
        ahead, other = highs(e)
        rest = max(e.high, other, e.own_sender_high)
        if ahead > rest and e.low <= seen <= e.high:
            yield sent.step, unchanged
        elif rest < seen <= ahead:
            yield sent.step, changed


@shows("AMB-15", of="sent")
def moved_by_content(view: ChannelView) -> Iterator[tuple[Step, str]]:
    """Show whether buffered content changes the local timestamp on its arrival or at its delivery."""
    return _show_change(view, lambda e: (e.buffered_high, e.sync_high), "at-delivery", "on-arrival")


@shows("AMB-17", of="sent")
def moved_by_a_sync(view: ChannelView) -> Iterator[tuple[Step, str]]:
    """Show whether a received sync message changes the local timestamp."""
    return _show_change(view, lambda e: (e.sync_high, e.buffered_high), "leaves-it", "takes-it-over")


@shows("AMB-18", of="sent")
def moved_by_an_own_sync(view: ChannelView) -> Iterator[tuple[Step, str]]:
    """Show by the timestamp of the next content message whether an own sync message increases the local timestamp.

    Only timestamps that are ahead of the clock are a proof.
    """
    for sent, seen in moved_sends(view):
        e = sent.lamport
        if e.source == "sync" and e.is_ahead_of_clock and not e.late_delivery and seen in (e.low, e.low - 1):
            yield sent.step, "moves" if seen == e.low else "does-not-move"

"""Lamport timestamps that are not as they had to be: which rule it was that went wrong.

The rule for sending, ``max(now, previous + 1)``, has many parts: the start, the time, the increase, what deliveries and
other channels do to it. Whatever went wrong shows as one wrong number, and is one fault.
"""

from __future__ import annotations

from collections.abc import Iterator

from sds_reference import MAX_LAMPORT

from ....judging.once import once
from .channel_view import ChannelView
from .facts import LamportExpectation, Sent
from .windows import clock_at

NEARBY = 1000
"""Milliseconds from what it should be to where a timestamp is that was counted wrongly, and not read wrongly."""


def lamport_sends(view: ChannelView) -> Iterator[tuple[Sent, int]]:
    """Content messages with a Lamport timestamp that the rule applies to."""
    for sent in view.sent:
        if sent.message.lamport_timestamp is not None and not sent.repeat:
            yield sent, sent.message.lamport_timestamp


def moved_sends(view: ChannelView) -> Iterator[tuple[Sent, int]]:
    """Those by which one can tell what moved the timestamp: not what is wrong by as much where nothing did."""
    usual = _usual_errors(view)
    for sent, seen in lamport_sends(view):
        if sent.lamport.tolerates(seen) or seen - sent.lamport.low not in usual:
            yield sent, seen


def right_syncs(view: ChannelView) -> Iterator[tuple[Sent, LamportExpectation]]:
    """Sync messages with the timestamp that the letter asks for: they show that what went before did not move it.

    Where it is another one, that is SDS-SYNC-03's matter.
    """
    for sync in view.syncs:
        seen, e = sync.message.lamport_timestamp, sync.lamport
        if seen is not None and not sync.repeat and e.low <= seen <= e.high:
            yield sync, e


@once
def _usual_errors(view: ChannelView) -> set[int]:
    """By how much timestamps are wrong where nothing but sending went before."""
    errors: set[int] = set()
    for sent, seen in lamport_sends(view):
        if is_plain(sent.lamport) and not sent.lamport.tolerates(seen):
            errors.add(seen - sent.lamport.low)
    return errors


def is_plain(e: LamportExpectation) -> bool:
    """Has nothing gone before but sending, and time?"""
    disturbed = e.late_delivery or e.rebroadcast or e.answered or e.ephemeral or e.clock_stepped_back
    return e.source in ("open", "send") and not disturbed


def lamport_rule(sent: Sent) -> str:
    """What the message had to carry, in words."""
    e = sent.lamport
    if e.low > MAX_LAMPORT:
        return f"no message, or one that stays at {MAX_LAMPORT}: nothing can follow that (AMB-14)"
    value = str(e.low) if e.low == e.high else f"{e.low} to {e.high}"
    previous = f"previous {e.previous}" if e.low == e.high else "previous"
    if not e.follows_clock:
        return f"a lamport_timestamp that is counted on from {e.previous}"
    now = f"now {e.now.high}" if e.now.exact else "now"
    return f"lamport_timestamp {value} = max({now}, {previous} + 1)"


_UNITS = {"seconds": 0.001, "microseconds": 1_000, "nanoseconds": 1_000_000}
"""Of the time, per millisecond."""


def as_it_looks(sent: Sent, seen: int) -> str:
    """A wrong timestamp, with the likely mistake behind it where the number shows one."""
    e, now = sent.lamport, sent.step.now_ms
    unit = next((unit for unit, per_ms in _UNITS.items() if abs(seen / per_ms - now) <= NEARBY), None)
    if unit is not None:
        return f"{seen}, the time in {unit}"
    if seen < NEARBY < e.low:
        return f"{seen}, counted from 0"
    if seen == e.low & 0xFFFF_FFFF:
        return f"{seen}, the lower 32 bits of {e.low}"
    if seen == e.low << 1:
        return f"{seen}, {e.low} in the encoding of a signed number"
    return f"{seen}, one too much" if seen == e.high + 1 and e.low == e.high else f"{seen}"


def after_a_step_back(sent: Sent) -> bool:
    """Is its timestamp exactly one more than the previous, because the clock is behind that again?

    What counts in another unit is never behind, or always: that is no matter of the step.
    """
    e = sent.lamport
    return e.clock_stepped_back and e.source in ("send", "sync") and not e.late_delivery and e.counts_on


def started_elsewhere(view: ChannelView, sent: Sent, seen: int) -> bool:
    """Does the first timestamp show that it did not start at the epoch time, whatever was made of it since?"""
    e = sent.lamport
    opened = clock_at(view.trace, view.party.opened_ms)
    wrong = e.source == "open" and not e.tolerates(seen)
    return wrong and not opened.low <= seen <= max(e.high, e.now.high) + NEARBY


def fell_behind(sent: Sent, seen: int) -> bool:
    """Was the timestamp counted on from the previous, although time has gone on?"""
    return sent.lamport.previous <= seen < sent.lamport.now.low - NEARBY


@once
def most_ahead_elsewhere(view: ChannelView) -> int:
    """Largest Lamport timestamp that the participant received in its other channels, 0 if none."""
    messages = [step.arrived for step in view.trace.of(view.party.name) if step.arrived is not None]
    others = set(view.party.channels) - {view.channel_id}
    return max((m.lamport_timestamp or 0 for m in messages if m.channel_id in others), default=0)


def of_another_channel(view: ChannelView, sent: Sent, seen: int) -> bool:
    """Is it as far ahead as only another channel is?"""
    ahead = most_ahead_elsewhere(view)
    return ahead > max(sent.lamport.now.high, sent.lamport.high) and seen >= ahead

"""Lamport timestamps of own messages, and their errors."""

from __future__ import annotations

from collections.abc import Iterator

from ....judging.view_cache import cache_per_view
from .channel_view import ChannelView
from .facts import LamportExpectation, Sent

NEARBY = 1000
"""Maximum error of a timestamp, in milliseconds, that wrong counting explains. Larger errors have other causes, such as
a wrong unit.
"""


def lamport_sends(view: ChannelView) -> Iterator[tuple[Sent, int]]:
    """Yield the own content messages with a Lamport timestamp and a new ID, each with the timestamp."""
    for sent in view.sent:
        if sent.message.lamport_timestamp is not None and not sent.repeat:
            yield sent, sent.message.lamport_timestamp


def moved_sends(view: ChannelView) -> Iterator[tuple[Sent, int]]:
    """Yield the own content messages whose timestamps show which event changed the local timestamp, with the timestamp.

    A message is left out if the error of its timestamp is one of the `usual_errors`.
    """
    usual = usual_errors(view)
    for sent, seen in lamport_sends(view):
        if sent.lamport.tolerates(seen) or seen - sent.lamport.low not in usual:
            yield sent, seen


@cache_per_view
def usual_errors(view: ChannelView) -> set[int]:
    """The errors in the timestamps of messages before which the participant only sent messages."""
    errors: set[int] = set()
    for sent, seen in lamport_sends(view):
        if only_sends_preceded(sent.lamport) and not sent.lamport.tolerates(seen):
            errors.add(seen - sent.lamport.low)
    return errors


def only_sends_preceded(e: LamportExpectation) -> bool:
    """Did only own messages and the time change the local timestamp?"""
    disturbed = e.late_delivery or e.rebroadcast or e.answered or e.ephemeral or e.clock_stepped_back
    return e.source in ("open", "send") and not disturbed


UNITS = {"seconds": 0.001, "microseconds": 1_000, "nanoseconds": 1_000_000}
"""The number of units in a millisecond, by the name of the unit."""


def describe_wrong_timestamp(e: LamportExpectation, now: int, seen: int) -> str:
    """Describe the wrong timestamp ``seen``, with the likely mistake if the number reveals it.

    ``now`` is the time in milliseconds.
    """
    unit = next((unit for unit, per_ms in UNITS.items() if abs(seen / per_ms - now) <= NEARBY), None)
    if unit is not None:
        return f"{seen}, the time in {unit}"
    if seen < NEARBY < e.low:
        return f"{seen}, counted from 0"
    if seen == e.low & 0xFFFF_FFFF:
        return f"{seen}, the lower 32 bits of {e.low}"
    if seen == e.low << 1:
        return f"{seen}, which is {e.low} in the encoding of a signed number"
    return f"{seen}, one more than the largest allowed value" if seen == e.high + 1 and e.low == e.high else f"{seen}"


@cache_per_view
def largest_lamport_elsewhere(view: ChannelView) -> int:
    """The largest Lamport timestamp that the participant received in its other channels; 0 if there is none."""
    messages = [step.arrived for step in view.trace.of(view.party.name) if step.arrived is not None]
    others = set(view.party.channels) - {view.channel_id}
    return max((m.lamport_timestamp or 0 for m in messages if m.channel_id in others), default=0)

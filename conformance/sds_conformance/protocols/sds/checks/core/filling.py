"""Section STATE, the bloom filter when it is full: what a roll-over keeps, and how often strangers hit."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from dataclasses import dataclass

from sds_harness.sds.trace import Step
from sds_proto.testee.v1 import testee_pb2 as pb
from sds_reference import Kind

from .....judging.judgement import Observation, judged
from .....judging.once import once
from ...register import check
from ...view.channel_view import ChannelView
from ...view.facts import Sent
from ...view.false_positives import (
    ASKED_AFTER_ROLL_OVER,
    FALSE_ALARM,
    UNDECLARED_RATE,
    asked_at_capacity,
    degenerate_share,
    false_hits,
    reads_filters,
    size_is_its_own,
    spread,
    too_many,
)
from .send import judge_members

NEARLY_FULL = 0.95
"""So much of the capacity is full: with more, some implementations roll over."""
FEW = 5
"""That many the other checks ask for in any case."""
GROWTH = 1.1
GROWTH_BYTES = 16
"""A filter that has ceased to grow may still vary in length by so much, if its encoding compresses it."""


@dataclass(frozen=True, slots=True)
class _Filling:
    """An own message, and how many IDs may be in its filter."""

    sent: Sent
    received: int
    """Messages of others, each counted once."""
    others: int
    """Own and ephemeral messages and copies: they may take room (AMB-19, AMB-36, AMB-112)."""


@once
def _entries(view: ChannelView) -> list[tuple[int, str]]:
    """All that may enter the filter, in order: the step, and the ID if it must enter."""
    own = [s.step.index for s in view.sent + view.ephemerals] + [copy.step.index for copy in view.copies]
    others = [(r, r.acceptable and not r.unmet) for r in view.received if r.kind is not Kind.SYNC]
    received = [(r.step.index, r.message.message_id if must else "") for r, must in others]
    return sorted([*received, *((index, "") for index in own)])


@once
def _fillings(view: ChannelView) -> list[_Filling]:
    """All own messages with a filter, in order, with what came before each."""
    out: list[_Filling] = []
    entries = _entries(view)
    at = received = others = 0
    for sent in view.outgoing:
        while at < len(entries) and entries[at][0] < sent.step.index:
            received += bool(entries[at][1])
            others += not entries[at][1]
            at += 1
        if sent.message.bloom_filter is not None and not sent.repeat:
            out.append(_Filling(sent, received, others))
    return out


def _rolled_over(view: ChannelView) -> tuple[_Filling, list[_Filling]] | None:
    """The last message by which three times the capacity has been received, and all before it."""
    c = view.configuration
    if not (c.bloom_capacity and 0 < c.bloom_error_rate < 1) or len(view.received) < 3 * c.bloom_capacity:
        return None
    fillings = _fillings(view)
    if not fillings or fillings[-1].received < 3 * c.bloom_capacity:
        return None
    return fillings[-1], fillings[:-1]


@check("SDS-STATE-05", of="outgoing")
def nothing_is_forgotten_before_it_is_full(view: ChannelView) -> Iterator[Observation]:
    """As long as a filter has room for all that may be in it, all that was delivered is in it.

    Only "once it reaches" its capacity may it be recomputed. That of what had to wait is SDS-RECV-04.
    """
    if len(view.received) < FEW:
        return
    room = NEARLY_FULL * view.configuration.bloom_capacity
    roomy = [f for f in _fillings(view) if f.received + f.others <= room] if room and reads_filters(view) else []
    holds = view.filter_of(_bytes(roomy[-1].sent)) if roomy else None
    if holds is None or roomy[-1].received < FEW:
        return
    step = roomy[-1].sent.step
    done = {delivery.message_id for delivery in view.delivered if delivery.step.index < step.index}
    received = [message_id for index, message_id in _entries(view) if message_id in done and index < step.index]
    expected = f"all {len(received)} IDs of what was delivered in a filter for {view.configuration.bloom_capacity}"
    yield from judge_members(step, holds, received, expected, "{} is not")


@check("SDS-STATE-06", of="outgoing received")
def filters_cease_to_grow(view: ChannelView) -> Iterator[Observation]:
    """After three times its capacity the filter is no longer than up to twice: it was recomputed, not extended."""
    found = _rolled_over(view)
    if found is None:
        return
    last, before = found
    capacity = view.configuration.bloom_capacity
    lengths = [len(_bytes(f.sent)) for f in before if capacity <= f.received <= 2 * capacity]
    if not lengths:
        return
    seen, most = len(_bytes(last.sent)), max(lengths) * GROWTH + GROWTH_BYTES
    if seen > most or (reads_filters(view) and view.filter_of(_bytes(last.sent)) is not None):
        # A length alone does not show a roll-over.
        expected = f"a bloom filter for {capacity} IDs that stays at {max(lengths)} bytes"
        yield judged(last.sent.step, "filter-grows", seen <= most, expected, f"{seen} bytes after {last.received} IDs")


@check("SDS-STATE-06")
def newest_survive_the_roll_over(view: ChannelView) -> Iterator[Observation]:
    """From the first roll-over on, the newest IDs, a tenth of the capacity, are in the filter all the time (AMB-55)."""
    for step, members, capacity in _built(view):
        built = view.filter_of(step.reply.filter.bloom_filter) if len(members) >= 3 * capacity and step.reply else None
        if built is not None:
            newest = members[-max(1, capacity // 10) :]
            expected = f"the newest {len(newest)} of {len(members)} IDs in the filter"
            yield from judge_members(step, built, newest, expected, "{} is not")
    found = _rolled_over(view)
    if found is None or not reads_filters(view):
        return
    entries = _entries(view)
    for filling in [*found[1], found[0]]:
        sent = filling.sent
        holds = view.filter_of(_bytes(sent))
        if filling.received < view.configuration.bloom_capacity or holds is None:
            continue
        newest = _newest(view, entries, sent, bool(holds(sent.message.message_id)))
        if newest:
            expected = f"the newest {len(newest)} IDs in the filter, whatever older ones were rolled out of it"
            yield from judge_members(sent.step, holds, newest, expected, "{} is not")


def _newest(view: ChannelView, entries: list[tuple[int, str]], sent: Sent, itself: bool) -> list[str]:
    """IDs received among the newest tenth of the capacity of all that may have entered the filter."""
    room = max(1, view.configuration.bloom_capacity // 10) - itself
    end = bisect_left(entries, (sent.step.index, ""))
    return [message_id for _, message_id in entries[max(0, end - room) : end] if message_id]


@check("SDS-STATE-06", pb.CAPABILITY_OBSERVE, of="observed received")
def the_newest_are_shown_in_the_filter(view: ChannelView) -> Iterator[Observation]:
    """Where the filter itself is asked, it holds the newest tenth of its capacity, whatever its encoding (AMB-55)."""
    newest = max(1, view.configuration.bloom_capacity // 10) if view.configuration.bloom_capacity else 0
    came: dict[str, int] = {}
    for received in view.received if newest else ():
        if received.acceptable:
            came.setdefault(received.message.message_id, received.step.index)
    ids = list(came)
    for observed in view.observed if newest else ():
        at = bisect_right(ids, observed.step.index, key=lambda message_id: came[message_id])
        kept = set(ids[max(0, at - newest) : at][:-1])
        hits = dict(zip(observed.step.request.observe.filter_ids, observed.state.filter_hits, strict=False))
        asked = [message_id for message_id in hits if message_id in kept]
        gone = next((message_id for message_id in asked if not hits[message_id]), "")
        if asked and at > view.configuration.bloom_capacity:
            expected = f"{gone!r}, of the newest {newest} that came, in the filter"
            yield judged(observed.step, "not-in-filter", not gone, expected, "it is not in it")


@check("SDS-RECV-04", of="outgoing received")
def the_full_filter_takes_the_next(view: ChannelView) -> Iterator[Observation]:
    """Once a filter is full, what is received enters it all the same, that which makes it roll over too (AMB-55)."""
    c, last = view.configuration, 0
    if not c.bloom_capacity or len(view.received) < c.bloom_capacity or not reads_filters(view):
        return
    entries = _entries(view)
    for filling in _fillings(view):
        holds, index = view.filter_of(_bytes(filling.sent)), filling.sent.step.index
        if holds is not None and filling.received >= c.bloom_capacity // 2:
            arrived = {message_id for step, message_id in entries if last < step < index}
            newest = _newest(view, entries, filling.sent, bool(holds(filling.sent.message.message_id)))
            fresh = [message_id for message_id in newest if message_id in arrived]
            expected = "{}, received since the message before, in the filter of the next, however full that is"
            yield from judge_members(filling.sent.step, holds, fresh, expected) if fresh else ()
        last = index


@check("SDS-STATE-06")
def false_hits_stay_bounded(view: ChannelView) -> Iterator[Observation]:
    """After roll-overs strangers hit no more than twice as often as with the target rate.

    Judged with the exact tail of the binomial distribution and the spread of filters of that size: a filter whose rate
    is twice the target is reproached with a probability below 1e-6. The strangers that ask a small filter for next to
    no bits are allowed for besides.
    """
    found = _rolled_over(view)
    if found is not None:
        yield from _judge_bounded(view, found[0].sent.step, _bytes(found[0].sent), found[0].received)
    for step, members, capacity in _built(view):
        if len(members) >= 3 * capacity and step.reply is not None and 0 < view.configuration.bloom_error_rate < 1:
            yield from _judge_bounded(view, step, step.reply.filter.bloom_filter, len(members))


def _judge_bounded(view: ChannelView, step: Step, bloom_filter: bytes, received: int) -> Iterator[Observation]:
    c = view.configuration
    deviation = spread(c.bloom_capacity, c.bloom_error_rate)
    degenerate = 2 * degenerate_share(c.bloom_capacity, c.bloom_error_rate)
    when = f"after {received:,} IDs, {received // c.bloom_capacity} times its capacity"
    limit = 2 * c.bloom_error_rate
    yield from _judge_rate(view, step, bloom_filter, limit, ASKED_AFTER_ROLL_OVER, deviation, when, degenerate)


def _built(view: ChannelView) -> Iterator[tuple[Step, list[str], int]]:
    """Filters that the codec built for the capacity in force, with the IDs that were received, and the capacity."""
    capacity = view.configuration.bloom_capacity
    if capacity and size_is_its_own(view.party) and view.channel_id == view.party.channels[0]:
        for step in view.trace.steps:
            if step.answer == "filter":
                yield step, list(dict.fromkeys(step.request.build_filter.message_ids)), capacity


SMALLEST = 200
"""Filters for fewer IDs have so few bits that one in many is several times worse than another by mere chance."""


@check("SDS-STATE-07")
def full_filters_keep_their_rate(view: ChannelView) -> Iterator[Observation]:
    """In a full filter, strangers that resemble its members hit as seldom as declared, half as often again tolerated.

    Judged with the exact tail of the binomial distribution and the spread of filters of that size: a filter whose rate
    is half as much again as declared is reproached with a probability below 1e-6. Measured, of the filters that are
    published, for 1,000 IDs at 1 %: 0.8 of that rate.
    """
    c = view.configuration
    if c.bloom_capacity < SMALLEST:
        return
    # The filter of the last message before which it was full, and not over-full, or one that was built full.
    enough = len(view.received) >= NEARLY_FULL * c.bloom_capacity
    room = c.bloom_capacity
    fillings = _fillings(view) if enough else []
    full = [f for f in fillings if NEARLY_FULL * room <= f.received <= room - f.others]
    if full:
        sent = full[-1].sent
        yield from _judge_full(view, sent.step, _bytes(sent))
    for step, members, capacity in _built(view) if not full else ():
        if step.reply is not None and len(members) == capacity:
            yield from _judge_full(view, step, step.reply.filter.bloom_filter)


def _judge_full(view: ChannelView, step: Step, bloom_filter: bytes) -> Iterator[Observation]:
    c = view.configuration
    declared = c.bloom_error_rate if 0 < c.bloom_error_rate < 1 else None
    rate = declared or UNDECLARED_RATE
    yield from _judge_rate(
        view,
        step,
        bloom_filter,
        1.5 * declared if declared is not None else UNDECLARED_RATE,
        asked_at_capacity(rate),
        spread(c.bloom_capacity, rate),
        f"with {c.bloom_capacity} IDs, all it is made for",
    )


def _judge_rate(
    view: ChannelView,
    step: Step,
    bloom_filter: bytes,
    limit: float,
    count: int,
    deviation: float,
    when: str,
    degenerate: float = 0.0,
) -> Iterator[Observation]:
    found = false_hits(view, bloom_filter, count)
    if found is None or found[1] < count // 2:
        return
    hits, asked = found
    expected = f"false hits of the bloom filter in at most {limit + degenerate:.3%} of cases {when}"
    chance = f"by chance less than once in {1 / FALSE_ALARM:,.0f} times"
    seen = f"{hits} of {asked} IDs that it never met, {hits / asked:.3%}; {chance}"
    yield judged(step, "too-many-false-hits", hits < too_many(limit, asked, deviation, degenerate), expected, seen)


def _bytes(sent: Sent) -> bytes:
    return sent.message.bloom_filter or b""

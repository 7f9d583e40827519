"""Positions on the content and encoding of sent bloom filters."""

from __future__ import annotations

from collections.abc import Iterator

from sds_harness.sds.stage import bloom_parameters
from sds_harness.sds.trace import Step
from sds_reference import PROFILES, BloomParameters, BloomProfile, ForeignFilterError, Kind

from ..register import shows
from ..view.channel_view import ChannelView
from ..view.deafness import ROLL_OVER_KEEPS
from ..view.facts import Sent

SOME = 3
"""Minimum number of IDs. The probability that a filter holds all of them by chance is one in a million."""


def _has_dropped_none(view: ChannelView, first: int, last: Sent) -> bool:
    """Does the filter of ``last`` contain all IDs since the step with the index ``first``, whenever it rolled over?"""
    steps = [*(s.step for s in view.sent), *(r.step for r in view.received)]
    return sum(first <= step.index < last.step.index for step in steps) <= ROLL_OVER_KEEPS


def _last_with_filter(view: ChannelView) -> Sent | None:
    """The last own message with a filter; None if there is none. One filter is enough, and reading all filters takes
    time.
    """
    return next(
        (s for s in reversed(view.outgoing) if s.message.bloom_filter and s.log_is_known and not s.repeat), None
    )


@shows("AMB-19")
def own_ids(view: ChannelView) -> Iterator[tuple[Step, str]]:
    """Show whether sent bloom filters contain the IDs of own messages.

    The proof is the last filter, if it contains the three own messages before it, or lacks one of them. The way
    "itself" is shown, too, if the filter of each of these messages contains the message itself.
    """
    last = _last_with_filter(view)
    holds = view.filter_of(last.message.bloom_filter) if last is not None else None
    if last is None or holds is None:
        return
    earlier = [s for s in view.sent if s.step.index < last.step.index and not s.repeat][-SOME:]
    answers = [holds(sent.message.message_id) for sent in earlier]
    if False in answers:
        if _has_dropped_none(view, earlier[0].step.index, last):
            yield last.step, "out"
    elif answers == [True] * SOME:
        yield last.step, "in"
        within = [view.filter_of(sent.message.bloom_filter) for sent in earlier]
        if all(each and each(s.message.message_id) for each, s in zip(within, earlier, strict=True)):
            yield last.step, "itself"


@shows("AMB-36")
def ids_of_ephemerals(view: ChannelView) -> Iterator[tuple[Step, str]]:
    """Show whether sent bloom filters contain the IDs of received ephemeral messages.

    The proof is the last filter, if it contains all of two or more such IDs, or lacks one such ID.
    """
    last = _last_with_filter(view)
    if last is None:
        return
    came = {
        r.message.message_id: r.step.index
        for r in view.received
        if r.kind is Kind.EPHEMERAL and r.step.index < last.step.index and not (r.own or r.rejected)
        if r.message.message_id not in view.known_ids
    }
    holds = view.filter_of(last.message.bloom_filter) if came else None
    answers = {holds(message_id) for message_id in came} if holds is not None else set()
    if False in answers:
        if _has_dropped_none(view, min(came.values()), last):
            yield last.step, "out"
    elif answers == {True} and len(came) > 1:
        yield last.step, "in"


@shows("AMB-54")
def encoding_of_filters(view: ChannelView) -> Iterator[tuple[Step, str]]:
    """Show which known encoding of bloom filters is used: the only one in which a filter contains three delivered
    messages.
    """
    ids = list(dict.fromkeys(d.message_id for d in view.delivered if d.received and d.received.plain))[:SOME]
    if len(ids) < SOME or view.trace.environment != "plain":
        return
    last, parameters = _last_with_filter(view), bloom_parameters(view.party)
    third = next(d.step.index for d in view.delivered if d.message_id == ids[-1])
    if last is None or parameters is None or last.step.index <= third or len(view.received) > SOME * 4:
        return
    wire = last.message.bloom_filter or b""
    fitting = [name for name, profile in PROFILES.items() if _holds(profile, wire, parameters, ids)]
    if len(fitting) <= 1:
        yield last.step, fitting[0] if fitting else "otherwise"


def _holds(profile: BloomProfile, wire: bytes, parameters: BloomParameters, ids: list[str]) -> bool:
    try:
        filter_ = profile.read(wire, parameters)
    except ForeignFilterError:
        return False
    return all(message_id in filter_ for message_id in ids)


@shows("AMB-125", of="outgoing")
def filter_of_nothing(view: ChannelView) -> Iterator[tuple[Step, str]]:
    """Show whether the bloom filter of a message without predecessors has its full length or no bytes."""
    for first in view.outgoing[:1]:
        earliest = all(arrivals[0].step.index > first.step.index for arrivals in view.arrivals.values())
        if earliest and first.message.bloom_filter is not None:
            yield first.step, "full-length" if first.message.bloom_filter else "no-length"

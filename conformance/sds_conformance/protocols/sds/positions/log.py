"""Positions on the order, the display and the size of the log."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

from sds_harness.sds.trace import Step
from sds_proto.testee.v1 import testee_pb2 as pb

from ..register import shows
from ..view.channel_view import ChannelView
from ..view.log_orders import neighbours

MANY = 900
"""Number of later messages after which a log of bounded size is likely to have dropped a message."""


@shows("AMB-29", of="outgoing")
def direction_of_histories(view: ChannelView) -> Iterator[tuple[Step, str]]:
    """Show whether causal histories name older messages first or newer messages first.

    Only a causal history whose Lamport timestamps strictly increase, or strictly decrease, is a proof.
    """
    for sent in view.outgoing:
        if not sent.log_is_known or len(sent.history) < 2:
            continue
        lamports = sent.named_lamports
        if len(lamports) == len(sent.history):
            if _are_ascending(lamports):
                yield sent.step, "ascending"
            elif _are_ascending(lamports[::-1]):
                yield sent.step, "descending"


def _are_ascending(numbers: Sequence[int]) -> bool:
    return all(first < second for first, second in pairwise(numbers))


@shows("AMB-148", of="outgoing")
def repeated_names(view: ChannelView) -> Iterator[tuple[Step, str]]:
    """Show whether causal histories name an ID twice. Only a history of several entries is a proof."""
    for sent in view.outgoing:
        if len(sent.history) > 1:
            yield sent.step, "once" if len(set(sent.history)) == len(sent.history) else "twice"


@shows("AMB-88", of="ties")
def order_of_ids(view: ChannelView) -> Iterator[tuple[Step, str]]:
    """Show whether messages with equal timestamps are in the order of their IDs by code points, by UTF-16, or by
    neither.
    """
    found: dict[str, Step] = {}
    for pair in neighbours(view):
        if not pair.tied:
            continue
        first, second = (item.message_id.encode("utf-16-be", "surrogatepass") for item in (pair.first, pair.second))
        if pair.in_order and first > second:
            found.setdefault("code-points", pair.step)
        elif not pair.in_order:
            found.setdefault("utf-16" if first < second else "otherwise", pair.step)
    if len(found) > 1:
        found = {"otherwise": min(found.values(), key=lambda step: step.index)}
    yield from ((step, name) for name, step in found.items())


@shows("AMB-96", pb.CAPABILITY_DELIVERED, of="received")
def size_of_the_log(view: ChannelView) -> Iterator[tuple[Step, str]]:
    """Show whether content is delivered immediately if it depends on a message that arrived more than 900 messages
    before.
    """
    if len(view.received) < MANY:
        return
    place = {received.message.message_id: number for number, received in reversed(list(enumerate(view.received)))}
    for number, received in enumerate(view.received):
        oldest = min((place.get(e.message_id, number) for e in received.message.causal_history), default=number)
        if number - oldest > MANY and received.acceptable and not received.unmet:
            yield received.step, "keeps" if received.delivered_at_once else "forgets"


@shows("AMB-127", of="hints outgoing")
def hints_in_histories(view: ChannelView) -> Iterator[tuple[Step, str]]:
    """Show whether entries of causal histories repeat the retrieval hint that arrived with a message, or have another
    or none.
    """
    for sent in view.outgoing:
        for entry in sent.message.causal_history:
            if given := view.hints.get(entry.message_id):
                kept = "repeats" if entry.retrieval_hint in given else "own"
                yield sent.step, kept if entry.retrieval_hint else "leaves-out"


@shows("AMB-103", pb.CAPABILITY_SYNC)
def sync_with_nothing_to_say(view: ChannelView) -> Iterator[tuple[Step, str]]:
    """Show whether a requested sync message is sent before any message was sent or received in the channel."""
    first_arrivals = [arrivals[0].step.index for arrivals in view.arrivals.values()]
    begun = min([*first_arrivals, *(sent.step.index for sent in view.sent)], default=len(view.trace.steps) + 1)
    for step in view.trace.of(view.party.name):
        early = step.channel_id == view.channel_id and step.index < begun
        if early and step.command == "send_sync" and step.answer == "effects":
            yield step, "sends" if step.broadcasts else "sends-none"


@shows("AMB-142")
def order_of_channels(view: ChannelView) -> Iterator[tuple[Step, str]]:
    """Show whether a step sends the messages of several channels in the order in which the channels were joined."""
    channels = list(view.party.channels)
    if len(channels) < 2 or view.channel_id != channels[0]:
        return
    for step in view.trace.of(view.party.name):
        where = [channels.index(m.channel_id) for m in step.messages if m.channel_id in channels]
        if len(set(where)) > 1:
            forth = where == sorted(where)
            yield step, "as-joined" if forth else "last-first" if where == sorted(where, reverse=True) else "mixed"

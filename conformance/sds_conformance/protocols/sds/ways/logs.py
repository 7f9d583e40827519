"""How the log is ordered, shown and kept."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

from sds_harness.sds.trace import Step
from sds_proto.testee.v1 import testee_pb2 as pb
from sds_reference import Kind, Message

from ..register import way
from ..view.channel_view import ChannelView
from ..view.log_orders import neighbours

MANY = 900


@way("AMB-29", {"ascending": "oldest first", "descending": "newest first"}, of="outgoing")
def direction_of_histories(view: ChannelView) -> Iterator[tuple[Step, str]]:
    """The timestamps of the entries of a causal history, two at least, rise strictly or fall strictly."""
    for sent in view.outgoing:
        if not sent.certain or len(sent.history) < 2:
            continue
        places = {item.message_id: item.lamport for item in sent.tail}
        lamports = [places[message_id] for message_id in sent.history if message_id in places]
        if len(lamports) == len(sent.history):
            if _rise(lamports):
                yield sent.step, "ascending"
            elif _rise(lamports[::-1]):
                yield sent.step, "descending"


def _rise(numbers: Sequence[int]) -> bool:
    return all(first < second for first, second in pairwise(numbers))


@way(
    "AMB-88",
    {
        "code-points": "by code points, which is the order of UTF-8",
        "utf-16": "by units of UTF-16",
        "otherwise": "in an order that is neither",
    },
    of="ties",
)
def order_of_ids(view: ChannelView) -> Iterator[tuple[Step, str]]:
    """All IDs of one timestamp stand as one order has them, and not as the other; or some as neither has them."""
    lamports = [message.lamport_timestamp for message in _logged(view)]
    if len(set(lamports)) == len(lamports):
        return
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


def _logged(view: ChannelView) -> Iterator[Message]:
    """What may stand in the log."""
    yield from (sent.message for sent in view.sent)
    yield from (r.message for r in view.received if r.kind is Kind.CONTENT and not r.duplicate)


@way(
    "AMB-96",
    {"keeps": "knows a message that came nine hundred before", "forgets": "has forgotten a message that came so early"},
    of="received",
)
def size_of_the_log(view: ChannelView) -> Iterator[tuple[Step, str]]:
    """Content depends on a message that nine hundred others came after, and is delivered at once, or not."""
    if len(view.received) < MANY or not view.can(pb.CAPABILITY_DELIVERED):
        return
    place = {received.message.message_id: number for number, received in reversed(list(enumerate(view.received)))}
    for number, received in enumerate(view.received):
        oldest = min((place.get(e.message_id, number) for e in received.message.causal_history), default=number)
        if number - oldest > MANY and received.acceptable and not received.unmet:
            yield received.step, "keeps" if received.delivered_at_once else "forgets"


@way(
    "AMB-127",
    {
        "repeats": "repeats hints that it was given",
        "leaves-out": "leaves hints out that it was given",
        "own": "puts another hint in their place",
    },
    of="hints outgoing",
)
def hints_in_histories(view: ChannelView) -> Iterator[tuple[Step, str]]:
    """An entry of a causal history is about a message with a known hint: it has that, none, or another one."""
    if not view.hints:
        return
    for sent in view.outgoing:
        for entry in sent.message.causal_history:
            given = view.hints.get(entry.message_id)
            if not given:
                continue
            if not entry.retrieval_hint:
                yield sent.step, "leaves-out"
            else:
                yield sent.step, "repeats" if entry.retrieval_hint in given else "own"


@way("AMB-103", {"sends": "sends a sync message with an empty causal history", "sends-none": "sends none"})
def sync_with_nothing_to_say(view: ChannelView) -> Iterator[tuple[Step, str]]:
    """A sync message is asked for before anything was sent or received in the channel: one goes out, or none."""
    if not view.can(pb.CAPABILITY_SYNC):
        return
    begun = min((s.step.index for s in view.sent), default=len(view.trace.steps) + 1)
    came = min((a[0].step.index for a in view.arrivals.values()), default=begun)
    for step in view.trace.of(view.party.name):
        if step.index >= min(begun, came):
            return
        if step.command == "send_sync" and step.channel_id == view.channel_id and step.answer == "effects":
            yield step, "sends" if step.broadcasts else "sends-none"


@way(
    "AMB-142",
    {
        "as-joined": "channel by channel, in the order in which they were joined",
        "last-first": "channel by channel, the last one that was joined first",
        "mixed": "in another order",
    },
)
def order_of_channels(view: ChannelView) -> Iterator[tuple[Step, str]]:
    """One step sends messages of several channels: the order of these is seen."""
    channels = list(view.party.channels)
    if len(channels) < 2 or view.channel_id != channels[0]:
        return
    for step in view.trace.of(view.party.name):
        where = [channels.index(m.channel_id) for m in step.messages if m.channel_id in channels]
        if len(set(where)) > 1:
            forth = where == sorted(where)
            yield step, "as-joined" if forth else "last-first" if where == sorted(where, reverse=True) else "mixed"

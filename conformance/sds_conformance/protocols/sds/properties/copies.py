"""Properties of copies: all participants send equal copies of a message, and an ephemeral message is delivered once per
copy.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from sds_reference import Kind

from ...properties import Sighting, observe_met, observe_outcome, observe_violation
from ..view.facts import CODES_BY_FIELD, changed_fields, is_same_message
from .group_view import GroupView
from .registry import global_property, of_each_channel, of_each_side
from .sides import Side


@global_property(
    "G-31",
    "All copies of a message are the same",
    "MSG-21",
    "OUTSWEEP-05",
    "R-SWEEP-05",
    codes={
        "sender-changed": "a copy has another sender than the original",
        "channel-changed": "a copy has another channel than the original",
        "timestamp-changed": "a copy has another Lamport timestamp than the original",
        "history-changed": "a copy has another causal history than the original",
        "content-changed": "a copy has another content than the original",
    },
)
@of_each_channel
def all_copies_of_a_message_are_the_same(view: GroupView) -> Iterator[Sighting]:
    """Resends and repairs have the sender, channel, Lamport timestamp, causal history and content of the original.

    Filters, hints and repair requests may be refreshed (AMB-65).
    """
    originals: dict[str, list[str]] = {}
    for channel_id, message_id in view.origins:
        originals.setdefault(message_id, []).append(channel_id)
    # Scripted peers, or random bytes, may have created another version of these messages (AMB-25).
    packets = view.group_trace.packets if view.disputed else ()
    scripted = {(m.channel_id, m.message_id) for p in packets if not p.act and (m := p.wire.message) is not None}
    for packet in view.group_trace.packets:
        message = packet.wire.message
        if message is None or not packet.act or message.kind is Kind.SYNC:
            continue
        channels = originals.get(message.message_id, ())
        other = message.kind is Kind.EPHEMERAL and (message.channel_id, message.message_id) in view.other_ids
        if not channels or other:
            continue
        channel_id = message.channel_id if message.channel_id in channels else channels[0]
        origin = view.origins[channel_id, message.message_id]
        if origin.packet is packet:
            continue
        act = view.group_trace.acts[packet.act - 1]
        if channel_id == message.channel_id and is_same_message(origin.message, message):
            yield observe_met(act, channel_id)
        elif (channel_id, message.message_id) not in scripted:
            what = "the sender, channel, Lamport timestamp, causal history and content of the original"
            seen = f"{act.who} broadcasts a copy that differs"
            code = CODES_BY_FIELD[next(changed_fields(origin.message, message))]
            yield observe_violation(act, channel_id, code, f"a copy of {message.message_id!r} with {what}", seen)


@global_property(
    "G-18",
    "No copy of an ephemeral message is delivered twice",
    "EPHEMERAL-04",
    "EPHEMERAL-05",
    codes={"delivered-too-often": "an ephemeral message is delivered more often than it arrived"},
)
@of_each_side
def no_copy_of_an_ephemeral_message_is_delivered_twice(view: GroupView, side: Side) -> Iterator[Sighting]:
    """An ephemeral message is delivered at most once for each copy that arrived (AMB-38)."""
    times: Counter[str] = Counter()
    for delivery in side.deliveries:
        message_id = delivery.message_id
        if message_id not in side.ephemerals or (side.channel_id, message_id) in view.origins:
            continue
        times[message_id] += 1
        came = side.ephemerals[message_id]
        expected = (
            f"the ephemeral message {message_id!r} delivered at {side.who} at most once for each copy that arrives"
        )
        seen = f"the message is delivered {times[message_id]} times, and {came} copies arrived"
        met = times[message_id] <= came
        yield observe_outcome(delivery.act, side.channel_id, "delivered-too-often", met, expected, seen)

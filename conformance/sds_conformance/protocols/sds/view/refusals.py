"""Messages that were refused, or dropped silently.

If a participant refuses a valid message, the missing effect of the message is a fault. If it accepts no message at all,
correct results prove nothing.
"""

from __future__ import annotations

from collections.abc import Iterator

from sds_proto.testee.v1 import testee_pb2 as pb
from sds_reference import Kind

from ....judging.view_cache import cache_per_view
from .channel_view import ChannelView
from .deafness import count_shown_messages
from .dependencies import depends_on
from .facts import Received


@cache_per_view
def arrived_in_order(view: ChannelView) -> list[Received]:
    """All messages that arrived, refused or not, in order."""
    return sorted(view.received + view.refused, key=lambda received: received.step.index)


@cache_per_view
def accepted_any(view: ChannelView) -> bool | None:
    """Did the participant accept any message? None if this is unknown, or if there was no message that it had to
    accept.
    """
    if view.delivered or any(ack.step.command == "receive" for ack in view.acks):
        return True
    answered = (r for r in arrived_in_order(view) if r.valid and not r.duplicate and r.step.reply is not None)
    due = [r for r in answered if not excuse_refusal(view, r)]
    if not view.can(pb.CAPABILITY_DELIVERED):
        refused = bool(due) and all(r.rejected for r in due)
        return False if refused else count_shown_messages(view).took
    traces = [trace for received in due for trace in _find_traces(view, received)]
    return any(traces) if traces else None


def _find_traces(view: ChannelView, received: Received) -> Iterator[bool]:
    """For each signal or state of the trace that must show an effect of a message, yield whether the effect is
    visible.
    """
    if received.rejected or (received.acceptable and not received.unmet):
        yield False  # `accepted_any` has found no delivery of the message
        return
    message_id, index = received.message.message_id, received.step.index
    for mention in (m for m in view.mentions if m.received is received):
        capability = pb.CAPABILITY_ACKNOWLEDGED if mention.in_history else pb.CAPABILITY_POSSIBLY_ACKNOWLEDGED
        if view.can(capability):
            yield any(ack.step.index >= index for ack in view.ack_evidence(mention.message_id).acks)
    if received.acceptable:
        for observed in view.states_showing("incoming"):
            if observed.step.index > index and message_id in observed.buffered:
                yield message_id in observed.state.incoming.message_ids
        for sent in view.outgoing:
            holds = view.filter_of(sent.message.bloom_filter) if sent.step.index > index and not sent.repeat else None
            if holds is not None and holds(message_id) is False:
                yield False
    if received.unmet and view.terms.on:
        missing = {i for i in received.unmet if view.repair.original(i) is None}
        for observed in view.states_showing("outgoing_repairs"):
            if observed.step.index == index + 1 and missing:
                entries = observed.state.outgoing_repairs.entries
                yield not missing.isdisjoint(entry.message_id for entry in entries)


def excuse_refusal(view: ChannelView, received: Received) -> str:
    """The reason why a message of another participant may be refused, by a declared limit or a position; "" if it may
    not.
    """
    if received.oddity:
        return received.oddity
    unlogged = {Kind.EPHEMERAL} if view.revision.syncs_are_logged else {Kind.EPHEMERAL, Kind.SYNC}
    for message_id in sorted(received.unmet - view.known_ids):
        if any(other.kind in unlogged for other in view.arrivals.get(message_id, ())):
            return f"a dependency on {message_id!r}, which is in no log (AMB-40, AMB-41)"
    message_id = received.message.message_id
    if any(depends_on(view, dependency, message_id) for dependency in received.unmet):
        return "a circular dependency (AMB-45)"
    return ""

"""Direct and indirect dependencies of received messages."""

from __future__ import annotations

from collections import Counter

from ....judging.view_cache import cache_per_view
from .channel_view import ChannelView
from .facts import Received


def depends_on(view: ChannelView, message_id: str, on: str) -> bool:
    """Does the received message ``message_id`` depend on message ``on``, directly or through other messages?"""
    todo, seen = [message_id], set()
    while todo:
        current = todo.pop()
        if current == on:
            return True
        if current not in seen:
            seen.add(current)
            todo += [e.message_id for r in view.arrivals.get(current, ()) for e in r.message.causal_history]
    return False


def waiting_dependencies(view: ChannelView, received: Received) -> list[Received]:
    """The dependencies of ``received`` that arrived, before or after it, and had to wait for their own dependencies."""
    ids = {entry.message_id for entry in received.message.causal_history} - {received.message.message_id}
    return [
        other
        for message_id in ids & received.unmet
        for other in view.arrivals.get(message_id, ())
        if other.acceptable and other.unmet and not other.rejected
    ]


def other_dependent_was_delivered(view: ChannelView, received: Received) -> bool:
    """Was another message that waited for one of the same dependencies delivered later?"""
    counts = _count_delivered_dependents(view)
    return any(counts[message_id] > _was_delivered_after_waiting(received) for message_id in received.unmet)


@cache_per_view
def _count_delivered_dependents(view: ChannelView) -> Counter[str]:
    """By ID of a dependency: the number of messages that waited for it and were delivered later."""
    return Counter(
        message_id
        for received in view.received
        if _was_delivered_after_waiting(received)
        for message_id in received.unmet
    )


def _was_delivered_after_waiting(received: Received) -> bool:
    return received.acceptable and bool(received.delivered) and not received.delivered_at_once

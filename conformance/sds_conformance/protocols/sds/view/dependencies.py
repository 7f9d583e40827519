"""What received messages depend on, through others as well."""

from __future__ import annotations

from .channel_view import ChannelView
from .facts import Received


def depends(view: ChannelView, message_id: str, on: str) -> bool:
    """Does a received message depend on another, directly or through others?"""
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
    """Dependencies of ``received`` that had arrived before or arrived after it, and had to wait themselves."""
    ids = {entry.message_id for entry in received.message.causal_history} - {received.message.message_id}
    return [
        other
        for message_id in ids & received.unmet
        for other in view.arrivals.get(message_id, ())
        if other.acceptable and other.unmet and not other.rejected
    ]


def woken_beside(view: ChannelView, received: Received) -> bool:
    """Was another message that waited for some of the same delivered when that had come?"""
    return any(
        other.acceptable and other.unmet & received.unmet and other.delivered and not other.delivered_at_once
        for other in view.received
        if other is not received
    )

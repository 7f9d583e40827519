"""What received messages depend on, through others as well."""

from __future__ import annotations

from collections import Counter

from ....judging.once import once
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
    woken = _woken(view)
    return any(woken[message_id] > _is_woken(received) for message_id in received.unmet)


@once
def _woken(view: ChannelView) -> Counter[str]:
    """How many messages that waited for an ID were delivered later."""
    return Counter(message_id for received in view.received if _is_woken(received) for message_id in received.unmet)


def _is_woken(received: Received) -> bool:
    return received.acceptable and bool(received.delivered) and not received.delivered_at_once

"""Direct and indirect dependencies of received messages."""

from __future__ import annotations

from collections import Counter

from ....judging.view_cache import once
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
    """The dependencies of ``received`` that have arrived, earlier or later, and waited themselves."""
    ids = {entry.message_id for entry in received.message.causal_history} - {received.message.message_id}
    return [
        other
        for message_id in ids & received.unmet
        for other in view.arrivals.get(message_id, ())
        if other.acceptable and other.unmet and not other.rejected
    ]


def woken_beside(view: ChannelView, received: Received) -> bool:
    """Was another message with some of the same dependencies delivered when they arrived?"""
    woken = _woken(view)
    return any(woken[message_id] > _is_woken(received) for message_id in received.unmet)


@once
def _woken(view: ChannelView) -> Counter[str]:
    """By ID: the number of messages that waited for it and were delivered later."""
    return Counter(message_id for received in view.received if _is_woken(received) for message_id in received.unmet)


def _is_woken(received: Received) -> bool:
    return received.acceptable and bool(received.delivered) and not received.delivered_at_once

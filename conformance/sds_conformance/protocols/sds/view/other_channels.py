"""Messages of a participant's other channels, which must have no effect in the channel of the view."""

from __future__ import annotations

from collections.abc import Iterator

from sds_harness.sds.trace import Step
from sds_reference import Kind, Message

from ....judging.view_cache import cache_per_view
from .channel_view import ChannelView


@cache_per_view
def named_elsewhere(view: ChannelView) -> dict[str, int]:
    """For each message that only causal histories of other channels name: its ID, and the index of the step that
    received the first of these histories.
    """
    named = {e.message_id: step.index for step, message in _received_elsewhere(view) for e in message.causal_history}
    return {i: index for i, index in named.items() if i not in _named_here(view)}


@cache_per_view
def asked_for_elsewhere(view: ChannelView) -> dict[str, int]:
    """For each message that only repair requests of other channels name: its ID, and the index of the step that
    received the first of these requests.
    """
    return {i: index for i, index in requested_elsewhere(view).items() if i not in _named_here(view)}


@cache_per_view
def requested_elsewhere(view: ChannelView) -> dict[str, int]:
    """By message ID that repair requests of other channels name: the index of the step that received the first of these
    requests.

    Requests of this channel may name the ID, too.
    """
    return {e.message_id: step.index for step, message in _received_elsewhere(view) for e in message.repair_request}


@cache_per_view
def _named_here(view: ChannelView) -> set[str]:
    """IDs that occur in this channel, even in messages that may be ignored."""
    messages = [received.message for arrivals in view.arrivals.values() for received in arrivals]
    named = (entry.message_id for m in messages for entry in (*m.causal_history, *m.repair_request))
    return view.known_ids.union(view.arrivals, named)


@cache_per_view
def arrived_elsewhere(view: ChannelView) -> dict[str, int]:
    """By ID of content that arrived in other channels: the index of the last step in which it arrived."""
    came: dict[str, int] = {}
    for step, message in _received_elsewhere(view):
        if message.kind is Kind.CONTENT:
            came.setdefault(message.message_id, step.index)
    return came


@cache_per_view
def met_elsewhere(view: ChannelView) -> dict[str, int]:
    """By ID of content that arrived or was sent in other channels: the index of the first step that received or sent
    it.
    """
    first: dict[str, int] = {}
    others = set(view.party.channels) - {view.channel_id}
    for step in view.trace.of(view.party.name) if others else ():
        came = step.arrived if step.answer == "effects" else None
        for message in (came, step.new if step.command == "send" else None):
            if message is not None and message.kind is Kind.CONTENT and message.channel_id in others:
                first.setdefault(message.message_id, step.index)
    return first


def _received_elsewhere(view: ChannelView) -> Iterator[tuple[Step, Message]]:
    """Yield (step, message) for each message that the participant received in other channels, the latest first."""
    others = set(view.party.channels) - {view.channel_id}
    for step in reversed(list(view.trace.of(view.party.name)) if others else []):
        message = step.arrived
        if message is not None and message.channel_id in others and message.sender_id != view.party.participant_id:
            yield step, message

"""Faults in deliveries: some messages are not signalled as delivered, although most of these are logged."""

from __future__ import annotations

from ...channel import Channel
from ...effects import Delivered, Effects
from ...message import Message
from ..registry import fault, register_faults


def _omit_event(message: Message, effects: Effects) -> None:
    """Remove the event that delivers a message."""
    effects.events = [
        event
        for event in effects.events
        if not (isinstance(event, Delivered) and event.message_id == message.message_id)
    ]


@register_faults
class _Silent(Channel):
    @fault(Channel.deliver, "RECV-07", "signals no delivery of messages without dependencies")
    def signals_no_messages_without_dependencies(
        self, message: Message, effects: Effects, retrieval_hint: bytes | None
    ) -> None:
        super().deliver(message, effects, retrieval_hint)
        if not message.causal_history:
            _omit_event(message, effects)

    @fault(Channel.deliver, "RECV-07", "signals no delivery of messages with exactly one dependency")
    def signals_no_messages_with_one_dependency(
        self, message: Message, effects: Effects, retrieval_hint: bytes | None
    ) -> None:
        super().deliver(message, effects, retrieval_hint)
        if len(message.causal_history) == 1:
            _omit_event(message, effects)

    @fault(Channel.deliver, "RECV-07", "signals no delivery of messages that are ahead of its timestamp")
    def signals_no_messages_ahead(self, message: Message, effects: Effects, retrieval_hint: bytes | None) -> None:
        ahead = (message.lamport_timestamp or 0) > self.clock.value
        super().deliver(message, effects, retrieval_hint)
        if ahead:
            _omit_event(message, effects)

    @fault(Channel.deliver_ready, "RECV-07", "signals no delivery of messages that waited")
    def signals_no_messages_that_waited(self, effects: Effects) -> None:
        before = list(effects.events)
        super().deliver_ready(effects)
        effects.events = before

    @fault(
        Channel.deliver,
        "RECV-07",
        "drops messages instead of delivering them if their timestamps are over a second ahead of its own",
    )
    def drops_messages_ahead(self, message: Message, effects: Effects, retrieval_hint: bytes | None) -> None:
        if (message.lamport_timestamp or 0) <= self.clock.value + 1_000:
            super().deliver(message, effects, retrieval_hint)

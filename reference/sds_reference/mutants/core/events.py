"""Faults in events to the application, and in the time at which dependencies are marked as lost."""

from __future__ import annotations

from ...channel import Channel
from ...effects import Acknowledged, Effects
from ...outgoing_buffer import OutgoingEntry
from ..registry import fault, register_faults


@register_faults
class _Signals(Channel):
    @fault(
        Channel.count_filter_hit,
        "ACK-01",
        "acknowledges after the second filter hit, and signals nothing",
        possible_ack_threshold=2,
    )
    def acknowledges_second_hit_without_event(self, entry: OutgoingEntry, effects: Effects, now_ms: int) -> None:
        before = len(effects.events)
        super().count_filter_hit(entry, effects, now_ms)
        effects.events[before:] = [e for e in effects.events[before:] if not isinstance(e, Acknowledged)]

    @fault(
        Channel.count_filter_hit,
        "ACK-01",
        "removes a message from its outgoing buffer after the second filter hit, and signals nothing",
        possible_ack_threshold=9,
    )
    def drops_after_second_hit_without_event(self, entry: OutgoingEntry, effects: Effects, now_ms: int) -> None:
        super().count_filter_hit(entry, effects, now_ms)
        if entry.filter_hits > 1:
            self.outgoing.acknowledge(entry.message_id)


def _earlier(received_ms: int, channel: Channel, share: int) -> int:
    return received_ms + (channel.config.lost_timeout_ms or 0) // share


@register_faults
class _EarlySignals(Channel):
    @fault(
        Channel.give_up_lost,
        "RECV-09",
        "marks dependencies as lost after half the configured time, and delivers the waiting messages",
        lost_timeout_ms=60_000,
    )
    def gives_up_at_half_time(self, received_ms: int, effects: Effects) -> None:
        super().give_up_lost(_earlier(received_ms, self, 2), effects)

    @fault(
        Channel.give_up_lost,
        "RECV-08",
        "marks dependencies as lost after half the configured time, and drops the waiting messages",
        lost_timeout_ms=60_000,
        drops_the_lost=True,
    )
    def drops_at_half_time(self, received_ms: int, effects: Effects) -> None:
        super().give_up_lost(_earlier(received_ms, self, 2), effects)

"""Faults at the limits of integers: Lamport timestamps that become signed or floating point, or that wrap around."""

from __future__ import annotations

from dataclasses import replace

from ...channel import Channel
from ...effects import Effects
from ...message import MAX_LAMPORT, Message
from ..registry import add_log_order, fault, for_sizes, register_faults
from .long_times import keep_low_bits


def _signed(lamport: int) -> int:
    return keep_low_bits(lamport, 63)


add_log_order(
    "log-orders-signed-timestamps",
    "STATE-11",
    "treats timestamps of 2^63 and above as negative in its log",
    lambda log, entry: _signed(entry.lamport_timestamp),
)
add_log_order(
    "log-in-floating-point",
    "DELIVER-04",
    "orders its log by timestamps in floating point",
    lambda log, entry: float(entry.lamport_timestamp),
)


@register_faults
class _Following(Channel):
    @fault(
        Channel.witness_lamport,
        "DELIVER-01",
        "treats timestamps of 2^63 and above as negative, and does not update its clock by them",
    )
    def clock_compares_signed_timestamps(self, lamport_timestamp: int) -> None:
        if _signed(lamport_timestamp) > _signed(self.clock.value):
            super().witness_lamport(lamport_timestamp)

    @fault(Channel.witness_lamport, "DELIVER-01", "compares timestamps in floating point")
    def compares_in_floating_point(self, lamport_timestamp: int) -> None:
        if float(lamport_timestamp) > float(self.clock.value):
            super().witness_lamport(lamport_timestamp)

    @fault(Channel.witness_lamport, "DELIVER-01", "stores received timestamps in floating point")
    def follows_in_floating_point(self, lamport_timestamp: int) -> None:
        super().witness_lamport(min(int(float(lamport_timestamp)), MAX_LAMPORT))

    @fault(Channel.next_lamport, "SEND-01", "increments its Lamport timestamp in floating point")
    def counts_in_floating_point(self, now_ms: int) -> int:
        self.clock.value = min(int(max(float(now_ms), float(self.clock.value) + 1)), MAX_LAMPORT)
        return self.clock.value


@register_faults
class _Receiving(Channel):
    @fault(Channel.receive, "MSG-05", "treats a Lamport timestamp of 2^63 and above as negative, thus as unset")
    def negative_is_unset(self, message: Message, now_ms: int, retrieval_hint: bytes | None = None) -> Effects:
        if message.lamport_timestamp is not None and _signed(message.lamport_timestamp) < 0:
            message = replace(message, lamport_timestamp=None)
        return super().receive(message, now_ms, retrieval_hint)


@for_sizes("SEND-01", "continues with the current time after the Lamport timestamp 2^{}-1", 63)
class RestartsClockAfter(Channel):
    size: int

    def next_lamport(self, now_ms: int) -> int:
        if self.clock.value == (1 << self.size) - 1:
            self.clock.value = 0
        return super().next_lamport(now_ms)


@for_sizes("DELIVER-01", "continues with the current time after a received Lamport timestamp of 2^{}-1", 64)
class RestartsClockAtReceived(RestartsClockAfter):
    pass

"""Faults of counters that wrap around or stop, such as the counters of missing dependencies and of IDs in a filter."""

from __future__ import annotations

from ...bloom_filter import RollingBloomFilter
from ...channel import Channel
from ...effects import Effects
from ...message import Kind, Message
from ..registry import fault, for_sizes, register_faults, replace_part


@for_sizes("RECV-05", "counts missing dependencies modulo {}", 64, 256)
class CountsMissingModulo(Channel):
    size: int

    def unmet_dependencies(self, message: Message) -> set[str]:
        unmet = super().unmet_dependencies(message)
        return set(sorted(unmet)[: len(unmet) % self.size]) if len(unmet) >= self.size else unmet


@replace_part("filter_class", "STATE-06", "rolls its filter over at twice its capacity")
class RollsOverAtTwiceCapacity(RollingBloomFilter):
    def insert(self, message_id: str) -> None:
        if message_id in self._members:
            return
        if len(self._members) >= 2 * self._parameters.capacity:
            self._roll_over()
        places = self._members[message_id] = self._places(message_id)
        for place in places:
            self._bits[place >> 3] |= 1 << (place & 7)
        self._wire = None


@register_faults
class _Copies(Channel):
    @fault(Channel.receive, "RECV-04", "counts duplicates towards the capacity of its filter")
    def copies_age_the_filter(self, message: Message, now_ms: int, retrieval_hint: bytes | None = None) -> Effects:
        if not self.is_own(message) and message.kind is Kind.CONTENT and self.is_duplicate(message):
            members = self.filter._members
            members[f"copy {len(members)} of {message.message_id}"] = ()
            if len(members) >= self.parameters.capacity:
                self.filter._roll_over()
                self.filter._wire = None
        return super().receive(message, now_ms, retrieval_hint)

    @fault(Channel.receive, "RECV-04", "counts sync messages towards the capacity of its filter")
    def syncs_age_the_filter(self, message: Message, now_ms: int, retrieval_hint: bytes | None = None) -> Effects:
        if not self.is_own(message) and message.kind is Kind.SYNC:
            members = self.filter._members
            members[f"sync {len(members)} of {message.sender_id}"] = ()
            if len(members) >= self.parameters.capacity:
                self.filter._roll_over()
                self.filter._wire = None
        return super().receive(message, now_ms, retrieval_hint)

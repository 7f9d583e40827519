"""Faults in sending messages (SEND)."""

from __future__ import annotations

from dataclasses import replace

from ...channel import Channel
from ...errors import MalformedMessageError
from ...message import MAX_LAMPORT, HistoryEntry, Kind, Message
from ..registry import add_configured, fault, mutant, omit, register_faults


@register_faults
class _Timestamps(Channel):
    @fault(Channel.next_lamport, "SEND-01", "increases its Lamport timestamp by two")
    def increases_lamport_by_two(self, now_ms: int) -> int:
        self.clock.value = min(self.clock.value + 1, MAX_LAMPORT)
        return super().next_lamport(now_ms)

    @fault(
        Channel.next_lamport,
        "SEND-02",
        "sets its Lamport timestamp back when the clock is over a thousand seconds behind it",
    )
    def follows_the_clock_back(self, now_ms: int) -> int:
        if now_ms < self.clock.value - 1_000_000:
            self.clock.value = now_ms - 1
        return super().next_lamport(now_ms)

    @fault(Channel.next_lamport, "SEND-03", "sends the Lamport timestamp from before the increase")
    def sends_the_old_lamport(self, now_ms: int) -> int:
        before = self.clock.value
        super().next_lamport(now_ms)
        return before


@mutant("SEND-04", "in its causal histories, lists the messages that were logged last")
class HistoryByArrival(Channel):
    _arrivals: tuple[str, ...] = ()

    def insert_into_log(self, message: Message, retrieval_hint: bytes | None) -> None:
        super().insert_into_log(message, retrieval_hint)
        self._arrivals += (message.message_id,)

    def log_own(self, message: Message, retrieval_hint: bytes | None) -> None:
        super().log_own(message, retrieval_hint)
        self._arrivals += (message.message_id,)

    def causal_history(self) -> tuple[HistoryEntry, ...]:
        last = set(self._arrivals[-self.config.causal_history_size :])
        return tuple(HistoryEntry(entry.message_id) for entry in self.log if entry.message_id in last)


@register_faults
class _Histories(Channel):
    _flipped = False

    @fault(Channel.causal_history, "SEND-05", "reverses the order of the causal history in every other message")
    def reverses_history_every_message(self) -> tuple[HistoryEntry, ...]:
        self._flipped = not self._flipped
        entries = super().causal_history()
        return entries[::-1] if self._flipped else entries

    @fault(Channel.causal_history, "SEND-05", "orders its causal history by ID")
    def history_by_id(self) -> tuple[HistoryEntry, ...]:
        return tuple(sorted(super().causal_history(), key=lambda entry: entry.message_id))

    @fault(Channel.refuse_unusable, "SEND-06", "rejects causal histories of more than fifty entries")
    def refuses_histories_over_fifty(self, message: Message, kind: Kind, now_ms: int) -> None:
        super().refuse_unusable(message, kind, now_ms)
        if len(message.causal_history) > 50:
            raise MalformedMessageError("the causal history is too long")


add_configured(
    "long-histories", "SEND-07", "lists two hundred messages in a causal history by default", causal_history_size=200
)


@register_faults
class _Sending(Channel):
    _before: bytes | None = None

    @fault(Channel.causal_history, "SEND-08", "gives each history entry the retrieval hint of the next entry")
    def shifted_hints(self) -> tuple[HistoryEntry, ...]:
        entries = super().causal_history()
        hints = [entry.retrieval_hint for entry in entries]
        return tuple(
            replace(entry, retrieval_hint=hint) for entry, hint in zip(entries, hints[1:] + hints[:1], strict=True)
        )

    @fault(Channel.causal_history, "DELIVER-06", "names the newest message of a causal history twice (AMB-148)")
    def names_the_newest_twice(self) -> tuple[HistoryEntry, ...]:
        entries = super().causal_history()
        return (*entries, *entries[-1:])

    @fault(Channel.compose, "SEND-09", "sends the filter of its previous message")
    def stale_filter(self, message_id: str, lamport: int, content: bytes | None) -> Message:
        message = super().compose(message_id, lamport, content)
        if content is None:
            return message
        stale, self._before = self._before, message.bloom_filter
        return message if stale is None else replace(message, bloom_filter=stale)

    does_not_buffer_outgoing = omit(
        Channel.remember_outgoing, "SEND-10", "does not add its messages to the outgoing buffer"
    )

    not_in_its_own_log = omit(Channel.log_own, "SEND-11", "does not log its own messages")

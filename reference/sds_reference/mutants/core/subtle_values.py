"""Various faults. Many of them appear only with similar values, large numbers or long times."""

from __future__ import annotations

from ...channel import Channel
from ...effects import Acknowledged, Delivered, Effects
from ...errors import RefusedSendError
from ...message import HistoryEntry, Kind, Message
from ...participant import Participant
from ..registry import add_log_order, fault, mutant, register_faults


@mutant("MSG-15", "ignores case when it compares channels")
class ChannelsIgnoringCase(Participant):
    def join(self, channel_id: str, now_ms: int) -> None:
        alike = next((known for known in self.channels if known.lower() == channel_id.lower()), None)
        if alike is None:
            super().join(channel_id, now_ms)
        else:
            self.channels[channel_id] = self.channels[alike]


@register_faults
class _Lookalikes(Channel):
    @fault(Channel.receive, "MSG-20", "sends a message of its own for each message that it receives")
    def sends_after_each_reception(self, message: Message, now_ms: int, retrieval_hint: bytes | None = None) -> Effects:
        effects = super().receive(message, now_ms, retrieval_hint)
        if message.kind is Kind.CONTENT and not self.is_own(message):
            effects.broadcasts += self.send(b"received: " + message.message_id.encode(), now_ms).broadcasts
        return effects

    @fault(Channel.causal_history, "MSG-23", "writes its own sender ID into every history entry")
    def writes_itself_into_every_entry(self) -> tuple[HistoryEntry, ...]:
        entries = super().causal_history()
        return tuple(HistoryEntry(e.message_id, e.retrieval_hint, self.participant_id) for e in entries)

    @fault(Channel.insert_into_filter, "STATE-05", "puts the dependencies of received messages into its filter")
    def filters_the_missing(self, message: Message) -> None:
        super().insert_into_filter(message)
        for entry in message.causal_history:
            self.filter.insert(entry.message_id)


add_log_order(
    "lamport-as-text",
    "STATE-11",
    "compares Lamport timestamps as text",
    lambda log, entry: str(entry.lamport_timestamp),
)


@register_faults
class _LargeAndLong(Channel):
    _contents: frozenset[bytes] = frozenset()
    _swept_ms = 0
    _recent: tuple[str, ...] = ()

    @fault(Channel.send, "STATE-12", "signals an acknowledgement of each message at once when it sends the message")
    def sent_is_acknowledged(
        self, content: bytes, now_ms: int, message_id: str | None = None, retrieval_hint: bytes | None = None
    ) -> Effects:
        effects = super().send(content, now_ms, message_id, retrieval_hint)
        effects.events.append(Acknowledged(self.channel_id, effects.message_id))
        return effects

    @fault(Channel.send, "SEND-10", "refuses to send with an ID from the application")
    def refuses_given_ids(
        self, content: bytes, now_ms: int, message_id: str | None = None, retrieval_hint: bytes | None = None
    ) -> Effects:
        if message_id:
            raise RefusedSendError("IDs are computed here")
        return super().send(content, now_ms, None, retrieval_hint)

    @fault(Channel.next_lamport, "SEND-10", "refuses to send while a message waits for dependencies")
    def silent_while_waiting(self, now_ms: int) -> int:
        if len(self.incoming):
            raise RefusedSendError("a message waits for its dependencies")
        return super().next_lamport(now_ms)

    @fault(Channel.sweep_incoming, "RECV-05", "delivers messages that have waited for an hour")
    def delivers_after_waiting_an_hour(self, now_ms: int, effects: Effects) -> None:
        super().sweep_incoming(now_ms, effects)
        for entry in self.incoming.take_older(now_ms - 3_600_000):
            if entry.message.kind is Kind.CONTENT:
                self.deliver(entry.message, effects, entry.retrieval_hint)

    @fault(Channel.is_duplicate, "RECV-07", "treats messages with equal contents as duplicates")
    def deduplicates_contents(self, message: Message) -> bool:
        content = message.content or b""
        seen, self._contents = content in self._contents, self._contents | {content}
        return seen or super().is_duplicate(message)

    @fault(Channel.sweep_incoming, "RECV-05", "delivers each waiting message at the second sweep after its arrival")
    def delivers_after_two_sweeps(self, now_ms: int, effects: Effects) -> None:
        super().sweep_incoming(now_ms, effects)
        before, self._swept_ms = self._swept_ms, now_ms
        for entry in self.incoming.take_older(before):
            if entry.message.kind is Kind.CONTENT:
                self.deliver(entry.message, effects, entry.retrieval_hint)

    @fault(Channel.buffer, "RECV-08", "has a capacity of sixty waiting messages")
    def buffer_of_sixty(self, message: Message, unmet: set[str], now_ms: int, retrieval_hint: bytes | None) -> None:
        if len(self.incoming) < 60:
            super().buffer(message, unmet, now_ms, retrieval_hint)

    @fault(Channel.receive, "RECV-10", "delivers messages with neither content nor timestamp")
    def delivers_the_undefined(self, message: Message, now_ms: int, retrieval_hint: bytes | None = None) -> Effects:
        effects = super().receive(message, now_ms, retrieval_hint)
        if message.kind is Kind.UNDEFINED and not self.is_own(message):
            effects.events.append(Delivered(self.channel_id, message.message_id, b""))
        return effects

    @fault(Channel.is_duplicate, "DELIVER-06", "forgets a message after ten other messages, and delivers it again")
    def forgets_ids_after_ten_messages(self, message: Message) -> bool:
        known = message.message_id in self._recent or message.message_id in self.incoming
        self._recent = (*self._recent, message.message_id)[-10:]
        return known

    @fault(
        Channel.review_causal_history, "ACK-07", "ignores acknowledgements in sync messages with missing dependencies"
    )
    def gaps_do_not_acknowledge(self, message: Message, effects: Effects) -> None:
        if message.kind is not Kind.SYNC or not self.unmet_dependencies(message):
            super().review_causal_history(message, effects)

    @fault(Channel.receive, "OUTSWEEP-01", "postpones resends whenever a message arrives")
    def arrivals_postpone_resends(self, message: Message, now_ms: int, retrieval_hint: bytes | None = None) -> Effects:
        effects = super().receive(message, now_ms, retrieval_hint)
        for entry in list(self.outgoing):
            self.schedule_resend(entry, now_ms)
        return effects

"""Faults in receiving messages (RECV)."""

from __future__ import annotations

from dataclasses import replace

from ...channel import Channel
from ...effects import Delivered, Effects
from ...errors import MalformedMessageError
from ...message import HistoryEntry, Kind, Message
from ..registry import fault, omit, register_faults


@register_faults
class _Receiving(Channel):
    first: bytes | None = None

    @fault(Channel.receive, "RECV-01", "delivers its own messages when the network sends them back")
    def delivers_itself(self, message: Message, now_ms: int, retrieval_hint: bytes | None = None) -> Effects:
        if self.is_own(message):
            return Effects(events=[Delivered(self.channel_id, message.message_id, message.content or b"")])
        return super().receive(message, now_ms, retrieval_hint)

    @fault(
        Channel.review_ack_status, "RECV-03", "reviews the ACK status only with messages that it can deliver at once"
    )
    def reviews_on_delivery(self, message: Message, effects: Effects, now_ms: int) -> None:
        if message.kind is Kind.SYNC or not self.unmet_dependencies(message):
            super().review_ack_status(message, effects, now_ms)

    @fault(
        Channel.insert_into_filter, "RECV-04", "puts IDs into its filter only when it can deliver the message at once"
    )
    def filter_on_delivery(self, message: Message) -> None:
        if not self.unmet_dependencies(message):
            super().insert_into_filter(message)

    @fault(Channel.unmet_dependencies, "RECV-05", "checks only the first dependency of a message")
    def first_dependency_only(self, message: Message) -> set[str]:
        first = {entry.message_id for entry in message.causal_history[:1]}
        return super().unmet_dependencies(message) & first

    @fault(Channel.unmet_dependencies, "RECV-06", "treats a dependency as met if it is itself still waiting")
    def buffered_is_met(self, message: Message) -> set[str]:
        return {message_id for message_id in super().unmet_dependencies(message) if message_id not in self.incoming}

    @fault(Channel.review_bloom_filter, "RECV-07", "rejects messages whose bloom filter it cannot read")
    def loses_foreign_filters(self, message: Message, effects: Effects, now_ms: int) -> None:
        super().review_bloom_filter(message, effects, now_ms)
        if message.bloom_filter is not None and self.read_filter(message) is None:
            raise MalformedMessageError("the filter cannot be read")

    @fault(Channel.buffer, "MSG-09", "converts the contents of messages that wait to text and back")
    def waiting_contents_as_text(
        self, message: Message, unmet: set[str], now_ms: int, retrieval_hint: bytes | None
    ) -> None:
        text = (message.content or b"").decode(errors="replace").encode()
        super().buffer(replace(message, content=text) if text else message, unmet, now_ms, retrieval_hint)

    @fault(Channel.buffer, "MSG-09", "keeps only 64 KiB of the content of a message that waits")
    def waiting_contents_are_cut(
        self, message: Message, unmet: set[str], now_ms: int, retrieval_hint: bytes | None
    ) -> None:
        kept = replace(message, content=message.content[:65_536]) if message.content else message
        super().buffer(kept, unmet, now_ms, retrieval_hint)

    drops_the_unmet = omit(Channel.buffer, "RECV-08", "drops messages with unmet dependencies")

    @fault(Channel.causal_history, "RECV-09", "lists the newest waiting message in its causal histories")
    def names_the_waiting(self) -> tuple[HistoryEntry, ...]:
        waiting = [HistoryEntry(entry.message.message_id) for entry in self.incoming][-1:]
        return (*super().causal_history()[len(waiting) :], *waiting)

    @fault(Channel.receive, "RECV-10", "delivers messages without content")
    def delivers_the_empty(self, message: Message, now_ms: int, retrieval_hint: bytes | None = None) -> Effects:
        effects = super().receive(message, now_ms, retrieval_hint)
        if message.kind is Kind.SYNC and not self.is_own(message) and not self.unmet_dependencies(message):
            effects.events.append(Delivered(self.channel_id, message.message_id, b""))
        return effects

    @fault(Channel.receive, "RECV-11", "reviews the ACK status with its own messages as well")
    def reviews_own_messages(self, message: Message, now_ms: int, retrieval_hint: bytes | None = None) -> Effects:
        if self.is_own(message):
            effects = Effects()
            self.review_causal_history(message, effects)
            return effects
        return super().receive(message, now_ms, retrieval_hint)

    @fault(Channel.receive, "RECV-02", "delivers a message again whenever it arrives again")
    def delivers_copies(self, message: Message, now_ms: int, retrieval_hint: bytes | None = None) -> Effects:
        known = message.kind is Kind.CONTENT and message.message_id in self.log and not self.is_own(message)
        effects = super().receive(message, now_ms, retrieval_hint)
        if known:
            effects.events.append(Delivered(self.channel_id, message.message_id, message.content or b""))
        return effects

    @fault(Channel.signal_missing, "RECV-05", "delivers an empty message in place of a missing message")
    def delivers_placeholders(self, message: Message, unmet: set[str], effects: Effects) -> None:
        super().signal_missing(message, unmet, effects)
        effects.events += [Delivered(self.channel_id, dependency, b"") for dependency in sorted(unmet)]

    @fault(Channel.compose, "RECV-04", "always sends the filter of its first message")
    def frozen_filter(self, message_id: str, lamport: int, content: bytes | None) -> Message:
        message = super().compose(message_id, lamport, content)
        self.first = self.first or message.bloom_filter
        return replace(message, bloom_filter=self.first)

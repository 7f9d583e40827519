"""Faults of section RECV."""

from __future__ import annotations

from dataclasses import replace

from ...channel import Channel
from ...effects import Delivered, Effects
from ...errors import ForeignFilter, MalformedMessage
from ...message import HistoryEntry, Kind, Message
from ..registry import mutant


@mutant("SDS-RECV-01", "delivers its own messages when the network reflects them")
class DeliversItself(Channel):
    def receive(self, message: Message, now_ms: int, retrieval_hint: bytes | None = None) -> Effects:
        if self.is_own(message):
            return Effects(events=[Delivered(self.channel_id, message.message_id, message.content or b"")])
        return super().receive(message, now_ms, retrieval_hint)


@mutant("SDS-RECV-03", "reviews the ACK status only with messages it can deliver")
class ReviewsOnDelivery(Channel):
    def review_ack_status(self, message: Message, effects: Effects, now_ms: int) -> None:
        if message.kind is Kind.SYNC or not self.unmet_dependencies(message):
            super().review_ack_status(message, effects, now_ms)


@mutant("SDS-RECV-04", "puts IDs into its filter only when it can deliver")
class FilterOnDelivery(Channel):
    def insert_into_filter(self, message: Message) -> None:
        if not self.unmet_dependencies(message):
            super().insert_into_filter(message)


@mutant("SDS-RECV-05", "verifies only the first dependency")
class FirstDependencyOnly(Channel):
    def unmet_dependencies(self, message: Message) -> set[str]:
        first = {entry.message_id for entry in message.causal_history[:1]}
        return super().unmet_dependencies(message) & first


@mutant("SDS-RECV-06", "takes a dependency that waits itself for met")
class BufferedIsMet(Channel):
    def unmet_dependencies(self, message: Message) -> set[str]:
        return {message_id for message_id in super().unmet_dependencies(message) if message_id not in self.incoming}


@mutant("SDS-RECV-07", "loses messages whose bloom filter it cannot read")
class LosesForeignFilters(Channel):
    def review_bloom_filter(self, message: Message, effects: Effects, now_ms: int) -> None:
        super().review_bloom_filter(message, effects, now_ms)
        if message.bloom_filter is not None:
            try:
                self.config.bloom_profile.read(message.bloom_filter, self.parameters)
            except ForeignFilter as error:
                raise MalformedMessage(str(error)) from None


@mutant("SDS-RECV-08", "drops messages with unmet dependencies")
class DropsTheUnmet(Channel):
    def buffer(self, message: Message, unmet: set[str], now_ms: int, retrieval_hint: bytes | None) -> None:
        pass


@mutant("SDS-RECV-09", "names waiting messages in its causal histories")
class NamesTheWaiting(Channel):
    def causal_history(self) -> tuple[HistoryEntry, ...]:
        waiting = [HistoryEntry(entry.message.message_id) for entry in self.incoming][-1:]
        return (*super().causal_history()[len(waiting) :], *waiting)


@mutant("SDS-RECV-10", "delivers messages without content")
class DeliversTheEmpty(Channel):
    def receive(self, message: Message, now_ms: int, retrieval_hint: bytes | None = None) -> Effects:
        effects = super().receive(message, now_ms, retrieval_hint)
        if message.kind is Kind.SYNC and not self.is_own(message) and not self.unmet_dependencies(message):
            effects.events.append(Delivered(self.channel_id, message.message_id, b""))
        return effects


@mutant("SDS-RECV-11", "reviews the ACK status before it looks at the sender")
class ReviewsItself(Channel):
    def receive(self, message: Message, now_ms: int, retrieval_hint: bytes | None = None) -> Effects:
        if self.is_own(message):
            effects = Effects()
            self.review_causal_history(message, effects)
            return effects
        return super().receive(message, now_ms, retrieval_hint)


@mutant("SDS-RECV-02", "delivers every copy of a message")
class DeliversCopies(Channel):
    def receive(self, message: Message, now_ms: int, retrieval_hint: bytes | None = None) -> Effects:
        known = message.kind is Kind.CONTENT and message.message_id in self.log and not self.is_own(message)
        effects = super().receive(message, now_ms, retrieval_hint)
        if known:
            effects.events.append(Delivered(self.channel_id, message.message_id, message.content or b""))
        return effects


@mutant("SDS-RECV-05", "delivers an empty message in place of what is missing")
class DeliversPlaceholders(Channel):
    def signal_missing(self, message: Message, unmet: set[str], effects: Effects) -> None:
        super().signal_missing(message, unmet, effects)
        effects.events += [Delivered(self.channel_id, dependency, b"") for dependency in sorted(unmet)]


@mutant("SDS-RECV-04", "sends the filter of its first message ever after")
class FrozenFilter(Channel):
    first: bytes | None = None

    def compose(self, message_id: str, lamport: int, content: bytes | None) -> Message:
        message = super().compose(message_id, lamport, content)
        self.first = self.first or message.bloom_filter
        return replace(message, bloom_filter=self.first)

"""Channels of legal variants of the proposal of 2024: they make choices that later revisions no longer leave open."""

from __future__ import annotations

from .channel import Channel
from .effects import Delivered, Effects
from .message import Kind, Message


class IncreasesByTen(Channel):
    """The proposal requires an increase of any size: this channel increases the clock by ten."""

    def next_lamport(self, now_ms: int) -> int:
        self.clock.value += 9
        return super().next_lamport(now_ms)


class IncreasesOnReception(Channel):
    """Increases the clock on reception as well, like the clock that Lamport described."""

    def witness_lamport(self, lamport_timestamp: int) -> None:
        super().witness_lamport(lamport_timestamp)
        self.clock.value += 1


class ForgetsItsSyncs(Channel):
    """The proposal does not say that own sync messages are logged: this channel does not log them."""

    def keep_own(self, message: Message, retrieval_hint: bytes | None = None) -> None:
        if message.kind is not Kind.SYNC:
            super().keep_own(message, retrieval_hint)


class ResendsSyncs(Channel):
    """The proposal does not say whether sync messages wait to be acknowledged: this channel resends them."""

    def keep_own(self, message: Message, retrieval_hint: bytes | None = None) -> None:
        super().keep_own(message, retrieval_hint)
        if message.kind is Kind.SYNC:
            self.remember_outgoing(message, self.encode(message), self._swept_ms)


class DeliversSyncs(Channel):
    """The proposal does not say which messages are delivered: this channel also delivers sync messages."""

    def deliver(self, message: Message, effects: Effects, retrieval_hint: bytes | None) -> None:
        super().deliver(message, effects, retrieval_hint)
        if message.kind is Kind.SYNC:
            effects.events.append(Delivered(self.channel_id, message.message_id, b""))


class ProcessesOwnMessages(Channel):
    """A later revision added the rule to ignore own messages: this channel processes them."""

    def is_own(self, message: Message) -> bool:
        return False


class ReviewsEveryCopy(Channel):
    """A later revision added the permission to ignore duplicates: this channel processes them."""

    def is_duplicate(self, message: Message) -> bool:
        return False

    def buffer(self, message: Message, unmet: set[str], now_ms: int, retrieval_hint: bytes | None) -> None:
        if message.message_id not in self.incoming:
            super().buffer(message, unmet, now_ms, retrieval_hint)


class BufferedMeetsDependencies(Channel):
    """The proposal does not say that only the log meets a dependency: in this channel, a message in the
    incoming buffer meets it, too."""

    def unmet_dependencies(self, message: Message) -> set[str]:
        return {i for i in super().unmet_dependencies(message) if i not in self.incoming}

"""Channels of the proposal of 2024 that choose what it leaves open: unusual, and legal."""

from __future__ import annotations

from sds_reference import Channel, Delivered, Effects, Kind, Message, Participant


def participant_of(channel: type[Channel]) -> type[Participant]:
    return type("ParticipantOfATest", (Participant,), {"channel_class": channel})


class CountsInTens(Channel):
    """Any increase is one."""

    def next_lamport(self, now_ms: int) -> int:
        self.clock.value += 9
        return super().next_lamport(now_ms)


class CountsWhatItHears(Channel):
    """The clock that Lamport described increases on reception, too."""

    def witness_lamport(self, lamport_timestamp: int) -> None:
        super().witness_lamport(lamport_timestamp)
        self.clock.value += 1


class ForgetsItsSyncs(Channel):
    """Nothing is said of own sync messages in the own log."""

    def keep_own(self, message: Message, retrieval_hint: bytes | None = None) -> None:
        if message.kind is not Kind.SYNC:
            super().keep_own(message, retrieval_hint)


class ResendsSyncs(Channel):
    """Nor whether they wait to be acknowledged."""

    def keep_own(self, message: Message, retrieval_hint: bytes | None = None) -> None:
        super().keep_own(message, retrieval_hint)
        if message.kind is Kind.SYNC:
            self.remember_outgoing(message, self.encode(message), self._swept_ms)


class DeliversSyncs(Channel):
    """An application may be told of every message that is processed."""

    def deliver(self, message: Message, effects: Effects, retrieval_hint: bytes | None) -> None:
        super().deliver(message, effects, retrieval_hint)
        if message.kind is Kind.SYNC:
            effects.events.append(Delivered(self.channel_id, message.message_id, b""))


class TakesItsOwn(Channel):
    """That own messages are ignored is a later rule."""

    def is_own(self, message: Message) -> bool:
        return False


class ReviewsEveryCopy(Channel):
    """And so is that known ones may be."""

    def is_duplicate(self, message: Message) -> bool:
        return False

    def buffer(self, message: Message, unmet: set[str], now_ms: int, retrieval_hint: bytes | None) -> None:
        if message.message_id not in self.incoming:
            super().buffer(message, unmet, now_ms, retrieval_hint)


class MeetsWithTheBuffered(Channel):
    """Nothing says that only the log meets a dependency."""

    def unmet_dependencies(self, message: Message) -> set[str]:
        return {i for i in super().unmet_dependencies(message) if i not in self.incoming}


LEGAL_CHANNELS = (
    CountsInTens,
    CountsWhatItHears,
    ForgetsItsSyncs,
    ResendsSyncs,
    DeliversSyncs,
    TakesItsOwn,
    ReviewsEveryCopy,
    MeetsWithTheBuffered,
)

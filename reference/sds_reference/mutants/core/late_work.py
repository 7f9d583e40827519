"""Faults in timing: work is done at the next sweep, although it is due when a message arrives or is sent."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

from ...channel import Channel
from ...effects import Effects
from ...errors import SdsError
from ...message import Message
from ..registry import mutant


@mutant("RECV-11", "signals acknowledgements at the next sweep")
class AcknowledgesAtTheSweep(Channel):
    unread: tuple[Message, ...] = ()

    def review_ack_status(self, message: Message, effects: Effects, now_ms: int) -> None:
        self.unread += (message,)

    def tick(self, now_ms: int) -> Effects:
        unread, self.unread = self.unread, ()
        effects = Effects()
        for message in unread:
            super().review_ack_status(message, effects, now_ms)
        return _added_effects(effects, super().tick(now_ms))


@mutant("RECV-07", "delivers messages without missing dependencies at the next sweep")
class DeliversAtTheSweep(Channel):
    ready: tuple[tuple[Message, bytes | None], ...] = ()
    sweeping = False

    def deliver(self, message: Message, effects: Effects, retrieval_hint: bytes | None) -> None:
        if self.sweeping:
            super().deliver(message, effects, retrieval_hint)
        else:
            self.ready += ((message, retrieval_hint),)

    def deliver_ready(self, effects: Effects) -> None:
        if self.sweeping:
            super().deliver_ready(effects)

    def has_arrived(self, message_id: str) -> bool:
        return super().has_arrived(message_id) or any(message.message_id == message_id for message, _ in self.ready)

    def sweep_incoming(self, now_ms: int, effects: Effects) -> None:
        ready, self.ready, self.sweeping = self.ready, (), True
        for message, retrieval_hint in ready:
            super().deliver(message, effects, retrieval_hint)
        super().sweep_incoming(now_ms, effects)
        self.sweeping = False


@mutant("RECV-11", "processes received messages only at the next sweep")
class ReceivesAtTheSweep(Channel):
    unread: tuple[tuple[Message, bytes | None], ...] = ()

    def receive(self, message: Message, now_ms: int, retrieval_hint: bytes | None = None) -> Effects:
        self.unread += ((message, retrieval_hint),)
        return Effects()

    def tick(self, now_ms: int) -> Effects:
        untouched, self.unread = self.unread, ()
        effects = Effects()
        for message, retrieval_hint in untouched:
            with suppress(SdsError):
                effects = _added_effects(effects, super().receive(message, now_ms, retrieval_hint))
        return _added_effects(effects, super().tick(now_ms))


@mutant("SEND-10", "broadcasts all its messages at the next sweep")
class SendsAtTheSweep(Channel):
    held_back: tuple[bytes, ...] = ()
    sweeping = False

    def send(self, *arguments: Any, **options: Any) -> Effects:
        return self._hold_back(super().send(*arguments, **options))

    def send_ephemeral(self, *arguments: Any, **options: Any) -> Effects:
        return self._hold_back(super().send_ephemeral(*arguments, **options))

    def send_sync(self, now_ms: int) -> Effects:
        effects = super().send_sync(now_ms)
        return effects if self.sweeping else self._hold_back(effects)

    def tick(self, now_ms: int) -> Effects:
        self.sweeping = True
        effects = super().tick(now_ms)
        effects.broadcasts[:0] = self.held_back
        self.held_back, self.sweeping = (), False
        return effects

    def _hold_back(self, effects: Effects) -> Effects:
        self.held_back += tuple(effects.broadcasts)
        effects.broadcasts = []
        return effects


def _added_effects(before: Effects, after: Effects) -> Effects:
    return Effects(before.broadcasts + after.broadcasts, before.events + after.events)

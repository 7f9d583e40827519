"""Channels of legal variants: when they do periodic work, the order within a reply, and the IDs of sync messages.

The specification says that messages are broadcast "after a set period" or "periodically". It names neither the command
of the application that triggers the broadcast nor an order within one reply.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace

from .channel import Channel
from .effects import Acknowledged, Delivered, Effects, Event, PossiblyAcknowledged
from .errors import RefusedSendError
from .message import MAX_LAMPORT, Kind, Message
from .outgoing_buffer import OutgoingEntry
from .participant import Participant


class ResendsBeforeSending(Channel):
    """When a message is sent, resends that are due go out before it."""

    def send(
        self, content: bytes, now_ms: int, message_id: str | None = None, retrieval_hint: bytes | None = None
    ) -> Effects:
        effects, due = super().send(content, now_ms, message_id, retrieval_hint), Effects()
        self.sweep_outgoing(now_ms, due)
        effects.broadcasts[:0] = due.broadcasts
        return effects


class ResendsAfterSending(Channel):
    """When a message is sent, resends that are due go out after it."""

    def send(
        self, content: bytes, now_ms: int, message_id: str | None = None, retrieval_hint: bytes | None = None
    ) -> Effects:
        effects = super().send(content, now_ms, message_id, retrieval_hint)
        self.sweep_outgoing(now_ms, effects)
        return effects


class AnswersBeforeSending(Channel):
    """When a message is sent, responses that are due go out before it."""

    def send(
        self, content: bytes, now_ms: int, message_id: str | None = None, retrieval_hint: bytes | None = None
    ) -> Effects:
        effects, due = super().send(content, now_ms, message_id, retrieval_hint), Effects()
        self.sweep_repair_requests(now_ms, due)
        effects.broadcasts[:0] = due.broadcasts
        return effects


class ResendsBeforeSyncs(Channel):
    """When a sync message is requested, resends and responses that are due go out before it."""

    def send_sync(self, now_ms: int) -> Effects:
        effects = Effects()
        self.sweep_outgoing(now_ms, effects)
        self.sweep_repair_requests(now_ms, effects)
        effects.broadcasts += super().send_sync(now_ms).broadcasts
        return effects


class WorksBeforeSending(Channel):
    """Before a message is sent, all periodic work that is due is done, including a sync message that is due."""

    def send(
        self, content: bytes, now_ms: int, message_id: str | None = None, retrieval_hint: bytes | None = None
    ) -> Effects:
        done = self.tick(now_ms)
        try:
            effects = super().send(content, now_ms, message_id, retrieval_hint)
        except RefusedSendError:
            self.unsaid = done
            raise
        return Effects(done.broadcasts + effects.broadcasts, done.events + effects.events, effects.message_id)

    unsaid: Effects | None = None

    def tick(self, now_ms: int) -> Effects:
        before, self.unsaid = self.unsaid or Effects(), None
        done = super().tick(now_ms)
        return Effects(before.broadcasts + done.broadcasts, before.events + done.events)


class WorksAfterReceiving(Channel):
    """When a message arrives, all periodic work that is due is done as well."""

    def receive(self, message: Message, now_ms: int, retrieval_hint: bytes | None = None) -> Effects:
        effects = super().receive(message, now_ms, retrieval_hint)
        done = self.tick(now_ms)
        effects.broadcasts += done.broadcasts
        effects.events += done.events
        return effects


class ReversesTickOrder(Channel):
    """In a tick the sync message goes out first, then responses, then resends."""

    def tick(self, now_ms: int) -> Effects:
        effects = super().tick(now_ms)
        effects.broadcasts.reverse()
        return effects


class AnswersWithASync(Channel):
    """When content arrives, the participant immediately broadcasts a sync message."""

    def receive(self, message: Message, now_ms: int, retrieval_hint: bytes | None = None) -> Effects:
        effects = super().receive(message, now_ms, retrieval_hint)
        if message.kind is Kind.CONTENT and not self.is_own(message):
            with suppress(RefusedSendError):
                effects.broadcasts += self.send_sync(now_ms).broadcasts
        return effects


class SyncsAfterSending(Channel):
    """A sync message follows each message that is sent, in the same reply."""

    def send(
        self, content: bytes, now_ms: int, message_id: str | None = None, retrieval_hint: bytes | None = None
    ) -> Effects:
        effects = super().send(content, now_ms, message_id, retrieval_hint)
        with suppress(RefusedSendError):
            effects.broadcasts += self.send_sync(now_ms).broadcasts
        return effects


class SyncsBeforeSending(Channel):
    """A sync message precedes each message that is sent, in the same reply."""

    def send(
        self, content: bytes, now_ms: int, message_id: str | None = None, retrieval_hint: bytes | None = None
    ) -> Effects:
        is_sent = bool(content) and not self.has_arrived(message_id or "") and self.clock.value < MAX_LAMPORT - 1
        broadcasts = self.send_sync(now_ms).broadcasts if is_sent else []
        effects = super().send(content, now_ms, message_id, retrieval_hint)
        effects.broadcasts[:0] = broadcasts
        return effects


class SyncsInPairs(Channel):
    """When one sync message is due, two are sent, in case one is lost."""

    def tick(self, now_ms: int) -> Effects:
        due = self.sync_is_due(now_ms)
        effects = super().tick(now_ms)
        if due:
            with suppress(RefusedSendError):
                effects.broadcasts += self.send_sync(now_ms).broadcasts
        return effects


def _is_ack(event: Event) -> bool:
    return isinstance(event, Acknowledged | PossiblyAcknowledged)


class AcknowledgementsLast(Channel):
    """In the reply to an arriving message, deliveries come first and acknowledgements last."""

    def receive(self, message: Message, now_ms: int, retrieval_hint: bytes | None = None) -> Effects:
        effects = super().receive(message, now_ms, retrieval_hint)
        effects.events.sort(key=_is_ack)
        return effects


class DeliveriesLast(Channel):
    """In the reply to an arriving message, deliveries come last."""

    def receive(self, message: Message, now_ms: int, retrieval_hint: bytes | None = None) -> Effects:
        effects = super().receive(message, now_ms, retrieval_hint)
        effects.events.sort(key=lambda event: isinstance(event, Delivered))
        return effects


class AnswersAreTraffic(Channel):
    """Counts its own responses as "other messages [that] have been broadcast in the channel": they postpone its sync
    messages."""

    def sweep_repair_requests(self, now_ms: int, effects: Effects) -> None:
        before = len(effects.broadcasts)
        super().sweep_repair_requests(now_ms, effects)
        if len(effects.broadcasts) > before:
            self._quiet_since_ms = now_ms


class EphemeralMessagesMoveTheClock(Participant):
    """Increases its Lamport timestamp when it sends an ephemeral message, too ("before broadcasting a message")."""

    def send_ephemeral(
        self, channel_id: str, content: bytes, message_id: str | None = None, now_ms: int = 0
    ) -> Effects:
        effects = super().send_ephemeral(channel_id, content, message_id, now_ms)
        with suppress(RefusedSendError):
            self.channel(channel_id).next_lamport(now_ms)
        return effects


class SyncIdIsEmpty(Channel):
    """Gives sync messages no ID: they "MAY have non-unique message IDs" (AMB-51)."""

    def new_message_id(self, lamport: int | None, content: bytes) -> str:
        return super().new_message_id(lamport, content) if content else ""


class SyncIdIsSenderId(Channel):
    """Uses the participant's ID as the ID of sync messages."""

    def new_message_id(self, lamport: int | None, content: bytes) -> str:
        return super().new_message_id(lamport, content) if content else self.participant_id


class SyncIdIsChannelId(Channel):
    """Uses the channel's ID as the ID of sync messages."""

    def new_message_id(self, lamport: int | None, content: bytes) -> str:
        return super().new_message_id(lamport, content) if content else self.channel_id


class SyncIdIsANumber(Channel):
    """Numbers the sync messages of each channel from 1."""

    syncs = 0

    def new_message_id(self, lamport: int | None, content: bytes) -> str:
        if content:
            return super().new_message_id(lamport, content)
        self.syncs += 1
        return str(self.syncs)


class SyncIdIsTimestamp(Channel):
    """Uses the Lamport timestamp of a sync message as its ID."""

    def new_message_id(self, lamport: int | None, content: bytes) -> str:
        return super().new_message_id(lamport, content) if content else str(lamport)


class SyncIdIsLastOwnId(Channel):
    """Uses the ID of the participant's last message as the ID of a sync message."""

    last = "sync"

    def new_message_id(self, lamport: int | None, content: bytes) -> str:
        return super().new_message_id(lamport, content) if content else self.last

    def keep_own(self, message: Message, retrieval_hint: bytes | None = None) -> None:
        super().keep_own(message, retrieval_hint)
        self.last = message.message_id


class SyncIdIsNewestLoggedId(Channel):
    """Uses the ID of the newest message in the log, of any sender, as the ID of a sync message."""

    def new_message_id(self, lamport: int | None, content: bytes) -> str:
        if content:
            return super().new_message_id(lamport, content)
        newest = self.log.last_entries(1)
        return newest[-1].message_id if newest else "sync"


class ResendsWithCurrentFilter(Channel):
    """Resends messages with the current filter (AMB-65)."""

    def rebroadcast(self, entry: OutgoingEntry) -> bytes:
        message = self.revision.wire.decode(entry.wire)
        return self.encode(replace(message, bloom_filter=self.filter.to_wire()))

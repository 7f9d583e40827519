"""Faults of sections SYNC and EPHEMERAL."""

from __future__ import annotations

from dataclasses import replace

from ...bloom_filter import build_filter
from ...channel import Channel
from ...effects import Delivered, Effects
from ...local_log import LogEntry
from ...message import HistoryEntry, Kind, Message, decode
from ..registry import mutant


@mutant("SDS-SYNC-01", "never sends a sync message by itself")
class NeverSyncs(Channel):
    def tick(self, now_ms: int) -> Effects:
        effects = Effects()
        self.sweep_incoming(now_ms, effects)
        self.sweep_outgoing(now_ms, effects)
        return effects


@mutant("SDS-SYNC-02", "gives sync messages content")
class SyncWithContent(Channel):
    def compose(self, message_id: str, lamport: int, content: bytes | None) -> Message:
        return super().compose(message_id, lamport, b"sync" if content is None else content)


@mutant("SDS-SYNC-03", "sends sync messages with the timestamp it has")
class SyncDoesNotIncrease(Channel):
    def next_sync_lamport(self, now_ms: int) -> int:
        return self.clock.value


@mutant("SDS-SYNC-04", "names the oldest messages in sync messages")
class SyncNamesTheOldest(Channel):
    def compose(self, message_id: str, lamport: int, content: bytes | None) -> Message:
        message = super().compose(message_id, lamport, content)
        if content is not None:
            return message
        oldest = [HistoryEntry(entry.message_id) for entry in self.log][: len(message.causal_history)]
        return replace(message, causal_history=tuple(oldest))


@mutant("SDS-SYNC-05", "sends sync messages with an empty filter")
class SyncWithEmptyFilter(Channel):
    def compose(self, message_id: str, lamport: int, content: bytes | None) -> Message:
        message = super().compose(message_id, lamport, content)
        if content is not None:
            return message
        return replace(message, bloom_filter=build_filter(self.config.bloom_profile, self.parameters, ()))


@mutant("SDS-SYNC-06", "waits for the acknowledgement of sync messages")
class BuffersSyncs(Channel):
    def send_sync(self, now_ms: int) -> Effects:
        effects = super().send_sync(now_ms)
        for wire in effects.broadcasts:
            self.remember_outgoing(decode(wire), wire, now_ms)
        return effects


@mutant("SDS-SYNC-07", "names its last sync message in causal histories")
class NamesSyncs(Channel):
    _last: tuple[HistoryEntry, ...] = ()

    def send_sync(self, now_ms: int) -> Effects:
        effects = super().send_sync(now_ms)
        self._last = tuple(HistoryEntry(decode(wire).message_id) for wire in effects.broadcasts)
        return effects

    def causal_history(self) -> tuple[HistoryEntry, ...]:
        return (*super().causal_history()[len(self._last) :], *self._last)


@mutant("SDS-SYNC-08", "puts sync messages into its filter")
class FiltersSyncs(Channel):
    def receive(self, message: Message, now_ms: int, retrieval_hint: bytes | None = None) -> Effects:
        effects = super().receive(message, now_ms, retrieval_hint)
        if message.kind is Kind.SYNC and not self.is_own(message):
            self.insert_into_filter(message)
        return effects


@mutant("SDS-SYNC-09", "logs received sync messages")
class LogsSyncs(Channel):
    def receive(self, message: Message, now_ms: int, retrieval_hint: bytes | None = None) -> Effects:
        effects = super().receive(message, now_ms, retrieval_hint)
        if message.kind is Kind.SYNC and not self.is_own(message) and message.lamport_timestamp is not None:
            self.log.insert(LogEntry(message.message_id, message.lamport_timestamp, message.sender_id))
        return effects


@mutant("SDS-SYNC-10", "takes a sync message with a known ID for a duplicate")
class DeduplicatesSyncs(Channel):
    _seen: frozenset[str] = frozenset()

    def review_ack_status(self, message: Message, effects: Effects, now_ms: int) -> None:
        if message.message_id not in self._seen:
            super().review_ack_status(message, effects, now_ms)
        if message.kind is Kind.SYNC:
            self._seen |= {message.message_id}


@mutant("SDS-SYNC-12", "does not look at the filter of sync messages")
class IgnoresSyncFilters(Channel):
    def review_bloom_filter(self, message: Message, effects: Effects, now_ms: int) -> None:
        if message.kind is not Kind.SYNC:
            super().review_bloom_filter(message, effects, now_ms)


@mutant("SDS-SYNC-13", "delivers a sync message when its dependencies have come", buffer_syncs=True)
class DeliversSyncsLater(Channel):
    def deliver_ready(self, effects: Effects) -> None:
        while (entry := self.incoming.take_ready()) is not None:
            if entry.message.kind is Kind.CONTENT:
                self.deliver(entry.message, effects, entry.retrieval_hint)
            else:
                effects.events.append(Delivered(self.channel_id, entry.message.message_id, b""))


@mutant("SDS-SYNC-14", "takes the increase for a sync message back")
class TakesTheIncreaseBack(Channel):
    def next_sync_lamport(self, now_ms: int) -> int:
        before = self.clock.value
        lamport = super().next_sync_lamport(now_ms)
        self.clock.value = before
        return lamport


@mutant("SDS-SYNC-15", "moves its clock with received sync messages")
class SyncMovesTheClock(Channel):
    def receive(self, message: Message, now_ms: int, retrieval_hint: bytes | None = None) -> Effects:
        effects = super().receive(message, now_ms, retrieval_hint)
        if message.kind is Kind.SYNC and not self.is_own(message):
            self.clock.witness(message.lamport_timestamp or 0)
        return effects


@mutant("SDS-EPHEMERAL-01", "sends ephemeral messages twice to be sure")
class EphemeralTwice(Channel):
    def send_ephemeral(self, content: bytes, message_id: str | None = None) -> Effects:
        effects = super().send_ephemeral(content, message_id)
        effects.broadcasts *= 2
        return effects


@mutant("SDS-EPHEMERAL-02", "gives ephemeral messages a filter")
class EphemeralWithFilter(Channel):
    def encode(self, message: Message) -> bytes:
        if message.kind is Kind.EPHEMERAL:
            message = replace(message, bloom_filter=self.filter.to_wire())
        return super().encode(message)


@mutant("SDS-EPHEMERAL-03", "waits for the acknowledgement of ephemeral messages")
class BuffersEphemerals(Channel):
    def send_ephemeral(self, content: bytes, message_id: str | None = None) -> Effects:
        effects = super().send_ephemeral(content, message_id)
        for wire in effects.broadcasts:
            self.remember_outgoing(self.revision.wire.decode(wire), wire, self._quiet_since_ms)
        return effects


@mutant("SDS-EPHEMERAL-04", "keeps ephemeral messages back while others wait")
class EphemeralWaits(Channel):
    def receive_ephemeral(self, message: Message, effects: Effects) -> None:
        if not len(self.incoming):
            super().receive_ephemeral(message, effects)


@mutant("SDS-EPHEMERAL-05", "logs ephemeral messages")
class LogsEphemerals(Channel):
    def receive_ephemeral(self, message: Message, effects: Effects) -> None:
        super().receive_ephemeral(message, effects)
        self.log.insert(LogEntry(message.message_id, self.clock.value, message.sender_id))


@mutant("SDS-EPHEMERAL-07", "moves its clock with ephemeral messages")
class EphemeralMovesTheClock(Channel):
    def receive_ephemeral(self, message: Message, effects: Effects) -> None:
        super().receive_ephemeral(message, effects)
        self.clock.value += 7


@mutant("SDS-SYNC-01", "sends two automatic sync messages and no more")
class TwoSyncsAreEnough(Channel):
    automatic = 0

    def tick(self, now_ms: int) -> Effects:
        before = self._quiet_since_ms
        if self.automatic == 2:
            self._quiet_since_ms = now_ms
        effects = super().tick(now_ms)
        self.automatic += self.automatic < 2 and self._quiet_since_ms != before
        return effects


@mutant("SDS-SYNC-08", "puts sync messages whose content is present and empty into its filter")
class FiltersEmptySyncs(Channel):
    def receive(self, message: Message, now_ms: int, retrieval_hint: bytes | None = None) -> Effects:
        if message.kind is Kind.SYNC and message.content is not None:
            self.filter.insert(message.message_id)
        return super().receive(message, now_ms, retrieval_hint)


@mutant("SDS-EPHEMERAL-05", "takes a dependency on an ephemeral message for met")
class EphemeralsMeetDependencies(Channel):
    def receive_ephemeral(self, message: Message, effects: Effects) -> None:
        super().receive_ephemeral(message, effects)
        self._ephemeral = {*getattr(self, "_ephemeral", ()), message.message_id}

    def unmet_dependencies(self, message: Message) -> set[str]:
        return super().unmet_dependencies(message) - getattr(self, "_ephemeral", set())

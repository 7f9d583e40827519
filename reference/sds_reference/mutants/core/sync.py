"""Faults in sync messages (SYNC) and ephemeral messages (EPHEMERAL)."""

from __future__ import annotations

from dataclasses import replace

from ...bloom_filter import build_filter
from ...channel import Channel
from ...choices import IdleAfterCopies
from ...effects import Delivered, Effects
from ...errors import RefusedSendError
from ...local_log import LogEntry
from ...message import HistoryEntry, Kind, Message, decode
from ..registry import fault, mutant, register_faults


@register_faults
class _SyncsSent(Channel):
    _has_waited = False

    @fault(Channel.tick, "SYNC-01", "never sends a periodic sync message")
    def never_syncs(self, now_ms: int) -> Effects:
        effects = Effects()
        self.sweep_incoming(now_ms, effects)
        self.sweep_outgoing(now_ms, effects)
        return effects

    @fault(Channel.sync_is_due, "SYNC-01", "sends no periodic sync message once its log has fifty messages")
    def long_logs_stop_its_syncs(self, now_ms: int) -> bool:
        return len(self.log) < 50 and super().sync_is_due(now_ms)

    @fault(
        Channel.sync_is_due,
        "SYNC-01",
        "sends no periodic sync message while its Lamport timestamp is ahead of the clock",
    )
    def timestamps_ahead_stop_its_syncs(self, now_ms: int) -> bool:
        return self.clock.value <= now_ms and super().sync_is_due(now_ms)

    @fault(Channel.sync_is_due, "SYNC-01", "sends a sync message at every tick after the first sync interval")
    def syncs_at_every_tick(self, now_ms: int) -> bool:
        self._has_waited = self._has_waited or super().sync_is_due(now_ms)
        return self._has_waited

    @fault(Channel.compose, "SYNC-02", "gives sync messages content")
    def sync_with_content(self, message_id: str, lamport: int, content: bytes | None) -> Message:
        return super().compose(message_id, lamport, b"sync" if content is None else content)

    @fault(Channel.next_sync_lamport, "SYNC-03", "does not increase the Lamport timestamp for sync messages")
    def sync_does_not_increase(self, now_ms: int) -> int:
        return self.clock.value

    @fault(Channel.compose, "SYNC-03", "sends sync messages without a Lamport timestamp")
    def syncs_without_a_timestamp(self, message_id: str, lamport: int, content: bytes | None) -> Message:
        message = super().compose(message_id, lamport, content)
        return message if content is not None else replace(message, lamport_timestamp=None)

    @fault(Channel.compose, "SYNC-04", "lists the oldest messages in the causal histories of sync messages")
    def sync_names_the_oldest(self, message_id: str, lamport: int, content: bytes | None) -> Message:
        message = super().compose(message_id, lamport, content)
        if content is not None:
            return message
        oldest = [HistoryEntry(entry.message_id) for entry in self.log][: len(message.causal_history)]
        return replace(message, causal_history=tuple(oldest))

    @fault(Channel.compose, "SYNC-05", "sends sync messages with an empty filter")
    def sync_with_empty_filter(self, message_id: str, lamport: int, content: bytes | None) -> Message:
        message = super().compose(message_id, lamport, content)
        if content is not None:
            return message
        return replace(message, bloom_filter=build_filter(self.config.bloom_profile, self.parameters, ()))

    @fault(Channel.send_sync, "SYNC-06", "adds sync messages to its outgoing buffer")
    def buffers_syncs(self, now_ms: int) -> Effects:
        effects = super().send_sync(now_ms)
        for wire in effects.broadcasts:
            self.remember_outgoing(decode(wire), wire, now_ms)
        return effects


@mutant("SYNC-07", "lists its last sync message in causal histories")
class NamesSyncs(Channel):
    _last: tuple[HistoryEntry, ...] = ()

    def send_sync(self, now_ms: int) -> Effects:
        effects = super().send_sync(now_ms)
        self._last = tuple(HistoryEntry(decode(wire).message_id) for wire in effects.broadcasts)
        return effects

    def causal_history(self) -> tuple[HistoryEntry, ...]:
        return (*super().causal_history()[len(self._last) :], *self._last)


@mutant("SYNC-09", "treats a dependency on an own sync message as met")
class OwnSyncsMeetDependencies(Channel):
    _sent: frozenset[str] = frozenset()

    def send_sync(self, now_ms: int) -> Effects:
        effects = super().send_sync(now_ms)
        self._sent |= {decode(wire).message_id for wire in effects.broadcasts}
        return effects

    def unmet_dependencies(self, message: Message) -> set[str]:
        return super().unmet_dependencies(message) - self._sent


@register_faults
class _SyncsAndEphemerals(Channel):
    _seen: frozenset[str] = frozenset()
    automatic = 0

    @fault(Channel.receive, "SYNC-08", "puts sync messages into its filter")
    def filters_syncs(self, message: Message, now_ms: int, retrieval_hint: bytes | None = None) -> Effects:
        effects = super().receive(message, now_ms, retrieval_hint)
        if message.kind is Kind.SYNC and not self.is_own(message):
            self.insert_into_filter(message)
        return effects

    @fault(Channel.send_sync, "SYNC-08", "puts its own sync messages into its filter")
    def filters_own_syncs(self, now_ms: int) -> Effects:
        effects = super().send_sync(now_ms)
        for wire in effects.broadcasts:
            self.filter.insert(decode(wire).message_id)
        return effects

    @fault(Channel.receive, "SYNC-09", "logs received sync messages")
    def logs_syncs(self, message: Message, now_ms: int, retrieval_hint: bytes | None = None) -> Effects:
        effects = super().receive(message, now_ms, retrieval_hint)
        if message.kind is Kind.SYNC and not self.is_own(message) and message.lamport_timestamp is not None:
            self.log.insert(LogEntry(message.message_id, message.lamport_timestamp, message.sender_id))
        return effects

    @fault(Channel.review_ack_status, "SYNC-10", "treats a sync message with a known ID as a duplicate")
    def deduplicates_syncs(self, message: Message, effects: Effects, now_ms: int) -> None:
        if message.message_id not in self._seen:
            super().review_ack_status(message, effects, now_ms)
        if message.kind is Kind.SYNC:
            self._seen |= {message.message_id}

    @fault(Channel.review_bloom_filter, "SYNC-12", "ignores the filter of sync messages")
    def ignores_sync_filters(self, message: Message, effects: Effects, now_ms: int) -> None:
        if message.kind is not Kind.SYNC:
            super().review_bloom_filter(message, effects, now_ms)

    @fault(Channel.deliver_ready, "SYNC-13", "delivers a sync message when its dependencies are met", buffer_syncs=True)
    def delivers_syncs_later(self, effects: Effects) -> None:
        while (entry := self.incoming.take_ready()) is not None:
            if entry.message.kind is Kind.CONTENT:
                self.deliver(entry.message, effects, entry.retrieval_hint)
            else:
                effects.events.append(Delivered(self.channel_id, entry.message.message_id, b""))

    @fault(
        Channel.give_up_lost,
        "SYNC-09",
        "logs a sync message whose dependencies are lost",
        buffer_syncs=True,
    )
    def logs_syncs_in_the_end(self, received_ms: int, effects: Effects) -> None:
        for entry in self.incoming:
            if entry.received_ms <= received_ms and not entry.regular:
                self.insert_into_log(entry.message, entry.retrieval_hint)
        super().give_up_lost(received_ms, effects)

    @fault(Channel.next_sync_lamport, "SYNC-14", "undoes the increase of the Lamport timestamp after a sync message")
    def undoes_the_sync_increase(self, now_ms: int) -> int:
        before = self.clock.value
        lamport = super().next_sync_lamport(now_ms)
        self.clock.value = before
        return lamport

    @fault(Channel.next_sync_lamport, "SYNC-14", "sets its Lamport timestamp back by a second after a sync message")
    def goes_back_after_a_sync(self, now_ms: int) -> int:
        lamport = super().next_sync_lamport(now_ms)
        self.clock.value -= 1_000
        return lamport

    @fault(Channel.receive, "SYNC-15", "updates its clock by received sync messages")
    def sync_moves_the_clock(self, message: Message, now_ms: int, retrieval_hint: bytes | None = None) -> Effects:
        effects = super().receive(message, now_ms, retrieval_hint)
        if message.kind is Kind.SYNC and not self.is_own(message):
            self.clock.witness(message.lamport_timestamp or 0)
        return effects

    @fault(
        Channel.deliver_ready,
        "SYNC-15",
        "updates its clock by sync messages when their dependencies arrive",
        buffer_syncs=True,
    )
    def waiting_syncs_move_the_clock(self, effects: Effects) -> None:
        while (entry := self.incoming.take_ready()) is not None:
            if entry.regular:
                self.deliver(entry.message, effects, entry.retrieval_hint)
            else:
                self.clock.witness(entry.message.lamport_timestamp or 0)

    @fault(
        Channel.send_ephemeral,
        "EPHEMERAL-01",
        "refuses to send ephemeral messages although it declares support for them",
    )
    def refuses_to_send_ephemerals(self, content: bytes, message_id: str | None = None) -> Effects:
        raise RefusedSendError("temporarily unavailable")

    @fault(Channel.send_ephemeral, "EPHEMERAL-01", "accepts ephemeral messages and sends none of them")
    def sends_no_ephemerals(self, content: bytes, message_id: str | None = None) -> Effects:
        return Effects(message_id=super().send_ephemeral(content, message_id).message_id)

    @fault(Channel.send_ephemeral, "EPHEMERAL-01", "sends ephemeral messages twice")
    def ephemeral_twice(self, content: bytes, message_id: str | None = None) -> Effects:
        effects = super().send_ephemeral(content, message_id)
        effects.broadcasts *= 2
        return effects

    @fault(Channel.encode, "EPHEMERAL-02", "gives ephemeral messages a filter")
    def ephemeral_with_filter(self, message: Message) -> bytes:
        if message.kind is Kind.EPHEMERAL:
            message = replace(message, bloom_filter=self.filter.to_wire())
        return super().encode(message)

    @fault(Channel.encode, "EPHEMERAL-02", "gives ephemeral messages a causal history if its log is not empty")
    def ephemeral_with_history(self, message: Message) -> bytes:
        if message.kind is Kind.EPHEMERAL:
            message = replace(message, causal_history=self.causal_history())
        return super().encode(message)

    @fault(Channel.encode, "EPHEMERAL-02", "gives ephemeral messages a Lamport timestamp of 0")
    def ephemeral_with_timestamp(self, message: Message) -> bytes:
        return super().encode(replace(message, lamport_timestamp=message.lamport_timestamp or 0))

    @fault(Channel.send_ephemeral, "EPHEMERAL-03", "adds ephemeral messages to its outgoing buffer")
    def buffers_ephemerals(self, content: bytes, message_id: str | None = None) -> Effects:
        effects = super().send_ephemeral(content, message_id)
        for wire in effects.broadcasts:
            self.remember_outgoing(self.revision.wire.decode(wire), wire, self._quiet_since_ms)
        return effects

    @fault(
        Channel.receive_ephemeral, "EPHEMERAL-04", "drops ephemeral messages while other messages wait for dependencies"
    )
    def drops_ephemerals_while_others_wait(self, message: Message, effects: Effects) -> None:
        if not len(self.incoming):
            super().receive_ephemeral(message, effects)

    @fault(Channel.receive_ephemeral, "EPHEMERAL-05", "logs ephemeral messages")
    def logs_ephemerals(self, message: Message, effects: Effects) -> None:
        super().receive_ephemeral(message, effects)
        self.log.insert(LogEntry(message.message_id, self.clock.value, message.sender_id))

    @fault(Channel.receive_ephemeral, "EPHEMERAL-05", "treats an ephemeral message as the missing message with its ID")
    def ephemeral_replaces_the_missing(self, message: Message, effects: Effects) -> None:
        super().receive_ephemeral(message, effects)
        self.incoming.mark_met(message.message_id)
        self.deliver_ready(effects)

    @fault(
        Channel.receive_ephemeral, "EPHEMERAL-07", "advances its Lamport timestamp when an ephemeral message arrives"
    )
    def ephemeral_moves_the_clock(self, message: Message, effects: Effects) -> None:
        super().receive_ephemeral(message, effects)
        self.clock.value += 7

    @fault(Channel.tick, "SYNC-01", "sends only two periodic sync messages")
    def two_syncs_are_enough(self, now_ms: int) -> Effects:
        before = self._quiet_since_ms
        if self.automatic == 2:
            self._quiet_since_ms = now_ms
        effects = super().tick(now_ms)
        self.automatic += self.automatic < 2 and self._quiet_since_ms != before
        return effects

    @fault(Channel.receive, "SYNC-08", "puts sync messages whose content is present and empty into its filter")
    def filters_empty_syncs(self, message: Message, now_ms: int, retrieval_hint: bytes | None = None) -> Effects:
        if message.kind is Kind.SYNC and message.content is not None:
            self.filter.insert(message.message_id)
        return super().receive(message, now_ms, retrieval_hint)


@mutant("SYNC-01", "sends no periodic sync message before it has sent content")
class SyncsOnlyAfterSending(Channel):
    _has_sent = False

    def send(
        self, content: bytes, now_ms: int, message_id: str | None = None, retrieval_hint: bytes | None = None
    ) -> Effects:
        self._has_sent = True
        return super().send(content, now_ms, message_id, retrieval_hint)

    def sync_is_due(self, now_ms: int) -> bool:
        return self._has_sent and super().sync_is_due(now_ms)


@mutant("SYNC-01", "restarts its sync interval when it sends content or copies, but not at periodic sync messages")
class SyncsRestartNoInterval(IdleAfterCopies):
    _is_due = False

    def sync_is_due(self, now_ms: int) -> bool:
        self._is_due = super().sync_is_due(now_ms)
        return self._is_due

    def broadcast_at(self, now_ms: int) -> None:
        if not self._is_due:
            super().broadcast_at(now_ms)

    def tick(self, now_ms: int) -> Effects:
        effects = super().tick(now_ms)
        self._is_due = False
        return effects


@mutant("EPHEMERAL-04", "delivers ephemeral messages at the next tick")
class DeliversEphemeralsAtTicks(Channel):
    _delayed: tuple[Message, ...] = ()

    def receive_ephemeral(self, message: Message, effects: Effects) -> None:
        self._delayed = (*self._delayed, message)

    def tick(self, now_ms: int) -> Effects:
        effects = super().tick(now_ms)
        for message in self._delayed:
            super().receive_ephemeral(message, effects)
        self._delayed = ()
        return effects


@mutant("EPHEMERAL-05", "treats a dependency on an ephemeral message as met")
class EphemeralsMeetDependencies(Channel):
    def meets(self, message: Message) -> bool:
        return True

    def receive_ephemeral(self, message: Message, effects: Effects) -> None:
        super().receive_ephemeral(message, effects)
        if self.meets(message):
            self._ephemeral = {*getattr(self, "_ephemeral", ()), message.message_id}

    def unmet_dependencies(self, message: Message) -> set[str]:
        return super().unmet_dependencies(message) - getattr(self, "_ephemeral", set())


@mutant(
    "EPHEMERAL-06", "treats a dependency as met if a message with its ID has a history or a filter, but no timestamp"
)
class HybridsMeetDependencies(EphemeralsMeetDependencies):
    def meets(self, message: Message) -> bool:
        return bool(message.causal_history) or message.bloom_filter is not None

"""Faults in acknowledgements (ACK) and in the periodic sweeps of the two buffers (INSWEEP and OUTSWEEP)."""

from __future__ import annotations

from ...channel import Channel
from ...effects import Acknowledged, Delivered, Effects, Missing
from ...incoming_buffer import BufferedMessage
from ...message import HistoryEntry, Kind, Message
from ...outgoing_buffer import AckState, OutgoingEntry
from ..registry import fault, mutant, omit, register_faults


@mutant(
    "ACK-04",
    "counts the filter of a message again when the message is delivered after waiting",
    possible_ack_threshold=2,
)
class CountsFiltersAgainOnDelivery(Channel):
    def deliver_ready(self, effects: Effects) -> None:
        while (entry := self.incoming.take_ready()) is not None:
            if entry.regular:
                self.review_bloom_filter(entry.message, effects, entry.received_ms)
                self.deliver(entry.message, effects, entry.retrieval_hint)


@register_faults
class _Acknowledging(Channel):
    _by_the_last_sweep: tuple[Delivered, ...] = ()

    @fault(Channel.review_causal_history, "ACK-01", "acknowledges only the first message of a causal history")
    def acknowledges_the_first(self, message: Message, effects: Effects) -> None:
        for entry in message.causal_history[:1]:
            self.acknowledge(entry.message_id, effects)

    @fault(
        Channel.review_causal_history,
        "ACK-01",
        "ignores an entry of a causal history unless the filter contains it too",
    )
    def ignores_entries_missing_from_the_filter(self, message: Message, effects: Effects) -> None:
        view = self.read_filter(message)
        for entry in message.causal_history:
            if view is None or entry.message_id in view:
                self.acknowledge(entry.message_id, effects)

    ignores_filters = omit(Channel.review_bloom_filter, "ACK-02", "ignores received filters")

    @fault(
        Channel.review_ack_status,
        "ACK-02",
        "ignores the filter of a message whose causal history acknowledges an own message",
    )
    def ignores_filters_beside_names(self, message: Message, effects: Effects, now_ms: int) -> None:
        before = len(self.outgoing)
        self.review_causal_history(message, effects)
        if len(self.outgoing) == before:
            self.review_bloom_filter(message, effects, now_ms)

    @fault(
        Channel.review_ack_status,
        "ACK-01",
        "ignores the causal history of a message whose filter contains own messages",
    )
    def ignores_names_beside_filters(self, message: Message, effects: Effects, now_ms: int) -> None:
        view = self.read_filter(message)
        if view is None or not any(entry.message_id in view for entry in self.outgoing):
            self.review_causal_history(message, effects)
        self.review_bloom_filter(message, effects, now_ms)

    @fault(Channel.count_filter_hit, "ACK-04", "acknowledges after a single filter hit")
    def acknowledges_after_one_filter_hit(self, entry: OutgoingEntry, effects: Effects, now_ms: int) -> None:
        self.acknowledge(entry.message_id, effects)

    @fault(Channel.acknowledge, "ACK-05", "signals an acknowledgement for every ID of a causal history")
    def acknowledges_strangers(self, message_id: str, effects: Effects) -> None:
        self.outgoing.acknowledge(message_id)
        effects.events.append(Acknowledged(self.channel_id, message_id))

    @fault(
        Channel.review_bloom_filter,
        "ACK-06",
        "treats a message as unacknowledged again when a filter does not contain it",
    )
    def returns_to_unacknowledged(self, message: Message, effects: Effects, now_ms: int) -> None:
        super().review_bloom_filter(message, effects, now_ms)
        view = self.read_filter(message)
        for entry in self.outgoing:
            if view is not None and entry.message_id not in view:
                entry.state = AckState.UNACKNOWLEDGED

    @fault(
        Channel.review_bloom_filter,
        "ACK-06",
        "treats a message that two filters contained as unacknowledged again when a filter does not contain it",
    )
    def returns_to_unacknowledged_after_two_filters(self, message: Message, effects: Effects, now_ms: int) -> None:
        possibly = [entry for entry in self.outgoing if entry.state is AckState.POSSIBLY_ACKNOWLEDGED]
        super().review_bloom_filter(message, effects, now_ms)
        view = self.read_filter(message)
        for entry in possibly:
            if view is not None and entry.message_id in view:
                entry.filter_hits += 1
            elif view is not None and entry.filter_hits >= 2:
                entry.state = AckState.UNACKNOWLEDGED

    @fault(Channel.review_causal_history, "ACK-07", "ignores acknowledgements in sync messages")
    def syncs_do_not_acknowledge(self, message: Message, effects: Effects) -> None:
        if message.kind is not Kind.SYNC:
            super().review_causal_history(message, effects)

    @fault(
        Channel.signal_missing,
        "INSWEEP-02",
        "signals all dependencies of a message, and the message itself, as missing",
    )
    def signals_all_dependencies_as_missing(self, message: Message, unmet: set[str], effects: Effects) -> None:
        effects.events.append(Missing(self.channel_id, (*message.causal_history, HistoryEntry(message.message_id))))

    @fault(Channel.signal_missing, "INSWEEP-02", "signals only the first of several missing messages")
    def signals_only_the_first_missing(self, message: Message, unmet: set[str], effects: Effects) -> None:
        super().signal_missing(message, {min(unmet)}, effects)

    @fault(
        Channel.sweep_incoming,
        "INSWEEP-02",
        "while a message waits, each sweep signals the last message of its log as missing",
    )
    def sweep_signals_the_logged_as_missing(self, now_ms: int, effects: Effects) -> None:
        entries = [HistoryEntry(entry.message_id) for entry in self.log.last_entries(1)]
        if entries and len(self.incoming):
            effects.events.append(Missing(self.channel_id, tuple(entries)))
        super().sweep_incoming(now_ms, effects)

    @fault(Channel.deliver_ready, "INSWEEP-04", "delivers only messages that wait for the message that just arrived")
    def one_level_only(self, effects: Effects) -> None:
        if (entry := self.incoming.take_ready()) is not None:
            waiting, self.incoming.mark_met = self.incoming.mark_met, lambda dependency: None  # type: ignore[method-assign]
            self.deliver(entry.message, effects, entry.retrieval_hint)
            self.incoming.mark_met = waiting  # type: ignore[method-assign]
            self.deliver_ready(effects)

    @fault(Channel.deliver_ready, "INSWEEP-06", "keeps delivered messages in its incoming buffer")
    def never_empties_the_buffer(self, effects: Effects) -> None:
        while (entry := self.incoming.take_ready()) is not None:
            self.deliver(entry.message, effects, entry.retrieval_hint)
            self.incoming.add(BufferedMessage(entry.message, {""}, entry.received_ms, None))

    @fault(
        Channel.sweep_incoming,
        "INSWEEP-06",
        "at each sweep, delivers again the messages that the previous sweep delivered",
        cascade_on_receive=False,
    )
    def sweeps_deliver_again(self, now_ms: int, effects: Effects) -> None:
        again = self._by_the_last_sweep
        known = len(effects.events)
        super().sweep_incoming(now_ms, effects)
        self._by_the_last_sweep = tuple(e for e in effects.events[known:] if isinstance(e, Delivered))
        effects.events += again

    @fault(Channel.schedule_resend, "OUTSWEEP-01", "rebroadcasts each message only once")
    def rebroadcasts_once(self, entry: OutgoingEntry, now_ms: int) -> None:
        entry.due_ms = -1


@mutant("OUTSWEEP-04", "rebroadcasts acknowledged messages")
class RebroadcastsTheAcknowledged(Channel):
    _gone: tuple[bytes, ...] = ()

    def acknowledge(self, message_id: str, effects: Effects) -> None:
        self._gone += tuple(entry.wire for entry in self.outgoing if entry.message_id == message_id)
        super().acknowledge(message_id, effects)

    def sweep_outgoing(self, now_ms: int, effects: Effects) -> None:
        super().sweep_outgoing(now_ms, effects)
        effects.broadcasts.extend(self._gone)


@register_faults
class _Rebroadcasting(Channel):
    @fault(Channel.rebroadcast, "OUTSWEEP-05", "advances its clock with every rebroadcast")
    def rebroadcasts_advance_the_clock(self, entry: OutgoingEntry) -> bytes:
        self.clock.value += 1
        return super().rebroadcast(entry)

    @fault(Channel.sweep_outgoing, "OUTSWEEP-06", "rebroadcasts on every sweep")
    def rebroadcasts_always(self, now_ms: int, effects: Effects) -> None:
        for entry in self.outgoing:
            effects.broadcasts.append(self.rebroadcast(entry))

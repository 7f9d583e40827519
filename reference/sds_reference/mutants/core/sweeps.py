"""Faults of the sweeps of the two buffers (INSWEEP, OUTSWEEP), and faults in receiving ephemeral messages."""

from __future__ import annotations

from dataclasses import replace

from ...channel import Channel
from ...choices import PossiblyAcknowledgedFirst
from ...config import Config
from ...effects import Effects, Lost
from ...errors import MalformedMessageError
from ...incoming_buffer import IncomingBuffer
from ...message import Kind, Message
from ...outgoing_buffer import AckState, OutgoingEntry
from ..registry import fault, mutant, register_faults, replace_part

_FREED_BY_AN_OWN_MESSAGE = (
    "schedules do not choose message IDs, and the fault appears only if a message waits for an ID, and the receiver "
    "then sends a message with that ID"
)


@register_faults
class _Sweeping(Channel):
    @fault(
        Channel.deliver_ready,
        "INSWEEP-01",
        "delivers a waiting message only when no other message has waited longer",
        cascade_on_receive=False,
    )
    def sweeps_only_the_oldest(self, effects: Effects) -> None:
        while (oldest := next(iter(self.incoming), None)) is not None and not oldest.unmet:
            entry = self.incoming.take_ready()
            assert entry is not None
            if entry.message.kind is Kind.CONTENT:
                self.deliver(entry.message, effects, entry.retrieval_hint)

    @fault(
        Channel.sweep_incoming,
        "INSWEEP-01",
        "in a sweep, checks only the message that has waited longest",
        out_of_reach=_FREED_BY_AN_OWN_MESSAGE,
    )
    def sweep_checks_only_the_oldest(self, now_ms: int, effects: Effects) -> None:
        oldest = next(iter(self.incoming), None)
        if oldest is None or not oldest.unmet:
            super().sweep_incoming(now_ms, effects)
        elif self.config.lost_timeout_ms is not None:
            self.give_up_lost(now_ms - self.config.lost_timeout_ms, effects)

    @fault(
        Channel.sweep_incoming,
        "INSWEEP-01",
        "checks waiting messages only when a message arrives",
        out_of_reach=_FREED_BY_AN_OWN_MESSAGE,
    )
    def checks_on_arrival(self, now_ms: int, effects: Effects) -> None:
        if self.config.lost_timeout_ms is not None:
            self.give_up_lost(now_ms - self.config.lost_timeout_ms, effects)

    @fault(Channel.give_up_lost, "INSWEEP-05", "marks dependencies as lost after half the configured time")
    def gives_up_early(self, received_ms: int, effects: Effects) -> None:
        assert self.config.lost_timeout_ms is not None
        super().give_up_lost(received_ms + self.config.lost_timeout_ms // 2, effects)

    @fault(
        Channel.sweep_incoming,
        "INSWEEP-05",
        "marks dependencies as lost after a day, although it is configured never to do so",
    )
    def gives_up_although_not_configured(self, now_ms: int, effects: Effects) -> None:
        super().sweep_incoming(now_ms, effects)
        if self.config.lost_timeout_ms is None:
            for entry in self.incoming.take_older(now_ms - 24 * 3_600_000):
                effects.events.append(Lost(self.channel_id, tuple(sorted(entry.unmet))))

    @fault(Channel.schedule_resend, "OUTSWEEP-02", "uses one resend period for all messages")
    def one_resend_period(self, entry: OutgoingEntry, now_ms: int) -> None:
        self.outgoing.reschedule(entry, now_ms + self.config.resend_unacknowledged_ms)

    @fault(
        Channel.schedule_resend,
        "OUTSWEEP-02",
        "never resends possibly acknowledged messages",
        resend_possibly_acknowledged_ms=None,
    )
    def never_resends_the_possible(self, entry: OutgoingEntry, now_ms: int) -> None:
        super().schedule_resend(entry, now_ms)
        if entry.state is AckState.POSSIBLY_ACKNOWLEDGED:
            entry.due_ms = -1

    @fault(
        Channel.schedule_resend,
        "OUTSWEEP-03",
        "resends possibly acknowledged messages three times as often as unacknowledged messages",
    )
    def resends_possible_three_times_as_often(self, entry: OutgoingEntry, now_ms: int) -> None:
        period = self.config.resend_unacknowledged_ms
        self.outgoing.reschedule(entry, now_ms + (period if entry.state is AckState.UNACKNOWLEDGED else period // 3))

    @fault(
        Channel.receive,
        "EPHEMERAL-06",
        "treats a message without a timestamp as a content message if it has dependencies",
    )
    def hybrids_are_content(self, message: Message, now_ms: int, retrieval_hint: bytes | None = None) -> Effects:
        if message.kind is Kind.EPHEMERAL and message.causal_history:
            message = replace(message, lamport_timestamp=self.clock.value)
        return super().receive(message, now_ms, retrieval_hint)

    @fault(Channel.receive_ephemeral, "EPHEMERAL-04", "drops ephemeral messages that its filter seems to contain")
    def drops_ephemerals_in_the_filter(self, message: Message, effects: Effects) -> None:
        if message.message_id not in self.filter:
            super().receive_ephemeral(message, effects)

    @fault(
        Channel.receive_ephemeral,
        "EPHEMERAL-06",
        "drops messages without a timestamp if they have a causal history or a filter",
    )
    def drops_hybrids(self, message: Message, effects: Effects) -> None:
        if not message.causal_history and message.bloom_filter is None:
            super().receive_ephemeral(message, effects)

    @fault(
        Channel.receive_ephemeral,
        "EPHEMERAL-06",
        "rejects messages without a timestamp if they have a causal history or a filter",
    )
    def refuses_hybrids(self, message: Message, effects: Effects) -> None:
        if message.causal_history or message.bloom_filter is not None:
            raise MalformedMessageError("a message with a causal history or a filter has no Lamport timestamp")
        super().receive_ephemeral(message, effects)

    @fault(
        Channel.remember_outgoing,
        "OUTSWEEP-01",
        "restarts the resend periods of its messages whenever it sends a message",
    )
    def sending_restarts_the_timers(self, message: Message, wire: bytes, now_ms: int) -> None:
        super().remember_outgoing(message, wire, now_ms)
        for entry in self.outgoing:
            self.schedule_resend(entry, now_ms)


mutant(
    "OUTSWEEP-03",
    "resends possibly acknowledged messages as often as unacknowledged messages, and before them",
    name="resends-possible-first",
    resend_possibly_acknowledged_ms=Config().resend_unacknowledged_ms,
)(PossiblyAcknowledgedFirst)


@replace_part(
    "incoming_class", "INSWEEP-04", "delivers only the last of several messages that wait for the same dependency"
)
class DeliversOnlyTheLastDependent(IncomingBuffer):
    def mark_met(self, dependency: str) -> None:
        *others, _ = self._waiting.get(dependency) or [""]
        for key in others:
            del self._waiting[dependency][key]
        super().mark_met(dependency)

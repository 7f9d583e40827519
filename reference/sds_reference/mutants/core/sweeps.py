"""Faults of the two periodic sweeps, INSWEEP and OUTSWEEP, that take several messages or periods to show."""

from __future__ import annotations

from dataclasses import replace

from ...channel import Channel
from ...effects import Effects, Lost
from ...message import Kind, Message
from ...outgoing_buffer import AckState, Outgoing
from ..registry import mutant


@mutant("SDS-INSWEEP-01", "looks only at the message that has waited longest", cascade_on_receive=False)
class LooksAtTheOldest(Channel):
    def deliver_ready(self, effects: Effects) -> None:
        while (oldest := next(iter(self.incoming), None)) is not None and not oldest.unmet:
            entry = self.incoming.take_ready()
            assert entry is not None
            if entry.message.kind is Kind.CONTENT:
                self.deliver(entry.message, effects, entry.retrieval_hint)


@mutant("SDS-INSWEEP-01", "checks what waits only when something arrives")
class ChecksOnArrival(Channel):
    def sweep_incoming(self, now_ms: int, effects: Effects) -> None:
        if self.config.lost_timeout_ms is not None:
            self.give_up_lost(now_ms - self.config.lost_timeout_ms, effects)


@mutant("SDS-INSWEEP-05", "gives dependencies up at half the time")
class GivesUpEarly(Channel):
    def give_up_lost(self, received_ms: int, effects: Effects) -> None:
        assert self.config.lost_timeout_ms is not None
        super().give_up_lost(received_ms + self.config.lost_timeout_ms // 2, effects)


@mutant("SDS-INSWEEP-05", "gives dependencies up after a day, although it was told never to")
class GivesUpUntold(Channel):
    def sweep_incoming(self, now_ms: int, effects: Effects) -> None:
        super().sweep_incoming(now_ms, effects)
        if self.config.lost_timeout_ms is None:
            for entry in self.incoming.take_older(now_ms - 24 * 3_600_000):
                effects.events.append(Lost(self.channel_id, tuple(sorted(entry.unmet))))


@mutant("SDS-OUTSWEEP-02", "has one resend period for all messages")
class OnePeriod(Channel):
    def schedule_resend(self, entry: Outgoing, now_ms: int) -> None:
        self.outgoing.reschedule(entry, now_ms + self.config.resend_unacknowledged_ms)


@mutant("SDS-OUTSWEEP-02", "never resends what is possibly acknowledged", resend_possibly_acknowledged_ms=None)
class NeverResendsThePossible(Channel):
    def schedule_resend(self, entry: Outgoing, now_ms: int) -> None:
        super().schedule_resend(entry, now_ms)
        if entry.state is AckState.POSSIBLY_ACKNOWLEDGED:
            entry.due_ms = -1


@mutant("SDS-OUTSWEEP-03", "resends possibly acknowledged messages before unacknowledged ones")
class PossibleOnesFirst(Channel):
    def sweep_outgoing(self, now_ms: int, effects: Effects) -> None:
        due = self.outgoing.take_due(now_ms)
        for entry in sorted(due, key=lambda entry: entry.state is AckState.UNACKNOWLEDGED):
            effects.broadcasts.append(self.rebroadcast(entry))
            self.schedule_resend(entry, now_ms)


@mutant("SDS-OUTSWEEP-03", "resends possibly acknowledged messages three times as often as unacknowledged ones")
class PossibleOnesOften(Channel):
    def schedule_resend(self, entry: Outgoing, now_ms: int) -> None:
        period = self.config.resend_unacknowledged_ms
        self.outgoing.reschedule(entry, now_ms + (period if entry.state is AckState.UNACKNOWLEDGED else period // 3))


@mutant("SDS-EPHEMERAL-06", "takes content without a timestamp for regular if it names dependencies")
class HybridsAreContent(Channel):
    def receive(self, message: Message, now_ms: int, retrieval_hint: bytes | None = None) -> Effects:
        if message.kind is Kind.EPHEMERAL and message.causal_history:
            message = replace(message, lamport_timestamp=self.clock.value)
        return super().receive(message, now_ms, retrieval_hint)


@mutant("SDS-EPHEMERAL-06", "drops content without a timestamp if it has a history or a filter")
class DropsHybrids(Channel):
    def receive_ephemeral(self, message: Message, effects: Effects) -> None:
        if not message.causal_history and message.bloom_filter is None:
            super().receive_ephemeral(message, effects)


@mutant("SDS-OUTSWEEP-01", "begins to count the resend period anew whenever it sends something")
class SendingRestartsTheTimers(Channel):
    def remember_outgoing(self, message: Message, wire: bytes, now_ms: int) -> None:
        super().remember_outgoing(message, wire, now_ms)
        for entry in self.outgoing:
            self.schedule_resend(entry, now_ms)

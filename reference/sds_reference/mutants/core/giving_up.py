"""Faults in giving up messages: a channel signals an acknowledgement, or gives up messages that it must keep."""

from __future__ import annotations

from collections import Counter
from typing import Any

from ...channel import Channel
from ...effects import Effects, Lost
from ...message import Message
from ...outgoing_buffer import AckState, OutgoingEntry
from ..registry import fault, for_sizes, register_faults

DAY_MS = 86_400_000


@register_faults
class _Impatient(Channel):
    @fault(Channel.sweep_incoming, "INSWEEP-05", "gives dependencies up after a day although no time is configured")
    def gives_up_after_a_day(self, now_ms: int, effects: Effects) -> None:
        super().sweep_incoming(now_ms, effects)
        if self.config.lost_timeout_ms is None:
            self.give_up_lost(now_ms - DAY_MS, effects)

    @fault(Channel.sweep_incoming, "RECV-08", "drops waiting messages after a day and signals nothing")
    def drops_the_waiting_after_a_day(self, now_ms: int, effects: Effects) -> None:
        super().sweep_incoming(now_ms, effects)
        self.incoming.take_older(now_ms - DAY_MS)


class CountsCopies(Channel):
    """Counts the resends of each of its messages."""

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        self.copies: Counter[str] = Counter()

    def rebroadcast(self, entry: OutgoingEntry) -> bytes:
        self.copies[entry.message_id] += 1
        return super().rebroadcast(entry)


class _GivesUp(CountsCopies):
    size: int

    def has_given_up_on(self, state: AckState) -> list[OutgoingEntry]:
        return [e for e in self.outgoing if e.state is state and self.copies[e.message_id] >= self.size]


@for_sizes("STATE-12", "gives a message up after {} rebroadcasts and signals an acknowledgement", 5, 20, 100)
class GivesUpAndAcknowledges(_GivesUp):
    def sweep_outgoing(self, now_ms: int, effects: Effects) -> None:
        super().sweep_outgoing(now_ms, effects)
        for entry in self.has_given_up_on(AckState.UNACKNOWLEDGED):
            self.acknowledge(entry.message_id, effects)


@for_sizes("ACK-04", "acknowledges possibly acknowledged messages after {} rebroadcasts", 5, 20, 100)
class GivesUpAndAcknowledgesThePossible(_GivesUp):
    def sweep_outgoing(self, now_ms: int, effects: Effects) -> None:
        super().sweep_outgoing(now_ms, effects)
        for entry in self.has_given_up_on(AckState.POSSIBLY_ACKNOWLEDGED):
            self.acknowledge(entry.message_id, effects)


@for_sizes("STATE-12", "acknowledges messages after {} hours without a reply", 1, 24, 200)
class AcknowledgesAfterHoursOfSilence(Channel):
    size: int

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        self._since: dict[str, int] = {}

    def remember_outgoing(self, message: Message, wire: bytes, now_ms: int) -> None:
        super().remember_outgoing(message, wire, now_ms)
        self._since[message.message_id] = now_ms

    def sweep_outgoing(self, now_ms: int, effects: Effects) -> None:
        super().sweep_outgoing(now_ms, effects)
        for entry in self.outgoing.unacknowledged():
            if now_ms - self._since[entry.message_id] >= self.size * 3_600_000:
                self.acknowledge(entry.message_id, effects)


@register_faults
class _GivingUp(Channel):
    @fault(Channel.give_up_lost, "RECV-05", "delivers all waiting messages when it marks one dependency as lost")
    def one_loss_delivers_all_waiting(self, received_ms: int, effects: Effects) -> None:
        before = len(effects.events)
        super().give_up_lost(received_ms, effects)
        if any(isinstance(event, Lost) for event in effects.events[before:]):
            for entry in self.incoming.take_older(1 << 62):
                if entry.regular:
                    self.deliver(entry.message, effects, entry.retrieval_hint)

    @fault(
        Channel.give_up_lost,
        "RECV-05",
        "delivers messages with one lost dependency although other dependencies are still missing",
    )
    def one_loss_delivers_its_dependents(self, received_ms: int, effects: Effects) -> None:
        before = len(effects.events)
        super().give_up_lost(received_ms, effects)
        lost = {i for event in effects.events[before:] if isinstance(event, Lost) for i in event.message_ids}
        for dependency in lost:
            for entry in self.incoming:
                if dependency in entry.unmet:
                    entry.unmet.intersection_update({dependency})
            self.incoming.mark_met(dependency)
        self.deliver_ready(effects)

    @fault(Channel.give_up_lost, "RECV-08", "drops all waiting messages when it marks one dependency as lost")
    def one_loss_drops_all_waiting(self, received_ms: int, effects: Effects) -> None:
        before = len(effects.events)
        super().give_up_lost(received_ms, effects)
        if any(isinstance(event, Lost) for event in effects.events[before:]):
            self.incoming.take_older(1 << 62)

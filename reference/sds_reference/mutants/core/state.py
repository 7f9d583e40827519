"""Faults in the state of a participant (STATE)."""

from __future__ import annotations

from typing import ClassVar

from ...channel import Channel
from ...config import Config
from ...effects import Acknowledged, Effects, PossiblyAcknowledged
from ...errors import MalformedMessageError
from ...incoming_buffer import IncomingBuffer
from ...lamport_clock import LamportClock
from ...message import Kind, Message, decode
from ...outgoing_buffer import OutgoingEntry
from ...participant import Participant
from ..registry import add_log_order, fault, mutant, register_faults


@mutant("STATE-01", "uses one Lamport timestamp for all channels")
class OneClockForAll(Participant):
    _clock: LamportClock | None = None

    def join(self, channel_id: str, now_ms: int) -> None:
        super().join(channel_id, now_ms)
        self._clock = self._clock or self.channels[channel_id].clock
        self.channels[channel_id].clock = self._clock


@register_faults
class _StoredState(Channel):
    _count = 0
    _process_began_ms: ClassVar[list[int]] = []

    @fault(Channel.__init__, "STATE-02", "starts its Lamport timestamp at 0")
    def starts_at_zero(self, participant_id: str, channel_id: str, config: Config, now_ms: int) -> None:
        super().__init__(participant_id, channel_id, config, now_ms)
        self.clock = LamportClock(0)

    @fault(Channel.__init__, "STATE-02", "starts its Lamport timestamps at the time when the process first ran")
    def starts_with_the_process(self, participant_id: str, channel_id: str, config: Config, now_ms: int) -> None:
        super().__init__(participant_id, channel_id, config, now_ms)
        self._process_began_ms[:] = [min(now_ms, *self._process_began_ms)] if self._process_began_ms else [now_ms]
        self.clock = LamportClock(self._process_began_ms[0])

    @fault(Channel.next_lamport, "STATE-03", "increments its Lamport timestamp and ignores the clock after the start")
    def lamport_without_clock(self, now_ms: int) -> int:
        return self.clock.next(0)

    @fault(Channel.insert_into_filter, "STATE-05", "leaves every third ID out of its filter")
    def filter_omits_every_third(self, message: Message) -> None:
        self._count += 1
        if self._count % 3:
            super().insert_into_filter(message)

    @fault(Channel.remember_outgoing, "STATE-08", "treats each of its messages as possibly acknowledged from the start")
    def starts_as_possibly_acknowledged(self, message: Message, wire: bytes, now_ms: int) -> None:
        super().remember_outgoing(message, wire, now_ms)
        for entry in self.outgoing.unacknowledged():
            self.outgoing.mark_possibly_acknowledged(entry)

    @fault(Channel.buffer, "STATE-09", "has a capacity of one waiting message")
    def buffer_of_one(self, message: Message, unmet: set[str], now_ms: int, retrieval_hint: bytes | None) -> None:
        self.incoming = IncomingBuffer()
        super().buffer(message, unmet, now_ms, retrieval_hint)

    @fault(Channel.insert_into_log, "STATE-10", "does not log messages that have dependencies")
    def logs_nothing_with_dependencies(self, message: Message, retrieval_hint: bytes | None) -> None:
        if not message.causal_history:
            super().insert_into_log(message, retrieval_hint)


add_log_order("log-by-id", "STATE-11", "orders its log only by message ID", lambda log, entry: 0)


@register_faults
class _OutgoingStates(Channel):
    @fault(Channel.review_causal_history, "STATE-12", "treats any message as an acknowledgement")
    def any_message_acknowledges(self, message: Message, effects: Effects) -> None:
        super().review_causal_history(message, effects)
        for entry in list(self.outgoing):
            self.acknowledge(entry.message_id, effects)

    @fault(Channel.count_filter_hit, "STATE-13", "removes a possibly acknowledged message from its outgoing buffer")
    def drops_possibly_acknowledged(self, entry: OutgoingEntry, effects: Effects, now_ms: int) -> None:
        self.outgoing.acknowledge(entry.message_id)
        effects.events.append(PossiblyAcknowledged(self.channel_id, entry.message_id))

    @fault(Channel.acknowledge, "STATE-15", "keeps acknowledged messages in its outgoing buffer")
    def keeps_acknowledged_outgoing(self, message_id: str, effects: Effects) -> None:
        if message_id in self.outgoing:
            effects.events.append(Acknowledged(self.channel_id, message_id))


@mutant("STATE-16", "reviews the ACK status of all channels with a message of one channel")
class ReviewsAllChannels(Participant):
    def receive(self, wire: bytes, now_ms: int, retrieval_hint: bytes | None = None) -> Effects:
        effects = super().receive(wire, now_ms, retrieval_hint)
        try:
            message = decode(wire)
        except MalformedMessageError:
            return effects
        if message.sender_id != self.participant_id and message.kind in (Kind.CONTENT, Kind.SYNC):
            for channel in self.channels.values():
                channel.review_causal_history(message, effects)
        return effects

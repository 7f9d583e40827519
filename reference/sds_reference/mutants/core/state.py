"""Faults of section STATE: what a participant keeps."""

from __future__ import annotations

from ...channel import Channel
from ...config import Config
from ...effects import Acknowledged, Effects, PossiblyAcknowledged
from ...errors import MalformedMessage
from ...incoming_buffer import IncomingBuffer
from ...lamport_clock import LamportClock
from ...local_log import LocalLog, LogEntry
from ...message import Kind, Message, decode
from ...outgoing_buffer import Outgoing
from ...participant import Participant
from ..registry import mutant, participant_mutant


@participant_mutant("SDS-STATE-01", "has one Lamport timestamp for all channels")
class OneClockForAll(Participant):
    _clock: LamportClock | None = None

    def join(self, channel_id: str, now_ms: int) -> None:
        super().join(channel_id, now_ms)
        self._clock = self._clock or self.channels[channel_id].clock
        self.channels[channel_id].clock = self._clock


@mutant("SDS-STATE-02", "starts its Lamport timestamp at 0")
class StartsAtZero(Channel):
    def __init__(self, participant_id: str, channel_id: str, config: Config, now_ms: int) -> None:
        super().__init__(participant_id, channel_id, config, now_ms)
        self.clock = LamportClock(0)


@mutant("SDS-STATE-03", "counts up from its start and never looks at the clock again")
class LamportWithoutClock(Channel):
    def next_lamport(self, now_ms: int) -> int:
        return self.clock.next(0)


@mutant("SDS-STATE-05", "forgets every third ID in its filter")
class LeakyFilter(Channel):
    _count = 0

    def insert_into_filter(self, message: Message) -> None:
        self._count += 1
        if self._count % 3:
            super().insert_into_filter(message)


@mutant("SDS-STATE-08", "takes every message for possibly acknowledged from the start")
class OptimisticBuffer(Channel):
    def remember_outgoing(self, message: Message, wire: bytes, now_ms: int) -> None:
        super().remember_outgoing(message, wire, now_ms)
        for entry in self.outgoing.unacknowledged():
            self.outgoing.mark_possibly_acknowledged(entry)


@mutant("SDS-STATE-09", "has room for one waiting message")
class BufferOfOne(Channel):
    def buffer(self, message: Message, unmet: set[str], now_ms: int, retrieval_hint: bytes | None) -> None:
        self.incoming = IncomingBuffer()
        super().buffer(message, unmet, now_ms, retrieval_hint)


@mutant("SDS-STATE-10", "does not log what had to wait")
class ForgetsTheWaiting(Channel):
    def insert_into_log(self, message: Message, retrieval_hint: bytes | None) -> None:
        if not message.causal_history:
            super().insert_into_log(message, retrieval_hint)


class _ById(LocalLog):
    def place(self, entry: LogEntry) -> int:
        return 0


@mutant("SDS-STATE-11", "orders its log by message ID alone")
class LogById(Channel):
    def __init__(self, participant_id: str, channel_id: str, config: Config, now_ms: int) -> None:
        super().__init__(participant_id, channel_id, config, now_ms)
        self.log = _ById()


@mutant("SDS-STATE-12", "takes any message for an acknowledgement")
class AnythingAcknowledges(Channel):
    def review_causal_history(self, message: Message, effects: Effects) -> None:
        super().review_causal_history(message, effects)
        for entry in list(self.outgoing):
            self.acknowledge(entry.message_id, effects)


@mutant("SDS-STATE-13", "drops a possibly acknowledged message from its buffer")
class PossiblyIsGone(Channel):
    def filter_hit(self, entry: Outgoing, effects: Effects, now_ms: int) -> None:
        self.outgoing.acknowledge(entry.message_id)
        effects.events.append(PossiblyAcknowledged(self.channel_id, entry.message_id))


@mutant("SDS-STATE-15", "keeps acknowledged messages in its buffer")
class NeverLetsGo(Channel):
    def acknowledge(self, message_id: str, effects: Effects) -> None:
        if message_id in self.outgoing:
            effects.events.append(Acknowledged(self.channel_id, message_id))


@participant_mutant("SDS-STATE-16", "reviews the ACK status of all channels with a message of one")
class ReviewsAllChannels(Participant):
    def receive(self, wire: bytes, now_ms: int, retrieval_hint: bytes | None = None) -> Effects:
        effects = super().receive(wire, now_ms, retrieval_hint)
        try:
            message = decode(wire)
        except MalformedMessage:
            return effects
        if message.sender_id != self.participant_id and message.kind in (Kind.CONTENT, Kind.SYNC):
            for channel in self.channels.values():
                channel.review_causal_history(message, effects)
        return effects

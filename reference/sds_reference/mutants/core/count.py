"""Faults that depend on a count: the first messages are handled correctly, the third, twentieth or hundredth is not."""

from __future__ import annotations

from dataclasses import replace
from weakref import WeakSet

from ...bloom_filter import RollingBloomFilter
from ...channel import Channel
from ...config import Config
from ...effects import Delivered, Effects
from ...message import Kind, Message
from ...outgoing_buffer import OutgoingEntry
from ...participant import Participant
from ..registry import fault, for_sizes, register_faults, replace_part


class _Counting(Channel):
    size: int
    _count = 0

    def nth(self) -> bool:
        """Count one event. Return True for every event whose number is a multiple of ``size``."""
        self._count += 1
        return self._count % self.size == 0


@for_sizes(
    "RECV-05", "counts missing dependencies in a byte, so that it delivers a message with {} missing dependencies", 256
)
class CountsDependenciesInAByte(Channel):
    size: int

    def unmet_dependencies(self, message: Message) -> set[str]:
        unmet = super().unmet_dependencies(message)
        return unmet if len(unmet) % self.size else set()


@for_sizes("DELIVER-06", "recognises duplicates of only the latest {} messages, and delivers older messages again", 100)
class RecognisesCopiesOfTheLatest(Channel):
    size: int
    _arrived: tuple[str, ...] = ()

    def is_duplicate(self, message: Message) -> bool:
        known = super().is_duplicate(message)
        if not known:
            self._arrived = (*self._arrived, message.message_id)[-self.size :]
        return known and message.message_id in self._arrived


# ---- Every n-th event ------------------------------------------------------------------------------------------------


@for_sizes("RECV-07", "loses every {}th message that arrives", 900)
class LosesEvery(_Counting):
    def receive(self, message: Message, now_ms: int, retrieval_hint: bytes | None = None) -> Effects:
        if message.kind is Kind.CONTENT and self.nth():
            return Effects()
        return super().receive(message, now_ms, retrieval_hint)


@for_sizes("RECV-07", "logs every {}th message without delivering it", 900)
class LogsWithoutDeliveringEvery(_Counting):
    def deliver(self, message: Message, effects: Effects, retrieval_hint: bytes | None) -> None:
        super().deliver(message, effects, retrieval_hint)
        if self.nth():
            effects.events = [e for e in effects.events if not _delivers(e, message)]


def _delivers(event: object, message: Message) -> bool:
    return isinstance(event, Delivered) and event.message_id == message.message_id


@for_sizes("STATE-10", "does not log every {}th message of others", 900)
class ForgetsToLogEvery(_Counting):
    def insert_into_log(self, message: Message, retrieval_hint: bytes | None) -> None:
        if not self.nth():
            super().insert_into_log(message, retrieval_hint)


@for_sizes("STATE-05", "leaves every {}th message out of its filter", 400)
class ForgetsToFilterEvery(_Counting):
    def insert_into_filter(self, message: Message) -> None:
        if not self.nth():
            super().insert_into_filter(message)


@for_sizes("SEND-10", "does not add every {}th message that it sends to its outgoing buffer", 20, 900)
class DoesNotBufferEverySent(_Counting):
    def remember_outgoing(self, message: Message, wire: bytes, now_ms: int) -> None:
        if not self.nth():
            super().remember_outgoing(message, wire, now_ms)


@for_sizes("SEND-11", "does not log every {}th own message", 900)
class ForgetsToLogEveryOwn(_Counting):
    def log_own(self, message: Message, retrieval_hint: bytes | None) -> None:
        if not self.nth():
            super().log_own(message, retrieval_hint)


@for_sizes("ACK-01", "ignores every {}th entry of a causal history that acknowledges one of its messages", 500)
class OverlooksEveryAcknowledgement(_Counting):
    def acknowledge(self, message_id: str, effects: Effects) -> None:
        if message_id not in self.outgoing or not self.nth():
            super().acknowledge(message_id, effects)


@for_sizes("ACK-02", "ignores every {}th filter hit of its messages", 20)
class OverlooksEveryHit(_Counting):
    def count_filter_hit(self, entry: OutgoingEntry, effects: Effects, now_ms: int) -> None:
        if not self.nth():
            super().count_filter_hit(entry, effects, now_ms)


@for_sizes("SYNC-04", "omits one message from the causal history of every {}th sync message", 100)
class ShortensTheHistoryOfEverySync(_Counting):
    def compose(self, message_id: str, lamport: int, content: bytes | None) -> Message:
        message = super().compose(message_id, lamport, content)
        less = message.causal_history[1:] if content is None and self.nth() else message.causal_history
        return replace(message, causal_history=less)


@for_sizes("SYNC-12", "takes no acknowledgements from every {}th sync message", 100)
class OverlooksEverySync(_Counting):
    def review_ack_status(self, message: Message, effects: Effects, now_ms: int) -> None:
        if message.kind is not Kind.SYNC or not self.nth():
            super().review_ack_status(message, effects, now_ms)


@for_sizes("EPHEMERAL-04", "does not deliver every {}th ephemeral message", 100)
class LosesEveryEphemeral(_Counting):
    def receive_ephemeral(self, message: Message, effects: Effects) -> None:
        if not self.nth():
            super().receive_ephemeral(message, effects)


@for_sizes("DELIVER-01", "does not update its clock for every {}th message that it delivers", 100)
class OverlooksEveryTimestamp(_Counting):
    def witness_lamport(self, lamport_timestamp: int) -> None:
        if not self.nth():
            super().witness_lamport(lamport_timestamp)


@for_sizes("RECV-03", "does not review the ACK status with every {}th message that has to wait", 100)
class OverlooksEveryWaiting(_Counting):
    def review_ack_status(self, message: Message, effects: Effects, now_ms: int) -> None:
        if message.kind is Kind.SYNC or not self.unmet_dependencies(message) or not self.nth():
            super().review_ack_status(message, effects, now_ms)


@for_sizes("MSG-21", "changes the content of every {}th rebroadcast", 900)
class ChangesEveryCopy(_Counting):
    def rebroadcast(self, entry: OutgoingEntry) -> bytes:
        wire = super().rebroadcast(entry)
        return self.encode(replace(self.revision.wire.decode(wire), content=b"?")) if self.nth() else wire


@for_sizes("MSG-14", "generates message IDs of {} bits", 16)
class IdsOfBits(Channel):
    size: int

    def new_message_id(self, lamport: int | None, content: bytes) -> str:
        return super().new_message_id(lamport, content)[: self.size // 4]


# ---- Only the first events are handled -------------------------------------------------------------------------------


@for_sizes("MSG-15", "treats the {}th channel and all later channels as the first channel", 30)
class DistinguishesChannelsUpTo(Participant):
    size: int

    def join(self, channel_id: str, now_ms: int) -> None:
        if len(self.channels) < self.size - 1 or channel_id in self.channels:
            super().join(channel_id, now_ms)
        else:
            self.channels[channel_id] = next(iter(self.channels.values()))


@for_sizes("RECV-07", "drops the messages of all channels after the {}th", 16)
class ReceivesInChannelsUpTo(Participant):
    size: int

    def receive(self, wire: bytes, now_ms: int, retrieval_hint: bytes | None = None) -> Effects:
        message = self.config.revision.wire.decode(wire)
        if message.channel_id in list(self.channels)[self.size :]:
            return Effects()
        return super().receive(wire, now_ms, retrieval_hint)


@for_sizes("STATE-05", "uses the filter of another participant from the {}th participant of the process on", 10)
class SharesAFilterWithParticipant(Participant):
    size: int
    _alive: WeakSet[Participant]

    def __init_subclass__(cls) -> None:
        cls._alive = WeakSet()

    def __init__(self, participant_id: str, config: Config | None = None) -> None:
        super().__init__(participant_id, config)
        self._alive.add(self)

    def join(self, channel_id: str, now_ms: int) -> None:
        super().join(channel_id, now_ms)
        others = [other for other in self._alive if other is not self and channel_id in other.channels]
        if len(others) >= self.size - 1:
            self.channels[channel_id].filter = others[0].channels[channel_id].filter


@for_sizes("RECV-07", "remembers the first {} senders, and drops messages of later senders", 100)
class RemembersSendersUpTo(Channel):
    size: int
    _senders: frozenset[str] = frozenset()

    def receive(self, message: Message, now_ms: int, retrieval_hint: bytes | None = None) -> Effects:
        if len(self._senders) >= self.size and message.sender_id not in self._senders:
            return Effects()
        self._senders |= {message.sender_id}
        return super().receive(message, now_ms, retrieval_hint)


@for_sizes(
    "STATE-14", "once it has seen {} senders, acknowledges a message only if two causal histories contain it", 4, 100
)
class NeedsTwoAcknowledgementsFromSenders(Channel):
    size: int
    _senders: frozenset[str] = frozenset()
    _named: frozenset[str] = frozenset()

    def review_causal_history(self, message: Message, effects: Effects) -> None:
        self._senders |= {message.sender_id}
        for entry in message.causal_history:
            if len(self._senders) < self.size or entry.message_id in self._named:
                self.acknowledge(entry.message_id, effects)
        self._named |= {entry.message_id for entry in message.causal_history}


@replace_part("filter_class", "RECV-04", "has an empty filter after its third and every later roll-over")
class ForgetsAtTheThirdRollOver(RollingBloomFilter):
    _times = 0

    def _roll_over(self) -> None:
        self._times += 1
        retained = self._retained
        self._retained = 0 if self._times >= 3 else retained
        super()._roll_over()
        self._retained = retained


@replace_part(
    "filter_class", "RECV-04", "sends the bytes of the previous filter if that filter had the same number of IDs"
)
class CachesByNumberOfMembers(RollingBloomFilter):
    _members_sent = -1
    _sent = b""

    def to_wire(self) -> bytes:
        if self._members_sent != len(self._members):
            self._members_sent, self._sent = len(self._members), super().to_wire()
        return self._sent


@replace_part("filter_class", "RECV-04", "inserts no more IDs once its filter is full")
class StopsWhenFull(RollingBloomFilter):
    def insert(self, message_id: str) -> None:
        if len(self._members) < self._parameters.capacity:
            super().insert(message_id)


@replace_part("filter_class", "RECV-04", "loses the message that makes its filter roll over")
class LosesTheMessageAtRollOver(RollingBloomFilter):
    def insert(self, message_id: str) -> None:
        if len(self._members) >= self._parameters.capacity and message_id not in self._members:
            self._roll_over()
            self._wire = None
        else:
            super().insert(message_id)


# ---- Acknowledgements ------------------------------------------------------------------------------------------------


@register_faults
class _Acknowledging(Channel):
    @fault(
        Channel.deliver,
        "ACK-04",
        "counts the filter of a waiting message again when the message is delivered",
        possible_ack_threshold=2,
    )
    def counts_a_filter_twice(self, message: Message, effects: Effects, retrieval_hint: bytes | None) -> None:
        if message.message_id in self._waited:
            self.review_bloom_filter(message, effects, self._swept_ms)
        super().deliver(message, effects, retrieval_hint)

    @fault(
        Channel.count_filter_hit,
        "ACK-04",
        "if filters can acknowledge, counts the filter hits of all own messages together",
    )
    def counts_hits_together(self, entry: OutgoingEntry, effects: Effects, now_ms: int) -> None:
        self._hits += 1
        entry.filter_hits = max(entry.filter_hits, self._hits - 1)
        super().count_filter_hit(entry, effects, now_ms)

    _hits = 0
    _waited: frozenset[str] = frozenset()

    def buffer(self, message: Message, unmet: set[str], now_ms: int, retrieval_hint: bytes | None) -> None:
        self._waited |= {message.message_id}
        super().buffer(message, unmet, now_ms, retrieval_hint)

    @fault(
        Channel.review_causal_history,
        "ACK-07",
        "ignores the causal history of a sync message if the message of its first entry is missing",
    )
    def ignores_syncs_with_first_entry_missing(self, message: Message, effects: Effects) -> None:
        first = {entry.message_id for entry in message.causal_history[:1]}
        if message.kind is not Kind.SYNC or not first & self.unmet_dependencies(message):
            super().review_causal_history(message, effects)

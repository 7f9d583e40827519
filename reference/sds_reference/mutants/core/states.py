"""Faults in the life cycle of a message, in full filters, and in participants that join late (STATE)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import islice

from ...bloom_filter import RollingBloomFilter
from ...bloom_profiles import NIM_SDS, WAKU_SDS_JS
from ...channel import Channel
from ...config import Config
from ...effects import Acknowledged, Effects, PossiblyAcknowledged
from ...errors import RefusedSendError
from ...local_log import LocalLog, LogEntry
from ...message import Kind, Message
from ...outgoing_buffer import AckState, OutgoingBuffer, OutgoingEntry
from ...wire_fields import varint
from ..registry import add_configured, add_log_order, mutant, replace_part

MINUTE_MS = 60_000


# ---- Joining late ----------------------------------------------------------------------------------------------------


@mutant("STATE-04", "rounds its Lamport timestamp down to the hour until it has sent or received a message")
class RoundsFirstTimestampToTheHour(Channel):
    _heard = False

    def insert_into_filter(self, message: Message) -> None:
        self._heard = True
        super().insert_into_filter(message)

    def next_lamport(self, now_ms: int) -> int:
        if self._heard or len(self.log):
            return super().next_lamport(now_ms)
        self.clock.value = now_ms - now_ms % (60 * MINUTE_MS)
        return self.clock.value


@mutant("STATE-04", "refuses to send before it has received a message, if it joined late")
class RefusesToSendBeforeReceiving(Channel):
    def __init__(self, participant_id: str, channel_id: str, config: Config, now_ms: int) -> None:
        super().__init__(participant_id, channel_id, config, now_ms)
        # Schedules start on the hour.
        self._joins = now_ms % (60 * MINUTE_MS) > 0

    def next_lamport(self, now_ms: int) -> int:
        if self._joins and not len(self.log):
            raise RefusedSendError("no message has arrived yet")
        return super().next_lamport(now_ms)


@mutant("STATE-04", "sends nothing before it has received a message, if it joined late")
class SendsNothingBeforeReceiving(Channel):
    def __init__(self, participant_id: str, channel_id: str, config: Config, now_ms: int) -> None:
        super().__init__(participant_id, channel_id, config, now_ms)
        self._joins = now_ms % (60 * MINUTE_MS) > 0

    def send(
        self, content: bytes, now_ms: int, message_id: str | None = None, retrieval_hint: bytes | None = None
    ) -> Effects:
        silent = self._joins and not len(self.log)
        return Effects() if silent else super().send(content, now_ms, message_id, retrieval_hint)


@mutant("STATE-04", "gives its first message a Lamport timestamp half an hour in the future")
class StartsAheadOfItsClock(Channel):
    def next_lamport(self, now_ms: int) -> int:
        return super().next_lamport(now_ms if len(self.log) else now_ms + 30 * MINUTE_MS)


@mutant(
    "STATE-04",
    "once its log has six messages, drops messages of new senders with a lower timestamp and without dependencies",
)
class IgnoresNewcomers(Channel):
    def receive(self, message: Message, now_ms: int, retrieval_hint: bytes | None = None) -> Effects:
        latest = max((known.lamport_timestamp for known in self.log), default=0)
        late = message.kind is Kind.CONTENT and not message.causal_history and (message.lamport_timestamp or 0) < latest
        new = len(self.log) >= 6 and message.sender_id not in {known.sender_id for known in self.log}
        return Effects() if new and late else super().receive(message, now_ms, retrieval_hint)


def _newcomers_last(log: LocalLog, entry: LogEntry) -> int:
    senders = {known.sender_id for known in log}
    if len(log) < 6 or entry.sender_id in senders:
        return entry.lamport_timestamp
    return max(known.lamport_timestamp for known in log) + 1


add_log_order(
    "newcomers-last",
    "STATE-04",
    "once its log has six messages, puts the first message of a new sender at the end of the log",
    _newcomers_last,
)


# ---- The full bloom filter -------------------------------------------------------------------------------------------


@replace_part("filter_class", "STATE-06", "never rolls its filter over")
class NeverRollsOver(RollingBloomFilter):
    def _roll_over(self) -> None:
        pass


@replace_part("filter_class", "STATE-05", "recomputes its filter at every message, although the filter is not full")
class RollsOverTooSoon(RollingBloomFilter):
    def insert(self, message_id: str) -> None:
        self._roll_over()
        super().insert(message_id)


@replace_part("filter_class", "STATE-06", "starts with an empty filter at every roll-over")
class ForgetsAtTheRollOver(RollingBloomFilter):
    def _roll_over(self) -> None:
        retained, self._retained = self._retained, 0
        super()._roll_over()
        self._retained = retained


@replace_part("filter_class", "STATE-06", "retains the oldest instead of the newest messages at a roll-over")
class RetainsTheOldest(RollingBloomFilter):
    def _roll_over(self) -> None:
        oldest = dict(islice(self._members.items(), self._retained))
        self._members = oldest
        super()._roll_over()


@replace_part(
    "filter_class", "STATE-06", "continues to send the previous filters after every roll-over", bloom_profile=NIM_SDS
)
class CarriesOldFilters(RollingBloomFilter):
    """Sends all previous filters together with the present filter in each message."""

    _full: bytes = b""

    def _roll_over(self) -> None:
        self._full += bytes(self._bits)
        super()._roll_over()

    def to_wire(self) -> bytes:
        # The extra bits are in an unknown protobuf field, so that the filter of nim-sds stays readable.
        return super().to_wire() + b"\xfa\x01" + varint(len(self._full)) + self._full


@replace_part("filter_class", "STATE-07", "sets three times as many bits as its filter is sized for")
class SetsThreeTimesTheBits(RollingBloomFilter):
    def _places(self, message_id: str) -> tuple[int, ...]:
        own = super()._places(message_id)
        return own + super()._places(message_id + "!") + super()._places(message_id + "?")


def _of_a_part(part: slice, which: str) -> None:
    def hash_of(text: str) -> int:
        message_id = text.removesuffix(" b")  # double hashing appends this suffix to the ID
        return WAKU_SDS_JS.hash(message_id[part] + text[len(message_id) :])

    name = f"filters-{which.replace(' ', '-')}-characters"
    profile = replace(WAKU_SDS_JS, name=name, description="", hash=hash_of)
    add_configured(
        name, "STATE-07", f"hashes only the {which} characters of an ID for its filter", bloom_profile=profile
    )


_of_a_part(slice(16), "first 16")
_of_a_part(slice(-16, None), "last 16")
_of_a_part(slice(64), "first 64")
_of_a_part(slice(1000), "first 1000")
_of_a_part(slice(-64, None), "last 64")


# ---- The three states ------------------------------------------------------------------------------------------------


@mutant(
    "STATE-14", "once it knows three senders, acknowledges a message only if all senders have it in causal histories"
)
class NeedsAllSendersToAcknowledge(Channel):
    _senders: frozenset[str] = frozenset()
    _named: frozenset[tuple[str, str]] = frozenset()

    def review_causal_history(self, message: Message, effects: Effects) -> None:
        self._senders |= {message.sender_id}
        self._named |= {(message.sender_id, entry.message_id) for entry in message.causal_history}
        for entry in message.causal_history:
            silent = {sender for sender in self._senders if (sender, entry.message_id) not in self._named}
            if len(self._senders) < 3 or not silent:
                self.acknowledge(entry.message_id, effects)


@mutant("STATE-17", "signals possible acknowledgements again on the next sweep, whatever has arrived since")
class RepeatsPossibleAcknowledgements(Channel):
    _told: tuple[str, ...] = ()

    def count_filter_hit(self, entry: OutgoingEntry, effects: Effects, now_ms: int) -> None:
        super().count_filter_hit(entry, effects, now_ms)
        self._told += (entry.message_id,)

    def sweep_outgoing(self, now_ms: int, effects: Effects) -> None:
        effects.events += [PossiblyAcknowledged(self.channel_id, message_id) for message_id in self._told]
        self._told = ()
        super().sweep_outgoing(now_ms, effects)


@replace_part(
    "outgoing_class", "STATE-17", "keeps possibly acknowledged messages in the list of unacknowledged messages"
)
class KeepsPossibleAmongUnacknowledged(OutgoingBuffer):
    """Possibly acknowledged messages stay in the list of unacknowledged messages."""

    def __iter__(self) -> Iterator[OutgoingEntry]:
        for entry in super().__iter__():
            if entry.state is AckState.POSSIBLY_ACKNOWLEDGED:
                yield replace(entry, state=AckState.UNACKNOWLEDGED)
            yield entry


@mutant("STATE-17", "marks an acknowledged message as possibly acknowledged at a later filter hit")
class AcknowledgedBecomesPossible(Channel):
    _gone: tuple[OutgoingEntry, ...] = ()

    def acknowledge(self, message_id: str, effects: Effects) -> None:
        self._gone += tuple(entry for entry in self.outgoing if entry.message_id == message_id)
        if self.outgoing.acknowledge(message_id):
            effects.events.append(Acknowledged(self.channel_id, message_id))

    def review_bloom_filter(self, message: Message, effects: Effects, now_ms: int) -> None:
        super().review_bloom_filter(message, effects, now_ms)
        view = self.read_filter(message)
        if view is None:
            return
        for entry in self._gone:
            if entry.message_id in view and entry.message_id not in {e.message_id for e in message.causal_history}:
                self.outgoing.add(entry)
                self.count_filter_hit(entry, effects, now_ms)
        self._gone = tuple(entry for entry in self._gone if entry.message_id not in self.outgoing)

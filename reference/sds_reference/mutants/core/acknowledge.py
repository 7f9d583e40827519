"""Faults of sections ACK, INSWEEP and OUTSWEEP."""

from __future__ import annotations

from ...channel import Channel
from ...effects import Acknowledged, Effects, Missing
from ...errors import ForeignFilter
from ...incoming_buffer import Buffered
from ...message import HistoryEntry, Kind, Message
from ...outgoing_buffer import AckState, Outgoing
from ..registry import mutant


@mutant("SDS-ACK-01", "acknowledges only the first message of a history")
class AcknowledgesTheFirst(Channel):
    def review_causal_history(self, message: Message, effects: Effects) -> None:
        for entry in message.causal_history[:1]:
            self.acknowledge(entry.message_id, effects)


@mutant("SDS-ACK-02", "does not look at filters")
class IgnoresFilters(Channel):
    def review_bloom_filter(self, message: Message, effects: Effects, now_ms: int) -> None:
        pass


@mutant("SDS-ACK-04", "acknowledges with a single filter")
class OneFilterIsEnough(Channel):
    def filter_hit(self, entry: Outgoing, effects: Effects, now_ms: int) -> None:
        self.acknowledge(entry.message_id, effects)


@mutant("SDS-ACK-05", "signals an acknowledgement for every ID it sees")
class AcknowledgesStrangers(Channel):
    def acknowledge(self, message_id: str, effects: Effects) -> None:
        self.outgoing.acknowledge(message_id)
        effects.events.append(Acknowledged(self.channel_id, message_id))


@mutant("SDS-ACK-06", "falls back to unacknowledged when a filter lacks the message")
class FallsBack(Channel):
    def review_bloom_filter(self, message: Message, effects: Effects, now_ms: int) -> None:
        super().review_bloom_filter(message, effects, now_ms)
        if message.bloom_filter is None:
            return
        try:
            view = self.config.bloom_profile.read(message.bloom_filter, self.parameters)
        except ForeignFilter:
            return
        for entry in self.outgoing:
            if entry.message_id not in view:
                entry.state = AckState.UNACKNOWLEDGED


@mutant("SDS-ACK-07", "does not take sync messages for acknowledgements")
class SyncsDoNotAcknowledge(Channel):
    def review_causal_history(self, message: Message, effects: Effects) -> None:
        if message.kind is not Kind.SYNC:
            super().review_causal_history(message, effects)


@mutant("SDS-INSWEEP-02", "names everything a message depends on as missing")
class EverythingIsMissing(Channel):
    def signal_missing(self, message: Message, unmet: set[str], effects: Effects) -> None:
        effects.events.append(Missing(self.channel_id, (*message.causal_history, HistoryEntry(message.message_id))))


@mutant("SDS-INSWEEP-04", "frees only what waits for the message that just came")
class OneLevelOnly(Channel):
    def deliver_ready(self, effects: Effects) -> None:
        if (entry := self.incoming.take_ready()) is not None:
            waiting, self.incoming.met = self.incoming.met, lambda dependency: None  # type: ignore[method-assign]
            self.deliver(entry.message, effects, entry.retrieval_hint)
            self.incoming.met = waiting  # type: ignore[method-assign]
            self.deliver_ready(effects)


@mutant("SDS-INSWEEP-06", "keeps delivered messages in its incoming buffer")
class NeverEmptiesTheBuffer(Channel):
    def deliver_ready(self, effects: Effects) -> None:
        while (entry := self.incoming.take_ready()) is not None:
            self.deliver(entry.message, effects, entry.retrieval_hint)
            self.incoming.add(Buffered(entry.message, {""}, entry.received_ms, None))


@mutant("SDS-OUTSWEEP-01", "rebroadcasts once and never again")
class RebroadcastsOnce(Channel):
    def schedule_resend(self, entry: Outgoing, now_ms: int) -> None:
        entry.due_ms = -1


@mutant("SDS-OUTSWEEP-04", "rebroadcasts what was acknowledged")
class RebroadcastsTheAcknowledged(Channel):
    _gone: tuple[bytes, ...] = ()

    def acknowledge(self, message_id: str, effects: Effects) -> None:
        self._gone += tuple(entry.wire for entry in self.outgoing if entry.message_id == message_id)
        super().acknowledge(message_id, effects)

    def sweep_outgoing(self, now_ms: int, effects: Effects) -> None:
        super().sweep_outgoing(now_ms, effects)
        effects.broadcasts.extend(self._gone)


@mutant("SDS-OUTSWEEP-05", "advances its clock with every rebroadcast")
class RebroadcastsCount(Channel):
    def rebroadcast(self, entry: Outgoing) -> bytes:
        self.clock.value += 1
        return super().rebroadcast(entry)


@mutant("SDS-OUTSWEEP-06", "rebroadcasts on every sweep")
class RebroadcastsAlways(Channel):
    def sweep_outgoing(self, now_ms: int, effects: Effects) -> None:
        for entry in self.outgoing:
            effects.broadcasts.append(self.rebroadcast(entry))

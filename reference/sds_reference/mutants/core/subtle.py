"""Faults that only look-alikes, large numbers or long times bring out."""

from __future__ import annotations

from typing import Any

from ...channel import Channel
from ...config import Config
from ...effects import Acknowledged, Delivered, Effects
from ...errors import RefusedSend
from ...local_log import LocalLog, LogEntry
from ...message import HistoryEntry, Kind, Message
from ...participant import Participant
from ..registry import mutant, participant_mutant


@participant_mutant("SDS-MSG-15", "compares channels without their case")
class ChannelsIgnoringCase(Participant):
    def join(self, channel_id: str, now_ms: int) -> None:
        alike = next((known for known in self.channels if known.lower() == channel_id.lower()), None)
        if alike is None:
            super().join(channel_id, now_ms)
        else:
            self.channels[channel_id] = self.channels[alike]


@mutant("SDS-MSG-20", "answers what it receives with a message of its own")
class AnswersByItself(Channel):
    def receive(self, message: Message, now_ms: int, retrieval_hint: bytes | None = None) -> Effects:
        effects = super().receive(message, now_ms, retrieval_hint)
        if message.kind is Kind.CONTENT and not self.is_own(message):
            effects.broadcasts += self.send(b"received: " + message.message_id.encode(), now_ms).broadcasts
        return effects


@mutant("SDS-MSG-23", "writes its own ID beside every history entry")
class EverythingIsMine(Channel):
    def causal_history(self) -> tuple[HistoryEntry, ...]:
        entries = super().causal_history()
        return tuple(HistoryEntry(e.message_id, e.retrieval_hint, self.participant_id) for e in entries)


@mutant("SDS-STATE-05", "puts the dependencies of what it receives into its filter")
class FiltersTheMissing(Channel):
    def insert_into_filter(self, message: Message) -> None:
        super().insert_into_filter(message)
        for entry in message.causal_history:
            self.filter.insert(entry.message_id)


class _AsText(LocalLog):
    def place(self, entry: LogEntry) -> Any:
        return str(entry.lamport_timestamp)


@mutant("SDS-STATE-11", "compares Lamport timestamps as text")
class LamportAsText(Channel):
    def __init__(self, participant_id: str, channel_id: str, config: Config, now_ms: int) -> None:
        super().__init__(participant_id, channel_id, config, now_ms)
        self.log = _AsText()


@mutant("SDS-STATE-12", "takes the broadcast for the acknowledgement")
class SentIsAcknowledged(Channel):
    def send(
        self, content: bytes, now_ms: int, message_id: str | None = None, retrieval_hint: bytes | None = None
    ) -> Effects:
        effects = super().send(content, now_ms, message_id, retrieval_hint)
        effects.events.append(Acknowledged(self.channel_id, effects.message_id))
        return effects


@mutant("SDS-SEND-10", "refuses to send while a message waits")
class SilentWhileWaiting(Channel):
    def next_lamport(self, now_ms: int) -> int:
        if len(self.incoming):
            raise RefusedSend("a message waits")
        return super().next_lamport(now_ms)


@mutant("SDS-RECV-05", "delivers what has waited for an hour")
class LosesPatience(Channel):
    def sweep_incoming(self, now_ms: int, effects: Effects) -> None:
        super().sweep_incoming(now_ms, effects)
        for entry in self.incoming.take_older(now_ms - 3_600_000):
            if entry.message.kind is Kind.CONTENT:
                self.deliver(entry.message, effects, entry.retrieval_hint)


@mutant("SDS-RECV-07", "takes equal contents for copies")
class DeduplicatesContents(Channel):
    _contents: frozenset[bytes] = frozenset()

    def is_duplicate(self, message: Message) -> bool:
        content = message.content or b""
        seen, self._contents = content in self._contents, self._contents | {content}
        return seen or super().is_duplicate(message)


@mutant("SDS-RECV-08", "has room for sixty waiting messages")
class BufferOfSixty(Channel):
    def buffer(self, message: Message, unmet: set[str], now_ms: int, retrieval_hint: bytes | None) -> None:
        if len(self.incoming) < 60:
            super().buffer(message, unmet, now_ms, retrieval_hint)


@mutant("SDS-RECV-10", "delivers messages with neither content nor timestamp")
class DeliversTheUndefined(Channel):
    def receive(self, message: Message, now_ms: int, retrieval_hint: bytes | None = None) -> Effects:
        effects = super().receive(message, now_ms, retrieval_hint)
        if message.kind is Kind.UNDEFINED and not self.is_own(message):
            effects.events.append(Delivered(self.channel_id, message.message_id, b""))
        return effects


@mutant("SDS-DELIVER-06", "forgets a message after ten others")
class ShortMemory(Channel):
    _recent: tuple[str, ...] = ()

    def is_duplicate(self, message: Message) -> bool:
        known = message.message_id in self._recent or message.message_id in self.incoming
        self._recent = (*self._recent, message.message_id)[-10:]
        return known


@mutant("SDS-ACK-07", "lets only sync messages without gaps acknowledge")
class GapsDoNotAcknowledge(Channel):
    def review_causal_history(self, message: Message, effects: Effects) -> None:
        if message.kind is not Kind.SYNC or not self.unmet_dependencies(message):
            super().review_causal_history(message, effects)


@mutant("SDS-OUTSWEEP-01", "puts resending off whenever it hears anything")
class PutsOffResending(Channel):
    def receive(self, message: Message, now_ms: int, retrieval_hint: bytes | None = None) -> Effects:
        effects = super().receive(message, now_ms, retrieval_hint)
        for entry in list(self.outgoing):
            self.schedule_resend(entry, now_ms)
        return effects

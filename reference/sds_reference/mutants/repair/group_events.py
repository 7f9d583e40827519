"""Faults of SDS-R that appear only with ordinary events of a group: other channels, traffic, unusual content."""

from __future__ import annotations

from dataclasses import replace

from ...channel import Channel
from ...config import Config
from ...effects import Effects
from ...message import HistoryEntry, Message
from ...participant import Participant
from ...repair import Repair
from ..registry import fault, mutant, register_faults


class _WithoutRepair(Channel):
    def __init__(self, participant_id: str, channel_id: str, config: Config, now_ms: int) -> None:
        super().__init__(participant_id, channel_id, replace(config, sds_r=False), now_ms)


@mutant("R-STATE-01", "uses SDS-R in its first channel only")
class RepairsOneChannel(Participant):
    def join(self, channel_id: str, now_ms: int) -> None:
        self.channel_class = _WithoutRepair if self.channels else Channel
        super().join(channel_id, now_ms)


@mutant("R-RECV-08", "forgets the requests of others when it sends a message", unseen=True)
class OwnContentDropsAnswers(Channel):
    def send(
        self, content: bytes, now_ms: int, message_id: str | None = None, retrieval_hint: bytes | None = None
    ) -> Effects:
        if self.repair is not None:
            for item in list(self.repair.incoming):
                self.repair.remove_answered(item.entry.message_id)
        return super().send(content, now_ms, message_id, retrieval_hint)


@mutant(
    "R-RECV-08", "never answers requests for a message that another participant has sent as a response", unseen=True
)
class NeverAnswersAfterOthers(Repair):
    _left: frozenset[str] = frozenset()

    def remove_answered(self, message_id: str) -> None:
        if message_id in self.incoming:
            self._left |= {message_id}
        super().remove_answered(message_id)

    def accept_request(self, entry: HistoryEntry, now_ms: int) -> None:
        if entry.message_id not in self._left:
            super().accept_request(entry, now_ms)


@register_faults
class _GroupEvents(Repair):
    _latest = 0

    @fault(Repair.eligible_requests, "R-STATE-09", "stops requesting when the clock is set back", unseen=True)
    def stops_requesting_after_clock_set_back(self, now_ms: int) -> list[HistoryEntry]:
        self._latest = max(self._latest, now_ms) if now_ms >= self._latest else 1 << 62
        return super().eligible_requests(now_ms) if now_ms >= self._latest else []

    @fault(Repair.take_responses, "R-SWEEP-05", "converts the Lamport timestamp of responses to a double")
    def answers_with_a_rounded_timestamp(self, now_ms: int) -> list[Message]:
        answers = super().take_responses(now_ms)
        return [replace(message, lamport_timestamp=int(float(message.lamport_timestamp or 0))) for message in answers]

    @fault(Repair.cache_message, "R-SWEEP-05", "caches content as text")
    def keeps_content_as_text(self, message: Message) -> None:
        text = (message.content or b"").decode("utf-8", "replace")
        super().cache_message(replace(message, content=text.encode()))


@mutant("R-STATE-06", "sends a response twice if the message was requested again while the response was pending")
class AnswersRepeatedEntriesTwice(Repair):
    _twice: frozenset[str] = frozenset()

    def accept_request(self, entry: HistoryEntry, now_ms: int) -> None:
        if entry.message_id in self.incoming:
            self._twice |= {entry.message_id}
        super().accept_request(entry, now_ms)

    def take_responses(self, now_ms: int) -> list[Message]:
        answers = super().take_responses(now_ms)
        return answers + [message for message in answers if message.message_id in self._twice]


@register_faults
class _RequestsAcknowledge(Channel):
    @fault(Channel.review_ack_status, "STATE-12", "acknowledges own messages that repair requests of others name")
    def requests_acknowledge(self, message: Message, effects: Effects, now_ms: int) -> None:
        for entry in message.repair_request:
            self.acknowledge(entry.message_id, effects)
        super().review_ack_status(message, effects, now_ms)

    @fault(Channel.review_ack_status, "STATE-08", "removes own messages that others request from the outgoing buffer")
    def requests_empty_the_outgoing_buffer(self, message: Message, effects: Effects, now_ms: int) -> None:
        for entry in message.repair_request:
            self.outgoing.acknowledge(entry.message_id)
        super().review_ack_status(message, effects, now_ms)

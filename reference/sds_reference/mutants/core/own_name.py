"""Faults with messages that have the sender ID of the receiver."""

from __future__ import annotations

from ...channel import Channel
from ...effects import Delivered, Effects
from ...message import Kind, Message
from ..registry import fault, register_faults


@register_faults
class _OwnName(Channel):
    @fault(Channel.is_own, "RECV-01", "recognizes its own messages only if it remembers sending them")
    def recognizes_own_by_remembered_id(self, message: Message) -> bool:
        return super().is_own(message) and message.message_id in self.log

    @fault(Channel.is_own, "RECV-07", "compares only the first 64 bytes of sender IDs with its own ID")
    def recognizes_own_by_64_bytes(self, message: Message) -> bool:
        return message.sender_id.encode()[:64] == self.participant_id.encode()[:64]

    @fault(Channel.is_own, "RECV-07", "compares only the last 16 bytes of sender IDs with its own ID")
    def recognizes_own_by_its_end(self, message: Message) -> bool:
        return message.sender_id.encode()[-16:] == self.participant_id.encode()[-16:]

    @fault(Channel.is_own, "RECV-11", "processes its own messages like messages of others")
    def processes_its_own(self, message: Message) -> bool:
        return False

    @fault(Channel.is_own, "RECV-11", "processes sync messages with its own sender ID like sync messages of others")
    def processes_own_syncs(self, message: Message) -> bool:
        return super().is_own(message) and message.kind is not Kind.SYNC

    @fault(Channel.receive, "RECV-01", "logs messages with its sender ID that it did not send, without delivering them")
    def logs_unsent_own_messages(self, message: Message, now_ms: int, retrieval_hint: bytes | None = None) -> Effects:
        if self.is_own(message) and message.kind is Kind.CONTENT and message.message_id not in self.log:
            self.insert_into_log(message, retrieval_hint)
        return super().receive(message, now_ms, retrieval_hint)

    @fault(Channel.receive, "RECV-01", "updates its clock by messages with its sender ID that it did not send")
    def updates_clock_by_unsent_own_messages(
        self, message: Message, now_ms: int, retrieval_hint: bytes | None = None
    ) -> Effects:
        if self.is_own(message) and message.lamport_timestamp is not None:
            self.witness_lamport(message.lamport_timestamp)
        return super().receive(message, now_ms, retrieval_hint)

    @fault(Channel.receive, "RECV-01", "puts messages with its sender ID that it did not send into its filter")
    def filters_unsent_own_messages(
        self, message: Message, now_ms: int, retrieval_hint: bytes | None = None
    ) -> Effects:
        if self.is_own(message) and message.kind is Kind.CONTENT:
            self.insert_into_filter(message)
        return super().receive(message, now_ms, retrieval_hint)

    @fault(Channel.receive, "RECV-01", "delivers ephemeral messages with its own sender ID")
    def delivers_own_ephemerals(self, message: Message, now_ms: int, retrieval_hint: bytes | None = None) -> Effects:
        if self.is_own(message) and message.kind is Kind.EPHEMERAL:
            return Effects(events=[Delivered(self.channel_id, message.message_id, message.content or b"")])
        return super().receive(message, now_ms, retrieval_hint)

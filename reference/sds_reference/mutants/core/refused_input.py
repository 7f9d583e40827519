"""Faults of who refuses a message, and keeps something of it all the same."""

from __future__ import annotations

from ...channel import Channel
from ...effects import Effects
from ...errors import MalformedMessage
from ...incoming_buffer import Buffered
from ...message import Kind, Message
from ...participant import Participant
from ..registry import fault, mutant, mutants

_AHEAD_MS = 86_400_000
"""A bound on Lamport timestamps, which is declared."""


@mutants
class _Keeping(Channel):
    """Takes part of a message in before it looks whether it can be used."""

    def taken(self, message: Message, kind: Kind, now_ms: int) -> bool:
        """Was it refused? Then it is to be refused again, when the fault has been made."""
        try:
            super().refuse_unusable(message, kind, now_ms)
        except MalformedMessage:
            return False
        return True

    @fault(
        Channel.refuse_unusable,
        "STATE-05",
        "puts a message into its filter that it refuses",
        max_lamport_ahead_ms=_AHEAD_MS,
    )
    def filters_the_refused(self, message: Message, kind: Kind, now_ms: int) -> None:
        if not self.taken(message, kind, now_ms) and kind is Kind.CONTENT:
            self.insert_into_filter(message)
        super().refuse_unusable(message, kind, now_ms)

    @fault(
        Channel.refuse_unusable, "STATE-08", "a message that it refuses acknowledges", max_lamport_ahead_ms=_AHEAD_MS
    )
    def acknowledged_by_the_refused(self, message: Message, kind: Kind, now_ms: int) -> None:
        if not self.taken(message, kind, now_ms):
            for entry in message.causal_history:
                self.outgoing.acknowledge(entry.message_id)
        super().refuse_unusable(message, kind, now_ms)

    @fault(Channel.refuse_unusable, "STATE-10", "logs a message that it refuses", max_lamport_ahead_ms=_AHEAD_MS)
    def logs_the_refused(self, message: Message, kind: Kind, now_ms: int) -> None:
        if not self.taken(message, kind, now_ms) and kind is Kind.CONTENT and message.message_id:
            self.insert_into_log(message, None)
        super().refuse_unusable(message, kind, now_ms)

    @fault(
        Channel.refuse_unusable, "RECV-05", "takes a dependency for met that it refused", max_lamport_ahead_ms=_AHEAD_MS
    )
    def refused_is_met(self, message: Message, kind: Kind, now_ms: int) -> None:
        if not self.taken(message, kind, now_ms):
            self.incoming.met(message.message_id)
        super().refuse_unusable(message, kind, now_ms)

    @fault(
        Channel.refuse_unusable,
        "STATE-09",
        "keeps a message that it refuses among those that wait",
        max_lamport_ahead_ms=_AHEAD_MS,
    )
    def buffers_the_refused(self, message: Message, kind: Kind, now_ms: int) -> None:
        if not self.taken(message, kind, now_ms) and kind is Kind.CONTENT and message.message_id:
            unmet = self.unmet_dependencies(message)
            if unmet:
                self.incoming.add(Buffered(message, unmet, now_ms, None, True))
        super().refuse_unusable(message, kind, now_ms)

    @fault(
        Channel.refuse_unusable,
        "R-FIELDS-02",
        "asks for what a message names that it refuses",
        max_lamport_ahead_ms=_AHEAD_MS,
    )
    def asks_for_what_the_refused_names(self, message: Message, kind: Kind, now_ms: int) -> None:
        if not self.taken(message, kind, now_ms) and self.repair is not None:
            self.repair.track_missing(message, now_ms)
        super().refuse_unusable(message, kind, now_ms)

    @fault(
        Channel.refuse_unusable,
        "R-STATE-04",
        "answers the repair requests of a message that it refuses",
        max_lamport_ahead_ms=_AHEAD_MS,
    )
    def answers_the_refused(self, message: Message, kind: Kind, now_ms: int) -> None:
        if not self.taken(message, kind, now_ms) and self.repair is not None:
            for entry in message.repair_request:
                self.repair.take_request(entry, now_ms)
        super().refuse_unusable(message, kind, now_ms)

    @fault(
        Channel.refuse_unusable,
        "R-STATE-01",
        "a message that it refuses ends its request for it",
        max_lamport_ahead_ms=_AHEAD_MS,
    )
    def refused_is_repaired(self, message: Message, kind: Kind, now_ms: int) -> None:
        if not self.taken(message, kind, now_ms) and self.repair is not None:
            self.repair.remove_repaired(message.message_id)
        super().refuse_unusable(message, kind, now_ms)


@mutants
class _Sending(Channel):
    @fault(Channel.send, "STATE-10", "logs a message that it refuses to send")
    def logs_what_it_does_not_send(
        self, content: bytes, now_ms: int, message_id: str | None = None, retrieval_hint: bytes | None = None
    ) -> Effects:
        if not content:
            before = self.clock.value
            effects = super().send(b"\0", now_ms, message_id, retrieval_hint)
            self.outgoing.acknowledge(effects.message_id)
            self.clock.value = before
        return super().send(content, now_ms, message_id, retrieval_hint)


@mutant("SYNC-12", "an undecodable message makes it drop the next sync message")
class BrokenBytesCostTheNext(Participant):
    _broken = False

    def receive(self, wire: bytes, now_ms: int, retrieval_hint: bytes | None = None) -> Effects:
        try:
            message = self.config.revision.wire.decode(wire)
        except MalformedMessage:
            self._broken = True
            raise
        if self._broken and message.kind is Kind.SYNC:
            self._broken = False
            return Effects()
        return super().receive(wire, now_ms, retrieval_hint)


@mutant("RECV-08", "undecodable bytes empty its buffers")
class BrokenBytesEmptyTheBuffers(Participant):
    def receive(self, wire: bytes, now_ms: int, retrieval_hint: bytes | None = None) -> Effects:
        try:
            self.config.revision.wire.decode(wire)
        except MalformedMessage:
            for channel in self.channels.values():
                channel.incoming.take_older(1 << 62)
            raise
        return super().receive(wire, now_ms, retrieval_hint)

"""Faults with messages that must be rejected: the message, a part of it or its rejection has an effect."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace

from ...channel import Channel
from ...config import Config
from ...effects import Effects
from ...errors import MalformedMessageError
from ...incoming_buffer import BufferedMessage
from ...message import Kind, Message
from ...participant import Participant
from ...wire_fields import count_missing_bytes
from ..registry import fault, mutant, register_faults

_AHEAD_MS = 86_400_000
"""How far ahead of the clock Lamport timestamps may be, in milliseconds, as the mutants declare."""


@register_faults
class _Keeping(Channel):
    """Processes part of a message before it checks whether the message is usable."""

    def taken(self, message: Message, kind: Kind, now_ms: int) -> bool:
        """Return False if the message must be rejected. Unlike ``refuse_unusable``, do not reject it."""
        try:
            super().refuse_unusable(message, kind, now_ms)
        except MalformedMessageError:
            return False
        return True

    @fault(
        Channel.refuse_unusable,
        "STATE-05",
        "puts a rejected message into its filter",
        max_lamport_ahead_ms=_AHEAD_MS,
    )
    def filters_the_refused(self, message: Message, kind: Kind, now_ms: int) -> None:
        if not self.taken(message, kind, now_ms) and kind is Kind.CONTENT:
            self.insert_into_filter(message)
        super().refuse_unusable(message, kind, now_ms)

    @fault(
        Channel.refuse_unusable,
        "STATE-08",
        "accepts the acknowledgements in a rejected message",
        max_lamport_ahead_ms=_AHEAD_MS,
    )
    def acknowledged_by_the_refused(self, message: Message, kind: Kind, now_ms: int) -> None:
        if not self.taken(message, kind, now_ms):
            for entry in message.causal_history:
                self.outgoing.acknowledge(entry.message_id)
        super().refuse_unusable(message, kind, now_ms)

    @fault(Channel.refuse_unusable, "STATE-10", "logs a rejected message", max_lamport_ahead_ms=_AHEAD_MS)
    def logs_the_refused(self, message: Message, kind: Kind, now_ms: int) -> None:
        if not self.taken(message, kind, now_ms) and kind is Kind.CONTENT and message.message_id:
            self.insert_into_log(message, None)
        super().refuse_unusable(message, kind, now_ms)

    @fault(
        Channel.refuse_unusable,
        "RECV-05",
        "treats a rejected message as a met dependency",
        max_lamport_ahead_ms=_AHEAD_MS,
    )
    def refused_is_met(self, message: Message, kind: Kind, now_ms: int) -> None:
        if not self.taken(message, kind, now_ms):
            self.incoming.mark_met(message.message_id)
        super().refuse_unusable(message, kind, now_ms)

    @fault(
        Channel.refuse_unusable,
        "STATE-09",
        "keeps a rejected message in its incoming buffer",
        max_lamport_ahead_ms=_AHEAD_MS,
    )
    def buffers_the_refused(self, message: Message, kind: Kind, now_ms: int) -> None:
        if not self.taken(message, kind, now_ms) and kind is Kind.CONTENT and message.message_id:
            unmet = self.unmet_dependencies(message)
            if unmet:
                self.incoming.add(BufferedMessage(message, unmet, now_ms, None, True))
        super().refuse_unusable(message, kind, now_ms)

    @fault(
        Channel.refuse_unusable,
        "R-FIELDS-02",
        "requests the missing dependencies of a rejected message",
        max_lamport_ahead_ms=_AHEAD_MS,
    )
    def asks_for_what_the_refused_names(self, message: Message, kind: Kind, now_ms: int) -> None:
        if not self.taken(message, kind, now_ms) and self.repair is not None:
            self.repair.track_missing(message, now_ms)
        super().refuse_unusable(message, kind, now_ms)

    @fault(
        Channel.refuse_unusable,
        "R-STATE-04",
        "answers the repair request of a rejected message",
        max_lamport_ahead_ms=_AHEAD_MS,
    )
    def answers_the_refused(self, message: Message, kind: Kind, now_ms: int) -> None:
        if not self.taken(message, kind, now_ms) and self.repair is not None:
            for entry in message.repair_request:
                self.repair.accept_request(entry, now_ms)
        super().refuse_unusable(message, kind, now_ms)

    @fault(
        Channel.refuse_unusable,
        "R-STATE-01",
        "stops requesting a message when it rejects that message",
        max_lamport_ahead_ms=_AHEAD_MS,
    )
    def refused_is_repaired(self, message: Message, kind: Kind, now_ms: int) -> None:
        if not self.taken(message, kind, now_ms) and self.repair is not None:
            self.repair.remove_repaired(message.message_id)
        super().refuse_unusable(message, kind, now_ms)


@register_faults
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

    @fault(Channel.send, "SEND-01", "increases its Lamport timestamp for a message that it refuses to send")
    def counts_what_it_does_not_send(
        self, content: bytes, now_ms: int, message_id: str | None = None, retrieval_hint: bytes | None = None
    ) -> Effects:
        if not content:
            self.next_lamport(now_ms)
        return super().send(content, now_ms, message_id, retrieval_hint)

    @fault(Channel.send, "R-RECV-03", "drops the requests that are due when it refuses to send a message")
    def requests_with_what_it_does_not_send(
        self, content: bytes, now_ms: int, message_id: str | None = None, retrieval_hint: bytes | None = None
    ) -> Effects:
        if not content and self.repair is not None:
            for entry in self.repair.eligible_requests(now_ms):
                self.repair.remove_repaired(entry.message_id)
        return super().send(content, now_ms, message_id, retrieval_hint)


class _TakesStarts(Participant):
    """Processes the fields of a message that was cut within its last field before it rejects the message."""

    def receive(self, wire: bytes, now_ms: int, retrieval_hint: bytes | None = None) -> Effects:
        missing = count_missing_bytes(wire)
        if missing:
            with suppress(MalformedMessageError):
                message = self.config.revision.wire.decode(wire + bytes(missing))
                channel = self.channels.get(message.channel_id)
                if channel is not None and not channel.is_own(message):
                    self.take_start(channel, message)
        return super().receive(wire, now_ms, retrieval_hint)

    def take_start(self, channel: Channel, message: Message) -> None:
        raise NotImplementedError


@mutant("SEND-01", "adopts the Lamport timestamp of a message that cannot be read to the end")
class AdoptsTimestampsOfBrokenMessages(_TakesStarts):
    def take_start(self, channel: Channel, message: Message) -> None:
        channel.witness_lamport(message.lamport_timestamp or 0)


@mutant("STATE-08", "accepts the acknowledgements in a message that cannot be read to the end")
class AcknowledgesByBrokenMessages(_TakesStarts):
    def take_start(self, channel: Channel, message: Message) -> None:
        channel.review_causal_history(message, Effects())


@mutant("STATE-05", "puts a message that cannot be read to the end into its filter")
class FiltersBrokenMessages(_TakesStarts):
    def take_start(self, channel: Channel, message: Message) -> None:
        channel.insert_into_filter(message)


@mutant("R-RECV-03", "stops requesting a message when it arrives but cannot be read to the end")
class RepairedByBrokenMessages(_TakesStarts):
    def take_start(self, channel: Channel, message: Message) -> None:
        if channel.repair is not None:
            channel.repair.remove_repaired(message.message_id)


@mutant("R-RECV-08", "cancels its response when the requested message arrives but cannot be read to the end")
class AnsweredByBrokenMessages(_TakesStarts):
    def take_start(self, channel: Channel, message: Message) -> None:
        if channel.repair is not None:
            channel.repair.remove_answered(message.message_id)


@mutant("R-STATE-04", "answers the repair request of a message that cannot be read to the end")
class AnswersBrokenMessages(_TakesStarts):
    def receive(self, wire: bytes, now_ms: int, retrieval_hint: bytes | None = None) -> Effects:
        self._now_ms = now_ms
        return super().receive(wire, now_ms, retrieval_hint)

    def take_start(self, channel: Channel, message: Message) -> None:
        if channel.repair is not None:
            for entry in message.repair_request:
                channel.repair.accept_request(entry, self._now_ms)


@mutant("RECV-07", "drops a message if it arrived before and could not be read to the end")
class BrokenMessagesAreKnown(_TakesStarts):
    def __init__(self, participant_id: str, config: Config | None = None) -> None:
        super().__init__(participant_id, config)
        self._broken: set[str] = set()

    def receive(self, wire: bytes, now_ms: int, retrieval_hint: bytes | None = None) -> Effects:
        with suppress(MalformedMessageError):
            if self.config.revision.wire.decode(wire).message_id in self._broken:
                return Effects()
        return super().receive(wire, now_ms, retrieval_hint)

    def take_start(self, channel: Channel, message: Message) -> None:
        self._broken.add(message.message_id)


@mutant("SYNC-12", "drops the next sync message after bytes that it cannot decode")
class BrokenBytesDropTheNextSync(Participant):
    _broken = False

    def receive(self, wire: bytes, now_ms: int, retrieval_hint: bytes | None = None) -> Effects:
        try:
            message = self.config.revision.wire.decode(wire)
        except MalformedMessageError:
            self._broken = True
            raise
        if self._broken and message.kind is Kind.SYNC:
            self._broken = False
            return Effects()
        return super().receive(wire, now_ms, retrieval_hint)


@mutant("RECV-05", "accepts a message that is cut within its last field, as if the field were shorter")
class TakesWhatIsCutShort(Participant):
    def receive(self, wire: bytes, now_ms: int, retrieval_hint: bytes | None = None) -> Effects:
        for more in range(9):
            with suppress(MalformedMessageError):
                layout = self.config.revision.wire
                message = layout.decode(wire + bytes(more))
                cut = replace(message, content=(message.content or b"")[: -more or None])
                return super().receive(layout.encode(cut) if more else wire, now_ms, retrieval_hint)
        return super().receive(wire, now_ms, retrieval_hint)


@mutant("RECV-08", "empties its incoming buffers after bytes that it cannot decode")
class BrokenBytesEmptyTheBuffers(Participant):
    def receive(self, wire: bytes, now_ms: int, retrieval_hint: bytes | None = None) -> Effects:
        try:
            self.config.revision.wire.decode(wire)
        except MalformedMessageError:
            for channel in self.channels.values():
                channel.incoming.take_older(1 << 62)
            raise
        return super().receive(wire, now_ms, retrieval_hint)

"""Sections "Participant state", "Send Message", "Periodic Sync Message" and "Ephemeral Messages".

A Sender keeps the state of a participant in one channel and builds its own messages: ID, Lamport timestamp, causal
history, filter, and repair request. ``channel`` adds the processing of received messages and the periodic work.
"""

from __future__ import annotations

from dataclasses import replace

from .bloom_filter import RollingBloomFilter
from .config import Config, OwnIds
from .effects import Effects
from .errors import RefusedSendError
from .incoming_buffer import IncomingBuffer
from .lamport_clock import LamportClock
from .local_log import LocalLog, LogEntry
from .message import HistoryEntry, Message
from .message_id import computed_message_id
from .outgoing_buffer import OutgoingBuffer, OutgoingEntry
from .repair import Repair
from .wire_formats import is_text


class Sender:
    """State of one participant in one channel, and the messages that it sends there."""

    log_class: type[LocalLog] = LocalLog
    incoming_class: type[IncomingBuffer] = IncomingBuffer
    filter_class: type[RollingBloomFilter] = RollingBloomFilter
    outgoing_class: type[OutgoingBuffer] = OutgoingBuffer
    repair_class: type[Repair] = Repair
    """Classes of the parts of the state. Variants and mutants replace them."""

    def __init__(self, participant_id: str, channel_id: str, config: Config, now_ms: int) -> None:
        self.participant_id = participant_id
        self.channel_id = channel_id
        self.config = config
        self.revision = config.revision
        self.clock = LamportClock(self.revision.lamport_floor(now_ms), self.revision.wire.max_lamport)
        self.log = self.log_class()
        self.outgoing = self.outgoing_class()
        self.incoming = self.incoming_class()
        self.parameters = config.bloom_parameters
        self.filter = self.filter_class(config.bloom_profile, self.parameters, config.bloom_retained_ids)
        self._serial = 0
        self._swept_ms = now_ms
        self._quiet_since_ms = now_ms
        self._silent_since_ms = now_ms
        repairs = config.sds_r and self.revision.repairs
        self.repair = self.repair_class(participant_id, config, self.has_arrived) if repairs else None

    def has_arrived(self, message_id: str) -> bool:
        """Is the content message of that ID logged or buffered?"""
        return message_id in self.log or message_id in self.incoming

    # ---- Send Message ------------------------------------------------------------------------------------------

    def send(
        self, content: bytes, now_ms: int, message_id: str | None = None, retrieval_hint: bytes | None = None
    ) -> Effects:
        """Send application content ("Send Message").

        ``message_id`` is computed if it is not given; ``retrieval_hint`` is the transport's hint for the message.
        Raises RefusedSendError for empty content, which would be a sync message, for content that the wire format
        cannot carry, and for an ID that is in use.
        """
        if not content:
            raise RefusedSendError("content is empty: on the wire this would be a sync message")
        self.refuse_bytes(content)
        if message_id and self.has_arrived(message_id):
            raise RefusedSendError(f"message ID {message_id!r} is in use")
        lamport = self.next_lamport(now_ms)
        message_id = message_id or self.new_message_id(lamport, content)
        if self.config.own_ids_in_filter is OwnIds.BEFORE_SENDING:
            self.filter.insert(message_id)
        if self.repair is not None:
            self.repair.remove_repaired(message_id)  # the ID may be tracked as missing, if another message has named it
        message = self.with_repair_request(self.compose(message_id, lamport, content), now_ms)
        wire = self.encode(message)
        effects = Effects([wire], message_id=message_id)
        self.after_broadcast(message, wire, now_ms, retrieval_hint)
        return effects

    def refuse_bytes(self, content: bytes) -> None:
        """Reject content that is not text if the wire format has a string field for it."""
        if self.revision.wire.text_only and not is_text(content):
            raise RefusedSendError("content is not UTF-8 text, and the wire format carries only text")

    def next_lamport(self, now_ms: int) -> int:
        """Rule: "MUST set its local Lamport timestamp to max(timeNowInMs, current_lamport_timestamp + 1)".

        In the proposal: "Increase the local Lamport timestamp".
        """
        return self.clock.next(self.revision.lamport_floor(now_ms))

    def new_message_id(self, lamport: int | None, content: bytes) -> str:
        """An ID for a message to which the application gives none (section "Message")."""
        self._serial += 1
        return computed_message_id(self.participant_id, self.channel_id, lamport, self._serial, content)

    def compose(self, message_id: str, lamport: int, content: bytes | None) -> Message:
        """A content or sync message with causal history and filter "according to regular message rules"."""
        return Message(
            self.participant_id,
            message_id,
            self.channel_id,
            lamport,
            self.causal_history(),
            self.filter.to_wire(),
            (),
            content,
        )

    def causal_history_size(self) -> int:
        """Rule: "The number of message IDs to include [...] depends on the application"."""
        more = self.config.causal_history_varies and len(self.log) % 2
        return self.config.causal_history_size + more

    def causal_history(self) -> tuple[HistoryEntry, ...]:
        """Rule: "The preceding few message IDs in the local history", as an ordered list."""
        entries = [
            HistoryEntry(entry.message_id, entry.retrieval_hint, entry.sender_id if self.repair is not None else None)
            for entry in self.log.last_entries(self.causal_history_size())
        ]
        if self.config.causal_history_descending:
            entries.reverse()
        return tuple(entries)

    def with_repair_request(self, message: Message, now_ms: int) -> Message:
        """Section "SDS-R send message": return ``message`` with a repair request, if any request is due."""
        requested = self.repair.repair_request(now_ms) if self.repair is not None else ()
        return replace(message, repair_request=requested) if requested else message

    def encode(self, message: Message) -> bytes:
        """Encode an own message."""
        return self.revision.wire.encode(message)

    def after_broadcast(self, message: Message, wire: bytes, now_ms: int, retrieval_hint: bytes | None) -> None:
        """Add a sent message to the outgoing buffer and to the own log: later own messages depend on it."""
        self.broadcast_at(now_ms)
        self.remember_outgoing(message, wire, now_ms)
        self.keep_own(message, retrieval_hint)

    def keep_own(self, message: Message, retrieval_hint: bytes | None = None) -> None:
        """Log a sent message and, if configured, insert its ID into the filter, as receivers do."""
        self.log_own(message, retrieval_hint)
        if self.config.own_ids_in_filter is OwnIds.AFTER_SENDING:
            self.filter.insert(message.message_id)

    def remember_outgoing(self, message: Message, wire: bytes, now_ms: int) -> None:
        """Rule: "The message MUST be added to the participant's buffer of unacknowledged outgoing messages"."""
        positions = self.config.bloom_profile.positions(message.message_id, self.parameters)
        self.outgoing.add(
            OutgoingEntry(message.message_id, wire, positions, now_ms + self.config.resend_unacknowledged_ms)
        )

    def log_own(self, message: Message, retrieval_hint: bytes | None) -> None:
        """Log an own message: messages of others that depend on it are delivered only if it is in the log (AMB-19)."""
        assert message.lamport_timestamp is not None
        self.log.insert(LogEntry(message.message_id, message.lamport_timestamp, self.participant_id, retrieval_hint))
        self.incoming.mark_met(message.message_id)
        if self.repair is not None:
            self.repair.cache_message(message)

    def broadcast_at(self, now_ms: int) -> None:
        """Note the time of a broadcast, from which the next sync interval is counted."""
        self._quiet_since_ms = self._silent_since_ms = now_ms

    # ---- Periodic Sync Message, Ephemeral Messages ---------------------------------------------------------------

    def send_sync(self, now_ms: int) -> Effects:
        """Send a sync message, which has no content. It is not logged.

        In the proposal of 2024, receivers log sync messages, and later causal histories may name them. So the sender
        logs them, too.
        """
        effects = Effects()
        if not len(self.log) and not self.config.sync_with_empty_log and not self.has_requests(now_ms):
            return effects
        lamport = self.next_sync_lamport(now_ms)
        message = self.with_repair_request(self.compose(self.new_message_id(lamport, b""), lamport, None), now_ms)
        self.broadcast_at(now_ms)
        effects.broadcasts.append(self.encode(message))
        if self.revision.syncs_are_logged:
            self.keep_own(message)
        return effects

    def has_requests(self, now_ms: int) -> bool:
        """Is there an eligible item in the outgoing repair request buffer?"""
        return self.repair is not None and bool(self.repair.eligible_requests(now_ms))

    def next_sync_lamport(self, now_ms: int) -> int:
        """Rule: "A Lamport timestamp increased to max(timeNowInMs, current_lamport_timestamp + 1)" (AMB-18).

        In the proposal, the timestamp "should not be increased before sending such messages".
        """
        return self.next_lamport(now_ms) if self.revision.sync_advances_lamport else self.clock.value

    def send_ephemeral(self, content: bytes, message_id: str | None = None) -> Effects:
        """Send a message that needs no synchronization. No state changes.

        Raises RefusedSendError for empty content: with neither content nor a Lamport timestamp, the message would have
        no meaning.
        """
        if not content:
            raise RefusedSendError("content is empty: an ephemeral message carries only content")
        self.refuse_bytes(content)
        message_id = message_id or self.new_message_id(None, content)
        message = Message(self.participant_id, message_id, self.channel_id, content=content)
        return Effects([self.encode(message)], message_id=message_id)

"""Section "Protocol Steps": what a participant does in one channel.

Theory of operation. A Channel holds the state that "Participant state" lists. It has one public method per kind of
input: the application sends (``send``, ``send_ephemeral``, ``send_sync``), a message arrives (``receive``), time passes
(``tick``, which runs the periodic sweeps and the periodic sync). Each method except ``send_ephemeral`` takes the
current time in milliseconds, and all return Effects; the channel itself has no clock, no network and no randomness. The
steps below the public methods are grouped by the headings of the specification. Variants and mutants override these
steps.
"""

from __future__ import annotations

from contextlib import suppress

from .bloom_profiles import FilterView
from .effects import Acknowledged, Delivered, Effects, Lost, Missing, PossiblyAcknowledged
from .errors import ForeignFilterError, MalformedMessageError, RefusedSendError
from .incoming_buffer import BufferedMessage
from .local_log import LogEntry
from .message import Kind, Message
from .outgoing_buffer import AckState, OutgoingEntry
from .sender import Sender


class Channel(Sender):
    """The state and the protocol steps of one participant in one channel."""

    # ---- Receive Message -----------------------------------------------------------------------------------------

    def receive(self, message: Message, now_ms: int, retrieval_hint: bytes | None = None) -> Effects:
        """Process a message of this channel that arrived ("Receive Message").

        ``retrieval_hint`` is the hint that the transport gave for the message. Raises MalformedMessageError, and
        changes nothing, if the message cannot be used.
        """
        effects = Effects()
        if self.is_own(message):
            return effects
        kind = message.kind
        if kind is Kind.EPHEMERAL:
            self.receive_ephemeral(message, effects)
            return effects
        if kind is Kind.UNDEFINED:
            return effects
        regular = self.is_regular(kind)
        self.refuse_unusable(message, kind, now_ms)
        if self.repair is not None:  # duplicates are reviewed, too (AMB-23)
            self.repair.on_receive(message, has_unique_id=kind is Kind.CONTENT, now_ms=now_ms)
            if self.config.repair.answers_at_once:
                self.sweep_repair_requests(now_ms, effects)
        if regular and self.is_duplicate(message):
            if self.config.review_duplicates:
                self.review_ack_status(message, effects, now_ms)
            return effects
        if self.config.sync_only_when_quiet:
            self._quiet_since_ms = max(self._quiet_since_ms, now_ms)
        self.review_ack_status(message, effects, now_ms)
        if regular:
            self.insert_into_filter(message)
        unmet = self.unmet_dependencies(message)
        if unmet:
            self.buffer(message, unmet, now_ms, retrieval_hint)
            self.signal_missing(message, unmet, effects)
        elif regular:
            self.deliver(message, effects, retrieval_hint)
            if self.config.cascade_on_receive:
                self.deliver_ready(effects)
        return effects

    def is_own(self, message: Message) -> bool:
        """Rule: "SHOULD ignore the message if it has a sender_id matching its own"."""
        return message.sender_id == self.participant_id

    def is_regular(self, kind: Kind) -> bool:
        """Does the message go through the whole receive procedure and finally into the log?"""
        return kind is Kind.CONTENT or (kind is Kind.SYNC and self.revision.syncs_are_logged)

    def refuse_unusable(self, message: Message, kind: Kind, now_ms: int) -> None:
        """Reject a regular message that has no ID, because no message could reference it.

        Also reject a content or sync message whose Lamport timestamp is more than ``Config.max_lamport_ahead_ms`` ahead
        of ``now_ms``.
        """
        if self.is_regular(kind) and not message.message_id:
            raise MalformedMessageError(f"the {kind.value} message has no message_id")
        bound = self.config.max_lamport_ahead_ms
        assert message.lamport_timestamp is not None
        if bound is not None and message.lamport_timestamp > now_ms + bound:
            raise MalformedMessageError(
                f"Lamport timestamp {message.lamport_timestamp} is more than {bound} ms ahead of now_ms"
            )

    def receive_ephemeral(self, message: Message, effects: Effects) -> None:
        """Rule: "SHOULD be delivered immediately without buffering [...] or including in the local log"."""
        if self.config.ephemeral_ids_in_filter:
            self.filter.insert(message.message_id)
        effects.events.append(Delivered(self.channel_id, message.message_id, message.content or b""))

    def is_duplicate(self, message: Message) -> bool:
        """Rule: "MAY deduplicate". A duplicate has an ID that is logged or buffered (AMB-39)."""
        return self.has_arrived(message.message_id)

    def insert_into_filter(self, message: Message) -> None:
        """Rule: "MUST include the received message ID in its local bloom filter", whether it is delivered or not."""
        self.filter.insert(message.message_id)

    def unmet_dependencies(self, message: Message) -> set[str]:
        """IDs of the causal history that do not "appear in the local history of the receiving participant"."""
        return {entry.message_id for entry in message.causal_history if entry.message_id not in self.log}

    def buffer(self, message: Message, unmet: set[str], now_ms: int, retrieval_hint: bytes | None) -> None:
        """Rule: "MUST add the message to the incoming buffer of messages with unmet causal dependencies"."""
        regular = self.is_regular(message.kind)
        if regular or self.config.buffer_syncs:
            self.incoming.add(BufferedMessage(message, unmet, now_ms, retrieval_hint, regular))

    def signal_missing(self, message: Message, unmet: set[str], effects: Effects) -> None:
        """Signal to the application which dependencies it may retrieve, with the retrieval hints of the message."""
        entries = {entry.message_id: entry for entry in message.causal_history if entry.message_id in unmet}
        effects.events.append(Missing(self.channel_id, tuple(entries.values())))

    # ---- Deliver Message -----------------------------------------------------------------------------------------

    def deliver(self, message: Message, effects: Effects, retrieval_hint: bytes | None) -> None:
        """Section "Deliver Message": update the clock, log the ID, give the content to the application."""
        assert message.lamport_timestamp is not None
        self.witness_lamport(message.lamport_timestamp)
        self.insert_into_log(message, retrieval_hint)
        self.incoming.mark_met(message.message_id)
        if self.repair is not None:
            self.repair.cache_message(message)
        if message.content:
            effects.events.append(Delivered(self.channel_id, message.message_id, message.content))

    def witness_lamport(self, lamport_timestamp: int) -> None:
        """Rule: "MUST update its local Lamport timestamp to match the received message" if its timestamp is greater."""
        self.clock.witness(lamport_timestamp)

    def insert_into_log(self, message: Message, retrieval_hint: bytes | None) -> None:
        """Rule: "MUST insert the message ID into its local log, based on Lamport timestamp" and its ID."""
        assert message.lamport_timestamp is not None
        self.log.insert(LogEntry(message.message_id, message.lamport_timestamp, message.sender_id, retrieval_hint))

    # ---- Review ACK Status ---------------------------------------------------------------------------------------

    def review_ack_status(self, message: Message, effects: Effects, now_ms: int) -> None:
        """Section "Review ACK Status": the causal history, which proves receipt, comes before the filter (AMB-60)."""
        self.review_causal_history(message, effects)
        self.review_bloom_filter(message, effects, now_ms)

    def review_causal_history(self, message: Message, effects: Effects) -> None:
        """Rule: "MUST mark all messages in the received causal_history as acknowledged"."""
        for entry in message.causal_history:
            self.acknowledge(entry.message_id, effects)

    def acknowledge(self, message_id: str, effects: Effects) -> None:
        """Acknowledge a message and remove it from the outgoing buffer. IDs that are not in the buffer are ignored."""
        if self.outgoing.acknowledge(message_id):
            effects.events.append(Acknowledged(self.channel_id, message_id))

    def review_bloom_filter(self, message: Message, effects: Effects, now_ms: int) -> None:
        """Rule: "MUST mark all messages included in the bloom_filter as possibly acknowledged".

        A filter of another encoding is skipped; the rest of the message is still processed (AMB-53).
        """
        if not len(self.outgoing):
            return
        view = self.read_filter(message)
        if view is None:
            return
        same_size = view.parameters == self.parameters
        counts_hits = self.config.possible_ack_threshold is not None
        for entry in list(self.outgoing) if counts_hits else self.outgoing.unacknowledged():
            if view.holds(entry.positions) if same_size else entry.message_id in view:
                self.count_filter_hit(entry, effects, now_ms)

    def read_filter(self, message: Message) -> FilterView | None:
        """The filter of a received message; None if the filter is missing or not readable."""
        with suppress(ForeignFilterError):
            if message.bloom_filter is not None:
                return self.config.bloom_profile.read(message.bloom_filter, self.parameters)
        return None

    def count_filter_hit(self, entry: OutgoingEntry, effects: Effects, now_ms: int) -> None:
        """Mark an own message, whose ID a received filter contains, as possibly acknowledged or acknowledged."""
        entry.filter_hits += 1
        threshold = self.config.possible_ack_threshold
        if threshold is not None and entry.filter_hits >= threshold:
            self.acknowledge(entry.message_id, effects)
        elif entry.state is AckState.UNACKNOWLEDGED:
            self.outgoing.mark_possibly_acknowledged(entry)
            self.schedule_resend(entry, now_ms)
            effects.events.append(PossiblyAcknowledged(self.channel_id, entry.message_id))

    # ---- Periodic work -------------------------------------------------------------------------------------------

    def tick(self, now_ms: int) -> Effects:
        """Run the periodic work that is due: the sweeps, with SDS-R also of repair requests, then the sync message."""
        effects = Effects()
        if not 0 <= now_ms - self._swept_ms < self.config.incoming_sweep_ms:  # true also if the clock has stepped back
            self._swept_ms = now_ms
            self.sweep_incoming(now_ms, effects)
        self.sweep_outgoing(now_ms, effects)
        self.sweep_repair_requests(now_ms, effects)
        if self.sync_is_due(now_ms):
            self.broadcast_at(now_ms)
            # Sending fails once the largest timestamp is reached; the effects of the sweeps must still be returned.
            with suppress(RefusedSendError):
                effects.broadcasts.extend(self.send_sync(now_ms).broadcasts)
        return effects

    def sync_is_due(self, now_ms: int) -> bool:
        """Has the sync interval passed since the last message in the channel?

        By default, and while repair requests are due, only messages of this participant count: "regardless of whether
        other participants have also recently broadcast a Periodic Sync message".
        """
        if self.config.sync_interval_ms is None:
            return False
        period = self.config.sync_interval_ms + self.config.sync_backoff_ms
        since_ms = self._silent_since_ms if self.has_requests(now_ms) else self._quiet_since_ms
        return now_ms - since_ms >= period

    def sweep_incoming(self, now_ms: int, effects: Effects) -> None:
        """Deliver messages whose dependencies are met, and give up dependencies that stay unmet for too long."""
        self.deliver_ready(effects)
        if self.config.lost_timeout_ms is not None:
            self.give_up_lost(now_ms - self.config.lost_timeout_ms, effects)

    def deliver_ready(self, effects: Effects) -> None:
        """Rule: "If all dependencies of a message are met, the participant MUST proceed to deliver the message"."""
        while (entry := self.incoming.take_ready()) is not None:
            if entry.regular:
                self.deliver(entry.message, effects, entry.retrieval_hint)

    def give_up_lost(self, received_ms: int, effects: Effects) -> None:
        """Rule: "MAY mark them as irretrievably lost", for dependencies of messages received until ``received_ms``."""
        given_up = self.incoming.take_older(received_ms)
        for entry in sorted(given_up, key=lambda entry: entry.message.lamport_timestamp or 0):
            lost = tuple(sorted(dependency for dependency in entry.unmet if dependency not in self.log))
            if lost and self.repair is not None:
                self.repair.give_up(lost)
            if lost:
                effects.events.append(Lost(self.channel_id, lost))
            if entry.regular and not self.config.drops_the_lost:
                self.deliver(entry.message, effects, entry.retrieval_hint)
                self.deliver_ready(effects)

    def sweep_repair_requests(self, now_ms: int, effects: Effects) -> None:
        """Broadcast the responses that are due ("SDS-R incoming repair request buffer sweep", AMB-65)."""
        if self.repair is not None:
            effects.broadcasts.extend(map(self.revision.wire.encode, self.repair.take_responses(now_ms)))

    def sweep_outgoing(self, now_ms: int, effects: Effects) -> None:
        """Rule: "MUST rebroadcast unacknowledged outgoing messages after a set period"."""
        for entry in self.outgoing.take_due(now_ms):
            effects.broadcasts.append(self.rebroadcast(entry))
            self.schedule_resend(entry, now_ms)

    def rebroadcast(self, entry: OutgoingEntry) -> bytes:
        """Return the message exactly as it was sent: a rebroadcast is not a new message (AMB-65, AMB-98)."""
        return entry.wire

    def schedule_resend(self, entry: OutgoingEntry, now_ms: int) -> None:
        """Set the next resend time: "distinct resend periods for unacknowledged and possibly acknowledged messages"."""
        period = (
            self.config.resend_unacknowledged_ms
            if entry.state is AckState.UNACKNOWLEDGED
            else self.config.resend_possibly_acknowledged_ms
        )
        if period is None:
            entry.due_ms = -1  # matches no heap item, so the sweep never returns it
        else:
            self.outgoing.reschedule(entry, now_ms + period)

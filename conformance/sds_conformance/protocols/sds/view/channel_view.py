"""Reads a trace as one participant in one channel: its messages, signals and states.

The view takes what the implementation shows (such as its delivery events and Lamport timestamps) as given, step by
step, and computes the behaviour that the specification then demands. So one fault does not affect the verdicts on later
steps. Traces of scenarios, of generated schedules and of corpora are all read in this way, so a check does not depend
on the source of its trace.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache, partial

from sds_harness.lazy import LazyProperty
from sds_harness.sds.trace import Event, Step, Trace, Wire
from sds_harness.trace import Party
from sds_proto.testee.v1 import testee_pb2 as pb
from sds_reference import MAX_LAMPORT, Kind, Message

from .ack_tracker import AckEvidence, AckTracker
from .declared_limits import KeptEntries, limit_in_force
from .expected_log import ExpectedLog
from .facts import DeliveredMessage, LogItem, Observed, Received, Resend, Sent
from .filters import KnownFilters, holds_nothing, read_filter, read_received_filter
from .lamport_tracker import LamportTracker
from .odd_messages import BEYOND_LIMITS, DROPPABLE, describe_oddity, in_another_layout
from .repair_terms import repair_terms
from .repair_tracker import RepairTracker
from .silent_deliveries import find_silent_deliveries
from .windows import Window, clock_at, earliest_clock

TAIL = 16


_PERIODIC = ("delivered", "missing", "lost")
"""The signals that sweeps and timers give."""


class ChannelView:
    """The messages, signals and states of a participant in a channel, in the order of the trace."""

    def __init__(self, trace: Trace, party: Party, channel_id: str, filters: KnownFilters | None = None) -> None:
        """``filters`` has the bloom filters of the trace, if they have been read already."""
        self.trace = trace
        self.party = party
        self.channel_id = channel_id
        self.configuration = party.in_force
        self.revision = trace.revision
        self.sent: list[Sent] = []
        """Own content messages, each at its first broadcast."""
        self.syncs: list[Sent] = []
        self.ephemerals: list[Sent] = []
        self.copies: list[Resend] = []
        self.strays: list[tuple[Step, Wire]] = []
        """Other broadcasts: undecodable messages, and messages that no command, timer or request explains."""
        self.received: list[Received] = []
        self.refused: list[Received] = []
        """Messages that arrived and were refused. Duplicates are left out, because a participant may ignore them
        ("MAY").
        """
        self.arrivals: dict[str, list[Received]] = {}
        """The arrivals, accepted or refused, by message ID."""
        self.ambiguous_ids: set[str] = set()
        """IDs of regular messages that arrived with several timestamps. The specification does not define their place
        in the log (AMB-25).
        """
        self.delivered: list[DeliveredMessage] = []
        self._ack_tracker = AckTracker()
        self.acks = self._ack_tracker.acks
        self.mentions = self._ack_tracker.mentions
        self.unmentioned = self._ack_tracker.unmentioned
        self.possible_evidence = self._ack_tracker.possible_evidence
        self.refused_mentions = self._ack_tracker.refused_mentions
        self.observed: list[Observed] = []
        self._states_showing: dict[str, list[Observed]] = {}
        self.ticks: list[Step] = []
        self.hints: dict[str, set[bytes]] = {}
        """By message ID: the retrieval hints that the application or received messages gave for it."""
        self.supplied_hints: dict[str, set[bytes]] = {}
        """As ``hints``, without the hints in messages of participants, which may have made these hints themselves."""
        self.known_ids: set[str] = set()
        """IDs of regular messages that were sent or received: content, and sync messages if the revision logs them
        (`syncs_are_logged`).
        """
        self.kept_entries = KeptEntries(limit_in_force(trace, "log_entries"))
        self.first_requests: dict[str, int] = {}
        """By message ID: the index of the step with the first received repair request for it."""
        self.repair = RepairTracker(party.participant_id)
        self.views_in_channel: list[ChannelView] = [self]
        """The views of all participants under test in the channel."""
        self.terms = repair_terms(trace.declaration, party)
        """The SDS-R settings that the participant uses."""
        self._buffered: dict[str, Received] = {}
        self._own: dict[str, Sent] = {}
        self._last_broadcast: dict[str, Step] = {}
        self._renamed: dict[str, Sent] = {}
        self._clock = LamportTracker(clock_at(trace, party.opened_ms), trace.revision)
        self._log = ExpectedLog(lambda lamport: self._clock.received_undelivered(lamport, sync=True))
        self.known_filters = filters or KnownFilters(trace)
        """The filters of the trace, shared by all views that were created together."""
        self.filter_of = cache(partial(read_filter, trace, party, look_up=self.known_filters.sent_filter))
        """Returns a function that tells whether a sent bloom filter contains an ID; None if the filter is unreadable.

        The filter is read with the declared bloom profile. Without a known profile, the codec or another participant
        that received the filter shows which IDs the filter contains.
        """
        received_filter = self.known_filters.received_filter
        self._filter_received = cache(partial(read_received_filter, trace, party, look_up=received_filter))
        self._silent = find_silent_deliveries(trace, party, channel_id)
        self._participant_ids = {one.participant_id for one in trace.parties.values()}
        self._log_is_uncertain = False
        self._unsent_syncs = 0
        """The number of commands to send a sync message that sent none. A later sweep may send these sync messages."""
        self.received_elsewhere = False
        """Has a message of another channel arrived?"""
        opened, since = False, 0
        for step in trace.of(party.name):
            if not opened:
                opened, since = step.command == "open", step.index - 1
            if opened and self._clock.is_open:
                # The steps of other participants, perhaps thousands, only show that time passed.
                for passed in trace.steps[since : step.index]:
                    if passed.now_ms:
                        self._clock.pass_time(clock_at(trace, passed.now_ms))
            if step.now_ms:
                self._clock.show_time(self._now(step))
            self._read(step)
            if self._silent:
                self._record_silent_deliveries(step)
            since = step.index

    # ---- questions of checks -----------------------------------------------------------------------------------

    def can(self, capability: int) -> bool:
        return self.trace.declaration.can(capability)

    @LazyProperty
    def opened(self) -> Step:
        """The step that opened the participant."""
        return next(step for step in self.trace.of(self.party.name) if step.command == "open")

    @LazyProperty
    def gives_up(self) -> bool:
        """May the implementation mark dependencies as lost in this trace? If so, a delivery does not prove that the
        dependencies arrived (AMB-92).
        """
        return bool(self.configuration.lost_timeout_ms or self.losses)

    @LazyProperty
    def losses(self) -> list[tuple[Step, Event]]:
        """The losses that the participant reported, in any of its channels."""
        events = ((step, event) for step in self.trace.of(self.party.name) for event in step.events)
        return [(step, event) for step, event in events if event.kind == "lost"]

    @LazyProperty
    def first_delivered(self) -> dict[str, int]:
        """By message ID: the index of the step of the first delivery."""
        return {delivery.message_id: delivery.step.index for delivery in reversed(self.delivered)}

    def history_size_of(self, sent: Sent) -> int:
        """The number of message IDs that the causal history of a message must contain if the log is long enough; 0 if
        unknown.

        If no size is in force, the number is that of the message's own causal history, because the size depends on the
        application (section "Send Message"); but it is at least 1 if any own message has a causal history. A declared
        size of the log limits the number (AMB-96).
        """
        count = len(set(sent.history))
        if self.configuration.HasField("causal_history_size"):
            size = int(self.configuration.causal_history_size)
        else:
            size = max(count, self._has_histories)
        bound = limit_in_force(self.trace, "log_entries")
        return size if bound is None else min(size, max(bound, count))

    @LazyProperty
    def _has_histories(self) -> bool:
        return any(sent.history for sent in self.sent + self.syncs)

    @LazyProperty
    def outgoing(self) -> list[Sent]:
        """Own content and sync messages, in the order of sending. Valid only after the whole trace has been read."""
        return sorted(self.sent + self.syncs, key=lambda sent: sent.step.index)

    def may_have_dropped_any(self, message_ids: Iterable[str]) -> bool:
        """May a log of the declared size have dropped any of these messages?"""
        gone = (i for i in message_ids if i in self.known_ids and not self.kept_entries.holds(i))
        return self.kept_entries.bounded and any(True for _ in gone)

    def states_showing(self, part: str) -> list[Observed]:
        """The observed states that have a value in the field ``part`` of a state: a buffer, or the log."""
        showing = self._states_showing.get(part)
        if showing is None:
            showing = self._states_showing[part] = [one for one in self.observed if one.state.HasField(part)]
        return showing

    def own(self, message_id: str) -> Sent | None:
        """The own content message with this ID; None if there is none."""
        return self._own.get(message_id)

    def ack_evidence(self, message_id: str) -> AckEvidence:
        """The evidence of the acknowledgement of an own message."""
        return self._ack_tracker.evidence_by_id[message_id]

    @LazyProperty
    def log(self) -> list[LogItem]:
        """The expected log at the end of the trace."""
        return list(self._log)

    @LazyProperty
    def logged_ids(self) -> set[str]:
        """IDs of the expected log at the end of the trace."""
        return self._log.ids

    # ---- reading -------------------------------------------------------------------------------------------------

    def _read(self, step: Step) -> None:
        command = step.command
        if command == "receive":
            self._read_receive(step)
        elif command == "observe":
            if step.channel_id == self.channel_id:
                self._read_observe(step)
        elif command == "tick":
            self.ticks.append(step)
            self._read_periodic(step)
        elif command in ("send", "send_sync", "send_ephemeral"):
            self._note_own_hint(step)
            if step.channel_id == self.channel_id:
                self._read_send(step)
            elif self._ran_periodic_work(step):
                self._read_periodic(step)

    def _ran_periodic_work(self, step: Step) -> bool:
        """Did periodic work in this channel run at a command for another channel?

        A reaction to the message of the command does not count: it shows that the implementation mixes up two channels,
        which other rules judge.
        """
        arrived = step.arrived
        about = arrived.message_id if arrived is not None else ""
        events = [event for event in step.events if event.channel_id == self.channel_id]
        if any(event.kind not in _PERIODIC or event.message_id == about for event in events):
            return False
        return bool(events) or any(m.channel_id == self.channel_id and m is not step.new for m in step.messages)

    def _read_periodic(self, step: Step) -> None:
        before = len(self._log)
        if self.configuration.lost_timeout_ms or step.signals("lost", self.channel_id):
            self._log.give_up_waiting_syncs()
        low = self._clock.lowest_before(self._now(step))
        self._read_events(step, None)
        self._read_broadcasts_beside_deliveries(step, low, certain=len(self._log) == before)

    def _read_broadcasts_beside_deliveries(self, step: Step, low: int, *, certain: bool) -> None:
        """Read the broadcasts of a step whose events have been read.

        ``low`` is the smallest possible local timestamp before the events. A new own message may have been sent before
        or after the deliveries of the step, because due timers may run first.
        """
        raised = self._clock.low
        sends = self._has_deliveries(step, set()) and any(map(self._is_new_own_message, step.messages))
        if sends:
            self._clock.lower_to(low)
        self._read_broadcasts(step, certain=certain)
        if sends:
            self._clock.raise_to(raised)

    def _is_new_own_message(self, message: Message) -> bool:
        own = (message.sender_id, message.channel_id) == (self.party.participant_id, self.channel_id)
        return own and (message.kind is Kind.SYNC or message.message_id not in self._own)

    def _read_send(self, step: Step) -> None:
        if step.command == "send_sync" and not step.broadcasts:
            self._clock.may_have_moved(self._now(step))
            self._unsent_syncs += 1
        if self._has_deliveries(step, {message.message_id for message in step.messages}):
            low = self._clock.lowest_before(self._now(step))
            self._read_events(step, None)
            self._read_broadcasts_beside_deliveries(step, low, certain=False)
        else:
            self._read_broadcasts(step, certain=True)
            self._read_events(step, None)

    def _has_deliveries(self, step: Step, except_ids: set[str]) -> bool:
        return any(e.message_id not in except_ids for e in step.signals("delivered", self.channel_id))

    def _read_receive(self, step: Step) -> None:
        message = step.received.message
        if message is None or message.channel_id != self.channel_id:
            self.received_elsewhere |= message is not None
            if message is None or in_another_layout(message, self.party.channels):
                for event in step.signals("delivered", self.channel_id):
                    self._record_regular(step, event.message_id, None)
            elif self._ran_periodic_work(step):
                self._read_periodic(step)
            return
        received = self._received(step, message)
        self.arrivals.setdefault(message.message_id, []).append(received)
        self._note_hints(step, message)
        if received.rejected and (received.own or not received.duplicate):
            self.refused.append(received)
            if received.valid:
                self._ack_tracker.review_refused(received, self._filter_received(message.bloom_filter))
            return
        self.received.append(received)
        if received.kind is Kind.EPHEMERAL:
            self._clock.ephemeral()
        if not received.own:
            self._read_repairs(received)
        counts = not received.own and step.reply is not None
        reviewed = not received.duplicate and received.oddity not in DROPPABLE
        if counts and received.kind in (Kind.CONTENT, Kind.SYNC) and reviewed:
            self._ack_tracker.review(received, self._filter_received(message.bloom_filter))
        elif step.reply is not None:
            self._ack_tracker.review_optional(received, self._filter_received(message.bloom_filter))
        if counts and self._is_regular(received.kind):
            named = (entry.message_id for entry in message.causal_history)
            self._record_regular(step, message.message_id, message.lamport_timestamp, named)
            if received.kind is Kind.CONTENT and (not received.duplicate or self._replaces_waiting(received)):
                self._buffered[message.message_id] = received
            elif not received.duplicate:
                self._log.add_received_sync(received)
        if received.duplicate and counts and self._has_another_timestamp(received):
            self.ambiguous_ids.add(message.message_id)
            self._log_is_uncertain = True
            self._clock.maybe_delivered(message.lamport_timestamp or 0)
        low = self._clock.lowest_before(self._now(step))
        blind = counts and not self.can(pb.CAPABILITY_DELIVERED)
        if blind and received.kind is Kind.CONTENT and message.lamport_timestamp is not None:
            self._log_is_uncertain = True
            self._clock.maybe_delivered(message.lamport_timestamp)
        if self._silent:
            self._record_silent_deliveries(step)
        self._read_events(step, received)
        undelivered = not (received.delivered_at_once or (received.kind is Kind.SYNC and self._is_regular(Kind.SYNC)))
        if counts and message.lamport_timestamp is not None and undelivered:
            self._clock.received_undelivered(
                message.lamport_timestamp, sync=received.kind is Kind.SYNC, waits=bool(received.unmet)
            )
        elif received.own and message.lamport_timestamp is not None and not received.rejected:
            self._clock.received_with_own_sender(message.lamport_timestamp)
        self._read_broadcasts_beside_deliveries(step, low, certain=not self._has_deliveries(step, set()))

    def _note_own_hint(self, step: Step) -> None:
        """Store the retrieval hint that the application gave for an own message."""
        if step.command == "send" and step.request.send.HasField("retrieval_hint") and step.answer == "effects":
            message_id = step.reply.effects.message_id if step.reply else ""
            message_id = message_id or (step.new.message_id if step.new is not None else "")
            self._add_hint(message_id, step.request.send.retrieval_hint)

    def _note_hints(self, step: Step, message: Message) -> None:
        """Store the retrieval hint that arrived with a message, and the hints in the entries of the message."""
        if step.request.receive.HasField("retrieval_hint"):
            self._add_hint(message.message_id, step.request.receive.retrieval_hint)
        supplied = message.sender_id not in self._participant_ids
        for entry in message.causal_history:
            if entry.retrieval_hint is not None:
                self._add_hint(entry.message_id, entry.retrieval_hint, supplied=supplied)

    def _add_hint(self, message_id: str, hint: bytes, *, supplied: bool = True) -> None:
        self.hints.setdefault(message_id, set()).add(hint)
        if supplied:
            self.supplied_hints.setdefault(message_id, set()).add(hint)

    def _has_another_timestamp(self, received: Received) -> bool:
        """Did a regular message with the same ID and another timestamp arrive before?"""
        message = received.message
        known = (one for one in self.arrivals[message.message_id] if self._is_regular(one.kind))
        return any(one.message.lamport_timestamp != message.lamport_timestamp for one in known)

    def _replaces_waiting(self, received: Received) -> bool:
        """Does the message replace a waiting message with the same ID, which a declared limit may have dropped?"""
        waiting = self._buffered.get(received.message.message_id)
        return waiting is not None and waiting.oddity in BEYOND_LIMITS and not received.oddity

    def _read_repairs(self, received: Received) -> None:
        """Read the repair requests of a message. Call this before the message counts as arrived, because a message may
        request itself.
        """
        asked = [entry.message_id for entry in received.message.repair_request]
        for message_id in asked:
            self.first_requests.setdefault(message_id, received.step.index)
        held = {i: i in self._log for i in asked if i in self._log or i in self._buffered}
        self.repair.receive(received, held)

    def _received(self, step: Step, message: Message) -> Received:
        log, message_id, kind = self._log, message.message_id, message.kind
        named = [entry.message_id for entry in message.causal_history]
        unmet = frozenset([i for i in named if i not in log])
        clock = earliest_clock(self.trace, step.now_ms)
        oddity = describe_oddity(message, clock, partial(limit_in_force, self.trace), self.revision.wire.max_lamport)
        if not oddity and log.is_uncertain(named):
            oddity = "a dependency on a message that an implementation may keep in the log or leave out"
        if not oddity and self.may_have_dropped_any(named):
            oddity = "a dependency that a log of the declared size may have dropped (AMB-96)"
        return Received(
            step,
            message,
            kind,
            own=message.sender_id == self.party.participant_id,
            duplicate=self._is_regular(kind) and (message_id in log or self._is_waiting(message_id)),
            unmet=unmet,
            unmet_buffered=frozenset([i for i in unmet if self._is_waiting(i)]) if unmet else unmet,
            oddity=oddity,
            foreign_filter=message.bloom_filter is not None
            and self._filter_received(message.bloom_filter) in (None, holds_nothing),
        )

    def _read_events(self, step: Step, received: Received | None) -> None:
        for event in step.events:
            if event.channel_id != self.channel_id:
                continue
            match event.kind:
                case "delivered":
                    self._read_delivered(step, event, received)
                case "acknowledged":
                    self._ack_tracker.signal(step, event.message_id, possibly=False)
                case "possibly_acknowledged":
                    self._ack_tracker.signal(step, event.message_id, possibly=True)
                case "lost":
                    self.repair.record_loss(event.message_ids, step)

    def _read_delivered(self, step: Step, event: Event, at: Received | None) -> None:
        here = at if at is not None and at.message.message_id == event.message_id else None
        received = here or self._arrival_of(event.message_id)
        message = received.message if received is not None else None
        ids = [entry.message_id for entry in message.causal_history] if message is not None else []
        unmet = frozenset(i for i in ids if i not in self._log)
        waits, again = frozenset(i for i in unmet if self._is_waiting(i)), event.message_id in self._log
        if received is not None and received.delivered_silently is not None and not received.delivered:
            again = False  # the event reports a delivery that happened silently in an earlier step
        dropped = not self.kept_entries.holds(event.message_id)
        delivery = DeliveredMessage(step, event.message_id, event.content, received, unmet, waits, again, dropped)
        self.delivered.append(delivery)
        if received is None or message is None:
            return
        received.delivered.append(delivery)
        waiting = self._buffered.get(event.message_id)
        if waiting is not None and waiting is not received:
            waiting.delivered.append(delivery)  # a later copy was accepted instead of the waiting message
        if received.own and received.kind is Kind.CONTENT and event.message_id not in self._own:
            self._record_regular(step, event.message_id, message.lamport_timestamp)
            self._log.add_uncertain(event.message_id, message.lamport_timestamp, own=False)
        elif received.kind is Kind.CONTENT and message.lamport_timestamp is not None and not received.own:
            self._buffered.pop(event.message_id, None)
            if not (again and event.message_id in self.ambiguous_ids):
                self._clock.delivered(message.lamport_timestamp)
            self._log.insert(event.message_id, message.lamport_timestamp, own=False)

    def _record_silent_deliveries(self, step: Step) -> None:
        """Record silent deliveries (see ``silent_deliveries``): waiting messages whose dependencies are now met."""
        while True:
            waiting = (r for i, r in self._buffered.items() if i in self._silent and not r.rejected)
            ready = [r for r in waiting if all(e.message_id in self._log for e in r.message.causal_history)]
            if not ready:
                return
            for received in ready:
                message = received.message
                del self._buffered[message.message_id]
                received.delivered_silently = step
                if message.lamport_timestamp is not None:
                    self._clock.maybe_delivered(message.lamport_timestamp)
                    self._log.insert(message.message_id, message.lamport_timestamp, own=False)

    def _arrival_of(self, message_id: str) -> Received | None:
        """The arrival of a message that a sweep delivers: the arrival that was buffered, or the latest if none was
        buffered.
        """
        if message_id in self._buffered:
            return self._buffered[message_id]
        arrivals = [r for r in self.arrivals.get(message_id, ()) if r.kind is not Kind.SYNC or self._is_regular(r.kind)]
        # The event may report a delivery that happened silently in an earlier step.
        silent = [r for r in arrivals if r.delivered_silently is not None and not r.delivered]
        return max(silent or arrivals, key=lambda received: (not received.own, received.step.index), default=None)

    def _read_broadcasts(self, step: Step, *, certain: bool) -> None:
        if not step.broadcasts:
            return
        fresh = {"send": self.sent, "send_sync": self.syncs, "send_ephemeral": self.ephemerals}.get(step.command)
        for wire in step.broadcasts:
            message, asked_for = wire.message, fresh is not None and wire is step.asked_for
            if message is None or in_another_layout(message, self.party.channels):
                if step.channel_id in ("", self.channel_id):
                    self.strays.append((step, wire))
                if asked_for and step.reply is not None:
                    self._record_regular(step, step.reply.effects.message_id, None)
            elif asked_for and step.channel_id != self.channel_id:
                continue  # the view of the channel with the request judges this broadcast
            elif message.channel_id != self.channel_id and (
                step.channel_id != self.channel_id or (not asked_for and message.channel_id in self.party.channels)
            ):
                # A requested message in a channel that was not joined is a response in the wrong channel.
                if message.channel_id not in self.party.channels and message.message_id in self.first_requests:
                    self.repair.broadcast(step, message)
                continue
            elif asked_for and fresh is not None:
                self._read_sent(step, wire, message, fresh, certain)
            elif message.message_id in self._own and not self._is_new_sync(message):
                self._read_copy(step, message, self._own[message.message_id])
                if message.message_id in self.first_requests:
                    self.repair.broadcast(step, message)
            elif (original := self._find_renamed_original(message)) is not None:
                self._read_copy(step, message, original)
                self._record_regular(step, message.message_id, message.lamport_timestamp)
                self._renamed[message.message_id] = original
            elif message.kind is Kind.SYNC and message.sender_id == self.party.participant_id and self._unsent_syncs:
                self._unsent_syncs -= 1
                self._clock.may_have_moved(self._now(step))
                self._log_own_sync(step, message)
            elif message.kind is Kind.SYNC and message.sender_id == self.party.participant_id:
                self._read_sent(step, wire, message, self.syncs, certain)
            elif not self.terms.on or not (
                self.repair.original(message.message_id) or self.repair.find_renamed(message)
            ):
                self.strays.append((step, wire))
            else:
                self._clock.rebroadcast(asked_for=True)
                self.repair.broadcast(step, message)

    def _read_copy(self, step: Step, message: Message, original: Sent) -> None:
        message_id = original.message.message_id
        copy = Resend(step, message, original, self._last_broadcast[message_id])
        self.copies.append(copy)
        self.ack_evidence(message_id).copies.append(copy)
        self._last_broadcast[message_id] = step
        self._clock.rebroadcast(asked_for=message_id in self.first_requests)

    def _find_renamed_original(self, message: Message) -> Sent | None:
        """The own message that ``message`` resends under a new ID; None if there is none.

        Of the unacknowledged messages with the same content, it is the one whose last broadcast is the oldest.
        """
        if message.kind is not Kind.CONTENT or message.sender_id != self.party.participant_id:
            return None
        if message.message_id in self.known_ids or not self.can(pb.CAPABILITY_RESEND):
            return self._renamed.get(message.message_id)
        if self.terms.on and self.repair.find_renamed(message) is not None:
            return None  # a response under a new ID, which SDS-R-SWEEP-05 judges
        own = (self._own[message_id] for message_id in self._ack_tracker.outstanding if message_id in self._own)
        alike = [sent for sent in own if sent.message.content == message.content]
        return min(alike, key=lambda sent: self._last_broadcast[sent.message.message_id].index, default=None)

    def _is_new_sync(self, message: Message) -> bool:
        """Is this a new sync message with the ID of an own message, and not a copy of the own message without its
        content?

        A sync message has a new timestamp; a copy has the timestamp of the original (AMB-147).
        """
        mine = message.kind is Kind.SYNC and message.sender_id == self.party.participant_id
        original = self._own[message.message_id].message
        syncs_have_no_id = not self.revision.syncs_are_logged
        return mine and syncs_have_no_id and message.lamport_timestamp != original.lamport_timestamp

    def _read_sent(self, step: Step, wire: Wire, message: Message, into: list[Sent], certain: bool) -> None:
        size = max(TAIL, len(message.causal_history) + 1, self.configuration.causal_history_size)
        sent = Sent(
            step,
            wire,
            message,
            self._log.tail(size),
            self._log.certain_count,
            len(self._log),
            self._clock.expect(self._now(step)),
            certain and not self._log_is_uncertain,
            repeat=message.message_id in self.known_ids and (into is not self.syncs or self.revision.syncs_are_logged),
            sync=into is self.syncs,
        )
        into.append(sent)
        if into is self.ephemerals:
            self._clock.ephemeral()
            return
        self.repair.send(sent, content=into is self.sent)
        if message.lamport_timestamp is not None and not sent.repeat:
            self._clock.sent(message.lamport_timestamp, self._now(step), sync=into is self.syncs)
        if sent.repeat:
            self._clock.may_have_moved(self._now(step))
        if into is self.syncs and not sent.repeat:
            self._log_own_sync(step, message)
        # Empty content should be refused. It may be sent as a sync message, which is neither kept nor logged (AMB-34).
        empty = step.command == "send" and not message.content and not step.request.send.content
        if into is self.sent:
            self._ack_tracker.send(message.message_id, repeat=sent.repeat or empty)
        if into is self.sent and not sent.repeat:
            self._record_regular(step, message.message_id, message.lamport_timestamp)
            self._own[message.message_id] = sent
            self._last_broadcast[message.message_id] = step
            if empty:
                self._log.add_uncertain(message.message_id, message.lamport_timestamp, own=True)
            else:
                self._log.insert(message.message_id, message.lamport_timestamp, own=True)
            # the message has no timestamp (SDS-MSG-17), so its place in the log is unknown
            self._log_is_uncertain |= message.lamport_timestamp is None

    def _log_own_sync(self, step: Step, message: Message) -> None:
        if self.revision.syncs_are_logged:
            self._record_regular(step, message.message_id, message.lamport_timestamp)
            self._log.add_uncertain(message.message_id, message.lamport_timestamp, own=True)

    def _record_regular(self, step: Step, message_id: str, lamport: int | None, named: Iterable[str] = ()) -> None:
        """Record a regular message that was sent or received. If ``lamport`` is None, the message may be the newest in
        the log.
        """
        self.known_ids.add(message_id)
        self.kept_entries.enter(message_id, MAX_LAMPORT if lamport is None else lamport, named, step.index)

    def _read_observe(self, step: Step) -> None:
        if step.state is None:
            return
        outstanding = self._ack_tracker.outstanding
        evident = {ack.message_id for ack in self.acks} | {m.message_id for m in self.mentions}
        has_evidence = {
            message_id: message_id in evident or message_id in self.possible_evidence for message_id in outstanding
        }
        waiting, clock = frozenset(self._buffered), self._clock.expect(self._now(step))
        self.observed.append(Observed(step, step.state, tuple(self._log), has_evidence, waiting, clock))

    def _now(self, step: Step) -> Window:
        return clock_at(self.trace, step.now_ms)

    def _is_regular(self, kind: Kind) -> bool:
        return kind is Kind.CONTENT or (kind is Kind.SYNC and self.revision.syncs_are_logged)

    def _is_waiting(self, message_id: str) -> bool:
        return message_id in self._buffered or self._log.is_waiting_sync(message_id)


def channel_views(trace: Trace) -> list[ChannelView]:
    """Create a view for each participant and channel of a trace.

    If the conversation broke, the step without a reply is left out, so that no check takes it for a violation.
    """
    trace = trace.answered
    filters = KnownFilters(trace)
    views = [ChannelView(trace, party, where, filters) for party in trace.parties.values() for where in party.channels]
    together: dict[str, list[ChannelView]] = {}
    for view in views:
        view.views_in_channel = together.setdefault(view.channel_id, [])
        view.views_in_channel.append(view)
    return views

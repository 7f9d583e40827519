"""Channels of legal variants that take other steps where the specification leaves a choice.

Choices that need only other settings are fields of Config.
"""

from __future__ import annotations

from dataclasses import replace
from hashlib import blake2b
from types import MappingProxyType

from .bloom_profiles import FilterView
from .channel import Channel
from .effects import Effects, Lost, Missing
from .errors import MalformedMessageError, RefusedSendError
from .lamport_clock import LamportClock
from .local_log import LocalLog, LogEntry
from .message import MAX_LAMPORT, HistoryEntry, Kind, Message
from .outgoing_buffer import AckState, OutgoingEntry
from .participant import Participant
from .repair import Repair


class IdleAfterCopies(Channel):
    """Counts its own resends as "other messages [that] have been broadcast in the channel": they postpone its sync
    messages."""

    def sweep_outgoing(self, now_ms: int, effects: Effects) -> None:
        before = len(effects.broadcasts)
        super().sweep_outgoing(now_ms, effects)
        if len(effects.broadcasts) > before:
            self._quiet_since_ms = now_ms


class PossiblyAcknowledgedFirst(Channel):
    """Resends possibly acknowledged messages first within one tick.

    The specification gives priority to unacknowledged messages by distinct periods, but does not order the resends of
    one tick.
    """

    def sweep_outgoing(self, now_ms: int, effects: Effects) -> None:
        for entry in sorted(self.outgoing.take_due(now_ms), key=lambda entry: entry.state is AckState.UNACKNOWLEDGED):
            effects.broadcasts.append(self.rebroadcast(entry))
            self.schedule_resend(entry, now_ms)


class EphemeralMessagesSpeak(Channel):
    """Reviews the causal histories and filters that ephemeral messages have, as it does for other messages."""

    def receive_ephemeral(self, message: Message, effects: Effects) -> None:
        self.review_ack_status(message, effects, self._swept_ms)
        super().receive_ephemeral(message, effects)


class SignalsMissingOnce(Channel):
    """Signals each missing message only once: the application "MAY attempt to retrieve missing dependencies" after
    that."""

    _signalled: frozenset[str] = frozenset()

    def signal_missing(self, message: Message, unmet: set[str], effects: Effects) -> None:
        new = unmet - self._signalled
        self._signalled |= unmet
        if new:
            super().signal_missing(message, new, effects)


class SignalsAllThatIsMissing(Channel):
    """When a message must wait, signals all missing dependencies, including the dependencies of other waiting
    messages."""

    _named: MappingProxyType[str, HistoryEntry] = MappingProxyType({})

    def signal_missing(self, message: Message, unmet: set[str], effects: Effects) -> None:
        named = {**self._named, **{entry.message_id: entry for entry in message.causal_history}}
        missing = {name: entry for name, entry in named.items() if name not in self.log}
        self._named = MappingProxyType(missing)
        effects.events.append(Missing(self.channel_id, tuple(missing.values())))


class CopiesEnterTheFilter(Channel):
    """Inserts the ID of each duplicate into its filter again, even if a roll-over has removed that ID (AMB-112)."""

    def is_duplicate(self, message: Message) -> bool:
        known = super().is_duplicate(message)
        if known:
            self.insert_into_filter(message)
        return known


class SignalsAtTheSweep(Channel):
    """Signals missing dependencies at the next sweep, if they are still missing: the specification does not say
    when."""

    unsignalled: tuple[tuple[Message, set[str]], ...] = ()

    def signal_missing(self, message: Message, unmet: set[str], effects: Effects) -> None:
        self.unsignalled += ((message, unmet),)

    def sweep_incoming(self, now_ms: int, effects: Effects) -> None:
        unsignalled, self.unsignalled = self.unsignalled, ()
        for message, unmet in unsignalled:
            if still := {i for i in unmet if not self.has_arrived(i)}:
                super().signal_missing(message, still, effects)
        super().sweep_incoming(now_ms, effects)


class FindsMissingWhenSending(Channel):
    """Adds the unmet dependencies of waiting messages to the outgoing repair request buffer again when it has sent
    content: a request of another participant may have removed some of them (AMB-68)."""

    def send(
        self, content: bytes, now_ms: int, message_id: str | None = None, retrieval_hint: bytes | None = None
    ) -> Effects:
        effects = super().send(content, now_ms, message_id, retrieval_hint)
        if self.repair is not None:
            for waiting in self.incoming:
                self.repair.track_missing(waiting.message, now_ms)
        return effects


class LostOnceIsLostForAll(Channel):
    """Marks the dependency as lost (AMB-92): then no message waits for this dependency, not even a message that arrives
    later."""

    lost: frozenset[str] = frozenset()

    def unmet_dependencies(self, message: Message) -> set[str]:
        return super().unmet_dependencies(message) - self.lost

    def give_up_lost(self, received_ms: int, effects: Effects) -> None:
        before = len(effects.events)
        super().give_up_lost(received_ms, effects)
        lost = {i for event in effects.events[before:] if isinstance(event, Lost) for i in event.message_ids}
        self.lost |= lost
        for message_id in lost:
            self.incoming.mark_met(message_id)
        self.deliver_ready(effects)


class GivesUpMessages(Channel):
    """Marks the waiting message as lost, instead of the dependency that it waits for (AMB-92)."""

    def give_up_lost(self, received_ms: int, effects: Effects) -> None:
        waiting = {dependency: entry.message.message_id for entry in self.incoming for dependency in entry.unmet}
        before = len(effects.events)
        super().give_up_lost(received_ms, effects)
        effects.events[before:] = [
            replace(event, message_ids=(waiting[event.message_ids[0]],)) if isinstance(event, Lost) else event
            for event in effects.events[before:]
        ]


class LossTimersRestart(Channel):
    """When the clock steps back, restarts the time after which a dependency counts as lost (AMB-92)."""

    latest_ms = 0

    def sweep_incoming(self, now_ms: int, effects: Effects) -> None:
        if now_ms < self.latest_ms:
            for entry in self.incoming:
                entry.received_ms = min(entry.received_ms, now_ms)
        self.latest_ms = now_ms
        super().sweep_incoming(now_ms, effects)


class ClockAtFirstUse(Channel):
    """Initializes its clock at the first message: the specification does not say when to do it (AMB-111)."""

    used = False

    def begin(self, now_ms: int) -> None:
        if not self.used:
            self.clock = LamportClock(self.revision.lamport_floor(now_ms), self.revision.wire.max_lamport)
            self.used = True

    def receive(self, message: Message, now_ms: int, retrieval_hint: bytes | None = None) -> Effects:
        self.begin(now_ms)
        return super().receive(message, now_ms, retrieval_hint)

    def next_lamport(self, now_ms: int) -> int:
        self.begin(now_ms)
        return super().next_lamport(now_ms)


class OwnHints(Channel):
    """Computes each retrieval hint by itself, and never repeats the hints of others."""

    def causal_history(self) -> tuple[HistoryEntry, ...]:
        return tuple(
            replace(entry, retrieval_hint=blake2b(entry.message_id.encode(), digest_size=12).digest())
            for entry in super().causal_history()
        )


class OneHintForAll(Channel):
    """Has the same retrieval hint in all entries of causal histories, such as the name of the node that stores them."""

    def causal_history(self) -> tuple[HistoryEntry, ...]:
        return tuple(replace(entry, retrieval_hint=b"store-1") for entry in super().causal_history())


class SyncsWhileARequestIsDue(Channel):
    """Sends a sync message at every tick while a request is due (AMB-83)."""

    def sync_is_due(self, now_ms: int) -> bool:
        asks = self.config.sync_interval_ms is not None and self.has_requests(now_ms)
        return asks or super().sync_is_due(now_ms)


class IgnoresSyncsWithoutId(Channel):
    """Ignores sync messages with an empty ID (AMB-51)."""

    def receive(self, message: Message, now_ms: int, retrieval_hint: bytes | None = None) -> Effects:
        if message.kind is Kind.SYNC and not message.message_id:
            return Effects()
        return super().receive(message, now_ms, retrieval_hint)


class RequestsWithoutHints(Channel):
    """Sends no retrieval hints in requests: they are "optional", and a responder has the message and needs none."""

    def with_repair_request(self, message: Message, now_ms: int) -> Message:
        asking = super().with_repair_request(message, now_ms)
        requested = tuple(replace(entry, retrieval_hint=None) for entry in asking.repair_request)
        return replace(asking, repair_request=requested) if requested else asking


class AnswersForTheBuffered(Channel):
    """Also answers requests for messages that wait in its incoming buffer (AMB-71)."""

    def buffer(self, message: Message, unmet: set[str], now_ms: int, retrieval_hint: bytes | None) -> None:
        super().buffer(message, unmet, now_ms, retrieval_hint)
        if self.repair is not None and self.is_regular(message.kind):
            self.repair.cache_message(message)


class _Answering(Repair):
    """Leaves out a SHOULD: "SHOULD add any unmet causal dependencies to its outgoing repair request buffer"."""

    def track(self, entry: HistoryEntry, now_ms: int) -> None:
        pass


class AnswersRepairsOnly(Channel):
    """Answers repair requests, but retrieves its own missing messages by other means (AMB-141)."""

    repair_class = _Answering


class _AskingForAll(Repair):
    def may_request(self, message_id: str) -> bool:
        return not self.has_arrived(message_id)


class AsksForTheEmptyId(Channel):
    """Requests the empty ID that a causal history named: "SHOULD add any unmet causal dependencies" (AMB-46)."""

    repair_class = _AskingForAll


class _Asking(Repair):
    """Leaves out a SHOULD: "SHOULD add the request to its incoming repair request buffer"."""

    def accept_request(self, entry: HistoryEntry, now_ms: int) -> None:
        pass


class RequestsRepairsOnly(Channel):
    """Sends repair requests, but does not respond to any (AMB-141)."""

    repair_class = _Asking


class _Planning(Repair):
    """Leaves out a SHOULD, "SHOULD broadcast the corresponding Message from local history", and removes the request."""

    def take_responses(self, now_ms: int) -> list[Message]:
        super().take_responses(now_ms)
        return []


class OnlyPlansAnswers(Channel):
    """Schedules responses, and drops them when they are due."""

    repair_class = _Planning


class OneIdForAllSyncs(Channel):
    """Gives all sync messages of all participants one ID: they "MAY have non-unique message IDs" (AMB-43)."""

    def new_message_id(self, lamport: int | None, content: bytes) -> str:
        return super().new_message_id(lamport, content) if content else "sync"


class LastChannelFirst(Participant):
    """Does periodic work in its channels from last to first: the specification does not order them."""

    def tick(self, now_ms: int) -> Effects:
        effects = Effects()
        for channel in reversed(self.channels.values()):
            done = channel.tick(now_ms)
            effects.broadcasts += done.broadcasts
            effects.events += done.events
        return effects


class WorksAtSendsAndReceipts(Participant):
    """Runs its due timers also when it sends or receives, because these commands carry the time, as a tick does: the
    specification names no process that runs periodic work."""

    def send(
        self,
        channel_id: str,
        content: bytes,
        now_ms: int,
        message_id: str | None = None,
        retrieval_hint: bytes | None = None,
    ) -> Effects:
        done = self.tick(now_ms)
        return _join_effects(done, super().send(channel_id, content, now_ms, message_id, retrieval_hint))

    def receive(self, wire: bytes, now_ms: int, retrieval_hint: bytes | None = None) -> Effects:
        done = self.tick(now_ms)
        return _join_effects(done, super().receive(wire, now_ms, retrieval_hint))


class MonotonicClock(Participant):
    """Reads a clock that never goes back: it stands still until the wall clock has caught up (AMB-13)."""

    _latest_ms = 0

    def _read_clock(self, now_ms: int) -> int:
        self._latest_ms = max(self._latest_ms, now_ms)
        return self._latest_ms

    def join(self, channel_id: str, now_ms: int) -> None:
        super().join(channel_id, self._read_clock(now_ms))

    def send(
        self,
        channel_id: str,
        content: bytes,
        now_ms: int,
        message_id: str | None = None,
        retrieval_hint: bytes | None = None,
    ) -> Effects:
        return super().send(channel_id, content, self._read_clock(now_ms), message_id, retrieval_hint)

    def send_sync(self, channel_id: str, now_ms: int) -> Effects:
        return super().send_sync(channel_id, self._read_clock(now_ms))

    def receive(self, wire: bytes, now_ms: int, retrieval_hint: bytes | None = None) -> Effects:
        return super().receive(wire, self._read_clock(now_ms), retrieval_hint)

    def tick(self, now_ms: int) -> Effects:
        return super().tick(self._read_clock(now_ms))


def _join_effects(first: Effects, then: Effects) -> Effects:
    return Effects([*first.broadcasts, *then.broadcasts], [*first.events, *then.events], then.message_id)


class DeliversWhileSending(Channel):
    """Delivers waiting messages when it sends a message and at the sweep, but not when their dependencies arrive."""

    def send(
        self, content: bytes, now_ms: int, message_id: str | None = None, retrieval_hint: bytes | None = None
    ) -> Effects:
        effects = super().send(content, now_ms, message_id, retrieval_hint)
        self.deliver_ready(effects)
        return effects


class _ReplacingLog(LocalLog):
    def insert(self, entry: LogEntry) -> bool:
        before = self._entries.pop(entry.message_id, None)
        if before is not None:
            self._order.remove((self.sort_key(before), before.message_id))
        return super().insert(entry) and before is None


class LastVersionWins(Channel):
    """Replaces a logged message by another message that arrives with the same ID (AMB-25)."""

    log_class = _ReplacingLog

    def receive(self, message: Message, now_ms: int, retrieval_hint: bytes | None = None) -> Effects:
        logged = {entry.message_id for entry in self.log if entry.sender_id != self.participant_id}
        effects = super().receive(message, now_ms, retrieval_hint)
        if message.message_id in logged and self.is_regular(message.kind) and not self.is_own(message):
            self.witness_lamport(message.lamport_timestamp or 0)
            self.insert_into_log(message, retrieval_hint)
            if self.repair is not None:
                self.repair.cache_message(message)
        return effects


class ResendsAtFixedTimes(Channel):
    """Counts resend periods from the first broadcast: a late resend does not delay the next resend."""

    def schedule_resend(self, entry: OutgoingEntry, now_ms: int) -> None:
        before_ms = entry.due_ms
        super().schedule_resend(entry, now_ms)
        period_ms = entry.due_ms - now_ms
        if period_ms > 0 and 0 < before_ms <= now_ms:
            self.outgoing.reschedule(entry, now_ms + period_ms - (now_ms - before_ms) % period_ms)


class ReordersBroadcasts(Participant):
    """Reorders the messages that one step sends: the specification does not order them (AMB-126, AMB-142)."""

    def tick(self, now_ms: int) -> Effects:
        effects = super().tick(now_ms)
        effects.broadcasts = [*effects.broadcasts[1::2], *effects.broadcasts[::2]]
        return effects


class RefusesOtherChannels(Participant):
    """Rejects messages for channels that it has not joined (AMB-48)."""

    def receive(self, wire: bytes, now_ms: int, retrieval_hint: bytes | None = None) -> Effects:
        channel_id = self.config.revision.wire.decode(wire).channel_id
        if channel_id not in self.channels:
            raise MalformedMessageError(f"{channel_id!r} is not a channel of this participant")
        return super().receive(wire, now_ms, retrieval_hint)


class DropsUnusableMessages(Participant):
    """Drops unusable messages silently instead of rejecting them (AMB-49, AMB-51, AMB-52)."""

    def receive(self, wire: bytes, now_ms: int, retrieval_hint: bytes | None = None) -> Effects:
        try:
            return super().receive(wire, now_ms, retrieval_hint)
        except MalformedMessageError:
            return Effects()


class RefusesCopiesAndOwnMessages(Channel):
    """Rejects its own messages and duplicates, after it has processed them as required (AMB-23)."""

    def receive(self, message: Message, now_ms: int, retrieval_hint: bytes | None = None) -> Effects:
        known = self.is_own(message) or (message.kind is Kind.CONTENT and self.is_duplicate(message))
        effects = super().receive(message, now_ms, retrieval_hint)
        if known:
            raise MalformedMessageError(f"{message.message_id!r} is already known")
        return effects


class RefusesNonconformingMessages(Channel):
    """Rejects messages that no conforming sender would send (AMB-14, AMB-35, AMB-44, AMB-46, AMB-47, AMB-50)."""

    def receive(self, message: Message, now_ms: int, retrieval_hint: bytes | None = None) -> Effects:
        if message.kind is Kind.UNDEFINED:
            raise MalformedMessageError("the message has neither a Lamport timestamp nor content")
        return super().receive(message, now_ms, retrieval_hint)

    def refuse_unusable(self, message: Message, kind: Kind, now_ms: int) -> None:
        super().refuse_unusable(message, kind, now_ms)
        ids = {entry.message_id for entry in message.causal_history}
        entries = max(len(message.causal_history), len(message.repair_request))
        empty = not message.sender_id or "" in ids
        if empty or message.message_id in ids or entries > 200 or (message.lamport_timestamp or 0) > 1 << 62:
            raise MalformedMessageError(f"a conforming sender does not send a message like {message.message_id!r}")


class IgnoresWhatIsTooFarAhead(Channel):
    """Silently drops messages whose Lamport timestamp is beyond a declared bound (AMB-107)."""

    def receive(self, message: Message, now_ms: int, retrieval_hint: bytes | None = None) -> Effects:
        bound = self.config.max_lamport_ahead_ms
        if bound is not None and (message.lamport_timestamp or 0) > now_ms + bound:
            return Effects()
        return super().receive(message, now_ms, retrieval_hint)


class ReadsStartOfLongFilters(Channel):
    """Reads a filter that has extra bytes at its end, and ignores these bytes (AMB-53)."""

    def read_filter(self, message: Message) -> FilterView | None:
        cut = (message.bloom_filter or b"")[: self.parameters.byte_length]
        return super().read_filter(replace(message, bloom_filter=cut))


class EmptyFilterAtFirst(Channel):
    """Sends an empty ``bloom_filter`` field as long as its filter contains no ID (AMB-125)."""

    def compose(self, message_id: str, lamport: int, content: bytes | None) -> Message:
        message = super().compose(message_id, lamport, content)
        return message if any(message.bloom_filter or ()) else replace(message, bloom_filter=b"")


class Saturates(Channel):
    """Sends the largest Lamport timestamp again when it is reached, because none is larger (AMB-14)."""

    largest = MAX_LAMPORT

    def next_lamport(self, now_ms: int) -> int:
        if self.clock.value < self.largest:
            return super().next_lamport(now_ms)
        return self.clock.value

    def witness_lamport(self, lamport_timestamp: int) -> None:
        super().witness_lamport(min(lamport_timestamp, self.largest))


class SaturatesAt63Bits(Saturates):
    """Stores Lamport timestamps in signed 64-bit integers: 2^63-1 is the largest, whatever it receives."""

    largest = MAX_LAMPORT >> 1


class RefusesAbove63Bits(Channel):
    """Stores Lamport timestamps in signed 64-bit integers. Rejects larger ones, and refuses to send beyond 2^63-1."""

    def refuse_unusable(self, message: Message, kind: Kind, now_ms: int) -> None:
        super().refuse_unusable(message, kind, now_ms)
        if (message.lamport_timestamp or 0) > MAX_LAMPORT >> 1:
            raise MalformedMessageError("the Lamport timestamp is beyond 2^63-1")

    def next_lamport(self, now_ms: int) -> int:
        if self.clock.value >= MAX_LAMPORT >> 1:
            raise RefusedSendError("the Lamport timestamp has reached 2^63-1, the largest one")
        return super().next_lamport(now_ms)


class ResendsAHundred(Channel):
    """The specification sets no size for one sweep: this channel resends at most a hundred messages, and the others
    stay due."""

    def sweep_outgoing(self, now_ms: int, effects: Effects) -> None:
        due = self.outgoing.take_due(now_ms)
        for number, entry in enumerate(due):
            if number < 100:
                effects.broadcasts.append(self.rebroadcast(entry))
                self.schedule_resend(entry, now_ms)
            else:
                self.outgoing.reschedule(entry, now_ms)


class OneLevelASweep(Channel):
    """Delivers messages whose dependencies are met; messages that wait for these are delivered at the next sweep."""

    def deliver_ready(self, effects: Effects) -> None:
        ready = []
        while (entry := self.incoming.take_ready()) is not None:
            ready.append(entry)
        for entry in ready:
            self.deliver(entry.message, effects, entry.retrieval_hint)

"""Choices that the text leaves and that take other steps rather than other settings: channels of legal variants."""

from __future__ import annotations

from dataclasses import replace
from hashlib import blake2b

from .bloom_profiles import FilterView
from .channel import Channel
from .effects import Effects, Lost
from .errors import MalformedMessage, RefusedSend
from .lamport_clock import LamportClock
from .message import MAX_LAMPORT, HistoryEntry, Kind, Message
from .outgoing_buffer import AckState
from .participant import Participant
from .repair import Repair


class IdleAfterCopies(Channel):
    """Its own copies are "other messages [that] have been broadcast in the channel": a sync message waits for them."""

    def sweep_outgoing(self, now_ms: int, effects: Effects) -> None:
        before = len(effects.broadcasts)
        super().sweep_outgoing(now_ms, effects)
        if len(effects.broadcasts) > before:
            self._quiet_since_ms = now_ms


class PossiblyAcknowledgedFirst(Channel):
    """Distinct periods give unacknowledged messages their priority, and nothing is said of one tick."""

    def sweep_outgoing(self, now_ms: int, effects: Effects) -> None:
        for entry in sorted(self.outgoing.take_due(now_ms), key=lambda entry: entry.state is AckState.UNACKNOWLEDGED):
            effects.broadcasts.append(self.rebroadcast(entry))
            self.schedule_resend(entry, now_ms)


class EphemeralMessagesSpeak(Channel):
    """An ephemeral message with a history and a filter says what its sender has, as any message does."""

    def receive_ephemeral(self, message: Message, effects: Effects) -> None:
        self.review_ack_status(message, effects, self._swept_ms)
        super().receive_ephemeral(message, effects)


class SignalsAtTheSweep(Channel):
    """Nothing says when the application learns of missing dependencies: at the next sweep, if they still are."""

    unsaid: tuple[tuple[Message, set[str]], ...] = ()

    def signal_missing(self, message: Message, unmet: set[str], effects: Effects) -> None:
        self.unsaid += ((message, unmet),)

    def sweep_incoming(self, now_ms: int, effects: Effects) -> None:
        unsaid, self.unsaid = self.unsaid, ()
        for message, unmet in unsaid:
            if still := {i for i in unmet if not self.has_arrived(i)}:
                super().signal_missing(message, still, effects)
        super().sweep_incoming(now_ms, effects)


class LostForAll(Channel):
    """What is marked is the dependency (AMB-92): nothing waits for it any more, whenever it came."""

    lost: frozenset[str] = frozenset()

    def unmet_dependencies(self, message: Message) -> set[str]:
        return super().unmet_dependencies(message) - self.lost

    def give_up_lost(self, received_ms: int, effects: Effects) -> None:
        before = len(effects.events)
        super().give_up_lost(received_ms, effects)
        lost = {i for event in effects.events[before:] if isinstance(event, Lost) for i in event.message_ids}
        self.lost |= lost
        for message_id in lost:
            self.incoming.met(message_id)
        self.deliver_ready(effects)


class GivesUpMessages(Channel):
    """What is marked is the message that waits, and not what it waits for (AMB-92)."""

    def give_up_lost(self, received_ms: int, effects: Effects) -> None:
        waiting = {dependency: entry.message.message_id for entry in self.incoming for dependency in entry.unmet}
        before = len(effects.events)
        super().give_up_lost(received_ms, effects)
        effects.events[before:] = [
            replace(event, message_ids=(waiting[event.message_ids[0]],)) if isinstance(event, Lost) else event
            for event in effects.events[before:]
        ]


class ClockAtFirstUse(Channel):
    """Nothing says when the clock is "initialized to current epoch time": at the first message (AMB-111)."""

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
    """Where a message can be retrieved it knows by itself, and never repeats what others said of that."""

    def causal_history(self) -> tuple[HistoryEntry, ...]:
        return tuple(
            replace(entry, retrieval_hint=blake2b(entry.message_id.encode(), digest_size=12).digest())
            for entry in super().causal_history()
        )


class RequestsWithoutHints(Channel):
    """A retrieval hint is "optional": whoever answers a request has the message, and needs none."""

    def with_repair_request(self, message: Message, now_ms: int) -> Message:
        asking = super().with_repair_request(message, now_ms)
        requested = tuple(replace(entry, retrieval_hint=None) for entry in asking.repair_request)
        return replace(asking, repair_request=requested) if requested else asking


class AnswersForTheBuffered(Channel):
    """Whoever has a message can answer for it, whether it waits or not (AMB-71)."""

    def buffer(self, message: Message, unmet: set[str], now_ms: int, retrieval_hint: bytes | None) -> None:
        super().buffer(message, unmet, now_ms, retrieval_hint)
        if self.repair is not None and self.is_regular(message.kind):
            self.repair.remember(message)


class _Answering(Repair):
    """ "SHOULD add any unmet causal dependencies to its outgoing repair request buffer": this one does not."""

    def track(self, entry: HistoryEntry, now_ms: int) -> None:
        pass


class OnlyAnswers(Channel):
    """Takes part in SDS-R for others, and gets what it misses elsewhere (AMB-141)."""

    repair_class = _Answering


class _Asking(Repair):
    """ "SHOULD add the request to its incoming repair request buffer": this one does not."""

    def take_request(self, entry: HistoryEntry, now_ms: int) -> None:
        pass


class OnlyAsks(Channel):
    """Takes part in SDS-R for itself, and leaves answering to others (AMB-141)."""

    repair_class = _Asking


class _Planning(Repair):
    """ "SHOULD broadcast the corresponding Message from local history": this one does not, and the request is over."""

    def take_responses(self, now_ms: int) -> list[Message]:
        super().take_responses(now_ms)
        return []


class OnlyPlansAnswers(Channel):
    """Plans answers as it should, and drops them when they are due."""

    repair_class = _Planning


class OneIdForAllSyncs(Channel):
    """Sync messages "MAY have non-unique message IDs": all of everybody have the same (AMB-43)."""

    def new_message_id(self, lamport: int | None, content: bytes) -> str:
        return super().new_message_id(lamport, content) if content else "sync"


class LastChannelFirst(Participant):
    """Nothing says in which order the work in several channels is done."""

    def tick(self, now_ms: int) -> Effects:
        effects = Effects()
        for channel in reversed(self.channels.values()):
            done = channel.tick(now_ms)
            effects.broadcasts += done.broadcasts
            effects.events += done.events
        return effects


class MixesBroadcasts(Participant):
    """Nor does anything say in which order one step sends several messages (AMB-126, AMB-142)."""

    def tick(self, now_ms: int) -> Effects:
        effects = super().tick(now_ms)
        effects.broadcasts = [*effects.broadcasts[1::2], *effects.broadcasts[::2]]
        return effects


class RefusesOtherChannels(Participant):
    """A message for a channel that it has not joined is refused (AMB-48)."""

    def receive(self, wire: bytes, now_ms: int, retrieval_hint: bytes | None = None) -> Effects:
        channel_id = self.config.revision.wire.decode(wire).channel_id
        if channel_id not in self.channels:
            raise MalformedMessage(f"{channel_id!r} is no channel of this participant")
        return super().receive(wire, now_ms, retrieval_hint)


class IgnoresTheUnusable(Participant):
    """A message that cannot be used is dropped, and not refused (AMB-49, AMB-51, AMB-52)."""

    def receive(self, wire: bytes, now_ms: int, retrieval_hint: bytes | None = None) -> Effects:
        try:
            return super().receive(wire, now_ms, retrieval_hint)
        except MalformedMessage:
            return Effects()


class RefusesWhatItKnows(Channel):
    """To refuse is a way to ignore its own messages, and copies, once what is due has been done with these (AMB-23)."""

    def receive(self, message: Message, now_ms: int, retrieval_hint: bytes | None = None) -> Effects:
        known = self.is_own(message) or (message.kind is Kind.CONTENT and self.is_duplicate(message))
        effects = super().receive(message, now_ms, retrieval_hint)
        if known:
            raise MalformedMessage(f"{message.message_id!r} is known")
        return effects


class RefusesTheOdd(Channel):
    """What no conforming sender would have sent may be refused (AMB-14, AMB-35, AMB-44, AMB-46, AMB-47, AMB-50)."""

    def receive(self, message: Message, now_ms: int, retrieval_hint: bytes | None = None) -> Effects:
        if message.kind is Kind.UNDEFINED:
            raise MalformedMessage("neither a Lamport timestamp nor content")
        return super().receive(message, now_ms, retrieval_hint)

    def refuse_unusable(self, message: Message, kind: Kind, now_ms: int) -> None:
        super().refuse_unusable(message, kind, now_ms)
        ids = {entry.message_id for entry in message.causal_history}
        entries = max(len(message.causal_history), len(message.repair_request))
        empty = not message.sender_id or "" in ids
        if empty or message.message_id in ids or entries > 200 or (message.lamport_timestamp or 0) > 1 << 62:
            raise MalformedMessage(f"{message.message_id!r} is odd")


class IgnoresWhatIsTooFarAhead(Channel):
    """Messages beyond a declared bound may be dropped silently (AMB-107)."""

    def receive(self, message: Message, now_ms: int, retrieval_hint: bytes | None = None) -> Effects:
        bound = self.config.max_lamport_ahead_ms
        if bound is not None and (message.lamport_timestamp or 0) > now_ms + bound:
            return Effects()
        return super().receive(message, now_ms, retrieval_hint)


class ReadsTheFront(Channel):
    """A filter with something behind it is there all the same (AMB-53)."""

    def filter_in(self, message: Message) -> FilterView | None:
        cut = (message.bloom_filter or b"")[: self.parameters.byte_length]
        return super().filter_in(replace(message, bloom_filter=cut))


class EmptyFilterAtFirst(Channel):
    """A filter that holds nothing needs no bytes (AMB-125)."""

    def compose(self, message_id: str, lamport: int, content: bytes | None) -> Message:
        message = super().compose(message_id, lamport, content)
        return message if any(message.bloom_filter or ()) else replace(message, bloom_filter=b"")


class Saturates(Channel):
    """Nothing can follow the largest timestamp: that is sent again (AMB-14)."""

    largest = MAX_LAMPORT

    def next_lamport(self, now_ms: int) -> int:
        if self.clock.value < self.largest:
            return super().next_lamport(now_ms)
        return self.clock.value

    def witness_lamport(self, lamport_timestamp: int) -> None:
        super().witness_lamport(min(lamport_timestamp, self.largest))


class SaturatesWithASign(Saturates):
    """In 64 bits with a sign, the largest is 2^63-1, whatever is received."""

    largest = MAX_LAMPORT >> 1


class RefusesBeyondTheSign(Channel):
    """Timestamps that have no room in 64 bits with a sign are refused, and so is to send what would have one."""

    def refuse_unusable(self, message: Message, kind: Kind, now_ms: int) -> None:
        super().refuse_unusable(message, kind, now_ms)
        if (message.lamport_timestamp or 0) > MAX_LAMPORT >> 1:
            raise MalformedMessage("a timestamp beyond 2^63-1")

    def next_lamport(self, now_ms: int) -> int:
        if self.clock.value >= MAX_LAMPORT >> 1:
            raise RefusedSend("nothing can follow 2^63-1")
        return super().next_lamport(now_ms)


class ResendsAHundred(Channel):
    """The text does not say how much one sweep does: here it sends a hundred copies, and the others stay due."""

    def sweep_outgoing(self, now_ms: int, effects: Effects) -> None:
        due = self.outgoing.take_due(now_ms)
        for number, entry in enumerate(due):
            if number < 100:
                effects.broadcasts.append(self.rebroadcast(entry))
                self.schedule_resend(entry, now_ms)
            else:
                self.outgoing.reschedule(entry, now_ms)


class OneLevelASweep(Channel):
    """It delivers messages whose dependencies are met; messages that wait for these are delivered at the next sweep."""

    def deliver_ready(self, effects: Effects) -> None:
        ready = []
        while (entry := self.incoming.take_ready()) is not None:
            ready.append(entry)
        for entry in ready:
            self.deliver(entry.message, effects, entry.retrieval_hint)

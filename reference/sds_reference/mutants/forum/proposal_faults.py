"""Faults under the proposal of 2024: faults in its own rules, and faults in rules that SDS has as well."""

from __future__ import annotations

from dataclasses import replace

from ...bloom_filter import RollingBloomFilter
from ...channel import Channel
from ...config import Config
from ...effects import Effects, Lost
from ...errors import MalformedMessageError
from ...lamport_clock import LamportClock
from ...message import MAX_LAMPORT, HistoryEntry, Kind, Message
from ...outgoing_buffer import OutgoingEntry
from ...participant import Participant
from ...wire_fields import LEN, WireField, join, split
from ...wire_formats import V2026_01
from ..core.message import renumber_field
from ..registry import MUTANTS, add_again, add_configured, fault, mutant, omit, register_faults

FIVE_MINUTES_MS = 300_000


# ---- Encoding --------------------------------------------------------------------------------------------------------


@register_faults
class _Wire(Channel):
    @fault(Channel.encode, "FORUM-01", "encodes messages with the fields of SDS")
    def writes_fields_of_sds(self, message: Message) -> bytes:
        return V2026_01.encode(message)

    @fault(Channel.refuse_unusable, "FORUM-01", "rejects messages of the proposal without a causal history")
    def refuses_empty_histories(self, message: Message, kind: Kind, now_ms: int) -> None:
        super().refuse_unusable(message, kind, now_ms)
        if not message.causal_history:
            raise MalformedMessageError("the causal history is empty")

    @fault(Channel.encode, "FORUM-01", "encodes its sender ID twice")
    def sender_twice_on_the_wire(self, message: Message) -> bytes:
        return super().encode(message) + join([WireField(1, LEN, message.sender_id.encode())])

    @fault(Channel.encode, "FORUM-04", "sets a bit above the 32 bits of the Lamport timestamp")
    def flag_above_the_timestamp(self, message: Message) -> bytes:
        fields = split(super().encode(message))
        return join(
            replace(f, value=f.value | 1 << 32) if f.number == 3 and isinstance(f.value, int) else f for f in fields
        )

    @fault(Channel.encode, "FORUM-04", "encodes Lamport timestamps in field 10")
    def lamport_in_field10(self, message: Message) -> bytes:
        return renumber_field(super().encode(message), 3, 10)

    @fault(Channel.encode, "FORUM-05", "encodes the entries of causal histories as messages")
    def entries_as_messages(self, message: Message) -> bytes:
        fields = split(super().encode(message))
        return join(replace(f, value=join([WireField(1, LEN, f.value)])) if f.number == 4 else f for f in fields)

    @fault(Channel.encode, "FORUM-06", "encodes the channel in field 8")
    def channel_in_field8(self, message: Message) -> bytes:
        return renumber_field(super().encode(message), 5, 8)


add_again(
    "no-filter-at-first",
    "no-filter-of-the-proposal-at-first",
    "omits the filter of the proposal until it has received a message",
    requirement="FORUM-07",
)


@mutant("FORUM-08", "converts the content that it delivers to upper case")
class CapitalisesContent(Channel):
    def receive(self, message: Message, now_ms: int, retrieval_hint: bytes | None = None) -> Effects:
        content = message.content.upper() if message.content else message.content
        return super().receive(replace(message, content=content), now_ms, retrieval_hint)


# ---- Lamport timestamps ----------------------------------------------------------------------------------------------


@register_faults
class _Lamport(Channel):
    _odd = False

    @fault(Channel.__init__, "FORUM-09", "starts its Lamport timestamp at the current time")
    def starts_at_the_clock(self, participant_id: str, channel_id: str, config: Config, now_ms: int) -> None:
        super().__init__(participant_id, channel_id, config, now_ms)
        self.clock = LamportClock(now_ms, self.revision.wire.max_lamport)

    @fault(
        Channel.next_lamport,
        "FORUM-09",
        "sends the current time as its Lamport timestamp if the current time is larger",
    )
    def sends_the_time_when_ahead(self, now_ms: int) -> int:
        return self.clock.next(now_ms)

    @fault(Channel.next_lamport, "FORUM-15", "increases its Lamport timestamp only for every other message")
    def increases_every_other_message(self, now_ms: int) -> int:
        self._odd = not self._odd
        return super().next_lamport(now_ms) if self._odd else self.clock.value

    @fault(Channel.next_lamport, "FORUM-23", "restarts its Lamport timestamp at 0 when it reaches the largest value")
    def restarts_at_zero_at_the_maximum(self, now_ms: int) -> int:
        if self.clock.value >= self.revision.wire.max_lamport:
            self.clock.value = 0
        return super().next_lamport(now_ms)

    increases_by_own_messages_only = omit(
        Channel.witness_lamport, "FORUM-23", "increases its Lamport timestamp only for its own messages"
    )


@mutant("FORUM-04", "continues beyond 31 bits with an unsigned Lamport timestamp")
class CountsPastTheLargest(Channel):
    def __init__(self, participant_id: str, channel_id: str, config: Config, now_ms: int) -> None:
        super().__init__(participant_id, channel_id, config, now_ms)
        self.clock = LamportClock(0)

    def encode(self, message: Message) -> bytes:
        lamport = message.lamport_timestamp or 0
        if lamport <= self.revision.wire.max_lamport:
            return super().encode(message)
        fields = split(super().encode(replace(message, lamport_timestamp=0)))
        return join(replace(f, value=lamport) if f.number == 3 else f for f in fields)


@mutant("FORUM-17", "reads negative Lamport timestamps as unsigned integers of 32 bits")
class ReadsUnsignedTimestamps(Participant):
    def receive(self, wire: bytes, now_ms: int, retrieval_hint: bytes | None = None) -> Effects:
        fields = split(wire)
        lamport = next((f.value & 0xFFFF_FFFF for f in fields if f.number == 3 and isinstance(f.value, int)), 0)
        if lamport <= self.config.revision.wire.max_lamport:
            return super().receive(wire, now_ms, retrieval_hint)
        without = join(replace(f, value=0) if f.number == 3 else f for f in fields)
        message = replace(self.config.revision.wire.decode(without), lamport_timestamp=lamport)
        return self.channel(message.channel_id).receive(message, now_ms, retrieval_hint)


@mutant("FORUM-16", "inserts messages with negative Lamport timestamps at the end of its log")
class SortsNegativeTimestampsLast(ReadsUnsignedTimestamps):
    def receive(self, wire: bytes, now_ms: int, retrieval_hint: bytes | None = None) -> Effects:
        clocks = [(channel.clock, channel.clock.value) for channel in self.channels.values()]
        effects = super().receive(wire, now_ms, retrieval_hint)
        for clock, value in clocks:
            if clock.value > self.config.revision.wire.max_lamport:
                clock.value = value
        return effects


# ---- Sync messages ---------------------------------------------------------------------------------------------------


@register_faults
class _Syncs(Channel):
    @fault(Channel.next_sync_lamport, "FORUM-35", "sends sync messages with the previous Lamport timestamp")
    def sync_uses_previous_timestamp(self, now_ms: int) -> int:
        return max(0, super().next_sync_lamport(now_ms) - 1)

    @fault(Channel.next_sync_lamport, "FORUM-35", "increases its Lamport timestamp for sync messages")
    def sync_increases_the_timestamp(self, now_ms: int) -> int:
        return self.next_lamport(now_ms)

    @fault(
        Channel.next_sync_lamport,
        "FORUM-35",
        "increases its timestamp for a sync message if the last message in the log is from another participant",
    )
    def sync_after_receptions_increases(self, now_ms: int) -> int:
        last = max(self.log, key=lambda entry: entry.lamport_timestamp, default=None)
        foreign = last is not None and last.sender_id != self.participant_id
        return self.next_lamport(now_ms) if foreign else self.clock.value

    @fault(Channel.next_sync_lamport, "FORUM-35", "sends sync messages with the timestamp of its last message")
    def sync_has_the_timestamp_of_the_last_own(self, now_ms: int) -> int:
        own = (entry.lamport_timestamp for entry in self.log if entry.sender_id == self.participant_id)
        return max(own, default=0)

    @fault(Channel.insert_into_filter, "FORUM-20", "keeps sync messages out of its filter")
    def keeps_syncs_out_of_the_filter(self, message: Message) -> None:
        if message.kind is not Kind.SYNC:
            super().insert_into_filter(message)

    @fault(Channel.deliver, "FORUM-37", "does not log sync messages")
    def does_not_log_syncs(self, message: Message, effects: Effects, retrieval_hint: bytes | None) -> None:
        if message.kind is Kind.SYNC:
            self.witness_lamport(message.lamport_timestamp or 0)
        else:
            super().deliver(message, effects, retrieval_hint)

    @fault(Channel.buffer, "FORUM-37", "drops sync messages that have to wait")
    def drops_waiting_syncs(self, message: Message, unmet: set[str], now_ms: int, retrieval_hint: bytes | None) -> None:
        if message.kind is not Kind.SYNC:
            super().buffer(message, unmet, now_ms, retrieval_hint)

    @fault(Channel.deliver, "FORUM-37", "does not update its clock when it logs sync messages")
    def syncs_do_not_update_the_clock(self, message: Message, effects: Effects, retrieval_hint: bytes | None) -> None:
        before = self.clock.value
        super().deliver(message, effects, retrieval_hint)
        if message.kind is Kind.SYNC:
            self.clock.value = before


@mutant("FORUM-03", "sends sync messages with the ID of its last message")
class SyncsHaveTheLastId(Channel):
    _last = ""

    def new_message_id(self, lamport: int | None, content: bytes) -> str:
        if content or not self._last:
            self._last = super().new_message_id(lamport, content)
        return self._last


@mutant("FORUM-03", "computes the IDs of sync messages only from its own ID and their timestamps")
class SyncIdsFromTimestamps(Channel):
    def new_message_id(self, lamport: int | None, content: bytes) -> str:
        return super().new_message_id(lamport, content) if content else f"sync-{self.participant_id}-{lamport}"


# ---- Periodic sweeps, and other rules of the proposal ----------------------------------------------------------------


@mutant("FORUM-31", "never marks dependencies as lost, although a period is configured")
class NeverMarksAsLost(Channel):
    def give_up_lost(self, received_ms: int, effects: Effects) -> None:
        pass


@mutant("FORUM-31", "marks dependencies as lost only once in a channel")
class MarksAsLostOnce(Channel):
    _marked = False

    def give_up_lost(self, received_ms: int, effects: Effects) -> None:
        if not self._marked:
            super().give_up_lost(received_ms, effects)
            self._marked = any(isinstance(event, Lost) for event in effects.events)


@mutant("FORUM-31", "reports only one of several dependencies that are lost")
class ReportsOneOfTheLost(Channel):
    def give_up_lost(self, received_ms: int, effects: Effects) -> None:
        super().give_up_lost(received_ms, effects)
        effects.events = [
            Lost(event.channel_id, event.message_ids[:1]) if isinstance(event, Lost) else event
            for event in effects.events
        ]


@mutant("FORUM-31", "gives up only one waiting message in a sweep")
class GivesUpOneInASweep(Channel):
    def give_up_lost(self, received_ms: int, effects: Effects) -> None:
        given_up = self.incoming.take_older(received_ms)
        for entry in given_up[1:]:
            self.incoming.add(entry)
        if given_up:
            effects.events.append(Lost(self.channel_id, tuple(sorted(given_up[0].unmet))))


@mutant(
    "FORUM-31", "never gives up dependencies of a sync message, or of messages that arrive after a waiting sync message"
)
class KeepsWaitingSyncs(Channel):
    def buffer(self, message: Message, unmet: set[str], now_ms: int, retrieval_hint: bytes | None) -> None:
        received_ms = MAX_LAMPORT if message.kind is Kind.SYNC else now_ms
        super().buffer(message, unmet, received_ms, retrieval_hint)


@mutant("FORUM-40", "keeps only messages of the last five minutes in its filter")
class FiltersFiveMinutes(Channel):
    _newest: tuple[tuple[int, str], ...] = ()

    def receive(self, message: Message, now_ms: int, retrieval_hint: bytes | None = None) -> Effects:
        effects = super().receive(message, now_ms, retrieval_hint)
        if message.message_id in self.filter:
            self._newest += ((now_ms, message.message_id),)
        return effects

    def compose(self, message_id: str, lamport: int, content: bytes | None) -> Message:
        fresh = RollingBloomFilter(self.config.bloom_profile, self.parameters, self.config.bloom_retained_ids)
        latest = max((at for at, _ in self._newest), default=0)
        for at, known in self._newest:
            if at > latest - FIVE_MINUTES_MS:
                fresh.insert(known)
        self.filter = fresh
        return super().compose(message_id, lamport, content)


add_configured(
    "lists-five-by-default", "FORUM-41", "lists five messages in a causal history by default", causal_history_size=5
)


@mutant(
    "FORUM-44",
    "sends a sync message when a content message has the Lamport timestamp of a logged message",
    out_of_reach="the check only reports a note, because the specification states a preference",
)
class AnnouncesTies(Channel):
    def receive(self, message: Message, now_ms: int, retrieval_hint: bytes | None = None) -> Effects:
        tied = any(entry.lamport_timestamp == message.lamport_timestamp for entry in self.log)
        effects = super().receive(message, now_ms, retrieval_hint)
        if tied and message.kind is Kind.CONTENT and effects.events:
            effects.broadcasts += self.send_sync(now_ms).broadcasts
        return effects


# ---- Causal histories, rebroadcasts and ephemeral messages -----------------------------------------------------------


@register_faults
class _HistoriesAndCopies(Channel):
    @fault(Channel.causal_history, "FORUM-17", "lists one message more than configured in a causal history")
    def one_entry_too_many(self) -> tuple[HistoryEntry, ...]:
        return tuple(HistoryEntry(e.message_id) for e in self.log.last_entries(self.config.causal_history_size + 1))

    @fault(Channel.rebroadcast, "FORUM-32", "rebroadcasts without the causal history")
    def copies_without_a_history(self, entry: OutgoingEntry) -> bytes:
        return super().encode(replace(self.revision.wire.decode(entry.wire), causal_history=()))

    @fault(Channel.rebroadcast, "FORUM-32", "rebroadcasts only the first byte of the content")
    def copies_with_less_content(self, entry: OutgoingEntry) -> bytes:
        message = self.revision.wire.decode(entry.wire)
        return super().encode(replace(message, content=(message.content or b"")[:1]))


@mutant("FORUM-39", "delays ephemeral messages until the next sweep")
class KeepsEphemeralsForTheSweep(Channel):
    _kept: tuple[Message, ...] = ()

    def receive_ephemeral(self, message: Message, effects: Effects) -> None:
        self._kept += (message,)

    def sweep_incoming(self, now_ms: int, effects: Effects) -> None:
        kept, self._kept = self._kept, ()
        for message in kept:
            super().receive_ephemeral(message, effects)
        super().sweep_incoming(now_ms, effects)


# ---- Faults in rules of both revisions -------------------------------------------------------------------------------


SHARED: dict[str, tuple[str, ...]] = {
    "FORUM-01": ("ephemerals-end-in-a-newline",),
    "FORUM-02": ("normalised-sender", "anonymous-ephemerals"),
    "FORUM-03": ("upper-case-id", "id-without-sender", "ephemerals-without-an-id"),
    "FORUM-04": ("zero-is-unset",),
    "FORUM-06": ("channels-ignoring-case", "mixed-histories"),
    "FORUM-07": ("syncs-with-an-empty-filter",),
    "FORUM-08": ("without-zero-bytes", "trimmed-ephemerals"),
    "FORUM-09": ("one-clock-for-all",),
    "FORUM-10": ("filter-omits-every-third", "filters-the-missing"),
    "FORUM-11": ("starts-as-possibly-acknowledged", "unseen-starts-as-possibly-acknowledged"),
    "FORUM-12": ("buffer-of-one", "unseen-buffer-of-one"),
    "FORUM-13": ("any-message-acknowledges", "sent-is-acknowledged"),
    "FORUM-14": ("keeps-acknowledged-outgoing",),
    "FORUM-16": ("history-by-arrival",),
    "FORUM-17": ("sync-without-filter", "copies-without-a-filter", "silent-while-waiting", "sends-at-the-sweep"),
    "FORUM-18": ("does-not-buffer-outgoing", "unseen-does-not-buffer-outgoing"),
    "FORUM-19": ("reviews-on-delivery", "syncs-do-not-acknowledge"),
    "FORUM-20": ("filter-on-delivery", "frozen-filter", "stops-when-full", "private-stops-when-full"),
    "FORUM-21": ("loses-foreign-filters", "drops-everything", "delivers-placeholders", "delivers-at-the-sweep"),
    "FORUM-22": ("first-dependency-only", "drops-the-unmet", "refuses-the-unmet", "names-the-waiting"),
    "FORUM-24": ("logs-nothing-with-dependencies", "log-by-arrival"),
    "FORUM-25": ("ties-ignoring-case", "highest-hash-first", "own-last-among-equals", "ties-by-arrival"),
    "FORUM-26": ("acknowledges-the-first", "acknowledges-strangers"),
    "FORUM-27": ("ignores-filters", "returns-to-unacknowledged", "acknowledges-after-one-filter-hit"),
    "FORUM-29": ("sweeps-only-the-oldest", "checks-on-arrival", "one-level-only"),
    "FORUM-31": ("gives-up-early", "gives-up-although-not-configured"),
    "FORUM-32": ("rebroadcasts-once", "rebroadcasts-always", "restamped-copies", "numbered-copies", "anonymous-copies"),
    "FORUM-33": ("one-resend-period",),
    "FORUM-34": (
        *("never-syncs", "two-syncs-are-enough", "sync-with-content", "syncs-at-every-tick"),
        "syncs-restart-no-interval",
    ),
    "FORUM-37": ("ignores-sync-filters",),
    "FORUM-38": ("ephemeral-with-filter", "ephemeral-with-history", "ephemeral-with-timestamp"),
    "FORUM-39": (
        *("buffers-ephemerals", "drops-ephemerals-while-others-wait", "refuses-all-ephemerals"),
        "drops-ephemerals-in-the-filter",
    ),
    "FORUM-45": ("delivers-children-first",),
}
"""Requirements of the proposal, each with mutants of SDS that violate it as well."""

for _requirement, _names in SHARED.items():
    for _name in _names:
        _summary = f"{MUTANTS[_name].summary}, in the proposal of 2024"
        add_again(_name, f"forum-{_name}", _summary, requirement=_requirement)

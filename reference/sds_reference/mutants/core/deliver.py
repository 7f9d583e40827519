"""Faults in delivery (DELIVER) and in the order of the log (CONFLICT)."""

from __future__ import annotations

from typing import Any

from ...channel import Channel
from ...config import Config
from ...effects import Effects
from ...local_log import LocalLog, LogEntry
from ...message import Message
from ..registry import add_log_order, fault, mutant, omit, register_faults


@register_faults
class _Delivering(Channel):
    keeps_clock_on_delivery = omit(Channel.witness_lamport, "DELIVER-01", "does not update its clock on delivery")

    @fault(
        Channel.witness_lamport,
        "DELIVER-02",
        "sets its clock to the timestamp of each delivered message, even if it is lower",
    )
    def sets_clock_back_on_delivery(self, lamport_timestamp: int) -> None:
        self.clock.value = lamport_timestamp

    @fault(
        Channel.insert_into_filter,
        "DELIVER-03",
        "updates its clock when a message arrives, not when it delivers the message",
    )
    def updates_clock_on_reception(self, message: Message) -> None:
        super().insert_into_filter(message)
        self.clock.witness(message.lamport_timestamp or 0)

    @fault(Channel.is_duplicate, "DELIVER-03", "updates its clock when a duplicate of a waiting message arrives")
    def updates_clock_on_copies(self, message: Message) -> bool:
        if message.message_id in self.incoming:
            self.clock.witness(message.lamport_timestamp or 0)
        return super().is_duplicate(message)

    @fault(Channel.deliver, "DELIVER-07", "delivers waiting messages before their dependencies")
    def delivers_children_first(self, message: Message, effects: Effects, retrieval_hint: bytes | None) -> None:
        self.incoming.mark_met(message.message_id)
        self.deliver_ready(effects)
        super().deliver(message, effects, retrieval_hint)


class _KeepsCopies(LocalLog):
    def insert(self, entry: LogEntry) -> bool:
        if entry.message_id in self:
            self._order.add((self.sort_key(entry), entry.message_id))
            return False
        return super().insert(entry)


class _OwnLast(LocalLog):
    owner = ""

    def sort_key(self, entry: LogEntry) -> Any:
        return (entry.lamport_timestamp, entry.sender_id == self.owner)


def _highest_hash_first(log: LocalLog, entry: LogEntry) -> Any:
    try:
        return (entry.lamport_timestamp, -int(entry.message_id, 16) if len(entry.message_id) >= 8 else 0)
    except ValueError:
        return (entry.lamport_timestamp, 0)


add_log_order("log-by-arrival", "DELIVER-04", "appends to its log in the order of arrival", lambda log, entry: len(log))
add_log_order(
    "ties-at-zero-by-arrival",
    "CONFLICT-01",
    "orders messages with the timestamp 0 by arrival",
    lambda log, entry: (entry.lamport_timestamp, len(log) if not entry.lamport_timestamp else 0),
)
add_log_order(
    "ties-by-arrival",
    "DELIVER-05",
    "orders messages with equal timestamps by arrival",
    lambda log, entry: (entry.lamport_timestamp, len(log)),
)


@register_faults
class _DeliveringTheReady(Channel):
    @fault(Channel.deliver_ready, "DELIVER-06", "signals a delivery twice if the message waited")
    def delivers_waiting_messages_twice(self, effects: Effects) -> None:
        while (entry := self.incoming.take_ready()) is not None:
            if entry.regular:
                self.deliver(entry.message, effects, entry.retrieval_hint)
                effects.events += effects.events[-1:] if entry.message.content else []


@mutant("DELIVER-06", "logs a message again each time it arrives")
class LogsCopies(Channel):
    log_class = _KeepsCopies

    def receive(self, message: Message, now_ms: int, retrieval_hint: bytes | None = None) -> Effects:
        known = message.message_id in self.log and not self.is_own(message) and bool(message.content)
        effects = super().receive(message, now_ms, retrieval_hint)
        if known and message.lamport_timestamp is not None:
            self.insert_into_log(message, retrieval_hint)
        return effects


@mutant("DELIVER-06", "logs a message again if another message with its ID and another timestamp arrives")
class LogsVersionsOfMessages(Channel):
    log_class = _KeepsCopies

    def receive(self, message: Message, now_ms: int, retrieval_hint: bytes | None = None) -> Effects:
        known = {entry.lamport_timestamp for entry in self.log if entry.message_id == message.message_id}
        effects = super().receive(message, now_ms, retrieval_hint)
        if known and message.lamport_timestamp not in known and not self.is_own(message) and message.content:
            self.insert_into_log(message, retrieval_hint)
        return effects


add_log_order(
    "ties-ignoring-case",
    "CONFLICT-01",
    "ignores case when it orders IDs",
    lambda log, entry: (entry.lamport_timestamp, entry.message_id.casefold()),
)
add_log_order(
    "highest-hash-first",
    "CONFLICT-02",
    "orders IDs of eight or more hex digits from the highest to the lowest",
    _highest_hash_first,
)


add_log_order(
    "log-in-utf16",
    "CONFLICT-03",
    "orders IDs by their UTF-16 code units",
    lambda log, entry: (entry.lamport_timestamp, entry.message_id.encode("utf-16-be")),
)


@mutant("CONFLICT-03", "orders its own messages after other messages with equal timestamps")
class OwnLastAmongEquals(Channel):
    def __init__(self, participant_id: str, channel_id: str, config: Config, now_ms: int) -> None:
        super().__init__(participant_id, channel_id, config, now_ms)
        self.log = log = _OwnLast()
        log.owner = participant_id


class _KeepsItsClock(Channel):
    """Does not update its clock when it delivers some messages."""

    def is_overlooked(self, message: Message) -> bool:
        raise NotImplementedError

    def deliver(self, message: Message, effects: Effects, retrieval_hint: bytes | None) -> None:
        before = self.clock.value
        super().deliver(message, effects, retrieval_hint)
        if self.is_overlooked(message):
            self.clock.value = before


@mutant("DELIVER-01", "does not update its clock when it delivers contents of more than a thousand bytes")
class KeepsItsClockAfterLongContents(_KeepsItsClock):
    def is_overlooked(self, message: Message) -> bool:
        return len(message.content or b"") > 1_000


@mutant("DELIVER-01", "does not update its clock when it delivers messages with more than four dependencies")
class KeepsItsClockAfterLongHistories(_KeepsItsClock):
    def is_overlooked(self, message: Message) -> bool:
        return len(message.causal_history) > 4


@mutant("DELIVER-01", "does not update its clock when it delivers messages that are more than an hour old")
class KeepsItsClockAfterOldMessages(_KeepsItsClock):
    now_ms = 0

    def receive(self, message: Message, now_ms: int, retrieval_hint: bytes | None = None) -> Effects:
        self.now_ms = now_ms
        return super().receive(message, now_ms, retrieval_hint)

    def is_overlooked(self, message: Message) -> bool:
        return (message.lamport_timestamp or 0) < self.now_ms - 3_600_000

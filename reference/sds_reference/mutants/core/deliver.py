"""Faults of sections DELIVER and CONFLICT: the clock, the log and the order."""

from __future__ import annotations

from typing import Any

from ...channel import Channel
from ...config import Config
from ...effects import Effects
from ...local_log import LocalLog, LogEntry
from ...message import Message
from ..registry import mutant


@mutant("SDS-DELIVER-01", "does not move its clock on delivery")
class DeafClock(Channel):
    def witness_lamport(self, lamport_timestamp: int) -> None:
        pass


@mutant("SDS-DELIVER-02", "takes over lower timestamps, too")
class ClockFalls(Channel):
    def witness_lamport(self, lamport_timestamp: int) -> None:
        self.clock.value = lamport_timestamp


@mutant("SDS-DELIVER-03", "moves its clock on reception")
class HastyClock(Channel):
    def insert_into_filter(self, message: Message) -> None:
        super().insert_into_filter(message)
        self.clock.witness(message.lamport_timestamp or 0)


@mutant("SDS-DELIVER-07", "delivers what waits before what it waited for")
class DeliversChildrenFirst(Channel):
    def deliver(self, message: Message, effects: Effects, retrieval_hint: bytes | None) -> None:
        self.incoming.met(message.message_id)
        self.deliver_ready(effects)
        super().deliver(message, effects, retrieval_hint)


class _PartialLog(LocalLog):
    """A log whose order may look at the number of entries and at their owner."""

    owner = ""


class _ByArrival(_PartialLog):
    def place(self, entry: LogEntry) -> Any:
        return len(self)


class _TiesByArrival(_PartialLog):
    def place(self, entry: LogEntry) -> Any:
        return (entry.lamport_timestamp, len(self))


class _TiesIgnoringCase(_PartialLog):
    def place(self, entry: LogEntry) -> Any:
        return (entry.lamport_timestamp, entry.message_id.casefold())


class _HighestHashFirst(_PartialLog):
    def place(self, entry: LogEntry) -> Any:
        try:
            return (entry.lamport_timestamp, -int(entry.message_id, 16) if len(entry.message_id) >= 8 else 0)
        except ValueError:
            return (entry.lamport_timestamp, 0)


class _OwnLast(_PartialLog):
    def place(self, entry: LogEntry) -> Any:
        return (entry.lamport_timestamp, entry.sender_id == self.owner)


class _KeepsCopies(_PartialLog):
    def insert(self, entry: LogEntry) -> bool:
        if entry.message_id in self:
            self._order.add((self.place(entry), entry.message_id.encode()))
            return False
        return super().insert(entry)


class _WithLog(Channel):
    log_class: type[_PartialLog] = _PartialLog

    def __init__(self, participant_id: str, channel_id: str, config: Config, now_ms: int) -> None:
        super().__init__(participant_id, channel_id, config, now_ms)
        log = self.log_class()
        log.owner = participant_id
        self.log = log


@mutant("SDS-DELIVER-04", "appends to its log in the order of arrival")
class LogByArrival(_WithLog):
    log_class = _ByArrival


@mutant("SDS-DELIVER-05", "orders equal timestamps by arrival")
class TiesByArrival(_WithLog):
    log_class = _TiesByArrival


@mutant("SDS-DELIVER-06", "logs a message as often as it arrives")
class LogsCopies(_WithLog):
    log_class = _KeepsCopies

    def receive(self, message: Message, now_ms: int, retrieval_hint: bytes | None = None) -> Effects:
        known = message.message_id in self.log and not self.is_own(message) and bool(message.content)
        effects = super().receive(message, now_ms, retrieval_hint)
        if known and message.lamport_timestamp is not None:
            self.insert_into_log(message, retrieval_hint)
        return effects


@mutant("SDS-CONFLICT-01", "ignores case where it orders IDs")
class TiesIgnoringCase(_WithLog):
    log_class = _TiesIgnoringCase


@mutant("SDS-CONFLICT-02", "puts the highest hash first")
class HighestHashFirst(_WithLog):
    log_class = _HighestHashFirst


@mutant("SDS-CONFLICT-03", "puts its own messages last among equals")
class OwnLastAmongEquals(_WithLog):
    log_class = _OwnLast

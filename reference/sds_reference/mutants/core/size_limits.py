"""Faults of capacity: state or work has a limit, where the specification has none.

Schedules of ordinary length do not reach the limits. The largest limits are just below the largest size that every
implementation must support.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from itertools import islice
from typing import Any

from ...channel import Channel
from ...effects import Effects
from ...errors import MalformedMessageError
from ...incoming_buffer import BufferedMessage
from ...local_log import LocalLog, LogEntry
from ...message import HistoryEntry, Kind, Message
from ...outgoing_buffer import OutgoingEntry
from ..registry import for_sizes


class _Sized(Channel):
    size: int


# ---- The log and known messages --------------------------------------------------------------------------------------


class _SortsLate(LocalLog):
    size: int

    def sort_key(self, entry: LogEntry) -> Any:
        farthest = next(islice(reversed(self._order), self.size - 1, None), None)
        return entry.lamport_timestamp if farthest is None else max(entry.lamport_timestamp, farthest[0])


@for_sizes("DELIVER-04", "inserts late messages at most {} places before the end of its log", 50, 900)
class SortsInAmongTheNewest(_Sized):
    def __init__(self, *given: Any) -> None:
        self.log_class = type("Log", (_SortsLate,), {"size": self.size})
        super().__init__(*given)


@for_sizes(
    "STATE-11",
    "inserts late messages at most {} places before the end of its log, which it does not show",
    120,
    unseen=True,
)
class UnseenSortsInAmongTheNewest(SortsInAmongTheNewest):
    pass


class _PutsTheOldestSecond(LocalLog):
    size: int

    def sort_key(self, entry: LogEntry) -> Any:
        is_oldest = len(self._order) > self.size and entry.lamport_timestamp < self._order[0][0]
        return self._order[0][0] + 0.5 if is_oldest else entry.lamport_timestamp


@for_sizes(
    "STATE-11",
    "inserts a message that is older than all others at the second place of a log of over {} entries, which it does "
    "not show",
    32,
    unseen=True,
)
class PutsTheOldestSecond(_Sized):
    def __init__(self, *given: Any) -> None:
        self.log_class = type("Log", (_PutsTheOldestSecond,), {"size": self.size})
        super().__init__(*given)


class _LogsCopies(LocalLog):
    def insert(self, entry: LogEntry) -> bool:
        if entry.message_id in self:
            self._order.add((self.sort_key(entry), entry.message_id))
        return super().insert(entry)


@for_sizes("DELIVER-06", "detects duplicates of only the newest {} messages, and logs older messages again", 900)
class DetectsCopiesByTheNewest(_Sized):
    log_class = _LogsCopies

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        self._newest: dict[str, None] = {}

    def is_duplicate(self, message: Message) -> bool:
        known = message.message_id in self._newest
        self._newest[message.message_id] = None
        if len(self._newest) > self.size:
            del self._newest[next(iter(self._newest))]
        return known


@for_sizes("RECV-05", "compares IDs by their first {} characters", 128, 1000)
class ComparesIdsByFirstCharacters(_Sized):
    def unmet_dependencies(self, message: Message) -> set[str]:
        known = {entry.message_id[: self.size] for entry in self.log}
        return {i for i in super().unmet_dependencies(message) if i[: self.size] not in known}


@for_sizes("RECV-07", "rejects messages with IDs of more than {} characters", 1000)
class RefusesLongIds(_Sized):
    def refuse_unusable(self, message: Message, kind: Kind, now_ms: int) -> None:
        if len(message.message_id) > self.size:
            raise MalformedMessageError("the message ID is too long")
        super().refuse_unusable(message, kind, now_ms)


# ---- Waiting messages ------------------------------------------------------------------------------------------------


@for_sizes("RECV-08", "has a capacity of {} waiting messages", 100, 900)
class RoomForWaiting(_Sized):
    def buffer(self, message: Message, unmet: set[str], now_ms: int, retrieval_hint: bytes | None) -> None:
        if len(self.incoming) < self.size:
            super().buffer(message, unmet, now_ms, retrieval_hint)


@for_sizes("RECV-08", "keeps only the newest {} waiting messages", 900)
class NewestWaiting(_Sized):
    def buffer(self, message: Message, unmet: set[str], now_ms: int, retrieval_hint: bytes | None) -> None:
        super().buffer(message, unmet, now_ms, retrieval_hint)
        if len(self.incoming) > self.size:
            kept = list(self.incoming)[1:]
            self.incoming = type(self.incoming)()
            for entry in kept:
                self.incoming.add(entry)


@for_sizes("INSWEEP-04", "delivers only {} levels of a chain of waiting messages", 900)
class DeliversLevelsUpTo(_Sized):
    def deliver_ready(self, effects: Effects) -> None:
        for level in range(self.size + 1):
            ready = []
            while (entry := self.incoming.take_ready()) is not None:
                ready.append(entry)
            for entry in ready:
                if level < self.size:
                    self.deliver(entry.message, effects, entry.retrieval_hint)
                else:
                    self.incoming.add(BufferedMessage(entry.message, {""}, entry.received_ms, None))


def _cut(message: Message, entries: Iterable[HistoryEntry]) -> Message:
    return replace(message, causal_history=tuple(entries))


@for_sizes("RECV-05", "checks only the first {} entries of a causal history", 100, 128, 256, 900)
class ChecksTheFirstDependencies(_Sized):
    def unmet_dependencies(self, message: Message) -> set[str]:
        return super().unmet_dependencies(_cut(message, message.causal_history[: self.size]))


@for_sizes("RECV-05", "checks only the last {} entries of a causal history", 190, 900)
class ChecksTheLastDependencies(_Sized):
    def unmet_dependencies(self, message: Message) -> set[str]:
        return super().unmet_dependencies(_cut(message, message.causal_history[-self.size :]))


# ---- Unacknowledged messages -----------------------------------------------------------------------------------------


@for_sizes("SEND-10", "resends only the newest {} of its messages", 100, 900)
class NewestOutstanding(_Sized):
    def remember_outgoing(self, message: Message, wire: bytes, now_ms: int) -> None:
        super().remember_outgoing(message, wire, now_ms)
        if len(self.outgoing) > self.size:
            self.outgoing.acknowledge(next(iter(self.outgoing)).message_id)


@for_sizes("OUTSWEEP-01", "resends {} messages in a sweep and postpones other due messages by one period", 900)
class ResendsPerSweep(_Sized):
    def sweep_outgoing(self, now_ms: int, effects: Effects) -> None:
        for number, entry in enumerate(sorted(self.outgoing.take_due(now_ms), key=lambda entry: entry.message_id)):
            if number < self.size:
                effects.broadcasts.append(self.rebroadcast(entry))
            self.schedule_resend(entry, now_ms)


@for_sizes(
    "ACK-01", "reads acknowledgements from only the first {} entries of a causal history", 100, 128, 190, 256, 500
)
class AcknowledgesWithTheFirst(_Sized):
    def review_causal_history(self, message: Message, effects: Effects) -> None:
        super().review_causal_history(_cut(message, message.causal_history[: self.size]), effects)


@for_sizes("ACK-01", "reads acknowledgements from only the last {} entries of a causal history", 500)
class AcknowledgesWithTheLast(_Sized):
    def review_causal_history(self, message: Message, effects: Effects) -> None:
        super().review_causal_history(_cut(message, message.causal_history[-self.size :]), effects)


class _HeldAgainst(_Sized):
    def select_outstanding(self, outstanding: list[OutgoingEntry]) -> list[OutgoingEntry]:
        raise NotImplementedError

    def review_bloom_filter(self, message: Message, effects: Effects, now_ms: int) -> None:
        kept, chosen = self.outgoing.unacknowledged, self.select_outstanding(self.outgoing.unacknowledged())
        self.outgoing.unacknowledged = lambda: chosen  # type: ignore[method-assign]
        super().review_bloom_filter(message, effects, now_ms)
        self.outgoing.unacknowledged = kept  # type: ignore[method-assign]


@for_sizes("ACK-02", "looks up only its oldest {} messages in a filter", 50, 900)
class LooksUpTheOldestInFilters(_HeldAgainst):
    def select_outstanding(self, outstanding: list[OutgoingEntry]) -> list[OutgoingEntry]:
        return outstanding[: self.size]


@for_sizes("ACK-02", "looks up only its newest {} messages in a filter", 900)
class LooksUpTheNewestInFilters(_HeldAgainst):
    def select_outstanding(self, outstanding: list[OutgoingEntry]) -> list[OutgoingEntry]:
        return outstanding[-self.size :]


@for_sizes("ACK-02", "has a capacity of {} possibly acknowledged messages", 50, 200)
class RoomForPossiblyAcknowledged(_Sized):
    def count_filter_hit(self, entry: OutgoingEntry, effects: Effects, now_ms: int) -> None:
        if sum(other.filter_hits > 0 for other in self.outgoing) < self.size:
            super().count_filter_hit(entry, effects, now_ms)


@for_sizes("OUTSWEEP-02", "resends only {} possibly acknowledged messages", 20)
class ResendsSomeOfThePossible(_Sized):
    def count_filter_hit(self, entry: OutgoingEntry, effects: Effects, now_ms: int) -> None:
        super().count_filter_hit(entry, effects, now_ms)
        if sum(other.filter_hits > 0 for other in self.outgoing) > self.size:
            entry.due_ms = -1

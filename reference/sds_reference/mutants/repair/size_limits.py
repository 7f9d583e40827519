"""Faults of capacity in SDS-R: state for requests, messages and responses has a limit.

One more fault sends too many sync messages with requests.
"""

from __future__ import annotations

from dataclasses import replace

from ...message import HistoryEntry, Message
from ...repair import Repair
from ..registry import for_sizes


class _Sized(Repair):
    size: int


@for_sizes("R-STATE-01", "has a capacity of {} missing messages", 60, 190)
class RoomForMissing(_Sized):
    def track(self, entry: HistoryEntry, now_ms: int) -> None:
        if len(self.outgoing) < self.size:
            super().track(entry, now_ms)


@for_sizes("R-RECV-08", "processes only the first {} entries of a repair request", 190)
class LooksAtTheFirstItems(_Sized):
    def on_receive(self, message: Message, *, has_unique_id: bool, now_ms: int) -> None:
        short = replace(message, repair_request=message.repair_request[: self.size])
        super().on_receive(short, has_unique_id=has_unique_id, now_ms=now_ms)


@for_sizes("R-RECV-12", "stops its own requests only for the first {} entries of a repair request of others", 100, 190)
class OverhearsTheFirstItems(_Sized):
    _heard = 0

    def on_receive(self, message: Message, *, has_unique_id: bool, now_ms: int) -> None:
        self._heard = 0
        super().on_receive(message, has_unique_id=has_unique_id, now_ms=now_ms)

    def remove_overheard(self, message_id: str) -> None:
        self._heard += 1
        if self._heard <= self.size:
            super().remove_overheard(message_id)


@for_sizes("R-RECV-08", "has a capacity of {} requests of others", 190)
class RoomForRequests(_Sized):
    def accept_request(self, entry: HistoryEntry, now_ms: int) -> None:
        if len(self.incoming) < self.size:
            super().accept_request(entry, now_ms)


@for_sizes("R-STATE-07", "caches only the newest {} messages", 900)
class KeepsTheNewest(_Sized):
    def cache_message(self, message: Message) -> None:
        super().cache_message(message)
        if len(self.cache) > self.size:
            oldest = next(iter(self.cache))
            self.incoming.remove(oldest)
            del self.cache[oldest]


@for_sizes("R-SWEEP-01", "loses every {}th response", 100)
class LosesEveryAnswer(_Sized):
    _count = 0

    def take_responses(self, now_ms: int) -> list[Message]:
        answers = []
        for message in super().take_responses(now_ms):
            self._count += 1
            answers += [message] if self._count % self.size else []
        return answers

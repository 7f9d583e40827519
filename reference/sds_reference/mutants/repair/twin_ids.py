"""Faults of SDS-R that treat two IDs as equal: they are equal when cut, normalized or without leading zeros."""

from __future__ import annotations

from dataclasses import replace

from ...message import HistoryEntry
from ...repair import Repair
from ..core.twin_ids import keyed


class _Keyed(Repair):
    @staticmethod
    def key(text: str) -> str:
        """Return the text by which the fault compares an ID, such as its first 64 characters."""
        raise NotImplementedError

    def twins(self, message_id: str) -> list[str]:
        """IDs of missing messages that have the same ``key`` as ``message_id``."""
        return [i.entry.message_id for i in self.outgoing if self.key(i.entry.message_id) == self.key(message_id)]


@keyed("R-STATE-04", "matches repair requests and its messages by IDs {}")
class AnswersWithTwins(_Keyed):
    def accept_request(self, entry: HistoryEntry, now_ms: int) -> None:
        for message_id in self.cache:
            if self.key(message_id) == self.key(entry.message_id):
                entry = replace(entry, message_id=message_id)
        super().accept_request(entry, now_ms)


@keyed("R-STATE-09", "matches received and missing messages by IDs {}", "cut", "normal", "number", "short")
class ComeAsTwins(_Keyed):
    def remove_repaired(self, message_id: str) -> None:
        for twin in self.twins(message_id):
            super().remove_repaired(twin)


@keyed(
    "R-STATE-09",
    "matches repair requests of others and missing messages by IDs {}",
    "cut",
    "normal",
    "number",
    "short",
)
class OverhearsTwins(_Keyed):
    def remove_overheard(self, message_id: str) -> None:
        for twin in self.twins(message_id):
            super().remove_overheard(twin)


@keyed("R-TREQ-01", "computes T_req with the message ID {}")
class ReckonsWithTwins(_Keyed):
    def t_req(self, entry: HistoryEntry, now_ms: int) -> int:
        return super().t_req(replace(entry, message_id=self.key(entry.message_id)), now_ms)

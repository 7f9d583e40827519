"""Faults of SDS-R that takes two IDs for one: cut at a zero character, or brought into a normal form."""

from __future__ import annotations

from dataclasses import replace

from ...message import HistoryEntry
from ...repair import Repair
from ..core.twin_ids import keyed


class _Keyed(Repair):
    @staticmethod
    def key(text: str) -> str:
        """What is made of an ID."""
        raise NotImplementedError

    def twins(self, message_id: str) -> list[str]:
        """IDs of what is missing that are taken for that one."""
        return [i.entry.message_id for i in self.outgoing if self.key(i.entry.message_id) == self.key(message_id)]


@keyed("R-STATE-04", "answers with what it has {}")
class AnswersWithTwins(_Keyed):
    def take_request(self, entry: HistoryEntry, now_ms: int) -> None:
        for message_id in self.cache:
            if self.key(message_id) == self.key(entry.message_id):
                entry = replace(entry, message_id=message_id)
        super().take_request(entry, now_ms)


@keyed("R-STATE-09", "asks for nothing that has come {}")
class ComeAsTwins(_Keyed):
    def remove_repaired(self, message_id: str) -> None:
        for twin in self.twins(message_id):
            super().remove_repaired(twin)


@keyed("R-STATE-09", "leaves to others what they ask for {}")
class OverhearsTwins(_Keyed):
    def remove_overheard(self, message_id: str) -> None:
        for twin in self.twins(message_id):
            super().remove_overheard(twin)


@keyed("R-TREQ-01", "reckons T_req with the message ID {}")
class ReckonsWithTwins(_Keyed):
    def t_req(self, entry: HistoryEntry, now_ms: int) -> int:
        return super().t_req(replace(entry, message_id=self.key(entry.message_id)), now_ms)

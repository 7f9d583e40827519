"""Faults that leave some messages of the log out of causal histories."""

from __future__ import annotations

from ...channel import Channel
from ...local_log import LogEntry
from ...message import HistoryEntry
from ..registry import mutant


class _LeavesOut(Channel):
    """Leaves some entries of the log out of causal histories."""

    def is_left_out(self, entry: LogEntry) -> bool:
        raise NotImplementedError

    def causal_history(self) -> tuple[HistoryEntry, ...]:
        named = [
            HistoryEntry(entry.message_id, entry.retrieval_hint, entry.sender_id if self.repair is not None else None)
            for entry in self.log
            if not self.is_left_out(entry)
        ]
        return tuple(named[-self.causal_history_size() :])


@mutant("SEND-04", "leaves messages that are more than an hour behind its timestamp out of causal histories")
class NamesNoOldMessages(_LeavesOut):
    def is_left_out(self, entry: LogEntry) -> bool:
        return entry.lamport_timestamp < self.clock.value - 3_600_000


@mutant("SEND-04", "leaves messages whose retrieval hint it knows out of causal histories")
class NamesNoMessagesWithHints(_LeavesOut):
    def is_left_out(self, entry: LogEntry) -> bool:
        return entry.retrieval_hint is not None


@mutant("SEND-04", "leaves messages with IDs of more than 64 characters out of causal histories")
class NamesNoLongIds(_LeavesOut):
    def is_left_out(self, entry: LogEntry) -> bool:
        return len(entry.message_id) > 64

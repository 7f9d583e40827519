"""Sections "Participant state" and "Resolve Conflicts": the local log of a channel.

All message IDs of the channel, ordered by Lamport timestamp and, where those are equal, by message ID. "Ascending
order of message ID" is read as the order of the UTF-8 bytes, the one order that all platforms share.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any

from sortedcontainers import SortedList


@dataclass(frozen=True, slots=True)
class LogEntry:
    """One message of the log. ``sender_id`` and ``retrieval_hint`` travel in later causal histories."""

    message_id: str
    lamport_timestamp: int
    sender_id: str
    retrieval_hint: bytes | None = None


class LocalLog:
    """An ordered log; insertion and the last n cost O(log n), membership O(1)."""

    def __init__(self) -> None:
        self._order: SortedList[tuple[Any, bytes]] = SortedList()
        self._entries: dict[bytes, LogEntry] = {}

    def insert(self, entry: LogEntry) -> bool:
        """Put ``entry`` in its place; False if its ID is in the log already, which then stays as it was."""
        key = entry.message_id.encode()
        if key in self._entries:
            return False
        self._entries[key] = entry
        self._order.add((self.place(entry), key))
        return True

    def place(self, entry: LogEntry) -> Any:
        """What orders the log before the message ID does."""
        return entry.lamport_timestamp

    def __contains__(self, message_id: str) -> bool:
        return message_id.encode() in self._entries

    def __len__(self) -> int:
        return len(self._entries)

    def __iter__(self) -> Iterator[LogEntry]:
        """Entries in log order."""
        return (self._entries[key] for _, key in self._order)

    def preceding(self, count: int) -> list[LogEntry]:
        """The last ``count`` entries, ascending: the "preceding few message IDs" of a new message."""
        last = [self._entries[key] for _, key in islice(reversed(self._order), count)]
        last.reverse()
        return last

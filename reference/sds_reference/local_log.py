"""Sections "Participant state" and "Resolve Conflicts": the local log of a channel.

The log holds all message IDs of the channel, ordered by Lamport timestamp, and by message ID where timestamps are
equal. "Ascending order of message ID" is read as the order of the UTF-8 bytes, which all platforms can compute.
Python's order of strings, by code points, is the same.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any

from sortedcontainers import SortedList

from .values import setters


@dataclass(frozen=True, slots=True, init=False)
class LogEntry:
    """One message of the log. ``sender_id`` and ``retrieval_hint`` travel in later causal histories."""

    message_id: str
    lamport_timestamp: int
    sender_id: str
    retrieval_hint: bytes | None = None

    def __init__(
        self, message_id: str, lamport_timestamp: int, sender_id: str, retrieval_hint: bytes | None = None
    ) -> None:
        _set_id(self, message_id)
        _set_lamport(self, lamport_timestamp)
        _set_sender(self, sender_id)
        _set_hint(self, retrieval_hint)


_set_id, _set_lamport, _set_sender, _set_hint = setters(LogEntry)


class LocalLog:
    """An ordered log of n entries. Membership costs O(1), insertion and each entry of ``last_entries`` O(log n)."""

    def __init__(self) -> None:
        self._order: SortedList[tuple[Any, str]] = SortedList()
        self._entries: dict[str, LogEntry] = {}

    def insert(self, entry: LogEntry) -> bool:
        """Insert ``entry`` in order. Return False, and change nothing, if its ID is already in the log."""
        key = entry.message_id
        if key in self._entries:
            return False
        self._entries[key] = entry
        self._order.add((self.sort_key(entry), key))
        return True

    def sort_key(self, entry: LogEntry) -> Any:
        """The first sort key of the log; the message ID is the second."""
        return entry.lamport_timestamp

    def __contains__(self, message_id: str) -> bool:
        return message_id in self._entries

    def __len__(self) -> int:
        return len(self._entries)

    def __iter__(self) -> Iterator[LogEntry]:
        """Iterate over the entries in log order."""
        return (self._entries[key] for _, key in self._order)

    def last_entries(self, count: int) -> list[LogEntry]:
        """The last ``count`` entries, ascending: the "preceding few message IDs" of a new message."""
        last = [self._entries[key] for _, key in islice(reversed(self._order), count)]
        last.reverse()
        return last

"""The repair request buffers of section "SDS-R participant state": history entries ordered by time."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from sortedcontainers import SortedList

from .message import HistoryEntry


@dataclass(slots=True)
class RepairEntry:
    """A history entry and its time: T_req in the outgoing buffer, T_resp in the incoming buffer."""

    entry: HistoryEntry
    due_ms: int


class RepairBuffer:
    """Entries by message ID, in ascending order of time, as the specification recommends.

    Every operation costs O(log n).
    """

    def __init__(self) -> None:
        self._entries: dict[str, RepairEntry] = {}
        self._order: SortedList[tuple[int, str]] = SortedList()

    def add(self, entry: HistoryEntry, due_ms: int) -> bool:
        """Add an entry. Return False, and change nothing, if its ID is already in the buffer."""
        if entry.message_id in self._entries:
            return False
        self._entries[entry.message_id] = RepairEntry(entry, due_ms)
        self._order.add((due_ms, entry.message_id))
        return True

    def remove(self, message_id: str) -> RepairEntry | None:
        """Remove and return the entry of that ID; None if there is none."""
        removed = self._entries.pop(message_id, None)
        if removed is not None:
            self._order.remove((removed.due_ms, message_id))
        return removed

    def get(self, message_id: str) -> RepairEntry | None:
        """The entry of that ID; None if there is none."""
        return self._entries.get(message_id)

    def due(self, now_ms: int) -> Iterator[RepairEntry]:
        """The entries whose time is not after ``now_ms``, in order."""
        for due_ms, message_id in self._order:
            if due_ms > now_ms:
                return
            yield self._entries[message_id]

    def __contains__(self, message_id: str) -> bool:
        return message_id in self._entries

    def __iter__(self) -> Iterator[RepairEntry]:
        """Iterate in ascending order of time."""
        return (self._entries[message_id] for _, message_id in self._order)

    def __len__(self) -> int:
        return len(self._entries)

"""The buffer of unacknowledged outgoing messages (sections "Participant state", "Periodic Outgoing Buffer Sweep")."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from heapq import heappop, heappush


class AckState(Enum):
    """States of a message in the buffer. There is no state *acknowledged*: acknowledged messages leave the buffer."""

    UNACKNOWLEDGED = "unacknowledged"
    POSSIBLY_ACKNOWLEDGED = "possibly acknowledged"


@dataclass(slots=True)
class OutgoingEntry:
    """An own message that waits for its acknowledgement."""

    message_id: str
    wire: bytes
    """The message as it was broadcast."""
    positions: tuple[tuple[int, int], ...]
    """Positions of the bits of the message ID in a filter of the local profile and size."""
    due_ms: int
    """Time of the next resend, in milliseconds; -1 for never."""
    state: AckState = AckState.UNACKNOWLEDGED
    filter_hits: int = 0
    """Number of received filters that contained the message ID. Only the first counts if filters cannot acknowledge."""


class OutgoingBuffer:
    """Own messages by ID, in the order sent.

    The resend times are in a heap, so the cost of a sweep depends only on the messages that it resends. The
    *unacknowledged* messages have an index of their own, so the cost of a review of a filter depends only on the
    messages that it may change. The dicts are OrderedDicts: iterating over a plain dict takes time for each deleted
    entry.
    """

    def __init__(self) -> None:
        self._entries: OrderedDict[str, OutgoingEntry] = OrderedDict()
        self._unacknowledged: OrderedDict[str, OutgoingEntry] = OrderedDict()
        self._due: list[tuple[int, int, str]] = []
        self._serial = 0

    def add(self, entry: OutgoingEntry) -> None:
        """Buffer an own message as unacknowledged."""
        self._entries[entry.message_id] = entry
        self._unacknowledged[entry.message_id] = entry
        self.reschedule(entry, entry.due_ms)

    def reschedule(self, entry: OutgoingEntry, due_ms: int) -> None:
        """Set the next resend time, in milliseconds."""
        entry.due_ms = due_ms
        self._serial += 1
        heappush(self._due, (due_ms, self._serial, entry.message_id))

    def unacknowledged(self) -> list[OutgoingEntry]:
        """The messages in the state *unacknowledged*."""
        return list(self._unacknowledged.values())

    def mark_possibly_acknowledged(self, entry: OutgoingEntry) -> None:
        """Change the state from *unacknowledged* to *possibly acknowledged*. It never changes back."""
        entry.state = AckState.POSSIBLY_ACKNOWLEDGED
        self._unacknowledged.pop(entry.message_id, None)

    def acknowledge(self, message_id: str) -> bool:
        """Remove an acknowledged message. Return False if it is not in the buffer."""
        self._unacknowledged.pop(message_id, None)
        return self._entries.pop(message_id, None) is not None

    def take_due(self, now_ms: int) -> list[OutgoingEntry]:
        """Return the messages whose resend time has come, *unacknowledged* ones first.

        The caller must reschedule them.
        """
        due: dict[str, OutgoingEntry] = {}
        while self._due and self._due[0][0] <= now_ms:
            due_ms, _, message_id = heappop(self._due)
            entry = self._entries.get(message_id)
            if entry is not None and entry.due_ms == due_ms:
                due[message_id] = entry
        return sorted(due.values(), key=lambda entry: entry.state is AckState.POSSIBLY_ACKNOWLEDGED)

    def __contains__(self, message_id: str) -> bool:
        return message_id in self._entries

    def __iter__(self) -> Iterator[OutgoingEntry]:
        return iter(self._entries.values())

    def __len__(self) -> int:
        return len(self._entries)

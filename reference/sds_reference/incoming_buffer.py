"""The buffer of incoming messages with unmet causal dependencies (section "Participant state")."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator
from dataclasses import dataclass

from .message import Message


@dataclass(slots=True)
class BufferedMessage:
    """A received message and the IDs it still waits for."""

    message: Message
    unmet: set[str]
    received_ms: int
    retrieval_hint: bytes | None
    regular: bool = True
    """Whether the message is delivered and logged when its dependencies are met."""


class IncomingBuffer:
    """Buffered messages, with an index from each unmet dependency to the messages that wait for it.

    Regular messages are stored under their ID. The IDs of sync messages may repeat or collide, so each sync message is
    stored under a serial number. Queues that are emptied from the front are OrderedDicts: finding the first entry of a
    plain dict takes time for each entry that was deleted before it.
    """

    def __init__(self) -> None:
        self._entries: OrderedDict[str | int, BufferedMessage] = OrderedDict()
        self._waiting: dict[str, dict[str | int, None]] = {}
        self._ready: OrderedDict[str | int, None] = OrderedDict()
        self._serial = 0

    def add(self, entry: BufferedMessage) -> None:
        """Buffer a message. Costs O(1) for each unmet dependency."""
        self._serial += 1
        key = entry.message.message_id if entry.regular else self._serial
        self._entries[key] = entry
        for dependency in entry.unmet:
            self._waiting.setdefault(dependency, {})[key] = None

    def mark_met(self, dependency: str) -> None:
        """Note that ``dependency`` is now in the local log."""
        for key in self._waiting.pop(dependency, ()):
            entry = self._entries.get(key)
            if entry is None:
                continue
            entry.unmet.discard(dependency)
            if not entry.unmet:
                self._ready[key] = None

    def take_ready(self) -> BufferedMessage | None:
        """Remove and return the message that has been ready longest; None if no message is ready."""
        if not self._ready:
            return None
        key, _ = self._ready.popitem(last=False)
        return self._entries.pop(key)

    def take_older(self, received_ms: int) -> list[BufferedMessage]:
        """Remove and return the messages that arrived at or before ``received_ms`` and still wait."""
        old: list[tuple[str | int, BufferedMessage]] = []
        # The dict is in order of arrival, so the search ends at the first message that is too new.
        for key, entry in self._entries.items():
            if entry.received_ms > received_ms:
                break
            if key not in self._ready:
                old.append((key, entry))
        for key, _ in old:
            del self._entries[key]
        return [entry for _, entry in old]

    def __contains__(self, message_id: str) -> bool:
        """Is a regular message of that ID buffered?"""
        return message_id in self._entries

    def __iter__(self) -> Iterator[BufferedMessage]:
        return iter(self._entries.values())

    def __len__(self) -> int:
        return len(self._entries)

"""The log as it must be: of one participant in one channel, by its own deliveries and by what the text says."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from sortedcontainers import SortedList

from .facts import LogItem, Received


class ExpectedLog:
    """Own and delivered messages, in the order of the log.

    Where the text has sync messages logged like all others, they are in it as well, but ``unseen``: of received ones no
    delivery tells. Which of them are in it at a moment is open for own ones, odd ones, and those that had to wait. The
    same is open where it delivers messages in its own name, which it should ignore.
    """

    def __init__(self, processed_sync: Callable[[int], None]) -> None:
        """``processed_sync`` is told the Lamport timestamp of each sync message that is logged when it is received."""
        self._processed_sync = processed_sync
        self._order: SortedList[LogItem] = SortedList()
        self._items: dict[str, LogItem] = {}
        self._waiting: dict[str, Received] = {}
        """Sync messages with unmet dependencies, by their IDs."""
        self._open: set[str] = set()
        self._maybe: set[str] = set()
        """Of the waiting ones those that may be in it all the same, so that nothing rests on them for certain."""
        self._unseen = 0

    def insert(self, message_id: str, lamport: int | None, *, own: bool) -> None:
        """A message was sent or delivered; without a timestamp, where it belongs is open."""
        if lamport is None:
            self._open.add(message_id)
            return
        self._insert(message_id, lamport, own=own, unseen=False)
        self._log_syncs()

    def sync_sent(self, message_id: str, lamport: int) -> None:
        """An own sync message went out."""
        self._open.add(message_id)
        self._insert(message_id, lamport, own=True, unseen=True)

    def sync_received(self, received: Received) -> None:
        """A sync message is logged without a sign once its dependencies are met, which they may be already."""
        message = received.message
        if received.unmet and received.unmet == received.unmet_buffered:
            # All that it depends on has come, and waits: whether that is enough to log it is not said.
            self._open.add(message.message_id)
            self._maybe.add(message.message_id)
            self._insert(message.message_id, message.lamport_timestamp or 0, own=False, unseen=True)
        if received.unmet:
            self._waiting[message.message_id] = received
            return
        lamport = message.lamport_timestamp or 0
        if received.odd:
            self._open.add(message.message_id)
        else:
            self._processed_sync(lamport)
        self._insert(message.message_id, lamport, own=False, unseen=True)
        self._log_syncs()

    def give_up(self) -> None:
        """Nothing need be waited for any more: sync messages that did may be logged, or dropped, without a sign."""
        for message_id, received in self._waiting.items():
            self._open.add(message_id)
            self._insert(message_id, received.message.lamport_timestamp or 0, own=False, unseen=True)
        self._waiting.clear()
        self._maybe.clear()

    def claimed(self, message_id: str, lamport: int) -> None:
        """What came in the participant's own name, and it had not sent, was delivered: it should be ignored."""
        self._open.add(message_id)
        self._insert(message_id, lamport, own=False, unseen=True)

    def waits(self, message_id: str) -> bool:
        """Has a sync message of that ID arrived, to be logged later?"""
        return message_id in self._waiting

    def is_open(self, message_ids: Iterable[str]) -> bool:
        """Is any a message of which nobody can say whether, where, or since when, it is in the log?"""
        return not self._open.isdisjoint(message_ids)

    @property
    def ids(self) -> set[str]:
        """All IDs in it."""
        return self._items.keys() - self._maybe

    @property
    def sure(self) -> int:
        """Entries of which a delivery or an own message tells."""
        return len(self._items) - self._unseen

    def tail(self, size: int) -> tuple[LogItem, ...]:
        """Its end, ascending: ``size`` sure entries at least, if there are so many."""
        return tuple(self._order[-size - self._unseen :])

    def __contains__(self, message_id: object) -> bool:
        return message_id in self._items and message_id not in self._maybe

    def __iter__(self) -> Iterator[LogItem]:
        return iter(self._order)

    def __len__(self) -> int:
        return len(self._items)

    def _log_syncs(self) -> None:
        while message := next((r.message for r in self._waiting.values() if all(i in self for i in r.unmet)), None):
            del self._waiting[message.message_id]
            self._maybe.discard(message.message_id)
            self._open.add(message.message_id)
            self._insert(message.message_id, message.lamport_timestamp or 0, own=False, unseen=True)

    def _insert(self, message_id: str, lamport: int, *, own: bool, unseen: bool) -> None:
        if message_id not in self._items:
            item = LogItem.of(message_id, lamport, own=own, arrival=len(self._items), unseen=unseen)
            self._items[message_id] = item
            self._order.add(item)
            self._unseen += unseen

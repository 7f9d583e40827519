"""The expected log of one participant in one channel, from its deliveries and the rules of the text."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from sortedcontainers import SortedList

from .facts import LogItem, Received


class ExpectedLog:
    """Own and delivered messages, in the order of the log.

    If the text logs sync messages, the log contains them as ``unseen`` entries, because no event shows the delivery of
    a received one. It is open when own, odd and waiting ones enter the log. The same holds for messages that arrive in
    the participant's own name, which it should ignore, if it delivers them.
    """

    def __init__(self, processed_sync: Callable[[int], None]) -> None:
        """``processed_sync`` is called with the Lamport timestamp of each sync message that enters the log on
        arrival.
        """
        self._processed_sync = processed_sync
        self._order: SortedList[LogItem] = SortedList()
        self._items: dict[str, LogItem] = {}
        self._waiting: dict[str, Received] = {}
        """Sync messages with unmet dependencies, by ID."""
        self._open: set[str] = set()
        self._maybe: set[str] = set()
        """Waiting messages that may be in the log already, so that no conclusion depends on them."""
        self._unseen = 0

    def insert(self, message_id: str, lamport: int | None, *, own: bool) -> None:
        """Add a message that was sent or delivered. Without a timestamp, its place is open."""
        if lamport is None:
            self._open.add(message_id)
            return
        self._insert(message_id, lamport, own=own, unseen=False)
        self._log_syncs()

    def sync_sent(self, message_id: str, lamport: int) -> None:
        """Add an own sync message."""
        self._open.add(message_id)
        self._insert(message_id, lamport, own=True, unseen=True)

    def sync_received(self, received: Received) -> None:
        """Add a received sync message as soon as its dependencies are met. No event shows this."""
        message = received.message
        if received.unmet and received.unmet == received.unmet_buffered:
            # All of its dependencies have arrived and wait. The text does not say whether it enters the log then.
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
        """Treat all waiting sync messages as possibly logged or dropped: the participant may give up dependencies."""
        for message_id, received in self._waiting.items():
            self._open.add(message_id)
            self._insert(message_id, received.message.lamport_timestamp or 0, own=False, unseen=True)
        self._waiting.clear()
        self._maybe.clear()

    def claimed(self, message_id: str, lamport: int) -> None:
        """Add a delivered message that arrived in the participant's own name and that it did not send. It should be
        ignored.
        """
        self._open.add(message_id)
        self._insert(message_id, lamport, own=False, unseen=True)

    def waits(self, message_id: str) -> bool:
        """Does a sync message with that ID wait?"""
        return message_id in self._waiting

    def is_open(self, message_ids: Iterable[str]) -> bool:
        """Is it open for one of these messages whether, where or since when it is in the log?"""
        return not self._open.isdisjoint(message_ids)

    @property
    def ids(self) -> set[str]:
        """The IDs of all entries."""
        return self._items.keys() - self._maybe

    @property
    def sure(self) -> int:
        """The number of entries that a delivery or an own message proves."""
        return len(self._items) - self._unseen

    def tail(self, size: int) -> tuple[LogItem, ...]:
        """The end of the log, ascending, with at least ``size`` certain entries if there are as many."""
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

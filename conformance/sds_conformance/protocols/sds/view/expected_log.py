"""The expected log of one participant in one channel, from its deliveries and the rules of the specification."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from sortedcontainers import SortedList

from .facts import LogItem, Received


class ExpectedLog:
    """Own and delivered messages, in the order of the log.

    If the revision logs sync messages, the log contains them as ``uncertain`` entries, because no signal shows when a
    received sync message enters the log. Delivered messages that have the participant's own sender ID, but that the
    participant did not send, are ``uncertain`` entries as well, because the participant should have ignored them.
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
        self._uncertain: set[str] = set()
        self._possibly_logged: set[str] = set()
        """IDs of waiting sync messages that may be in the log already. No conclusion depends on their presence."""
        self._uncertain_count = 0

    def insert(self, message_id: str, lamport: int | None, *, own: bool) -> None:
        """Add a message that was sent or delivered. Without a timestamp, its place in the log is unknown."""
        if lamport is None:
            self._uncertain.add(message_id)
            return
        self._insert(message_id, lamport, own=own, uncertain=False)
        self._log_syncs()

    def add_uncertain(self, message_id: str, lamport: int | None, *, own: bool) -> None:
        """Add an entry that may be missing from the log: an own sync message, or a delivered message that has the
        participant's own sender ID, although the participant did not send it.
        """
        self._uncertain.add(message_id)
        self._insert(message_id, lamport or 0, own=own, uncertain=True)

    def add_received_sync(self, received: Received) -> None:
        """Add a received sync message to the log now, or as soon as its dependencies are met.

        No signal shows when the message enters the log.
        """
        message_id, lamport = received.message.message_id, received.message.lamport_timestamp or 0
        if received.unmet:
            if received.unmet == received.unmet_buffered:
                # The unmet dependencies of the sync message have arrived and wait. The revision does not say whether
                # the sync message enters the log in this case.
                self._possibly_logged.add(message_id)
                self.add_uncertain(message_id, lamport, own=False)
            self._waiting[message_id] = received
            return
        if received.oddity:
            self._uncertain.add(message_id)
        else:
            self._processed_sync(lamport)
        self._insert(message_id, lamport, own=False, uncertain=True)
        self._log_syncs()

    def give_up_waiting_syncs(self) -> None:
        """Treat each waiting sync message as possibly logged, because the participant may give up its dependencies."""
        for message_id, received in self._waiting.items():
            self.add_uncertain(message_id, received.message.lamport_timestamp, own=False)
        self._waiting.clear()
        self._possibly_logged.clear()

    def is_waiting_sync(self, message_id: str) -> bool:
        """Does a sync message with this ID wait for its dependencies?"""
        return message_id in self._waiting

    def is_uncertain(self, message_ids: Iterable[str]) -> bool:
        """Is any of these messages an entry whose presence, place or time of entry in the log is unknown?"""
        return not self._uncertain.isdisjoint(message_ids)

    @property
    def ids(self) -> set[str]:
        """The IDs of all entries."""
        return self._items.keys() - self._possibly_logged

    @property
    def certain_count(self) -> int:
        """The number of entries that are not ``uncertain``."""
        return len(self._items) - self._uncertain_count

    def tail(self, size: int) -> tuple[LogItem, ...]:
        """The last entries of the log, oldest first: at least ``size`` certain entries, or the whole log."""
        return tuple(self._order[-size - self._uncertain_count :])

    def __contains__(self, message_id: object) -> bool:
        return message_id in self._items and message_id not in self._possibly_logged

    def __iter__(self) -> Iterator[LogItem]:
        return iter(self._order)

    def __len__(self) -> int:
        return len(self._items)

    def _log_syncs(self) -> None:
        while message := next((r.message for r in self._waiting.values() if all(i in self for i in r.unmet)), None):
            del self._waiting[message.message_id]
            self._possibly_logged.discard(message.message_id)
            self.add_uncertain(message.message_id, message.lamport_timestamp, own=False)

    def _insert(self, message_id: str, lamport: int, *, own: bool, uncertain: bool) -> None:
        if message_id not in self._items:
            key = message_id.encode("utf-8", "surrogatepass")
            item = LogItem(lamport, key, message_id, own, len(self._items), uncertain)
            self._items[message_id] = item
            self._order.add(item)
            self._uncertain_count += uncertain

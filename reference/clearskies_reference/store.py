"""The durable data of a peer: records, revision counter, known revisions, and the clock if all records share one."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping

from sortedcontainers import SortedDict, SortedList

from .record import Rank, StoredRecord
from .vector_clock import VectorClock


class Store(ABC):
    """Stores records, revisions and the clock without interpreting them.

    An operation costs O(log n) in the number of records, and O(1) for each returned record. Every operation can raise
    StoreError.
    """

    revision: int
    """The peer's own revision counter, including changes that are not committed yet."""
    known: dict[str, int]
    """The highest known revision of each peer (CA-11). Only ``learn`` may change the mapping."""
    clock: VectorClock
    """The logical clock that all records of the peer share (CA-7); empty if each record has its own. Only ``set_clock``
    may change it."""

    @abstractmethod
    def get(self, uuid: str) -> StoredRecord | None:
        """The record with a uuid; None if there is none."""

    @abstractmethod
    def put(self, stored: StoredRecord) -> None:
        """Store a record; it replaces the record with the same uuid."""

    @abstractmethod
    def records_with_key(self, key: str) -> Iterable[StoredRecord]:
        """The records with a key that are not deleted, the one with the highest rank first."""

    @abstractmethod
    def since(self, since: Mapping[str, int]) -> list[StoredRecord]:
        """The records that are new to a peer with the known revisions ``since``, sorted by last_updated_rev.

        Their last_updated_rev is above the entry of their last_updated_by in ``since``, or the entry is missing.
        """

    @abstractmethod
    def __iter__(self) -> Iterator[StoredRecord]:
        """Iterate over all records."""

    @abstractmethod
    def count(self, revision: int) -> None:
        """Set the revision counter."""

    @abstractmethod
    def learn(self, peer_id: str, revision: int) -> None:
        """Set the highest known revision of a peer.

        The caller must do this for the last writer of every record that it stores.
        """

    @abstractmethod
    def set_clock(self, clock: VectorClock) -> None:
        """Set the clock of the peer."""

    @abstractmethod
    def commit(self) -> None:
        """Make all changes since the last commit durable."""

    @abstractmethod
    def rollback(self) -> None:
        """Undo all changes since the last commit."""

    @abstractmethod
    def close(self) -> None:
        """Discard changes since the last commit, and close the file."""

    def leader(self, key: str) -> StoredRecord | None:
        """The visible record with a key: the first of ``records_with_key``; None if there is none."""
        return next(iter(self.records_with_key(key)), None)


class MemoryStore(Store):
    """A store in memory, which ends with the peer. Operations cannot fail, so nothing needs to be rolled back."""

    def __init__(self, revision: int) -> None:
        self.revision = revision
        self.known = {}
        self.clock = {}
        self._records: SortedDict[str, StoredRecord] = SortedDict()
        self._by_revision: dict[str, SortedList[tuple[int, str]]] = {}
        self._by_key: dict[str, SortedList[Rank]] = {}

    def get(self, uuid: str) -> StoredRecord | None:
        return self._records.get(uuid)

    def put(self, stored: StoredRecord) -> None:
        record = stored.record
        old = self._records.get(record.uuid)
        self._records[record.uuid] = stored
        if old is None or old.record.version != record.version:
            if old is not None:
                by, rev = old.record.version
                self._by_revision[by].remove((rev, record.uuid))
            order = self._by_revision.setdefault(record.last_updated_by, SortedList())
            order.add((record.last_updated_rev, record.uuid))
        if old is not None and not old.record.deleted:
            ranks = self._by_key[old.record.key]
            ranks.remove(old.record.rank)
            if not ranks:
                del self._by_key[old.record.key]
        if not record.deleted:
            self._by_key.setdefault(record.key, SortedList()).add(record.rank)

    def records_with_key(self, key: str) -> Iterable[StoredRecord]:
        return (self._records[rank[-1]] for rank in reversed(self._by_key.get(key, ())))

    def since(self, since: Mapping[str, int]) -> list[StoredRecord]:
        found = [entry for by, order in self._by_revision.items() for entry in order.irange((since.get(by, 0) + 1, ""))]
        return [self._records[uuid] for _, uuid in sorted(found)]

    def __iter__(self) -> Iterator[StoredRecord]:
        return iter(list(self._records.values()))

    def count(self, revision: int) -> None:
        self.revision = revision

    def learn(self, peer_id: str, revision: int) -> None:
        self.known[peer_id] = revision

    def set_clock(self, clock: VectorClock) -> None:
        self.clock = clock

    def commit(self) -> None:
        pass

    def rollback(self) -> None:
        pass

    def close(self) -> None:
        pass

"""Faults in stores: changes that are stored too late, and stored records that are misread."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

from ..peer import Peer
from ..record import Record, StoredRecord
from ..sqlite_store import SqliteStore
from ..timestamps import timestamp
from .registry import fault, mutant, register_faults
from .restarts import KnowsRestarts, LosesDataWhenKilled


@mutant("26", "stores data only when it is closed")
class StoresAtClose(Peer):
    def __init__(self, *details: Any, **more: Any) -> None:
        super().__init__(*details, **more)
        commit, close = self.store.commit, self.store.close

        def store_and_close() -> None:
            commit()
            close()

        self.store.commit = lambda: None  # type: ignore[method-assign]
        self.store.close = store_and_close  # type: ignore[method-assign]


@mutant("37", "loses updates, but not their revisions, when it is killed")
class LosesUpdatesWhenKilled(LosesDataWhenKilled):
    def lose(self, store: SqliteStore) -> None:
        store._execute("DELETE FROM records WHERE last_updated_by <> ?", self.peer_id)


@register_faults
class _MiscountsWhatComesBack(Peer):
    """Miscounts own changes that another peer sends back after the store was lost."""

    @fault(Peer.learn, "10", "counts on from its own revision after its store is lost, whatever changes come back")
    def ignores_its_revisions_that_come_back(self, incoming: Record) -> None:
        revision = self.store.revision
        super().learn(incoming)
        self.store.count(revision)

    @fault(Peer.learn, "10", "after its store is lost, does not count deletions of its own that come back")
    def ignores_its_deletions_that_come_back(self, incoming: Record) -> None:
        revision = self.store.revision
        super().learn(incoming)
        if incoming.deleted:
            self.store.count(revision)

    @fault(Peer.learn, "10", "after its store is lost, does not count overwritten changes of its own that come back")
    def ignores_its_overwritten_changes_that_come_back(self, incoming: Record) -> None:
        revision = self.store.revision
        super().learn(incoming)
        stored = self.store.get(incoming.uuid)
        if stored is None or stored.record.version != incoming.version:
            self.store.count(revision)

    @fault(Peer.learn, "10", "stores its revision counter only when it changes a record itself")
    def stores_its_counter_with_changes(self, incoming: Record) -> None:
        revision = self.store.revision
        super().learn(incoming)
        most = self.store.revision
        if most > revision:
            self.store.count(revision)
            self.store.revision = most


class _MisreadsAfterRestart(Peer):
    def __init__(self, *details: Any, **more: Any) -> None:
        super().__init__(*details, **more)
        for stored in list(self.store):
            if (again := self.read_again(stored)) is not stored:
                self.store.put(again)
        self.start()

    def read_again(self, stored: StoredRecord) -> StoredRecord:
        return stored

    def start(self) -> None:
        """Subclasses override this method to act at each start of the peer."""


def _kept_with(stored: StoredRecord, **fields: Any) -> StoredRecord:
    return replace(stored, record=replace(stored.record, **fields))


@register_faults
class _MisreadingsAfterRestart(_MisreadsAfterRestart):
    @fault(_MisreadsAfterRestart.read_again, "44", "forgets its own numbers in vector clocks after a restart")
    def forgets_its_number_at_start(self, stored: StoredRecord) -> StoredRecord:
        if stored.record.last_updated_by != self.peer_id:
            return stored
        return replace(_kept_with(stored, vector_clock={**stored.record.vector_clock, self.peer_id: 1}), ticks=0)

    @fault(
        _MisreadsAfterRestart.read_again,
        "46",
        "forgets numbers of vector clocks, except its own and the last writer's, after a restart",
    )
    def forgets_clocks_at_start(self, stored: StoredRecord) -> StoredRecord:
        known = (self.peer_id, stored.record.last_updated_by)
        return _kept_with(stored, vector_clock={m: n for m, n in stored.record.vector_clock.items() if m in known})

    @fault(_MisreadsAfterRestart.read_again, "41", "reads numbers of vector clocks as doubles after a restart")
    def reads_clocks_as_doubles_at_start(self, stored: StoredRecord) -> StoredRecord:
        return _kept_with(stored, vector_clock={m: int(float(n)) for m, n in stored.record.vector_clock.items()})

    @fault(_MisreadsAfterRestart.read_again, "25", "reads revisions as doubles after a restart")
    def reads_revisions_as_doubles_at_start(self, stored: StoredRecord) -> StoredRecord:
        return _kept_with(stored, last_updated_rev=int(float(stored.record.last_updated_rev)))

    @fault(_MisreadsAfterRestart.read_again, "13", "treats deleted records as existing after a restart")
    def revives_at_start(self, stored: StoredRecord) -> StoredRecord:
        return _kept_with(stored, deleted=False) if stored.record.deleted else stored

    @fault(_MisreadsAfterRestart.read_again, "47", "reads times as whole seconds after a restart")
    def cuts_times_at_start(self, stored: StoredRecord) -> StoredRecord:
        second = stored.record.update_time.text.removesuffix("Z").partition(".")[0]
        return _kept_with(stored, update_time=timestamp(f"{second}Z")) if self.writes else stored

    @fault(_MisreadsAfterRestart.read_again, "07", "reads whole numbers in values as doubles after a restart")
    def reads_values_as_doubles_at_start(self, stored: StoredRecord) -> StoredRecord:
        value = json.loads(stored.record.value, parse_int=lambda text: int(float(text)))
        return _kept_with(stored, value=json.dumps(value, ensure_ascii=False))

    @fault(_MisreadsAfterRestart.start, "29", "requests everything after a restart")
    def asks_for_all_at_start(self) -> None:
        for by in self.store.known:
            self.store.learn(by, 0)


def _clock_of_writer(record: Record) -> Record:
    clock = {member: n for member, n in record.vector_clock.items() if member == record.last_updated_by}
    return replace(record, vector_clock=clock)


@mutant("39", "after a restart, compares incoming clocks with only the last writer's number in the stored clock")
class ComparesWithTheWriterAfterARestart(KnowsRestarts):
    def is_older(self, incoming: Record, current: Record) -> bool:
        return super().is_older(incoming, _clock_of_writer(current) if self.was_restarted else current)

    def is_newer(self, incoming: Record, current: Record) -> bool:
        return super().is_newer(incoming, _clock_of_writer(current) if self.was_restarted else current)


@mutant("46", "after a restart, sends versions of others with only the last writer's number in the clock")
class SendsClocksOfWritersAfterARestart(KnowsRestarts):
    def body(self, record: Record) -> bytes:
        foreign = record.last_updated_by != self.peer_id
        return super().body(_clock_of_writer(record) if foreign and self.was_restarted else record)


class _KeepsFacts(_MisreadsAfterRestart):
    """Stores a string for each record, and changes the record by this string after a restart."""

    def fact_of(self, stored: StoredRecord, before: StoredRecord | None) -> str:
        """The string to store for a version. ``before`` is the version that it replaces."""
        raise NotImplementedError

    def stored_fact(self, stored: StoredRecord) -> str | None:
        """The string that was stored for a record; None if there is none."""
        if not isinstance(self.store, SqliteStore):
            return None
        return self.store._fact(f"of {stored.record.uuid}", "") or None

    def store_record(self, stored: StoredRecord) -> None:
        if isinstance(self.store, SqliteStore):
            fact = self.fact_of(stored, self.store.get(stored.record.uuid))
            name = f"of {stored.record.uuid}"
            self.store._execute("INSERT OR REPLACE INTO facts VALUES (?, ?)", name, fact)
        super().store_record(stored)


@mutant("07", "after a restart, gives all records the keys that they had first")
class ReadsFirstKeysAtStart(_KeepsFacts):
    def fact_of(self, stored: StoredRecord, before: StoredRecord | None) -> str:
        return self.stored_fact(stored) or stored.record.key

    def read_again(self, stored: StoredRecord) -> StoredRecord:
        return _kept_with(stored, key=self.stored_fact(stored) or stored.record.key)


@mutant("44", "forgets after a restart how often it has sent its records", clocks_count_hops=True)
class ForgetsSendingsAtStart(_KeepsFacts):
    def fact_of(self, stored: StoredRecord, before: StoredRecord | None) -> str:
        if before is not None and before.record.version == stored.record.version:
            return self.stored_fact(stored) or "0"
        return str(stored.ticks)

    def read_again(self, stored: StoredRecord) -> StoredRecord:
        number = int(self.stored_fact(stored) or 0)
        if stored.record.last_updated_by != self.peer_id or not number:
            return stored
        clock = {**stored.record.vector_clock, self.peer_id: number}
        return replace(_kept_with(stored, vector_clock=clock), ticks=number)

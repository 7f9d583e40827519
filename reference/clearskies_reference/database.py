"""Sections "Record Changes", "Conflicts" and "Deleted Records": the records of a peer.

The stored version of a uuid is the received one with the largest update_time. It does not depend on the order of
arrival, as long as times grow from one change to the next (``Config.advancing_times``). Vector clocks decide which
version is newer, even against the times. The stored records alone determine which of several records with one key is
visible.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import replace

from . import json_text
from .config import AccessLevel, Config, LoserOfKey, Relay, Resolution
from .effects import Changed, Conflict, Effects
from .errors import ConfigurationError, MalformedMessageError, RefusedWriteError
from .framing import Message
from .json_text import MAX_BODY_BYTES
from .logical_clock import LogicalClock
from .messages import update_body
from .record import NULL, Record, StoredRecord
from .resolution import key_of_loser, merge_values, pick_winner, uuid_of_loser
from .store import Store
from .timestamps import Timestamp, from_nanoseconds, nanoseconds_up
from .vector_clock import MAX_INTEGER, is_before, is_id

Draw = Callable[[int], bytes]
"""Returns random bytes. Its argument is the number of bytes."""
_MARGIN = 1_024
"""Maximum number of bytes of a body without its key, value and vector clock, plus a reserve for a growing clock."""


class Database(ABC):
    """The records of one peer. The peer decides where changes are sent."""

    before = staticmethod(is_before)
    clock_class: type[LogicalClock] = LogicalClock

    def __init__(self, peer_id: str, level: AccessLevel, config: Config, store: Store, draw: Draw) -> None:
        """Open the records of a peer. Raises ConfigurationError for an invalid peer ID."""
        if not is_id(peer_id):
            raise ConfigurationError("a peer ID must have 32 lower-case hex digits")
        self.peer_id = peer_id
        self.level = level
        self.config = config
        self.store = store
        self.keeps_originals = not self.writes or config.relay is Relay.REPEATS
        self.logical_clock = self.clock_class(peer_id, config, store, keeps_originals=self.keeps_originals)
        self._draw = draw

    @property
    def writes(self) -> bool:
        """May this peer "change or delete data" (section "Access Levels")?"""
        return self.level is AccessLevel.READ_WRITE

    @abstractmethod
    def send_to_subscribers(self, stored: StoredRecord, effects: Effects, source: int | None = None) -> None:
        """Rule: "Repeat the message to all of its peers", except to the peer that it came from.

        ``source`` is the number of the link on which the change arrived; None for an own change.
        """

    # ---- Local changes -------------------------------------------------------------------------------------------

    def write(self, key: str, value: str, now_ms: int, uuid: str, effects: Effects) -> str:
        """Create a record, or change the record that has the key. Returns the uuid. Raises RefusedWriteError."""
        value = json_text.normalize(value)
        current = self.store.leader(key)
        if current is not None:
            uuid = current.record.uuid
        elif not uuid or self.store.get(uuid) is not None:
            uuid = self.new_uuid()
        self.refuse_unwritable([current], now_ms)
        self.change(current, uuid, (key, value, False), self.time_of_change(now_ms, [current]), effects)
        return uuid

    def change_key(self, key: str, new_key: str, now_ms: int, effects: Effects) -> str:
        """Give the record another key, and delete the record that has the new key.

        Returns the uuid. Raises RefusedWriteError.
        """
        current, *hidden = self.records_with_existing_key(key)
        self.refuse_unwritable([current], now_ms)
        if key != new_key:
            replaced = [*hidden, *self.store.records_with_key(new_key)]
            self.refuse_unwritable([current, *replaced], now_ms)
            for other in replaced:
                self.mark_deleted(other, now_ms, effects)
            after = self.time_of_change(now_ms, [current, *replaced])
            self.change(current, current.record.uuid, (new_key, current.record.value, False), after, effects)
        return current.record.uuid

    def delete_by_key(self, key: str, now_ms: int, effects: Effects) -> str:
        """Delete the record that has a key, and the hidden records with the same key.

        Returns the uuid. Raises RefusedWriteError.
        """
        current, *hidden = self.records_with_existing_key(key)
        self.refuse_unwritable([current, *hidden], now_ms)
        for other in (*hidden, current):
            self.mark_deleted(other, now_ms, effects)
        return current.record.uuid

    def mark_deleted(self, stored: StoredRecord, now_ms: int, effects: Effects) -> None:
        """Store and send a deletion as a change, because deleted records are tracked "indefinitely"."""
        deleted = (stored.record.key, NULL, True)
        self.change(stored, stored.record.uuid, deleted, self.time_of_change(now_ms, [stored]), effects)

    def records_with_existing_key(self, key: str) -> list[StoredRecord]:
        """The existing records with a key, the visible one first.

        Raises RefusedWriteError if there is none.
        """
        found = list(self.store.records_with_key(key))
        if not found:
            raise RefusedWriteError(f"no record has the key {key[:40]!r}")
        return found

    def new_uuid(self) -> str:
        """Rule: "A unique 128-bit ID, chosen at random"."""
        return self._draw(16).hex()

    def time_of_change(self, now_ms: int, after: Iterable[StoredRecord | None]) -> Timestamp:
        """The update_time of a change, later than the times of the records in ``after`` (None is a new record)."""
        unit = 10 ** (9 - self.config.time_digits)
        time = now_ms * 1_000_000 // unit * unit
        if self.config.advancing_times:
            for stored in after:
                if stored is not None:
                    time = max(time, -(-nanoseconds_up(stored.record.update_time) // unit) * unit)
        return from_nanoseconds(time, self.config.time_digits)

    def change(
        self,
        current: StoredRecord | None,
        uuid: str,
        content: tuple[str, str, bool],
        time: Timestamp,
        effects: Effects,
        *,
        is_resolution: bool = False,
    ) -> None:
        """Store a change of this peer and send it: "When a record change originates locally".

        ``current`` is the version before the change, None for a new record; ``content`` is (key, value, deleted).
        Raises RefusedWriteError.
        """
        key, value, deleted = content
        revision = self.next_revision(current)
        if revision > MAX_INTEGER:
            raise RefusedWriteError("the revision counter has reached its maximum")
        clock = self.logical_clock.clock_of_change(current)
        record = Record(uuid, key, value, self.peer_id, revision, time, clock, deleted)
        if _is_large(record):
            raise RefusedWriteError("the record is too large for a message")
        self.store.count(revision)
        self.store.learn(self.peer_id, revision)
        stored = StoredRecord(record, clock[self.peer_id])
        self.store_and_signal(stored, effects, own=not is_resolution)
        self.send_to_subscribers(stored, effects)

    def next_revision(self, current: StoredRecord | None) -> int:
        """Rule: "The revision counter is incremented by one and its value is written to the last_updated_rev field"."""
        return self.store.revision + 1

    def refuse_unwritable(self, changed: list[StoredRecord | None], now_ms: int) -> None:
        """Raises RefusedWriteError if this peer cannot change one of the records; None stands for a new record."""
        if not self.writes:
            raise RefusedWriteError('a read-only peer "can read all data, but cannot change it"')
        if self.store.revision + len(changed) > MAX_INTEGER:
            raise RefusedWriteError("the revision counter has reached its maximum")
        self.time_of_change(now_ms, changed)
        for stored in changed:
            self.logical_clock.clock_of_change(stored)

    # ---- Changes of others ---------------------------------------------------------------------------------------

    def apply_update(self, incoming: Record, signed: Message | None, source: int, effects: Effects) -> None:
        """Process an update. Raises MalformedMessageError before anything is changed."""
        current = self.store.get(incoming.uuid)
        if current is not None and self.is_present(current.record, incoming):
            self.learn_clock(current, incoming)
        elif current is None or not self.is_older(incoming, current.record):
            stored = self.make_stored_record(current, incoming, signed)
            if current is None or self.is_newer(incoming, current.record):
                self.store_update(current, stored, source, effects)
            else:
                self.resolve(current, stored, incoming, source, effects)
        self.learn(incoming)

    def is_present(self, current: Record, incoming: Record) -> bool:
        """Rule: "Look at its database to see if the update is already present": is its version stored (CA-3)?"""
        return current.version == incoming.version

    def is_older(self, incoming: Record, current: Record) -> bool:
        """Rule: "If incoming.before(current), then the incoming record can be discarded".

        A record with an equal clock is discarded as well.
        """
        return self.before(incoming.vector_clock, current.vector_clock)

    def is_newer(self, incoming: Record, current: Record) -> bool:
        """Rule: "If current.before(incoming), then the incoming record replaces the existing record"."""
        return self.before(current.vector_clock, incoming.vector_clock)

    def learn(self, incoming: Record) -> None:
        """Update the highest known revision of the writer of an update.

        The writer can be this peer itself: if it lost its store, it learns its own revisions from others.
        """
        by, revision = incoming.version
        if revision > self.store.known.get(by, 0):
            self.store.learn(by, revision)
        if by == self.peer_id and revision > self.store.revision:
            self.store.count(revision)

    def learn_clock(self, current: StoredRecord, incoming: Record) -> None:
        """Merge the clock of a known version that arrives with another clock.

        It has another clock if another peer has resolved a conflict in favour of this version.
        """
        if not self.before(incoming.vector_clock, current.record.vector_clock):
            clock, ticks = self.logical_clock.count_reception(current, incoming.vector_clock)
            self.store_record(self.logical_clock.with_clock(current, clock, ticks))

    def make_stored_record(
        self, current: StoredRecord | None, incoming: Record, signed: Message | None
    ) -> StoredRecord:
        """The record to store for an update, with the writer, revision and time that the update names.

        Raises MalformedMessageError.
        """
        clock, ticks = self.logical_clock.count_reception(current, incoming.vector_clock)
        record = replace(incoming, vector_clock=clock)
        if _is_large(record):
            raise MalformedMessageError("with the vector clock of this peer, the update is too large for a message")
        own = incoming.last_updated_by == self.peer_id
        return StoredRecord(record, ticks, sent=own, signed=signed if self.keeps_originals else None)

    def store_update(self, current: StoredRecord | None, stored: StoredRecord, source: int, effects: Effects) -> None:
        """Store an update, send it to the subscribers, and resolve a conflict with another record that has its key."""
        record = stored.record
        rival = None
        if not record.deleted and (current is None or current.record.deleted or current.record.key != record.key):
            rival = self.store.leader(record.key)
        if rival is not None:
            effects.events.append(Conflict(rival.record.uuid, record.uuid))
        self.store_and_signal(stored, effects, own=False)
        self.send_to_subscribers(stored, effects, source)
        if rival is not None:
            self.resolve_key(rival.record.uuid, record.uuid, effects)

    # ---- Conflicts -----------------------------------------------------------------------------------------------

    def resolve(
        self, current: StoredRecord, stored: StoredRecord, incoming: Record, source: int, effects: Effects
    ) -> None:
        """Resolve a conflict of two versions: "The same record is changed on two different hosts"."""
        uuid = incoming.uuid
        effects.events.append(Conflict(uuid, uuid))
        winner, loser = self.decide(current.record, incoming)
        if winner is incoming:
            self.store_update(current, stored, source, effects)
        else:
            self.store_record(self.logical_clock.with_clock(current, stored.record.vector_clock, stored.ticks))
        if winner.content == loser.content:
            return
        if self.config.resolution is Resolution.MERGE:
            self.merge(uuid, winner, loser, effects)
        elif self.config.resolution is Resolution.SEPARATE:
            self.separate(loser, effects)

    def decide(self, one: Record, other: Record) -> tuple[Record, Record]:
        """The winner and the loser of a conflict."""
        return pick_winner(one, other)

    def resolve_key(self, uuid: str, other_uuid: str, effects: Effects) -> None:
        """Resolve a conflict of keys: "Two records with the same key are created on two different peers"."""
        one, other = self.store.get(uuid), self.store.get(other_uuid)
        assert one is not None, "the record that had the key is still stored"
        assert other is not None, "the record that arrived has been stored"
        winner, loser = self.decide(one.record, other.record)
        if self.config.resolution is Resolution.MERGE:
            self.merge(winner.uuid, winner, loser, effects)
        elif self.config.resolution is Resolution.SEPARATE:
            self.separate(loser, effects)
        elif not self.deletes_loser(loser):
            return
        self.write_resolution(loser.uuid, (loser.key, NULL, True), loser, effects)

    def deletes_loser(self, loser: Record) -> bool:
        """Is a record that loses its key deleted, instead of only hidden?"""
        own = self.config.loser_of_key is LoserOfKey.ITS_WRITER and loser.last_updated_by == self.peer_id
        return own or self.config.loser_of_key is LoserOfKey.EVERYBODY

    def merge(self, uuid: str, winner: Record, loser: Record, effects: Effects) -> None:
        """Merge the members of the loser into the winner.

        No change is made if the loser adds nothing, so that merging ends.
        """
        value = merge_values(winner, loser)
        if value != winner.value:
            self.write_resolution(uuid, (winner.key, value, winner.deleted), winner, effects)

    def separate(self, loser: Record, effects: Effects) -> None:
        """Store the loser as a separate record with a derived uuid, unless that record exists."""
        uuid = uuid_of_loser(loser)
        if not loser.deleted and self.store.get(uuid) is None:
            self.write_resolution(uuid, (key_of_loser(loser), loser.value, False), loser, effects)

    def write_resolution(self, uuid: str, content: tuple[str, str, bool], of: Record, effects: Effects) -> None:
        """Write the change that resolves a conflict. A peer that cannot write waits for another peer's change.

        ``content`` is (key, value, deleted). The change has the time of the record ``of``. A later time could beat a
        change of another peer that has not arrived yet.
        """
        if self.writes:
            with suppress(RefusedWriteError):
                time = from_nanoseconds(nanoseconds_up(of.update_time), 9)
                self.change(self.store.get(uuid), uuid, content, time, effects, is_resolution=True)

    # ---- What is stored ------------------------------------------------------------------------------------------

    def store_and_signal(self, stored: StoredRecord, effects: Effects, *, own: bool) -> None:
        """Store a record. Signal the differences to the application, unless the application made the change."""
        record = stored.record
        before_it = self.store.get(record.uuid)
        existing = [each.record for each in (before_it, stored) if each is not None and not each.record.deleted]
        leaders = {each.key: self.store.leader(each.key) for each in existing}
        self.store_record(stored)
        changed = [] if own else [record.uuid]
        for key, leader in leaders.items():
            now = self.store.leader(key)
            having = {each.record.uuid for each in (leader, now) if each is not None}
            if len(having) > 1 or leader is None or now is None:
                changed += sorted(having - {record.uuid})
        for uuid in changed:
            if (found := self.store.get(uuid)) is not None:
                effects.events.append(Changed(self.as_shown(found)))

    def store_record(self, stored: StoredRecord) -> None:
        """Store a record, and update the logical clock with its vector clock."""
        self.store.put(stored)
        self.logical_clock.remember(stored)

    def as_shown(self, stored: StoredRecord) -> Record:
        """A record as the application sees it.

        "The key should still be unique": only one record with a key is visible.
        """
        record = stored.record
        if record.deleted:
            return record
        leader = self.store.leader(record.key)
        return record if leader is not None and leader.record.uuid == record.uuid else replace(record, deleted=True)

    def records(self) -> list[Record]:
        """All records as the application sees them, including deleted ones."""
        return [self.as_shown(stored) for stored in self.store]


def _is_large(record: Record) -> bool:
    """Could the body exceed MAX_BODY_BYTES when the record is sent, which may enlarge its vector clock?"""
    most = 6 * len(record.key) + 4 * len(record.value) + 64 * len(record.vector_clock) + _MARGIN
    return most > MAX_BODY_BYTES and len(update_body(record, writes_deleted_false=True)) + _MARGIN > MAX_BODY_BYTES

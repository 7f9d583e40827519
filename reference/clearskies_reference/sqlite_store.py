"""A store in a file, by the SQLite of the standard library. SQLite creates -wal and -shm files next to the file.

A commit survives any end of the process. It may not survive a power failure, because commits do not wait for the disk.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from .errors import ConfigurationError, StoreError
from .framing import Message
from .record import Record, StoredRecord
from .store import Store
from .timestamps import Timestamp
from .vector_clock import VectorClock

_SCHEMA = """
CREATE TABLE IF NOT EXISTS facts (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS known (peer_id TEXT PRIMARY KEY, revision INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS records (
  uuid TEXT PRIMARY KEY,
  key TEXT NOT NULL,
  value TEXT NOT NULL,
  last_updated_by TEXT NOT NULL,
  last_updated_rev INTEGER NOT NULL,
  update_time TEXT NOT NULL,
  seconds INTEGER NOT NULL,
  fraction TEXT NOT NULL,
  vector_clock TEXT NOT NULL,
  deleted INTEGER NOT NULL,
  ticks INTEGER NOT NULL,
  sent INTEGER NOT NULL,
  body BLOB,
  signature BLOB
);
CREATE INDEX IF NOT EXISTS by_revision ON records (last_updated_by, last_updated_rev);
CREATE INDEX IF NOT EXISTS by_key ON records (key, seconds, fraction, last_updated_by, last_updated_rev, uuid)
  WHERE NOT deleted;
"""
_SHIFT = 1 << 63
"""SQLite has only signed integers: this offset is subtracted from unsigned integers, which keeps their order."""


class SqliteStore(Store):
    """The store of one peer in a file. Raises StoreError where the file cannot be read or written."""

    def __init__(self, path: str, peer_id: str, revision: int) -> None:
        """Open the store in a file.

        The counter of a new store starts at ``revision``. Raises ConfigurationError for the store of another peer.
        """
        with _StoreErrors(path):
            # Only one thread at a time uses the store, but not always the thread that opened it.
            self._connection = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
        try:
            with _StoreErrors(path):
                self._connection.execute("PRAGMA journal_mode = WAL")
                self._connection.execute("PRAGMA synchronous = OFF")
                self._connection.executescript(_SCHEMA)
                self._begun = False
                owner = self._fact("peer_id", peer_id)
                if owner != peer_id:
                    raise ConfigurationError(f"the store belongs to the peer {owner}")
                self._fact("revision", str(revision))
                self._fact("clock", "{}")
                self._load()
                self.commit()
        except BaseException:
            self._connection.close()
            raise

    def _fact(self, name: str, default: str) -> str:
        """Read the value called ``name`` of the table ``facts``. If there is none, store ``default`` first."""
        self._execute("INSERT OR IGNORE INTO facts VALUES (?, ?)", name, default)
        (value,) = self._connection.execute("SELECT value FROM facts WHERE name = ?", (name,)).fetchone()
        return str(value)

    def _load(self) -> None:
        facts = dict(self._connection.execute("SELECT name, value FROM facts"))
        self.revision = int(facts["revision"])
        self.clock = json.loads(facts["clock"])
        rows = self._connection.execute("SELECT peer_id, revision FROM known ORDER BY peer_id")
        self.known = {peer_id: revision + _SHIFT for peer_id, revision in rows}

    def _execute(self, statement: str, *values: object) -> None:
        """Execute a statement that changes the database."""
        with _StoreErrors("the store"):
            if not self._begun:
                self._connection.execute("BEGIN")
                self._begun = True
            self._connection.execute(statement, values)

    def _select(self, condition: str, *values: object) -> Iterator[StoredRecord]:
        with _StoreErrors("the store"):
            for row in self._connection.execute(f"SELECT * FROM records {condition}", values):
                yield _stored_record(row)

    def get(self, uuid: str) -> StoredRecord | None:
        return next(self._select("WHERE uuid = ?", uuid), None)

    def put(self, stored: StoredRecord) -> None:
        self._execute(f"INSERT OR REPLACE INTO records VALUES ({', '.join('?' * 14)})", *_row(stored))

    def records_with_key(self, key: str) -> Iterable[StoredRecord]:
        order = ("seconds", "fraction", "last_updated_by", "last_updated_rev", "uuid")
        falling = ", ".join(f"{column} DESC" for column in order)
        return self._select(f"WHERE key = ? AND NOT deleted ORDER BY {falling}", key)

    def since(self, since: Mapping[str, int]) -> list[StoredRecord]:
        condition = "WHERE last_updated_by = ? AND last_updated_rev > ?"
        found = [stored for by in self.known for stored in self._select(condition, by, since.get(by, 0) - _SHIFT)]
        return sorted(found, key=lambda stored: (stored.record.last_updated_rev, stored.record.uuid))

    def __iter__(self) -> Iterator[StoredRecord]:
        return iter(list(self._select("ORDER BY uuid")))

    def count(self, revision: int) -> None:
        self._execute("UPDATE facts SET value = ? WHERE name = 'revision'", str(revision))
        self.revision = revision

    def learn(self, peer_id: str, revision: int) -> None:
        self._execute("INSERT OR REPLACE INTO known VALUES (?, ?)", peer_id, revision - _SHIFT)
        self.known[peer_id] = revision

    def set_clock(self, clock: VectorClock) -> None:
        self._execute("UPDATE facts SET value = ? WHERE name = 'clock'", json.dumps(dict(clock)))
        self.clock = clock

    def commit(self) -> None:
        if self._begun:
            with _StoreErrors("the store"):
                self._connection.execute("COMMIT")
            self._begun = False

    def rollback(self) -> None:
        if self._begun:
            self._begun = False
            with _StoreErrors("the store"):
                if self._connection.in_transaction:
                    self._connection.execute("ROLLBACK")
                self._load()

    def close(self) -> None:
        self.rollback()
        self._connection.close()


class _StoreErrors:
    """Converts errors of SQLite to StoreError."""

    def __init__(self, where: str) -> None:
        self._where = where

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: object) -> None:
        # ValueError and KeyError: the file has numbers or JSON that this module did not write.
        if isinstance(error, (sqlite3.Error, ValueError, KeyError)) and not isinstance(error, ConfigurationError):
            raise StoreError(f"{self._where}: {error}") from None


def _row(stored: StoredRecord) -> tuple[object, ...]:
    record, signed = stored.record, stored.signed
    return (
        record.uuid,
        record.key,
        record.value,
        record.last_updated_by,
        record.last_updated_rev - _SHIFT,
        record.update_time.text,
        record.update_time.seconds,
        record.update_time.fraction,
        json.dumps(dict(record.vector_clock)),
        record.deleted,
        stored.ticks - _SHIFT,
        stored.sent,
        signed.body if signed else None,
        signed.signature if signed else None,
    )


def _stored_record(row: tuple[Any, ...]) -> StoredRecord:
    uuid, key, value, by, rev, text, seconds, fraction, clock, deleted, ticks, sent, body, signature = row
    record = Record(
        uuid=uuid,
        key=key,
        value=value,
        last_updated_by=by,
        last_updated_rev=rev + _SHIFT,
        update_time=Timestamp(seconds, fraction, text),
        vector_clock=json.loads(clock),
        deleted=bool(deleted),
    )
    return StoredRecord(record, ticks + _SHIFT, bool(sent), None if body is None else Message(body, signature))

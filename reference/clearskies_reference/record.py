"""Section "Database Layout": the record, "the key-value pair and some associated bookkeeping metadata"."""

from __future__ import annotations

from dataclasses import dataclass

from .framing import Message
from .timestamps import Timestamp
from .vector_clock import VectorClock

Version = tuple[str, int]
"""The last writer and the number of its write; unique for each write."""
Rank = tuple[int, str, str, int, str]
"""Orders versions in a conflict, in the same way on all peers: the version with the larger rank wins."""

NULL = "null"
"""The value of a record that is deleted (CA-13)."""


@dataclass(frozen=True, slots=True)
class Record:
    """One record, as it goes over the wire."""

    uuid: str
    """32 lower-case hex digits; ``last_updated_by`` has the same form."""
    key: str
    value: str
    """JSON text in the form that ``json_text.write`` produces."""
    last_updated_by: str
    last_updated_rev: int
    update_time: Timestamp
    vector_clock: VectorClock
    deleted: bool = False

    @property
    def version(self) -> Version:
        """The identity of this version of the record."""
        return self.last_updated_by, self.last_updated_rev

    @property
    def content(self) -> tuple[str, str, bool]:
        """The fields that the application sees."""
        return self.key, self.value, self.deleted

    @property
    def rank(self) -> Rank:
        """The largest update_time wins (CSDB-54). Between equal times, IDs decide; any decision is accepted (CA-9)."""
        time = self.update_time
        return time.seconds, time.fraction, self.last_updated_by, self.last_updated_rev, self.uuid


@dataclass(frozen=True, slots=True)
class StoredRecord:
    """A record and the local data that a peer stores about it."""

    record: Record
    ticks: int = 0
    """The number of this peer in the logical clock that it keeps for the record. In the vector clock of the record, the
    number may be smaller."""
    sent: bool = False
    """Whether this peer has sent this version."""
    signed: Message | None = None
    """The signed message with this version. A read-only peer keeps the original message, which it must relay
    unchanged."""

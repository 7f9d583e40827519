"""Section "Conflicts": the four rules by which vector clocks are updated.

1. "At first all values are zero." 2. A local change increases the peer's own number. 3. Sending a record increases it.
4. Receiving a record increases it, and every other number becomes the maximum of the stored and the received number.

Applied literally to the clock in a record, rules 3 and 4 fail: B increases its number when it receives A's change. A
does not know this number, so A's next change looks concurrent on B. Therefore B keeps these counts in a local number
(``StoredRecord.ticks``), which it sends when it changes the record itself. The first sending of an own change is
counted in the record's clock: before that, no other peer has seen the change. So a change has the same clock on all
peers. Change X is before change Y exactly if the writer of Y knew X. ``Config.clocks_count_hops`` applies the rules
literally.
"""

from __future__ import annotations

from dataclasses import replace

from .config import Config
from .errors import MalformedMessageError, RefusedWriteError
from .record import StoredRecord
from .store import Store
from .vector_clock import MAX_INTEGER, MAX_MEMBERS, VectorClock, merge, with_number


class LogicalClock:
    """A peer's logical clock, one for each record or one for all (CA-7)."""

    def __init__(self, peer_id: str, config: Config, store: Store, *, keeps_originals: bool) -> None:
        """Start the clock of a peer.

        With ``keeps_originals``, signed messages of others are relayed unchanged, even if the clock of this peer
        differs (CA-2).
        """
        self.peer_id = peer_id
        self.config = config
        self.store = store
        self.keeps_originals = keeps_originals

    def clock_of_change(self, current: StoredRecord | None) -> VectorClock:
        """Return the clock of a local change (rule 2). ``current`` is the changed version; None for a new record.

        Raises RefusedWriteError if the clock is full.
        """
        seen = current.record.vector_clock if current is not None else {}
        if self.config.clock_per_peer:
            seen = merge(seen, self.store.clock)
        number = self._next(current, seen)
        clock = with_number(seen, self.peer_id, number)
        if number > MAX_INTEGER or len(clock) > MAX_MEMBERS:
            raise RefusedWriteError("the vector clock is full: the record cannot be changed any more")
        return clock

    def count_sending(self, stored: StoredRecord) -> StoredRecord:
        """Rule 3: increase the peer's own number when a record is sent."""
        if stored.sent and not self.config.clocks_count_hops:
            return stored
        record = stored.record
        number = min(self._next(stored, record.vector_clock), MAX_INTEGER)
        if not (record.last_updated_by == self.peer_id or self.config.clocks_count_hops):
            return replace(stored, ticks=number, sent=True)
        clock = with_number(record.vector_clock, self.peer_id, number)
        return replace(self.with_clock(stored, clock, number), sent=True)

    def count_reception(self, current: StoredRecord | None, incoming: VectorClock) -> tuple[VectorClock, int]:
        """Rule 4: merge the received clock into the clock of a record.

        Returns the merged clock and the increased number of this peer. The clock contains this number only with
        ``clocks_count_hops``.

        Raises MalformedMessageError.
        """
        clock = merge(current.record.vector_clock, incoming) if current is not None else incoming
        number = min(self._next(current, clock), MAX_INTEGER)
        if self.config.clocks_count_hops:
            clock = with_number(clock, self.peer_id, number)
        if len(clock) > MAX_MEMBERS:
            raise MalformedMessageError(f"the vector clock would have {len(clock)} members; the limit is {MAX_MEMBERS}")
        return clock, number

    def with_clock(self, stored: StoredRecord, clock: VectorClock, ticks: int) -> StoredRecord:
        """Return a version with another clock. Drop the signature of this peer: it does not cover the new clock."""
        foreign = stored.record.last_updated_by != self.peer_id
        signed = stored.signed if self.keeps_originals and foreign else None
        return replace(stored, record=replace(stored.record, vector_clock=clock), ticks=ticks, signed=signed)

    def remember(self, stored: StoredRecord) -> None:
        """Merge the clock of a stored change into the peer's clock, if the peer has one clock for all records."""
        if self.config.clock_per_peer:
            clock = merge(self.store.clock, stored.record.vector_clock)
            self.store.set_clock(merge(clock, {self.peer_id: stored.ticks}))

    def _next(self, current: StoredRecord | None, seen: VectorClock) -> int:
        """The peer's own number for the next event: above the stored number and the number in ``seen``."""
        own = self.store.clock.get(self.peer_id, 0) if self.config.clock_per_peer else 0
        return max(own, current.ticks if current is not None else 0, seen.get(self.peer_id, 0)) + 1

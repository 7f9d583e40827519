"""Peers of legal variants with other choices in conflicts: in vector clocks, and in records that lose their key."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from .effects import Effects
from .messages import GetUpdates
from .peer import Peer
from .record import NULL, Record, StoredRecord
from .vector_clock import merge


class CountsEachSending(Peer):
    """Increases its own number in the vector clock once for each recipient of an update ("As part of sending a record
    to another peer"), not once for each update."""

    def send_to_subscribers(self, stored: StoredRecord, effects: Effects, source: int | None = None) -> None:
        everybody = self.links
        for link in [link for link in everybody.values() if self.is_recipient(link, source)]:
            self.links = {link.number: link}
            super().send_to_subscribers(self.store.get(stored.record.uuid) or stored, effects, None)
        self.links = everybody


class WritesResolutions(Peer):
    """The specification does not say whether the resolution of a conflict is a separate change (CA-8): for this peer,
    it is."""

    def resolve(
        self, current: StoredRecord, stored: StoredRecord, incoming: Record, source: int, effects: Effects
    ) -> None:
        super().resolve(current, stored, incoming, source, effects)
        winner, loser = self.decide(current.record, incoming)
        if winner.content != loser.content:
            self.write_resolution(incoming.uuid, winner.content, winner, effects)


def _by_rank(peer: Peer, uuid: str, other_uuid: str) -> tuple[StoredRecord, StoredRecord]:
    """Of two stored records with the same key, return the one that keeps the key, and the one that loses it."""
    one, other = peer.store.get(uuid), peer.store.get(other_uuid)
    assert one is not None, "the record that had the key is still stored"
    assert other is not None, "the record that arrived has been stored"
    return (one, other) if peer.decide(one.record, other.record)[0] is one.record else (other, one)


class MergesClocksOfKeys(WritesResolutions):
    """ "The resulting record should merge the two VCs": in a conflict of keys, the record that keeps the key gets the
    merged clock. A later change of its writer can be concurrent to it."""

    def resolve_key(self, uuid: str, other_uuid: str, effects: Effects) -> None:
        kept, lost = _by_rank(self, uuid, other_uuid)
        clock = merge(kept.record.vector_clock, lost.record.vector_clock)
        self.store_record(self.logical_clock.with_clock(kept, clock, kept.ticks))
        super().resolve_key(uuid, other_uuid, effects)


class _LosersOfKeys(Peer):
    def loser_of(self, uuid: str, other_uuid: str) -> Record:
        """Of two records with the same key, return the one that loses the key."""
        return _by_rank(self, uuid, other_uuid)[1].record


class DropsLosersOfKeys(_LosersOfKeys):
    """Does not show the loser of two records with one key, nor send it in answers: "simply use the record" with the
    later time.
    """

    def __init__(self, *details: Any, **more: Any) -> None:
        super().__init__(*details, **more)
        self.dropped = {stored.record.uuid for stored in self.store if self.is_without_key(stored)}
        records_with_key = self.store.records_with_key
        # A dropped record does not get the key again if the other record loses it.
        self.store.records_with_key = lambda key: (  # type: ignore[method-assign]
            stored for stored in records_with_key(key) if stored.record.uuid not in self.dropped
        )

    def is_without_key(self, stored: StoredRecord) -> bool:
        """Is the record hidden because another record has the same key?"""
        leader = self.store.leader(stored.record.key)
        return not stored.record.deleted and leader is not None and leader.record.uuid != stored.record.uuid

    def resolve_key(self, uuid: str, other_uuid: str, effects: Effects) -> None:
        self.dropped.add(self.loser_of(uuid, other_uuid).uuid)

    def store_and_signal(self, stored: StoredRecord, effects: Effects, *, own: bool) -> None:
        self.dropped.discard(stored.record.uuid)
        super().store_and_signal(stored, effects, own=own)

    def missing(self, request: GetUpdates) -> list[StoredRecord]:
        return [stored for stored in super().missing(request) if stored.record.uuid not in self.dropped]

    def records(self) -> list[Record]:
        return [record for record in super().records() if record.uuid not in self.dropped]


class MarksLosersOfKeysDeleted(DropsLosersOfKeys):
    """Shows a record that lost its key as deleted, and answers requests with a deletion. The specification does not
    say how to show such records (CA-8)."""

    def _marked(self, record: Record) -> Record:
        return replace(record, value=NULL, deleted=True) if record.uuid in self.dropped else record

    def missing(self, request: GetUpdates) -> list[StoredRecord]:
        stored = super(DropsLosersOfKeys, self).missing(request)
        return [replace(each, record=self._marked(each.record)) for each in stored]

    def records(self) -> list[Record]:
        return [self._marked(record) for record in super(DropsLosersOfKeys, self).records()]


class RenamesLosersOfKeys(_LosersOfKeys):
    """The specification does not say how to handle a record that lost its key: each peer gives it another key
    (CA-8)."""

    def resolve_key(self, uuid: str, other_uuid: str, effects: Effects) -> None:
        loser = self.loser_of(uuid, other_uuid)
        self.write_resolution(loser.uuid, (f"{loser.key} ({loser.uuid[:8]})", loser.value, False), loser, effects)


class DecidesAmongEquals(Peer):
    """ "The incoming record can be discarded" if the clocks are equal: here, different content is a conflict."""

    def is_older(self, incoming: Record, current: Record) -> bool:
        equal = incoming.vector_clock == current.vector_clock
        return super().is_older(incoming, current) and not (equal and incoming.content != current.content)

    def is_newer(self, incoming: Record, current: Record) -> bool:
        return super().is_newer(incoming, current) and incoming.vector_clock != current.vector_clock


class OrdersVersionsOfAWriter(Peer):
    """A peer increments its revision counter with each change: of two versions of one writer, the one with the larger
    revision descends from the other, whatever their clocks are."""

    def is_older(self, incoming: Record, current: Record) -> bool:
        if incoming.last_updated_by == current.last_updated_by:
            return incoming.last_updated_rev < current.last_updated_rev
        return super().is_older(incoming, current)

    def is_newer(self, incoming: Record, current: Record) -> bool:
        if incoming.last_updated_by == current.last_updated_by:
            return incoming.last_updated_rev > current.last_updated_rev
        return super().is_newer(incoming, current)

"""Faults in conflicts that follow other conflicts, and in conflicts of records that had lost their key."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from ..config import AccessLevel
from ..effects import Effects
from ..messages import GetUpdates
from ..peer import ClubLink, Peer
from ..record import Record, StoredRecord
from ..store import MemoryStore
from ..timestamps import Timestamp
from .registry import fault, mutant, register_faults
from .restarts import KnowsRestarts

# ---- Conflicts after conflicts ---------------------------------------------------------------------------------------


class _CountsConflicts(Peer):
    """Decides some conflicts wrongly, depending on how many conflicts the record had before."""

    def __init__(self, *details: Any, **more: Any) -> None:
        super().__init__(*details, **more)
        self.conflicts: dict[str, int] = {}

    def decide(self, one: Record, other: Record) -> tuple[Record, Record]:
        if one.uuid != other.uuid:
            return super().decide(one, other)
        self.conflicts[one.uuid] = self.conflicts.get(one.uuid, 0) + 1
        return self.decide_again(one, other, self.conflicts[one.uuid])

    def decide_again(self, one: Record, other: Record, number: int) -> tuple[Record, Record]:
        """Decide the ``number``-th conflict (from 1) of a record, between its stored version ``one`` and ``other``."""
        return super().decide(one, other)


@register_faults
class _LaterConflicts(_CountsConflicts):
    @fault(
        _CountsConflicts.decide_again, "54", "keeps the winner of the first conflict of a record in all later conflicts"
    )
    def keeps_the_first_outcome(self, one: Record, other: Record, number: int) -> tuple[Record, Record]:
        return super().decide_again(one, other, number) if number == 1 else (one, other)

    @fault(
        _CountsConflicts.decide_again, "54", "lets the incoming version win all conflicts of a record except the first"
    )
    def prefers_the_third(self, one: Record, other: Record, number: int) -> tuple[Record, Record]:
        return super().decide_again(one, other, number) if number == 1 else (other, one)

    @fault(
        _CountsConflicts.decide_again,
        "54",
        "keeps the winner of the second conflict of a record in all later conflicts",
    )
    def keeps_the_second_outcome(self, one: Record, other: Record, number: int) -> tuple[Record, Record]:
        return super().decide_again(one, other, number) if number < 3 else (one, other)


@mutant("54", "in later conflicts of a record, compares with the update_time of its version in the first conflict")
class ComparesTheFirstTime(_CountsConflicts):
    def __init__(self, *details: Any, **more: Any) -> None:
        super().__init__(*details, **more)
        self._times: dict[str, Timestamp] = {}

    def decide_again(self, one: Record, other: Record, number: int) -> tuple[Record, Record]:
        time = self._times.setdefault(one.uuid, one.update_time)
        return (other, one) if other.update_time > time else (one, other)


@register_faults
class _SomeConflicts(Peer):
    @fault(Peer.decide, "54", "keeps its version in a conflict with another version by the same writer")
    def keeps_the_first_of_one_writer(self, one: Record, other: Record) -> tuple[Record, Record]:
        same = one.uuid == other.uuid and one.last_updated_by == other.last_updated_by
        return (one, other) if same else super().decide(one, other)

    @fault(Peer.decide, "54", "keeps the present version in a conflict about a record that had lost its key")
    def keeps_versions_of_hidden_records(self, one: Record, other: Record) -> tuple[Record, Record]:
        leader = self.store.leader(one.key)
        hidden = one.uuid == other.uuid and leader is not None and leader.record.uuid != one.uuid
        return (one, other) if hidden else super().decide(one, other)


@mutant("54", "keeps the present version in conflicts with versions that read-only peers relay")
class PrefersItsOwnToReaders(Peer):
    _source = 0

    def resolve(
        self, current: StoredRecord, stored: StoredRecord, incoming: Record, source: int, effects: Effects
    ) -> None:
        self._source = source
        super().resolve(current, stored, incoming, source, effects)

    def decide(self, one: Record, other: Record) -> tuple[Record, Record]:
        link = self.links.get(self._source)
        from_reader = link is not None and link.level is AccessLevel.READ_ONLY
        return (one, other) if from_reader and one.uuid == other.uuid else super().decide(one, other)


@mutant("54", "keeps the present version in conflicts after a restart")
class KeepsThePresentAfterARestart(KnowsRestarts):
    def decide(self, one: Record, other: Record) -> tuple[Record, Record]:
        return (one, other) if self.was_restarted and one.uuid == other.uuid else super().decide(one, other)


@mutant("54", "lets own changes that it has not sent win each conflict")
class PrefersUnsentChanges(Peer):
    def __init__(self, *details: Any, **more: Any) -> None:
        super().__init__(*details, **more)
        self._sent: set[tuple[str, int]] = set()

    def to_wire(self, stored: StoredRecord, link: ClubLink) -> bytes:
        self._sent.add(stored.record.version)
        return super().to_wire(stored, link)

    def decide(self, one: Record, other: Record) -> tuple[Record, Record]:
        own = one.uuid == other.uuid and one.last_updated_by == self.peer_id
        return (one, other) if own and one.version not in self._sent else super().decide(one, other)


# ---- Records that had lost their key ---------------------------------------------------------------------------------


class _OrdersOtherwise(Peer):
    """Orders the records with one key by a wrong criterion, not by the time of their last change."""

    def __init__(self, *details: Any, **more: Any) -> None:
        super().__init__(*details, **more)
        if isinstance(self.store, MemoryStore):
            self._give_order(self.store)

    def _give_order(self, store: MemoryStore) -> None:
        records_with_key = store.records_with_key

        def ordered(key: str) -> list[StoredRecord]:
            return self.order(list(records_with_key(key)))

        store.records_with_key = ordered  # type: ignore[method-assign]

    def order(self, found: list[StoredRecord]) -> list[StoredRecord]:
        """Return the records with one key in another order. The first one is visible."""
        raise NotImplementedError


@mutant("54", "hides a record that has lost its key, even after a change makes it the latest record with this key")
class HidesFormerLosers(_OrdersOtherwise):
    def order(self, found: list[StoredRecord]) -> list[StoredRecord]:
        self._lost: set[str] = getattr(self, "_lost", set())
        found.sort(key=lambda stored: stored.record.uuid in self._lost)
        self._lost |= {stored.record.uuid for stored in found[1:]}
        return found


@mutant("54", "gives a key to the record whose first version is the latest")
class ComparesTimesOfCreation(_OrdersOtherwise):
    def order(self, found: list[StoredRecord]) -> list[StoredRecord]:
        self._first: dict[str, Timestamp] = getattr(self, "_first", {})
        for stored in found:
            self._first.setdefault(stored.record.uuid, stored.record.update_time)
        return sorted(found, key=lambda stored: self._first[stored.record.uuid], reverse=True)


@mutant("54", "decides which of several records has a key by the largest time that each of them ever had")
class ComparesTheLargestTimes(_OrdersOtherwise):
    def order(self, found: list[StoredRecord]) -> list[StoredRecord]:
        self._largest: dict[str, Timestamp] = getattr(self, "_largest", {})
        for stored in found:
            time = stored.record.update_time
            self._largest[stored.record.uuid] = max(time, self._largest.get(stored.record.uuid, time))
        return sorted(found, key=lambda stored: self._largest[stored.record.uuid], reverse=True)


@mutant("38", "hides a record that has lost its key even after the other record is renamed or deleted")
class HidesLosersForEver(Peer):
    """The record is shown again after an update of it."""

    def __init__(self, *details: Any, **more: Any) -> None:
        super().__init__(*details, **more)
        self._lost: set[str] = set()

    def store_record(self, stored: StoredRecord) -> None:
        super().store_record(stored)
        self._lost.discard(stored.record.uuid)
        if not stored.record.deleted:
            leader, *others = self.store.records_with_key(stored.record.key)
            self._lost.discard(leader.record.uuid)
            self._lost |= {other.record.uuid for other in others}

    def as_shown(self, stored: StoredRecord) -> Record:
        shown = super().as_shown(stored)
        return replace(shown, deleted=True) if stored.record.uuid in self._lost else shown


@mutant(
    "38", "hides a record that had lost its key before a restart, even after the other record is renamed or deleted"
)
class HidesLosersAfterARestart(Peer):
    """The record is shown again after an update of it."""

    def __init__(self, *details: Any, **more: Any) -> None:
        super().__init__(*details, **more)
        self._lost = {k.record.uuid for k in self.store if self.as_shown(k).deleted and not k.record.deleted}

    def store_record(self, stored: StoredRecord) -> None:
        super().store_record(stored)
        self._lost.discard(stored.record.uuid)

    def as_shown(self, stored: StoredRecord) -> Record:
        shown = super().as_shown(stored)
        return replace(shown, deleted=True) if stored.record.uuid in getattr(self, "_lost", ()) else shown


@register_faults
class _HiddenRecords(Peer):
    @fault(Peer.missing, "37", "leaves records that lost their key out of answers, but keeps them")
    def leaves_out_hidden_records(self, request: GetUpdates) -> list[StoredRecord]:
        return [k for k in super().missing(request) if k.record.deleted or not self.as_shown(k).deleted]

    @fault(Peer.send_to_subscribers, "35", "does not relay a record whose key a later record has, but keeps it")
    def relays_no_hidden_records(self, stored: StoredRecord, effects: Effects, source: int | None = None) -> None:
        if stored.record.deleted or not self.as_shown(stored).deleted:
            super().send_to_subscribers(stored, effects, source)


@mutant("13", "hides a record from the application if a deleted record with its key has a later time")
class KeepsKeysOfDeletedRecords(Peer):
    def as_shown(self, stored: StoredRecord) -> Record:
        shown = super().as_shown(stored)
        if shown.deleted or not self._is_taken(shown):
            return shown
        return replace(shown, deleted=True)

    def _is_taken(self, record: Record) -> bool:
        gone = (stored.record for stored in self.store if stored.record.deleted and stored.record.key == record.key)
        return any(other.update_time > record.update_time for other in gone)

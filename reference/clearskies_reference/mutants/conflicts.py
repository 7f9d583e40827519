"""Faults in sections "Conflicts" and "Deleted Records": which of two records is newer, and which one wins."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

from ..config import LoserOfKey, Resolution
from ..effects import Conflict, Effects
from ..errors import MalformedMessageError
from ..framing import Message
from ..messages import GetUpdates
from ..peer import Peer
from ..record import Record, StoredRecord
from ..vector_clock import VectorClock, is_before
from .registry import add_counting_hops, add_unseen, fault, mutant, register_faults


@register_faults
class _Keys(Peer):
    @fault(Peer.apply_update, "38", "ignores a record whose key is in use")
    def first_key_wins(self, incoming: Record, signed: Message | None, source: int, effects: Effects) -> None:
        rival = None if incoming.deleted else self.store.leader(incoming.key)
        if rival is None or rival.record.uuid == incoming.uuid:
            super().apply_update(incoming, signed, source, effects)
        else:
            self.learn(incoming)

    @fault(Peer.refuse_unauthorised, "40", "refuses a record whose key is in use")
    def refuses_a_second_uuid(self, link: object, update: Record, message: Message) -> None:
        super().refuse_unauthorised(link, update, message)  # type: ignore[arg-type]
        rival = None if update.deleted else self.store.leader(update.key)
        if rival is not None and rival.record.uuid != update.uuid:
            raise MalformedMessageError("another record has this key")

    @fault(Peer.as_shown, "38", "hides both of two records with the same key")
    def hides_records_with_the_same_key(self, stored: StoredRecord) -> Record:
        rivals = list(self.store.records_with_key(stored.record.key))
        return replace(stored.record, deleted=True) if len(rivals) > 1 else super().as_shown(stored)


@mutant("38", "does not signal a conflict of two records with the same key")
class SignalsNoConflictsOfKeys(Peer):
    def store_update(self, current: StoredRecord | None, stored: StoredRecord, source: int, effects: Effects) -> None:
        super().store_update(current, stored, source, effects)
        of_keys = [e for e in effects.events if isinstance(e, Conflict) and e.uuid != e.incoming_uuid]
        effects.events = [event for event in effects.events if event not in of_keys]


@mutant("38", "shows the first received of two records with equal keys and update_times")
class ShowsTheFirstOfEquals(Peer):
    def store_and_signal(self, stored: StoredRecord, effects: Effects, *, own: bool) -> None:
        self._had: list[str] = getattr(self, "_had", [])
        if stored.record.uuid not in self._had:
            self._had.append(stored.record.uuid)
        super().store_and_signal(stored, effects, own=own)

    def as_shown(self, stored: StoredRecord) -> Record:
        rivals = [each.record for each in self.store.records_with_key(stored.record.key)]
        equal = [each.uuid for each in rivals if each.update_time == rivals[0].update_time]
        if stored.record.deleted or len(equal) < 2:
            return super().as_shown(stored)
        return replace(stored.record, deleted=stored.record.uuid != min(equal, key=self._had.index))


@register_faults
class _VersionOrder(Peer):
    @fault(Peer.is_newer, "39", "treats each version that arrives as newer than the stored version")
    def last_arrival_is_newer(self, incoming: Record, current: Record) -> bool:
        return True

    @fault(Peer.is_older, "51", "treats concurrent versions as older")
    def concurrent_is_older(self, incoming: Record, current: Record) -> bool:
        return not self.is_newer(incoming, current) or super().is_older(incoming, current)

    @fault(Peer.is_older, "48", "treats a version with an equal clock as newer")
    def equal_replaces(self, incoming: Record, current: Record) -> bool:
        return super().is_older(incoming, current) and not self.is_newer(incoming, current)

    @fault(Peer.is_older, "50", "never replaces a version by one that descends from it")
    def never_replaces(self, incoming: Record, current: Record) -> bool:
        return super().is_older(incoming, current) or self.is_newer(incoming, current)

    @fault(Peer.apply_update, "56", "treats every version as newer than a deletion")
    def replaces_every_deletion(self, incoming: Record, signed: Message | None, source: int, effects: Effects) -> None:
        current = self.store.get(incoming.uuid)
        if current is None or not current.record.deleted or self.is_present(current.record, incoming):
            super().apply_update(incoming, signed, source, effects)
            return
        self.store_update(current, self.make_stored_record(current, incoming, signed), source, effects)
        self.learn(incoming)

    @fault(Peer.is_older, "49", "replaces its version by an older version with a larger update_time")
    def larger_time_keeps_older_versions(self, incoming: Record, current: Record) -> bool:
        return super().is_older(incoming, current) and incoming.update_time <= current.update_time

    @fault(Peer.is_newer, "50", "ignores newer versions with a smaller update_time")
    def newer_needs_a_newer_time(self, incoming: Record, current: Record) -> bool:
        return super().is_newer(incoming, current) and incoming.update_time >= current.update_time

    @fault(
        Peer.is_newer, "55", "treats a version as newer if its update_time is larger, unless its vector clock is older"
    )
    def largest_time_is_newer(self, incoming: Record, current: Record) -> bool:
        return incoming.update_time > current.update_time


@mutant("49", "replaces its version by an older one")
class OlderReplaces(Peer):
    def is_older(self, incoming: Record, current: Record) -> bool:
        return super().is_older(incoming, current) and super().is_newer(incoming, current)

    def is_newer(self, incoming: Record, current: Record) -> bool:
        return super().is_newer(incoming, current) or super().is_older(incoming, current)


@mutant("55", "decides by the largest update_time instead of the vector clocks")
class LargestTimeAlwaysWins(Peer):
    def is_older(self, incoming: Record, current: Record) -> bool:
        return incoming.update_time <= current.update_time

    def is_newer(self, incoming: Record, current: Record) -> bool:
        return incoming.update_time > current.update_time


@mutant("41", "compares numbers of vector clocks as doubles")
class ComparesDoubles(Peer):
    @staticmethod
    def before(one: VectorClock, other: VectorClock) -> bool:
        return is_before(
            *({peer_id: int(float(number)) for peer_id, number in clock.items()} for clock in (one, other))
        )


@mutant("50", "compares numbers of vector clocks as text")
class ComparesDigits(Peer):
    @staticmethod
    def before(one: VectorClock, other: VectorClock) -> bool:
        return all(str(number) <= str(other.get(peer_id, 0)) for peer_id, number in one.items())


@mutant("50", "compares numbers of vector clocks in 32 bits")
class ComparesInts(Peer):
    @staticmethod
    def before(one: VectorClock, other: VectorClock) -> bool:
        return is_before(
            *({peer_id: _in_32_bits(number) for peer_id, number in clock.items()} for clock in (one, other))
        )


def _in_32_bits(number: int) -> int:
    """Convert a number to a signed integer of 32 bits, with overflow."""
    return (number + (1 << 31)) % (1 << 32) - (1 << 31)


@mutant("43", "compares vector clocks only in the numbers of peers that are in both")
class ComparesCommonPeers(Peer):
    @staticmethod
    def before(one: VectorClock, other: VectorClock) -> bool:
        return all(number <= other[peer_id] for peer_id, number in one.items() if peer_id in other)


@mutant("43", "treats a zero in a vector clock as larger than a missing member")
class ZeroIsMoreThanNothing(Peer):
    @staticmethod
    def before(one: VectorClock, other: VectorClock) -> bool:
        return all(number <= other.get(peer_id, -1) for peer_id, number in one.items())

    def read_body(self, body: bytes) -> Record | GetUpdates | None:
        said = super().read_body(body)
        return replace(said, vector_clock=json.loads(body)["vector_clock"]) if isinstance(said, Record) else said


@mutant("48", "treats equal vector clocks as concurrent")
class EqualIsConcurrent(Peer):
    @staticmethod
    def before(one: VectorClock, other: VectorClock) -> bool:
        return is_before(one, other) and not is_before(other, one)


@mutant("50", "treats a vector clock as larger only if all of its numbers are larger")
class AllNumbersHaveToGrow(Peer):
    @staticmethod
    def before(one: VectorClock, other: VectorClock) -> bool:
        return one == other or all(one.get(peer_id, 0) < other.get(peer_id, 0) for peer_id in {*one, *other})


@mutant("51", "compares vector clocks by their sums")
class ComparesSums(Peer):
    @staticmethod
    def before(one: VectorClock, other: VectorClock) -> bool:
        return sum(one.values()) <= sum(other.values())


@register_faults
class _Decisions(Peer):
    @fault(Peer.decide, "54", "resolves conflicts in favour of the smallest update_time")
    def smallest_time_wins(self, one: Record, other: Record) -> tuple[Record, Record]:
        winner, loser = super().decide(one, other)
        return loser, winner

    @fault(Peer.decide, "54", "resolves conflicts in favour of the version that it stored first")
    def first_version_wins(self, one: Record, other: Record) -> tuple[Record, Record]:
        return one, other

    @fault(Peer.decide, "54", "resolves conflicts in favour of the version that arrived last")
    def last_version_wins(self, one: Record, other: Record) -> tuple[Record, Record]:
        return other, one

    @fault(Peer.decide, "54", "resolves conflicts of changes in the same second in favour of the last arrival")
    def compares_seconds(self, one: Record, other: Record) -> tuple[Record, Record]:
        same = one.update_time.seconds == other.update_time.seconds
        return (other, one) if same else super().decide(one, other)

    @fault(Peer.decide, "54", "compares times as text")
    def compares_texts_of_times(self, one: Record, other: Record) -> tuple[Record, Record]:
        larger = one.update_time.text > other.update_time.text
        return (one, other) if larger else (other, one)

    @fault(Peer.decide, "54", "counts the seconds of times in 32 bits")
    def counts_seconds_in_ints(self, one: Record, other: Record) -> tuple[Record, Record]:
        first, second = (_in_32_bits(record.update_time.seconds) for record in (one, other))
        return super().decide(one, other) if first == second else (one, other) if first > second else (other, one)

    @fault(Peer.decide, "54", "lets deletions lose each conflict")
    def deletion_loses(self, one: Record, other: Record) -> tuple[Record, Record]:
        if one.deleted == other.deleted:
            return super().decide(one, other)
        return (other, one) if one.deleted else (one, other)

    @fault(Peer.decide, "54", "resolves conflicts in favour of deletions")
    def deletion_wins(self, one: Record, other: Record) -> tuple[Record, Record]:
        if one.deleted == other.deleted:
            return super().decide(one, other)
        return (one, other) if one.deleted else (other, one)

    @fault(Peer.decide, "54", "resolves conflicts with equal times in favour of the version that it stored first")
    def first_wins_ties(self, one: Record, other: Record) -> tuple[Record, Record]:
        return (one, other) if one.update_time == other.update_time else super().decide(one, other)

    @fault(Peer.decide, "54", "resolves conflicts in favour of its own changes")
    def own_changes_win(self, one: Record, other: Record) -> tuple[Record, Record]:
        if (one.last_updated_by == self.peer_id) is (other.last_updated_by == self.peer_id):
            return super().decide(one, other)
        return (one, other) if one.last_updated_by == self.peer_id else (other, one)

    @fault(Peer.decide, "54", "resolves conflicts in favour of the larger sum of the vector clock")
    def larger_clock_wins(self, one: Record, other: Record) -> tuple[Record, Record]:
        first, second = (sum(record.vector_clock.values()) for record in (one, other))
        return super().decide(one, other) if first == second else (one, other) if first > second else (other, one)

    @fault(Peer.resolve, "51", "resolves only the first conflict of a record, and discards later concurrent versions")
    def resolves_one_conflict(
        self, current: StoredRecord, stored: StoredRecord, incoming: Record, source: int, effects: Effects
    ) -> None:
        self._resolved: set[str] = getattr(self, "_resolved", set())
        if incoming.uuid not in self._resolved:
            self._resolved.add(incoming.uuid)
            super().resolve(current, stored, incoming, source, effects)

    @fault(
        Peer.resolve,
        "26",
        "increments its revision counter at each conflict, without a change",
    )
    def counts_conflicts(
        self, current: StoredRecord, stored: StoredRecord, incoming: Record, source: int, effects: Effects
    ) -> None:
        super().resolve(current, stored, incoming, source, effects)
        self.store.count(self.store.revision + 1)

    @fault(
        Peer.separate,
        "53",
        "drops each loser of a conflict that should become a separate record",
        resolution=Resolution.SEPARATE,
    )
    def keeps_no_losers(self, loser: Record, effects: Effects) -> None:
        pass

    @fault(
        Peer.resolve,
        "53",
        "drops the loser among two versions of a record, which should become a separate record",
        resolution=Resolution.SEPARATE,
    )
    def keeps_no_lost_versions(
        self, current: StoredRecord, stored: StoredRecord, incoming: Record, source: int, effects: Effects
    ) -> None:
        self.config = replace(self.config, resolution=Resolution.LARGEST_TIME)
        super().resolve(current, stored, incoming, source, effects)
        self.config = replace(self.config, resolution=Resolution.SEPARATE)

    @fault(
        Peer.merge, "53", "merges records with equal keys, but not versions of one record", resolution=Resolution.MERGE
    )
    def merges_no_versions(self, uuid: str, winner: Record, loser: Record, effects: Effects) -> None:
        if winner.uuid != loser.uuid:
            super().merge(uuid, winner, loser, effects)

    @fault(
        Peer.merge,
        "53",
        "when it merges two versions of a record, prefers the members of the loser",
        resolution=Resolution.MERGE,
    )
    def merges_for_the_loser(self, uuid: str, winner: Record, loser: Record, effects: Effects) -> None:
        if winner.uuid == loser.uuid:
            winner, loser = replace(winner, value=loser.value), replace(loser, value=winner.value)
        super().merge(uuid, winner, loser, effects)

    @fault(
        Peer.merge,
        "53",
        "when it merges values, also merges the objects in them",
        resolution=Resolution.MERGE,
    )
    def merges_nested_objects(self, uuid: str, winner: Record, loser: Record, effects: Effects) -> None:
        ours, theirs = json.loads(winner.value), json.loads(loser.value)
        if isinstance(ours, dict) and isinstance(theirs, dict):
            for name, value in ours.items():
                if isinstance(value, dict) and isinstance(theirs.get(name), dict):
                    ours[name] = theirs[name] | value
        super().merge(uuid, replace(winner, value=json.dumps(ours)), loser, effects)

    @fault(
        Peer.merge,
        "53",
        "when it merges values, takes members of the loser that are null in the winner",
        resolution=Resolution.MERGE,
    )
    def merges_into_null(self, uuid: str, winner: Record, loser: Record, effects: Effects) -> None:
        ours, theirs = json.loads(winner.value), json.loads(loser.value)
        if isinstance(ours, dict) and isinstance(theirs, dict):
            ours = {name: value for name, value in ours.items() if value is not None or name not in theirs}
        super().merge(uuid, replace(winner, value=json.dumps(ours)), loser, effects)

    @fault(Peer.merge, "53", "when it merges values, reads whole numbers as doubles", resolution=Resolution.MERGE)
    def merges_doubles(self, uuid: str, winner: Record, loser: Record, effects: Effects) -> None:
        one, other = (
            replace(each, value=json.dumps(json.loads(each.value, parse_int=lambda text: int(float(text)))))
            for each in (winner, loser)
        )
        super().merge(uuid, one, other, effects)

    @fault(
        Peer.write_resolution,
        "14",
        "when it merges values, keeps the result under the version of the winner and does not send it",
        resolution=Resolution.MERGE,
    )
    def merges_for_itself(self, uuid: str, content: tuple[str, str, bool], of: Record, effects: Effects) -> None:
        stored = self.store.get(uuid)
        if stored is None or content[2]:
            super().write_resolution(uuid, content, of, effects)
        else:
            self.store_record(replace(stored, record=replace(stored.record, value=content[1])))

    @fault(
        Peer.write_resolution,
        "14",
        "when it merges values, sends the result under the version of the winner",
        resolution=Resolution.MERGE,
    )
    def merges_into_the_winners_version(
        self, uuid: str, content: tuple[str, str, bool], of: Record, effects: Effects
    ) -> None:
        stored = self.store.get(uuid)
        if stored is None or content[2]:
            super().write_resolution(uuid, content, of, effects)
        else:
            merged = replace(stored, record=replace(stored.record, value=content[1]))
            self.store_record(merged)
            self.send_to_subscribers(merged, effects)

    @fault(
        Peer.write_resolution,
        "53",
        "when it merges values, drops members that only the loser has",
        resolution=Resolution.MERGE,
    )
    def ignores_clock_of_losers(self, uuid: str, content: tuple[str, str, bool], of: Record, effects: Effects) -> None:
        pass


@mutant("52", "does not merge the clock of the loser into the winner")
class ResolvesWithoutMerging(Peer):
    def resolve(
        self, current: StoredRecord, stored: StoredRecord, incoming: Record, source: int, effects: Effects
    ) -> None:
        winner, _ = self.decide(current.record, incoming)
        clock = winner.vector_clock
        stored = replace(stored, record=replace(stored.record, vector_clock=clock))
        super().resolve(current, stored, incoming, source, effects)


@mutant("54", "resolves conflicts of keys in favour of the smallest uuid")
class DecidesKeysByUuid(Peer):
    def as_shown(self, stored: StoredRecord) -> Record:
        rivals = [each.record.uuid for each in self.store.records_with_key(stored.record.key)]
        return stored.record if stored.record.deleted or stored.record.uuid == min(rivals) else super().as_shown(stored)

    def resolve_key(self, uuid: str, other_uuid: str, effects: Effects) -> None:
        loser = self.store.get(max(uuid, other_uuid))
        assert loser is not None, "it had the key"
        self.write_resolution(loser.record.uuid, (loser.record.key, "null", True), loser.record, effects)


@mutant("49", "replaces its version by an older version that has a different key")
class TakesOldKeys(Peer):
    def apply_update(self, incoming: Record, signed: Message | None, source: int, effects: Effects) -> None:
        current = self.store.get(incoming.uuid)
        super().apply_update(incoming, signed, source, effects)
        if current is None or current.record.deleted or incoming.key == current.record.key:
            return
        if self.is_older(incoming, current.record):
            self.store_record(replace(current, record=replace(incoming, vector_clock=current.record.vector_clock)))


@mutant("51", "does not signal a conflict of two versions of a record")
class SignalsNoConflicts(Peer):
    def resolve(
        self, current: StoredRecord, stored: StoredRecord, incoming: Record, source: int, effects: Effects
    ) -> None:
        known = len(effects.events)
        super().resolve(current, stored, incoming, source, effects)
        effects.events = [event for place, event in enumerate(effects.events) if place != known]


class _ForgetsDeletions(Peer):
    """Acts as if it had no deleted records."""

    def forgets(self, current: StoredRecord, incoming: Record) -> bool:
        return current.record.deleted and not incoming.deleted

    def is_present(self, current: Record, incoming: Record) -> bool:
        return super().is_present(current, incoming) and not self.forgets(StoredRecord(current), incoming)

    def is_older(self, incoming: Record, current: Record) -> bool:
        return super().is_older(incoming, current) and not self.forgets(StoredRecord(current), incoming)

    def is_newer(self, incoming: Record, current: Record) -> bool:
        return super().is_newer(incoming, current) or self.forgets(StoredRecord(current), incoming)


@mutant("50", "compares only ten members of vector clocks")
class ComparesTenMembers(Peer):
    @staticmethod
    def before(one: VectorClock, other: VectorClock) -> bool:
        return all(number <= other.get(peer_id, 0) for peer_id, number in list(one.items())[:10])


@mutant("49", "treats an older version with a larger revision as newer")
class LargerRevisionIsNewer(Peer):
    def is_older(self, incoming: Record, current: Record) -> bool:
        return super().is_older(incoming, current) and not self.is_ahead(incoming, current)

    def is_newer(self, incoming: Record, current: Record) -> bool:
        return super().is_newer(incoming, current) or self.is_ahead(incoming, current)

    def is_ahead(self, incoming: Record, current: Record) -> bool:
        ancestor = super().is_older(incoming, current) and not super().is_newer(incoming, current)
        return ancestor and incoming.last_updated_rev > current.last_updated_rev


@mutant("49", "deletes a record when an older deletion of it arrives")
class TakesOlderDeletions(Peer):
    def is_older(self, incoming: Record, current: Record) -> bool:
        return super().is_older(incoming, current) and not self.takes_deletion(incoming, current)

    def is_newer(self, incoming: Record, current: Record) -> bool:
        return super().is_newer(incoming, current) or self.takes_deletion(incoming, current)

    def takes_deletion(self, incoming: Record, current: Record) -> bool:
        return super().is_older(incoming, current) and incoming.deleted and not current.deleted


@mutant("56", "accepts old versions of deleted records")
class ForgetsTheDeleted(_ForgetsDeletions):
    pass


@mutant("56", "accepts old versions of records that others have deleted")
class ForgetsDeletionsOfOthers(_ForgetsDeletions):
    def forgets(self, current: StoredRecord, incoming: Record) -> bool:
        return super().forgets(current, incoming) and current.record.last_updated_by != self.peer_id


@mutant("56", "accepts old versions of deleted records if the old version has a different key")
class ForgetsDeletionsOfOtherKeys(_ForgetsDeletions):
    def forgets(self, current: StoredRecord, incoming: Record) -> bool:
        return super().forgets(current, incoming) and current.record.key != incoming.key


@mutant("56", "accepts old versions of deleted records after a restart")
class ForgetsDeletionsAtStart(_ForgetsDeletions):
    def __init__(self, *details: Any, **more: Any) -> None:
        super().__init__(*details, **more)
        self._from_before = {stored.record.uuid for stored in self.store}

    def forgets(self, current: StoredRecord, incoming: Record) -> bool:
        return super().forgets(current, incoming) and current.record.uuid in self._from_before


add_unseen("smallest-time-wins", "smallest-time-wins-unseen")
add_unseen("forgets-the-deleted", "forgets-the-deleted-unseen")
add_unseen("resolves-without-merging", "resolves-without-merging-unseen")
add_unseen("decides-keys-by-uuid", "decides-keys-by-uuid-unseen")
add_unseen("takes-old-keys", "takes-old-keys-unseen")
add_unseen("signals-no-conflicts", "signals-no-conflicts-unseen")
add_unseen(
    "first-version-wins", "first-version-wins-unseen", "conflict", more="and shows neither records nor conflicts"
)
add_unseen("first-key-wins", "first-key-wins-unseen")
add_unseen("newer-needs-a-newer-time", "newer-needs-a-newer-time-unseen")


for _name in ("smallest-time-wins", "first-version-wins", "last-version-wins", "deletion-loses", "larger-clock-wins"):
    add_counting_hops(_name)


@mutant(
    "19", "keeps its stored version in conflicts with equal times, and sends this version again", clocks_count_hops=True
)
class NeverAgreesOnTies(Peer):
    def decide(self, one: Record, other: Record) -> tuple[Record, Record]:
        return (one, other) if one.update_time == other.update_time else super().decide(one, other)

    def resolve(
        self, current: StoredRecord, stored: StoredRecord, incoming: Record, source: int, effects: Effects
    ) -> None:
        super().resolve(current, stored, incoming, source, effects)
        if current.record.update_time == incoming.update_time and current.record.version != incoming.version:
            kept = self.store.get(incoming.uuid)
            assert kept is not None, "it was in conflict"
            self.send_to_subscribers(kept, effects)


@mutant(
    "38",
    "deletes a record of another peer that has the key and the update_time of an own record",
    loser_of_key=LoserOfKey.EVERYBODY,
)
class PrefersItsOwnRecordAtTies(Peer):
    def decide(self, one: Record, other: Record) -> tuple[Record, Record]:
        if one.uuid == other.uuid or one.update_time != other.update_time:
            return super().decide(one, other)
        return (one, other) if one.last_updated_by == self.peer_id else (other, one)

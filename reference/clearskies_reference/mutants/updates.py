"""Faults in sections "Record Changes" and "Requesting Updates": revisions, writers, receivers and order of updates."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any

from ..config import AccessLevel
from ..effects import Effects
from ..framing import Message
from ..messages import GET_UPDATES, GetUpdates
from ..peer import ClubLink, Peer
from ..record import Record, StoredRecord
from ..timestamps import timestamp
from ..vector_clock import MAX_INTEGER
from .registry import fault, mutant, register_faults
from .restarts import KnowsRestarts


def _spread_to_some(peer: Peer, most: int, stored: StoredRecord, effects: Effects, source: int | None) -> None:
    """Send an own change to at most ``most`` subscribers, and a change of another peer to all."""
    everybody = peer.links
    if source is None:
        links = [link for link in everybody.values() if peer.is_recipient(link, source)]
        peer.links = {link.number: link for link in links[:most]}
    Peer.send_to_subscribers(peer, stored, effects, source)
    peer.links = everybody


@register_faults
class _Spreading(Peer):
    @fault(Peer.send_to_subscribers, "14", "sends its changes only on its first link")
    def sends_changes_to_one_peer(self, stored: StoredRecord, effects: Effects, source: int | None = None) -> None:
        _spread_to_some(self, 1, stored, effects, source)

    @fault(Peer.send_to_subscribers, "14", "sends changes only in answers, not when they happen")
    def withholds_all_changes(self, stored: StoredRecord, effects: Effects, source: int | None = None) -> None:
        pass

    @fault(Peer.send_to_subscribers, "14", "sends its changes to at most eight peers")
    def sends_changes_to_eight_peers(self, stored: StoredRecord, effects: Effects, source: int | None = None) -> None:
        _spread_to_some(self, 8, stored, effects, source)

    @fault(Peer.send_to_subscribers, "14", "does not send deletions when they happen")
    def withholds_deletions(self, stored: StoredRecord, effects: Effects, source: int | None = None) -> None:
        if not stored.record.deleted:
            super().send_to_subscribers(stored, effects, source)

    @fault(Peer.send_to_subscribers, "20", "does not relay changes of others")
    def does_not_relay(self, stored: StoredRecord, effects: Effects, source: int | None = None) -> None:
        if source is None:
            super().send_to_subscribers(stored, effects, source)

    @fault(Peer.resolve, "35", "does not relay winners of conflicts")
    def withholds_winners(
        self, current: StoredRecord, stored: StoredRecord, incoming: Record, source: int, effects: Effects
    ) -> None:
        known = len(effects.sent)
        super().resolve(current, stored, incoming, source, effects)
        del effects.sent[known:]

    @fault(Peer.make_stored_record, "09", "relays changes of others with itself as their writer")
    def relays_in_its_own_name(
        self, current: StoredRecord | None, incoming: Record, signed: Message | None
    ) -> StoredRecord:
        stored = super().make_stored_record(current, incoming, signed)
        if not self.writes:
            return stored
        self.store.learn(self.peer_id, max(self.store.known.get(self.peer_id, 0), incoming.last_updated_rev))
        return replace(stored, record=replace(stored.record, last_updated_by=self.peer_id))

    @fault(Peer.body, "09", "sends all records with itself as the last writer")
    def sends_all_in_its_own_name(self, record: Record) -> bytes:
        return super().body(replace(record, last_updated_by=self.peer_id))

    @fault(Peer.make_stored_record, "47", "relays changes with a changed update_time")
    def relays_with_another_time(
        self, current: StoredRecord | None, incoming: Record, signed: Message | None
    ) -> StoredRecord:
        stored = super().make_stored_record(current, incoming, signed)
        return replace(stored, record=replace(stored.record, update_time=timestamp("2001-01-01T00:00:00Z")))


@mutant("47", "relays changes of others with a revision that is too large by one")
class RelaysWithTheNextRevision(Peer):
    def body(self, record: Record) -> bytes:
        own = record.last_updated_by == self.peer_id
        return super().body(record if own else replace(record, last_updated_rev=record.last_updated_rev + 1))


@mutant(
    "21",
    "sends updates back to the peers that they came from",
    out_of_reach="the check only reports a note, because the specification calls it an optimization",
)
class RepeatsToTheSource(Peer):
    def is_recipient(self, link: ClubLink, source: int | None) -> bool:
        return super().is_recipient(link, None)


@mutant("37", "relays updates that arrive together in reverse order")
class PassesOnInReverse(Peer):
    def _parse_messages(self, link: ClubLink, data: bytes, effects: Effects) -> None:
        self._taken: list[tuple[StoredRecord, int]] = []
        super()._parse_messages(link, data, effects)
        for stored, source in reversed(self._taken):
            super().send_to_subscribers(stored, effects, source)

    def send_to_subscribers(self, stored: StoredRecord, effects: Effects, source: int | None = None) -> None:
        if source is None:
            super().send_to_subscribers(stored, effects, source)
        else:
            self._taken.append((stored, source))


@mutant("19", "relays an update each time that it arrives")
class RelaysAgain(Peer):
    def apply_update(self, incoming: Record, signed: Message | None, source: int, effects: Effects) -> None:
        current = self.store.get(incoming.uuid)
        super().apply_update(incoming, signed, source, effects)
        if current is not None and self.is_present(current.record, incoming):
            self.send_to_subscribers(current, effects, source)


@register_faults
class _Identity(Peer):
    @fault(Peer.apply_update, "22", "ignores renames of others")
    def keeps_old_keys(self, incoming: Record, signed: Message | None, source: int, effects: Effects) -> None:
        current = self.store.get(incoming.uuid)
        if current is not None and not current.record.deleted and self.writes:
            incoming = replace(incoming, key=current.record.key)
        super().apply_update(incoming, signed, source, effects)

    @fault(Peer.change_key, "23", "renames a record by writing a new record and deleting the old one")
    def renames_by_copy(self, key: str, new_key: str, now_ms: int, effects: Effects) -> str:
        value = self.records_with_existing_key(key)[0].record.value
        uuid = self.write(new_key, value, now_ms, "", effects)
        self.delete_by_key(key, now_ms, effects)
        return uuid

    @fault(Peer.change_key, "22", "after a rename, keeps the record under its old key in addition to the new key")
    def leaves_the_old_key(self, key: str, new_key: str, now_ms: int, effects: Effects) -> str:
        value = self.records_with_existing_key(key)[0].record.value
        uuid = super().change_key(key, new_key, now_ms, effects)
        self.write(key, value, now_ms, "", effects)
        return uuid

    @fault(Peer.as_shown, "24", "shows all of several records with the same key")
    def shows_all_of_a_key(self, stored: StoredRecord) -> Record:
        return stored.record


@register_faults
class _Revisions(Peer):
    @fault(Peer.next_revision, "10", "counts the revisions of each record separately")
    def counts_by_record(self, current: StoredRecord | None) -> int:
        own = current is not None and current.record.last_updated_by == self.peer_id
        return current.record.last_updated_rev + 1 if own and current is not None else 2

    @fault(Peer.next_revision, "10", "does not increase its revision counter for changes of its own records")
    def counts_new_records(self, current: StoredRecord | None) -> int:
        own = current is not None and current.record.last_updated_by == self.peer_id
        return current.record.last_updated_rev if own and current is not None else super().next_revision(current)

    @fault(Peer.mark_deleted, "10", "does not increase its revision counter for deletions of its own records")
    def counts_no_deletions(self, stored: StoredRecord, now_ms: int, effects: Effects) -> None:
        revision = self.store.revision
        if stored.record.last_updated_by == self.peer_id:
            self.store.count(stored.record.last_updated_rev - 1)
        super().mark_deleted(stored, now_ms, effects)
        self.store.count(max(revision, self.store.revision))

    @fault(Peer.next_revision, "25", "gives its first change the revision 0")
    def begins_with_revision_zero(self, current: StoredRecord | None) -> int:
        return super().next_revision(current) if self.peer_id in self.store.known else 0

    @fault(Peer.next_revision, "25", "gives its first change the revision 100")
    def begins_with_revision_hundred(self, current: StoredRecord | None) -> int:
        return max(super().next_revision(current), 100)

    @fault(Peer.next_revision, "26", "increases its revision by two")
    def counts_in_twos(self, current: StoredRecord | None) -> int:
        return super().next_revision(current) + (self.peer_id in self.store.known)

    @fault(Peer.learn, "28", "increases its revision counter for changes of others")
    def counts_changes_of_others(self, incoming: Record) -> None:
        super().learn(incoming)
        self.store.count(self.store.revision + 1)


class _MisnumbersAfterRestart(Peer):
    """Has a wrong revision counter after a restart, and does not learn the right one from other peers."""

    def __init__(self, *details: Any, **more: Any) -> None:
        super().__init__(*details, **more)
        if self.peer_id in self.store.known:
            self.store.count(self.found())

    def found(self) -> int:
        raise NotImplementedError

    def learn(self, incoming: Record) -> None:
        by, revision = incoming.version
        if revision > self.store.known.get(by, 0):
            self.store.learn(by, revision)


@mutant("10", "uses its last revision a second time after a restart")
class RepeatsARevisionAtStart(_MisnumbersAfterRestart):
    def found(self) -> int:
        return self.store.revision - 1


@mutant("10", "derives its last revision from its records after a restart")
class ScansForItsRevisionAtStart(_MisnumbersAfterRestart):
    def found(self) -> int:
        own = [stored.record.last_updated_rev for stored in self.store if stored.record.last_updated_by == self.peer_id]
        return max(own, default=1)


@mutant("26", "skips ten revisions after a restart")
class SkipsRevisionsAtStart(_MisnumbersAfterRestart):
    def found(self) -> int:
        return self.store.revision + 10


@mutant("08", "gives a record a new uuid when it changes the value that another peer wrote")
class WritesOverOthersAnew(Peer):
    def write(self, key: str, value: str, now_ms: int, uuid: str, effects: Effects) -> str:
        current = self.store.leader(key)
        if current is None or current.record.last_updated_by == self.peer_id:
            return super().write(key, value, now_ms, uuid, effects)
        self.refuse_unwritable([None], now_ms)
        uuid = self.new_uuid()
        self.change(None, uuid, (key, value, False), self.time_of_change(now_ms, [current]), effects)
        return uuid


@mutant("27", "names the previous writer of a record as the writer of its own changes")
class WritesInOthersNames(Peer):
    def change(
        self, current: StoredRecord | None, uuid: str, content: tuple[str, str, bool], *details: Any, **more: Any
    ) -> None:
        authors = {other: author for other, author in self._authors.items() if other != uuid}
        if current is not None and self.keeps_name(current, content):
            authors[uuid] = self._authors.get(uuid, current.record.last_updated_by)
        self._authors = authors
        super().change(current, uuid, content, *details, **more)

    def keeps_name(self, current: StoredRecord, content: tuple[str, str, bool]) -> bool:
        return True

    _authors: Mapping[str, str] = MappingProxyType({})

    def body(self, record: Record) -> bytes:
        author = self._authors.get(record.uuid, record.last_updated_by)
        own = record.last_updated_by == self.peer_id
        return super().body(replace(record, last_updated_by=author) if own else record)


@mutant("27", "names the previous writer of a record as the writer when it renames the record")
class RenamesInOthersNames(WritesInOthersNames):
    def keeps_name(self, current: StoredRecord, content: tuple[str, str, bool]) -> bool:
        return content[0] != current.record.key


def _without_clocks_of_others(stored: StoredRecord, peer_id: str) -> StoredRecord:
    own = {member: number for member, number in stored.record.vector_clock.items() if member == peer_id}
    return replace(stored, record=replace(stored.record, vector_clock=own))


@mutant("46", "omits the numbers of other peers from the clock of a record that it renames")
class RenamesWithoutClocksOfOthers(Peer):
    def change(
        self, current: StoredRecord | None, uuid: str, content: tuple[str, str, bool], *details: Any, **more: Any
    ) -> None:
        if current is not None and content[0] != current.record.key:
            current = _without_clocks_of_others(current, self.peer_id)
        super().change(current, uuid, content, *details, **more)


@mutant("46", "omits the numbers of other peers from the clock when it changes a record that it changed last")
class ChangesItsOwnWithoutClocksOfOthers(Peer):
    def change(self, current: StoredRecord | None, *details: Any, **more: Any) -> None:
        if current is not None and current.record.last_updated_by == self.peer_id:
            current = _without_clocks_of_others(current, self.peer_id)
        super().change(current, *details, **more)


class _CountsSomeChanges(Peer):
    """Does not count some of its changes in vector clocks, but counts that it sends them."""

    def change(
        self, current: StoredRecord | None, uuid: str, content: tuple[str, str, bool], *details: Any, **more: Any
    ) -> None:
        if current is not None and not self.counts(current, content):
            clock = current.record.vector_clock
            before = {**clock, self.peer_id: max(0, clock.get(self.peer_id, 0) - 1)}
            current = replace(current, record=replace(current.record, vector_clock=before), ticks=current.ticks - 1)
        super().change(current, uuid, content, *details, **more)

    def counts(self, current: StoredRecord, content: tuple[str, str, bool]) -> bool:
        raise NotImplementedError


@mutant("44", "does not count its deletions in vector clocks")
class LeavesDeletionsOutOfClocks(_CountsSomeChanges):
    def counts(self, current: StoredRecord, content: tuple[str, str, bool]) -> bool:
        return not content[2]


@mutant("44", "does not count its renames in vector clocks")
class LeavesRenamesOutOfClocks(_CountsSomeChanges):
    def counts(self, current: StoredRecord, content: tuple[str, str, bool]) -> bool:
        return content[0] == current.record.key


@mutant("35", "does not relay changes of others after a restart")
class RelaysNothingAfterARestart(KnowsRestarts):
    def send_to_subscribers(self, stored: StoredRecord, effects: Effects, source: int | None = None) -> None:
        if source is None or not self.was_restarted:
            super().send_to_subscribers(stored, effects, source)


@register_faults
class _Asking(Peer):
    @fault(Peer.ask, "29", "never requests updates")
    def never_requests(self, peer_id: str, effects: Effects) -> None:
        pass

    @fault(Peer.known, "29", "always requests everything")
    def asks_for_all(self) -> dict[str, int]:
        return {}

    @fault(Peer.known, "29", "in requests, omits peers whose last update has been replaced by another update")
    def derives_since_from_its_records(self) -> dict[str, int]:
        found: dict[str, int] = {}
        for stored in self.store:
            by, revision = stored.record.version
            found[by] = max(found.get(by, 0), revision)
        # A record has only its last version, so the revisions of earlier versions are missing.
        return {by: revision for by, revision in super().known().items() if found.get(by, 0) == revision}

    @fault(Peer.known, "29", "names at most thirty peers in each request")
    def names_thirty_peers(self) -> dict[str, int]:
        return dict(list(super().known().items())[:30])

    @fault(Peer.learn, "29", "requests updates after the revision that arrived last, not after the highest revision")
    def asks_after_the_last_arrival(self, incoming: Record) -> None:
        super().learn(incoming)
        self.store.learn(*incoming.version)

    @fault(Peer.request_body, "30", "sends since as a list")
    def asks_with_a_list(self) -> bytes:
        return json.dumps({"type": GET_UPDATES, "since": [list(each) for each in self.known().items()]}).encode()

    @fault(Peer.request_body, "30", "sends revisions in since as strings")
    def asks_with_strings(self) -> bytes:
        return json.dumps({"type": GET_UPDATES, "since": {by: str(rev) for by, rev in self.known().items()}}).encode()

    @fault(Peer.request_body, "30", "names peers in requests by the first half of their IDs")
    def asks_with_cut_peer_ids(self) -> bytes:
        return json.dumps({"type": GET_UPDATES, "since": {by[:16]: rev for by, rev in self.known().items()}}).encode()

    @fault(Peer.request_body, "30", "omits the prefix of the extension in the type of requests")
    def asks_without_prefix(self) -> bytes:
        return json.dumps({"type": GET_UPDATES.removeprefix("database."), "since": self.known()}).encode()

    @fault(Peer.request_body, "37", "requests updates after revisions that are too large by one")
    def asks_one_revision_too_late(self) -> bytes:
        since = {by: revision + (by != self.peer_id) for by, revision in self.known().items()}
        return json.dumps({"type": GET_UPDATES, "since": since}).encode()


@register_faults
class _Answering(Peer):
    @fault(Peer.answer, "31", "does not answer peers that it has requested updates from")
    def does_not_answer_whom_it_asked(self, link: ClubLink, request: GetUpdates, effects: Effects) -> None:
        if not link.asked:
            super().answer(link, request, effects)

    @fault(Peer.answer, "32", "closes the link if it has no updates to send")
    def closes_link_without_answer(self, link: ClubLink, request: GetUpdates, effects: Effects) -> None:
        super().answer(link, request, effects)
        if not self.missing(request):
            self.close_link(link, "the peer has no updates to send", effects)

    @fault(Peer.answer, "35", "answers requests, but sends no later updates")
    def answers_once(self, link: ClubLink, request: GetUpdates, effects: Effects) -> None:
        super().answer(link, request, effects)
        link.subscribed = False

    @fault(Peer.is_recipient, "35", "sends subscribers only its own changes")
    def subscribes_to_itself_alone(self, link: ClubLink, source: int | None) -> bool:
        return source is None and super().is_recipient(link, source)

    @fault(Peer.missing, "37", "sends the records of an answer in reverse order")
    def answers_backwards(self, request: GetUpdates) -> list[StoredRecord]:
        return super().missing(request)[::-1]

    @fault(Peer.missing, "37", "sends the records of an answer in the order of uuids")
    def answers_by_uuid(self, request: GetUpdates) -> list[StoredRecord]:
        return sorted(super().missing(request), key=lambda stored: stored.record.uuid)

    @fault(Peer.missing, "33", "sorts the records of an answer by their writers instead of their revisions")
    def answers_writer_by_writer(self, request: GetUpdates) -> list[StoredRecord]:
        return sorted(super().missing(request), key=lambda stored: stored.record.last_updated_by)

    @fault(Peer.missing, "34", "omits changes of writers that the request does not name")
    def omits_writers_not_named_in_since(self, request: GetUpdates) -> list[StoredRecord]:
        stored = super().missing(request)
        return [each for each in stored if not request.since or each.record.last_updated_by in request.since]

    @fault(Peer.answer, "34", "omits changes that the requesting peer has written")
    def omits_changes_of_the_asker(self, link: ClubLink, request: GetUpdates, effects: Effects) -> None:
        super().answer(link, GetUpdates({link.peer_id: MAX_INTEGER, **request.since}), effects)

    @fault(Peer.answer, "37", "counts the revisions in requests of others as known to itself")
    def treats_since_of_others_as_known(self, link: ClubLink, request: GetUpdates, effects: Effects) -> None:
        for by, revision in request.since.items():
            self.store.learn(by, max(revision, self.store.known.get(by, 0)))
        super().answer(link, request, effects)

    @fault(Peer.answer, "31", "does not answer read-only peers")
    def answers_no_readers(self, link: ClubLink, request: GetUpdates, effects: Effects) -> None:
        if link.level is AccessLevel.READ_ONLY:
            link.subscribed = True
        else:
            super().answer(link, request, effects)

    @fault(Peer.missing, "59", "sends only revisions above the largest one in the request")
    def compares_with_the_largest_revision(self, request: GetUpdates) -> list[StoredRecord]:
        largest = max(request.since.values(), default=0)
        found = super().missing(replace(request, since={}))
        return [stored for stored in found if stored.record.last_updated_rev > largest]

    @fault(Peer.missing, "59", "compares revisions in 32 bits")
    def compares_revisions_in_32_bits(self, request: GetUpdates) -> list[StoredRecord]:
        def low(number: int) -> int:
            return number % (1 << 32)

        found = super().missing(replace(request, since={}))
        since = request.since
        versions = ((stored, *stored.record.version) for stored in found)
        return [stored for stored, by, revision in versions if by not in since or low(revision) > low(since[by])]

    @fault(Peer.missing, "59", "sends a deletion again if it is the last update that the request names as known")
    def sends_the_last_deletion_again(self, request: GetUpdates) -> list[StoredRecord]:
        since = request.since
        found = super().missing(replace(request, since={by: number - 1 for by, number in since.items() if number}))
        versions = ((stored, *stored.record.version) for stored in found)
        return [stored for stored, by, number in versions if stored.record.deleted or number > since.get(by, -1)]

    @fault(Peer.missing, "59", "compares revisions as doubles")
    def compares_revisions_as_doubles(self, request: GetUpdates) -> list[StoredRecord]:
        since = {by: float(revision) for by, revision in request.since.items()}
        found = super().missing(GetUpdates({}))
        return [
            stored
            for stored in found
            if stored.record.last_updated_rev * 1.0 > since.get(stored.record.last_updated_by, 0)
        ]

    @fault(Peer.missing, "37", "sorts revisions as text")
    def sorts_digits(self, request: GetUpdates) -> list[StoredRecord]:
        return sorted(super().missing(request), key=lambda stored: str(stored.record.last_updated_rev))

    @fault(Peer.missing, "33", "sorts revisions as doubles")
    def sorts_revisions_as_doubles(self, request: GetUpdates) -> list[StoredRecord]:
        found = super().missing(request)
        return sorted(found, key=lambda kept: (float(kept.record.last_updated_rev), kept.record.uuid))

    @fault(Peer.missing, "59", "compares revisions as text")
    def compares_digits_of_revisions(self, request: GetUpdates) -> list[StoredRecord]:
        since = {by: str(revision) for by, revision in request.since.items()}
        found = super().missing(GetUpdates({}))
        return [
            each for each in found if str(each.record.last_updated_rev) > since.get(each.record.last_updated_by, "")
        ]

    @fault(Peer.missing, "34", "sends only its own changes")
    def answers_for_itself(self, request: GetUpdates) -> list[StoredRecord]:
        return [stored for stored in super().missing(request) if stored.record.last_updated_by == self.peer_id]

    @fault(Peer.missing, "37", "omits the second record of an answer")
    def skips_the_second(self, request: GetUpdates) -> list[StoredRecord]:
        found = super().missing(request)
        return found[:1] + found[2:]

    @fault(Peer.missing, "37", "omits from its answers the changes that it made while it had no link")
    def omits_changes_made_without_links(self, request: GetUpdates) -> list[StoredRecord]:
        return [
            stored
            for stored in super().missing(request)
            if stored.sent or stored.record.last_updated_by != self.peer_id
        ]

    @fault(Peer.missing, "59", "sends the last revision that a request names as known again")
    def sends_the_known(self, request: GetUpdates) -> list[StoredRecord]:
        return super().missing(GetUpdates({by: max(0, revision - 1) for by, revision in request.since.items()}))

    @fault(Peer.missing, "59", "omits the first unknown revision of each writer that the request names")
    def leaves_out_the_first_unknown(self, request: GetUpdates) -> list[StoredRecord]:
        return super().missing(GetUpdates({by: revision + 1 for by, revision in request.since.items()}))

    @fault(Peer.missing, "56", "omits deleted records in its answers")
    def answers_without_the_deleted(self, request: GetUpdates) -> list[StoredRecord]:
        return [stored for stored in super().missing(request) if not stored.record.deleted]


@mutant("36", "closes a link to a peer when a second link to this peer opens")
class AllowsOneLink(Peer):
    def connect(self, number: int, peer_id: str, level: AccessLevel, now_ms: int) -> Effects:
        before = [link for link in self.links.values() if link.peer_id == peer_id]
        effects = super().connect(number, peer_id, level, now_ms)
        for link in before:
            self.close_link(link, "another link to this peer is open", effects)
        return effects


@mutant("36", "requests updates on each link to a peer")
class AsksOnEachLink(Peer):
    def ask(self, peer_id: str, effects: Effects) -> None:
        self.config = replace(self.config, asks_on_every_link=True)
        super().ask(peer_id, effects)


@mutant("37", "processes only every other one of several updates that arrive together")
class SkipsEveryOther(Peer):
    def receive(self, number: int, data: bytes, now_ms: int) -> Effects:
        self._skips = False
        return super().receive(number, data, now_ms)

    def apply_update(self, incoming: Record, signed: Message | None, source: int, effects: Effects) -> None:
        if self._skips:
            self.learn(incoming)
        else:
            super().apply_update(incoming, signed, source, effects)
        self._skips = not self._skips

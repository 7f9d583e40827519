"""Subclasses of Peer for legal variants that no field of Config can describe. ``forms`` and ``conflict_choices`` have
the others."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from . import json_text
from .config import AccessLevel
from .effects import Effects, Sent
from .errors import MalformedMessageError, RefusedWriteError
from .framing import Message, make_signed_message
from .messages import GetUpdates, get_updates_body
from .peer import ClubLink, Peer
from .record import Record, StoredRecord
from .timestamps import Timestamp


class ClosesOnRefusal(Peer):
    """The specification does not say how to handle a link after invalid input: this peer closes it."""

    def refuse(self, link: ClubLink, reason: str, effects: Effects) -> None:
        super().refuse(link, reason, effects)
        if link.number in self.links:
            self.close_link(link, reason, effects)


class SendsAtTicks(Peer):
    """Send only at ticks, on the links that still exist: the specification does not say when to send."""

    def __init__(self, *details: Any, **more: Any) -> None:
        super().__init__(*details, **more)
        self.waiting: list[Sent] = []

    @contextmanager
    def _transaction(self) -> Iterator[Effects]:
        with super()._transaction() as effects:
            yield effects
        self.wait(effects)

    def connect(self, number: int, peer_id: str, level: AccessLevel, now_ms: int) -> Effects:
        return self.wait(super().connect(number, peer_id, level, now_ms))

    def disconnect(self, number: int) -> Effects:
        return self.wait(super().disconnect(number))

    def wait(self, effects: Effects) -> Effects:
        """Queue the output instead of sending it."""
        self.waiting += effects.sent
        effects.sent = []
        return effects

    def tick(self, now_ms: int) -> Effects:
        sent = [each for each in self.waiting if each.link in self.links]
        self.waiting = []
        return Effects(sent=sent)


class SmallLimits(Peer):
    """Honour the smallest limits that can be declared (CA-16): the peer closes a link on a larger body, refuses updates
    beyond the other limits, and refuses changes that exceed a limit. It names fewer peers in a request if the request
    would be too large.
    """

    max_body_bytes = 4_096
    max_depth = 2
    max_clock_members = 3

    def process_message(self, link: ClubLink, message: Message, effects: Effects) -> None:
        if link.number not in self.links:
            return  # it was closed because of an earlier message
        if len(message.body) > self.max_body_bytes:
            self.close_link(
                link, f"a body has {len(message.body)} bytes; the declared limit is {self.max_body_bytes}", effects
            )
        elif json_text.collapse(message.body, self.max_depth)[1] > self.max_depth:
            self.refuse(link, "a body is nested too deep", effects)
        else:
            super().process_message(link, message, effects)

    def make_stored_record(
        self, current: StoredRecord | None, incoming: Record, signed: Message | None
    ) -> StoredRecord:
        stored = super().make_stored_record(current, incoming, signed)
        if excess := self.find_excess(stored.record):
            raise MalformedMessageError(excess)
        return stored

    def learn_clock(self, current: StoredRecord, incoming: Record) -> None:
        clock, _ = self.logical_clock.count_reception(current, incoming.vector_clock)
        if not self.find_excess(replace(current.record, vector_clock=clock)):
            super().learn_clock(current, incoming)

    def refuse_unwritable(self, changed: list[StoredRecord | None], now_ms: int) -> None:
        super().refuse_unwritable(changed, now_ms)
        for stored in changed:
            if len(self.logical_clock.clock_of_change(stored)) > self.max_clock_members:
                raise RefusedWriteError(f"the vector clock has more than {self.max_clock_members} members")

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
        key, value, deleted = content
        clock = self.logical_clock.clock_of_change(current)
        record = Record(uuid, key, value, self.peer_id, self.next_revision(current), time, clock, deleted)
        if excess := self.find_excess(record):
            self.refuse_excess(excess, current)
        super().change(current, uuid, content, time, effects, is_resolution=is_resolution)

    def refuse_excess(self, excess: str, current: StoredRecord | None) -> None:
        """Refuse a change of ``current`` that exceeds a limit. Raises RefusedWriteError."""
        raise RefusedWriteError(excess)

    def request_body(self) -> bytes:
        known = self.known()
        while len(body := get_updates_body(known)) > self.max_body_bytes:
            known.popitem()
        return body

    def find_excess(self, record: Record) -> str:
        """Describe a limit that a record exceeds; "" if it exceeds none."""
        if len(record.vector_clock) > self.max_clock_members:
            return f"the vector clock has more than {self.max_clock_members} members"
        if json_text.collapse(record.value.encode(), self.max_depth)[1] + 1 > self.max_depth:
            return "the value is nested too deep"
        size = self.size_of_body(record)
        if size > self.max_body_bytes:
            return f"the body has {size} bytes; the declared limit is {self.max_body_bytes}"
        return ""

    def size_of_body(self, record: Record) -> int:
        """The number of bytes in the body of a record."""
        return len(self.body(record))


class ProcessesFirstMessageAtOnce(Peer):
    """Process the first received message immediately and the others at a tick: the specification does not say when."""

    def __init__(self, *details: Any, **more: Any) -> None:
        super().__init__(*details, **more)
        self.waiting: list[tuple[ClubLink, Message]] = []

    def process_message(self, link: ClubLink, message: Message, effects: Effects) -> None:
        if self.waiting or effects.taken or effects.refused:
            self.waiting.append((link, message))
        else:
            super().process_message(link, message, effects)

    def tick(self, now_ms: int) -> Effects:
        waiting, self.waiting = self.waiting, []
        with self._transaction() as effects:
            for link, message in waiting:
                if self.links.get(link.number) is link:
                    super().process_message(link, message, effects)
        return effects


class Pings(Peer):
    """Sends a ping on each link at every tick: "A peer may send it at any time, and nobody answers" (core protocol)."""

    def tick(self, now_ms: int) -> Effects:
        ping = Message(b'{"type":"core.ping","timeout":60}').to_wire()
        return Effects(sent=[Sent(number, ping) for number in self.links])


class Polls(Peer):
    """The specification does not forbid repeated requests on a link: this peer sends a request at every tick."""

    def tick(self, now_ms: int) -> Effects:
        request = Message(self.request_body()).to_wire()
        return Effects(sent=[Sent(link.number, request) for link in self.links.values() if link.asked])


class SmallestIdWinsTies(Peer):
    """Reverses the model's decision between two changes with the same update_time, on all peers (CA-9)."""

    def decide(self, one: Record, other: Record) -> tuple[Record, Record]:
        winner, loser = super().decide(one, other)
        return (loser, winner) if one.update_time == other.update_time else (winner, loser)


class RelaysAtTicks(SendsAtTicks):
    """Relays the updates of others only at ticks, which is allowed. Sends answers and own changes immediately."""

    def wait(self, effects: Effects) -> Effects:
        return effects

    def send_to_subscribers(self, stored: StoredRecord, effects: Effects, source: int | None = None) -> None:
        if source is None:
            super().send_to_subscribers(stored, effects, source)
        else:
            later = Effects()
            super().send_to_subscribers(stored, later, source)
            super().wait(later)
            self.waiting += later.sent


class AnswersAtTicks(Peer):
    """Answers requests only at ticks, which is allowed. The answer includes all changes made before the tick."""

    def __init__(self, *details: Any, **more: Any) -> None:
        super().__init__(*details, **more)
        self.requests: list[tuple[ClubLink, GetUpdates]] = []

    def answer(self, link: ClubLink, request: GetUpdates, effects: Effects) -> None:
        link.subscribed = False
        self.requests.append((link, request))

    def tick(self, now_ms: int) -> Effects:
        requests, self.requests = self.requests, []
        with self._transaction() as effects:
            for link, request in requests:
                if self.links.get(link.number) is link:
                    super().answer(link, request, effects)
        return effects


class AnswersInParts(SendsAtTicks):
    """Sends at most ten messages on a link in one step, and the other messages in later steps: the specification does
    not say when to send."""

    AT_ONCE = 10

    def wait(self, effects: Effects) -> Effects:
        self.waiting += effects.sent
        effects.sent = self.take_batch(10**9 if not self.waiting else self.AT_ONCE)
        return effects

    def take_batch(self, most: int) -> list[Sent]:
        counts: dict[int, int] = {}
        now: list[Sent] = []
        later: list[Sent] = []
        for sent in (each for each in self.waiting if each.link in self.links):
            counts[sent.link] = counts.get(sent.link, 0) + 1
            (now if counts[sent.link] <= most else later).append(sent)
        self.waiting = later
        return now

    def tick(self, now_ms: int) -> Effects:
        return Effects(sent=self.take_batch(self.AT_ONCE))


class _Output(SendsAtTicks):
    def wait(self, effects: Effects) -> Effects:
        effects.sent = self.pieces(effects.sent)
        return effects

    def pieces(self, sent: list[Sent]) -> list[Sent]:
        raise NotImplementedError


class SplitOutput(_Output):
    """Writes each message in up to four chunks: a link is a stream, so the ends of chunks have no meaning."""

    def pieces(self, sent: list[Sent]) -> list[Sent]:
        cuts = ((0, 1), (1, 4), (4, 40), (40, None))
        return [Sent(each.link, each.data[slice(*cut)]) for each in sent for cut in cuts if each.data[slice(*cut)]]


class JoinedOutput(_Output):
    """Sends all messages of a link in one chunk, for the last link first: only the order on one link has a meaning."""

    def pieces(self, sent: list[Sent]) -> list[Sent]:
        links = sorted({each.link for each in sent}, reverse=True)
        return [Sent(link, b"".join(each.data for each in sent if each.link == link)) for link in links]


class SendsOwnChangesTwice(Peer):
    """Send each own change twice: the specification does not forbid it."""

    def send_to_subscribers(self, stored: StoredRecord, effects: Effects, source: int | None = None) -> None:
        super().send_to_subscribers(stored, effects, source)
        if source is None:
            super().send_to_subscribers(self.store.get(stored.record.uuid) or stored, effects, source)


class EndsAnswersWithUnknownType(Peer):
    """Sends a message of an unknown type after each answer: receivers ignore "unknown types" (core protocol)."""

    def answer(self, link: ClubLink, request: GetUpdates, effects: Effects) -> None:
        super().answer(link, request, effects)
        effects.sent.append(Sent(link.number, Message(b'{"type":"database.up_to_date","count":3}').to_wire()))


class AsksWithZeros(Peer):
    """Names linked peers of which it knows no revision in its requests, with the revision 0. The model omits them."""

    def request_body(self) -> bytes:
        return get_updates_body({link.peer_id: 0 for link in self.links.values()} | self.known())


class AsksWithoutItself(Peer):
    """Omits its own revision from requests: only a peer that lost data could learn its own changes from others."""

    def request_body(self) -> bytes:
        return get_updates_body({by: rev for by, rev in self.known().items() if by != self.peer_id})


class ReordersEqualRevisions(Peer):
    """Reverses the order of records with equal last_updated_rev: the specification does not order them (CA-14)."""

    def missing(self, request: GetUpdates) -> list[StoredRecord]:
        found = super().missing(request)[::-1]
        return sorted(found, key=lambda stored: stored.record.last_updated_rev)


class ShowsRecordsInReverse(Peer):
    """Records have no order: this peer shows them in reverse."""

    def records(self) -> list[Record]:
        return super().records()[::-1]


class IgnoresIdenticalWrites(Peer):
    """Makes no change if the application writes the value that the record already has."""

    def write(self, key: str, value: str, now_ms: int, uuid: str, effects: Effects) -> str:
        current = self.store.leader(key)
        if self.writes and current is not None and current.record.value == json_text.normalize(value):
            return current.record.uuid
        return super().write(key, value, now_ms, uuid, effects)


class RefusesTakenUuids(Peer):
    """Refuses to write a new record with the uuid of another record: in the testee protocol, a uuid is only a
    suggestion."""

    def write(self, key: str, value: str, now_ms: int, uuid: str, effects: Effects) -> str:
        if uuid and self.store.leader(key) is None and self.store.get(uuid) is not None:
            raise RefusedWriteError("another record has this uuid")
        return super().write(key, value, now_ms, uuid, effects)


class LargestValueWinsTies(Peer):
    """Any choice is accepted between two changes with the same update_time (CA-9): this peer compares the values."""

    def decide(self, one: Record, other: Record) -> tuple[Record, Record]:
        if one.update_time != other.update_time:
            return super().decide(one, other)
        return (one, other) if (one.value, one.uuid) > (other.value, other.uuid) else (other, one)


class KeepsItsDeletion(Peer):
    """Of two concurrent deletions of a record with the same update_time, keeps the stored deletion: the record is
    deleted either way (CA-8, CA-9)."""

    def decide(self, one: Record, other: Record) -> tuple[Record, Record]:
        both = one.deleted and other.deleted and one.uuid == other.uuid
        return (one, other) if both and one.update_time == other.update_time else super().decide(one, other)


class RenamesInTwo(Peer):
    """ "The uuid should be used to identify records", but this is not required: a rename deletes the record and creates
    one with another uuid. Both changes are sent."""

    def change_key(self, key: str, new_key: str, now_ms: int, effects: Effects) -> str:
        if key == new_key or not self.writes:
            return super().change_key(key, new_key, now_ms, effects)
        current, *_ = self.records_with_existing_key(key)
        self.refuse_unwritable([current, *self.store.records_with_key(new_key), None], now_ms)
        self.delete_by_key(key, now_ms, effects)
        return self.write(new_key, current.record.value, now_ms, "", effects)


class ScansItsRecords(Peer):
    """ "Can be found by scanning the entire database" (CA-11): derives the known revisions from the stored records. So
    the peer requests an update again if a later update replaced its record."""

    def known(self) -> dict[str, int]:
        found: dict[str, int] = {}
        for stored in self.store:
            by, revision = stored.record.version
            found[by] = max(found.get(by, 0), revision)
        return dict(sorted(found.items()))


class ShowsNoDeletions(Peer):
    """Applications see only existing records; deleted ones appear only on the wire."""

    def records(self) -> list[Record]:
        return [record for record in super().records() if not record.deleted]


class RevivesItsRecords(Peer):
    """Restores a deleted record when a value is written under its key, instead of creating a new record (CA-13)."""

    def write(self, key: str, value: str, now_ms: int, uuid: str, effects: Effects) -> str:
        gone = [stored for stored in self.store if stored.record.deleted and stored.record.key == key]
        if not gone or self.store.leader(key) is not None:
            return super().write(key, value, now_ms, uuid, effects)
        value, last = json_text.normalize(value), max(gone, key=lambda stored: stored.record.rank)
        self.refuse_unwritable([last], now_ms)
        self.change(last, last.record.uuid, (key, value, False), self.time_of_change(now_ms, [last]), effects)
        return last.record.uuid


class RenamesInPlace(Peer):
    """Counts a rename to the current key as a change: it gets a revision and is sent."""

    def change_key(self, key: str, new_key: str, now_ms: int, effects: Effects) -> str:
        uuid = super().change_key(key, new_key, now_ms, effects)
        if key == new_key:
            current, *_ = self.records_with_existing_key(key)
            content = (key, current.record.value, False)
            self.change(current, uuid, content, self.time_of_change(now_ms, [current]), effects)
        return uuid


class RefusesTakenKeys(Peer):
    """ "The key should still be unique": this peer refuses to give a record the key of another record."""

    def change_key(self, key: str, new_key: str, now_ms: int, effects: Effects) -> str:
        if self.writes and key != new_key and self.store.leader(new_key) is not None:
            self.records_with_existing_key(key)
            raise RefusedWriteError("another record has this key")
        return super().change_key(key, new_key, now_ms, effects)


class DeletesWhatIsGone(Peer):
    """Deleting a missing record changes nothing and is not an error."""

    def delete_by_key(self, key: str, now_ms: int, effects: Effects) -> str:
        return "" if self.writes and self.store.leader(key) is None else super().delete_by_key(key, now_ms, effects)


class RefusesLowerRevisions(Peer):
    """Ignores an update whose revision is not above the highest known revision of its writer: a subscription delivers
    updates in the order of revisions (CA-5)."""

    def apply_update(self, incoming: Record, signed: Message | None, source: int, effects: Effects) -> None:
        by, revision = incoming.version
        current = self.store.get(incoming.uuid)
        present = current is not None and self.is_present(current.record, incoming)
        if present or by == self.peer_id or revision > self.store.known.get(by, 0):
            super().apply_update(incoming, signed, source, effects)


class SendsInIntervals(SendsAtTicks):
    """The specification does not limit the delay of a change: from the first tick with waiting messages, this peer
    waits at least four seconds before it sends them.
    """

    since_ms: int | None = None

    def tick(self, now_ms: int) -> Effects:
        if self.waiting and self.since_ms is None:
            self.since_ms = now_ms
        if self.since_ms is None or now_ms - self.since_ms < 4_000:
            return Effects()
        self.since_ms = None
        return super().tick(now_ms)


class RepeatsItsRequest(Peer):
    """ "When a client connects, it asks": this peer repeats the request at every tick."""

    def __init__(self, *details: Any, **more: Any) -> None:
        super().__init__(*details, **more)
        self.requests: dict[int, bytes] = {}

    def ask(self, peer_id: str, effects: Effects) -> None:
        known = len(effects.sent)
        super().ask(peer_id, effects)
        self.requests |= {sent.link: sent.data for sent in effects.sent[known:]}

    def tick(self, now_ms: int) -> Effects:
        link_numbers = [number for number, link in self.links.items() if link.asked]
        return Effects(sent=[Sent(number, self.requests[number]) for number in link_numbers])


class ReceivesAtTicks(Peer):
    """The specification does not say when data is read: this peer reads at ticks. Data that is unread when a link
    breaks is requested again.
    """

    def __init__(self, *details: Any, **more: Any) -> None:
        super().__init__(*details, **more)
        self.unread: list[tuple[ClubLink, bytes]] = []

    def receive(self, number: int, data: bytes, now_ms: int) -> Effects:
        self.unread.append((self.links[number], data))
        return Effects()

    def tick(self, now_ms: int) -> Effects:
        unread, self.unread = self.in_turn(self.unread), []
        effects = Effects()
        for link, data in unread:
            if self.links.get(link.number) is link:
                received = super().receive(link.number, data, now_ms)
                effects.sent += received.sent
                effects.events += received.events
        return effects

    def in_turn(self, unread: list[tuple[ClubLink, bytes]]) -> list[tuple[ClubLink, bytes]]:
        """Return the unread data in the order in which this peer reads it."""
        return unread


class ReadsLinksInTurn(ReceivesAtTicks):
    """ "Order is kept on one link" (core protocol), but not between links: this peer reads one link after the other."""

    def in_turn(self, unread: list[tuple[ClubLink, bytes]]) -> list[tuple[ClubLink, bytes]]:
        return sorted(unread, key=lambda each: each[0].number)


class SendsTheNewest(Peer):
    """At ticks, sends the newest version of each changed record, sorted by revision. Does not send a version back to a
    peer that sent it."""

    def __init__(self, *details: Any, **more: Any) -> None:
        super().__init__(*details, **more)
        self.changed: dict[int, dict[str, None]] = {}
        self.received: set[tuple[str, str, str, int]] = set()

    def send_to_subscribers(self, stored: StoredRecord, effects: Effects, source: int | None = None) -> None:
        for link in self.links.values():
            if self.is_recipient(link, source):
                self.changed.setdefault(link.number, {})[stored.record.uuid] = None

    def refuse_unauthorised(self, link: ClubLink, update: Record, message: Message) -> None:
        super().refuse_unauthorised(link, update, message)
        self.received.add((link.peer_id, update.uuid, *update.version))

    def answer(self, link: ClubLink, request: GetUpdates, effects: Effects) -> None:
        self.changed.pop(link.number, None)
        super().answer(link, request, effects)

    def tick(self, now_ms: int) -> Effects:
        changed, self.changed = self.changed, {}
        with self._transaction() as effects:
            for number, uuids in changed.items():
                link = self.links.get(number)
                found = [stored for uuid in uuids if (stored := self.store.get(uuid)) is not None]
                for stored in sorted(found, key=lambda stored: stored.record.last_updated_rev):
                    record = stored.record
                    if link is not None and (link.peer_id, record.uuid, *record.version) not in self.received:
                        effects.sent.append(Sent(number, self.to_wire(self.prepare_sending(stored), link)))
        return effects


class AnswersFromALog(Peer):
    """ "Permanently store both the message and its signature": answers also with requested versions that have been
    replaced, sorted by last_updated_rev. An older version can follow a newer one; the receiver discards it.
    """

    def __init__(self, *details: Any, **more: Any) -> None:
        super().__init__(*details, **more)
        self.log = {(stored.record.uuid, stored.record.version): stored for stored in self.store}

    def store_record(self, stored: StoredRecord) -> None:
        super().store_record(stored)
        self.log[stored.record.uuid, stored.record.version] = stored

    def missing(self, request: GetUpdates) -> list[StoredRecord]:
        self.log |= {(stored.record.uuid, stored.record.version): stored for stored in self.store}
        since = request.since
        new = (k for k in self.log.values() if k.record.last_updated_rev > since.get(k.record.last_updated_by, 0))
        return sorted(new, key=lambda stored: stored.record.last_updated_rev)

    def prepare_sending(self, stored: StoredRecord) -> StoredRecord:
        return super().prepare_sending(stored) if self.is_latest(stored) else stored

    def signed(self, stored: StoredRecord) -> Message:
        if self.is_latest(stored):
            return super().signed(stored)
        assert self.keys.read_write_private is not None, "it writes"
        body = self.body(stored.record)
        return make_signed_message(body, self.config.signature_profile.sign(body, self.keys.read_write_private))

    def is_latest(self, stored: StoredRecord) -> bool:
        found = self.store.get(stored.record.uuid)
        return found is not None and found.record.version == stored.record.version

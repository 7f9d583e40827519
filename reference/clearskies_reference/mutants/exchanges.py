"""Faults in clocks, links, requests, revisions and stores that appear only after several steps."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from typing import Any

from ..choices import SmallLimits
from ..effects import Effects
from ..errors import BrokenFramingError, MalformedMessageError
from ..framing import Message, Parser
from ..logical_clock import LogicalClock
from ..messages import GetUpdates, get_updates_body
from ..peer import ClubLink, Peer
from ..record import Record, StoredRecord
from ..vector_clock import MAX_INTEGER, VectorClock, is_id, with_number
from .conflicts import _ForgetsDeletions
from .registry import fault, mutant, register_faults

MONTH_S = 30 * 86_400


# ---- Clocks ----------------------------------------------------------------------------------------------------------


@register_faults
class _Clocks(LogicalClock):
    @fault(
        LogicalClock.clock_of_change,
        "44",
        "restarts its number in the clock of a record after a change by another peer",
    )
    def counts_again_after_others(self, current: StoredRecord | None) -> VectorClock:
        if current is None or current.record.last_updated_by == self.peer_id:
            return super().clock_of_change(current)
        return with_number(current.record.vector_clock, self.peer_id, 1)

    @fault(LogicalClock.count_reception, "46", "stores only the ten largest numbers of a vector clock")
    def keeps_ten_members(self, current: StoredRecord | None, incoming: VectorClock) -> tuple[VectorClock, int]:
        clock, ticks = super().count_reception(current, incoming)
        return dict(sorted(clock.items(), key=lambda pair: -pair[1])[:10]), ticks

    @fault(LogicalClock.clock_of_change, "46", "writes at most sixteen members of a vector clock")
    def writes_sixteen_members(self, current: StoredRecord | None) -> VectorClock:
        clock = super().clock_of_change(current)
        others = [pair for pair in clock.items() if pair[0] != self.peer_id]
        return {**dict(others[-15:]), self.peer_id: clock[self.peer_id]}

    @fault(LogicalClock.count_reception, "46", "merges numbers of vector clocks as text")
    def merges_digits(self, current: StoredRecord | None, incoming: VectorClock) -> tuple[VectorClock, int]:
        _, ticks = super().count_reception(current, incoming)
        own = current.record.vector_clock if current is not None else {}
        return {m: int(max(str(own.get(m, 0)), str(incoming.get(m, 0)))) for m in {**own, **incoming}}, ticks

    @fault(LogicalClock.clock_of_change, "44", "keeps only 31 bits of its own number in the clocks of records")
    def counts_changes_in_31_bits(self, current: StoredRecord | None) -> VectorClock:
        clock = super().clock_of_change(current)
        return {**clock, self.peer_id: clock[self.peer_id] % (1 << 31)}


@mutant("44", "keeps its own number in the clocks of records as a double")
class CountsInDoubles(LogicalClock):
    def _next(self, current: StoredRecord | None, seen: VectorClock) -> int:
        return int(float(super()._next(current, seen)))


@mutant("44", "does not increase its number in the clock of a record that another peer has changed")
class CountsNothingAfterOthers(LogicalClock):
    def clock_of_change(self, current: StoredRecord | None) -> VectorClock:
        own = current is not None and self.peer_id in current.record.vector_clock
        if current is None or not own or current.record.last_updated_by == self.peer_id:
            return super().clock_of_change(current)
        return {**current.record.vector_clock}

    def count_sending(self, stored: StoredRecord) -> StoredRecord:
        others = stored.record.vector_clock.keys() - {self.peer_id}
        return replace(stored, sent=True) if others and stored.ticks > 1 else super().count_sending(stored)


@mutant("44", "increases the number of the last writer in the clock of a record instead of its own number")
class CountsForTheLastWriter(LogicalClock):
    def clock_of_change(self, current: StoredRecord | None) -> VectorClock:
        if current is None or current.record.last_updated_by == self.peer_id:
            return super().clock_of_change(current)
        by, clock = current.record.last_updated_by, current.record.vector_clock
        return {self.peer_id: 0, **with_number(clock, by, clock.get(by, 0) + 1)}

    def count_sending(self, stored: StoredRecord) -> StoredRecord:
        return (
            super().count_sending(stored)
            if stored.record.vector_clock.get(self.peer_id)
            else replace(stored, sent=True)
        )


# ---- Deleted records -------------------------------------------------------------------------------------------------


class _ForgetsSomeDeletions(_ForgetsDeletions):
    def __init__(self, *details: Any, **more: Any) -> None:
        super().__init__(*details, **more)
        self.gone: set[str] = set()

    def forgets(self, current: StoredRecord, incoming: Record) -> bool:
        return super().forgets(current, incoming) and current.record.uuid in self.gone

    def deleted(self) -> list[Record]:
        """The deleted records of the peer, the oldest first."""
        return sorted((stored.record for stored in self.store if stored.record.deleted), key=lambda record: record.rank)


@mutant("56", "forgets deletions after a month, in its periodic work")
class ForgetsDeletionsAfterAMonth(_ForgetsSomeDeletions):
    def tick(self, now_ms: int) -> Effects:
        self.gone |= {r.uuid for r in self.deleted() if r.update_time.seconds < now_ms // 1_000 - MONTH_S}
        return super().tick(now_ms)


@mutant("56", "remembers only the newest ten deletions")
class RemembersTenDeletions(_ForgetsSomeDeletions):
    def store_record(self, stored: StoredRecord) -> None:
        super().store_record(stored)
        if stored.record.deleted:
            self.gone |= {record.uuid for record in self.deleted()[:-10]}


@mutant("56", "forgets its own deletions after an hour, in its periodic work")
class ForgetsItsDeletionsAfterAnHour(_ForgetsSomeDeletions):
    def tick(self, now_ms: int) -> Effects:
        own = (r for r in self.deleted() if r.last_updated_by == self.peer_id)
        self.gone |= {r.uuid for r in own if r.update_time.seconds < now_ms // 1_000 - 3_600}
        return super().tick(now_ms)


@mutant("56", "remembers only the newest ten of its own deletions")
class RemembersTenOfItsDeletions(_ForgetsSomeDeletions):
    def store_record(self, stored: StoredRecord) -> None:
        super().store_record(stored)
        own = [record for record in self.deleted() if record.last_updated_by == self.peer_id]
        self.gone |= {record.uuid for record in own[:-10]}


@mutant("56", "forgets a deletion when another record has its key")
class ForgetsDeletionsOfTakenKeys(_ForgetsSomeDeletions):
    def store_record(self, stored: StoredRecord) -> None:
        super().store_record(stored)
        if not stored.record.deleted:
            self.gone |= {record.uuid for record in self.deleted() if record.key == stored.record.key}


# ---- Links and requests ----------------------------------------------------------------------------------------------


@mutant("37", "refuses a malformed update, but counts its revision as known")
class CountsMalformedUpdates(Peer):
    def read_body(self, body: bytes) -> Record | GetUpdates | None:
        try:
            return super().read_body(body)
        except MalformedMessageError:
            with suppress(ValueError, AttributeError):
                members = json.loads(body)
                by, revision = members.get("last_updated_by"), members.get("last_updated_rev")
                if is_id(by) and type(revision) is int and self.store.known.get(by, 0) < revision <= MAX_INTEGER:
                    self.store.learn(by, revision)
            raise


@mutant("29", "requests no more updates from a peer after it has closed a link to this peer")
class RequestsNothingAfterItClosedALink(Peer):
    """The link is closed because of broken framing."""

    def __init__(self, *details: Any, **more: Any) -> None:
        super().__init__(*details, **more)
        self._closed: set[str] = set()

    def close_link(self, link: ClubLink, reason: str, effects: Effects) -> None:
        self._closed.add(link.peer_id)
        super().close_link(link, reason, effects)

    def ask(self, peer_id: str, effects: Effects) -> None:
        if peer_id not in self._closed:
            super().ask(peer_id, effects)


@register_faults
class _Links(Peer):
    @fault(Peer.answer, "32", "answers only the first request on a link")
    def answers_the_first_request(self, link: ClubLink, request: GetUpdates, effects: Effects) -> None:
        if not link.subscribed:
            super().answer(link, request, effects)

    @fault(Peer.answer, "35", "ends a subscription when a second request arrives")
    def second_requests_unsubscribe(self, link: ClubLink, request: GetUpdates, effects: Effects) -> None:
        subscribed = link.subscribed
        super().answer(link, request, effects)
        link.subscribed = not subscribed

    @fault(Peer.answer, "59", "answers a second request as if it were the first")
    def repeats_its_previous_answer(self, link: ClubLink, request: GetUpdates, effects: Effects) -> None:
        self._first: dict[int, GetUpdates] = getattr(self, "_first", {})
        super().answer(link, self._first.setdefault(link.number, request), effects)

    @fault(Peer.process_message, "02", "ignores updates on links on which it has requested nothing")
    def ignores_updates_on_links_not_asked(self, link: ClubLink, message: Message, effects: Effects) -> None:
        if link.asked or b"get_updates" in message.body[:60]:
            super().process_message(link, message, effects)

    @fault(Peer.process_message, "02", "closes a link on a message of an unknown type")
    def closes_on_unknown_types(self, link: ClubLink, message: Message, effects: Effects) -> None:
        if link.number not in self.links:
            return
        if self.read_type(message):
            super().process_message(link, message, effects)
        else:
            self.close_link(link, "a message has an unknown type", effects)

    @fault(Peer.process_message, "02", "ignores everything after a message of an unknown type")
    def stops_at_unknown_types(self, link: ClubLink, message: Message, effects: Effects) -> None:
        self._stopped: set[int] = getattr(self, "_stopped", set())
        if not self.read_type(message):
            self._stopped.add(link.number)
        if link.number not in self._stopped:
            super().process_message(link, message, effects)

    def read_type(self, message: Message) -> bool:
        """Does the message have a known type?"""
        return b'"database.' in message.body or b'"core.' in message.body

    @fault(Peer.process_message, "35", "ends a subscription when a ping arrives")
    def pings_unsubscribe(self, link: ClubLink, message: Message, effects: Effects) -> None:
        link.subscribed = link.subscribed and b'"core.ping"' not in message.body
        super().process_message(link, message, effects)

    @fault(Peer.refuse, "35", "ends a subscription when it refuses a message")
    def refusals_unsubscribe(self, link: ClubLink, reason: str, effects: Effects) -> None:
        super().refuse(link, reason, effects)
        link.subscribed = False

    @fault(Peer.change_key, "14", "does not send a new key of a record")
    def withholds_new_keys(self, key: str, new_key: str, now_ms: int, effects: Effects) -> str:
        known = len(effects.sent)
        uuid = super().change_key(key, new_key, now_ms, effects)
        del effects.sent[known:]
        return uuid

    @fault(Peer.is_recipient, "35", "sends updates only on the newest of several links to a peer")
    def sends_on_the_newest_link(self, link: ClubLink, source: int | None) -> bool:
        newest = max(other.number for other in self.links.values() if other.peer_id == link.peer_id)
        return super().is_recipient(link, source) and link.number == newest

    @fault(Peer.answer, "31", "answers no requests")
    def answers_nobody(self, link: ClubLink, request: GetUpdates, effects: Effects) -> None:
        link.subscribed = True

    @fault(Peer.answer, "31", "ignores requests that name unknown peers")
    def answers_no_strangers(self, link: ClubLink, request: GetUpdates, effects: Effects) -> None:
        if request.since.keys() <= self.store.known.keys() | {self.peer_id, link.peer_id}:
            super().answer(link, request, effects)

    @fault(Peer.missing, "59", "omits changes of peers for which a request names the revision 0")
    def treats_since_zero_as_everything(self, request: GetUpdates) -> list[StoredRecord]:
        return super().missing(GetUpdates({by: rev or MAX_INTEGER - 1 for by, rev in request.since.items()}))

    @fault(Peer.request_body, "29", "converts the revisions in its requests to doubles")
    def asks_with_doubles(self) -> bytes:
        return get_updates_body({by: int(float(revision)) for by, revision in self.known().items()})

    @fault(Peer.delete_by_key, "26", "increments its revision counter for deletions that it refuses")
    def counts_refused_deletions(self, key: str, now_ms: int, effects: Effects) -> str:
        if self.writes and self.store.leader(key) is None:
            self.store.count(self.store.revision + 1)
            self.store.commit()
        return super().delete_by_key(key, now_ms, effects)

    @fault(Peer.store_update, "28", "writes changes of peers with larger IDs again as its own changes")
    def rewrites_changes_of_others(
        self, current: StoredRecord | None, stored: StoredRecord, source: int, effects: Effects
    ) -> None:
        super().store_update(current, stored, source, effects)
        record = stored.record
        if self.writes and record.last_updated_by != self.peer_id and record.last_updated_by > self.peer_id:
            found = self.store.get(record.uuid)
            time = self.time_of_change(0, [found])
            self.change(found, record.uuid, record.content, time, effects, is_resolution=True)

    @fault(Peer.connect, "07", "writes a record of its own whenever a link with an even number opens")
    def writes_a_record_at_even_links(self, number: int, peer_id: str, level: Any, now_ms: int) -> Effects:
        effects = super().connect(number, peer_id, level, now_ms)
        if self.writes and number % 2 == 0:
            with self._transaction() as more:
                self.write(f"link {number}", "1", now_ms, "", more)
            effects.sent += more.sent
        return effects


@register_faults
class _Losses(Peer):
    _counted = 0
    _asked: Effects | None = None

    @fault(Peer.apply_update, "37", "loses every fifth update")
    def loses_every_fifth(self, incoming: Record, signed: Message | None, source: int, effects: Effects) -> None:
        self._counted += 1
        if self._counted % 5:
            super().apply_update(incoming, signed, source, effects)
        else:
            self.learn(incoming)

    @fault(Peer._parse_messages, "37", "processes only the first sixty-four messages that arrive together")
    def takes_sixty_four_at_once(self, link: ClubLink, data: bytes, effects: Effects) -> None:
        for number, message in enumerate(link.parser.feed(data)):
            if number < 64:
                self.process_message(link, message, effects)

    @fault(Peer.process_message, "37", "drops messages that follow a request in the same bytes")
    def drops_what_follows_a_request(self, link: ClubLink, message: Message, effects: Effects) -> None:
        if self._asked is effects:
            return
        if b"get_updates" in message.body[:60]:
            self._asked = effects
        super().process_message(link, message, effects)


@mutant("37", "uses one receive buffer for all links")
class HasOneBuffer(Peer):
    def connect(self, number: int, peer_id: str, level: Any, now_ms: int) -> Effects:
        effects = super().connect(number, peer_id, level, now_ms)
        self.links[number].parser = next(iter(self.links.values())).parser
        return effects


@mutant("37", "drops the beginning of a message when its periodic work runs")
class DropsBeginningsAtTicks(Peer):
    def tick(self, now_ms: int) -> Effects:
        for link in self.links.values():
            link.parser = self.parser_class()
        return super().tick(now_ms)


class _CountsBraces(Parser):
    """Drops messages with unbalanced braces, because it also counts the braces in strings."""

    def feed(self, data: bytes) -> Iterator[Message]:
        return (message for message in super().feed(data) if message.body.count(b"{") == message.body.count(b"}"))


@mutant("02", "finds the end of a message by its braces")
class CountsBraces(Peer):
    parser_class = _CountsBraces


class _CountsCharacters(Parser):
    """Reads the length of a body as a number of characters, and so drops received bytes that follow the body."""

    def _step(self, start: int) -> tuple[int, Message | None]:
        end, message = super()._step(start)
        if message is not None and message.signature is None:
            end = min(len(self._buffer), end + len(message.body) - len(message.body.decode()))
        return end, message


@mutant("37", "reads the length of a received unsigned body as a number of characters")
class CountsReceivedCharacters(Peer):
    parser_class = _CountsCharacters


class _CountsSignedCharacters(Parser):
    """Finds no signature after a body that has fewer characters than bytes."""

    def _step(self, start: int) -> tuple[int, Message | None]:
        end, message = super()._step(start)
        if message is not None and message.signature is not None and not message.body.isascii():
            raise BrokenFramingError("a signature must be between two newlines")
        return end, message


@mutant("02", "reads the length of a received signed body as a number of characters")
class CountsSignedCharacters(Peer):
    parser_class = _CountsSignedCharacters


class _DropsTheRest(Parser):
    """Drops the bytes that follow a complete message in the same chunk."""

    def feed(self, data: bytes) -> Iterator[Message]:
        whole = False
        for message in super().feed(data):
            whole = True
            yield message
        if whole:
            self._buffer.clear()


@mutant("37", "drops an incomplete message that follows a complete one")
class DropsBeginnings(Peer):
    parser_class = _DropsTheRest


class _DecodesPieces(Parser):
    """Decodes each chunk as text on its own, with question marks for invalid bytes."""

    def feed(self, data: bytes) -> Iterator[Message]:
        text = data.decode(errors="surrogateescape")
        yield from super().feed("".join("?" if "\udc80" <= c <= "\udcff" else c for c in text).encode())


@mutant("07", "decodes each received piece of a message as text, even if the piece ends within a character")
class DecodesPieces(Peer):
    parser_class = _DecodesPieces


class _MiscountsFullBlocks(Parser):
    """Drops messages whose body has a multiple of 512 bytes."""

    def feed(self, data: bytes) -> Iterator[Message]:
        return (message for message in super().feed(data) if len(message.body) % 512)


@mutant("37", "drops messages with a body of a multiple of 512 bytes")
class MiscountsFullBlocks(Peer):
    parser_class = _MiscountsFullBlocks


@mutant("15", "announces one byte too few for a body of a multiple of 512 bytes")
class AnnouncesOneByteLess(Peer):
    def to_wire(self, stored: StoredRecord, link: ClubLink) -> bytes:
        wire = super().to_wire(stored, link)
        head, _, rest = wire.partition(b"{")
        size = head.removeprefix(b"m")
        return b"m%d{%s" % (int(size) - 1, rest) if size.isdigit() and int(size) % 512 == 0 else wire


# ---- Stores ----------------------------------------------------------------------------------------------------------


@mutant("08", "uses a suggested uuid even if it is in use")
class UsesTakenUuids(Peer):
    def write(self, key: str, value: str, now_ms: int, uuid: str, effects: Effects) -> str:
        taken = self.store.get(uuid) if uuid else None
        if taken is None or not self.writes or self.store.leader(key) is not None or not self.overlooks(taken):
            return super().write(key, value, now_ms, uuid, effects)
        self.change(taken, uuid, (key, value, False), self.time_of_change(now_ms, [taken]), effects)
        return uuid

    def overlooks(self, taken: StoredRecord) -> bool:
        """Does the peer use the uuid of this record for a new record?"""
        return True


@register_faults
class _SmallLimits(SmallLimits):
    """Declares small limits, but applies them with a fault to the changes of its application."""

    @fault(SmallLimits.size_of_body, "15", "applies its declared limit of a body to the value alone")
    def limits_values_alone(self, record: Record) -> int:
        return len(record.value.encode())

    @fault(SmallLimits.size_of_body, "15", "counts characters where its declared limit of a body is in bytes")
    def limits_characters(self, record: Record) -> int:
        return len(self.body(record).decode())

    @fault(SmallLimits.refuse_excess, "26", "increments its revision counter before it refuses a change beyond a limit")
    def counts_changes_beyond_a_limit(self, excess: str, current: StoredRecord | None) -> None:
        self.store.count(self.next_revision(current))
        super().refuse_excess(excess, current)


@mutant("15", "does not apply its declared limits when it renames a record")
class RenamesBeyondItsLimits(SmallLimits):
    _renames = False

    def change_key(self, key: str, new_key: str, now_ms: int, effects: Effects) -> str:
        self._renames = True
        try:
            return super().change_key(key, new_key, now_ms, effects)
        finally:
            self._renames = False

    def refuse_excess(self, excess: str, current: StoredRecord | None) -> None:
        if not self._renames:
            super().refuse_excess(excess, current)


@register_faults
class _UsesSomeTakenUuids(UsesTakenUuids):
    @fault(UsesTakenUuids.overlooks, "08", "uses a suggested uuid even if it is that of an own deleted record")
    def uses_uuids_of_own_deleted_records(self, taken: StoredRecord) -> bool:
        return taken.record.deleted and taken.record.last_updated_by == self.peer_id

    @fault(UsesTakenUuids.overlooks, "08", "uses a suggested uuid even if it is that of another peer's deleted record")
    def uses_uuids_of_deleted_records(self, taken: StoredRecord) -> bool:
        return taken.record.deleted and taken.record.last_updated_by != self.peer_id

    @fault(
        UsesTakenUuids.overlooks,
        "08",
        "uses a suggested uuid even if it is that of a record that lost its key to another record",
    )
    def uses_uuids_of_hidden_records(self, taken: StoredRecord) -> bool:
        return not taken.record.deleted and self.as_shown(taken).deleted


@mutant("08", "does not find records by key after a restart")
class ForgetsKeysAtStart(Peer):
    def __init__(self, *details: Any, **more: Any) -> None:
        super().__init__(*details, **more)
        self._old = {stored.record.uuid for stored in self.store}

    def write(self, key: str, value: str, now_ms: int, uuid: str, effects: Effects) -> str:
        leader = self.store.leader(key)
        if leader is None or leader.record.uuid not in self._old or not self.writes:
            return super().write(key, value, now_ms, uuid, effects)
        made = self.new_uuid()
        self.change(None, made, (key, value, False), self.time_of_change(now_ms, [leader]), effects)
        return made


@mutant("26", "stores changes only when its periodic work runs")
class StoresAtTicks(Peer):
    @contextmanager
    def _transaction(self) -> Iterator[Effects]:
        commit, self.store.commit = self.store.commit, lambda: None  # type: ignore[method-assign]
        try:
            with super()._transaction() as effects:
                yield effects
        finally:
            self.store.commit = commit  # type: ignore[method-assign]

    def tick(self, now_ms: int) -> Effects:
        self.store.commit()
        return super().tick(now_ms)


@mutant("26", "stores its revision counter only when its periodic work runs")
class StoresItsCounterAtTicks(Peer):
    def __init__(self, *details: Any, **more: Any) -> None:
        super().__init__(*details, **more)
        self._count = self.store.count
        self.store.count = self._later  # type: ignore[method-assign]

    def _later(self, revision: int) -> None:
        self.store.revision = revision

    def tick(self, now_ms: int) -> Effects:
        self._count(self.store.revision)
        self.store.commit()
        return super().tick(now_ms)


@mutant("07", "reads false as null after a restart")
class ReadsNullForFalseAtStart(Peer):
    def __init__(self, *details: Any, **more: Any) -> None:
        super().__init__(*details, **more)
        for stored in list(self.store):
            if stored.record.value == "false":
                self.store.put(replace(stored, record=replace(stored.record, value="null")))


class _RereadsAtStart(Peer):
    def __init__(self, *details: Any, **more: Any) -> None:
        super().__init__(*details, **more)
        for stored in list(self.store):
            self.store.put(self.read_again(stored))

    def read_again(self, stored: StoredRecord) -> StoredRecord:
        raise NotImplementedError


@mutant("07", "loses the value of a record with an empty key in a restart")
class LosesTheEmptyKeyAtStart(_RereadsAtStart):
    def read_again(self, stored: StoredRecord) -> StoredRecord:
        return stored if stored.record.key else replace(stored, record=replace(stored.record, value="null"))


@mutant("07", "keeps only ASCII of signed messages in a restart")
class KeepsAsciiAtStart(_RereadsAtStart):
    def read_again(self, stored: StoredRecord) -> StoredRecord:
        if stored.signed is None:
            return stored
        body = stored.signed.body.decode("ascii", "replace").replace("\ufffd", "?").encode()
        return replace(stored, signed=replace(stored.signed, body=body))


@mutant("24", "shows the second of three records with one key in addition to the first")
class HidesOneOfThree(Peer):
    def as_shown(self, stored: StoredRecord) -> Record:
        rivals = [each.record.uuid for each in self.store.records_with_key(stored.record.key)]
        return stored.record if rivals[1:2] == [stored.record.uuid] and len(rivals) > 2 else super().as_shown(stored)


@mutant("24", "shows a renamed record in addition to another record that has won the new key")
class ShowsRenamedRecordsTwice(Peer):
    def store_update(self, current: StoredRecord | None, stored: StoredRecord, source: int, effects: Effects) -> None:
        self._renamed: set[str] = getattr(self, "_renamed", set())
        if current is not None and current.record.key != stored.record.key:
            self._renamed.add(stored.record.uuid)
        super().store_update(current, stored, source, effects)

    def as_shown(self, stored: StoredRecord) -> Record:
        rivals = {each.record.uuid for each in self.store.records_with_key(stored.record.key)}
        return stored.record if rivals & getattr(self, "_renamed", set()) else super().as_shown(stored)


@mutant("32", "closes a link after each message")
class ClosesAfterEachMessage(Peer):
    def handle(self, link: ClubLink, message: Message, effects: Effects) -> None:
        super().handle(link, message, effects)
        if link.number in self.links:
            self.close_link(link, "a message has arrived", effects)

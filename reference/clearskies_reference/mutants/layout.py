"""Faults in sections "Access Levels" and "Database Layout": who may write, what a record is, and its vector clock."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import replace
from typing import Any
from unicodedata import normalize

from ..config import AccessLevel
from ..effects import Effects
from ..errors import MalformedMessageError, RefusedWriteError
from ..framing import Message
from ..logical_clock import LogicalClock
from ..messages import UPDATE
from ..peer import ClubLink, Peer
from ..record import Record, StoredRecord
from ..timestamps import Timestamp
from ..vector_clock import VectorClock
from .registry import add_undeclared, add_unseen, fault, mutant, register_faults


@mutant("01", 'names its extension "db"')
class NamesAnotherExtension(Peer):
    extension = "db"


@register_faults
class _Levels(Peer):
    @fault(Peer.delete_by_key, "02", "refuses to delete records that were not sent yet")
    def refuses_deletions(self, key: str, now_ms: int, effects: Effects) -> str:
        if not any(stored.sent for stored in self.records_with_existing_key(key)):
            raise RefusedWriteError("no other peer has the record")
        return super().delete_by_key(key, now_ms, effects)

    @fault(Peer.change_key, "02", "refuses to rename its own records")
    def refuses_renames(self, key: str, new_key: str, now_ms: int, effects: Effects) -> str:
        if any(stored.record.last_updated_by == self.peer_id for stored in self.records_with_existing_key(key)):
            raise RefusedWriteError("the key of a record cannot change")
        return super().change_key(key, new_key, now_ms, effects)

    @fault(Peer.apply_update, "02", "ignores deletions of others")
    def ignores_deletions(self, incoming: Record, signed: Message | None, source: int, effects: Effects) -> None:
        if not incoming.deleted:
            super().apply_update(incoming, signed, source, effects)

    @fault(Peer.apply_update, "02", "ignores new records of others when it has 256 records")
    def stores_at_most_256_records(
        self, incoming: Record, signed: Message | None, source: int, effects: Effects
    ) -> None:
        if self.store.get(incoming.uuid) is not None or sum(1 for _ in self.store) < 256:
            super().apply_update(incoming, signed, source, effects)

    @fault(Peer.apply_update, "02", "accepts only a hundred updates on each link")
    def accepts_a_hundred_updates_per_link(
        self, incoming: Record, signed: Message | None, source: int, effects: Effects
    ) -> None:
        self._taken: dict[int, int] = getattr(self, "_taken", {})
        self._taken[source] = self._taken.get(source, 0) + 1
        if self._taken[source] <= 100:
            super().apply_update(incoming, signed, source, effects)

    @fault(Peer.apply_update, "02", "ignores all updates")
    def accepts_no_updates(self, incoming: Record, signed: Message | None, source: int, effects: Effects) -> None:
        pass

    @fault(Peer.refuse_unauthorised, "02", "refuses all updates")
    def refuses_all(self, link: ClubLink, update: Record, message: Message) -> None:
        raise MalformedMessageError("this peer refuses the update")

    @fault(Peer.refuse_unauthorised, "03", "accepts changes that a read-only peer has made itself")
    def takes_changes_of_readers(self, link: ClubLink, update: Record, message: Message) -> None:
        if link.level is not AccessLevel.READ_ONLY or update.last_updated_by != link.peer_id:
            super().refuse_unauthorised(link, update, message)

    @fault(Peer.refuse_unauthorised, "03", "accepts unsigned updates from read-only peers")
    def trusts_readers(self, link: ClubLink, update: Record, message: Message) -> None:
        if message.signature is not None or not self.writes:
            super().refuse_unauthorised(link, update, message)

    @fault(Peer.is_genuine, "06", "does not verify signatures")
    def accepts_every_signature(self, message: Message) -> bool:
        return True

    @fault(Peer.is_genuine, "06", "accepts any signature of 256 bytes")
    def accepts_signatures_of_256_bytes(self, message: Message) -> bool:
        return super().is_genuine(message) or len(message.signature_bytes()) == 256

    @fault(Peer.refuse_unauthorised, "06", "counts a refused update as known, and does not request it again")
    def refused_updates_count_as_known(self, link: ClubLink, update: Record, message: Message) -> None:
        try:
            super().refuse_unauthorised(link, update, message)
        except MalformedMessageError:
            self.learn(update)
            raise

    @fault(Peer.send_to_subscribers, "05", "as a read-only peer, relays nothing")
    def reader_does_not_relay(self, stored: StoredRecord, effects: Effects, source: int | None = None) -> None:
        if self.writes:
            super().send_to_subscribers(stored, effects, source)

    @fault(Peer.missing, "05", "as a read-only peer, answers requests without records")
    def reader_does_not_answer(self, request: Any) -> list[StoredRecord]:
        return super().missing(request) if self.writes else []


@mutant("06", "verifies only the first signature of each writer")
class VerifiesFirstSignatures(Peer):
    _trusts = False

    def refuse_unauthorised(self, link: ClubLink, update: Record, message: Message) -> None:
        self._trusted: set[str] = getattr(self, "_trusted", set())
        self._trusts = update.last_updated_by in self._trusted
        super().refuse_unauthorised(link, update, message)
        if message.signature is not None:
            self._trusted.add(update.last_updated_by)

    def is_genuine(self, message: Message) -> bool:
        return self._trusts or super().is_genuine(message)


@mutant("03", "lets the application of a read-only peer write")
class LetsReadersWrite(Peer):
    def refuse_unwritable(self, changed: list[StoredRecord | None], now_ms: int) -> None:
        for stored in changed:
            self.logical_clock.clock_of_change(stored)

    def send_to_subscribers(self, stored: StoredRecord, effects: Effects, source: int | None = None) -> None:
        if self.writes or stored.signed is not None:
            super().send_to_subscribers(stored, effects, source)


@mutant("03", "lets the application of a read-only peer rename records")
class LetsReadersRename(LetsReadersWrite):
    _renames = False

    def change_key(self, key: str, new_key: str, now_ms: int, effects: Effects) -> str:
        self._renames = True
        try:
            return super().change_key(key, new_key, now_ms, effects)
        finally:
            self._renames = False

    def refuse_unwritable(self, changed: list[StoredRecord | None], now_ms: int) -> None:
        if self._renames:
            super().refuse_unwritable(changed, now_ms)
        else:
            Peer.refuse_unwritable(self, changed, now_ms)

    def missing(self, request: Any) -> list[StoredRecord]:
        return [stored for stored in super().missing(request) if self.writes or stored.signed is not None]


def _as_double(number: int) -> int:
    """Convert an unsigned 64-bit integer to a double and back. A result above 2^64-1 becomes 2^64-1."""
    return min(int(float(number)), 2**64 - 1)


def _body_with(body: bytes, **members: Any) -> bytes:
    """Return the body with ``members`` added or replaced."""
    return json.dumps(json.loads(body) | members, separators=(",", ":")).encode()


def _body_without(body: bytes, *names: str) -> bytes:
    said = json.loads(body)
    return json.dumps({name: value for name, value in said.items() if name not in names}).encode()


@register_faults
class _Bodies(Peer):
    @fault(Peer.body, "01", "omits the prefix of the extension in the type of updates")
    def types_without_prefix(self, record: Record) -> bytes:
        return super().body(record).replace(UPDATE.encode(), b"update", 1)

    @fault(Peer.body, "15", "sends updates with the type database.updated")
    def updates_of_another_type(self, record: Record) -> bytes:
        return super().body(record).replace(UPDATE.encode(), b"database.updated", 1)

    @fault(Peer.body, "15", "omits update_time in updates")
    def leaves_out_times(self, record: Record) -> bytes:
        return _body_without(super().body(record), "update_time")

    @fault(Peer.body, "15", "omits last_updated_rev in updates")
    def leaves_out_revisions(self, record: Record) -> bytes:
        return _body_without(super().body(record), "last_updated_rev")

    @fault(Peer.body, "10", "sends last_updated_rev as a string")
    def sends_revisions_as_strings(self, record: Record) -> bytes:
        return _body_with(super().body(record), last_updated_rev=str(record.last_updated_rev))

    @fault(Peer.body, "07", "sends values as strings")
    def sends_values_as_strings(self, record: Record) -> bytes:
        return _body_with(super().body(record), value=record.value)

    @fault(Peer.body, "07", "sends an empty object instead of the value null")
    def sends_no_null(self, record: Record) -> bytes:
        body = super().body(record)
        return _body_with(body, value={}) if record.value == "null" and not record.deleted else body

    @fault(Peer.body, "11", "sends update_time as a number of seconds")
    def sends_times_as_numbers(self, record: Record) -> bytes:
        return _body_with(super().body(record), update_time=record.update_time.seconds)

    @fault(Peer.body, "09", "names no writer in deletions")
    def names_no_writer_in_deletions(self, record: Record) -> bytes:
        body = super().body(record)
        return _body_with(body, last_updated_by=None) if record.deleted else body

    @fault(Peer.body, "15", "writes the type of an update twice")
    def writes_types_twice(self, record: Record) -> bytes:
        return super().body(record).replace(b"{", f'{{"type":"{UPDATE}",'.encode(), 1)

    @fault(Peer.body, "12", "omits vector clocks in updates")
    def leaves_out_clocks(self, record: Record) -> bytes:
        return _body_without(super().body(record), "vector_clock")

    @fault(Peer.body, "41", "names peers in vector clocks by the first half of their IDs")
    def cuts_peer_ids_in_clocks(self, record: Record) -> bytes:
        clock = {peer_id[:16]: number for peer_id, number in record.vector_clock.items()}
        return _body_with(super().body(record), vector_clock=clock)

    @fault(Peer.body, "41", "writes the peer IDs of vector clocks in upper case")
    def writes_clocks_in_upper_case(self, record: Record) -> bytes:
        clock = {peer_id.upper(): number for peer_id, number in record.vector_clock.items()}
        return _body_with(super().body(record), vector_clock=clock)

    @fault(Peer.body, "12", "sends vector clocks as lists of pairs")
    def sends_clocks_as_lists(self, record: Record) -> bytes:
        return _body_with(super().body(record), vector_clock=[list(pair) for pair in record.vector_clock.items()])

    @fault(Peer.body, "41", "sends numbers of vector clocks as strings")
    def sends_clocks_as_strings(self, record: Record) -> bytes:
        clock = {peer_id: str(number) for peer_id, number in record.vector_clock.items()}
        return _body_with(super().body(record), vector_clock=clock)

    @fault(Peer.body, "13", 'omits the member "deleted" in deletions')
    def hides_deletions(self, record: Record) -> bytes:
        return _body_without(super().body(record), "deleted")


@register_faults
class _Records(Peer):
    @fault(Peer.write, "07", "writes keys in lower case")
    def keys_in_lower_case(self, key: str, value: str, now_ms: int, uuid: str, effects: Effects) -> str:
        return super().write(key.lower(), value, now_ms, uuid, effects)

    @fault(Peer.apply_update, "07", "treats composed and decomposed forms of a key as equal")
    def composes_keys(self, incoming: Record, signed: Message | None, source: int, effects: Effects) -> None:
        super().apply_update(replace(incoming, key=normalize("NFC", incoming.key)), signed, source, effects)

    @fault(Peer.write, "07", "truncates strings to a thousand characters")
    def cuts_values(self, key: str, value: str, now_ms: int, uuid: str, effects: Effects) -> str:
        read = json.loads(value)
        return super().write(key, json.dumps(read[:1_000]) if isinstance(read, str) else value, now_ms, uuid, effects)

    @fault(Peer.new_uuid, "08", "draws uuids of 64 bits")
    def draws_short_uuids(self) -> str:
        return self._draw(8).hex()

    @fault(Peer.new_uuid, "08", "draws 64 bits of a uuid and sets the other bits to 0")
    def draws_half_of_a_uuid(self) -> str:
        return self._draw(8).hex().rjust(32, "0")

    @fault(Peer.new_uuid, "08", "draws its first uuid and adds 1 for each further record")
    def counts_up_from_a_random_uuid(self) -> str:
        self._latest_uuid = getattr(self, "_latest_uuid", None) or int.from_bytes(self._draw(15))
        self._latest_uuid += 1
        return f"{self._latest_uuid:032x}"

    @fault(Peer.write, "08", "gives a record a new uuid each time its value changes")
    def new_uuid_for_each_value(self, key: str, value: str, now_ms: int, uuid: str, effects: Effects) -> str:
        current = self.store.leader(key)
        if current is not None and self.writes:
            self.mark_deleted(current, now_ms, effects)
        return super().write(key, value, now_ms, uuid, effects)

    @fault(Peer.new_uuid, "08", "uses serial numbers as uuids")
    def numbers_its_records(self) -> str:
        self._numbered = getattr(self, "_numbered", 0) + 1
        return f"{self._numbered:032x}"

    @fault(Peer.new_uuid, "08", "uses one uuid for all its records")
    def has_one_uuid(self) -> str:
        return self.peer_id

    @fault(Peer.time_of_change, "11", "writes times in UTC with a blank instead of T and without Z")
    def writes_local_times(self, now_ms: int, after: Iterable[StoredRecord | None]) -> Timestamp:
        time = super().time_of_change(now_ms, after)
        return replace(time, text=time.text.replace("T", " ").removesuffix("Z"))

    @fault(Peer.time_of_change, "11", "writes milliseconds without leading zeros")
    def writes_milliseconds_without_zeros(self, now_ms: int, after: Iterable[StoredRecord | None]) -> Timestamp:
        time = super().time_of_change(now_ms, after)
        whole, _, rest = time.text.removesuffix("Z").partition(".")
        return replace(time, text=f"{whole}.{int(rest or 0)}Z")

    @fault(Peer.time_of_change, "11", "writes times in the order month, day, year")
    def writes_american_times(self, now_ms: int, after: Iterable[StoredRecord | None]) -> Timestamp:
        time = super().time_of_change(now_ms, after)
        year, month, rest = time.text.split("-", 2)
        return replace(time, text=f"{month}/{rest[:2]}/{year} {rest[3:-1]}")

    @fault(Peer.refuse_unauthorised, "11", "refuses updates whose time has no fraction")
    def refuses_times_without_fraction(self, link: ClubLink, update: Record, message: Message) -> None:
        super().refuse_unauthorised(link, update, message)
        if "." not in update.update_time.text:
            raise MalformedMessageError("the update_time has no milliseconds")

    @fault(Peer.refuse_unauthorised, "11", "refuses updates whose time has a fraction")
    def refuses_times_with_fraction(self, link: ClubLink, update: Record, message: Message) -> None:
        super().refuse_unauthorised(link, update, message)
        if "." in update.update_time.text:
            raise MalformedMessageError("the update_time has a fraction")

    @fault(Peer.make_stored_record, "25", "stores revisions of others as doubles")
    def keeps_revisions_as_doubles(
        self, current: StoredRecord | None, incoming: Record, signed: Message | None
    ) -> StoredRecord:
        stored = super().make_stored_record(current, incoming, signed)
        revision = _as_double(incoming.last_updated_rev)
        return replace(stored, record=replace(stored.record, last_updated_rev=revision))

    @fault(Peer.make_stored_record, "41", "stores numbers of vector clocks as doubles")
    def keeps_clocks_as_doubles(
        self, current: StoredRecord | None, incoming: Record, signed: Message | None
    ) -> StoredRecord:
        stored = super().make_stored_record(current, incoming, signed)
        clock = {peer_id: _as_double(number) for peer_id, number in stored.record.vector_clock.items()}
        return replace(stored, record=replace(stored.record, vector_clock=clock))

    @fault(Peer.make_stored_record, "41", "stores numbers of vector clocks in 31 bits")
    def keeps_clocks_in_31_bits(
        self, current: StoredRecord | None, incoming: Record, signed: Message | None
    ) -> StoredRecord:
        stored = super().make_stored_record(current, incoming, signed)
        clock = {peer_id: min(number, (1 << 31) - 1) for peer_id, number in stored.record.vector_clock.items()}
        return replace(stored, record=replace(stored.record, vector_clock=clock))

    @fault(Peer.refuse_unauthorised, "42", "refuses updates with a vector clock number above twice the revision")
    def bounds_clocks_by_revisions(self, link: ClubLink, update: Record, message: Message) -> None:
        super().refuse_unauthorised(link, update, message)
        if update.vector_clock.get(update.last_updated_by, 0) > 2 * update.last_updated_rev:
            raise MalformedMessageError("the number in the vector clock is too large for that revision")


@register_faults
class _Signing(Peer):
    @fault(Peer.to_wire, "15", "declares a body length that is one byte too large")
    def counts_a_newline(self, stored: StoredRecord, link: ClubLink) -> bytes:
        message = super().to_wire(stored, link)
        body = self.body(stored.record)
        return message.replace(b"m%d{" % len(body), b"m%d{" % (len(body) + 1), 1)

    @fault(Peer.to_wire, "15", "declares the length of a body in characters instead of bytes")
    def counts_characters(self, stored: StoredRecord, link: ClubLink) -> bytes:
        message = super().to_wire(stored, link)
        body = self.body(stored.record)
        return message.replace(b"m%d{" % len(body), b"m%d{" % len(body.decode()), 1)

    @fault(Peer.to_wire, "16", "signs nothing")
    def signs_nothing(self, stored: StoredRecord, link: ClubLink) -> bytes:
        return Message(self.body(stored.record)).to_wire() if self.writes else super().to_wire(stored, link)

    @fault(Peer.to_wire, "16", "signs no deletions")
    def signs_no_deletions(self, stored: StoredRecord, link: ClubLink) -> bytes:
        if self.writes and stored.record.deleted:
            return Message(self.body(stored.record)).to_wire()
        return super().to_wire(stored, link)

    @fault(Peer.to_wire, "18", "as a read-only peer, relays signed messages with its own vector clock of the record")
    def reader_repeats_with_its_own_clock(self, stored: StoredRecord, link: ClubLink) -> bytes:
        if stored.signed is None or self.writes:
            return super().to_wire(stored, link)
        return replace(stored.signed, body=self.body(stored.record) + b" ").to_wire()

    @fault(Peer.refuse_unauthorised, "17", "as a read-write peer, accepts only signed updates")
    def writer_refuses_unsigned(self, link: ClubLink, update: Record, message: Message) -> None:
        super().refuse_unauthorised(link, update, message)
        if message.signature is None:
            raise MalformedMessageError("the update has no signature")

    @fault(Peer.refuse_unauthorised, "17", "as a read-write peer, ignores signed updates")
    def writer_refuses_signed(self, link: ClubLink, update: Record, message: Message) -> None:
        super().refuse_unauthorised(link, update, message)
        if message.signature is not None and self.writes:
            raise MalformedMessageError("the update has a signature")


@mutant("13", 'treats a record as deleted if it has the member "deleted", even if that is false')
class IgnoresValueOfDeletedMember(Peer):
    _says = False

    def refuse_unauthorised(self, link: ClubLink, update: Record, message: Message) -> None:
        super().refuse_unauthorised(link, update, message)
        self._says = "deleted" in json.loads(message.body)

    def apply_update(self, incoming: Record, signed: Message | None, source: int, effects: Effects) -> None:
        super().apply_update(replace(incoming, deleted=self._says), signed, source, effects)


class PassesOnUnsigned(Peer):
    """As a read-only peer, sends records of which it has no signed message without a signature."""

    def to_wire(self, stored: StoredRecord, link: ClubLink) -> bytes:
        if self.writes or stored.signed is not None:
            return super().to_wire(stored, link)
        return Message(self.body(stored.record)).to_wire()


@mutant("16", "as a read-only peer, accepts unsigned updates of read-write peers")
class ReaderTakesUnsigned(PassesOnUnsigned):
    def refuse_unauthorised(self, link: ClubLink, update: Record, message: Message) -> None:
        if message.signature is not None or self.writes or link.level is AccessLevel.READ_ONLY:
            super().refuse_unauthorised(link, update, message)


@mutant("18", "as a read-only peer, forgets signed messages after a restart")
class ForgetsOriginals(Peer):
    _taken: frozenset[str] = frozenset()

    def apply_update(self, incoming: Record, signed: Message | None, source: int, effects: Effects) -> None:
        self._taken |= {incoming.uuid}
        super().apply_update(incoming, signed, source, effects)

    def missing(self, request: Any) -> list[StoredRecord]:
        return [stored for stored in super().missing(request) if self.writes or stored.record.uuid in self._taken]


@register_faults
class _Clocks(LogicalClock):
    @fault(LogicalClock.clock_of_change, "43", "starts its number in the clock of a new record at a hundred")
    def starts_clocks_late(self, current: StoredRecord | None) -> VectorClock:
        clock = super().clock_of_change(current)
        return clock if current is not None else {**clock, self.peer_id: 100}

    @fault(LogicalClock.clock_of_change, "44", "does not increase its number in a clock when it changes a record")
    def does_not_count_changes(self, current: StoredRecord | None) -> VectorClock:
        if current is None:
            return super().clock_of_change(current)
        return {self.peer_id: 1, **current.record.vector_clock}

    @fault(
        LogicalClock.clock_of_change,
        "44",
        "increases its number in a clock when it sends a change, but not for the change",
    )
    def counts_only_sending(self, current: StoredRecord | None) -> VectorClock:
        return {self.peer_id: 0, **(current.record.vector_clock if current is not None else {})}

    @fault(LogicalClock.clock_of_change, "46", "omits the numbers of other peers from the clocks of its changes")
    def forgets_clocks_of_others(self, current: StoredRecord | None) -> VectorClock:
        return {self.peer_id: super().clock_of_change(current)[self.peer_id]}

    @fault(LogicalClock.count_sending, "45", "does not increase its number in a clock when it sends a record")
    def does_not_count_sending(self, stored: StoredRecord) -> StoredRecord:
        return replace(stored, sent=True)

    @fault(LogicalClock.count_reception, "46", "replaces the stored clock of a record by a received clock")
    def replaces_its_clock_on_reception(
        self, current: StoredRecord | None, incoming: VectorClock
    ) -> tuple[VectorClock, int]:
        _, ticks = super().count_reception(current, incoming)
        return incoming, ticks


@mutant("46", "adds received numbers of a clock to the stored numbers instead of using the maximum")
class AddsClocks(LogicalClock):
    def count_reception(self, current: StoredRecord | None, incoming: VectorClock) -> tuple[VectorClock, int]:
        clock, ticks = super().count_reception(current, incoming)
        own = current.record.vector_clock if current is not None else {}
        return {peer_id: own.get(peer_id, 0) + incoming.get(peer_id, 0) or 1 for peer_id in clock}, ticks


@mutant("44", "increases its number in a clock neither for later changes of its record nor when it sends them")
class KeepsTheClockOfWhatItChanges(LogicalClock):
    def clock_of_change(self, current: StoredRecord | None) -> VectorClock:
        own = current is not None and self.peer_id in current.record.vector_clock
        return current.record.vector_clock if current is not None and own else super().clock_of_change(current)

    def count_sending(self, stored: StoredRecord) -> StoredRecord:
        again = stored.record.vector_clock.get(self.peer_id, 0) > 1
        return replace(stored, sent=True) if again else super().count_sending(stored)


@mutant("08", "derives the uuid of a record from its key")
class DerivesUuidsFromKeys(Peer):
    key = ""

    def write(self, key: str, value: str, now_ms: int, uuid: str, effects: Effects) -> str:
        self.key = key
        return super().write(key, value, now_ms, uuid, effects)

    def new_uuid(self) -> str:
        return self.key.encode().hex()[:32].ljust(32, "0")


add_unseen("derives-uuids-from-keys", "unseen-derives-uuids-from-keys")
add_undeclared(
    "keeps-clocks-as-doubles",
    "keeps-clocks-as-doubles-undeclared",
    "and does not declare wide integers",
    "wide-integers",
)

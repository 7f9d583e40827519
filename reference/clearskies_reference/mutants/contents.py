"""Faults in reading, storing, relaying and writing keys, values, deletions and times of records."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any
from unicodedata import normalize

from .. import json_text
from ..config import AccessLevel
from ..conflict_choices import MarksLosersOfKeysDeleted
from ..effects import Changed, Conflict, Effects
from ..errors import MalformedMessageError, RefusedWriteError
from ..framing import Message, Parser
from ..messages import GetUpdates
from ..peer import ClubLink, Peer
from ..record import NULL, Record, StoredRecord
from ..timestamps import Timestamp, from_nanoseconds, nanoseconds_up
from .registry import fault, mutant, register_faults

_HOUR = 3_600_000_000_000


class _StoresChangedRecords(Peer):
    """Changes received records before it stores them, but relays them unchanged."""

    def otherwise(self, record: Record) -> Record:
        raise NotImplementedError

    def apply_update(self, incoming: Record, signed: Message | None, source: int, effects: Effects) -> None:
        self._original = incoming
        super().apply_update(self.otherwise(incoming), signed, source, effects)

    def send_to_subscribers(self, stored: StoredRecord, effects: Effects, source: int | None = None) -> None:
        if source is not None:
            record = self._original
            same = replace(stored.record, key=record.key, value=record.value, deleted=record.deleted)
            stored = replace(stored, record=same)
        super().send_to_subscribers(stored, effects, source)


def _without_null_members(value: str) -> str:
    """Return the JSON text of a value. If it is an object, omit its members that are null."""
    read = json.loads(value)
    if not isinstance(read, dict) or None not in read.values():
        return value
    return json_text.write({name: member for name, member in read.items() if member is not None})


@register_faults
class _ChangedStoredRecords(_StoresChangedRecords):
    @fault(_StoresChangedRecords.otherwise, "07", "trims received keys, but relays them unchanged")
    def trims_keys_it_keeps(self, record: Record) -> Record:
        return replace(record, key=record.key.strip())

    @fault(_StoresChangedRecords.otherwise, "07", "stores keys in lower case, but relays them unchanged")
    def keeps_keys_in_lower_case(self, record: Record) -> Record:
        return replace(record, key=record.key.lower())

    @fault(
        _StoresChangedRecords.otherwise,
        "07",
        "stores strings in composed Unicode form",
    )
    def composes_values_it_keeps(self, record: Record) -> Record:
        return replace(record, value=normalize("NFC", record.value) if record.value.startswith('"') else record.value)

    @fault(_StoresChangedRecords.otherwise, "07", "stores keys up to the first NUL, but relays them unchanged")
    def ends_keys_at_nul(self, record: Record) -> Record:
        return replace(record, key=record.key.split("\0")[0])

    @fault(
        _StoresChangedRecords.otherwise, "07", "stores only the first 64 characters of a key, but relays the whole key"
    )
    def keeps_beginnings_of_keys(self, record: Record) -> Record:
        return replace(record, key=record.key[:64])

    @fault(
        _StoresChangedRecords.otherwise, "07", "stores keys in Unicode compatibility form, but relays them unchanged"
    )
    def folds_keys_it_keeps(self, record: Record) -> Record:
        return replace(record, key=normalize("NFKC", record.key))

    @fault(_StoresChangedRecords.otherwise, "07", "stores null instead of false")
    def keeps_null_for_false(self, record: Record) -> Record:
        return replace(record, value=NULL if record.value == "false" else record.value)

    @fault(_StoresChangedRecords.otherwise, "07", "stores an empty list as an empty object")
    def keeps_objects_for_empty_lists(self, record: Record) -> Record:
        return replace(record, value="{}" if record.value == "[]" else record.value)

    @fault(_StoresChangedRecords.otherwise, "07", "stores whole numbers in values as doubles")
    def keeps_numbers_as_doubles(self, record: Record) -> Record:
        return replace(record, value=json.dumps(json.loads(record.value, parse_int=lambda text: int(float(text)))))

    @fault(_StoresChangedRecords.otherwise, "07", "stores objects without the members that are null")
    def keeps_no_null_members(self, record: Record) -> Record:
        return replace(record, value=_without_null_members(record.value))

    @fault(_StoresChangedRecords.otherwise, "07", "truncates strings to one mebibyte")
    def keeps_a_mebibyte(self, record: Record) -> Record:
        return replace(record, value=record.value[: 1 << 20] + '"' if len(record.value) > 1 << 20 else record.value)


@register_faults
class _WrittenContents(Peer):
    @fault(Peer.write, "07", "cuts the keys of its own writes at the first NUL")
    def writes_keys_up_to_nul(self, key: str, value: str, now_ms: int, uuid: str, effects: Effects) -> str:
        return super().write(key.split("\0")[0], value, now_ms, uuid, effects)

    @fault(Peer.write, "07", "writes null instead of false")
    def writes_null_for_false(self, key: str, value: str, now_ms: int, uuid: str, effects: Effects) -> str:
        return super().write(key, NULL if value == "false" else value, now_ms, uuid, effects)

    @fault(Peer.write, "07", "deletes a record when null is written")
    def deletes_records_written_with_null(self, key: str, value: str, now_ms: int, uuid: str, effects: Effects) -> str:
        if value == NULL and self.writes and self.store.leader(key) is not None:
            return self.delete_by_key(key, now_ms, effects)
        return super().write(key, value, now_ms, uuid, effects)

    @fault(Peer.write, "02", "refuses to write a value of more than a mebibyte")
    def writes_a_mebibyte(self, key: str, value: str, now_ms: int, uuid: str, effects: Effects) -> str:
        if len(value) > 1 << 20:
            raise RefusedWriteError("the value is too large")
        return super().write(key, value, now_ms, uuid, effects)

    @fault(Peer.write, "02", "refuses to write a value of more than ten levels")
    def writes_ten_levels(self, key: str, value: str, now_ms: int, uuid: str, effects: Effects) -> str:
        if json_text.collapse(value.encode())[1] > 10:
            raise RefusedWriteError("the value is nested too deep")
        return super().write(key, value, now_ms, uuid, effects)

    @fault(Peer.write, "07", "writes objects without the members that are null")
    def writes_no_null_members(self, key: str, value: str, now_ms: int, uuid: str, effects: Effects) -> str:
        return super().write(key, _without_null_members(value), now_ms, uuid, effects)

    @fault(Peer.write, "07", "writes whole numbers in values as doubles")
    def writes_numbers_as_doubles(self, key: str, value: str, now_ms: int, uuid: str, effects: Effects) -> str:
        doubles = json.dumps(json.loads(value, parse_int=lambda text: int(float(text))), ensure_ascii=False)
        return super().write(key, doubles, now_ms, uuid, effects)


class _MisreadsContents(Peer):
    """Replaces some values or keys that it reads, in updates and in writes."""

    def value_of(self, value: Any) -> Any:
        """Return the value that is stored for ``value``. It is called for the elements of a list or object first."""
        return value

    def key_of(self, key: str) -> str:
        return key

    def read_all(self, value: Any) -> Any:
        match value:
            case list():
                value = [self.read_all(each) for each in value]
            case dict():
                value = {name: self.read_all(each) for name, each in value.items()}
        return self.value_of(value)

    def apply_update(self, incoming: Record, signed: Message | None, source: int, effects: Effects) -> None:
        value = json_text.write(self.read_all(json.loads(incoming.value)))
        super().apply_update(replace(incoming, key=self.key_of(incoming.key), value=value), signed, source, effects)

    def write(self, key: str, value: str, now_ms: int, uuid: str, effects: Effects) -> str:
        read = json_text.write(self.read_all(json_text.read(value.encode())))
        return super().write(self.key_of(key), read, now_ms, uuid, effects)


def _in_digits(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) < 10


@register_faults
class _Misreadings(_MisreadsContents):
    @fault(_MisreadsContents.value_of, "07", "stores only six digits of a number with a fraction")
    def keeps_six_digits(self, value: Any) -> Any:
        return float(f"{value:.6g}") if isinstance(value, float) else value

    @fault(_MisreadsContents.value_of, "07", "truncates lists to a thousand elements")
    def keeps_a_thousand_elements(self, value: Any) -> Any:
        return value[:1_000] if isinstance(value, list) else value

    @fault(_MisreadsContents.value_of, "07", "treats a backslash in a string as the start of an escape")
    def unescapes_twice(self, value: Any) -> Any:
        return value.replace("\\n", "\n").replace('\\"', '"') if isinstance(value, str) else value

    @fault(_MisreadsContents.value_of, "07", "replaces all ends of lines in strings by line feeds")
    def ends_lines_with_line_feeds(self, value: Any) -> Any:
        return value.replace("\r\n", "\n").replace("\r", "\n") if isinstance(value, str) else value

    @fault(_MisreadsContents.key_of, "07", "treats keys that consist of digits as numbers")
    def treats_keys_as_numbers(self, key: str) -> str:
        return str(int(key)) if _in_digits(key) else key

    @fault(_MisreadsContents.key_of, "07", "removes slashes at the end of keys")
    def treats_keys_as_paths(self, key: str) -> str:
        return key.rstrip("/") or key

    @fault(_MisreadsContents.key_of, "07", "treats a sharp s in a key as a double s")
    def folds_sharp_s(self, key: str) -> str:
        return key.replace("\xdf", "ss")


@register_faults
class _ConfusesKeys(MarksLosersOfKeysDeleted):
    @fault(Peer.store_update, "07", "signals a conflict of two records whose keys differ only in case")
    def signals_conflicts_of_similar_keys(
        self, current: StoredRecord | None, stored: StoredRecord, source: int, effects: Effects
    ) -> None:
        if (other := self.in_another_case(stored.record)) is not None:
            effects.events.append(Conflict(other.uuid, stored.record.uuid))
        super().store_update(current, stored, source, effects)

    @fault(Peer.store_update, "07", "treats the older of two records whose keys differ only in case as deleted")
    def deletes_records_with_similar_keys(
        self, current: StoredRecord | None, stored: StoredRecord, source: int, effects: Effects
    ) -> None:
        other = self.in_another_case(stored.record)
        super().store_update(current, stored, source, effects)
        if other is not None:
            self.dropped.add(self.loser_of(other.uuid, stored.record.uuid).uuid)

    def in_another_case(self, record: Record) -> Record | None:
        """Return another record with the same key in another case."""
        others = (each.record for each in self.store if not each.record.deleted)
        return next((o for o in others if o.key != record.key and o.key.lower() == record.key.lower()), None)


class _SignalsWrongChanges(Peer):
    """Signals a change to its application with wrong content."""

    def as_sent(self, record: Record) -> Record:
        raise NotImplementedError

    def store_and_signal(self, stored: StoredRecord, effects: Effects, *, own: bool) -> None:
        known = len(effects.events)
        super().store_and_signal(stored, effects, own=own)
        events = effects.events[known:]
        effects.events[known:] = [Changed(self.as_sent(e.record)) if isinstance(e, Changed) else e for e in events]


@register_faults
class _ChangeSignals(_SignalsWrongChanges):
    @fault(_SignalsWrongChanges.as_sent, "07", "signals changes with keys in lower case")
    def notifies_keys_in_lower_case(self, record: Record) -> Record:
        return replace(record, key=record.key.lower())

    @fault(_SignalsWrongChanges.as_sent, "07", "signals null instead of false")
    def notifies_null_for_false(self, record: Record) -> Record:
        return replace(record, value=NULL if record.value == "false" else record.value)

    @fault(_SignalsWrongChanges.as_sent, "13", "signals deletions as changes")
    def notifies_deletions_as_changes(self, record: Record) -> Record:
        return replace(record, deleted=False)


@register_faults
class _Relays(Peer):
    @fault(Peer.send_to_subscribers, "13", "relays deletions of others as existing records")
    def passes_on_without_deleted(self, stored: StoredRecord, effects: Effects, source: int | None = None) -> None:
        known = len(effects.sent)
        super().send_to_subscribers(stored, effects, source)
        if source is not None and self.writes and stored.record.deleted:
            _rewrite(effects, known, lambda said: {**said, "deleted": False})

    @fault(Peer.send_to_subscribers, "47", "relays an update with the peer that it came from as the writer")
    def names_relaying_peer_as_writer(self, stored: StoredRecord, effects: Effects, source: int | None = None) -> None:
        known = len(effects.sent)
        super().send_to_subscribers(stored, effects, source)
        if source in self.links and self.writes:
            messenger = self.links[source].peer_id
            _rewrite(effects, known, lambda said: {**said, "last_updated_by": messenger})

    @fault(Peer.change_key, "07", "trims the new key of a renamed record")
    def trims_new_keys(self, key: str, new_key: str, now_ms: int, effects: Effects) -> str:
        return super().change_key(key, new_key.strip(), now_ms, effects)

    @fault(Peer.change_key, "22", "sends a renamed record under its old key")
    def sends_old_keys(self, key: str, new_key: str, now_ms: int, effects: Effects) -> str:
        known = len(effects.sent)
        uuid = super().change_key(key, new_key, now_ms, effects)
        _rewrite(effects, known, lambda said: {**said, "key": key} if said["uuid"] == uuid else said)
        return uuid

    @fault(Peer.send_to_subscribers, "07", "relays changes of others without values")
    def passes_on_without_values(self, stored: StoredRecord, effects: Effects, source: int | None = None) -> None:
        known = len(effects.sent)
        super().send_to_subscribers(stored, effects, source)
        if source is not None and self.writes:
            _rewrite(effects, known, lambda said: {**said, "value": None})

    @fault(Peer.send_to_subscribers, "07", "relays changes of others with keys in lower case")
    def passes_on_keys_in_lower_case(self, stored: StoredRecord, effects: Effects, source: int | None = None) -> None:
        known = len(effects.sent)
        super().send_to_subscribers(stored, effects, source)
        if source is not None and self.writes:
            _rewrite(effects, known, lambda said: {**said, "key": said["key"].lower()})


def _rewrite(effects: Effects, known: int, change: Callable[[dict[str, Any]], dict[str, Any]]) -> None:
    """Apply ``change`` to the body of each unsigned message in ``effects.sent`` after the first ``known`` messages."""
    for at, sent in enumerate(effects.sent[known:], known):
        for message in Parser().feed(sent.data):
            if message.signature is None:
                body = json.dumps(change(json.loads(message.body)), separators=(",", ":")).encode()
                effects.sent[at] = replace(sent, data=Message(body).to_wire())


@mutant("13", "in answers, sends deleted records as existing records with their last values")
class AnswersWithoutDeleted(Peer):
    def mark_deleted(self, stored: StoredRecord, now_ms: int, effects: Effects) -> None:
        content = (stored.record.key, stored.record.value, True)
        self.change(stored, stored.record.uuid, content, self.time_of_change(now_ms, [stored]), effects)

    def answer(self, link: ClubLink, request: GetUpdates, effects: Effects) -> None:
        known = len(effects.sent)
        super().answer(link, request, effects)
        _rewrite(effects, known, lambda said: {name: value for name, value in said.items() if name != "deleted"})


@register_faults
class _Reading(Peer):
    @fault(Peer.read_body, "07", 'takes the text after the first occurrence of "value" for the value')
    def searches_for_values(self, body: bytes) -> Record | GetUpdates | None:
        read = super().read_body(body)
        _, found, rest = body.decode().partition('"value"')
        if not isinstance(read, Record) or not found:
            return read
        value, _ = json.JSONDecoder().raw_decode(rest.lstrip(" \n:,"))
        return replace(read, value=json_text.write(value))

    @fault(Peer.read_body, "02", "refuses updates with unknown members")
    def refuses_unknown_members(self, body: bytes) -> Record | GetUpdates | None:
        said = super().read_body(body)
        if isinstance(said, Record) and len(json.loads(body)) > 9:
            raise MalformedMessageError("the update has an unknown member")
        return said

    @fault(Peer.read_body, "31", "refuses requests with unknown members")
    def refuses_unknown_members_of_requests(self, body: bytes) -> Record | GetUpdates | None:
        said = super().read_body(body)
        if isinstance(said, GetUpdates) and len(json.loads(body)) > 2:
            raise MalformedMessageError("the request has an unknown member")
        return said

    @fault(Peer.read_body, "02", "refuses deletions without a value")
    def refuses_deletions_without_value(self, body: bytes) -> Record | GetUpdates | None:
        said = super().read_body(body)
        if isinstance(said, Record) and "value" not in json.loads(body):
            raise MalformedMessageError("the update has no value")
        return said

    @fault(Peer.read_body, "13", "treats a deletion with a value as a change")
    def treats_deletions_with_value_as_changes(self, body: bytes) -> Record | GetUpdates | None:
        said = super().read_body(body)
        value = json.loads(body).get("value")
        return replace(said, deleted=False, value=json.dumps(value)) if isinstance(said, Record) and value else said

    @fault(Peer.read_body, "43", "refuses vector clocks with zeros")
    def refuses_zeros(self, body: bytes) -> Record | GetUpdates | None:
        said = super().read_body(body)
        if isinstance(said, Record) and 0 in json.loads(body)["vector_clock"].values():
            raise MalformedMessageError("the vector clock contains a zero")
        return said

    @fault(Peer.read_body, "02", "refuses bodies of more than a mebibyte")
    def reads_a_mebibyte(self, body: bytes) -> Record | GetUpdates | None:
        if len(body) > 1 << 20:
            raise MalformedMessageError("the body is too large")
        return super().read_body(body)

    @fault(Peer.receive, "02", "refuses updates whose update_time is more than a year ahead of its clock")
    def refuses_the_future(self, number: int, data: bytes, now_ms: int) -> Effects:
        self._latest = now_ms // 1_000 + 366 * 86_400
        return super().receive(number, data, now_ms)

    _latest: int | None = None

    def apply_update(self, incoming: Record, signed: Message | None, source: int, effects: Effects) -> None:
        if self._latest is not None and incoming.update_time.seconds > self._latest:
            raise MalformedMessageError("the update_time is in the future")
        super().apply_update(incoming, signed, source, effects)

    @fault(Peer.read_body, "11", "refuses times with an offset")
    def refuses_times_with_offset(self, body: bytes) -> Record | GetUpdates | None:
        said = super().read_body(body)
        if isinstance(said, Record) and not said.update_time.text.endswith("Z"):
            raise MalformedMessageError("the update_time is not in UTC")
        return said

    @fault(Peer.read_body, "54", "ignores the offset of a time")
    def ignores_offsets(self, body: bytes) -> Record | GetUpdates | None:
        return _timed(super().read_body(body), lambda time: replace(time, seconds=time.seconds + _offset(time.text)))

    @fault(Peer.read_body, "54", "adds the offset of a time instead of subtracting it")
    def adds_offsets(self, body: bytes) -> Record | GetUpdates | None:
        return _timed(
            super().read_body(body), lambda time: replace(time, seconds=time.seconds + 2 * _offset(time.text))
        )

    @fault(Peer.read_body, "54", "reads the fraction of a time as a number of milliseconds")
    def reads_fractions_as_numbers(self, body: bytes) -> Record | GetUpdates | None:
        def read_as_milliseconds(time: Timestamp) -> Timestamp:
            milliseconds = int(time.fraction or "0")
            return replace(time, seconds=time.seconds + milliseconds // 1_000, fraction=f"{milliseconds % 1_000:03}")

        return _timed(super().read_body(body), read_as_milliseconds)

    @fault(Peer.read_body, "54", "ignores digits after the milliseconds when it compares times")
    def cuts_fractions(self, body: bytes) -> Record | GetUpdates | None:
        return _timed(super().read_body(body), lambda time: replace(time, fraction=time.fraction[:3].rstrip("0")))


def _timed(said: Record | GetUpdates | None, change: Callable[[Timestamp], Timestamp]) -> Record | GetUpdates | None:
    return replace(said, update_time=change(said.update_time)) if isinstance(said, Record) else said


def _offset(text: str) -> int:
    """Offset of a time from UTC in seconds, if it is written like +05:30; otherwise 0."""
    if len(text) < 6 or text[-6] not in "+-":
        return 0
    seconds = int(text[-5:-3]) * 3_600 + int(text[-2:]) * 60
    return seconds if text[-6] == "+" else -seconds


@mutant("47", "relays times without their offset")
class PassesOnTimesWithoutOffset(Peer):
    def body(self, record: Record) -> bytes:
        text = record.update_time.text
        return (
            super().body(record).replace(text.encode(), (text[:-6] + "Z").encode())
            if _offset(text)
            else super().body(record)
        )


@mutant("50", "ignores updates that restore a deleted record")
class NeverRevives(Peer):
    def apply_update(self, incoming: Record, signed: Message | None, source: int, effects: Effects) -> None:
        current = self.store.get(incoming.uuid)
        if current is None or not current.record.deleted or incoming.deleted:
            super().apply_update(incoming, signed, source, effects)
        else:
            self.learn(incoming)


@mutant("13", "treats an update that changes the value of a known record to null as a deletion")
class TakesNullForADeletion(Peer):
    def apply_update(self, incoming: Record, signed: Message | None, source: int, effects: Effects) -> None:
        null = incoming.value == NULL and self.store.get(incoming.uuid) is not None
        super().apply_update(replace(incoming, deleted=incoming.deleted or null), signed, source, effects)


@mutant("13", "deletes a restored record again")
class RevivesAsDeleted(Peer):
    def apply_update(self, incoming: Record, signed: Message | None, source: int, effects: Effects) -> None:
        current = self.store.get(incoming.uuid)
        if current is not None and current.record.deleted and not incoming.deleted:
            incoming = replace(incoming, deleted=True, value=NULL)
        super().apply_update(incoming, signed, source, effects)


@mutant("13", "deletes a record if a deleted record with its key has a later time")
class LaterDeletionsDeleteEqualKeys(Peer):
    def apply_update(self, incoming: Record, signed: Message | None, source: int, effects: Effects) -> None:
        super().apply_update(incoming, signed, source, effects)
        gone = [k.record for k in self.store if k.record.deleted and k.record.key == incoming.key]
        stored = self.store.get(incoming.uuid)
        if stored is not None and not stored.record.deleted and any(g.rank > stored.record.rank for g in gone):
            self.store_record(replace(stored, record=replace(stored.record, deleted=True)))


@register_faults
class _Times(Peer):
    @fault(Peer.time_of_change, "11", "writes local times, which are two hours ahead of UTC, as UTC")
    def writes_two_hours_off(self, now_ms: int, after: Iterable[StoredRecord | None]) -> Timestamp:
        time = super().time_of_change(now_ms, after)
        return from_nanoseconds(nanoseconds_up(time) - 1 + 2 * _HOUR, self.config.time_digits)

    @fault(Peer.time_of_change, "11", "writes times with the hours of a twelve-hour clock")
    def writes_twelve_hours(self, now_ms: int, after: Iterable[StoredRecord | None]) -> Timestamp:
        time = super().time_of_change(now_ms, after)
        hour = int(time.text[11:13])
        back = 12 * _HOUR if hour > 12 else 0
        return from_nanoseconds(nanoseconds_up(time) - 1 - back, self.config.time_digits)

    @fault(Peer.time_of_change, "11", "counts months from zero when it writes times")
    def counts_months_from_zero(self, now_ms: int, after: Iterable[StoredRecord | None]) -> Timestamp:
        return super().time_of_change(now_ms - 31 * 24 * 3_600_000, [])

    @fault(Peer.time_of_change, "11", "writes times that are too small by a factor of a thousand")
    def treats_seconds_as_milliseconds(self, now_ms: int, after: Iterable[StoredRecord | None]) -> Timestamp:
        return super().time_of_change(now_ms // 1_000, [])

    @fault(Peer.time_of_change, "11", "gives later changes of a record the time of its first version")
    def keeps_the_first_time(self, now_ms: int, after: Iterable[StoredRecord | None]) -> Timestamp:
        before = [stored for stored in after if stored is not None]
        return before[0].record.update_time if before else super().time_of_change(now_ms, before)


@register_faults
class _Losers(Peer):
    @fault(Peer.resolve, "54", "replaces the key of the winner of a conflict by the key of the loser")
    def winner_takes_key_of_loser(
        self, current: StoredRecord, stored: StoredRecord, incoming: Record, source: int, effects: Effects
    ) -> None:
        super().resolve(current, stored, incoming, source, effects)
        _, loser = self.decide(current.record, incoming)
        _put(self, incoming.uuid, key=loser.key)

    @fault(Peer.resolve, "54", "replaces the value of the winner of a conflict by the value of the loser")
    def winner_takes_value_of_loser(
        self, current: StoredRecord, stored: StoredRecord, incoming: Record, source: int, effects: Effects
    ) -> None:
        super().resolve(current, stored, incoming, source, effects)
        _, loser = self.decide(current.record, incoming)
        _put(self, incoming.uuid, value=loser.value)

    @fault(Peer.resolve, "54", "deletes the winner of a conflict if the loser is deleted and has a different key")
    def winner_takes_deletion_of_loser(
        self, current: StoredRecord, stored: StoredRecord, incoming: Record, source: int, effects: Effects
    ) -> None:
        super().resolve(current, stored, incoming, source, effects)
        _, loser = self.decide(current.record, incoming)
        if (loser.deleted and loser.key != incoming.key) or loser.key != current.record.key:
            _put(self, incoming.uuid, deleted=loser.deleted)


def _put(peer: Peer, uuid: str, **fields: Any) -> None:
    stored = peer.store.get(uuid)
    if stored is not None and peer.writes:
        peer.store_record(replace(stored, record=replace(stored.record, **fields)))


@mutant("16", "keeps the old signature when it changes the clock of the winner of a conflict")
class KeepsStaleSignatures(Peer):
    def signed(self, stored: StoredRecord) -> Message:
        message = super().signed(stored)
        signature = self._signatures.setdefault((stored.record.uuid, *stored.record.version), message.signature)
        return replace(message, signature=signature)

    def __init__(self, *details: Any, **more: Any) -> None:
        super().__init__(*details, **more)
        self._signatures: dict[tuple[str, str, int], bytes | None] = {}


@mutant("18", "as a read-only peer, relays signatures without base64 padding")
class RepeatsUnpaddedSignatures(Peer):
    def to_wire(self, stored: StoredRecord, link: ClubLink) -> bytes:
        if not self.writes and stored.signed is not None and stored.signed.signature is not None:
            stored = replace(stored, signed=replace(stored.signed, signature=stored.signed.signature.rstrip(b"=")))
        return super().to_wire(stored, link)


@mutant("16", "as a read-only peer, treats the revisions of refused unsigned updates as known")
class ReaderCountsUnsigned(Peer):
    def refuse_unauthorised(self, link: ClubLink, update: Record, message: Message) -> None:
        if message.signature is None and not self.writes:
            self.learn(update)
        super().refuse_unauthorised(link, update, message)


@mutant("18", "as a read-only peer, forgets the signed message of the winner of a conflict")
class ReaderForgetsWinners(Peer):
    def resolve(
        self, current: StoredRecord, stored: StoredRecord, incoming: Record, source: int, effects: Effects
    ) -> None:
        super().resolve(current, stored, incoming, source, effects)
        found = self.store.get(incoming.uuid)
        if not self.writes and found is not None:
            self.store_record(replace(found, signed=None))


@mutant("05", "as a read-only peer, stores unsigned updates without relaying them")
class ReaderKeepsUnsignedToItself(Peer):
    def refuse_unauthorised(self, link: ClubLink, update: Record, message: Message) -> None:
        if message.signature is not None or self.writes or link.level is AccessLevel.READ_ONLY:
            super().refuse_unauthorised(link, update, message)

    def send_to_subscribers(self, stored: StoredRecord, effects: Effects, source: int | None = None) -> None:
        if self.writes or stored.signed is not None:
            super().send_to_subscribers(stored, effects, source)


@mutant("37", "answers with at most a hundred records")
class AnswersWithAHundred(Peer):
    def missing(self, request: GetUpdates) -> list[StoredRecord]:
        return super().missing(request)[:100]


@mutant("13", "sends the deletion of a record under a new uuid")
class DeletesUnderANewUuid(Peer):
    def delete_by_key(self, key: str, now_ms: int, effects: Effects) -> str:
        known = len(effects.sent)
        uuid, new = super().delete_by_key(key, now_ms, effects), self.new_uuid()
        _rewrite(effects, known, lambda said: {**said, "uuid": new} if said["uuid"] == uuid else said)
        return new


@mutant("07", "reads escaped surrogate pairs as question marks")
class ReadsPairsAsQuestionMarks(Peer):
    def read_body(self, body: bytes) -> Record | GetUpdates | None:
        return super().read_body(re.sub(rb"\\u[dD][89abAB]..\\u[dD][c-fC-F]..", b"?", body))


@mutant("07", "reads the escapes of backspace and form feed as letters")
class ReadsEscapesAsLetters(Peer):
    def read_body(self, body: bytes) -> Record | GetUpdates | None:
        return super().read_body(re.sub(rb"\\(.)", lambda found: found[1] if found[1] in b"bf" else found[0], body))


@mutant("02", "ignores messages with escaped names of members")
class IgnoresEscapedNames(Peer):
    def read_body(self, body: bytes) -> Record | GetUpdates | None:
        return None if re.search(rb'[{,]\s*"\\u', body) else super().read_body(body)


@mutant("02", "ignores messages with tabs between the parts of their JSON")
class IgnoresTabs(Peer):
    def read_body(self, body: bytes) -> Record | GetUpdates | None:
        return None if b"\t" in body else super().read_body(body)


@mutant("02", "ignores messages with carriage returns between the parts of their JSON")
class IgnoresCarriageReturns(Peer):
    def read_body(self, body: bytes) -> Record | GetUpdates | None:
        return None if b"\r" in body else super().read_body(body)


@mutant("02", "ignores messages with a capital E in a number")
class IgnoresCapitalExponents(Peer):
    def read_body(self, body: bytes) -> Record | GetUpdates | None:
        without_strings = re.sub(rb'"(?:[^"\\]|\\.)*"', b"", body)
        return None if b"E" in without_strings else super().read_body(body)

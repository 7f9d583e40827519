"""Faults in what a record says: keys, values, deletions and times as they are read, kept, passed on and written."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any
from unicodedata import normalize

from .. import json_text
from ..config import AccessLevel
from ..effects import Changed, Effects
from ..errors import MalformedMessageError, RefusedWriteError
from ..framing import Message, Parser
from ..messages import GetUpdates
from ..peer import Link, Peer
from ..record import NULL, Record, StoredRecord
from ..timestamps import Timestamp, from_nanoseconds, nanoseconds_up
from .registry import fault, mutant, register_faults

_HOUR = 3_600_000_000_000


class _KeepsOthers(Peer):
    """Stores received records with changes, and relays them unchanged."""

    def otherwise(self, record: Record) -> Record:
        raise NotImplementedError

    def take(self, incoming: Record, signed: Message | None, source: int, effects: Effects) -> None:
        self._original = incoming
        super().take(self.otherwise(incoming), signed, source, effects)

    def send_to_subscribers(self, stored: StoredRecord, effects: Effects, source: int | None = None) -> None:
        if source is not None:
            record = self._original
            same = replace(stored.record, key=record.key, value=record.value, deleted=record.deleted)
            stored = replace(stored, record=same)
        super().send_to_subscribers(stored, effects, source)


@register_faults
class _Kept(_KeepsOthers):
    @fault(_KeepsOthers.otherwise, "07", "trims the keys of what it receives, and passes them on as they came")
    def trims_keys_it_keeps(self, record: Record) -> Record:
        return replace(record, key=record.key.strip())

    @fault(_KeepsOthers.otherwise, "07", "keeps keys in lower case, and passes them on as they came")
    def keeps_keys_in_lower_case(self, record: Record) -> Record:
        return replace(record, key=record.key.lower())

    @fault(
        _KeepsOthers.otherwise,
        "07",
        "joins letters and accents of a value that it keeps, if that is a string",
    )
    def composes_values_it_keeps(self, record: Record) -> Record:
        return replace(record, value=normalize("NFC", record.value) if record.value.startswith('"') else record.value)

    @fault(_KeepsOthers.otherwise, "07", "keeps a key up to its first NUL, and passes it on as it came")
    def ends_keys_at_nul(self, record: Record) -> Record:
        return replace(record, key=record.key.split("\0")[0])

    @fault(_KeepsOthers.otherwise, "07", "keeps 64 characters of a key, and passes it on as it came")
    def keeps_beginnings_of_keys(self, record: Record) -> Record:
        return replace(record, key=record.key[:64])

    @fault(
        _KeepsOthers.otherwise, "07", "keeps keys in the compatibility form of Unicode, and passes them on as they came"
    )
    def folds_keys_it_keeps(self, record: Record) -> Record:
        return replace(record, key=normalize("NFKC", record.key))

    @fault(_KeepsOthers.otherwise, "07", "keeps null for false")
    def keeps_null_for_false(self, record: Record) -> Record:
        return replace(record, value=NULL if record.value == "false" else record.value)

    @fault(_KeepsOthers.otherwise, "07", "keeps an empty list as an empty object")
    def keeps_objects_for_empty_lists(self, record: Record) -> Record:
        return replace(record, value="{}" if record.value == "[]" else record.value)

    @fault(_KeepsOthers.otherwise, "07", "keeps whole numbers of values as doubles")
    def keeps_numbers_as_doubles(self, record: Record) -> Record:
        return replace(record, value=json.dumps(json.loads(record.value, parse_int=lambda text: int(float(text)))))

    @fault(_KeepsOthers.otherwise, "07", "keeps one mebibyte of a string")
    def keeps_a_mebibyte(self, record: Record) -> Record:
        return replace(record, value=record.value[: 1 << 20] + '"' if len(record.value) > 1 << 20 else record.value)


@register_faults
class _Written(Peer):
    @fault(Peer.write, "07", "writes a key up to its first NUL")
    def writes_keys_up_to_nul(self, key: str, value: str, now_ms: int, uuid: str, effects: Effects) -> str:
        return super().write(key.split("\0")[0], value, now_ms, uuid, effects)

    @fault(Peer.write, "07", "writes null for false")
    def writes_null_for_false(self, key: str, value: str, now_ms: int, uuid: str, effects: Effects) -> str:
        return super().write(key, NULL if value == "false" else value, now_ms, uuid, effects)

    @fault(Peer.write, "07", "deletes a record that is written again with null")
    def deletes_records_written_with_null(self, key: str, value: str, now_ms: int, uuid: str, effects: Effects) -> str:
        if value == NULL and self.writes and self.store.leader(key) is not None:
            return self.delete_by_key(key, now_ms, effects)
        return super().write(key, value, now_ms, uuid, effects)

    @fault(Peer.write, "02", "refuses to write a value of more than a mebibyte")
    def writes_a_mebibyte(self, key: str, value: str, now_ms: int, uuid: str, effects: Effects) -> str:
        if len(value) > 1 << 20:
            raise RefusedWriteError("the value is too large")
        return super().write(key, value, now_ms, uuid, effects)

    @fault(Peer.write, "07", "writes whole numbers of values as doubles")
    def writes_numbers_as_doubles(self, key: str, value: str, now_ms: int, uuid: str, effects: Effects) -> str:
        doubles = json.dumps(json.loads(value, parse_int=lambda text: int(float(text))), ensure_ascii=False)
        return super().write(key, doubles, now_ms, uuid, effects)


class _Understands(Peer):
    """Understands some values, or keys, otherwise than they are written."""

    def value_of(self, value: Any) -> Any:
        """One value; the elements of lists and objects are read before them."""
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

    def take(self, incoming: Record, signed: Message | None, source: int, effects: Effects) -> None:
        value = json_text.write(self.read_all(json.loads(incoming.value)))
        super().take(replace(incoming, key=self.key_of(incoming.key), value=value), signed, source, effects)

    def write(self, key: str, value: str, now_ms: int, uuid: str, effects: Effects) -> str:
        read = json_text.write(self.read_all(json_text.read(value.encode())))
        return super().write(self.key_of(key), read, now_ms, uuid, effects)


def _in_digits(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) < 10


@register_faults
class _Understanding(_Understands):
    @fault(_Understands.value_of, "07", "keeps six digits of a number with a fraction")
    def keeps_six_digits(self, value: Any) -> Any:
        return float(f"{value:.6g}") if isinstance(value, float) else value

    @fault(_Understands.value_of, "07", "keeps the first thousand elements of a list")
    def keeps_a_thousand_elements(self, value: Any) -> Any:
        return value[:1_000] if isinstance(value, list) else value

    @fault(_Understands.value_of, "07", "takes a backslash in a string for the beginning of an escape")
    def unescapes_twice(self, value: Any) -> Any:
        return value.replace("\\n", "\n").replace('\\"', '"') if isinstance(value, str) else value

    @fault(_Understands.value_of, "07", "ends all lines of a string with a line feed")
    def ends_lines_with_line_feeds(self, value: Any) -> Any:
        return value.replace("\r\n", "\n").replace("\r", "\n") if isinstance(value, str) else value

    @fault(_Understands.key_of, "07", "takes keys of digits for numbers")
    def treats_keys_as_numbers(self, key: str) -> str:
        return str(int(key)) if _in_digits(key) else key

    @fault(_Understands.key_of, "07", "takes keys for paths, whose last slash says nothing")
    def treats_keys_as_paths(self, key: str) -> str:
        return key.rstrip("/") or key

    @fault(_Understands.key_of, "07", "takes a sharp s in a key for a double one")
    def folds_sharp_s(self, key: str) -> str:
        return key.replace("\xdf", "ss")


class _Tells(Peer):
    """Tells its application of a change otherwise than it is."""

    def as_sent(self, record: Record) -> Record:
        raise NotImplementedError

    def keep(self, stored: StoredRecord, effects: Effects, *, own: bool) -> None:
        known = len(effects.events)
        super().keep(stored, effects, own=own)
        events = effects.events[known:]
        effects.events[known:] = [Changed(self.as_sent(e.record)) if isinstance(e, Changed) else e for e in events]


@register_faults
class _Telling(_Tells):
    @fault(_Tells.as_sent, "07", "tells its application of a change under a key in lower case")
    def notifies_keys_in_lower_case(self, record: Record) -> Record:
        return replace(record, key=record.key.lower())

    @fault(_Tells.as_sent, "07", "tells its application null for false")
    def notifies_null_for_false(self, record: Record) -> Record:
        return replace(record, value=NULL if record.value == "false" else record.value)

    @fault(_Tells.as_sent, "13", "tells its application of a deletion as of a change")
    def notifies_deletions_as_changes(self, record: Record) -> Record:
        return replace(record, deleted=False)


@register_faults
class _Passing(Peer):
    @fault(Peer.send_to_subscribers, "13", "passes deletions of others on as records that are there")
    def passes_on_without_deleted(self, stored: StoredRecord, effects: Effects, source: int | None = None) -> None:
        known = len(effects.sent)
        super().send_to_subscribers(stored, effects, source)
        if source is not None and self.writes and stored.record.deleted:
            _rewrite(effects, known, lambda said: {**said, "deleted": False})

    @fault(Peer.send_to_subscribers, "47", "names who passed a change on to it as the writer")
    def names_relaying_peer_as_writer(self, stored: StoredRecord, effects: Effects, source: int | None = None) -> None:
        known = len(effects.sent)
        super().send_to_subscribers(stored, effects, source)
        if source in self.links and self.writes:
            messenger = self.links[source].peer_id
            _rewrite(effects, known, lambda said: {**said, "last_updated_by": messenger})

    @fault(Peer.change_key, "22", "sends a renamed record under its old key")
    def sends_old_keys(self, key: str, new_key: str, now_ms: int, effects: Effects) -> str:
        known = len(effects.sent)
        uuid = super().change_key(key, new_key, now_ms, effects)
        _rewrite(effects, known, lambda said: {**said, "key": key} if said["uuid"] == uuid else said)
        return uuid

    @fault(Peer.send_to_subscribers, "07", "passes on changes of others without their values")
    def passes_on_without_values(self, stored: StoredRecord, effects: Effects, source: int | None = None) -> None:
        known = len(effects.sent)
        super().send_to_subscribers(stored, effects, source)
        if source is not None and self.writes:
            _rewrite(effects, known, lambda said: {**said, "value": None})

    @fault(Peer.send_to_subscribers, "07", "passes on changes of others with their keys in lower case")
    def passes_on_keys_in_lower_case(self, stored: StoredRecord, effects: Effects, source: int | None = None) -> None:
        known = len(effects.sent)
        super().send_to_subscribers(stored, effects, source)
        if source is not None and self.writes:
            _rewrite(effects, known, lambda said: {**said, "key": said["key"].lower()})


def _rewrite(effects: Effects, known: int, change: Callable[[dict[str, Any]], dict[str, Any]]) -> None:
    """Change the last sent message, if it is not signed."""
    for at, sent in enumerate(effects.sent[known:], known):
        for message in Parser().feed(sent.data):
            if message.signature is None:
                body = json.dumps(change(json.loads(message.body)), separators=(",", ":")).encode()
                effects.sent[at] = replace(sent, data=Message(body).to_wire())


@mutant("13", "answers with deletions and their last values as records that are there")
class AnswersWithoutDeleted(Peer):
    def mark_deleted(self, stored: StoredRecord, now_ms: int, effects: Effects) -> None:
        content = (stored.record.key, stored.record.value, True)
        self.change(stored, stored.record.uuid, content, self.time_of_change(now_ms, [stored]), effects)

    def answer(self, link: Link, request: GetUpdates, effects: Effects) -> None:
        known = len(effects.sent)
        super().answer(link, request, effects)
        _rewrite(effects, known, lambda said: {name: value for name, value in said.items() if name != "deleted"})


@register_faults
class _Reading(Peer):
    @fault(Peer.read_body, "02", "refuses updates with members that it does not know")
    def refuses_unknown_members(self, body: bytes) -> Record | GetUpdates | None:
        said = super().read_body(body)
        if isinstance(said, Record) and len(json.loads(body)) > 9:
            raise MalformedMessageError("an update with an unknown member")
        return said

    @fault(Peer.read_body, "31", "refuses requests with members that it does not know")
    def refuses_unknown_members_of_requests(self, body: bytes) -> Record | GetUpdates | None:
        said = super().read_body(body)
        if isinstance(said, GetUpdates) and len(json.loads(body)) > 2:
            raise MalformedMessageError("a request with an unknown member")
        return said

    @fault(Peer.read_body, "02", "refuses deletions without a value")
    def refuses_deletions_without_value(self, body: bytes) -> Record | GetUpdates | None:
        said = super().read_body(body)
        if isinstance(said, Record) and "value" not in json.loads(body):
            raise MalformedMessageError("an update without a value")
        return said

    @fault(Peer.read_body, "13", "takes a deletion that has a value for a change")
    def treats_deletions_with_value_as_changes(self, body: bytes) -> Record | GetUpdates | None:
        said = super().read_body(body)
        value = json.loads(body).get("value")
        return replace(said, deleted=False, value=json.dumps(value)) if isinstance(said, Record) and value else said

    @fault(Peer.read_body, "43", "refuses vector clocks with zeros")
    def refuses_zeros(self, body: bytes) -> Record | GetUpdates | None:
        said = super().read_body(body)
        if isinstance(said, Record) and 0 in json.loads(body)["vector_clock"].values():
            raise MalformedMessageError("a vector clock with a zero")
        return said

    @fault(Peer.read_body, "02", "refuses bodies of more than a mebibyte")
    def reads_a_mebibyte(self, body: bytes) -> Record | GetUpdates | None:
        if len(body) > 1 << 20:
            raise MalformedMessageError("a body that is too large")
        return super().read_body(body)

    @fault(Peer.receive, "02", "refuses updates from more than a year ahead")
    def refuses_the_future(self, number: int, data: bytes, now_ms: int) -> Effects:
        self._latest = now_ms // 1_000 + 366 * 86_400
        return super().receive(number, data, now_ms)

    _latest: int | None = None

    def take(self, incoming: Record, signed: Message | None, source: int, effects: Effects) -> None:
        if self._latest is not None and incoming.update_time.seconds > self._latest:
            raise MalformedMessageError("a time that has not come yet")
        super().take(incoming, signed, source, effects)

    @fault(Peer.read_body, "11", "refuses times with an offset")
    def refuses_times_with_offset(self, body: bytes) -> Record | GetUpdates | None:
        said = super().read_body(body)
        if isinstance(said, Record) and not said.update_time.text.endswith("Z"):
            raise MalformedMessageError("a time that is not in UTC")
        return said

    @fault(Peer.read_body, "54", "does not look at the offset of a time")
    def ignores_offsets(self, body: bytes) -> Record | GetUpdates | None:
        return _timed(super().read_body(body), lambda time: replace(time, seconds=time.seconds + _offset(time.text)))

    @fault(Peer.read_body, "54", "adds the offset of a time in place of taking it away")
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

    @fault(Peer.read_body, "54", "compares times by their milliseconds")
    def cuts_fractions(self, body: bytes) -> Record | GetUpdates | None:
        return _timed(super().read_body(body), lambda time: replace(time, fraction=time.fraction[:3].rstrip("0")))


def _timed(said: Record | GetUpdates | None, change: Callable[[Timestamp], Timestamp]) -> Record | GetUpdates | None:
    return replace(said, update_time=change(said.update_time)) if isinstance(said, Record) else said


def _offset(text: str) -> int:
    """Seconds that the zone of a time is ahead of UTC, 0 if it is written in another form than +05:30."""
    if len(text) < 6 or text[-6] not in "+-":
        return 0
    seconds = int(text[-5:-3]) * 3_600 + int(text[-2:]) * 60
    return seconds if text[-6] == "+" else -seconds


@mutant("47", "passes on times without their offset")
class PassesOnTimesWithoutOffset(Peer):
    def body(self, record: Record) -> bytes:
        text = record.update_time.text
        return (
            super().body(record).replace(text.encode(), (text[:-6] + "Z").encode())
            if _offset(text)
            else super().body(record)
        )


@mutant("50", "leaves deleted what is deleted and written again")
class NeverRevives(Peer):
    def take(self, incoming: Record, signed: Message | None, source: int, effects: Effects) -> None:
        current = self.store.get(incoming.uuid)
        if current is None or not current.record.deleted or incoming.deleted:
            super().take(incoming, signed, source, effects)
        else:
            self.learn(incoming)


@mutant("13", "takes a record for deleted that is written again with null")
class TakesNullForADeletion(Peer):
    def take(self, incoming: Record, signed: Message | None, source: int, effects: Effects) -> None:
        null = incoming.value == NULL and self.store.get(incoming.uuid) is not None
        super().take(replace(incoming, deleted=incoming.deleted or null), signed, source, effects)


@mutant("13", "deletes a record again that was deleted and written again")
class RevivesAsDeleted(Peer):
    def take(self, incoming: Record, signed: Message | None, source: int, effects: Effects) -> None:
        current = self.store.get(incoming.uuid)
        if current is not None and current.record.deleted and not incoming.deleted:
            incoming = replace(incoming, deleted=True, value=NULL)
        super().take(incoming, signed, source, effects)


@mutant("13", "lets a deletion win the key of a record that is older")
class DeletionsKeepTheirKeys(Peer):
    def take(self, incoming: Record, signed: Message | None, source: int, effects: Effects) -> None:
        super().take(incoming, signed, source, effects)
        gone = [k.record for k in self.store if k.record.deleted and k.record.key == incoming.key]
        stored = self.store.get(incoming.uuid)
        if stored is not None and not stored.record.deleted and any(g.rank > stored.record.rank for g in gone):
            self.store_record(replace(stored, record=replace(stored.record, deleted=True)))


@register_faults
class _Times(Peer):
    @fault(Peer.time_of_change, "11", "writes times that are two hours off, and says that they are in UTC")
    def writes_two_hours_off(self, now_ms: int, after: Iterable[StoredRecord | None]) -> Timestamp:
        time = super().time_of_change(now_ms, after)
        return from_nanoseconds(nanoseconds_up(time) - 1 + 2 * _HOUR, self.config.time_digits)

    @fault(Peer.time_of_change, "11", "writes the hours of a clock that has twelve")
    def writes_twelve_hours(self, now_ms: int, after: Iterable[StoredRecord | None]) -> Timestamp:
        time = super().time_of_change(now_ms, after)
        hour = int(time.text[11:13])
        back = 12 * _HOUR if hour > 12 else 0
        return from_nanoseconds(nanoseconds_up(time) - 1 - back, self.config.time_digits)

    @fault(Peer.time_of_change, "11", "counts months from zero")
    def counts_months_from_zero(self, now_ms: int, after: Iterable[StoredRecord | None]) -> Timestamp:
        return super().time_of_change(now_ms - 31 * 24 * 3_600_000, [])

    @fault(Peer.time_of_change, "11", "takes milliseconds for seconds")
    def takes_milliseconds_for_seconds(self, now_ms: int, after: Iterable[StoredRecord | None]) -> Timestamp:
        return super().time_of_change(now_ms // 1_000, [])

    @fault(Peer.time_of_change, "11", "leaves the time of a record as it was when that was made")
    def keeps_the_first_time(self, now_ms: int, after: Iterable[StoredRecord | None]) -> Timestamp:
        before = [stored for stored in after if stored is not None]
        return before[0].record.update_time if before else super().time_of_change(now_ms, before)


@register_faults
class _Losers(Peer):
    @fault(Peer.resolve, "54", "gives the winner of a conflict the key of the loser")
    def winner_takes_key_of_loser(
        self, current: StoredRecord, stored: StoredRecord, incoming: Record, source: int, effects: Effects
    ) -> None:
        super().resolve(current, stored, incoming, source, effects)
        _, loser = self.decide(current.record, incoming)
        _put(self, incoming.uuid, key=loser.key)

    @fault(Peer.resolve, "54", "gives the winner of a conflict the value of the loser")
    def winner_takes_value_of_loser(
        self, current: StoredRecord, stored: StoredRecord, incoming: Record, source: int, effects: Effects
    ) -> None:
        super().resolve(current, stored, incoming, source, effects)
        _, loser = self.decide(current.record, incoming)
        _put(self, incoming.uuid, value=loser.value)

    @fault(Peer.resolve, "54", "of two in conflict deletes the winner if the loser is deleted and has another key")
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


@mutant("16", "leaves the signature of a version that has won under its body with another clock")
class KeepsStaleSignatures(Peer):
    def signed(self, stored: StoredRecord) -> Message:
        message = super().signed(stored)
        signature = self._signatures.setdefault((stored.record.uuid, *stored.record.version), message.signature)
        return replace(message, signature=signature)

    def __init__(self, *details: Any, **more: Any) -> None:
        super().__init__(*details, **more)
        self._signatures: dict[tuple[str, str, int], bytes | None] = {}


@mutant("18", "as a read-only peer repeats signatures without the padding of base64")
class RepeatsUnpaddedSignatures(Peer):
    def to_wire(self, stored: StoredRecord, link: Link) -> bytes:
        if not self.writes and stored.signed is not None and stored.signed.signature is not None:
            stored = replace(stored, signed=replace(stored.signed, signature=stored.signed.signature.rstrip(b"=")))
        return super().to_wire(stored, link)


@mutant("16", "as a read-only peer takes unsigned updates for known that it refuses")
class ReaderCountsUnsigned(Peer):
    def refuse_unauthorised(self, link: Link, update: Record, message: Message) -> None:
        if message.signature is None and not self.writes:
            self.learn(update)
        super().refuse_unauthorised(link, update, message)


@mutant("18", "as a read-only peer forgets the signed message of what has won a conflict")
class ReaderForgetsWinners(Peer):
    def resolve(
        self, current: StoredRecord, stored: StoredRecord, incoming: Record, source: int, effects: Effects
    ) -> None:
        super().resolve(current, stored, incoming, source, effects)
        found = self.store.get(incoming.uuid)
        if not self.writes and found is not None:
            self.store_record(replace(found, signed=None))


@mutant("05", "as a read-only peer keeps what read-write peers do not sign to itself")
class ReaderKeepsUnsignedToItself(Peer):
    def refuse_unauthorised(self, link: Link, update: Record, message: Message) -> None:
        if message.signature is not None or self.writes or link.level is AccessLevel.READ_ONLY:
            super().refuse_unauthorised(link, update, message)

    def send_to_subscribers(self, stored: StoredRecord, effects: Effects, source: int | None = None) -> None:
        if self.writes or stored.signed is not None:
            super().send_to_subscribers(stored, effects, source)


@mutant("37", "answers with a hundred records at most")
class AnswersWithAHundred(Peer):
    def missing(self, request: GetUpdates) -> list[StoredRecord]:
        return super().missing(request)[:100]

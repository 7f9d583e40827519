"""Subclasses of Peer for legal variants that write JSON, uuids, times, clocks or deletions differently than the
model."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from .config import AccessLevel
from .effects import Effects
from .framing import Message
from .json_text import collapse
from .messages import GetUpdates, read
from .peer import ClubLink, Peer
from .record import Record, StoredRecord, Version
from .timestamps import Timestamp, from_nanoseconds, nanoseconds_up

_NUMBERS = re.compile(r'"(?:[^"\\]++|\\.)*+"|(-?\d++)(?![.eE])|-?\d[\d.eE+-]*')
"""Matches strings and numbers of JSON; integers are the first group."""
_UUID = re.compile(rb'"uuid": *"[0-9A-Fa-f]{32}"')


class SpacedBodies(Peer):
    """Writes blanks in the JSON of bodies, reorders the members, and adds an unknown member."""

    def body(self, record: Record) -> bytes:
        data = json.loads(super().body(record))
        return json.dumps(dict(sorted(data.items())) | {"written": "by hand"}, indent=1).encode()


class SpacedRequests(Peer):
    """Writes blanks in the JSON of requests, reorders the members, and adds an unknown member."""

    def request_body(self) -> bytes:
        data = json.loads(super().request_body())
        return json.dumps(dict(sorted(data.items())) | {"max": 100}, indent="\t").encode()


class EscapedBodies(Peer):
    """Escapes every character of strings in bodies, and reverses their members: JSON allows both."""

    def body(self, record: Record) -> bytes:
        body = super().body(record)
        if len(body) > _LARGE:
            return body  # an escaped character takes six bytes: the body could become too large
        data = json.loads(body)
        return _STRING.sub(_escape, json.dumps(dict(reversed(data.items())))).encode()


_LARGE = 1 << 19
_STRING = re.compile(r'"(?:[^"\\]|\\.)*"')


def _escape(found: re.Match[str]) -> str:
    units = json.loads(found[0]).encode("utf-16-be")
    return '"' + "".join(f"\\u{units[at]:02x}{units[at + 1]:02x}" for at in range(0, len(units), 2)) + '"'


class WritesWholeNumbersWithPoint(Peer):
    """JSON does not distinguish integers from other numbers: this peer writes 1 as 1.0."""

    def body(self, record: Record) -> bytes:
        data = json.loads(super().body(record))
        if "value" in data:
            data["value"] = _with_decimal_points(data["value"])
        return json.dumps(data, ensure_ascii=False).encode()


class WritesNumbersWithExponent(Peer):
    """JSON does not distinguish integers from other numbers: this peer writes 1 as 1.0e+0, however large the number."""

    def body(self, record: Record) -> bytes:
        value = _NUMBERS.sub(lambda found: found[0] + ".0e+0" * bool(found[1]), record.value)
        return super().body(replace(record, value=value))


def _with_decimal_points(value: Any) -> Any:
    match value:
        case bool():
            return value
        case int() if abs(value) <= 1 << 53:
            return float(value)
        case list():
            return [_with_decimal_points(each) for each in value]
        case dict():
            return {name: _with_decimal_points(each) for name, each in value.items()}
        case _:
            return value


class CapitalUuids(Peer):
    """ "A unique 128-bit ID": this peer writes upper-case hex digits, which the specification does not exclude."""

    def read_body(self, body: bytes) -> Record | GetUpdates | None:
        return super().read_body(_UUID.sub(lambda found: found[0].lower(), body))

    def body(self, record: Record) -> bytes:
        text = super().body(record)
        return text if not self.capital(record) else text.replace(record.uuid.encode(), record.uuid.upper().encode())

    def capital(self, record: Record) -> bool:
        return True


class CapitalOwnUuids(CapitalUuids):
    """Write own uuids in upper case, and uuids of other peers unchanged."""

    def __init__(self, *details: Any, **more: Any) -> None:
        super().__init__(*details, **more)
        self.capitals: set[str] = set()

    def new_uuid(self) -> str:
        self.capitals.add(uuid := super().new_uuid())
        return uuid

    def read_body(self, body: bytes) -> Record | GetUpdates | None:
        parsed = super().read_body(body)
        if isinstance(parsed, Record) and parsed.uuid.encode() not in body:
            self.capitals.add(parsed.uuid)
        return parsed

    def capital(self, record: Record) -> bool:
        return record.uuid in self.capitals


class CapitalUuidsShown(Peer):
    """Show uuids to the application in upper case. On the wire they are unchanged."""

    def put(self, key: str, value: str, now_ms: int, uuid: str = "") -> Effects:
        return _with_capital_uuid(super().put(key, value, now_ms, uuid))

    def rename(self, key: str, new_key: str, now_ms: int) -> Effects:
        return _with_capital_uuid(super().rename(key, new_key, now_ms))

    def delete(self, key: str, now_ms: int) -> Effects:
        return _with_capital_uuid(super().delete(key, now_ms))

    def as_shown(self, stored: StoredRecord) -> Record:
        record = super().as_shown(stored)
        return replace(record, uuid=record.uuid.upper())


def _with_capital_uuid(effects: Effects) -> Effects:
    effects.uuid = effects.uuid.upper()
    return effects


class ZonedTimes(Peer):
    """ISO 8601 allows an offset from UTC: this peer writes an offset in each time."""

    def time_of_change(self, now_ms: int, after: Iterable[StoredRecord | None]) -> Timestamp:
        time = super().time_of_change(now_ms, after)
        there = from_nanoseconds(nanoseconds_up(time) - 1 + 16_200_000_000_000, self.config.time_digits)
        return replace(time, text=there.text.removesuffix("Z") + "+04:30")


class CommaTimes(Peer):
    """ISO 8601 allows a comma or a point before a fraction: this peer writes a comma."""

    def time_of_change(self, now_ms: int, after: Iterable[StoredRecord | None]) -> Timestamp:
        time = super().time_of_change(now_ms, after)
        return replace(time, text=time.text.replace(".", ","))


class TimesOfOneForm(Peer):
    """Relays each update_time as the same point in time, but written in UTC with nine digits."""

    def make_stored_record(
        self, current: StoredRecord | None, incoming: Record, signed: Message | None
    ) -> StoredRecord:
        stored = super().make_stored_record(current, incoming, signed)
        if self.keeps_originals or len(incoming.update_time.fraction) > 9:
            return stored
        time = from_nanoseconds(nanoseconds_up(incoming.update_time) - 1, 9)
        return replace(stored, record=replace(stored.record, update_time=time))


class ZeroEntries(Peer):
    """Writes entries of zero in vector clocks, because "at first all values are zero"."""

    def body(self, record: Record) -> bytes:
        clock = {link.peer_id: 0 for link in self.links.values()} | dict(record.vector_clock)
        return super().body(replace(record, vector_clock=clock))


class DeletionsWithoutValue(Peer):
    """The specification does not define the value of a deleted record on the wire (CA-13): this peer omits it."""

    def body(self, record: Record) -> bytes:
        data = json.loads(super().body(record))
        return json.dumps({name: each for name, each in data.items() if name != "value" or not record.deleted}).encode()


class DeletionsWithLastValue(Peer):
    """The specification does not define the value of a deleted record on the wire (CA-13): this peer sends the last
    value."""

    def mark_deleted(self, stored: StoredRecord, now_ms: int, effects: Effects) -> None:
        content = (stored.record.key, stored.record.value, True)
        self.change(stored, stored.record.uuid, content, self.time_of_change(now_ms, [stored]), effects)


class RepeatsBytes(Peer):
    """ "Repeat the message to all of its peers": relays the original bytes, with unknown members."""

    def __init__(self, *details: Any, **more: Any) -> None:
        super().__init__(*details, **more)
        self.originals: dict[tuple[str, Version], Message] = {}

    def handle(self, link: ClubLink, message: Message, effects: Effects) -> None:
        parsed = self.read_body(message.body)
        if isinstance(parsed, Record):
            self.refuse_unauthorised(link, parsed, message)
            self.originals.setdefault((parsed.uuid, parsed.version), message)
        super().handle(link, message, effects)

    def to_wire(self, stored: StoredRecord, link: ClubLink) -> bytes:
        original = self.originals.get((stored.record.uuid, stored.record.version))
        if original is None or not self.writes or (original.signature is None and link.level is AccessLevel.READ_ONLY):
            return super().to_wire(stored, link)
        return original.to_wire()


class AcceptsRepeatedNames(RepeatsBytes):
    """Names in an object "should be unique" (RFC 8259): this peer uses the last of two equal names, and relays both."""

    def read_body(self, body: bytes) -> Record | GetUpdates | None:
        try:
            data = json.loads(body)
        except (ValueError, RecursionError):
            return super().read_body(body)
        return super().read_body(json.dumps(data).encode() if isinstance(data, dict) else body)


class AcceptsDepth(Peer):
    """ "The corresponding values are JSON", which has no maximum depth: this peer accepts lists of any depth."""

    def read_body(self, body: bytes) -> Record | GetUpdates | None:
        shallow, deepest = collapse(body)
        if deepest <= 100:
            return super().read_body(body)
        parsed = read(shallow)
        begin = body.find(b'"value":') + len(b'"value":')
        if not isinstance(parsed, Record) or not body[begin:].startswith(b"["):
            return super().read_body(body)
        end = body.rindex(b"]") + 1
        return replace(parsed, value=body[begin:end].decode())

    def merge(self, uuid: str, winner: Record, loser: Record, effects: Effects) -> None:
        if collapse(winner.value.encode())[1] <= 100 and collapse(loser.value.encode())[1] <= 100:
            super().merge(uuid, winner, loser, effects)

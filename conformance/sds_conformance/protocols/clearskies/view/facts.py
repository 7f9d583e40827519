"""The facts of one peer under test in a trace: updates, requests, changes, links and shown states.

Each fault is reported once. A field that does not parse is None, and a message of another type with the fields of an
update is read as an update, so only the checks of that field or type report it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

from clearskies_proto.testee.v1 import testee_pb2 as pb
from clearskies_reference import (
    MalformedMessageError,
    Timestamp,
    VectorClock,
    is_before,
    timestamp,
    vector_clock,
)
from clearskies_reference.vector_clock import MAX_INTEGER, is_id
from sds_harness.clearskies import bodies
from sds_harness.clearskies.frames import GET_UPDATES, UPDATE
from sds_harness.clearskies.streams import Message, Stream
from sds_harness.clearskies.trace import Connection, Step, Trace

from ....judging.formats import identifier, json_of, short

VersionId = tuple[str, str, int]
"""The identity of a version: uuid, last_updated_by and last_updated_rev (CA-3)."""


# ---- Records, updates and requests -----------------------------------------------------------------------------------


@dataclass(slots=True, eq=False)
class RecordVersion:
    """A version of a record in a message or a state. A field that does not parse is None."""

    uuid: str | None
    key: str | None
    value: Any
    deleted: bool
    by: str | None
    rev: int | None
    time: Timestamp | None
    clock: VectorClock | None
    version: VersionId | None = field(init=False)

    def __post_init__(self) -> None:
        uuid, by, rev = self.uuid, self.by, self.rev
        self.version = None if uuid is None or by is None or rev is None else (uuid, by, rev)

    @property
    def content(self) -> tuple[Any, Any, bool]:
        """The content of the record for the application; all deletions have the same content (CA-13)."""
        return (None, None, True) if self.deleted else (self.key, self.value, False)


class Update(RecordVersion):
    """One database.update on one link, as it was sent."""

    __slots__ = ("link", "members", "message", "step")

    def __init__(self, message: Message, link: Connection, step: Step) -> None:
        """``step`` is the step that sent the last byte of the message."""
        self.message, self.link, self.step = message, link, step
        self.members = members = message.body.members
        uuid, key, by, rev = (members.get(name) for name in ("uuid", "key", "last_updated_by", "last_updated_rev"))
        super().__init__(
            # The specification does not define the case of IDs.
            uuid.lower() if isinstance(uuid, str) and is_id(uuid.lower()) else None,
            key if isinstance(key, str) else None,
            members.get("value"),
            members.get("deleted") is True,
            by if isinstance(by, str) and is_id(by) else None,
            rev if type(rev) is int and 0 <= rev <= MAX_INTEGER else None,
            _parse_or_none(timestamp, members.get("update_time")),
            _parse_or_none(vector_clock, members.get("vector_clock")),
        )

    @property
    def largest_integer(self) -> int:
        """The largest integer in the message. Many JSON readers do not keep large ones (CA-6)."""
        return max([self.rev or 0, *(self.clock or {}).values()])

    @property
    def in_milliseconds(self) -> bool:
        """Does the update_time have the precision of scripted peers, milliseconds? Other precisions are legal."""
        return self.time is not None and re.fullmatch(r"[^.,]*\.[0-9]{3}Z", self.time.text) is not None

    @property
    def in_pieces(self) -> bool:
        """Did the update arrive in more than one step?"""
        return self.message.began < self.message.step

    @property
    def in_utc(self) -> bool:
        """Is the update_time in UTC, like the times of the core protocol?"""
        return self.time is not None and self.time.text[-1:] in "Zz"

    @property
    def fault(self) -> str:
        """The fault of the message; "" if it has none. An update with a fault may be refused."""
        body = self.message.body
        if body.twice:
            return f"it has the member {body.twice[0]} twice"
        if not body.is_unicode:
            return "it has half a surrogate pair, which is not valid text"
        if self.message.type != UPDATE:
            return f"its type is {self.message.type[:40]!r}"
        missing = [name for name in FIELDS if name not in self.members and not (name == "value" and self.deleted)]
        if missing:
            return f"it has no {missing[0]}"
        if type(self.members.get("deleted", False)) is not bool:
            return "its field deleted is not a boolean"
        read = (self.key, self.uuid, self.by, self.rev, self.time, self.clock)
        parsed = zip((name for name in FIELDS if name != "value"), read, strict=True)
        if wrong := [name for name, found in parsed if found is None]:
            return f"its {wrong[0]} is malformed"
        return "its revision is 0, and the counter starts with one" if self.rev == 0 else ""


K = TypeVar("K")
T = TypeVar("T")


def grouped(items: Iterable[T], key: Callable[[T], K]) -> dict[K, list[T]]:
    """Group items by key. Keys and items keep their order."""
    out: dict[K, list[T]] = {}
    for item in items:
        out.setdefault(key(item), []).append(item)
    return out


def _parse_or_none(parse: Callable[[Any], T], found: object) -> T | None:
    try:
        return parse(found)
    except MalformedMessageError:
        return None


class Request:
    """One database.get_updates on one link."""

    __slots__ = ("link", "message", "since", "step")

    def __init__(self, message: Message, link: Connection, step: Step) -> None:
        self.message, self.link, self.step = message, link, step
        since = message.body.members.get("since")
        good = (
            message.type == GET_UPDATES  # a request under a wrong type needs no answer
            and isinstance(since, dict)
            and all(is_id(by) and type(rev) is int and 0 <= rev <= MAX_INTEGER for by, rev in since.items())
        )
        self.since: Mapping[str, int] | None = since if good else None
        """Revisions by peer ID; None if they do not parse, or if the request has another type."""

    @property
    def asks_for_all(self) -> bool:
        return self.since is not None and not any(self.since.values())


FIELDS = ("key", "value", "uuid", "last_updated_by", "last_updated_rev", "update_time", "vector_clock")
"""The fields of every update besides its type ("Record Changes")."""


def reads_as_update(message: Message) -> bool:
    """Does a message have the type or the fields of an update?"""
    if message.type == UPDATE:
        return True
    return not message.type.startswith("core.") and {"uuid", "vector_clock"} <= message.body.members.keys()


def reads_as_request(message: Message) -> bool:
    """Does a message have the type or the field of a request for updates?"""
    return message.type == GET_UPDATES or (message.type.endswith("get_updates") and "since" in message.body.members)


def has_wide_numbers(value: object) -> bool:
    """Does a JSON value contain an integer above 2^53, which many JSON readers do not keep (CA-6)?"""
    values = [value]  # no recursion: values may be nested very deep
    while values:
        match values.pop():
            case bool():
                pass
            case int() as number if abs(number) > 1 << 53:
                return True
            case list() as several:
                values += several
            case dict() as members:
                values += members.values()
    return False


def has_zeros(update: Update) -> bool:
    """Does the vector clock have a zero? A zero means the same as an absent member."""
    clock = update.members.get("vector_clock")
    return isinstance(clock, dict) and any(type(number) is int and number == 0 for number in clock.values())


def dominates(one: VectorClock | None, other: VectorClock | None) -> bool:
    """Is the clock ``other`` before ``one``, or equal to it (CA-12)? False if one of them does not parse."""
    return one is not None and other is not None and is_before(other, one)


def is_superseded_by(one: Update, other: Update) -> bool:
    """Does a peer that receives both versions keep ``other``?

    True if ``other`` descends from ``one``, or if the two are in conflict and ``other`` is later.
    """
    if one.version == other.version or dominates(one.clock, other.clock):
        return False
    later = one.time is not None and other.time is not None and one.time < other.time
    return dominates(other.clock, one.clock) or (one.clock is not None and other.clock is not None and later)


def equal(one: Any, other: Any) -> bool:
    """Are two JSON values equal? Integers and floats are one type; booleans are another type."""
    pairs = [(one, other)]  # no recursion: values may be nested very deep
    while pairs:
        one, other = pairs.pop()
        if one is other:
            continue
        if isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
            pairs += zip(one, other, strict=True)
        elif isinstance(one, dict) and isinstance(other, dict) and one.keys() == other.keys():
            pairs += ((value, other[name]) for name, value in one.items())
        elif isinstance(one, (bool, list, dict)) or isinstance(other, (bool, list, dict)) or one != other:
            return False
    return True


def same_content(one: tuple[Any, Any, bool], other: tuple[Any, Any, bool]) -> bool:
    """Do two records have the same content for an application?"""
    return one[0] == other[0] and one[2] == other[2] and equal(one[1], other[1])


# ---- Commands of the application -------------------------------------------------------------------------------------


COMMANDS = ("put", "rename", "delete")


@dataclass
class Change:
    """A command that changes a record and was not refused."""

    step: Step
    kind: str
    """``put``, ``rename`` or ``delete``."""
    key: str
    """The key of the record after the change; of a deleted record, its last key."""
    old_key: str
    value: Any = None
    """The value of a ``put``."""
    shown: Update | None = None
    """The first update sent for the change; None if the change was never sent, or only as part of a later version."""
    since: int = 0
    """Index of the step of the first change of the record after the last change that was sent. An update that is sent
    late may contain any of these changes, or all of them together.
    """

    @property
    def uuid(self) -> str:
        """The uuid of the record in sent updates, else in observed states; "" if both are unknown."""
        return self.step.uuid or (self.shown.uuid if self.shown is not None and self.shown.uuid else "")

    @property
    def keeps_its_key(self) -> bool:
        """Is the change a rename to the same key?"""
        return self.kind == "rename" and self.key == self.old_key

    def is_in(self, update: Update) -> bool:
        """Does the update have the content of this change?"""
        if self.step.uuid and update.uuid is not None and update.uuid != self.step.uuid:
            return False
        if self.kind == "delete":
            return update.deleted
        same = not update.deleted and update.key == self.key
        return same and (self.kind == "rename" or equal(update.value, self.value))

    def is_shown_by(self, update: Update) -> bool:
        """Does the update have the content of this change, or the version under which the change was first sent?"""
        version = self.shown.version if self.shown is not None else None
        return self.is_in(update) or (version is not None and update.version == version)


def changes_of(steps: Iterable[Step], own: list[Update], received: Iterable[Update]) -> list[Change]:
    """The changes in the steps of a peer.

    ``own`` has the first sent update of each version that the peer wrote, in the order of their revisions; ``received``
    has the updates that arrived.

    An update of ``own`` belongs to the change with its content, preferably to a change in the step that sends the
    update. Otherwise the update belongs to the change of that step, or to the last change of its record. A late sender
    may leave out overwritten versions, so of several changes with equal content the last ones have the updates. A
    rename to the same key is a change only if an update belongs to it.
    """
    changes = [change for step in steps if (change := _parse_change(step)) is not None]
    # If the replies name uuids, a deletion without a uuid deleted nothing.
    if any(change.step.uuid for change in changes):
        changes = [change for change in changes if change.kind != "delete" or change.step.uuid]
    left = list(own)
    arrivals = grouped(received, lambda update: update.uuid)
    tests: tuple[Callable[[Change, Update], bool], ...] = (
        lambda change, update: change.step is update.step and change.is_in(update),
        lambda change, update: change.step.index <= update.step.index and change.is_in(update),
        lambda change, update: _belongs_to_change(update, change, changes, arrivals.get(update.uuid, ())),
    )
    for test in tests:
        for change in sorted(changes, key=lambda change: (change.keeps_its_key, -change.step.index)):
            if change.shown is None and (those := [update for update in left if test(change, update)]):
                earlier = (c for c in changes if c.shown is None and c.step.index < change.step.index)
                rivals = sum(any(test(c, update) for update in those) for c in earlier) if len(those) > 1 else 0
                change.shown = those[min(rivals, len(those) - 1)]
                left = [update for update in left if update is not change.shown]
    changes = [change for change in changes if change.shown is not None or not change.keeps_its_key]
    _set_unsent_since(changes)
    return changes


def _set_unsent_since(changes: list[Change]) -> None:
    """Set ``since`` of each change: the step of the first change of its record after the last change that was sent."""
    began: dict[str, int] = {}
    for change in changes:
        names = {change.step.uuid} if change.step.uuid else {change.key, change.old_key}
        change.since = min([change.step.index, *(began[name] for name in names if name in began)])
        for name in names:
            if change.shown is None:
                began[name] = change.since
            else:
                began.pop(name, None)


def _belongs_to_change(update: Update, change: Change, changes: list[Change], arrivals: Iterable[Update]) -> bool:
    """Was an update sent for a change, although its content differs from the change?

    The update may be the deletion of a record that lost its key. False if a version of the record arrived between the
    change and the update: the update may be the outcome of a conflict, which the peer wrote as its own change (CA-8).
    """
    uuid = change.step.uuid
    if update.step is change.step:
        return uuid in ("", update.uuid or update.members.get("uuid"))
    if not uuid or update.uuid != uuid or update.step.index < change.step.index:
        return False
    if any(change.step.index < arrival.step.index <= update.step.index for arrival in arrivals):
        return False
    later = (c for c in changes if change.step.index < c.step.index <= update.step.index)
    return not any(c.step.uuid == uuid or change.key in (c.key, c.old_key) for c in later)


def keys_in_command(step: Step) -> set[str]:
    """The keys in a change that the application makes; empty for other commands."""
    if step.command not in COMMANDS:
        return set()
    command = getattr(step.request, step.command)
    return {command.key, command.new_key} if step.command == "rename" else {command.key}


def renames_in_place(step: Step) -> bool:
    """Did a record get the key that it already has? An implementation may count that as a change or ignore it."""
    command = step.request.rename
    return step.command == "rename" and step.effects is not None and command.key == command.new_key


def _parse_change(step: Step) -> Change | None:
    if step.effects is None or step.command not in COMMANDS:
        return None
    command = getattr(step.request, step.command)
    try:
        value = json.loads(command.value, parse_float=bodies.read_number) if step.command == "put" else None
    except (ValueError, RecursionError):
        return None
    return Change(step, step.command, command.new_key if step.command == "rename" else command.key, command.key, value)


# ---- Links -----------------------------------------------------------------------------------------------------------


class LinkView:
    """One link, seen from the peer under test."""

    def __init__(self, connection: Connection, trace: Trace) -> None:
        self.connection = connection
        self.number = connection.number
        self.peer_id, self.level = connection.peer_id, connection.level
        """Peer ID and level of the other end."""
        self.began = connection.began
        """Index of the step that opened the link."""
        self.ended = connection.ended or len(trace.steps) + 1
        """Index of the step that closed the link, or one more than the last index."""
        self.received, self.requests = _read(connection, connection.arrived, trace)
        """Updates and requests of the other end."""
        self.sent, self.asked = _read(connection, connection.sent, trace)
        """Updates and requests of the peer under test."""
        self.places_by_uuid = grouped(range(len(self.sent)), lambda place: self.sent[place].uuid)
        """The places in ``sent`` of the updates of each record."""
        self.subscribed_at = next((request.step.index for request in self.requests if request.since is not None), None)
        """Index of the step after which the other end receives all updates; None if the other end sent no request."""
        broken = connection.arrived.broken
        doubts = [broken.step] if broken is not None else []
        doubts += _find_too_large(connection.arrived, trace)
        doubts += [request.step.index for request in self.requests if request.since is None]
        self.doubtful_from = min(doubts, default=None)
        """Index of the first step whose message may be refused; None if there is none. From there on the peer may close
        the link or ignore later messages ("with no records skipped"). A message that is larger than declared counts
        from its first byte, because its size is known before its body (CA-16).
        """
        sent = connection.sent
        ends = [message.began for message in sent.messages if not message.body.members]
        ends += [sent.unfinished] if sent.unfinished is not None else []
        self.readable_until = min([*ends, self.ended])
        """Index of the last step whose sent bytes can be read; CSDB-15 reports a broken stream."""

    def is_open_in(self, step: Step) -> bool:
        """Was the link open in that step?"""
        return self.began < step.index <= self.ended

    def in_doubt(self, step: Step) -> bool:
        """May the peer ignore messages on the link in that step?"""
        return self.doubtful_from is not None and step.index >= self.doubtful_from


def _find_too_large(stream: Stream, trace: Trace) -> list[int]:
    """The indices of the steps in which messages begin whose bodies are larger than declared.

    The size of a message that is not whole is unknown here, so each such message may be too large.
    """
    began = [message.began for message in stream.messages if _exceeds_limit(message, trace)]
    unfinished = stream.unfinished if trace.declaration.limit("body_bytes") is not None else None
    return began if unfinished is None else [*began, unfinished]


def _read(connection: Connection, stream: Stream, trace: Trace) -> tuple[list[Update], list[Request]]:
    """The updates and the requests of one end of a link, in order."""
    updates, requests = list[Update](), list[Request]()
    for message in stream.messages:
        step = trace.steps[message.step - 1]
        if reads_as_update(message):
            updates.append(Update(message, connection, step))
        elif reads_as_request(message) and not (stream is connection.arrived and _exceeds_limit(message, trace)):
            requests.append(Request(message, connection, step))
    return updates, requests


def _exceeds_limit(message: Message, trace: Trace) -> bool:
    """Is the body of a message larger than the peer under test declares?"""
    limit = trace.declaration.limit("body_bytes")
    return limit is not None and len(message.body.raw) > limit


# ---- Shown records ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Shown:
    """All records of a peer at a step."""

    step: Step
    """The step that completed the answer, or the observation."""
    asked: Step
    """The step of the request, or of the observation."""
    as_of: Step
    """The last step before which all arrived messages are certainly processed: some peers process messages only when
    they are ticked.
    """
    records: Mapping[str, RecordVersion]
    """The records that the peer showed, by uuid."""
    link: LinkView | None
    """The link of the scripted peer that sent the request; None for an observed state."""

    @property
    def on_the_wire(self) -> bool:
        return self.link is not None

    @property
    def values(self) -> dict[str, list[Any]]:
        """The values by key, without deleted records. A key has more than one value if records are hidden from
        applications.
        """
        out: dict[str, list[Any]] = {}
        for seen in self.records.values():
            if not seen.deleted and seen.key is not None:
                out.setdefault(seen.key, []).append(seen.value)
        return out


def parse_record(record: pb.Record) -> RecordVersion:
    """Convert a record of the testee protocol to a `RecordVersion`."""
    time = _parse_or_none(timestamp, record.update_time)
    # The reader shortens values that are nested too deep, as in an update, so that both can be compared.
    parsed = bodies.read(b'{"value":%s}' % record.value.encode()) if record.value else None
    value = None if parsed is None else parsed.members.get("value", record.value)
    clock = {peer_id: number for peer_id, number in record.vector_clock.items() if number}
    by, rev = record.last_updated_by, record.last_updated_rev
    return RecordVersion(record.uuid.lower(), record.key, value, record.deleted, by, rev, time, clock)


# ---- Names in findings -----------------------------------------------------------------------------------------------


ID_DIGITS = 8
"""Number of digits of an ID, for a peer without a name."""


def name_peer(trace: Trace, peer_id: str | None) -> str:
    """The name of a peer in findings; for an unknown peer, the beginning of its ID."""
    if peer_id is None:
        return "nobody"
    name = trace.club.name_of(peer_id)
    return short(name) if name != peer_id else f"{peer_id[:ID_DIGITS]}…"


def describe_record(seen: RecordVersion) -> str:
    """The key and the value of a record, for findings."""
    if seen.deleted:
        return "it is deleted"
    key = identifier(seen.key) if seen.key is not None else "no key"
    return f"{json_of(seen.value, 80)} under {key}"


def quoted(value: object) -> str:
    """A JSON value, for findings."""
    return json_of(value, 120)

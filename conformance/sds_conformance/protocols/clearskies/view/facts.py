"""The facts that a trace has of one peer under test: updates, requests, changes, links, states shown, quiet steps.

One thing that is wrong leaves the rest as it is: a field that does not parse is None, and an update of another type
that has the fields of one is read as one, so that only the checks of that field or type report it.
"""

from __future__ import annotations

import json
import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from clearskies_proto.testee.v1 import testee_pb2 as pb
from clearskies_reference import (
    AccessLevel,
    MalformedMessage,
    Timestamp,
    VectorClock,
    before,
    timestamp,
    vector_clock,
)
from clearskies_reference.vector_clock import MAX_INTEGER, is_id
from sds_harness.clearskies import bodies
from sds_harness.clearskies.frames import GET_UPDATES, UPDATE
from sds_harness.clearskies.stage import ROUND_MS
from sds_harness.clearskies.streams import Message
from sds_harness.clearskies.trace import Connection, Step, Trace

from ....judging.quoting import identifier, json_of, short

# ---- What a message is to a database ---------------------------------------------------------------------------------


Version = tuple[str, str, int]
"""uuid, who wrote last, and which of its writes that was: by these an update is known (CA-3)."""


@dataclass(frozen=True)
class Update:
    """One database.update on one link, as it was sent."""

    message: Message
    link: Connection
    step: Step
    """The one in which its last byte went."""

    @property
    def members(self) -> dict[str, Any]:
        return self.message.body.members

    @cached_property
    def uuid(self) -> str | None:
        """In lower case: nothing says in which letters it is written, or that everybody writes it in the same ones."""
        found = self.members.get("uuid")
        return found.lower() if isinstance(found, str) and is_id(found.lower()) else None

    @cached_property
    def by(self) -> str | None:
        """last_updated_by."""
        return _id(self.members.get("last_updated_by"))

    @cached_property
    def rev(self) -> int | None:
        """last_updated_rev."""
        found = self.members.get("last_updated_rev")
        return found if type(found) is int and 0 <= found <= MAX_INTEGER else None

    @cached_property
    def key(self) -> str | None:
        found = self.members.get("key")
        return found if isinstance(found, str) else None

    @property
    def value(self) -> Any:
        return self.members.get("value")

    @property
    def deleted(self) -> bool:
        return self.members.get("deleted") is True

    @cached_property
    def time(self) -> Timestamp | None:
        """update_time."""
        try:
            return timestamp(self.members.get("update_time"))
        except MalformedMessage:
            return None

    @cached_property
    def clock(self) -> VectorClock | None:
        """vector_clock."""
        try:
            return vector_clock(self.members.get("vector_clock"))
        except MalformedMessage:
            return None

    @property
    def largest(self) -> int:
        """Of all integers in it: many readers of JSON do not keep wide ones (CA-6)."""
        return max([self.rev or 0, *(self.clock or {}).values()])

    @property
    def in_milliseconds(self) -> bool:
        """Is its time written as scripted peers write it? Any other precision is as good."""
        return self.time is not None and re.fullmatch(r"[^.,]*\.[0-9]{3}Z", self.time.text) is not None

    @property
    def in_pieces(self) -> bool:
        """Did it arrive in more than one step?"""
        return self.message.began < self.message.step

    @property
    def in_utc(self) -> bool:
        """Is its time written in UTC, as those of the core protocol are?"""
        return self.time is not None and self.time.text[-1:] in "Zz"

    @cached_property
    def version(self) -> Version | None:
        """None if any part of it does not parse."""
        if self.uuid is None or self.by is None or self.rev is None:
            return None
        return self.uuid, self.by, self.rev

    @property
    def content(self) -> tuple[Any, Any, bool]:
        """What the application sees of it: of what is deleted only that it is (CA-13)."""
        return (None, None, True) if self.deleted else (self.key, self.value, False)

    @property
    def signer(self) -> AccessLevel | None:
        """Whose signature it has."""
        return self.message.signer

    @cached_property
    def odd(self) -> str:
        """What is wrong with the body, "" if nothing is: such an update may be refused."""
        body = self.message.body
        if body.twice:
            return f"{body.twice[0]} stands in it twice"
        if not body.is_unicode:
            return "it has half a surrogate pair, which is no text"
        if self.message.type != UPDATE:
            return f"its type is {self.message.type[:40]!r}"
        missing = [name for name in FIELDS if name not in self.members and not (name == "value" and self.deleted)]
        if missing:
            return f"it has no {missing[0]}"
        if type(self.members.get("deleted", False)) is not bool:
            return "deleted is no boolean"
        read = (self.key, self.uuid, self.by, self.rev, self.time, self.clock)
        parsed = zip((name for name in FIELDS if name != "value"), read, strict=True)
        if wrong := [name for name, found in parsed if found is None]:
            return f"its {wrong[0]} is none"
        return "its revision is 0, and the counter starts with one" if self.rev == 0 else ""


@dataclass(frozen=True)
class Request:
    """One database.get_updates on one link."""

    message: Message
    link: Connection
    step: Step

    @cached_property
    def since(self) -> Mapping[str, int] | None:
        """Revisions by peer ID; None if that does not parse."""
        found = self.message.body.members.get("since")
        if not isinstance(found, dict):
            return None
        good = all(is_id(by) and type(rev) is int and 0 <= rev <= MAX_INTEGER for by, rev in found.items())
        return found if good else None

    @property
    def asks_for_all(self) -> bool:
        """Whoever knows nothing gets everything."""
        return self.since is not None and not any(self.since.values())


FIELDS = ("key", "value", "uuid", "last_updated_by", "last_updated_rev", "update_time", "vector_clock")
"""What every update has beside its type ("Record Changes")."""


def reads_as_update(message: Message) -> bool:
    """Is it an update, if perhaps by its fields alone?"""
    if message.type == UPDATE:
        return True
    return not message.type.startswith("core.") and {"uuid", "vector_clock"} <= message.body.members.keys()


def reads_as_request(message: Message) -> bool:
    """Does it ask for updates, if perhaps by its one field alone?"""
    return message.type == GET_UPDATES or (message.type.endswith("get_updates") and "since" in message.body.members)


def has_wide_numbers(value: object) -> bool:
    """Has a JSON value an integer above 2^53, which many readers of JSON do not keep (CA-6)?"""
    values = [value]  # no recursion: they may have very many levels
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
    """Is a number in its vector clock zero, which is as if it were not there?"""
    clock = update.members.get("vector_clock")
    return isinstance(clock, dict) and any(type(number) is int and number == 0 for number in clock.values())


def dominates(one: VectorClock | None, other: VectorClock | None) -> bool:
    """Is ``other`` before ``one``, or equal (CA-12)? Of what does not parse nothing is."""
    return one is not None and other is not None and before(other, one)


def yields(one: Update, other: Update) -> bool:
    """Does whoever hears of two versions keep the other one: does that descend from this one, or is it the later of two
    in conflict?"""
    if one.version == other.version or dominates(one.clock, other.clock):
        return False
    later = one.time is not None and other.time is not None and one.time < other.time
    return dominates(other.clock, one.clock) or (one.clock is not None and other.clock is not None and later)


def equal(one: Any, other: Any) -> bool:
    """Are two JSON values the same? There is one kind of number, and true is none."""
    pairs = [(one, other)]  # no recursion: they may have very many levels
    while pairs:
        one, other = pairs.pop()
        if isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
            pairs += zip(one, other, strict=True)
        elif isinstance(one, dict) and isinstance(other, dict) and one.keys() == other.keys():
            pairs += ((value, other[name]) for name, value in one.items())
        elif isinstance(one, (bool, list, dict)) or isinstance(other, (bool, list, dict)):
            if one is not other:
                return False
        elif one != other:
            return False
    return True


def same_content(one: tuple[Any, Any, bool], other: tuple[Any, Any, bool]) -> bool:
    """Do two records say the same to an application?"""
    return one[0] == other[0] and one[2] == other[2] and equal(one[1], other[1])


def _id(value: object) -> str | None:
    return value if isinstance(value, str) and is_id(value) else None


# ---- What the application did ----------------------------------------------------------------------------------------


COMMANDS = ("put", "rename", "delete")


@dataclass
class Change:
    """One command that changes a record, and was not refused."""

    step: Step
    kind: str
    """``put``, ``rename`` or ``delete``."""
    key: str
    """The one that the record has then; of what is deleted, the one that it had."""
    old_key: str
    """The one that it had before."""
    value: Any = None
    """Of ``put``."""
    shown: Update | None = None
    """The first copy of it on any link; None where it was never sent, or under another name."""
    since: int = 0
    """Index of the step of the first of the changes of its record that nothing was sent of until this one was: what is
    sent late may have been made by any of these, or by all of them together."""

    @property
    def uuid(self) -> str:
        """As the peer tells it, else as it shows; "" where neither is known."""
        return self.step.uuid or (self.shown.uuid if self.shown is not None and self.shown.uuid else "")

    @property
    def keeps_its_key(self) -> bool:
        """Is it a rename that changes nothing?"""
        return self.kind == "rename" and self.key == self.old_key

    def says_the_same(self, other: Change) -> bool:
        """Do both write the same under the same key?"""
        return self.kind == other.kind == "put" and self.key == other.key and equal(self.value, other.value)

    def is_in(self, update: Update) -> bool:
        """Has the update the content of this change?"""
        if self.step.uuid and update.uuid is not None and update.uuid != self.step.uuid:
            return False
        if self.kind == "delete":
            return update.deleted
        same = not update.deleted and update.key == self.key
        return same and (self.kind == "rename" or equal(update.value, self.value))

    def is_shown_by(self, update: Update) -> bool:
        """Is the update a copy of it, whatever may be wrong with that?"""
        version = self.shown.version if self.shown is not None else None
        return self.is_in(update) or (version is not None and update.version == version)


def changes_of(steps: Iterable[Step], own: list[Update]) -> list[Change]:
    """The changes in the steps of a peer; ``own`` are the first copies of its own versions by revision, as they were
    sent.

    A copy is known by what it says, first where it is sent at once, or else by being sent at once, or by being of the
    record that was last changed so. A late sender may leave out overwritten versions: of several changes
    that say the same, the last ones are those that show. A rename to the same key is a change where it shows as one,
    and need not be.
    """
    changes = [change for step in steps if (change := _change(step)) is not None]
    if any(change.step.uuid for change in changes):
        changes = [change for change in changes if change.kind != "delete" or change.step.uuid]  # it deleted nothing
    left = list(own)
    tests: tuple[Callable[[Change, Update], bool], ...] = (
        lambda change, update: change.step is update.step and change.is_in(update),
        lambda change, update: change.step.index <= update.step.index and change.is_in(update),
        lambda change, update: _belongs(update, change, changes),
    )
    for test in tests:
        for change in sorted(changes, key=lambda change: (change.keeps_its_key, -change.step.index)):
            if change.shown is None and (those := [update for update in left if test(change, update)]):
                earlier = (c for c in changes if c.shown is None and c.step.index < change.step.index)
                rivals = sum(any(test(c, update) for update in those) for c in earlier) if len(those) > 1 else 0
                change.shown = those[min(rivals, len(those) - 1)]
                left = [update for update in left if update is not change.shown]
    changes = [change for change in changes if change.shown is not None or not change.keeps_its_key]
    _say_since_when(changes)
    return changes


def _say_since_when(changes: list[Change]) -> None:
    """Since when was nothing sent of the record of each change?"""
    began: dict[str, int] = {}
    for change in changes:
        names = {change.step.uuid} if change.step.uuid else {change.key, change.old_key}
        change.since = min([change.step.index, *(began[name] for name in names if name in began)])
        for name in names:
            if change.shown is None:
                began[name] = change.since
            else:
                began.pop(name, None)


def _belongs(update: Update, change: Change, changes: list[Change]) -> bool:
    """Is an update that of a change, although it says something else? Of a record whose key another one was given, it
    may be the deletion."""
    uuid = change.step.uuid
    if update.step is change.step:
        return uuid in ("", update.uuid or update.members.get("uuid"))
    if not uuid or update.uuid != uuid or update.step.index < change.step.index:
        return False
    later = (c for c in changes if change.step.index < c.step.index <= update.step.index)
    return not any(c.step.uuid == uuid or change.key in (c.key, c.old_key) for c in later)


def written(request: pb.Request) -> Any:
    """The value that is put. Raises ValueError or RecursionError for what is no JSON."""
    return json.loads(request.put.value)


def renames_in_place(step: Step) -> bool:
    """Was a record given the key that it has? Some count that as a change, and it need not show as one."""
    command = step.request.rename
    return step.command == "rename" and step.effects is not None and command.key == command.new_key


def _change(step: Step) -> Change | None:
    if step.effects is None or step.command not in COMMANDS:
        return None
    request: pb.Request = step.request
    if step.command == "put":
        try:
            return Change(step, "put", request.put.key, request.put.key, written(request))
        except (ValueError, RecursionError):
            return None
    if step.command == "rename":
        return Change(step, "rename", request.rename.new_key, request.rename.key)
    return Change(step, "delete", request.delete.key, request.delete.key)


# ---- What went over one link -----------------------------------------------------------------------------------------


@dataclass
class LinkView:
    """One link, from the end of the peer under test."""

    connection: Connection
    began: int
    """Index of the step."""
    ended: int
    """Index of the step with which it ended, or one more than that of the last."""
    received: list[Update] = field(default_factory=list)
    sent: list[Update] = field(default_factory=list)
    asked: list[Request] = field(default_factory=list)
    """Requests of the peer under test."""
    requests: list[Request] = field(default_factory=list)
    """Requests of the other end."""
    doubt: int | None = None
    """Index of the step with the first thing that arrived and may be refused: the peer may close the link then, or take
    nothing more that comes on it ("with no records skipped"). None if there is no such thing."""

    @property
    def number(self) -> int:
        return self.connection.number

    @property
    def peer_id(self) -> str:
        """Of the other end."""
        return self.connection.peer_id

    @property
    def level(self) -> AccessLevel:
        """Of the other end."""
        return self.connection.level

    @property
    def subscribed(self) -> int | None:
        """Index of the step from which on the other end gets all updates; None if it has not asked."""
        return next((request.step.index for request in self.requests if request.since is not None), None)

    @cached_property
    def readable(self) -> int:
        """Index of the last step in which the sent bytes can be read; a broken stream is CSDB-15."""
        sent = self.connection.sent
        ends = [message.began for message in sent.messages if not message.body.members]
        ends += [sent.unfinished] if sent.unfinished is not None else []
        return min([*ends, self.ended])

    def there(self, step: Step) -> bool:
        """Was it there when that step was done?"""
        return self.began < step.index <= self.ended

    def in_doubt(self, step: Step) -> bool:
        """May what comes on it in that step be let be?"""
        return self.doubt is not None and step.index >= self.doubt


def links_of(trace: Trace, participant: str) -> list[LinkView]:
    """The links of a peer under test, in the order in which they came about."""
    out = []
    for connection in trace.links_of(participant):
        link = LinkView(connection, connection.began, connection.ended or len(trace.steps) + 1)
        for stream, updates, requests in (
            (connection.arrived, link.received, link.requests),
            (connection.sent, link.sent, link.asked),
        ):
            for message in stream.messages:
                step = trace.steps[message.step - 1]
                if reads_as_update(message):
                    updates.append(Update(message, connection, step))
                elif reads_as_request(message):
                    requests.append(Request(message, connection, step))
        doubts = [request.step.index for request in link.requests if request.since is None]
        if connection.arrived.broken is not None:
            doubts.append(connection.arrived.broken.step)
        link.doubt = min(doubts, default=None)
        out.append(link)
    return out


# ---- When a peer was quiet -------------------------------------------------------------------------------------------


def quiet_steps(trace: Trace, steps: Iterable[Step]) -> list[int]:
    """The indices of the steps at which the peer whose ``steps`` these are was quiet."""
    out: list[int] = []
    latest_ms = -1
    silent_ms: int | None = None
    """Since when it was ticked and had nothing to say; None if it had."""
    for step in steps:
        said = [message for message in trace.out(step) if reads_as_update(message) or reads_as_request(message)]
        spoke = not all(message.repeated for message in said)
        if step.command == "observe" or (not spoke and _is_asked_again(trace, step)):
            continue
        if step.command != "tick" or step.effects is None or spoke:
            silent_ms = None
        elif step.now_ms > latest_ms:
            silent_ms = step.now_ms if silent_ms is None else silent_ms
            if step.now_ms >= silent_ms + ROUND_MS:
                out.append(step.index)
        latest_ms = max(latest_ms, step.now_ms)
    return out


def _is_asked_again(trace: Trace, step: Step) -> bool:
    """Did nothing arrive but what was asked for already?"""
    came = trace.into(step)
    return step.command == "receive" and bool(came) and all(message.repeated for message in came)


def first_quiet(quiet: list[int], step: Step, until: int) -> int | None:
    """The index of the first quiet step after ``step``, by which all that is due because of it must have come; None if
    that is after ``until``, or if there is none."""
    place = bisect_right(quiet, step.index)
    return quiet[place] if place < len(quiet) and quiet[place] <= until else None


# ---- What a peer showed ----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Seen:
    """One record, as it was shown."""

    uuid: str
    key: str | None
    value: Any
    deleted: bool
    by: str | None
    rev: int | None
    time: Timestamp | None
    clock: VectorClock | None

    @property
    def version(self) -> Version | None:
        return (self.uuid, self.by, self.rev) if self.by is not None and self.rev is not None else None

    @property
    def content(self) -> tuple[Any, Any, bool]:
        """As that of an update."""
        return (None, None, True) if self.deleted else (self.key, self.value, False)


@dataclass(frozen=True)
class Shown:
    """All records of a peer, as of a step."""

    step: Step
    """The one by which all had been shown."""
    asked: Step
    """The one with which that began."""
    as_of: Step
    """The peer had processed all that came before it: some process what arrives when they are ticked."""
    records: Mapping[str, Seen]
    """By uuid."""
    link: LinkView | None
    """The one of the stranger; None where the peer was observed."""

    @property
    def on_the_wire(self) -> bool:
        return self.link is not None

    @property
    def values(self) -> dict[str, list[Any]]:
        """By key the values of what is not deleted: more than one where records are hidden from applications."""
        out: dict[str, list[Any]] = {}
        for seen in self.records.values():
            if not seen.deleted and seen.key is not None:
                out.setdefault(seen.key, []).append(seen.value)
        return out


def told(links: list[LinkView], quiet: list[int], steps: list[Step]) -> list[Shown]:
    """The answers to requests for everything, with all that followed until the peer was quiet."""
    out = []
    for link in links:
        first = link.requests[0] if link.requests else None
        if first is None or not first.asks_for_all:
            continue
        end = first_quiet(quiet, first.step, link.readable)
        if end is None:
            continue
        records: dict[str, Update] = {}
        for update in link.sent:
            if update.uuid is not None and first.step.index <= update.step.index <= end:
                before = records.get(update.uuid)
                # Who answers with all that it ever heard, by revision, can say what is older last: that is discarded.
                if before is None or not yields(update, before):
                    records[update.uuid] = update
        out.append(
            Shown(steps[end - 1], first.step, first.step, {uuid: _of_update(u) for uuid, u in records.items()}, link)
        )
    return out


def observed(steps: list[Step], quiet: list[int]) -> list[Shown]:
    """All states that it showed when it was observed."""
    out, as_of, when_quiet = [], steps[0] if steps else None, set(quiet)
    for step in steps:
        if step.index in when_quiet:
            as_of = step
        elif as_of is not None and step.state is not None and not step.request.observe.uuids:
            out.append(Shown(step, step, as_of, {seen.uuid: seen for seen in map(of_record, step.state.records)}, None))
    return out


def _of_update(update: Update) -> Seen:
    return Seen(
        str(update.uuid),
        update.key,
        update.value,
        update.deleted,
        update.by,
        update.rev,
        update.time,
        update.clock,
    )


def of_record(record: pb.Record) -> Seen:
    """A record as the testee protocol has it."""
    try:
        time = timestamp(record.update_time)
    except MalformedMessage:
        time = None
    # As in an update: what is nested too deep to be read is collapsed in the same way.
    said = bodies.read(b'{"value":%s}' % record.value.encode()) if record.value else None
    value = None if said is None else said.members.get("value", record.value)
    clock = {peer_id: number for peer_id, number in record.vector_clock.items() if number}
    by, rev = record.last_updated_by, record.last_updated_rev
    return Seen(record.uuid.lower(), record.key, value, record.deleted, by, rev, time, clock)


# ---- How findings name things ----------------------------------------------------------------------------------------


OF_AN_ID = 8
"""Digits of an ID that findings show of a peer without a name."""


def name_of(trace: Trace, peer_id: str | None) -> str:
    """The name of a peer in findings; of a stranger to the club, the beginning of its ID."""
    if peer_id is None:
        return "nobody"
    name = trace.club.name_of(peer_id)
    return short(name) if name != peer_id else f"{peer_id[:OF_AN_ID]}…"


def named(trace: Trace, update: Update) -> str:
    """An update as findings quote it: its record by its key, and which version of it."""
    key = identifier(update.key) if update.key is not None else "a record without a key"
    deletion = "the deletion of " if update.deleted else ""
    return f"{deletion}{key}, revision {update.rev} of {name_of(trace, update.by)}"


def told_of(seen: Update | Seen) -> str:
    """The key and the value of a record, for findings."""
    if seen.deleted:
        return "it is deleted"
    key = identifier(seen.key) if seen.key is not None else "no key"
    return f"{json_of(seen.value, 80)} under {key}"


def quoted(value: object) -> str:
    """A JSON value, for findings."""
    return json_of(value, 120)

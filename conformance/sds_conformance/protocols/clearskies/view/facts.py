"""What a message is to a database: an update or a request, read with all that is wrong in it.

One thing that is wrong leaves the rest as it is: a field that does not parse is None, and an update of another type
that has the fields of one is read as one, so that only what is about that type says so.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

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
from sds_harness.clearskies.frames import GET_UPDATES, UPDATE
from sds_harness.clearskies.streams import Message
from sds_harness.clearskies.trace import Connection, Step

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

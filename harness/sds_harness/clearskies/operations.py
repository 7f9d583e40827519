"""The operations of schedules of ClearSkies: those of all protocols, and those of peers, links and databases.

A participant is a peer under test. A link is named by its two ends; there may be several links between them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from ..schedules import operations
from ..schedules.operations import EVERYBODY as EVERYBODY
from ..schedules.operations import Calm as Calm
from ..schedules.operations import Look as Look
from ..schedules.operations import Operation as Operation
from ..schedules.operations import Schedule as Schedule
from ..schedules.operations import StepClock as StepClock
from ..schedules.operations import Tick as Tick
from ..schedules.operations import Wait as Wait

SIGNATURES = ("usual", "none", "forged", "flipped", "read-only")
"""How a scripted peer signs: as the specification says, not at all, with a changed signature, with a changed body, or
with the key of read-only peers."""
ODDITIES = (
    "",
    *("nan", "deep", "twice", "surrogate", "fraction", "list", "no-clock", "no-uuid", "no-time", "negative"),
    *("not-deleted", "large"),
)
"""Oddities of a body that a scripted peer writes. ``not-deleted`` is unusual but valid: it says ``"deleted":
false``."""


@dataclass(frozen=True, slots=True)
class Put(Operation, op="put", command="put"):
    """The application of a participant writes a value (section "Record Changes")."""

    who: str
    label: str
    key: str = "k"
    text: str = ""
    """The value as JSON, or invalid text; "" is a value that no other write has."""
    times: int = 1
    """Number of records at once. The keys and labels of the others end in ".2", ".3", ..."""


@dataclass(frozen=True, slots=True)
class Rename(Operation, op="rename", command="rename"):
    """The application gives the record with a key another key ("It is legal to change the key on a record")."""

    who: str
    label: str
    key: str = "k"
    new_key: str = "k2"


@dataclass(frozen=True, slots=True)
class Delete(Operation, op="delete", command="delete"):
    """The application deletes the record with a key (section "Deleted Records")."""

    who: str
    label: str
    key: str = "k"


@dataclass(frozen=True, slots=True)
class Link(Operation, op="link", command="connect"):
    """Link two participants, unless they are linked."""

    who: str
    to: str
    held: bool = False
    """Whether the link is held from the beginning, including what both send when it begins."""
    second: bool = False
    """Whether to link them even if there is a link between them."""


@dataclass(frozen=True, slots=True)
class Unlink(Operation, op="unlink"):
    """Break the links between two participants. Bytes under way are lost, possibly half a message."""

    who: str
    to: str


@dataclass(frozen=True, slots=True)
class Hold(Operation, op="hold"):
    """Hold everything that is sent between two participants from now on until it is released."""

    who: str = EVERYBODY
    to: str = EVERYBODY


@dataclass(frozen=True, slots=True)
class Release(Operation, op="release"):
    """Deliver what is under way between two participants."""

    who: str = EVERYBODY
    to: str = EVERYBODY
    size: int = 0
    """Deliver only this many bytes of ``who``, and keep the link held; 0 delivers everything of both."""


@dataclass(frozen=True, slots=True)
class Close(Operation, op="close", command="close"):
    """Close a participant, which ends its links."""

    who: str


@dataclass(frozen=True, slots=True)
class Reopen(Operation, op="reopen", command="open"):
    """Open a closed participant again, without links, with the content of its store."""

    who: str
    forget: bool = False
    """Whether its store is lost."""


@dataclass(frozen=True, slots=True)
class Read(Operation, op="read"):
    """Let a stranger of the club link to participants, ask each of them for everything, and hang up."""

    who: str = EVERYBODY
    read_only: bool = False
    """Whether the stranger is a read-only peer."""


@dataclass(frozen=True, slots=True)
class Scripted(Operation):
    """An operation of a scripted peer, which is not a participant. It links to the participant ``to`` if it is not
    linked yet."""

    peer: str
    to: str
    read_only: bool = False
    """Whether the peer may only read; its first operation decides."""


@dataclass(frozen=True, slots=True)
class Say(Scripted, op="say"):
    """A scripted peer sends a database.update with any content."""

    names: ClassVar[tuple[str, ...]] = (*Operation.names, "poses_as")
    labels: ClassVar[tuple[str, ...]] = ("label", "after")
    label: str = "x"
    key: str = "k"
    content: str = ""
    """A string as its value; "" is one that no other message has."""
    deleted: bool = False
    after: str = ""
    """The label of the update whose record it changes, by uuid; "" for its own record with that key."""
    concurrent: bool = False
    """Whether it does not know of the change with that label."""
    at_ms: int = 0
    """Its update_time, relative to virtual time."""
    digits: int = 3
    """Digits after the decimal point of its update_time."""
    poses_as: str = ""
    """The participant that it names as the last writer."""
    revision: int = 0
    """Its revision; 0 means the peer's next one."""
    clock_members: int = 0
    """The number of strangers in its vector clock."""
    clock_number: int = 0
    """Its own number in the vector clock; 0 means the next one."""
    signature: str = "usual"
    """One of ``SIGNATURES``."""
    odd: str = ""
    """One of ``ODDITIES``."""


@dataclass(frozen=True, slots=True)
class Again(Scripted, op="again"):
    """A scripted peer sends a message again, with its original signature, if it had one."""

    label: str = "m1"
    flipped: bool = False
    """Whether one bit of it is flipped."""


@dataclass(frozen=True, slots=True)
class Ask(Scripted, op="ask"):
    """A scripted peer sends a database.get_updates."""

    known: int = 0
    """The revision that it claims to know of each participant; 0 for none."""


@dataclass(frozen=True, slots=True)
class Garble(Scripted, op="garble"):
    """A scripted peer writes bytes that are not a message, or barely one."""

    wire: str = "00"
    """Hexadecimal digits."""


@dataclass(frozen=True, slots=True)
class Leave(Scripted, op="leave"):
    """A scripted peer hangs up."""


@dataclass(frozen=True, slots=True)
class Member(operations.Member):
    """A participant of a schedule."""

    read_only: bool = False
    store: bool = False
    """Whether it has a store, if it supports one: its records are kept when it is reopened."""


OPERATIONS: dict[str, type[Operation]] = {
    kind.op: kind
    for kind in (
        *(Put, Rename, Delete, Link, Unlink, Hold, Release, Close, Reopen, Read, Say, Again, Ask, Garble, Leave),
        *(Tick, Wait, Look, StepClock, Calm),
    )
}
"""The operations by their names in a schedule file."""

"""What can happen in a schedule of ClearSkies: what any schedule has, and what peers, links and databases do.

A participant is a peer under test. A link is named by its two ends, of which there may be several links.
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
"""How a scripted peer signs: as the text has it, not at all, with another signature, with another body than the signed
one, or with the key of those who only read."""
ODDITIES = (
    "",
    *("nan", "deep", "twice", "surrogate", "fraction", "list", "no-clock", "no-uuid", "no-time", "negative"),
    *("not-deleted", "large"),
)
"""What is odd about a body that a scripted peer writes, or unusual: not to be deleted goes without saying."""


@dataclass(frozen=True, slots=True)
class Put(Operation, op="put", command="put"):
    """The application of a participant writes a value (section "Record Changes")."""

    who: str
    label: str
    key: str = "k"
    text: str = ""
    """JSON, or what is none; "" is a value that no other write has."""
    times: int = 1
    """So many records at once, with ".2", ".3", ... behind their keys and labels."""


@dataclass(frozen=True, slots=True)
class Rename(Operation, op="rename", command="rename"):
    """It gives the record with a key another key ("It is legal to change the key on a record")."""

    who: str
    label: str
    key: str = "k"
    new_key: str = "k2"


@dataclass(frozen=True, slots=True)
class Delete(Operation, op="delete", command="delete"):
    """It deletes the record with a key (section "Deleted Records")."""

    who: str
    label: str
    key: str = "k"


@dataclass(frozen=True, slots=True)
class Link(Operation, op="link", command="connect"):
    """Two participants are linked from now on, if they are not."""

    who: str
    to: str
    held: bool = False
    """Nothing arrives on it for now, not even what both say when it begins."""
    second: bool = False
    """Also if there is a link between them."""


@dataclass(frozen=True, slots=True)
class Unlink(Operation, op="unlink"):
    """The links between two participants break; what is under way is lost, be it half a message."""

    who: str
    to: str


@dataclass(frozen=True, slots=True)
class Hold(Operation, op="hold"):
    """What is sent between two participants from now on is under way until it is released."""

    who: str = EVERYBODY
    to: str = EVERYBODY


@dataclass(frozen=True, slots=True)
class Release(Operation, op="release"):
    """What is under way between two participants arrives."""

    who: str = EVERYBODY
    to: str = EVERYBODY
    size: int = 0
    """No more than so many bytes of what ``who`` has sent, and the link is held on; 0 for all, of both."""


@dataclass(frozen=True, slots=True)
class Close(Operation, op="close", command="close"):
    """A participant ends, and with it its links."""

    who: str


@dataclass(frozen=True, slots=True)
class Reopen(Operation, op="reopen", command="open"):
    """A participant that has ended is there again, without links, and with what was in its store."""

    who: str
    forget: bool = False
    """Its store is lost."""


@dataclass(frozen=True, slots=True)
class Read(Operation, op="read"):
    """A stranger of the club links itself to participants, asks each of them for everything, and hangs up."""

    who: str = EVERYBODY
    read_only: bool = False
    """The stranger is a read-only peer."""


@dataclass(frozen=True, slots=True)
class Scripted(Operation):
    """What a scripted peer does, who is no participant of the schedule; linked to one, if it is not yet."""

    peer: str
    to: str
    read_only: bool = False
    """Its access level, by the first that it does."""


@dataclass(frozen=True, slots=True)
class Say(Scripted, op="say"):
    """A scripted peer sends a database.update, and may say in it whatever it likes."""

    names: ClassVar[tuple[str, ...]] = (*Operation.names, "poses_as")
    labels: ClassVar[tuple[str, ...]] = ("label", "after")
    label: str = "x"
    key: str = "k"
    content: str = ""
    """A string as its value; "" is one that no other message has."""
    deleted: bool = False
    after: str = ""
    """It changes the record of this label, by its uuid; "" for one of its own under that key."""
    concurrent: bool = False
    """And knows nothing of the change of that label."""
    at_ms: int = 0
    """Its update_time, from virtual time on."""
    digits: int = 3
    """So many stand after the point of it."""
    poses_as: str = ""
    """It gives this participant as the last writer."""
    revision: int = 0
    """Instead of its next one; 0 for that."""
    clock_members: int = 0
    """So many strangers have a number in its vector clock."""
    clock_number: int = 0
    """Its own number there, instead of the next one; 0 for that."""
    signature: str = "usual"
    """One of ``SIGNATURES``."""
    odd: str = ""
    """One of ``ODDITIES``."""


@dataclass(frozen=True, slots=True)
class Again(Scripted, op="again"):
    """A scripted peer sends a message that was sent before, with the signature that it had, if it had one."""

    label: str = "m1"
    flipped: bool = False
    """With a bit of it flipped."""


@dataclass(frozen=True, slots=True)
class Ask(Scripted, op="ask"):
    """A scripted peer sends a database.get_updates."""

    known: int = 0
    """The revision of each participant that it says to know, at most; 0 for none."""


@dataclass(frozen=True, slots=True)
class Garble(Scripted, op="garble"):
    """A scripted peer writes bytes that are no message, or hardly one."""

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
    """What it knows is there again when it is reopened, if it can have a store."""


OPERATIONS: dict[str, type[Operation]] = {
    kind.op: kind
    for kind in (
        *(Put, Rename, Delete, Link, Unlink, Hold, Release, Close, Reopen, Read, Say, Again, Ask, Garble, Leave),
        *(Tick, Wait, Look, StepClock, Calm),
    )
}
"""By the name that stands in a schedule file."""

"""What can happen in a schedule of SDS: what any network has, and what only SDS does and says."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from ..schedules import operations
from ..schedules.operations import EVERYBODY as EVERYBODY
from ..schedules.operations import STRAIGHT as STRAIGHT
from ..schedules.operations import Calm as Calm
from ..schedules.operations import Crash as Crash
from ..schedules.operations import Cut as Cut
from ..schedules.operations import Heal as Heal
from ..schedules.operations import Join as Join
from ..schedules.operations import Links as Links
from ..schedules.operations import Look as Look
from ..schedules.operations import Operation as Operation
from ..schedules.operations import Route as Route
from ..schedules.operations import Schedule as Schedule
from ..schedules.operations import StepClock as StepClock
from ..schedules.operations import Tick as Tick
from ..schedules.operations import Wait as Wait


@dataclass(frozen=True, slots=True)
class Send(Operation, op="send", command="send"):
    """A participant sends a content message (section "Sending a message")."""

    who: str
    label: str
    channel: int = 0
    content: str | None = None
    """What it says, by default something that no other message says."""
    raw: str = ""
    """Hexadecimal digits of what it says, instead; where only text can be said, what is none is said in ASCII."""
    hint: bool = False
    """The application supplies a retrieval hint."""
    message_id: str = ""
    """The application gives this message ID, where it can."""
    empty: tuple[str, ...] = ()
    """What of it has no length: ``content``, ``hint``."""
    times: int = 1
    """So many messages at once; the label is that of the last, those before it have it with ".1", ".2", ..."""
    route: Route = STRAIGHT


@dataclass(frozen=True, slots=True)
class Sync(Operation, op="sync", command="send_sync"):
    """A participant sends a sync message (section "Periodic Sync Message")."""

    who: str
    channel: int = 0
    route: Route = STRAIGHT


@dataclass(frozen=True, slots=True)
class Ephemeral(Operation, op="ephemeral", command="send_ephemeral"):
    """A participant sends an ephemeral message (section "Ephemeral Messages")."""

    who: str
    channel: int = 0
    raw: str = ""
    """Hexadecimal digits of what it says, by default "typing"."""
    route: Route = STRAIGHT


@dataclass(frozen=True, slots=True)
class Lookup(Operation, op="lookup"):
    """A participant fetches from a store every message it knows to miss, through all dependencies."""

    who: str = EVERYBODY


@dataclass(frozen=True, slots=True)
class Again(Operation, op="again"):
    """The network brings a copy of a message that was sent before."""

    labels: ClassVar[tuple[str, ...]] = ("label", "asks")
    label: str
    to: str
    asks: tuple[str, ...] = ()
    """What the copy asks for, if anything (a copy may carry a repair request of its own)."""


@dataclass(frozen=True, slots=True)
class Say(Operation, op="say"):
    """A scripted peer, who is no participant of the schedule, says whatever it likes."""

    names: ClassVar[tuple[str, ...]] = (*Operation.names, "poses_as")
    labels: ClassVar[tuple[str, ...]] = ("label", "after", "asks", "filter", "id_of")
    peer: str
    label: str
    lamport_ms: int | None = 0
    """Lamport timestamp relative to virtual time, or where timestamps count, to the one after the greatest that
    participants have sent; None is unset."""
    after: tuple[str, ...] = ()
    """Labels in its causal history."""
    content: str | None = "usual"
    """"usual" is something that no other message says; None is unset, as in a sync message."""
    raw: str = ""
    """Hexadecimal digits of what it says, instead."""
    filter: tuple[str, ...] | None = None
    """Labels in its bloom filter; None for no filter at all."""
    raw_filter: str = ""
    """Hexadecimal digits of a filter that is none, instead."""
    asks: tuple[str, ...] = ()
    """Labels in its repair request."""
    senders_named: bool = False
    """Its causal history names the senders, as with SDS-R."""
    hint: bool = False
    """Its causal history has retrieval hints."""
    id_of: str = ""
    """It has the message ID of another message: that of this label."""
    message_id: str = ""
    """It has this message ID."""
    empty: tuple[str, ...] = ()
    """What of it has no length: ``sender``, ``filter``, and with ``hint`` the ``hints``."""
    poses_as: str = ""
    """It gives this participant as its sender."""
    encoding: str = "usual"
    """How it is written: ``usual``, ``reversed`` fields, with ``unknown`` fields, or ``overlong`` varints."""
    channel: int = 0
    to: str = EVERYBODY
    """It reaches this participant only."""
    route: Route = STRAIGHT


@dataclass(frozen=True, slots=True)
class Garble(Operation, op="garble"):
    """Bytes arrive that are no SDS message, or hardly one."""

    to: str
    wire: str
    """Hexadecimal digits."""


@dataclass(frozen=True, slots=True)
class Member(operations.Member):
    """A participant of a schedule."""

    sds_r: bool | None = None
    """Whether it uses SDS-R, where that is not as for the others."""


OPERATIONS: dict[str, type[Operation]] = {
    kind.op: kind
    for kind in (
        *(Send, Sync, Ephemeral, Tick, Wait, Look, Join, Crash, StepClock, Links, Cut, Heal),
        *(Lookup, Again, Say, Garble, Calm),
    )
}
"""By the name that stands in a schedule file."""

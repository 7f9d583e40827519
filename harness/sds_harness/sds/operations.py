"""The operations of schedules of SDS: those of all protocols, and those that only SDS has."""

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
from ..schedules.operations import Require as Require
from ..schedules.operations import Route as Route
from ..schedules.operations import Schedule as Schedule
from ..schedules.operations import StepClock as StepClock
from ..schedules.operations import Tick as Tick
from ..schedules.operations import Wait as Wait


@dataclass(frozen=True, slots=True)
class Entry:
    """An entry of a causal history, of a repair request, or of a bloom filter, as a scripted peer writes it."""

    label: str = ""
    """The label of the message."""
    id: str | None = None
    """The message ID, in place of a label."""
    hint: str | None = None
    """Hexadecimal digits of the retrieval hint; None for none."""
    sender: str | None = None
    """The sender that the entry names; None for none."""


Reference = str | Entry
"""A label, or an entry with more than a message ID."""


@dataclass(frozen=True, slots=True)
class Send(Operation, op="send", command="send"):
    """A participant sends a content message (section "Sending a message")."""

    who: str
    label: str
    channel: int = 0
    content: str | None = None
    """The content; by default one that no other message has."""
    raw: str = ""
    """Hexadecimal digits of the content, in place of ``content``. If only text can be sent, other bytes are reduced to
    ASCII."""
    hint: bool = False
    """Whether the application supplies a retrieval hint."""
    message_id: str = ""
    """The message ID that the application gives, if it can."""
    empty: tuple[str, ...] = ()
    """Fields that are empty: ``content``, ``hint``."""
    times: int = 1
    """Number of messages sent at once. The label is that of the last one; the others have ".1", ".2", ... appended."""
    numbered: bool = False
    """Whether the content is numbered per participant, not made from the label. An
    environment may give such messages of different senders the same content."""
    may_be_refused: bool = False
    """Whether the implementation may refuse to send it, and the schedule goes on."""
    route: Route = STRAIGHT


@dataclass(frozen=True, slots=True)
class Sync(Operation, op="sync", command="send_sync"):
    """A participant sends a sync message (section "Periodic Sync Message")."""

    who: str
    channel: int = 0
    route: Route = STRAIGHT
    label: str = ""
    """The label of the message; "" if no other operation refers to it."""
    or_content: bool = False
    """Whether it sends a content message instead if the implementation has no sync messages."""


@dataclass(frozen=True, slots=True)
class Ephemeral(Operation, op="ephemeral", command="send_ephemeral"):
    """A participant sends an ephemeral message (section "Ephemeral Messages")."""

    who: str
    channel: int = 0
    raw: str = ""
    """Hexadecimal digits of the content; by default "typing"."""
    route: Route = STRAIGHT


@dataclass(frozen=True, slots=True)
class Lookup(Operation, op="lookup"):
    """A participant fetches all messages from a store that it knows to miss, through all dependencies."""

    who: str = EVERYBODY


@dataclass(frozen=True, slots=True)
class Again(Operation, op="again"):
    """The network delivers a copy of a message that was sent before."""

    labels: ClassVar[tuple[str, ...]] = ("label", "asks")
    label: str
    to: str
    asks: tuple[str, ...] = ()
    """Labels that the copy asks for, if any (a copy may carry its own repair request)."""


@dataclass(frozen=True, slots=True)
class Write(Operation, op="write"):
    """A scripted peer, which is not a participant of the schedule, writes a message, which arrives nowhere yet."""

    names: ClassVar[tuple[str, ...]] = (*Operation.names, "poses_as")
    labels: ClassVar[tuple[str, ...]] = ("label", "after", "asks", "filter", "id_of", "since", "filter_of")
    peer: str
    label: str
    lamport_ms: int | None = 0
    """Lamport timestamp relative to virtual time. In revisions that count, relative to the one after the greatest that
    participants have sent. None is unset."""
    after: tuple[Reference, ...] = ()
    """Its causal history."""
    content: str | None = "usual"
    """"usual" is content that no other message has; None is unset, as in a sync message."""
    raw: str = ""
    """Hexadecimal digits of the content, in place of ``content``."""
    filter: tuple[Reference, ...] | None = None
    """The messages in its bloom filter; None for no filter at all."""
    raw_filter: str = ""
    """Hexadecimal digits of an invalid filter, in place of ``filter``."""
    asks: tuple[Reference, ...] = ()
    """Its repair request."""
    senders_named: bool = False
    """Whether its causal history names the senders, as with SDS-R."""
    hint: bool = False
    """Whether its causal history has retrieval hints."""
    id_of: str = ""
    """A label: the message has the ID of the message with this label."""
    message_id: str = ""
    """Its message ID."""
    empty: tuple[str, ...] = ()
    """Fields that are empty: ``sender``, ``filter``, ``message_id``, and with ``hint`` the ``hints``."""
    poses_as: str = ""
    """The participant that it names as its sender."""
    encoding: str = "usual"
    """Its encoding: ``usual``, ``reversed`` fields, with ``unknown`` fields, or ``overlong`` varints."""
    channel: int = 0
    number: int = 0
    """The message has the ID and the content of the n-th message of the peer, in place of those made from the label."""
    since: str = ""
    """The label of a mark or of a message. ``lamport_ms`` is then relative to the virtual time at the mark, also in
    revisions that count, or to the timestamp of the message."""
    lamport: int | str | None = None
    """Its Lamport timestamp, in place of ``lamport_ms``: a number, or an expression, see ``expressions``."""
    filter_of: str = ""
    """A label: the message has the bloom filter of the message with this label."""


@dataclass(frozen=True, slots=True)
class Say(Write, op="say"):
    """A scripted peer sends a message."""

    to: str = EVERYBODY
    """The only participant that it reaches; by default all."""
    route: Route = STRAIGHT


@dataclass(frozen=True, slots=True)
class Receive(Operation, op="receive", command="receive"):
    """Messages arrive at a participant, in this order. A message may arrive several times."""

    labels: ClassVar[tuple[str, ...]] = ("messages",)
    who: str
    messages: tuple[str, ...]
    """Labels."""
    hint: str = ""
    """Hexadecimal digits of a retrieval hint that the transport of the recipient has for the messages."""
    asked: bool = False
    """Only those arrive that the newest broadcast of the participant asks for in its repair request."""


@dataclass(frozen=True, slots=True)
class Settle(Operation, op="settle", command="tick"):
    """Let time pass and run the periodic work until nothing more is delivered: some implementations deliver at once,
    others in sweeps. Each sweep takes the configured sweep period, or 60 s."""

    labels: ClassVar[tuple[str, ...]] = ("undelivered",)
    who: str
    undelivered: str = ""
    """A label: no time passes if this message was delivered before, or if the implementation shows no deliveries."""


@dataclass(frozen=True, slots=True)
class Mark(Operation, op="mark"):
    """Remember the virtual time under a label, for timestamps that scripted peers choose later."""

    label: str


@dataclass(frozen=True, slots=True)
class Garble(Operation, op="garble"):
    """Bytes arrive that are not an SDS message, or a malformed one."""

    to: str
    wire: str
    """Hexadecimal digits."""


@dataclass(frozen=True, slots=True)
class Member(operations.Member):
    """A participant of a schedule."""

    sds_r: bool | None = None
    """Whether it uses SDS-R, if that differs from the others."""
    channels: tuple[int, ...] = ()
    """Numbers of the channels that it joins; () for all."""
    configuration: tuple[tuple[str, int | float | bool], ...] = ()
    """Settings that it is asked to use in addition to, or in place of, the configuration of the schedule."""
    participant_id: str = ""
    """Its participant ID, if that is not its name: several members may have the same ID. The name is then the ID and,
    in brackets, what tells them apart."""


OPERATIONS: dict[str, type[Operation]] = {
    kind.op: kind
    for kind in (
        *(Send, Sync, Ephemeral, Tick, Wait, Look, Join, Crash, StepClock, Links, Cut, Heal),
        *(Lookup, Again, Say, Write, Receive, Settle, Mark, Require, Garble, Calm),
    )
}
"""The operations by their names in a schedule file."""

"""The operations of schedules of SDS: those of all protocols, and those that only SDS has."""

from __future__ import annotations

from collections.abc import Callable
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
from ..schedules.operations import Repeat as Repeat
from ..schedules.operations import Require as Require
from ..schedules.operations import Route as Route
from ..schedules.operations import Schedule as Schedule
from ..schedules.operations import StepClock as StepClock
from ..schedules.operations import Tick as Tick
from ..schedules.operations import Wait as Wait

TWINS: dict[str, Callable[[str], str]] = {
    "shorter": lambda message_id: message_id[:-1],
    "longer": lambda message_id: message_id + "0",
    "last": lambda message_id: message_id[:-1] + chr(ord(message_id[-1]) ^ 1),
    "thirteenth": lambda message_id: message_id[:12] + "-" + message_id[13:],
    "upper": str.upper,
    "lower": str.lower,
    "swapped": str.swapcase,
    "blank-before": lambda message_id: " " + message_id,
    "blank-after": lambda message_id: message_id + " ",
    "mark-before": lambda message_id: "\ufeff" + message_id,
    "no-width": lambda message_id: message_id + "\u200b",
    "two-units": lambda message_id: message_id + "\U0001f98a",
    "nul": lambda message_id: message_id + "\0",
}
"""Message IDs that resemble another one: without its last character or with one more, with another one at the end or in
the middle, in another case, and with characters that do not show or have two units in UTF-16."""


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
    twin: str = ""
    """The message ID is not that of the label, but resembles it, see ``Write.twin``."""


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
    raw_hint: str = ""
    """With ``hint``: hexadecimal digits of the hint."""


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
    empty: tuple[str, ...] = ()
    """Fields that are empty: ``content``."""
    may_be_refused: bool = False
    """Whether the implementation may refuse to send it, and the schedule goes on."""


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
    """Fields that are empty: ``sender``, ``channel``, ``filter``, ``message_id``, and with ``hint`` the ``hints``."""
    poses_as: str = ""
    """The participant that it names as its sender."""
    encoding: str = "usual"
    """Its encoding: ``usual``, ``reversed`` fields, with ``unknown`` fields, or unknown fields of four or eight bytes
    (``unknown-4``, ``unknown-8``), with two IDs of which the last counts (``twice``), or with ``overlong`` varints, in
    their places or at the end (``overlong-last``)."""
    channel: int = 0
    number: int = 0
    """The message has the ID and the content of the n-th message of the peer, in place of those made from the label."""
    since: str = ""
    """The label of a mark or of a message. ``lamport_ms`` is then relative to the virtual time at the mark, also in
    revisions that count, or to the timestamp of the message."""
    lamport: int | str | None = None
    """Its Lamport timestamp, in place of ``lamport_ms``: an expression, see ``expressions``, or a number. The greatest
    one that the revision can encode is used in place of a greater number."""
    filter_of: str = ""
    """A label: the message has the bloom filter of the message with this label."""
    ones: str = ""
    """An expression: the message has a bloom filter of so many bytes, in which all bits are set."""
    twin: str = ""
    """With ``id_of``: the ID differs from that of the message, but resembles it. One of ``TWINS``."""
    length: int = 0
    """Number of bytes of its content, which are all zero, in place of ``content``."""
    layout: str = ""
    """The revision in whose wire format it is written; by default that of the schedule."""


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
    unanswered_since: str = ""
    """The label of a mark: only those arrive that ask for a message which the participant has not sent since."""
    empty: tuple[str, ...] = ()
    """Fields that are empty: ``hint``. Without the capability, there is no hint."""


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
    wire: str = ""
    """Hexadecimal digits."""
    label: str = ""
    """A label: a part of the message with this label, in place of ``wire``."""
    end: int = 0
    """The byte of that message after the last one that arrives; a negative number counts from its end."""
    percent: int = 100
    """The part of its bytes that arrives, in place of ``end``."""


@dataclass(frozen=True, slots=True)
class Await(Operation, op="await"):
    """Let time pass until a participant is due to ask for some messages, or to respond with them. The times are those
    that it has shown last. If it shows none, they follow from the declared hash and the time when the last message
    arrived at it. Without either, no time passes."""

    labels: ClassVar[tuple[str, ...]] = ("messages",)
    who: str
    messages: tuple[str, ...]
    """Labels."""
    nth: int = 1
    """Which of these times, in order."""
    ms: int = 0
    """Milliseconds after that time; negative for a time before it."""
    most: str = ""
    """The longest period that passes: an expression over the configuration in force."""
    otherwise: str = ""
    """The period that passes if the times are unknown: such an expression."""


@dataclass(frozen=True, slots=True)
class BuildFilter(Operation, op="build_filter", command="build_filter"):
    """Ask the codec of the implementation for a bloom filter, and for the IDs that this filter has. If the filter is as
    large as that of a participant and has a known encoding, only the first question is asked."""

    members: tuple[str, ...] = ()
    """The IDs that it is built of."""
    queried: tuple[str, ...] = ()
    """The IDs that it is asked for."""
    who: str = ""
    """The participant whose filter has the same size. It is left out if that is not open."""
    times: int = 0
    """In place of ``members``: so many times as many IDs as that participant's filter is for. The filter is then asked
    for the newest tenth of a filter."""
    strangers: int = 0
    """The number of other IDs that it is asked for, too."""


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


@dataclass(frozen=True, slots=True)
class RepairTimes(Operation, op="repair_times", command="repair_times"):
    """Ask the codec of the implementation for the times of a repair, and whether a participant is in the response
    group."""

    labels: ClassVar[tuple[str, ...]] = ()
    participant_id: str
    sender_id: str
    message_id: str
    num_response_groups: int = 1
    t_min_ms: int = 30_000
    t_max_ms: int = 120_000


OPERATIONS: dict[str, type[Operation]] = {
    kind.op: kind
    for kind in (
        *(Send, Sync, Ephemeral, Tick, Wait, Look, Join, Crash, StepClock, Links, Cut, Heal),
        *(
            Lookup,
            Again,
            Say,
            Write,
            Receive,
            Settle,
            Mark,
            Require,
            Garble,
            Calm,
            Repeat,
            Await,
            BuildFilter,
            RepairTimes,
        ),
    )
}
"""The operations by their names in a schedule file."""

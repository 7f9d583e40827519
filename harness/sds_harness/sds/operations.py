"""The operations of schedules of SDS: those of all protocols, and those that only SDS has."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, ClassVar

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
from ..schedules.operations import Settings
from ..schedules.operations import StepClock as StepClock
from ..schedules.operations import Tick as Tick
from ..schedules.operations import Wait as Wait
from ..schedules.shapes import (
    Bytes,
    Channel,
    Expression,
    Hexadecimal,
    Label,
    LongText,
    Ms,
    Name,
    OptionalLabel,
    OptionalName,
    Percent,
    Shape,
    SignedMs,
)

if TYPE_CHECKING:  # schedules must not depend on the interpreter or on installed packages
    from sds_reference import REVISIONS

    from .encodings import ENCODINGS

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
the middle, in another case, and with characters that are invisible or have two units in UTF-16."""

Twin = Annotated[str, Shape("twin", enum=["", *TWINS])]
EMPTY = ("sender", "filter", "hints", "message_id", "channel")
"""The fields of a message of a scripted peer that can be empty."""
MessageId = Annotated[str, Shape("message_id", maxLength=70_000)]
MessageIds = Annotated[tuple[MessageId, ...], Shape(maxItems=1_000)]
Labels = Annotated[tuple[Label, ...], Shape("labels", maxItems=1_000)]


@dataclass(frozen=True, slots=True)
class Entry:
    """An entry of a causal history, of a repair request, or of a bloom filter, as a scripted peer writes it."""

    label: Label = ""
    """The label of the message."""
    id: MessageId | None = None
    """The message ID, in place of a label."""
    hint: Hexadecimal | None = None
    """Hexadecimal digits of the retrieval hint; None for none."""
    sender: Annotated[str, Shape(maxLength=4_000)] | None = None
    """The sender that the entry names; None for none."""
    twin: Twin = ""
    """The message ID is not that of the label, but resembles it, see ``Write.twin``."""


Reference = Label | Entry
"""A label, or an entry with more than a message ID."""
References = Annotated[tuple[Reference, ...], Shape("references", maxItems=1_000)]


@dataclass(frozen=True, slots=True)
class Send(Operation, op="send", command="send"):
    """A participant sends a content message (section "Sending a message")."""

    who: Name
    label: Label
    channel: Channel = 0
    content: LongText | None = None
    """The content; by default one that no other message has."""
    raw: Hexadecimal = ""
    """Hexadecimal digits of the content, in place of ``content``. If only text can be sent, other bytes are reduced to
    ASCII."""
    hint: bool = False
    """Whether the application supplies a retrieval hint."""
    message_id: MessageId = ""
    """The message ID that the application gives, if it can."""
    empty: Annotated[tuple[Annotated[str, Shape(enum=["content", "hint"])], ...], Shape(maxItems=3)] = ()
    """Fields that are empty: ``content``, ``hint``."""
    times: Annotated[int, Shape(minimum=1, maximum=2_000)] = 1
    """Number of messages sent at once. The label is that of the last one; the others have ".1", ".2", ... appended."""
    numbered: bool = False
    """Whether the content is made from a counter of the participant's messages, and not from the label. An environment
    may give such messages of different senders the same content."""
    may_be_refused: bool = False
    """Whether the implementation may refuse to send it, and the schedule goes on."""
    route: Route = STRAIGHT
    raw_hint: Hexadecimal = ""
    """With ``hint``: hexadecimal digits of the hint."""


@dataclass(frozen=True, slots=True)
class Sync(Operation, op="sync", command="send_sync"):
    """A participant sends a sync message (section "Periodic Sync Message")."""

    who: Name
    channel: Channel = 0
    route: Route = STRAIGHT
    label: OptionalLabel = ""
    """The label of the message; "" if no other operation refers to it."""
    or_content: bool = False
    """Whether it sends a content message instead if the implementation has no sync messages."""


@dataclass(frozen=True, slots=True)
class Ephemeral(Operation, op="ephemeral", command="send_ephemeral"):
    """A participant sends an ephemeral message (section "Ephemeral Messages")."""

    who: Name
    channel: Channel = 0
    raw: Hexadecimal = ""
    """Hexadecimal digits of the content. Without them, the content is the text "typing"."""
    route: Route = STRAIGHT
    empty: Annotated[tuple[Annotated[str, Shape(enum=["content"])], ...], Shape(maxItems=1)] = ()
    """Fields that are empty: ``content``."""
    may_be_refused: bool = False
    """Whether the implementation may refuse to send it, and the schedule goes on."""


@dataclass(frozen=True, slots=True)
class Lookup(Operation, op="lookup"):
    """A participant fetches from a store all messages that it knows to be missing, and their dependencies."""

    who: OptionalName = EVERYBODY


@dataclass(frozen=True, slots=True)
class Again(Operation, op="again"):
    """The network delivers a copy of a message that was sent before."""

    labels: ClassVar[tuple[str, ...]] = ("label", "asks")
    label: Label
    to: Name
    asks: Labels = ()
    """Labels of the messages that the copy requests (a copy may carry its own repair request)."""


@dataclass(frozen=True, slots=True)
class Write(Operation, op="write"):
    """A scripted peer, which is not a participant of the schedule, writes a message. The message arrives only when
    another operation sends it.
    """

    names: ClassVar[tuple[str, ...]] = (*Operation.names, "poses_as")
    labels: ClassVar[tuple[str, ...]] = ("label", "after", "asks", "filter", "id_of", "since", "filter_of")
    peer: Name
    label: Label
    lamport_ms: Annotated[int, Shape(minimum=-(10**13), maximum=1 << 64)] | None = 0
    """Lamport timestamp relative to virtual time. In revisions whose timestamps count from 0, relative to the successor
    of the greatest timestamp that participants have sent. None is unset."""
    after: References = ()
    """The causal history of the message."""
    content: LongText | None = "usual"
    """"usual" is content that no other message has; None is unset, as in a sync message."""
    raw: Hexadecimal = ""
    """Hexadecimal digits of the content, in place of ``content``."""
    filter: References | None = None
    """The messages in its bloom filter; None for no filter at all."""
    raw_filter: Hexadecimal = ""
    """Hexadecimal digits of an invalid filter, in place of ``filter``."""
    asks: References = ()
    """The repair request of the message."""
    senders_named: bool = False
    """Whether its causal history names the senders, as with SDS-R."""
    hint: bool = False
    """Whether its causal history has retrieval hints."""
    id_of: OptionalLabel = ""
    """A label: the message has the ID of the message with this label."""
    message_id: MessageId = ""
    """The message ID."""
    empty: Annotated[tuple[Annotated[str, Shape(enum=[*EMPTY])], ...], Shape(maxItems=5)] = ()
    """Fields that are present and empty: ``sender``, ``channel``, ``filter``, ``message_id``; with ``hint`` also
    ``hints``."""
    poses_as: OptionalName = ""
    """The participant whose ID is the sender ID of the message; "" for the ID of the peer."""
    encoding: Annotated[str, Shape(enum=[*ENCODINGS])] = "usual"
    """The encoding: ``usual``, ``reversed`` fields, with ``unknown`` fields, or unknown fields of four or eight bytes
    (``unknown-4``, ``unknown-8``) or in history entries (``unknown-inside``), with two IDs of which the last counts
    (``twice``), or with ``overlong`` varints, in their places or at the end (``overlong-last``)."""
    channel: Channel = 0
    number: Annotated[int, Shape(minimum=0, maximum=1_000_000)] = 0
    """The message has the ID and the content of the n-th message of the peer, in place of those made from the label."""
    since: OptionalLabel = ""
    """The label of a mark or of a message. ``lamport_ms`` is then relative to the virtual time at the mark, in all
    revisions, or to the timestamp of the message."""
    lamport: Annotated[int, Shape(minimum=0, maximum=(1 << 64) - 1)] | Expression | None = None
    """The Lamport timestamp, in place of ``lamport_ms``: an expression, see ``expressions``, or a number. The greatest
    one that the revision can encode is used in place of a greater number."""
    filter_of: OptionalLabel = ""
    """A label: the message has the bloom filter of the message with this label."""
    ones: Expression = ""
    """An expression: the message has a bloom filter of this number of bytes, in which all bits are set."""
    twin: Twin = ""
    """With ``id_of``: the ID differs from that of the message, but resembles it. One of ``TWINS``."""
    length: Bytes = 0
    """Number of bytes of its content, which are all zero, in place of ``content``."""
    layout: Annotated[str, Shape(enum=["", *REVISIONS])] = ""
    """The revision in whose wire format it is written; by default that of the schedule."""


@dataclass(frozen=True, slots=True)
class Say(Write, op="say"):
    """A scripted peer sends a message."""

    to: OptionalName = EVERYBODY
    """The only participant that it reaches; by default all."""
    route: Route = STRAIGHT


@dataclass(frozen=True, slots=True)
class Receive(Operation, op="receive", command="receive"):
    """Messages arrive at a participant, in this order. A message may arrive several times."""

    labels: ClassVar[tuple[str, ...]] = ("messages",)
    who: Name
    messages: Annotated[tuple[Label, ...], Shape(minItems=1, maxItems=10_000)]
    """Labels."""
    hint: Hexadecimal = ""
    """Hexadecimal digits of a retrieval hint that the transport of the recipient has for the messages."""
    asked: bool = False
    """Whether only messages arrive that are in the repair request of the participant's newest broadcast."""
    unanswered_since: OptionalLabel = ""
    """The label of a mark: only messages arrive whose repair request has a message that the participant has not sent
    since then."""
    empty: Annotated[tuple[Annotated[str, Shape(enum=["hint"])], ...], Shape(maxItems=1)] = ()
    """Fields that are empty: ``hint``. Without the capability, there is no hint."""


@dataclass(frozen=True, slots=True)
class Settle(Operation, op="settle", command="tick"):
    """Let time pass and run the periodic work until nothing more is delivered: some implementations deliver at once,
    others in sweeps. Each sweep takes the configured sweep period, or 60 s."""

    labels: ClassVar[tuple[str, ...]] = ("undelivered",)
    who: Name
    undelivered: OptionalLabel = ""
    """A label: no time passes if this message was delivered before, or if the implementation shows no deliveries."""


@dataclass(frozen=True, slots=True)
class Mark(Operation, op="mark"):
    """Remember the virtual time under a label, for timestamps that scripted peers choose later."""

    label: Label


@dataclass(frozen=True, slots=True)
class Garble(Operation, op="garble"):
    """Bytes arrive that are not an SDS message, or a malformed one."""

    to: Name
    wire: Hexadecimal = ""
    """Hexadecimal digits."""
    label: OptionalLabel = ""
    """A label: a part of the message with this label, in place of ``wire``."""
    end: Annotated[int, Shape(minimum=-1_000_000, maximum=1_000_000)] = 0
    """How many bytes of that message arrive; a negative number counts the bytes at its end that do not."""
    percent: Percent = 100
    """How many percent of its bytes arrive, if ``end`` is 0."""


@dataclass(frozen=True, slots=True)
class Await(Operation, op="await"):
    """Let time pass until a participant is due to request some messages, or to respond with them. The times are those
    that it has shown last. If it shows none, they are computed from the declared hash and the time when the last
    message arrived at it. Without either, no time passes.
    """

    labels: ClassVar[tuple[str, ...]] = ("messages",)
    who: Name
    messages: Labels
    """Labels."""
    nth: Annotated[int, Shape(minimum=1, maximum=1_000)] = 1
    """Number of the due time to wait for, in ascending order, from 1."""
    ms: SignedMs = 0
    """Milliseconds after the due time at which the wait ends; negative for a moment before the due time."""
    most: Expression = ""
    """The longest period that passes: an expression over the configuration in force."""
    otherwise: Expression = ""
    """The period that passes if the times are unknown: an expression over the configuration in force."""


@dataclass(frozen=True, slots=True)
class BuildFilter(Operation, op="build_filter", command="build_filter"):
    """Ask the codec of the implementation for a bloom filter, and which IDs that filter contains. If the filter is as
    large as that of a participant and has a known encoding, only the first request is sent.
    """

    members: MessageIds = ()
    """The IDs that the filter is built of."""
    queried: MessageIds = ()
    """The IDs that are looked up in the filter."""
    who: OptionalName = ""
    """The participant whose filter has the same size. The operation is left out if that participant is not open."""
    times: Annotated[int, Shape(minimum=0, maximum=10)] = 0
    """In place of ``members``: the number of IDs, as a multiple of the capacity of that participant's filter. The
    newest IDs, a tenth of the capacity, are then looked up."""
    strangers: Annotated[int, Shape(minimum=0, maximum=100_000)] = 0
    """The number of other IDs that are looked up, too."""


@dataclass(frozen=True, slots=True)
class Member(operations.Member):
    """A participant of a schedule."""

    sds_r: bool | None = None
    """Whether the participant uses SDS-R; by default as the configuration of the schedule says."""
    channels: Annotated[tuple[Channel, ...], Shape(maxItems=64)] = ()
    """Numbers of the channels that it joins; () for all."""
    configuration: Settings = ()
    """Requested settings in addition to, or in place of, the configuration of the schedule."""
    participant_id: OptionalName = ""
    """The participant ID of the member, if it is not the name: several members may have the same
    ID. The name is then the ID and a distinguishing word in brackets."""


@dataclass(frozen=True, slots=True)
class RepairTimes(Operation, op="repair_times", command="repair_times"):
    """Ask the codec of the implementation for the times of a repair, and whether a participant is in the response
    group."""

    labels: ClassVar[tuple[str, ...]] = ()
    participant_id: MessageId
    sender_id: MessageId
    message_id: MessageId
    num_response_groups: Annotated[int, Shape(minimum=0, maximum=1_000_000)] = 1
    t_min_ms: Ms = 30_000
    t_max_ms: Ms = 120_000


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

"""All operations in schedules of SDS, including the operations that all protocols share."""

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
    Bounds,
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
"""Functions that make a different but similar message ID: without the last character, with an additional character,
with another character at the end or in the middle, in another case, or with characters that are invisible or have two
units in UTF-16."""

Twin = Annotated[str, Bounds("twin", enum=["", *TWINS])]
EMPTY = ("sender", "filter", "hints", "message_id", "channel")
"""The fields of a message of a scripted peer that can be empty."""
MessageId = Annotated[str, Bounds("message_id", maxLength=70_000)]
MessageIds = Annotated[tuple[MessageId, ...], Bounds(maxItems=1_000)]
Labels = Annotated[tuple[Label, ...], Bounds("labels", maxItems=1_000)]


@dataclass(frozen=True, slots=True)
class Entry:
    """An entry of a causal history, of a repair request, or of a bloom filter, as a scripted peer writes it."""

    label: Label = ""
    """The label of the message."""
    id: MessageId | None = None
    """The message ID, in place of a label."""
    hint: Hexadecimal | None = None
    """Hexadecimal digits of the retrieval hint; None for none."""
    sender: Annotated[str, Bounds(maxLength=4_000)] | None = None
    """The sender that the entry names; None for none."""
    twin: Twin = ""
    """The kind of difference between the entry's ID and the ID of the labelled message, see ``Write.twin``; "" for the
    same ID."""


Reference = Label | Entry
"""Names a message in a list of a schedule: by its label, or as an entry with more fields."""
References = Annotated[tuple[Reference, ...], Bounds("references", maxItems=1_000)]


@dataclass(frozen=True, slots=True)
class Send(Operation, op="send", command="send"):
    """A participant sends a content message (section "Sending a message")."""

    who: Name
    label: Label
    channel: Channel = 0
    content: LongText | None = None
    """The content; by default a text that no other message has."""
    raw: Hexadecimal = ""
    """Hexadecimal digits of the content, in place of ``content``. If the revision allows only text and the
    content is not text, the highest bit of each byte is cleared."""
    hint: bool = False
    """Whether the application supplies a retrieval hint."""
    message_id: MessageId = ""
    """The message ID that the application chooses, if the implementation supports that; "" if the application chooses
    no ID."""
    empty: Annotated[tuple[Annotated[str, Bounds(enum=["content", "hint"])], ...], Bounds(maxItems=3)] = ()
    """Fields that are empty: ``content``, ``hint``."""
    times: Annotated[int, Bounds(minimum=1, maximum=2_000)] = 1
    """Number of messages sent at once. The last message has the label; the labels of the others end in ".1", ".2" and
    so on."""
    numbered: bool = False
    """Whether the content is made from a counter of the participant's messages, and not from the label. An environment
    may give such messages of different senders the same content."""
    may_be_refused: bool = False
    """Whether the implementation may refuse to send the message. The schedule then goes on without the message."""
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
    """Whether a content message is sent instead if the implementation has no sync messages."""


@dataclass(frozen=True, slots=True)
class Ephemeral(Operation, op="ephemeral", command="send_ephemeral"):
    """A participant sends an ephemeral message (section "Ephemeral Messages")."""

    who: Name
    channel: Channel = 0
    raw: Hexadecimal = ""
    """Hexadecimal digits of the content. Without them, the content is the text "typing"."""
    route: Route = STRAIGHT
    empty: Annotated[tuple[Annotated[str, Bounds(enum=["content"])], ...], Bounds(maxItems=1)] = ()
    """Fields that are empty: ``content``."""
    may_be_refused: bool = False
    """Whether the implementation may refuse to send the message. The schedule then goes on without the message."""


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
    """Labels of the messages in the repair request of the copy, which may differ from the repair request of the first
    broadcast."""


@dataclass(frozen=True, slots=True)
class Write(Operation, op="write"):
    """A scripted peer, which is not a participant of the schedule, writes a message. The message arrives only when
    another operation sends it.
    """

    names: ClassVar[tuple[str, ...]] = (*Operation.names, "poses_as")
    labels: ClassVar[tuple[str, ...]] = ("label", "after", "asks", "filter", "id_of", "since", "filter_of")
    peer: Name
    label: Label
    lamport_ms: Annotated[int, Bounds(minimum=-(10**13), maximum=1 << 64)] | None = 0
    """The Lamport timestamp, in milliseconds after virtual time; negative for a timestamp before virtual time. In
    revisions whose timestamps count from 0, the number is added to the greatest timestamp that participants have sent,
    plus one. With None, the field is unset."""
    after: References = ()
    """The causal history of the message."""
    content: LongText | None = "usual"
    """With "usual", the content is a text that no other message has. With None, the field is unset, as in a sync
    message."""
    raw: Hexadecimal = ""
    """Hexadecimal digits of the content, in place of ``content``."""
    filter: References | None = None
    """The messages in the bloom filter of the message. With None, the message has no bloom filter."""
    raw_filter: Hexadecimal = ""
    """Hexadecimal digits of the bloom filter, which may be invalid, in place of ``filter``."""
    asks: References = ()
    """The repair request of the message."""
    senders_named: bool = False
    """Whether the causal history of the message names the senders, as with SDS-R."""
    hint: bool = False
    """Whether the causal history of the message has retrieval hints."""
    id_of: OptionalLabel = ""
    """A label: the message has the ID of the message with this label."""
    message_id: MessageId = ""
    """The message ID; "" for an ID that is made from the label."""
    empty: Annotated[tuple[Annotated[str, Bounds(enum=[*EMPTY])], ...], Bounds(maxItems=5)] = ()
    """Fields that are present and empty: ``sender``, ``channel``, ``filter``, ``message_id``; with ``hint`` also
    ``hints``."""
    poses_as: OptionalName = ""
    """The participant whose ID is the sender ID of the message; "" for the ID of the peer."""
    encoding: Annotated[str, Bounds(enum=[*ENCODINGS])] = "usual"
    """The protobuf encoding of the message: ``usual``; ``reversed``, the fields in reverse order; ``unknown``, with
    unknown fields; ``unknown-4`` and ``unknown-8``, with unknown fields of four and eight bytes; ``unknown-inside``,
    with unknown fields in history entries; ``twice``, with two IDs, of which the last one counts; ``overlong`` and
    ``overlong-last``, with varints that are longer than necessary, in their places and at the end of the message."""
    channel: Channel = 0
    number: Annotated[int, Bounds(minimum=0, maximum=1_000_000)] = 0
    """If not 0, the message has the ID and the content of the peer's message with this number, not an ID and a content
    made from the label."""
    since: OptionalLabel = ""
    """The label of a mark or of a message. ``lamport_ms`` is then relative to the virtual time at the mark, in all
    revisions, or to the timestamp of the message."""
    lamport: Annotated[int, Bounds(minimum=0, maximum=(1 << 64) - 1)] | Expression | None = None
    """The Lamport timestamp, in place of ``lamport_ms``: an expression (see ``expressions``) or a number. A number
    above the maximum that the revision can encode is reduced to the maximum."""
    filter_of: OptionalLabel = ""
    """A label: the message has the bloom filter of the message with this label."""
    ones: Expression = ""
    """An expression (see ``expressions``) for a number of bytes: the message has a bloom filter of that size with all
    bits set."""
    twin: Twin = ""
    """With ``id_of``: the change that makes the ID of this message from the ID of the message ``id_of``, for example
    ``upper`` for capital letters; "" for the same ID."""
    length: Bytes = 0
    """If not 0, the content of the message is this number of zero bytes, in place of ``content``."""
    layout: Annotated[str, Bounds(enum=["", *REVISIONS])] = ""
    """The revision in whose wire format the message is written; by default the revision of the schedule."""


@dataclass(frozen=True, slots=True)
class Say(Write, op="say"):
    """A scripted peer sends a message."""

    to: OptionalName = EVERYBODY
    """The only participant that the message reaches; by default, it reaches all participants."""
    route: Route = STRAIGHT


@dataclass(frozen=True, slots=True)
class Receive(Operation, op="receive", command="receive"):
    """Messages arrive at a participant, in this order. A message may arrive several times."""

    labels: ClassVar[tuple[str, ...]] = ("messages",)
    who: Name
    messages: Annotated[tuple[Label, ...], Bounds(minItems=1, maxItems=10_000)]
    """Labels of the messages that arrive."""
    hint: Hexadecimal = ""
    """Hexadecimal digits of a retrieval hint that the transport of the recipient has for the messages."""
    asked: bool = False
    """If true, only those messages arrive that the repair request in the participant's newest broadcast contains."""
    unanswered_since: OptionalLabel = ""
    """The label of a mark. If given, only those messages arrive whose repair request contains a message that the
    participant has not sent since the mark."""
    empty: Annotated[tuple[Annotated[str, Bounds(enum=["hint"])], ...], Bounds(maxItems=1)] = ()
    """With ``hint`` in the list, the retrieval hint is empty. Implementations without the capability for retrieval
    hints receive no hint."""


@dataclass(frozen=True, slots=True)
class Settle(Operation, op="settle", command="tick"):
    """Let time pass and run the periodic work until a sweep delivers no message: some implementations deliver at once,
    others in sweeps. Each sweep takes the configured sweep period, or 60 s."""

    labels: ClassVar[tuple[str, ...]] = ("undelivered",)
    who: Name
    undelivered: OptionalLabel = ""
    """The label of a message. No time passes if the message was delivered before, or if the implementation shows no
    deliveries. Without a label, time passes in any case."""


@dataclass(frozen=True, slots=True)
class Mark(Operation, op="mark"):
    """Remember the virtual time under a label, for timestamps that scripted peers choose later."""

    label: Label


@dataclass(frozen=True, slots=True)
class Garble(Operation, op="garble"):
    """Bytes arrive that are not a valid SDS message."""

    to: Name
    wire: Hexadecimal = ""
    """Hexadecimal digits of the bytes that arrive."""
    label: OptionalLabel = ""
    """The label of a message. A part of the bytes of this message arrives, in place of ``wire``."""
    end: Annotated[int, Bounds(minimum=-1_000_000, maximum=1_000_000)] = 0
    """The number of bytes of the message ``label`` that arrive. If the number is negative, so many bytes at the end of
    the message are cut off."""
    percent: Percent = 100
    """If ``end`` is 0, the percentage of the bytes of the message ``label`` that arrive."""


@dataclass(frozen=True, slots=True)
class Await(Operation, op="await"):
    """Let time pass until a participant is due to request certain messages (T_req), or to respond with them (T_resp).
    The due times are read from the state that the participant showed last. If the participant does not show them, they
    are computed from the declared hash and the time at which the participant last received a message. If the hash is
    unknown as well, the wait is ``otherwise``; without ``otherwise``, the operation is left out.
    """

    labels: ClassVar[tuple[str, ...]] = ("messages",)
    who: Name
    messages: Labels
    """Labels of the messages that the participant is due to request, or to respond with."""
    nth: Annotated[int, Bounds(minimum=1, maximum=1_000)] = 1
    """Which of the due times of ``messages`` to wait for: 1 for the earliest, 2 for the next one, and so on."""
    ms: SignedMs = 0
    """Milliseconds after the due time at which the wait ends; negative for a moment before the due time."""
    most: Expression = ""
    """An expression over the configuration in force (see ``expressions``): the maximum wait in milliseconds. "" for no
    maximum."""
    otherwise: Expression = ""
    """An expression over the configuration in force (see ``expressions``): the wait in milliseconds if a due time is
    unknown."""


@dataclass(frozen=True, slots=True)
class BuildFilter(Operation, op="build_filter", command="build_filter"):
    """Ask the codec of the implementation to build a bloom filter, and then which IDs the filter contains. The second
    request is not sent if ``who`` is given and the suite knows the encoding of the filter.
    """

    members: MessageIds = ()
    """The message IDs that the codec adds to the bloom filter."""
    queried: MessageIds = ()
    """The message IDs that are looked up in the bloom filter."""
    who: OptionalName = ""
    """A participant whose configured capacity determines the number of IDs, see ``times``. The operation is left out if
    the participant is not open."""
    times: Annotated[int, Bounds(minimum=0, maximum=10)] = 0
    """With ``who``, in place of ``members`` and ``queried``: the number of IDs in the filter, as a multiple of the
    capacity of the participant's filter. The IDs that were added last are looked up, as many as a
    tenth of the capacity."""
    strangers: Annotated[int, Bounds(minimum=0, maximum=100_000)] = 0
    """The number of strangers: IDs that were not added to the filter and are looked up as well."""


@dataclass(frozen=True, slots=True)
class Member(operations.Member):
    """A participant of a schedule."""

    sds_r: bool | None = None
    """Whether the participant uses SDS-R; by default as the configuration of the schedule says."""
    channels: Annotated[tuple[Channel, ...], Bounds(maxItems=64)] = ()
    """Indexes of the channels that the participant joins, from 0; an empty list for all channels."""
    configuration: Settings = ()
    """The participant's own settings. They are added to the configuration of the schedule, and replace settings in
    it."""
    participant_id: OptionalName = ""
    """The participant ID, if it differs from the name. Several members may have the same ID; the name of each is then
    the ID and a distinguishing word in brackets."""


@dataclass(frozen=True, slots=True)
class RepairTimes(Operation, op="repair_times", command="repair_times"):
    """Ask the codec of the implementation for T_req, T_resp and the response group of a participant and a message."""

    labels: ClassVar[tuple[str, ...]] = ()
    participant_id: MessageId
    sender_id: MessageId
    message_id: MessageId
    num_response_groups: Annotated[int, Bounds(minimum=0, maximum=1_000_000)] = 1
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

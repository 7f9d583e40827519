"""The operations of schedules of ClearSkies: those of all protocols, and those of peers, links and databases.

A participant is a peer under test. A link is named by its two ends; there may be several links between them.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated, ClassVar

from ..schedules import operations
from ..schedules.operations import EVERYBODY as EVERYBODY
from ..schedules.operations import Calm as Calm
from ..schedules.operations import Look as Look
from ..schedules.operations import Operation as Operation
from ..schedules.operations import Require as Require
from ..schedules.operations import Schedule as Schedule
from ..schedules.operations import StepClock as StepClock
from ..schedules.operations import Tick as Tick
from ..schedules.operations import Wait as Wait
from ..schedules.shapes import (
    Bounds,
    Bytes,
    Hexadecimal,
    Label,
    Name,
    OptionalLabel,
    OptionalName,
    SignedMs,
    Text,
    Uint64,
)

MOST_BYTES = 32 << 20
Place = Annotated[int, Bounds(minimum=-MOST_BYTES, maximum=MOST_BYTES)]
"""Index of a byte in a message."""
Key = Annotated[str, Bounds("key", maxLength=4_096)]
Json = Annotated[str, Bounds("json", maxLength=500_000)]

SIGNATURES = ("usual", "none", "forged", "flipped", "read-only", "read-write", "empty")
"""The kinds of signatures that a scripted peer can make; ``Write.signature`` explains each."""
SIGNATURES_OF_OTHER_TEXTS = ("reordered", "sorted", "spaced", "cited", "repeated")
"""More kinds: signatures that are valid for another text than the body, see ``Write.signature``."""
ODDITIES = (
    "",
    *("nan", "deep", "twice", "surrogate", "fraction", "list", "no-clock", "no-uuid", "no-time", "negative"),
    *("not-deleted", "large", "blanks", "escaped"),
)
"""The ways in which the body of an update can be odd; ``Write.odd`` explains each."""


@dataclass(frozen=True, slots=True)
class Entry:
    """An entry of a vector clock, or of the ``since`` of a request: a peer and a number."""

    peer: Name
    """The name of a participant, of a scripted peer, or of a peer that never appears."""
    number: Uint64 = 0
    label: OptionalLabel = ""
    """The revision of the change with this label, in place of a number; 0 if the change was never sent."""


Entries = Annotated[tuple[Entry, ...], Bounds("entries", maxItems=1_000)]


@dataclass(frozen=True, slots=True)
class MessageCopy:
    """A message in a ``send`` operation of which only some bytes are sent, or which is altered."""

    label: Label
    begin: Place = 0
    """The first byte that is sent; negative numbers count from the end of the message."""
    end: Place | None = None
    """The byte after the last one that is sent; None for the end of the message."""
    altered: bool = False
    """Whether the last digit of the update_time in the message is changed. The signature stays the same, and is then
    wrong."""


@dataclass(frozen=True, slots=True)
class Put(Operation, op="put", command="put"):
    """The application of a participant writes a value (section "Record Changes")."""

    who: Name
    label: Label
    key: Key = "k"
    text: Text = ""
    """The value as JSON, or invalid text; "" stands for a value that no other write has."""
    times: Annotated[int, Bounds(minimum=1, maximum=1_000)] = 1
    """Number of records to write. The keys and labels of all records but the first end in ".2", ".3", ..."""
    value: Json = ""
    """The value as valid JSON, in place of ``text``. An environment may add letters of other scripts to its strings."""
    record: OptionalName = ""
    """A name from which the suite derives the uuid of the record, if the implementation lets the application choose the
    uuid. An update of a scripted peer with the same ``record`` changes this record."""
    length: Bytes = 0
    """In place of ``text``: the value is a string of this number of letters."""


@dataclass(frozen=True, slots=True)
class Rename(Operation, op="rename", command="rename"):
    """The application gives the record with a key another key ("It is legal to change the key on a record")."""

    who: Name
    label: Label
    key: Key = "k"
    new_key: Key = "k2"


@dataclass(frozen=True, slots=True)
class Delete(Operation, op="delete", command="delete"):
    """The application deletes the record with a key (section "Deleted Records")."""

    who: Name
    label: Label
    key: Key = "k"


@dataclass(frozen=True, slots=True)
class LinkPeers(Operation, op="link", command="connect"):
    """Link two participants, unless they are linked."""

    who: Name
    to: Name
    held: bool = False
    """Whether the link is held from the beginning, so that also the first messages of both participants stay in
    transit."""
    second: bool = False
    """Whether to add a link if the participants are linked already."""


@dataclass(frozen=True, slots=True)
class Unlink(Operation, op="unlink"):
    """Break the links between two participants. Bytes under way are lost, possibly half a message."""

    who: Name
    to: Name


@dataclass(frozen=True, slots=True)
class Hold(Operation, op="hold"):
    """Hold everything that is sent between two participants from now on until the operation ``release``."""

    who: OptionalName = EVERYBODY
    to: OptionalName = EVERYBODY


@dataclass(frozen=True, slots=True)
class Release(Operation, op="release"):
    """Deliver all messages in transit between two participants."""

    who: OptionalName = EVERYBODY
    to: OptionalName = EVERYBODY
    size: Annotated[int, Bounds(minimum=0, maximum=MOST_BYTES)] = 0
    """Deliver only this many of the bytes that ``who`` has sent, and keep the link held; 0 delivers all bytes of both
    participants and releases the link."""
    one_way: bool = False
    """Whether only the bytes that ``who`` has in transit now are delivered, and the link stays held."""


@dataclass(frozen=True, slots=True)
class Close(Operation, op="close", command="close"):
    """Close a participant, which ends its links."""

    who: Name


@dataclass(frozen=True, slots=True)
class Reopen(Operation, op="reopen", command="open"):
    """Open a closed participant again, without links, with the content of its store."""

    who: Name
    forget: bool = False
    """Whether the store of the participant is lost."""
    killed: bool = False
    """Whether the process of the participant is killed while the participant is open. The store then has the content of
    that moment."""


@dataclass(frozen=True, slots=True)
class Read(Operation, op="read"):
    """Let a new peer of the club link to participants, request everything from each of them, and close its links."""

    who: OptionalName = EVERYBODY
    read_only: bool = False
    """Whether the new peer is a read-only peer."""


@dataclass(frozen=True, slots=True)
class Settle(Operation, op="settle", command="tick"):
    """Let time pass and run the periodic work of all participants until all are quiet."""


@dataclass(frozen=True, slots=True)
class CompareClocks(Operation, op="compare_clocks", command="compare_clocks"):
    """Ask a participant to compare two vector clocks."""

    labels: ClassVar[tuple[str, ...]] = ("one", "other")
    who: Name
    one: Entries = ()
    other: Entries = ()


@dataclass(frozen=True, slots=True)
class Write(Operation, op="write"):
    """A scripted peer, which is not a participant, writes a database.update with any content. A later operation
    ``send`` sends it."""

    names: ClassVar[tuple[str, ...]] = (*Operation.names, "poses_as")
    labels: ClassVar[tuple[str, ...]] = ("label", "after", "clock")
    peer: Name
    read_only: bool = False
    """Whether the peer is a read-only peer. The first operation of the peer decides this for all its operations."""
    label: Label = "x"
    key: Key = "k"
    content: Text = ""
    """The value of the record, a string; "" stands for a string that no other message has."""
    deleted: bool = False
    after: OptionalLabel = ""
    """The label of the update whose record is changed; "" changes the peer's own record with this key."""
    concurrent: bool = False
    """Whether this update is concurrent to the update ``after``."""
    at_ms: SignedMs = 0
    """The update_time of the record in milliseconds, relative to virtual time."""
    digits: Annotated[int, Bounds(minimum=0, maximum=9)] = 3
    """Digits after the decimal point of the record's update_time."""
    poses_as: OptionalName = ""
    """The participant that the update names as the last writer; "" for the scripted peer itself."""
    revision: Uint64 = 0
    """The revision of the record; 0 means the next revision of the peer."""
    clock_members: Annotated[int, Bounds(minimum=0, maximum=20_000)] = 0
    """The number of unknown peers in the vector clock of the record."""
    clock_number: Uint64 = 0
    """The entry of the scripted peer in the vector clock; 0 means the next number of the peer."""
    signature: Annotated[str, Bounds(enum=[*SIGNATURES, *SIGNATURES_OF_OTHER_TEXTS])] = "usual"
    """How the peer signs: ``usual``, as the specification says; ``none``; ``forged``, with a changed signature;
    ``flipped``, with a changed body; ``read-only``, with the key of read-only peers; ``read-write``, with the key of
    read-write peers even if no signature is required; ``empty``, with an empty signature. Five values give a signature
    that is valid for another text than the sent body. The peer signs the usual body, and sends it with its members in
    reverse order (``reordered``) or with blanks (``spaced``). Or the peer sends the usual body, and signs the body with
    sorted members (``sorted``), an object that has only the ``value`` of the body (``cited``), or the last message that
    any scripted peer signed (``repeated``)."""
    odd: Annotated[str, Bounds(enum=[*ODDITIES])] = ""
    """An oddity of the body; "" for none. The value of the record is NaN (``nan``), 20,000 nested lists (``deep``), a
    lone surrogate (``surrogate``) or 15,000,000 letters (``large``), which is valid. The body has the member ``key``
    two times (``twice``). The revision is a fraction (``fraction``) or negative (``negative``). The body is a list
    (``list``). The vector clock (``no-clock``) or the uuid (``no-uuid``) is absent. The update_time is not a time
    (``no-time``). Three are valid: the member ``deleted`` is false (``not-deleted``), there are blanks of
    all kinds around the members (``blanks``), or every character of every string is escaped
    and numbers have a capital E (``escaped``)."""
    value: Json = ""
    """The value of the record as JSON, in place of ``content``. An environment may add letters of other scripts to its
    strings."""
    record: OptionalName = ""
    """The name of the record, in place of ``after``. Updates with the same name change the same record."""
    clock: Entries | None = None
    """The vector clock of the record; None to compute it from the earlier updates of the peer."""
    time: OptionalName = ""
    """The update_time of the record as it is written in the update, in place of ``at_ms`` and ``digits``."""
    members: Json = ""
    """A JSON object. Its members are added to the update, or replace members with the same names."""
    without: Annotated[tuple[Name, ...], Bounds(maxItems=20)] = ()
    """Names of the members that the update lacks."""
    body: Json = ""
    """A JSON object: the whole message, in place of an update."""
    length: Bytes = 0
    """In place of ``value`` and ``content``: the value of the record is a string of this number of letters."""
    body_bytes: Annotated[int, Bounds(minimum=0, maximum=16 << 20)] = 0
    """In place of ``value`` and ``content``: the value of the record is a string that gives the body this length in
    bytes."""
    levels: Annotated[int, Bounds(minimum=0, maximum=20_000)] = 0
    """In place of ``value`` and ``content``: the value of the record is this number of nested empty lists."""


@dataclass(frozen=True, slots=True)
class Say(Write, op="say"):
    """A scripted peer sends a database.update with any content. The peer links to the participant ``to`` if it is not
    linked yet."""

    to: Name = field(kw_only=True)
    link: OptionalName = ""
    """The name of the link, see ``connect``; "" for the first link to the participant, or a new link if there is
    none."""


@dataclass(frozen=True, slots=True)
class Scripted(Operation):
    """An operation of a scripted peer on a link. The peer links to the participant ``to`` if it is not linked yet."""

    peer: Name
    to: Name
    read_only: bool = False
    """Whether the peer is a read-only peer. The first operation of the peer decides this for all its operations."""
    link: OptionalName = field(default="", kw_only=True)
    """The name of the link, see ``connect``; "" for the first link to the participant, or a new link if there is
    none."""


@dataclass(frozen=True, slots=True)
class Connect(Scripted, op="connect", command="connect"):
    """A scripted peer links to a participant, even if they are linked. ``link`` is the name of the new link."""


@dataclass(frozen=True, slots=True)
class Send(Scripted, op="send"):
    """A scripted peer sends messages that were written or sent before, by itself or by another peer. Messages of
    participants keep their signatures; messages of scripted peers are signed as their ``signature`` says."""

    labels: ClassVar[tuple[str, ...]] = ("messages",)
    messages: Annotated[tuple[Label | MessageCopy, ...], Bounds(maxItems=1_000)] = field(kw_only=True)
    """The messages. Each is a label, or an object with ``label``, ``begin``, ``end`` and ``altered`` for a part of the
    message or for an altered message. Messages that were never sent or written are left out."""
    joined: bool = field(default=False, kw_only=True)
    """Whether the messages arrive together, in one piece."""


@dataclass(frozen=True, slots=True)
class Again(Scripted, op="again"):
    """A scripted peer sends a message again, with its original signature, if it had one."""

    label: Label = "m1"
    flipped: bool = False
    """Whether one bit of the body is flipped."""


@dataclass(frozen=True, slots=True)
class Ask(Scripted, op="ask"):
    """A scripted peer sends a database.get_updates."""

    labels: ClassVar[tuple[str, ...]] = ("label", "since")
    known: Uint64 = 0
    """The revision up to which the peer claims to know the changes of each participant; 0 to name no participant."""
    since: Entries = ()
    """For each peer in the list, the revision up to which the scripted peer claims to know the changes of that peer."""
    members: Json = ""
    """A JSON object. Its members are added to the request, or replace members with the same names."""


@dataclass(frozen=True, slots=True)
class Garble(Scripted, op="garble"):
    """A scripted peer writes bytes that are not a message, or a malformed message."""

    wire: Hexadecimal = "00"
    """Hexadecimal digits of the bytes that the peer writes."""


@dataclass(frozen=True, slots=True)
class Leave(Scripted, op="leave"):
    """A scripted peer closes all of its links to the participant, or only ``link``."""


@dataclass(frozen=True, slots=True)
class Member(operations.Member):
    """A participant of a schedule."""

    read_only: bool = False
    store: bool = False
    """Whether the participant has a store, if the implementation supports that. The store keeps the records while the
    participant is closed."""


OPERATIONS: dict[str, type[Operation]] = {
    kind.op: kind
    for kind in (
        *(Put, Rename, Delete, LinkPeers, Unlink, Hold, Release, Close, Reopen, Read, Say, Again, Ask, Garble, Leave),
        *(Write, Connect, Send, Tick, Wait, Settle, Look, CompareClocks, StepClock, Require, Calm),
    )
}
"""The operations by their names in a schedule file."""

"""Messages and the bytes that say them: fields ascending, varints as short as they can be."""

from __future__ import annotations

from dataclasses import replace

from sds_reference import HistoryEntry, Message
from sds_reference.revision import Revision

from ....vectors.model import REJECTED, Note, Outcome, Vector, legal, vector
from .fields import message_json
from .register import PROPOSAL as FORUM
from .register import group
from .wire_bytes import LARGEST_INT32, PROPOSAL, SDS, Layout, named, ordinary
from .wire_long import LONG_NOTES, long_fields

NOTES = {
    "FieldOrder": Note(
        "The bytes given have the fields in ascending order. Any other order of the same fields is as good.",
        ("SDS-MSG-01", "SDS-MSG-24"),
    ),
    "Presence": Note(
        "A field that is set to nothing is on the wire, one that is unset is not.", ("SDS-MSG-05", "AMB-33")
    ),
    "Kinds": Note("What each kind of message has and what it leaves out.", ("SDS-MSG-17", "SDS-EPHEMERAL-02")),
    "RepairFields": Note("Fields of SDS-R.", ("SDS-MSG-08", "SDS-MSG-12")),
    "EmptyContent": Note("Content of no length may be written or left out: both mean the same.", ("AMB-34",)),
    "LargeLamport": Note(
        "Every timestamp up to 2^53+10 must work. Beyond, refusing is legal; another value is not.", ("AMB-14",)
    ),
    **LONG_NOTES,
}


NOTES_OF_THE_PROPOSAL = {
    "FieldOrder": Note(
        "The bytes given have the fields in ascending order. Any other order of the same fields is as good.",
        ("FORUM-01",),
    ),
    "Presence": Note(
        "Timestamp and filter are on the wire when they are set, to whatever, and only then.", ("FORUM-04", "FORUM-07")
    ),
    "NoPresence": Note(
        "Content of no length is usually left out; written, it says the same.", ("FORUM-08", "FORUM-34")
    ),
    "Kinds": Note("What each kind of message has and what it leaves out.", ("FORUM-17", "FORUM-34", "FORUM-38")),
}
FULL = ("content", "Content with all that a regular message has.", "FieldOrder Kinds")
FIRST = (
    "first-message",
    "The first message of a channel has no causal history, and a filter of no length.",
    "Presence Kinds",
)
EPHEMERAL = ("ephemeral", "An ephemeral message has content and none of the three.", "Kinds Presence")
"""What both texts have: ID, comment and flags."""
ALL_FIELDS = ordinary(causal_history=named("c"), bloom_filter=b"\x01\x02")
IN_ORDER = ordinary(causal_history=named("c", "a", "b"))
SYNC = ordinary(causal_history=named("c", "a", "b"), bloom_filter=b"\x03", content=None)
TITLE = "Messages, and the bytes that say them."
Row = tuple[str, str, str, str, Message]
"""ID, comment, flags, requirements and message."""


def _encoded(layout: Layout, slug: str, comment: str, flags: str, shorts: str, said: Message, *more: Outcome) -> Vector:
    """A message that an implementation could send: content and sync messages always have a filter (SDS-MSG-07)."""
    if said.bloom_filter is None and said.lamport_timestamp is not None:
        said = replace(said, bloom_filter=b"\x01")
    outcomes = [{"wire": layout.wire(said).hex()}, *more]
    if not said.content:
        empty = {"wire": layout.wire(said, content=layout.part("content", b"")).hex()}
        outcomes.append(legal(empty, "AMB-34") if layout is SDS else empty)
    return vector(slug, comment, flags, layout.ids(shorts), {"message": message_json(said)}, *outcomes)


@group("wire-encoding", "encode", TITLE, NOTES)
def wire_encoding(revision: Revision) -> list[Vector]:
    """Every field, presence, order of entries, and the kinds of messages."""
    asked = (HistoryEntry("x", None, "dave"), HistoryEntry("y", b"\x07", "erin"))
    rich = (HistoryEntry("a1", b"\x00\xff", "alice"), HistoryEntry("a2", None, "alice"), HistoryEntry("a3", b"h"))
    scripts = Message("zo\u00eb", "m-\U0001f600", "\u4e2d", 1, content=b"\x00")
    silent, apart = ordinary(repair_request=asked, bloom_filter=b"\x01", content=None), ordinary(causal_history=rich)
    ids = "MSG-10 MSG-11 MSG-12 MSG-23"
    rows: tuple[Row, ...] = (
        (*FULL, "MSG-01 MSG-02 MSG-03 MSG-04 MSG-07 MSG-17", ALL_FIELDS),
        (*FIRST, "MSG-07 MSG-17", ordinary(bloom_filter=b"")),
        ("sync", "A sync message has no content.", "Kinds EmptyContent", "MSG-19 SYNC-02", SYNC),
        (*EPHEMERAL, "MSG-01 MSG-09 MSG-18 EPHEMERAL-02", ordinary(lamport_timestamp=None)),
        ("lamport-zero", "A timestamp of zero is on the wire.", "Presence", "MSG-05", ordinary(lamport_timestamp=0)),
        ("entries-in-order", "Entries keep their order.", "FieldOrder", "MSG-06", IN_ORDER),
        ("entries-with-hints-and-authors", "Entries with hint, author, both.", "RepairFields", ids, apart),
        ("request", "A repair request of two.", "RepairFields", "MSG-08", ordinary(repair_request=asked)),
        ("request-in-a-sync", "A sync message that asks.", "RepairFields Kinds EmptyContent", "MSG-08", silent),
        ("beyond-ascii", "Identifiers of many scripts are UTF-8.", "FieldOrder", "MSG-02 MSG-03 MSG-04", scripts),
        ("content-of-200-bytes", "A length of two bytes.", "FieldOrder", "MSG-09", ordinary(content=bytes(range(200)))),
    )
    out = [_encoded(SDS, *row) for row in rows]
    powers = {f"2-{power}": 2**power for power in (7, 14, 21, 28, 32, 41, 53)}
    for slug, value in {**powers, "2-53-and-1": 2**53 + 1, "2-53-and-10": 2**53 + 10}.items():
        said = ordinary(lamport_timestamp=value)
        out.append(_encoded(SDS, f"lamport-{slug}", f"The timestamp {value}.", "FieldOrder", "MSG-05", said))
    for slug, value in (("below-2-63", 2**63 - 1), ("2-63", 2**63), ("largest", 2**64 - 1)):
        comment = f"The timestamp {value}: exactly this one, or none."
        said, refused = ordinary(lamport_timestamp=value), legal(REJECTED, "AMB-14")
        out.append(_encoded(SDS, f"lamport-{slug}", comment, "LargeLamport", "MSG-05", said, refused))
    long = [_encoded(SDS, slug, comment, "Long", shorts, said) for slug, comment, shorts, said in long_fields()]
    return [*out, *long]


@group("wire-encoding", "encode", TITLE, NOTES_OF_THE_PROPOSAL, FORUM)
def forum_encoding(revision: Revision) -> list[Vector]:
    """Every field, presence, the order of the history, and the kinds of messages."""
    scripts = Message("zo\u00eb", "m-\U0001f600", "\u4e2d", 1, content="\u00e9\u4e2d\U0001f98a".encode())
    at_first = "A sync message before anything else: its timestamp of zero is set."
    zero = ordinary(lamport_timestamp=0, bloom_filter=b"", content=None)
    rows: list[Row] = [
        (*FULL, "01 02 03 05 06 07 17", ALL_FIELDS),
        (*FIRST, "04 07", ordinary(lamport_timestamp=1, bloom_filter=b"")),
        (*EPHEMERAL, "38", ordinary(lamport_timestamp=None)),
        ("lamport-zero", "A timestamp of zero is on the wire.", "Presence", "04", ordinary(lamport_timestamp=0)),
        ("history-in-order", "The IDs of the history keep their order.", "FieldOrder", "05", IN_ORDER),
        ("beyond-ascii", "Identifiers and content of many scripts are UTF-8.", "FieldOrder", "02 03 06 08", scripts),
        ("content-of-200-bytes", "A length of two bytes.", "FieldOrder", "08", ordinary(content=b"0123456789" * 20)),
        ("sync", "A sync message has empty content.", "Kinds NoPresence", "34 04", SYNC),
        ("sync-at-first", at_first, "Kinds NoPresence", "34 04", zero),
    ]
    for name, value in {**{f"2-{power}": 2**power for power in (7, 14, 21, 28)}, "largest": LARGEST_INT32}.items():
        said = ordinary(lamport_timestamp=value)
        rows.append((f"lamport-{name}", f"The timestamp {value}.", "FieldOrder", "04", said))
    return [_encoded(PROPOSAL, *row) for row in rows]

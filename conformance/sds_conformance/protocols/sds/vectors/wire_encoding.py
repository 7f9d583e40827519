"""Messages and the bytes that say them: fields ascending, varints as short as they can be."""

from __future__ import annotations

from sds_reference import HistoryEntry, Message
from sds_reference.revision import Revision

from ....vectors.model import REJECTED, Note, Outcome, Vector, legal, vector
from .fields import message_json
from .register import group
from .texts import of_sds
from .wire_bytes import (
    CHANNEL_ID,
    CONTENT,
    FILTER,
    HISTORY,
    LAMPORT,
    MESSAGE_ID,
    REQUEST,
    SENDER_ID,
    WHAT,
    WHEN,
    WHO,
    entry,
    length,
    number,
    ordinary,
)
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


@group("wire-encoding", "encode", "Messages, and the bytes that say them.", NOTES)
def wire_encoding(revision: Revision) -> list[Vector]:
    """Every field, presence, order of entries, and the kinds of messages."""
    history = tuple(HistoryEntry(message_id) for message_id in ("c", "a", "b"))
    asked = (HistoryEntry("x", None, "dave"), HistoryEntry("y", b"\x07", "erin"))
    rich = (HistoryEntry("a1", b"\x00\xff", "alice"), HistoryEntry("a2", None, "alice"), HistoryEntry("a3", b"h"))
    other = Message("zo\u00eb", "m-\U0001f600", "\u4e2d", 1, content=b"\x00")
    entries = [length(HISTORY, entry(e.message_id, e.retrieval_hint, e.sender_id)) for e in rich]
    asks = [length(REQUEST, entry(e.message_id, e.retrieval_hint, e.sender_id)) for e in asked]
    rows = (
        (
            "content",
            "Content with all that a regular message has.",
            "FieldOrder Kinds",
            "MSG-01 MSG-02 MSG-03 MSG-04 MSG-07 MSG-17",
            ordinary(causal_history=history[:1], bloom_filter=b"\x01\x02"),
            WHO + WHEN + length(HISTORY, entry("c")) + length(FILTER, b"\x01\x02") + WHAT,
        ),
        (
            "first-message",
            "The first message of a channel has no causal history, and a filter of no length.",
            "Presence Kinds",
            "MSG-07 MSG-17",
            ordinary(bloom_filter=b""),
            WHO + WHEN + length(FILTER, b"") + WHAT,
        ),
        (
            "sync",
            "A sync message has no content.",
            "Kinds EmptyContent",
            "MSG-19 SYNC-02",
            ordinary(causal_history=history, bloom_filter=b"\x03", content=None),
            WHO + WHEN + b"".join(length(HISTORY, entry(e.message_id)) for e in history) + length(FILTER, b"\x03"),
        ),
        (
            "ephemeral",
            "An ephemeral message has content and none of the three.",
            "Kinds Presence",
            "MSG-01 MSG-09 MSG-18 EPHEMERAL-02",
            ordinary(lamport_timestamp=None),
            WHO + WHAT,
        ),
        (
            "lamport-zero",
            "A timestamp of zero is on the wire.",
            "Presence",
            "MSG-05",
            ordinary(lamport_timestamp=0),
            WHO + number(LAMPORT, 0) + WHAT,
        ),
        (
            "entries-in-order",
            "Entries keep their order.",
            "FieldOrder",
            "MSG-06",
            ordinary(causal_history=history),
            WHO + WHEN + b"".join(length(HISTORY, entry(e.message_id)) for e in history) + WHAT,
        ),
        (
            "entries-with-hints-and-authors",
            "Entries with hint, author, both.",
            "RepairFields",
            "MSG-10 MSG-11 MSG-12 MSG-23",
            ordinary(causal_history=rich),
            WHO + WHEN + b"".join(entries) + WHAT,
        ),
        (
            "request",
            "A repair request of two.",
            "RepairFields",
            "MSG-08",
            ordinary(repair_request=asked),
            WHO + WHEN + b"".join(asks) + WHAT,
        ),
        (
            "request-in-a-sync",
            "A sync message that asks.",
            "RepairFields Kinds EmptyContent",
            "MSG-08",
            ordinary(repair_request=asked, bloom_filter=b"\x01", content=None),
            WHO + WHEN + length(FILTER, b"\x01") + b"".join(asks),
        ),
        (
            "beyond-ascii",
            "Identifiers of many scripts are UTF-8.",
            "FieldOrder",
            "MSG-02 MSG-03 MSG-04",
            other,
            length(SENDER_ID, "zo\u00eb")
            + length(MESSAGE_ID, "m-\U0001f600")
            + length(CHANNEL_ID, "\u4e2d")
            + number(LAMPORT, 1)
            + length(CONTENT, b"\x00"),
        ),
        (
            "content-of-200-bytes",
            "A length of two bytes.",
            "FieldOrder",
            "MSG-09",
            ordinary(content=bytes(range(200))),
            WHO + WHEN + length(CONTENT, bytes(range(200))),
        ),
    )
    out = [_case(*row) for row in rows]
    powers = [(f"2-{power}", 2**power) for power in (7, 14, 21, 28, 32, 41, 53)]
    for slug, value in (*powers, ("2-53-and-1", 2**53 + 1), ("2-53-and-10", 2**53 + 10)):
        message, wire = _timed(value)
        out.append(_case(f"lamport-{slug}", f"The timestamp {value}.", "FieldOrder", "MSG-05", message, wire))
    refused = legal(REJECTED, "AMB-14")
    for slug, value in (("below-2-63", 2**63 - 1), ("2-63", 2**63), ("largest", 2**64 - 1)):
        message, wire = _timed(value)
        comment = f"The timestamp {value}: exactly this one, or none."
        out.append(_case(f"lamport-{slug}", comment, "LargeLamport", "MSG-05", message, wire, refused))
    for slug, comment, requirements, message, wire in long_fields():
        out.append(_case(slug, comment, "Long", requirements, message, wire))
    return out


def _timed(lamport: int) -> tuple[Message, bytes]:
    return ordinary(lamport_timestamp=lamport), WHO + number(LAMPORT, lamport) + WHAT


def _case(
    slug: str, comment: str, flags: str, requirements: str, message: Message, wire: bytes, *more: Outcome
) -> Vector:
    ids = of_sds(requirements)
    fields = {"message": message_json(message)}
    if not message.content:
        empty = (wire + length(CONTENT, b"")).hex()
        more = (*more, legal({"wire": empty}, "AMB-34"))
    return vector(slug, comment, flags.split(), ids, fields, {"wire": wire.hex()}, *more)

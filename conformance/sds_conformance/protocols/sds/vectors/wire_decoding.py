"""Bytes that are a message, or are not, and what they say (sections "Message", "SDS-R message fields").

The well-formed half; ``wire_malformed`` has the other. All bytes are put together by hand: what they mean is stated by
the text and by the rules of proto3, not by a decoder.
"""

from __future__ import annotations

from sds_reference import HistoryEntry, Message
from sds_reference.revision import Revision

from ....vectors.model import REJECTED, Note, Outcome, Vector, legal
from .register import group
from .wire_bytes import (
    CHANNEL_ID,
    CONTENT,
    ENTRY_HINT,
    ENTRY_ID,
    FILTER,
    HISTORY,
    LAMPORT,
    MESSAGE_ID,
    ORDINARY,
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
from .wire_cases import case, read_as
from .wire_forms import forms
from .wire_long import LONG_NOTES, long_fields
from .wire_malformed import MALFORMED_NOTES, malformed

NOTES = {
    "Field": Note("One field with a value that is often got wrong.", ("SDS-MSG-01",)),
    "Presence": Note("A field that is present with nothing in it is not one that is absent.", ("SDS-MSG-05", "AMB-33")),
    "EmptyContent": Note(
        "Content of no length may be told from absent content or not: they mean the same.", ("AMB-34",)
    ),
    "EmptyOptional": Note(
        "A hint or author of no length says as much as none: an implementation may keep the difference or not.",
        ("SDS-MSG-11", "SDS-MSG-23"),
    ),
    "EmptyId": Note(
        "An identifier is empty. Such a message has no use, and may be refused or read as it is.",
        ("AMB-49", "AMB-51", "AMB-46"),
    ),
    "LargeLamport": Note(
        "Every timestamp up to 2^53+10 must work. Beyond, refusing is legal; another value is not.", ("AMB-14",)
    ),
    "FieldOrder": Note("The fields stand in another order than that of their numbers.", ("SDS-MSG-24",)),
    "UnknownField": Note("A field that the text does not have is skipped.", ("SDS-MSG-24", "AMB-116")),
    "LongVarint": Note("A varint has more bytes than it needs, up to the ten that one can have.", ("SDS-MSG-24",)),
    "LongTag": Note(
        "A tag that is longer than it need be is the same tag. Some libraries skip the field: a warning.",
        ("SDS-MSG-24", "AMB-52"),
    ),
    "NoSender": Note("An older revision had no sender: the message is one of somebody else.", ("AMB-50",)),
    "ManyEntries": Note("A long list of entries is read whole, or the message refused.", ("AMB-47",)),
    "LastWins": Note("A field that is not repeated stands there twice: the last one counts.", ("SDS-MSG-24",)),
    "RepairFields": Note(
        "Fields of SDS-R. A participant without the extension reads the message as well.", ("SDS-R-FIELDS-04",)
    ),
    "OldEntry": Note(
        "A causal history of plain strings, as an older revision had it; it may be refused or ignored.",
        ("SDS-MSG-06", "AMB-116"),
    ),
    **LONG_NOTES,
    **MALFORMED_NOTES,
}


@group("wire-decoding", "decode", "Wire bytes, and the message that they are or are not.", NOTES)
def wire_decoding(revision: Revision) -> list[Vector]:
    """Every field, presence, order, unknown fields, long varints, repeated scalars; then what is malformed."""
    return [*_scalars(), *_timestamps(), *_contents(), *_entries(), *_long(), *forms(), *malformed()]


def _scalars() -> list[Vector]:
    out = [
        case(
            "ordinary-content",
            "Content with a timestamp and nothing else.",
            "Field",
            "MSG-01 MSG-02 MSG-03 MSG-04 MSG-05 MSG-09",
            WHO + WHEN + WHAT,
            read_as(ORDINARY),
        ),
        case(
            "all-fields",
            "Every field at once.",
            "Field RepairFields",
            "MSG-01 MSG-06 MSG-07 MSG-08 MSG-12",
            WHO
            + WHEN
            + length(HISTORY, entry("a1", b"\x01\x02", "alice"))
            + length(FILTER, b"\xf0\x0f")
            + length(REQUEST, entry("d1", None, "dave"))
            + WHAT,
            read_as(
                ordinary(
                    causal_history=(HistoryEntry("a1", b"\x01\x02", "alice"),),
                    bloom_filter=b"\xf0\x0f",
                    repair_request=(HistoryEntry("d1", None, "dave"),),
                )
            ),
        ),
    ]
    ids = {
        "non-ascii": ("Identifiers beyond ASCII.", "zo\u00eb", "\u4e2d\u6587", "\u0444-1"),
        "supplementary": (
            "Identifiers beyond the Basic Multilingual Plane.",
            "\U0001f98a",
            "m-\U0001f600",
            "\U00010400",
        ),
        "normal-forms": ("A composed and a decomposed letter stay what they are.", "\u00e9", "e\u0301", "c"),
        "control-characters": ("NUL and line feed in identifiers.", "a\x00b", "m\n1", "c\t"),
        "channel-zero": ('The channel "0" is the digit.', "bob", "b1", "0"),
        "long-message-id": ("A message ID of 1,024 characters.", "bob", "m" * 1024, "c1"),
    }
    for slug, (comment, sender, message, channel) in ids.items():
        wire = length(SENDER_ID, sender) + length(MESSAGE_ID, message) + length(CHANNEL_ID, channel) + WHEN + WHAT
        meaning = Message(sender, message, channel, 1000, content=b"hi")
        out.append(case(slug, comment, "Field", "MSG-02 MSG-03 MSG-04", wire, read_as(meaning)))
    empty = {
        "no-sender": ("sender_id", SENDER_ID, "MSG-02", ""),
        "no-message-id": ("message_id", MESSAGE_ID, "MSG-03", "AMB-51"),
        "no-channel": ("channel_id", CHANNEL_ID, "MSG-04", "AMB-49"),
    }
    present = {SENDER_ID: "bob", MESSAGE_ID: "b1", CHANNEL_ID: "c1"}
    for slug, (name, field, requirement, position) in empty.items():
        meaning = ordinary(**{name: ""})
        for how, value in (("absent", None), ("empty", "")):
            wire = b"".join(
                length(f, text if f != field else "") for f, text in present.items() if f != field or value is not None
            )
            out.append(
                case(
                    f"{slug}-{how}",
                    f"The field {name} is {how}.",
                    "EmptyId" if position else "NoSender",
                    requirement,
                    wire + WHEN + WHAT,
                    read_as(meaning),
                    position=position,
                )
            )
    return out


def _timestamps() -> list[Vector]:
    out = [
        case(
            "lamport-absent",
            "No timestamp: an ephemeral message.",
            "Presence",
            "MSG-05 MSG-18",
            WHO + WHAT,
            read_as(ordinary(lamport_timestamp=None)),
        ),
        case(
            "lamport-zero",
            "A timestamp that is present and zero.",
            "Presence",
            "MSG-05",
            WHO + number(LAMPORT, 0) + WHAT,
            read_as(ordinary(lamport_timestamp=0)),
        ),
    ]
    powers = (("7", 7), ("14", 14), ("31", 31), ("32", 32), ("35", 35), ("53", 53))
    values = [
        (f"{sign}{name}", 2**power + less) for name, power in powers for sign, less in (("below-2-", -1), ("2-", 0))
    ]
    for slug, value in [*values, ("2-53-and-1", 2**53 + 1), ("2-53-and-10", 2**53 + 10)]:
        meaning = ordinary(lamport_timestamp=value)
        comment = f"The timestamp {value}."
        out.append(
            case(f"lamport-{slug}", comment, "Field", "MSG-05", WHO + number(LAMPORT, value) + WHAT, read_as(meaning))
        )
    for slug, value in (
        ("2-53-and-11", 2**53 + 11),
        ("below-2-63", 2**63 - 1),
        ("2-63", 2**63),
        ("largest", 2**64 - 1),
    ):
        meaning = ordinary(lamport_timestamp=value)
        out.append(
            case(
                f"lamport-{slug}",
                f"The timestamp {value}: exactly this one, or none.",
                "LargeLamport",
                "MSG-05",
                WHO + number(LAMPORT, value) + WHAT,
                read_as(meaning),
                position="AMB-14",
            )
        )
    return out


def _contents() -> list[Vector]:
    out = [
        case(
            "content-absent",
            "No content: a sync message.",
            "Presence",
            "MSG-01 MSG-19",
            WHO + WHEN + length(FILTER, b"\x01"),
            read_as(ordinary(content=None, bloom_filter=b"\x01")),
        ),
        case(
            "content-empty",
            "Content of no length: a sync message, too.",
            "EmptyContent",
            "MSG-01 MSG-19",
            WHO + WHEN + length(CONTENT, b""),
            read_as(ordinary(content=b"")),
            legal(read_as(ordinary(content=None)), "AMB-34"),
        ),
        case(
            "neither-timestamp-nor-content",
            "Nothing but identifiers.",
            "Presence",
            "MSG-01",
            WHO,
            read_as(ordinary(lamport_timestamp=None, content=None)),
            position="AMB-35",
        ),
        case(
            "filter-empty",
            "A filter of no length is present: the sender has received nothing.",
            "Presence",
            "MSG-07",
            WHO + WHEN + length(FILTER, b"") + WHAT,
            read_as(ordinary(bloom_filter=b"")),
        ),
    ]
    contents = {
        "content-zero-byte": ("A single zero byte is content.", b"\x00"),
        "content-no-text": ("Content that is no UTF-8.", b"\xff\xfe\x00\x80"),
        "content-of-300-bytes": ("Content whose length takes two bytes.", bytes(range(256)) + bytes(44)),
        "content-like-a-message": ("Content that could itself be read as a message.", WHO + WHEN + WHAT),
    }
    for slug, (comment, content) in contents.items():
        wire = WHO + WHEN + length(CONTENT, content)
        out.append(case(slug, comment, "Field", "MSG-09 MSG-20", wire, read_as(ordinary(content=content))))
    return out


def _entries() -> list[Vector]:
    def having(*entries: HistoryEntry) -> Outcome:
        return read_as(ordinary(causal_history=entries))

    def history(*inside: bytes) -> bytes:
        return WHO + WHEN + b"".join(length(HISTORY, part) for part in inside) + WHAT

    many = [f"m{index}" for index in range(200)]
    return [
        case(
            "entry-with-id-alone",
            "An entry with nothing but a message ID.",
            "Field",
            "MSG-06 MSG-23",
            history(entry("a1")),
            having(HistoryEntry("a1")),
        ),
        case(
            "entry-with-hint",
            "A retrieval hint of any bytes.",
            "Field",
            "MSG-11 MSG-23",
            history(entry("a1", b"\x00\xff\x80")),
            having(HistoryEntry("a1", b"\x00\xff\x80")),
        ),
        case(
            "entry-with-author",
            "The author of the message that is named.",
            "RepairFields",
            "MSG-12",
            history(entry("a1", None, "alice")),
            having(HistoryEntry("a1", None, "alice")),
        ),
        case(
            "entries-in-their-order",
            "Three entries keep their order, which is not that of their IDs.",
            "Field",
            "MSG-06",
            history(entry("c"), entry("a"), entry("b")),
            having(HistoryEntry("c"), HistoryEntry("a"), HistoryEntry("b")),
        ),
        case(
            "entries-do-not-merge",
            "Two entries, one with an ID and one with a hint, are two: repeated fields do not merge.",
            "EmptyId",
            "MSG-06",
            history(length(ENTRY_ID, "a"), length(ENTRY_HINT, b"\x01")),
            having(HistoryEntry("a"), HistoryEntry("", b"\x01")),
            position="AMB-46",
        ),
        case(
            "entry-named-twice",
            "The same ID twice: both entries are there to be read.",
            "Field",
            "MSG-06",
            history(entry("a"), entry("a")),
            having(HistoryEntry("a"), HistoryEntry("a")),
        ),
        case(
            "entry-without-id",
            "An entry of no length.",
            "EmptyId",
            "MSG-06",
            history(b""),
            having(HistoryEntry("")),
            position="AMB-46",
        ),
        case(
            "entries-two-hundred",
            "A causal history of 200 entries.",
            "ManyEntries",
            "MSG-06",
            history(*map(entry, many)),
            having(*map(HistoryEntry, many)),
            position="AMB-47",
        ),
        case(
            "hint-empty",
            "A hint of no length.",
            "EmptyOptional",
            "MSG-11",
            history(entry("a", b"")),
            having(HistoryEntry("a", b"")),
            having(HistoryEntry("a")),
        ),
        case(
            "author-empty",
            "An author of no length.",
            "EmptyOptional RepairFields",
            "MSG-12",
            history(entry("a", None, "")),
            having(HistoryEntry("a", None, "")),
            having(HistoryEntry("a")),
        ),
        case(
            "request-of-two",
            "A repair request of two entries, one of which names no author.",
            "RepairFields",
            "MSG-08 R-FIELDS-04",
            WHO + WHEN + length(REQUEST, entry("x", b"\x07", "dave")) + length(REQUEST, entry("y")) + WHAT,
            read_as(ordinary(repair_request=(HistoryEntry("x", b"\x07", "dave"), HistoryEntry("y")))),
        ),
        case(
            "old-entries-of-text",
            "Plain strings in place of entries.",
            "OldEntry",
            "MSG-06",
            history(b"hello-1", b"hello-2"),
            REJECTED,
            legal(read_as(ORDINARY), "AMB-116"),
        ),
    ]


def _long() -> list[Vector]:
    return [
        case(slug, comment, "Long", requirements, wire, read_as(message))
        for slug, comment, requirements, message, wire in long_fields()
    ]

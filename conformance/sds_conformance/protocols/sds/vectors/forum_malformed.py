"""Bytes that are no message of the proposal: what must be refused, and what may be because readers of proto3 differ."""

from __future__ import annotations

from ....vectors.model import REJECTED, Note, Outcome, Vector, legal, vector, warned
from .forum_bytes import (
    CHANNEL_ID,
    CONTENT,
    FILTER,
    HISTORY,
    LAMPORT,
    MESSAGE_ID,
    ORDINARY,
    SENDER_ID,
    WHAT,
    WHEN,
    WHERE,
    WHO,
    ordinary,
)
from .wire_bytes import END_GROUP, START_GROUP, fixed32, fixed64, key, length, number
from .wire_cases import read_as, read_but_for
from .wire_malformed import MALFORMED_NOTES as OF_SDS

MALFORMED_NOTES = {
    flag: Note(note.description, ("FORUM-01", *(i for i in note.ids if i.startswith("AMB"))))
    for flag, note in OF_SDS.items()
}
"""The kinds are those of SDS: what can be wrong with protobuf does not depend on the fields."""

NAMES = {
    SENDER_ID: "sender_id",
    MESSAGE_ID: "message_id",
    CHANNEL_ID: "channel_id",
    CONTENT: "content",
    HISTORY: "causal_history",
}
AFTER_THE_SENDER = ("channel_id", "lamport_timestamp", "causal_history", "bloom_filter", "content")
BODY = WHO + WHEN + WHERE + WHAT
START = WHO + WHEN + WHERE


def malformed() -> list[Vector]:
    """All kinds of malformed input."""
    return [*_truncated(), *_impossible(), *_groups(), *_wire_types(), *_either(), *_texts()]


def _case(slug: str, comment: str, flag: str, wire: bytes, *outcomes: Outcome) -> Vector:
    return vector(slug, comment, [flag], ["FORUM-01"], {"wire": wire.hex()}, *outcomes)


def _truncated() -> list[Vector]:
    rows = {
        "in-a-tag": ("It ends within a tag of two bytes.", BODY + b"\xa2"),
        "after-a-tag": ("It ends after the tag of the timestamp.", WHO + key(LAMPORT, 0)),
        "in-a-varint": ("It ends within the timestamp.", WHO + key(LAMPORT, 0) + b"\xe8"),
        "in-a-negative": ("It ends within a timestamp below zero.", WHO + key(LAMPORT, 0) + b"\xff" * 9),
        "before-a-length": ("It ends where the length of the content should stand.", START + key(CONTENT, 2)),
        "in-a-length": ("It ends within a length of two bytes.", START + key(CONTENT, 2) + b"\x81"),
        "in-content": ("It ends within the content.", BODY[:-1]),
        "in-a-string": ("It ends within the sender.", length(SENDER_ID, "bob")[:-1]),
        "in-an-id-of-the-history": ("The last ID of the history is cut off.", START + length(HISTORY, "a1")[:-1]),
        "in-the-filter": ("It ends within the filter.", START + length(FILTER, b"\x01\x02")[:-1]),
        "in-a-fixed64": ("It ends within an unknown 64-bit field.", BODY + fixed64(15, 7)[:-1]),
        "in-a-fixed32": ("It ends within an unknown 32-bit field.", BODY + fixed32(16, 7)[:-1]),
        "by-one-byte": ("A length is one more than there are bytes.", START + key(CONTENT, 2) + b"\x03hi"),
        "by-two-gigabytes": ("A length of 2^31-1.", START + key(CONTENT, 2) + b"\xff\xff\xff\xff\x07hi"),
        "by-a-negative-length": ("A length of 2^64-1, signed -1.", START + key(CONTENT, 2) + b"\xff" * 9 + b"\x01hi"),
    }
    return [_case(f"truncated-{slug}", comment, "Truncated", wire, REJECTED) for slug, (comment, wire) in rows.items()]


def _impossible() -> list[Vector]:
    eleven = b"\x80" * 10 + b"\x01"
    rows = (
        ("overlong-lamport", "A timestamp of eleven bytes.", "OverlongVarint", WHO + key(LAMPORT, 0) + eleven + WHAT),
        (
            "overlong-length",
            "A length of eleven bytes.",
            "OverlongVarint",
            START + key(CONTENT, 2) + b"\x82" + b"\x80" * 9 + b"\x00hi",
        ),
        (
            "overlong-never-ending",
            "A varint without an end.",
            "OverlongVarint",
            WHO + key(LAMPORT, 0) + b"\xff" * 32,
        ),
        ("wire-type-6", "A field of wire type 6.", "NoWireType", BODY + key(8, 6) + b"\x01"),
        ("wire-type-7", "A field of wire type 7.", "NoWireType", BODY + key(8, 7) + b"\x01"),
        ("some-text", "A sentence.", "NoMessage", b"this is no message"),
        ("all-ones", "Sixteen bytes of ones.", "NoMessage", b"\xff" * 16),
    )
    cut = read_but_for(ordinary(lamport_timestamp=None), *AFTER_THE_SENDER)
    tag = ("overlong-tag", "A tag of eleven bytes.", "OverlongVarint", WHO + eleven + WHAT)
    return [*(_case(*row, REJECTED) for row in rows), _case(*tag, REJECTED, warned(cut, "AMB-52"))]


def _groups() -> list[Vector]:
    broken = {
        "without-an-end": ("A group begins and does not end.", BODY + key(8, START_GROUP) + number(1, 7)),
        "without-a-beginning": ("A group ends that did not begin.", BODY + key(8, END_GROUP)),
    }
    out = [_case(f"group-{slug}", comment, "GroupTag", wire, REJECTED) for slug, (comment, wire) in broken.items()]
    crossed = ("group-of-two-numbers", "A group ends under another number.", "GroupTag")
    wire = BODY + key(8, START_GROUP) + key(9, END_GROUP)
    out.append(_case(*crossed, wire, REJECTED, warned(read_as(ORDINARY), "AMB-52")))
    whole = key(8, START_GROUP) + number(1, 7) + key(8, END_GROUP)
    comment = "An unknown field that is a group, whole."
    outcomes = (read_as(ORDINARY), legal(REJECTED, "AMB-52"))
    return [*out, _case("group-unknown", comment, "GroupTag", WHO + whole + WHEN + WHERE + WHAT, *outcomes)]


def _wire_types() -> list[Vector]:
    rest = length(MESSAGE_ID, "b1") + WHEN + WHERE + WHAT
    rows = {
        "sender-as-a-number": ("The sender is a varint.", number(SENDER_ID, 7) + rest, ordinary(sender_id="")),
        "lamport-as-bytes": (
            "The timestamp is length-delimited.",
            WHO + length(LAMPORT, b"\xe8\x07") + WHERE + WHAT,
            ordinary(lamport_timestamp=None),
        ),
        "lamport-as-fixed32": (
            "The timestamp is a 32-bit field.",
            WHO + fixed32(LAMPORT, 1000) + WHERE + WHAT,
            ordinary(lamport_timestamp=None),
        ),
        "history-as-a-number": ("The causal history is a varint.", START + number(HISTORY, 1) + WHAT, ORDINARY),
        "channel-as-a-number": (
            "The channel is a varint.",
            WHO + WHEN + number(CHANNEL_ID, 1) + WHAT,
            ordinary(channel_id=""),
        ),
        "filter-as-fixed32": ("The filter is a 32-bit field.", START + fixed32(FILTER, 1) + WHAT, ORDINARY),
        "content-as-a-number": ("The content is a varint.", START + number(CONTENT, 1), ordinary(content=None)),
    }
    return [
        _case(f"wire-type-{slug}", comment, "WireType", wire, read_as(meaning), legal(REJECTED, "AMB-52"))
        for slug, (comment, wire, meaning) in rows.items()
    ]


def _either() -> list[Vector]:
    refused = legal(REJECTED, "AMB-52")
    beyond = WHO + key(LAMPORT, 0) + b"\xe8\x87" + b"\x80" * 7 + b"\x7e" + WHERE + WHAT
    empty = ordinary(sender_id="", message_id="", channel_id="", lamport_timestamp=None, content=None)
    zero = {**read_as(ORDINARY), "position": "AMB-52"}
    long_comment = "A timestamp of ten bytes with bits beyond the 64th."
    none_comment = "No bytes at all: by the rules of proto3 a message without any field."
    return [
        _case("overlong-bits-beyond-64", long_comment, "OverlongVarint", beyond, read_as(ORDINARY), refused),
        _case("field-number-zero", "A field of number 0.", "FieldZero", START + number(0, 1) + WHAT, refused, zero),
        _case("no-bytes", none_comment, "NoMessage", b"", read_as(empty), refused),
    ]


def _texts() -> list[Vector]:
    fine = {SENDER_ID: b"bob", MESSAGE_ID: b"b1", CHANNEL_ID: b"c1", CONTENT: b"hi"}
    bad = {
        "sender-ff": ("A byte that never occurs in UTF-8, in the sender.", {SENDER_ID: b"b\xffb"}),
        "message-id-cut": ("A message ID that ends within a character.", {MESSAGE_ID: b"m\xe4\xb8"}),
        "channel-latin-1": ("A channel in Latin-1.", {CHANNEL_ID: b"caf\xe9"}),
        "content-binary": ("Content that is no text.", {CONTENT: b"\xff\xfe\x00\x80"}),
        "content-latin-1": ("Content in Latin-1.", {CONTENT: b"caf\xe9"}),
        "content-surrogates": ("Content with a pair of surrogates.", {CONTENT: b"\xed\xa0\xbd\xed\xb8\x80"}),
        "content-overlong": ("A slash in two bytes where one is enough, in the content.", {CONTENT: b"a\xc0\xaf"}),
        "content-cut": ("Content that ends within a character.", {CONTENT: b"hi \xf0\x9f\xa6"}),
        "history": ("An ID in the causal history that begins with a continuation byte.", {HISTORY: b"\x80abc"}),
    }
    out = []
    for slug, (comment, change) in bad.items():
        wire = WHEN + b"".join(length(field, text) for field, text in (fine | change).items())
        (field,) = change
        taken = legal(read_but_for(ORDINARY, NAMES[field]), "AMB-52")
        out.append(_case(f"utf-8-{slug}", comment, "InvalidUtf8", wire, legal(REJECTED, "AMB-52"), taken))
    return out

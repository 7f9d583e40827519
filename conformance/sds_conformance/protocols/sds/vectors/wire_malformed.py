"""Bytes that are no message: what must be refused, and what may be refused because readers of proto3 differ."""

from __future__ import annotations

from sds_reference import HistoryEntry

from ....vectors.model import REJECTED, Note, Outcome, Vector, legal, vector, warned
from .wire_bytes import (
    CHANNEL_ID,
    CONTENT,
    END_GROUP,
    ENTRY_ID,
    FILTER,
    HISTORY,
    LAMPORT,
    MESSAGE_ID,
    ORDINARY,
    SENDER_ID,
    START_GROUP,
    WHAT,
    WHEN,
    WHO,
    fixed32,
    fixed64,
    key,
    length,
    number,
    ordinary,
)
from .wire_cases import read_as, read_but_for

MALFORMED_NOTES = {
    "Truncated": Note("The bytes end in the middle of something, or a length reaches beyond its end.", ("AMB-52",)),
    "OverlongVarint": Note(
        "A varint of more than ten bytes is none. One with bits beyond the 64th may be refused or cut to 64 bits. A "
        "tag of more than ten bytes should be refused; who goes on must not lose what was read before.",
        ("SDS-MSG-24", "AMB-52"),
    ),
    "WireType": Note(
        "A field of the text has another wire type than the text gives it. By the rules of proto3 it is an unknown "
        "field; refusing the message is tolerated. Taking a value from it, such as a timestamp from eight fixed bytes, "
        "is wrong.",
        ("SDS-MSG-24", "AMB-52"),
    ),
    "NoWireType": Note("Wire types 6 and 7 do not exist.", ("AMB-52",)),
    "GroupTag": Note(
        "Groups are a form that proto3 no longer writes. A whole one is skipped or refused; half of one is malformed. "
        "One that ends under another number should be refused, too; skipping it is worth a warning.",
        ("SDS-MSG-24", "AMB-52"),
    ),
    "FieldZero": Note("Field number 0 is not allowed. Some readers skip it all the same.", ("AMB-52",)),
    "InvalidUtf8": Note(
        "A string that is no UTF-8 may be refused, or accepted, with whatever text it is taken for. Nothing else of "
        "the message is lost.",
        ("SDS-MSG-24", "AMB-52"),
    ),
    "NoMessage": Note("Bytes of something else.", ("AMB-52",)),
}

AFTER_THE_NAMES = ("lamport_timestamp", "causal_history", "bloom_filter", "repair_request", "content")


def malformed() -> list[Vector]:
    """All kinds of malformed input."""
    return [*_refused(), *_groups(), *_either(), *_texts()]


def _case(slug: str, comment: str, flag: str, wire: bytes, *outcomes: Outcome) -> Vector:
    return vector(slug, comment, [flag], ["SDS-MSG-24"], {"wire": wire.hex()}, *outcomes)


def _refused() -> list[Vector]:
    body = WHO + WHEN + WHAT
    whole_entry = length(HISTORY, length(ENTRY_ID, "a1"))
    truncated = {
        "in-a-tag": ("It ends within a tag of two bytes.", WHO + WHEN + b"\xa2"),
        "after-a-tag": ("It ends after the tag of the timestamp.", WHO + key(LAMPORT, 0)),
        "in-a-varint": ("It ends within the timestamp.", WHO + key(LAMPORT, 0) + b"\xe8"),
        "before-a-length": ("It ends where the length of the content should stand.", WHO + WHEN + key(CONTENT, 2)),
        "in-a-length": ("It ends within a length of two bytes.", WHO + WHEN + key(CONTENT, 2) + b"\x81"),
        "in-content": ("It ends within the content.", body[:-1]),
        "in-a-string": ("It ends within the sender.", length(SENDER_ID, "bob")[:-1]),
        "in-an-entry": ("The last entry is cut off.", WHO + WHEN + whole_entry[:-1]),
        "inside-an-entry": (
            "An entry of the right length ends within its ID.",
            WHO + WHEN + length(HISTORY, b"\x0a\x05abc") + WHAT,
        ),
        "beyond-an-entry": (
            "An ID reaches beyond its entry into what follows.",
            WHO + WHEN + key(HISTORY, 2) + b"\x04\x0a\x04ab" + WHAT,
        ),
        "in-a-fixed64": ("It ends within an unknown 64-bit field.", body + fixed64(15, 7)[:-1]),
        "in-a-fixed32": ("It ends within an unknown 32-bit field.", body + fixed32(16, 7)[:-1]),
        "by-one-byte": ("A length is one more than there are bytes.", WHO + WHEN + key(CONTENT, 2) + b"\x03hi"),
        "by-two-gigabytes": ("A length of 2^31-1.", WHO + WHEN + key(CONTENT, 2) + b"\xff\xff\xff\xff\x07hi"),
        "by-a-negative-length": (
            "A length of 2^64-1, which signed is -1.",
            WHO + WHEN + key(CONTENT, 2) + b"\xff" * 9 + b"\x01hi",
        ),
    }
    out = [_case(f"truncated-{slug}", *_told(row, "Truncated"), REJECTED) for slug, row in truncated.items()]
    eleven = b"\x80" * 10 + b"\x01"
    overlong = {
        "lamport": ("A timestamp of eleven bytes.", WHO + key(LAMPORT, 0) + eleven + WHAT),
        "length": ("A length of eleven bytes.", WHO + WHEN + key(CONTENT, 2) + b"\x82" + b"\x80" * 9 + b"\x00hi"),
        "never-ending": ("A varint without an end.", WHO + key(LAMPORT, 0) + b"\xff" * 32),
    }
    out += [_case(f"overlong-{slug}", *_told(row, "OverlongVarint"), REJECTED) for slug, row in overlong.items()]
    out.append(
        _case(
            "overlong-tag",
            "A tag of eleven bytes.",
            "OverlongVarint",
            WHO + eleven + WHAT,
            REJECTED,
            warned(read_but_for(ordinary(lamport_timestamp=None), *AFTER_THE_NAMES), "AMB-52"),
        )
    )
    for wire_type in (6, 7):
        comment = f"A field of wire type {wire_type}."
        out.append(_case(f"wire-type-{wire_type}", comment, "NoWireType", body + key(4, wire_type) + b"\x01", REJECTED))
    text = b"this is no message"
    out.append(_case("some-text", "A sentence.", "NoMessage", text, REJECTED))
    out.append(_case("all-ones", "Sixteen bytes of ones.", "NoMessage", b"\xff" * 16, REJECTED))
    return out


def _told(row: tuple[str, bytes], flag: str) -> tuple[str, str, bytes]:
    comment, wire = row
    return comment, flag, wire


def _groups() -> list[Vector]:
    body = WHO + WHEN + WHAT
    whole = key(5, START_GROUP) + number(1, 7) + key(5, END_GROUP)
    read = read_as(ORDINARY)
    broken = {
        "without-an-end": ("A group begins and does not end.", body + key(5, START_GROUP) + number(1, 7)),
        "without-a-beginning": ("A group ends that did not begin.", body + key(5, END_GROUP)),
    }
    out = [_case(f"group-{slug}", *_told(row, "GroupTag"), REJECTED) for slug, row in broken.items()]
    crossed = body + key(5, START_GROUP) + key(6, END_GROUP)
    comment = "A group ends under another number."
    out.append(_case("group-of-two-numbers", comment, "GroupTag", crossed, REJECTED, warned(read, "AMB-52")))
    comment = "An unknown field that is a group, whole."
    out.append(_case("group-unknown", comment, "GroupTag", WHO + whole + WHEN + WHAT, read, legal(REJECTED, "AMB-52")))
    return out


def _either() -> list[Vector]:
    refused = legal(REJECTED, "AMB-52")
    rows = {
        "sender-as-a-number": (
            "The sender is a varint.",
            number(SENDER_ID, 7) + length(MESSAGE_ID, "b1") + length(CHANNEL_ID, "c1") + WHEN + WHAT,
            ordinary(sender_id=""),
        ),
        "lamport-as-bytes": (
            "The timestamp is length-delimited.",
            WHO + length(LAMPORT, b"\xe8\x07") + WHAT,
            ordinary(lamport_timestamp=None),
        ),
        "lamport-as-fixed64": (
            "The timestamp is a 64-bit field.",
            WHO + fixed64(LAMPORT, 1000) + WHAT,
            ordinary(lamport_timestamp=None),
        ),
        "history-as-a-number": ("The causal history is a varint.", WHO + WHEN + number(HISTORY, 1) + WHAT, ORDINARY),
        "filter-as-fixed32": ("The filter is a 32-bit field.", WHO + WHEN + fixed32(FILTER, 1) + WHAT, ORDINARY),
        "content-as-a-number": ("The content is a varint.", WHO + WHEN + number(CONTENT, 1), ordinary(content=None)),
        "entry-id-as-a-number": (
            "The ID of an entry is a varint.",
            WHO + WHEN + length(HISTORY, number(ENTRY_ID, 1)) + WHAT,
            ordinary(causal_history=(HistoryEntry(""),)),
        ),
    }
    out = [
        _case(f"wire-type-{slug}", comment, "WireType", wire, read_as(meaning), refused)
        for slug, (comment, wire, meaning) in rows.items()
    ]
    beyond = WHO + key(LAMPORT, 0) + b"\xe8\x87" + b"\x80" * 7 + b"\x7e" + WHAT
    out.append(
        _case(
            "overlong-bits-beyond-64",
            "A timestamp of ten bytes with bits beyond the 64th.",
            "OverlongVarint",
            beyond,
            refused,
            read_as(ORDINARY),
        )
    )
    zero = WHO + WHEN + number(0, 1) + WHAT
    out.append(
        _case(
            "field-number-zero",
            "A field of number 0.",
            "FieldZero",
            zero,
            refused,
            legal(read_as(ORDINARY), "AMB-52"),
        )
    )
    empty = ordinary(sender_id="", message_id="", channel_id="", lamport_timestamp=None, content=None)
    out.append(
        _case(
            "no-bytes",
            "No bytes at all: by the rules of proto3 a message without any field.",
            "NoMessage",
            b"",
            read_as(empty),
            refused,
        )
    )
    return out


def _texts() -> list[Vector]:
    fine = {SENDER_ID: b"bob", MESSAGE_ID: b"b1", CHANNEL_ID: b"c1"}
    names = {SENDER_ID: "sender_id", MESSAGE_ID: "message_id", CHANNEL_ID: "channel_id"}
    bad = {
        "sender-ff": ("A byte that never occurs in UTF-8, in the sender.", {SENDER_ID: b"b\xffb"}),
        "message-id-cut": ("A message ID that ends within a character.", {MESSAGE_ID: b"m\xe4\xb8"}),
        "channel-latin-1": ("A channel in Latin-1.", {CHANNEL_ID: b"caf\xe9"}),
        "sender-surrogates": (
            "A sender with a pair of surrogates, three bytes each.",
            {SENDER_ID: b"\xed\xa0\xbd\xed\xb8\x80"},
        ),
        "message-id-overlong": (
            "A slash in two bytes where one is enough, in the message ID.",
            {MESSAGE_ID: b"a\xc0\xaf"},
        ),
    }
    refused = legal(REJECTED, "AMB-52")
    out = []
    for slug, (comment, change) in bad.items():
        wire = b"".join(length(field, text) for field, text in (fine | change).items()) + WHEN + WHAT
        (field,) = (names[number] for number in change)
        taken = legal(read_but_for(ordinary(**{field: ""}), field), "AMB-52")
        out.append(_case(f"utf-8-{slug}", comment, "InvalidUtf8", wire, refused, taken))
    entry = WHO + WHEN + length(HISTORY, length(ENTRY_ID, b"\x80abc")) + WHAT
    comment = "An ID in the causal history that begins with a continuation byte."
    taken = legal(read_but_for(ORDINARY, "causal_history"), "AMB-52")
    out.append(_case("utf-8-entry-id", comment, "InvalidUtf8", entry, refused, taken))
    return out

"""Wire bytes of the proposal of 2024: the messages that they are (section "Message" of the proposal).

The well-formed half; ``forum_malformed`` has the other. Bytes by hand, as in ``wire_decoding``.
"""

from __future__ import annotations

from typing import Any

from sds_reference import Message
from sds_reference.revision import Revision

from ....vectors.model import REJECTED, Note, Outcome, Vector, vector, warned
from .fields import message_json
from .forum_bytes import (
    CHANNEL_ID,
    CONTENT,
    FILTER,
    HISTORY,
    LAMPORT,
    LARGEST,
    MESSAGE_ID,
    ORDINARY,
    SENDER_ID,
    WHAT,
    WHEN,
    WHERE,
    WHO,
    history,
    lamport,
    named,
    ordinary,
)
from .forum_malformed import MALFORMED_NOTES, malformed
from .register import PROPOSAL, group
from .texts import of_proposal
from .wire_bytes import fixed32, fixed64, key, length, number
from .wire_cases import read_as

NOTES = {
    "Field": Note("One field with a value that is often got wrong.", ("FORUM-01",)),
    "Presence": Note(
        "Timestamp and filter have presence: set to nothing they are there all the same.", ("FORUM-04", "FORUM-07")
    ),
    "NoPresence": Note(
        "Content has no presence: of no length it is the same as absent, and the message is a sync message.",
        ("FORUM-08", "FORUM-34"),
    ),
    "EmptyId": Note(
        "An identifier is empty. Such a message has no use, and may be refused or read as it is.",
        ("FORUM-02", "FORUM-03", "FORUM-06"),
    ),
    "Int32": Note(
        "The timestamp is an int32. One below zero is ten bytes long, and one of more than 32 bits is cut to them by "
        "the rules of proto3; as timestamps only count up from 0, both may be refused.",
        ("FORUM-04", "FORUM-09"),
    ),
    "FieldOrder": Note("The fields stand in another order than that of their numbers.", ("FORUM-01",)),
    "UnknownField": Note("A field that the proposal does not have is skipped.", ("FORUM-01", "AMB-116")),
    "LongVarint": Note("A varint has more bytes than it needs, up to the ten that one can have.", ("FORUM-01",)),
    "LastWins": Note("A field that is not repeated stands there twice: the last one counts.", ("FORUM-01",)),
    "OtherRevision": Note("A message in the layout of SDS, whose fields have other numbers.", ("FORUM-01", "AMB-116")),
    **MALFORMED_NOTES,
}


def case(slug: str, comment: str, flags: str, requirements: str, wire: bytes, *outcomes: Outcome) -> Vector:
    return vector(slug, comment, flags.split(), of_proposal(requirements), {"wire": wire.hex()}, *outcomes)


@group("wire-decoding", "decode", "Wire bytes, and the message that they are or are not.", NOTES, PROPOSAL)
def forum_decoding(revision: Revision) -> list[Vector]:
    """Every field, presence, int32, order, unknown fields, repeated scalars; then what is malformed."""
    return [*_identifiers(), *_timestamps(), *_contents(), *_histories(), *_forms(), *malformed()]


def _identifiers() -> list[Vector]:
    full = ordinary(causal_history=named("a1", "a2"), bloom_filter=b"\xf0\x0f")
    fields = WHO + WHEN + history("a1", "a2") + WHERE + length(FILTER, b"\xf0\x0f") + WHAT
    out = [
        case(
            "ordinary-content",
            "Content with a timestamp and nothing else.",
            "Field",
            "01 02 03 04 06 08",
            WHO + WHEN + WHERE + WHAT,
            read_as(ORDINARY),
        ),
        case("all-fields", "Every field at once.", "Field", "01 05 07", fields, read_as(full)),
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
        "long-message-id": ("A message ID of 1,024 characters.", "bob", "m" * 1024, "c1"),
    }
    for slug, (comment, sender, message, channel) in ids.items():
        wire = length(SENDER_ID, sender) + length(MESSAGE_ID, message) + WHEN + length(CHANNEL_ID, channel) + WHAT
        meaning = Message(sender, message, channel, 1000, content=b"hi")
        out.append(case(slug, comment, "Field", "02 03 06", wire, read_as(meaning)))
    without = {
        "no-sender": ("sender_id", "02", length(MESSAGE_ID, "b1") + WHEN + WHERE + WHAT),
        "no-message-id": ("message_id", "03", length(SENDER_ID, "bob") + WHEN + WHERE + WHAT),
        "no-channel": ("channel_id", "06", WHO + WHEN + WHAT),
    }
    numbers = {"sender_id": SENDER_ID, "message_id": MESSAGE_ID, "channel_id": CHANNEL_ID}
    for slug, (name, requirement, wire) in without.items():
        read = read_as(ordinary(**{name: ""}))
        absent, empty = f"The field {name} is absent.", f"The field {name} is empty."
        out.append(case(f"{slug}-absent", absent, "EmptyId", requirement, wire, read, REJECTED))
        wire += length(numbers[name], "")
        out.append(case(f"{slug}-empty", empty, "EmptyId", requirement, wire, read, REJECTED))
    return out


def _timestamps() -> list[Vector]:
    def at(wire: bytes) -> bytes:
        return WHO + wire + WHERE + WHAT

    unset = read_as(ordinary(lamport_timestamp=None))
    zero = read_as(ordinary(lamport_timestamp=0))
    out = [
        case("lamport-absent", "No timestamp: an ephemeral message.", "Presence", "04", at(b""), unset),
        case("lamport-zero", "A timestamp that is present and zero.", "Presence", "04", at(lamport(0)), zero),
    ]
    values = [
        (f"{sign}{power}", 2**power + less) for power in (7, 14, 21, 28) for sign, less in (("below-2-", -1), ("2-", 0))
    ]
    for slug, value in [("one", 1), *values, ("2-24-and-1", 2**24 + 1), ("largest", LARGEST)]:
        meaning = read_as(ordinary(lamport_timestamp=value))
        out.append(case(f"lamport-{slug}", f"The timestamp {value}.", "Field", "04", at(lamport(value)), meaning))
    for slug, value in (("minus-one", -1), ("minus-1000", -1000), ("smallest", -(2**31))):
        comment = f"The timestamp {value}, in ten bytes: it may be refused, for nothing counts below 0."
        meaning = _signed(value)
        out.append(case(f"lamport-{slug}", comment, "Int32", "04", at(lamport(value)), REJECTED, meaning))
    beyond = {
        "2-31": ("The varint 2^31, cut to 32 bits the smallest int32.", 2**31, -(2**31)),
        "2-32-and-1000": ("The varint 2^32+1000, cut to 32 bits 1000.", 2**32 + 1000, 1000),
        "epoch-time": ("An epoch time in milliseconds, cut to 32 bits.", 1_800_000_000_000, 408_702_976),
        "minus-one-in-five-bytes": ("The varint 2^32-1, cut to 32 bits -1.", 2**32 - 1, -1),
    }
    for slug, (comment, value, cut) in beyond.items():
        outcomes = (_signed(cut), REJECTED) if cut >= 0 else (REJECTED, _signed(cut))
        out.append(case(f"lamport-beyond-{slug}", comment, "Int32", "04", at(number(LAMPORT, value)), *outcomes))
    return out


def _signed(value: int) -> Outcome:
    """The ordinary message with any timestamp of 32 bits."""
    told: dict[str, Any] = message_json(ORDINARY)
    told["lamport_timestamp"] = str(value)
    return {"message": told}


def _contents() -> list[Vector]:
    sync = read_as(ordinary(content=None))
    filtered = read_as(ordinary(content=None, bloom_filter=b"\x01"))
    nothing = read_as(ordinary(lamport_timestamp=None, content=None))
    empty_filter = WHO + WHEN + WHERE + length(FILTER, b"")
    out = [
        case(
            "content-absent",
            "No content: a sync message.",
            "NoPresence",
            "08",
            WHO + WHEN + WHERE + length(FILTER, b"\x01"),
            filtered,
        ),
        case(
            "content-empty",
            "Content of no length: the same.",
            "NoPresence",
            "08",
            WHO + WHEN + WHERE + length(CONTENT, b""),
            sync,
        ),
        case(
            "neither-timestamp-nor-content",
            "Nothing but identifiers.",
            "NoPresence",
            "01",
            WHO + WHERE,
            nothing,
            REJECTED,
        ),
        case(
            "filter-empty",
            "A filter of no length is present.",
            "Presence",
            "07",
            empty_filter + WHAT,
            read_as(ordinary(bloom_filter=b"")),
        ),
        case(
            "filter-of-any-bytes",
            "A filter is bytes, not text.",
            "Field",
            "07",
            WHO + WHEN + WHERE + length(FILTER, b"\xff\x00\xc3") + WHAT,
            read_as(ordinary(bloom_filter=b"\xff\x00\xc3")),
        ),
    ]
    contents = {
        "content-zero-character": ("The character NUL is content.", "\x00"),
        "content-beyond-ascii": ("Text of many scripts.", "zo\u00eb \u4e2d\u6587 \U0001f98a"),
        "content-blank": ("A blank is content.", " "),
        "content-byte-order-mark": ("A byte order mark is a character of the text.", "\ufeffhi"),
        "content-of-300-bytes": ("Content whose length takes two bytes.", "ab\n" * 100),
    }
    for slug, (comment, text) in contents.items():
        wire = WHO + WHEN + WHERE + length(CONTENT, text)
        out.append(case(slug, comment, "Field", "08", wire, read_as(ordinary(content=text.encode()))))
    return out


def _histories() -> list[Vector]:
    many = [f"m{index}" for index in range(200)]
    rows: tuple[tuple[str, str, list[str]], ...] = (
        ("history-of-one", "One ID, a plain string.", ["a1"]),
        ("history-in-its-order", "Three IDs keep their order, which is not that of their letters.", ["c", "a", "b"]),
        ("history-named-twice", "The same ID twice: both are there to be read.", ["a", "a"]),
        ("history-beyond-ascii", "IDs of many scripts.", ["\u4e2d", "e\u0301", "\U0001f98a"]),
        ("history-two-hundred", "A causal history of 200 IDs must be accepted.", many),
    )
    out = [
        case(
            slug,
            comment,
            "Field",
            "05",
            WHO + WHEN + history(*ids) + WHERE + WHAT,
            read_as(ordinary(causal_history=named(*ids))),
        )
        for slug, comment, ids in rows
    ]
    nested = length(1, "a1")
    wire = WHO + WHEN + length(HISTORY, nested) + WHERE + WHAT
    looks = read_as(ordinary(causal_history=named(nested.decode())))
    comment = "An ID of the bytes that an entry of SDS has: a string of a line feed, a control character and a1."
    out.append(case("history-like-an-entry", comment, "Field", "05", wire, looks))
    wire = WHO + WHEN + history("") + WHERE + WHAT
    empty = read_as(ordinary(causal_history=named("")))
    return [*out, case("history-of-no-length", "An empty ID.", "EmptyId", "05", wire, empty, REJECTED)]


def _forms() -> list[Vector]:
    plain = read_as(ORDINARY)
    parts = [length(SENDER_ID, "bob"), length(MESSAGE_ID, "b1"), WHEN, WHERE, WHAT]
    mixed = history("a") + WHO + history("b") + WHERE + WHEN + WHAT
    two = read_as(ordinary(causal_history=named("a", "b")))
    out = [
        case("order-reversed", "The fields backwards.", "FieldOrder", "01", b"".join(parts[::-1]), plain),
        case("order-mixed", "IDs of the history between other fields.", "FieldOrder", "01", mixed, two),
    ]
    unknown = (
        ("varint", "A field of number 8.", number(8, 300)),
        ("length", "A field of number 14.", length(14, b"later")),
        ("fixed64", "A 64-bit field of number 15.", fixed64(15, 7)),
        ("fixed32", "A 32-bit field of number 16.", fixed32(16, 7)),
        ("largest-number", "A field of the largest number there is, 536870911.", number(536_870_911, 1)),
        ("numbers-of-sds", "The fields 10, 12 and 20 of SDS.", number(10, 5) + length(12, "f") + length(20, "x")),
    )
    out += [
        case(f"unknown-{slug}", comment, "UnknownField", "01", WHO + extra + WHEN + WHERE + WHAT, plain)
        for slug, comment, extra in unknown
    ]
    long = (
        ("long-lamport", "A timestamp in ten bytes.", WHO + number(LAMPORT, 1000, 10) + WHERE + WHAT),
        ("long-length", "A length in five bytes.", WHO + WHEN + WHERE + length(CONTENT, "hi", 5)),
    )
    out += [case(slug, comment, "LongVarint", "01", wire, plain) for slug, comment, wire in long]
    comment = "A tag in five bytes: some look a tag up by its bytes, and skip one that is longer than it need be."
    wire = WHO + key(LAMPORT, 0, 5) + b"\xe8\x07" + WHERE + WHAT
    skipped = warned(read_as(ordinary(lamport_timestamp=None)), "AMB-52")
    out.append(case("long-tag", comment, "LongVarint", "01", wire, plain, skipped))
    rest = WHO + WHEN + WHERE + WHAT
    twice = (
        ("sender", length(SENDER_ID, "mallory") + rest, ORDINARY),
        ("message-id", length(MESSAGE_ID, "b0") + rest, ORDINARY),
        ("channel", length(CHANNEL_ID, "c0") + rest, ORDINARY),
        ("lamport", number(LAMPORT, 7) + rest, ORDINARY),
        ("lamport-zero", rest + number(LAMPORT, 0), ordinary(lamport_timestamp=0)),
        ("filter", length(FILTER, b"\xff") + rest + length(FILTER, b"\x01"), ordinary(bloom_filter=b"\x01")),
        ("content", length(CONTENT, "longer than the last") + rest, ORDINARY),
        ("content-empty", rest + length(CONTENT, ""), ordinary(content=None)),
    )
    out += [
        case(f"twice-{slug}", f"The field for {slug} stands there twice.", "LastWins", "01", wire, read_as(meaning))
        for slug, wire, meaning in twice
    ]
    sds = length(1, "bob") + length(2, "b1") + length(3, "c1") + number(10, 1000) + length(20, "hi")
    meaning = read_as(Message("bob", "b1", "", None))
    comment = "An ordinary message of SDS: its field 3 has another type, its fields 10 and 20 are unknown."
    return [*out, case("message-of-sds", comment, "OtherRevision WireType", "01", sds, meaning, REJECTED)]

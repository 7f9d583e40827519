"""One message in other bytes: another order, unknown fields, long varints, scalars that stand there twice."""

from __future__ import annotations

from sds_reference import HistoryEntry

from ....vectors.model import Vector, warned
from .wire_bytes import (
    CHANNEL_ID,
    CONTENT,
    ENTRY_HINT,
    ENTRY_ID,
    ENTRY_SENDER,
    FILTER,
    HISTORY,
    LAMPORT,
    MESSAGE_ID,
    ORDINARY,
    SENDER_ID,
    WHAT,
    WHEN,
    WHO,
    entry,
    fixed32,
    fixed64,
    key,
    length,
    number,
    ordinary,
)
from .wire_cases import case, read_as


def forms() -> list[Vector]:
    """What a reader of proto3 must take all the same."""
    plain = read_as(ORDINARY)
    parts = [length(SENDER_ID, "bob"), length(MESSAGE_ID, "b1"), length(CHANNEL_ID, "c1"), WHEN, WHAT]
    two = ordinary(causal_history=(HistoryEntry("a"), HistoryEntry("b")))
    first, second = length(HISTORY, entry("a")), length(HISTORY, entry("b"))
    backwards = length(ENTRY_SENDER, "alice") + length(ENTRY_HINT, b"\x01") + length(ENTRY_ID, "a")
    full = read_as(ordinary(causal_history=(HistoryEntry("a", b"\x01", "alice"),)))
    orders = (
        ("order-reversed", "The fields backwards.", b"".join(reversed(parts)), plain),
        (
            "order-mixed",
            "Entries of the history between other fields.",
            first + WHO + second + WHEN + WHAT,
            read_as(two),
        ),
        (
            "order-inside-an-entry",
            "The fields of an entry backwards.",
            WHO + WHEN + length(HISTORY, backwards) + WHAT,
            full,
        ),
    )
    unknown = (
        ("varint", "A field of number 4.", number(4, 300)),
        ("length", "A field of number 14.", length(14, b"later")),
        ("fixed64", "A 64-bit field of number 15.", fixed64(15, 7)),
        ("fixed32", "A 32-bit field of number 16.", fixed32(16, 7)),
        ("largest-number", "A field of the largest number there is, 536870911.", number(536_870_911, 1)),
        ("old-numbers", "Fields between those of the text.", number(5, 1) + length(9, "x") + number(19, 2)),
    )
    long = (
        ("long-lamport", "A timestamp in ten bytes.", WHO + number(LAMPORT, 1000, 10) + WHAT),
        ("long-length", "A length in five bytes.", WHO + WHEN + length(CONTENT, "hi", 5)),
    )
    twice = (
        ("sender", length(SENDER_ID, "mallory") + WHO + WHEN + WHAT, ORDINARY),
        ("message-id", length(MESSAGE_ID, "b0") + WHO + WHEN + WHAT, ORDINARY),
        ("channel", length(CHANNEL_ID, "c0") + WHO + WHEN + WHAT, ORDINARY),
        ("lamport", WHO + number(LAMPORT, 7) + WHEN + WHAT, ORDINARY),
        ("lamport-zero", WHO + WHEN + number(LAMPORT, 0) + WHAT, ordinary(lamport_timestamp=0)),
        (
            "filter",
            WHO + WHEN + length(FILTER, b"\xff\xff\xff") + length(FILTER, b"\x01") + WHAT,
            ordinary(bloom_filter=b"\x01"),
        ),
        ("content", WHO + WHEN + length(CONTENT, "longer than the last") + WHAT, ORDINARY),
        (
            "entry-id",
            WHO + WHEN + length(HISTORY, entry("z") + entry("a")) + WHAT,
            ordinary(causal_history=(HistoryEntry("a"),)),
        ),
    )
    inside = length(HISTORY, entry("a") + number(9, 1) + length(12, "new"))
    out = [case(slug, comment, "FieldOrder", "MSG-24", wire, meaning) for slug, comment, wire, meaning in orders]
    out += [
        case(f"unknown-{slug}", comment, "UnknownField", "MSG-24", WHO + extra + WHEN + WHAT, plain)
        for slug, comment, extra in unknown
    ]
    out.append(
        case(
            "unknown-inside-an-entry",
            "Unknown fields of an entry.",
            "UnknownField",
            "MSG-24",
            WHO + WHEN + inside + WHAT,
            read_as(ordinary(causal_history=(HistoryEntry("a"),))),
        )
    )
    out += [case(slug, comment, "LongVarint", "MSG-24", wire, plain) for slug, comment, wire in long]
    out.append(
        case(
            "long-tag",
            "A tag in five bytes: some look a tag up by its bytes, and skip one that is longer than it need be.",
            "LongVarint LongTag",
            "MSG-24",
            WHO + key(LAMPORT, 0, 5) + b"\xe8\x07" + WHAT,
            plain,
            warned(read_as(ordinary(lamport_timestamp=None)), "AMB-52"),
        )
    )
    out += [
        case(f"twice-{slug}", f"The field for {slug} stands there twice.", "LastWins", "MSG-24", wire, read_as(meaning))
        for slug, wire, meaning in twice
    ]
    return out

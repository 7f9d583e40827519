"""One message in other bytes: another order, unknown fields, long varints, scalars that stand there twice."""

from __future__ import annotations

from collections.abc import Iterator

from sds_reference import HistoryEntry, Message

from ....vectors.model import Outcome, Vector, warned
from .wire_bytes import (
    ENTRY_HINT,
    ENTRY_ID,
    ENTRY_SENDER,
    ORDINARY,
    Layout,
    entry,
    fixed32,
    fixed64,
    key,
    length,
    named,
    number,
    ordinary,
)
from .wire_cases import case, read_as

Row = tuple[str, str, str, bytes, Message]
"""ID, comment, flags, bytes and meaning."""


def forms(layout: Layout) -> list[Vector]:
    """What a reader of proto3 must take all the same."""
    out = []
    for slug, comment, flags, wire, meaning in (*_orders(layout), *_unknown(layout), *_long(layout), *_twice(layout)):
        skipped: tuple[Outcome, ...] = ()
        if slug == "long-tag":
            skipped = (warned(read_as(ordinary(lamport_timestamp=None)), "AMB-52"),)
        out.append(case(layout, slug, comment, flags, layout.protobuf, wire, meaning, *skipped))
    return out


def _orders(layout: Layout) -> Iterator[Row]:
    parts = [layout.part(name, getattr(ORDINARY, name)) for name in layout.numbers]
    yield "order-reversed", "The fields backwards.", "FieldOrder", b"".join(parts[::-1]), ORDINARY
    first, second = (layout.part("causal_history", named(message_id)) for message_id in "ab")
    names = layout.until("lamport_timestamp")
    when, what = layout.part("lamport_timestamp", 1000), layout.part("content", "hi")
    where = b"" if layout.entries else layout.part("channel_id", "c1")
    comment = f"{'Entries' if layout.entries else 'IDs'} of the history between other fields."
    mixed = first + names + second + where + when + what
    yield "order-mixed", comment, "FieldOrder", mixed, ordinary(causal_history=named("a", "b"))
    if layout.entries:
        backwards = length(ENTRY_SENDER, "alice") + length(ENTRY_HINT, b"\x01") + length(ENTRY_ID, "a")
        wire = layout.wire(causal_history=length(layout["causal_history"], backwards))
        full = ordinary(causal_history=(HistoryEntry("a", b"\x01", "alice"),))
        yield "order-inside-an-entry", "The fields of an entry backwards.", "FieldOrder", wire, full


def _unknown(layout: Layout) -> Iterator[Row]:
    free = layout.free[0]
    rows = {
        "varint": (f"A field of number {free}.", number(free, 300)),
        "length": ("A field of number 14.", length(14, b"later")),
        "fixed64": ("A 64-bit field of number 15.", fixed64(15, 7)),
        "fixed32": ("A 32-bit field of number 16.", fixed32(16, 7)),
        "largest-number": ("A field of the largest number there is, 536870911.", number(536_870_911, 1)),
    }
    if layout.entries:
        between = number(5, 1) + length(9, "x") + number(19, 2)
        rows["old-numbers"] = ("Fields between those of the text.", between)
    else:
        of_sds = number(10, 5) + length(12, "f") + length(20, "x")
        rows["numbers-of-sds"] = ("The fields 10, 12 and 20 of SDS.", of_sds)
    when = layout.part("lamport_timestamp", 1000)
    for slug, (comment, extra) in rows.items():
        yield f"unknown-{slug}", comment, "UnknownField", layout.wire(lamport_timestamp=extra + when), ORDINARY
    if layout.entries:
        inside = entry(HistoryEntry("a")) + number(9, 1) + length(12, "new")
        wire = layout.wire(causal_history=length(layout["causal_history"], inside))
        meaning = ordinary(causal_history=named("a"))
        yield "unknown-inside-an-entry", "Unknown fields of an entry.", "UnknownField", wire, meaning


def _long(layout: Layout) -> Iterator[Row]:
    stamp = layout["lamport_timestamp"]
    wire = layout.wire(lamport_timestamp=number(stamp, 1000, 10))
    yield "long-lamport", "A timestamp in ten bytes.", "LongVarint", wire, ORDINARY
    wire = layout.wire(content=length(layout["content"], "hi", 5))
    yield "long-length", "A length in five bytes.", "LongVarint", wire, ORDINARY
    comment = "A tag in five bytes: some look a tag up by its bytes, and skip one that is longer than it need be."
    flags = "LongVarint LongTag" if layout.entries else "LongVarint"
    yield "long-tag", comment, flags, layout.wire(lamport_timestamp=key(stamp, 0, 5) + b"\xe8\x07"), ORDINARY


def _twice(layout: Layout) -> Iterator[Row]:
    body, part = layout.wire(), layout.part
    filtered, zero = ordinary(bloom_filter=b"\x01"), ordinary(lamport_timestamp=0)
    rows = {
        "sender": (part("sender_id", "mallory") + body, ORDINARY),
        "message-id": (part("message_id", "b0") + body, ORDINARY),
        "channel": (part("channel_id", "c0") + body, ORDINARY),
    }
    if layout.entries:
        start, what, when = layout.until("content"), part("content", "hi"), part("lamport_timestamp", 1000)
        filters = part("bloom_filter", b"\xff\xff\xff") + part("bloom_filter", b"\x01")
        ids = length(layout["causal_history"], entry(HistoryEntry("z")) + entry(HistoryEntry("a")))
        rows |= {
            "lamport": (layout.wire(lamport_timestamp=part("lamport_timestamp", 7) + when), ORDINARY),
            "lamport-zero": (start + part("lamport_timestamp", 0) + what, zero),
            "filter": (layout.wire(bloom_filter=filters), filtered),
            "content": (start + part("content", "longer than the last") + what, ORDINARY),
            "entry-id": (layout.wire(causal_history=ids), ordinary(causal_history=named("a"))),
        }
    else:
        rows |= {
            "lamport": (part("lamport_timestamp", 7) + body, ORDINARY),
            "lamport-zero": (body + part("lamport_timestamp", 0), zero),
            "filter": (part("bloom_filter", b"\xff") + body + part("bloom_filter", b"\x01"), filtered),
            "content": (part("content", "longer than the last") + body, ORDINARY),
            "content-empty": (body + part("content", ""), ordinary(content=None)),
        }
    for slug, (wire, meaning) in rows.items():
        yield f"twice-{slug}", f"The field for {slug} stands there twice.", "LastWins", wire, meaning

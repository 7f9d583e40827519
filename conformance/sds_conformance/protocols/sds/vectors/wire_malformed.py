"""Bytes that are no message: what must be refused, and what may be refused because readers of proto3 differ."""

from __future__ import annotations

from collections.abc import Iterator

from ....vectors.model import REJECTED, Note, Outcome, Vector, legal, vector, warned
from .wire_bytes import (
    END_GROUP,
    ENTRY_ID,
    ORDINARY,
    SDS,
    START_GROUP,
    Layout,
    fixed32,
    fixed64,
    key,
    length,
    named,
    number,
    ordinary,
)
from .wire_cases import read_as, read_but_for, refusable

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
OF_THE_PROPOSAL = {
    flag: Note(note.description, ("FORUM-01", *(i for i in note.ids if i.startswith("AMB"))))
    for flag, note in MALFORMED_NOTES.items()
}
"""What can be wrong with protobuf does not depend on the fields."""

REFUSED = legal(REJECTED, "AMB-52")
Row = tuple[str, str, str, bytes, tuple[Outcome, ...]]
"""ID, comment, flag, bytes and outcomes."""


def malformed(layout: Layout) -> list[Vector]:
    """All kinds of malformed input."""
    one_kind_after_another = (_truncated, _impossible, _groups, _wire_types, _either, _texts)
    return [
        vector(slug, comment, flag, layout.ids(layout.protobuf), {"wire": wire.hex()}, *outcomes)
        for kind in one_kind_after_another
        for slug, comment, flag, wire, outcomes in kind(layout)
    ]


def _truncated(layout: Layout) -> Iterator[Row]:
    body, names, start = layout.wire(), layout.until("lamport_timestamp"), layout.until("content")
    stamp, content, history = key(layout["lamport_timestamp"], 0), key(layout["content"], 2), layout["causal_history"]
    if layout.entries:
        whole = start
        negative = {}
        inner = {
            "in-an-entry": ("The last entry is cut off.", start + length(history, length(ENTRY_ID, "a1"))[:-1]),
            "inside-an-entry": (
                "An entry of the right length ends within its ID.",
                layout.wire(causal_history=length(history, b"\x0a\x05abc")),
            ),
            "beyond-an-entry": (
                "An ID reaches beyond its entry into what follows.",
                layout.wire(causal_history=key(history, 2) + b"\x04\x0a\x04ab"),
            ),
        }
        signed = "A length of 2^64-1, which signed is -1."
    else:
        whole = body
        negative = {"in-a-negative": ("It ends within a timestamp below zero.", names + stamp + b"\xff" * 9)}
        inner = {
            "in-an-id-of-the-history": ("The last ID of the history is cut off.", start + length(history, "a1")[:-1]),
            "in-the-filter": ("It ends within the filter.", start + length(layout["bloom_filter"], b"\x01\x02")[:-1]),
        }
        signed = "A length of 2^64-1, signed -1."
    rows = {
        "in-a-tag": ("It ends within a tag of two bytes.", whole + b"\xa2"),
        "after-a-tag": ("It ends after the tag of the timestamp.", names + stamp),
        "in-a-varint": ("It ends within the timestamp.", names + stamp + b"\xe8"),
        **negative,
        "before-a-length": ("It ends where the length of the content should stand.", start + content),
        "in-a-length": ("It ends within a length of two bytes.", start + content + b"\x81"),
        "in-content": ("It ends within the content.", body[:-1]),
        "in-a-string": ("It ends within the sender.", length(layout["sender_id"], "bob")[:-1]),
        **inner,
        "in-a-fixed64": ("It ends within an unknown 64-bit field.", body + fixed64(15, 7)[:-1]),
        "in-a-fixed32": ("It ends within an unknown 32-bit field.", body + fixed32(16, 7)[:-1]),
        "by-one-byte": ("A length is one more than there are bytes.", start + content + b"\x03hi"),
        "by-two-gigabytes": ("A length of 2^31-1.", start + content + b"\xff\xff\xff\xff\x07hi"),
        "by-a-negative-length": (signed, start + content + b"\xff" * 9 + b"\x01hi"),
    }
    for slug, (comment, wire) in rows.items():
        yield f"truncated-{slug}", comment, "Truncated", wire, (REJECTED,)


def _impossible(layout: Layout) -> Iterator[Row]:
    names, stamp = layout.until("lamport_timestamp"), key(layout["lamport_timestamp"], 0)
    what = length(layout["content"], "hi")
    eleven = b"\x80" * 10 + b"\x01"
    long_length = layout.until("content") + key(layout["content"], 2) + b"\x82" + b"\x80" * 9 + b"\x00hi"
    overlong = {
        "lamport": ("A timestamp of eleven bytes.", names + stamp + eleven + what),
        "length": ("A length of eleven bytes.", long_length),
        "never-ending": ("A varint without an end.", names + stamp + b"\xff" * 32),
    }
    for slug, (comment, wire) in overlong.items():
        yield f"overlong-{slug}", comment, "OverlongVarint", wire, (REJECTED,)
    lost = ["lamport_timestamp", "causal_history", "bloom_filter", "repair_request", "content"]
    if layout is not SDS:
        lost = ["channel_id", *(name for name in lost if name != "repair_request")]
    cut = warned(read_but_for(ordinary(lamport_timestamp=None), *lost), "AMB-52")
    tag = ("overlong-tag", "A tag of eleven bytes.", "OverlongVarint", names + eleven + what, (REJECTED, cut))
    if layout is SDS:
        yield tag
    for wire_type in (6, 7):
        wire = layout.wire() + key(layout.free[0], wire_type) + b"\x01"
        yield f"wire-type-{wire_type}", f"A field of wire type {wire_type}.", "NoWireType", wire, (REJECTED,)
    yield "some-text", "A sentence.", "NoMessage", b"this is no message", (REJECTED,)
    yield "all-ones", "Sixteen bytes of ones.", "NoMessage", b"\xff" * 16, (REJECTED,)
    if layout is not SDS:
        yield tag


def _groups(layout: Layout) -> Iterator[Row]:
    _, free, other = layout.free
    begin, end, inside = key(free, START_GROUP), key(free, END_GROUP), number(1, 7)
    crossed = layout.wire() + begin + key(other, END_GROUP)
    skipped = warned(read_as(ORDINARY), "AMB-52")
    among = layout.wire(lamport_timestamp=begin + inside + end + number(layout["lamport_timestamp"], 1000))
    rows: dict[str, tuple[str, bytes, tuple[Outcome, ...]]] = {
        "without-an-end": ("A group begins and does not end.", layout.wire() + begin + inside, (REJECTED,)),
        "without-a-beginning": ("A group ends that did not begin.", layout.wire() + end, (REJECTED,)),
        "of-two-numbers": ("A group ends under another number.", crossed, (REJECTED, skipped)),
        "unknown": ("An unknown field that is a group, whole.", among, refusable(ORDINARY, "AMB-52")),
    }
    for slug, (comment, wire, outcomes) in rows.items():
        yield f"group-{slug}", comment, "GroupTag", wire, outcomes


def _wire_types(layout: Layout) -> Iterator[Row]:
    stamp, history = layout["lamport_timestamp"], layout["causal_history"]
    channel, filters, content = (layout[name] for name in ("channel_id", "bloom_filter", "content"))
    unstamped, unnamed = ordinary(lamport_timestamp=None), ordinary(causal_history=named(""))
    nowhere, silent = ordinary(channel_id=""), ordinary(content=None)
    as_bytes, nested = length(stamp, b"\xe8\x07"), length(history, number(ENTRY_ID, 1))
    width, fixed = (64, fixed64) if layout is SDS else (32, fixed32)
    is_fixed = f"The timestamp is a {width}-bit field."
    rows = {
        "sender-as-a-number": ("The sender is a varint.", "sender_id", number(1, 7), ordinary(sender_id="")),
        "lamport-as-bytes": ("The timestamp is length-delimited.", "lamport_timestamp", as_bytes, unstamped),
        f"lamport-as-fixed{width}": (is_fixed, "lamport_timestamp", fixed(stamp, 1000), unstamped),
        # In the place of the filter it stands behind the channel in either layout.
        "history-as-a-number": ("The causal history is a varint.", "bloom_filter", number(history, 1), ORDINARY),
        "channel-as-a-number": ("The channel is a varint.", "channel_id", number(channel, 1), nowhere),
        "filter-as-fixed32": ("The filter is a 32-bit field.", "bloom_filter", fixed32(filters, 1), ORDINARY),
        "content-as-a-number": ("The content is a varint.", "content", number(content, 1), silent),
        "entry-id-as-a-number": ("The ID of an entry is a varint.", "causal_history", nested, unnamed),
    }
    del rows["channel-as-a-number" if layout is SDS else "entry-id-as-a-number"]
    for slug, (comment, name, part, meaning) in rows.items():
        wire = layout.wire(**{name: part})
        yield f"wire-type-{slug}", comment, "WireType", wire, refusable(meaning, "AMB-52")


def _either(layout: Layout) -> Iterator[Row]:
    beyond = layout.wire(lamport_timestamp=key(layout["lamport_timestamp"], 0) + b"\xe8\x87" + b"\x80" * 7 + b"\x7e")
    cut = (REFUSED, read_as(ORDINARY)) if layout is SDS else (read_as(ORDINARY), REFUSED)
    zero = layout.wire(content=number(0, 1) + length(layout["content"], "hi"))
    either = (REFUSED, legal(read_as(ORDINARY), "AMB-52"))
    empty = ordinary(sender_id="", message_id="", channel_id="", lamport_timestamp=None, content=None)
    comment = "A timestamp of ten bytes with bits beyond the 64th."
    yield "overlong-bits-beyond-64", comment, "OverlongVarint", beyond, cut
    yield "field-number-zero", "A field of number 0.", "FieldZero", zero, either
    comment = "No bytes at all: by the rules of proto3 a message without any field."
    yield "no-bytes", comment, "NoMessage", b"", refusable(empty, "AMB-52")


def _texts(layout: Layout) -> Iterator[Row]:
    rows: dict[str, tuple[str, str, bytes]] = {
        "sender-ff": ("A byte that never occurs in UTF-8, in the sender.", "sender_id", b"b\xffb"),
        "message-id-cut": ("A message ID that ends within a character.", "message_id", b"m\xe4\xb8"),
        "channel-latin-1": ("A channel in Latin-1.", "channel_id", b"caf\xe9"),
    }
    if layout.entries:
        comment = "A sender with a pair of surrogates, three bytes each."
        rows["sender-surrogates"] = (comment, "sender_id", b"\xed\xa0\xbd\xed\xb8\x80")
        comment = "A slash in two bytes where one is enough, in the message ID."
        rows["message-id-overlong"] = (comment, "message_id", b"a\xc0\xaf")
    else:
        rows |= {
            "content-binary": ("Content that is no text.", "content", b"\xff\xfe\x00\x80"),
            "content-latin-1": ("Content in Latin-1.", "content", b"caf\xe9"),
            "content-surrogates": ("Content with a pair of surrogates.", "content", b"\xed\xa0\xbd\xed\xb8\x80"),
            "content-overlong": ("A slash in two bytes where one is enough, in the content.", "content", b"a\xc0\xaf"),
            "content-cut": ("Content that ends within a character.", "content", b"hi \xf0\x9f\xa6"),
        }
    inner = b"\x80abc"
    slug = "entry-id" if layout.entries else "history"
    comment = "An ID in the causal history that begins with a continuation byte."
    rows[slug] = (comment, "causal_history", length(ENTRY_ID, inner) if layout.entries else inner)
    for slug, (comment, name, text) in rows.items():
        part = length(layout[name], text)
        if layout.entries:
            wire = layout.wire(**{name: part})
            blank = ordinary(**{name: ""}) if name != "causal_history" else ORDINARY
        else:
            fields = {each: getattr(ORDINARY, each) for each in ("sender_id", "message_id", "channel_id", "content")}
            said = {each: layout.part(each, value) for each, value in fields.items()} | {name: part}
            wire = layout.part("lamport_timestamp", 1000) + b"".join(said.values())
            blank = ORDINARY
        yield f"utf-8-{slug}", comment, "InvalidUtf8", wire, (REFUSED, legal(read_but_for(blank, name), "AMB-52"))

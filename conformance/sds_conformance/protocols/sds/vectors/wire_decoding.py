"""Bytes that are a message, or are not, and what they say (sections "Message", "SDS-R message fields").

The well-formed half; ``wire_malformed`` has the other. All bytes are put together by hand: what they mean is stated by
the text and by the rules of proto3, not by a decoder.
"""

from __future__ import annotations

from functools import partial

from sds_reference import HistoryEntry
from sds_reference.revision import Revision

from ....vectors.model import REJECTED, Note, Vector, legal
from .register import group
from .wire_bytes import ENTRY_HINT, ENTRY_ID, ORDINARY, SDS, Layout, length, named, ordinary
from .wire_cases import case, plain, read_as
from .wire_forms import forms
from .wire_long import LONG_NOTES, long_fields
from .wire_malformed import MALFORMED_NOTES, malformed

_case, _plain = partial(case, SDS), partial(plain, SDS)

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
    "EmptyFilter": Note(
        "A filter of no length holds as much as none: an implementation may keep the difference or not.",
        ("SDS-MSG-07", "AMB-125"),
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
    long = [_plain(slug, comment, "Long", shorts, said) for slug, comment, shorts, said in long_fields()]
    return [*_scalars(), *_timestamps(), *_contents(), *_entries(), *long, *forms(SDS), *malformed(SDS)]


IDENTIFIERS = {
    "non-ascii": ("Identifiers beyond ASCII.", "zo\u00eb", "\u4e2d\u6587", "\u0444-1"),
    "supplementary": ("Identifiers beyond the Basic Multilingual Plane.", "\U0001f98a", "m-\U0001f600", "\U00010400"),
    "normal-forms": ("A composed and a decomposed letter stay what they are.", "\u00e9", "e\u0301", "c"),
    "control-characters": ("NUL and line feed in identifiers.", "a\x00b", "m\n1", "c\t"),
    "channel-zero": ('The channel "0" is the digit.', "bob", "b1", "0"),
    "long-message-id": ("A message ID of 1,024 characters.", "bob", "m" * 1024, "c1"),
}
"""Comment, sender, message and channel."""


def _scalars() -> list[Vector]:
    alice, dave = (HistoryEntry("a1", b"\x01\x02", "alice"),), (HistoryEntry("d1", None, "dave"),)
    full = ordinary(causal_history=alice, bloom_filter=b"\xf0\x0f", repair_request=dave)
    ids = "MSG-01 MSG-02 MSG-03 MSG-04 MSG-05 MSG-09"
    out = [
        _plain("ordinary-content", "Content with a timestamp and nothing else.", "Field", ids, ORDINARY),
        _plain("all-fields", "Every field at once.", "Field RepairFields", "MSG-01 MSG-06 MSG-07 MSG-08 MSG-12", full),
    ]
    return out + identifiers(SDS, "MSG-02", "MSG-03", "MSG-04")


def identifiers(layout: Layout, *ids: str) -> list[Vector]:
    """Of many scripts, and absent or empty; ``ids`` are the requirements of sender, message ID and channel."""
    out = []
    for slug, (comment, sender, message, channel) in IDENTIFIERS.items():
        said = ordinary(sender_id=sender, message_id=message, channel_id=channel)
        if slug != "channel-zero" or layout is SDS:  # a question to SDS alone
            out.append(plain(layout, slug, comment, "Field", " ".join(ids), said))
    refused = {"message_id": legal(REJECTED, "AMB-51"), "channel_id": legal(REJECTED, "AMB-49")}
    if layout is not SDS:
        refused = dict.fromkeys(("sender_id", *refused), REJECTED)
    slugs = {"no-sender": "sender_id", "no-message-id": "message_id", "no-channel": "channel_id"}
    for (slug, name), requirement in zip(slugs.items(), ids, strict=True):
        said = ordinary(**{name: ""})
        absent = layout.wire(said, **{name: b""})
        flag, outcomes = ("EmptyId", [said, refused[name]]) if name in refused else ("NoSender", [said])
        empty = layout.wire(said) if layout is SDS else absent + layout.part(name, "")
        for how, wire in (("absent", absent), ("empty", empty)):
            comment = f"The field {name} is {how}."
            out.append(case(layout, f"{slug}-{how}", comment, flag, requirement, wire, *outcomes))
    return out


def around_powers(*powers: int) -> dict[str, int]:
    """Each power of two and the number below it, by what they are called."""
    return {name: value for n in powers for name, value in ((f"below-2-{n}", 2**n - 1), (f"2-{n}", 2**n))}


def _timestamps() -> list[Vector]:
    absent, zero = ordinary(lamport_timestamp=None), ordinary(lamport_timestamp=0)
    out = [
        _plain("lamport-absent", "No timestamp: an ephemeral message.", "Presence", "MSG-05 MSG-18", absent),
        _plain("lamport-zero", "A timestamp that is present and zero.", "Presence", "MSG-05", zero),
    ]
    values = {**around_powers(7, 14, 31, 32, 35, 53), "2-53-and-1": 2**53 + 1, "2-53-and-10": 2**53 + 10}
    for slug, value in values.items():
        said = ordinary(lamport_timestamp=value)
        out.append(_plain(f"lamport-{slug}", f"The timestamp {value}.", "Field", "MSG-05", said))
    large = {"2-53-and-11": 2**53 + 11, "below-2-63": 2**63 - 1, "2-63": 2**63, "largest": 2**64 - 1}
    for slug, value in large.items():
        comment = f"The timestamp {value}: exactly this one, or none."
        said, refused = ordinary(lamport_timestamp=value), legal(REJECTED, "AMB-14")
        out.append(_plain(f"lamport-{slug}", comment, "LargeLamport", "MSG-05", said, refused))
    return out


def _contents() -> list[Vector]:
    sync, nothing = ordinary(content=None, bloom_filter=b"\x01"), ordinary(lamport_timestamp=None, content=None)
    left_out = legal(read_as(ordinary(content=None)), "AMB-34")
    refused = legal(REJECTED, "AMB-35")
    comment, empty = "Content of no length: a sync message, too.", ordinary(content=b"")
    out = [
        _plain("content-absent", "No content: a sync message.", "Presence", "MSG-01 MSG-19", sync),
        _plain("content-empty", comment, "EmptyContent", "MSG-01 MSG-19", empty, left_out),
        _plain("neither-timestamp-nor-content", "Nothing but identifiers.", "Presence", "MSG-01", nothing, refused),
    ]
    comment = "A filter of no length: the sender has received nothing."
    unset = legal(read_as(ORDINARY), "AMB-125")
    out.append(_plain("filter-empty", comment, "EmptyFilter", "MSG-07", ordinary(bloom_filter=b""), unset))
    contents = {
        "content-zero-byte": ("A single zero byte is content.", b"\x00"),
        "content-no-text": ("Content that is no UTF-8.", b"\xff\xfe\x00\x80"),
        "content-of-300-bytes": ("Content whose length takes two bytes.", bytes(range(256)) + bytes(44)),
        "content-like-a-message": ("Content that could itself be read as a message.", SDS.wire()),
    }
    for slug, (comment, content) in contents.items():
        out.append(_plain(slug, comment, "Field", "MSG-09 MSG-20", ordinary(content=content)))
    return out


def _entries() -> list[Vector]:
    def inside(*entries: bytes) -> bytes:
        return SDS.wire(causal_history=b"".join(length(SDS["causal_history"], part) for part in entries))

    bare, no_id = read_as(ordinary(causal_history=named("a"))), legal(REJECTED, "AMB-46")
    many = named(*(f"m{index}" for index in range(200)))
    hint, author = HistoryEntry("a1", b"\x00\xff\x80"), HistoryEntry("a1", None, "alice")
    apart, nobody = (HistoryEntry("a"), HistoryEntry("", b"\x01")), HistoryEntry("a", None, "")
    do_not_merge = "Two entries, one with an ID and one with a hint, are two: repeated fields do not merge."
    keep_order = "Three entries keep their order, which is not that of their IDs."
    twice = "The same ID twice: both entries are there to be read."
    rows: tuple[tuple[str, str, str, str, tuple[HistoryEntry, ...]], ...] = (
        ("entry-with-id-alone", "An entry with nothing but a message ID.", "Field", "MSG-06 MSG-23", named("a1")),
        ("entry-with-hint", "A retrieval hint of any bytes.", "Field", "MSG-11 MSG-23", (hint,)),
        ("entry-with-author", "The author of the message that is named.", "RepairFields", "MSG-12", (author,)),
        ("entries-in-their-order", keep_order, "Field", "MSG-06", named("c", "a", "b")),
        ("entries-do-not-merge", do_not_merge, "EmptyId", "MSG-06", apart),
        ("entry-named-twice", twice, "Field", "MSG-06", named("a", "a")),
        ("entry-without-id", "An entry of no length.", "EmptyId", "MSG-06", named("")),
        ("entries-two-hundred", "A causal history of 200 entries.", "ManyEntries", "MSG-06", many),
        ("hint-empty", "A hint of no length.", "EmptyOptional", "MSG-11", (HistoryEntry("a", b""),)),
        ("author-empty", "An author of no length.", "EmptyOptional RepairFields", "MSG-12", (nobody,)),
    )
    without_ids = {
        "entries-do-not-merge": inside(length(ENTRY_ID, "a"), length(ENTRY_HINT, b"\x01")),
        "entry-without-id": inside(b""),
    }
    allowed = {
        **dict.fromkeys(without_ids, no_id),
        "entries-two-hundred": legal(REJECTED, "AMB-47"),
        **dict.fromkeys(("hint-empty", "author-empty"), bare),
    }
    out = []
    for slug, comment, flags, shorts, entries in rows:
        said = ordinary(causal_history=entries)
        also = [allowed[slug]] if slug in allowed else []
        out.append(_case(slug, comment, flags, shorts, without_ids.get(slug, SDS.wire(said)), said, *also))
    asked = ordinary(repair_request=(HistoryEntry("x", b"\x07", "dave"), HistoryEntry("y")))
    comment = "A repair request of two entries, one of which names no author."
    out.append(_plain("request-of-two", comment, "RepairFields", "MSG-08 R-FIELDS-04", asked))
    texts, ignored = inside(b"hello-1", b"hello-2"), legal(read_as(ORDINARY), "AMB-116")
    comment = "Plain strings in place of entries."
    return [*out, _case("old-entries-of-text", comment, "OldEntry", "MSG-06", texts, REJECTED, ignored)]

"""Wire bytes of the proposal of 2024: the messages that they are (section "Message" of the proposal).

The well-formed half; ``wire_malformed`` has the other. Bytes by hand, as in ``wire_decoding``.
"""

from __future__ import annotations

from functools import partial

from sds_reference import Message
from sds_reference.revision import Revision

from ....vectors.model import REJECTED, Note, Outcome, Vector
from .fields import message_json
from .register import PROPOSAL as FORUM
from .register import group
from .wire_bytes import LARGEST_INT32, ORDINARY, PROPOSAL, SDS, length, named, number, ordinary
from .wire_cases import case, plain, read_as
from .wire_decoding import around_powers, identifiers
from .wire_forms import forms
from .wire_malformed import OF_THE_PROPOSAL, malformed

_case, _plain = partial(case, PROPOSAL), partial(plain, PROPOSAL)

NOTES = {
    "Field": Note("One field with a value that is often got wrong.", ("FORUM-01",)),
    "Presence": Note("The timestamp has explicit presence: zero differs from unset.", ("FORUM-04",)),
    "EmptyFilter": Note(
        "A filter of no length holds as much as none: an implementation may keep the difference or not.",
        ("FORUM-07",),
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
    **OF_THE_PROPOSAL,
}


@group("wire-decoding", "decode", "Wire bytes, and the message that they are or are not.", NOTES, FORUM)
def forum_decoding(revision: Revision) -> list[Vector]:
    """Every field, presence, int32, order, unknown fields, repeated scalars; then what is malformed."""
    sds = SDS.wire()
    comment = "An ordinary message of SDS: its field 3 has another type, its fields 10 and 20 are unknown."
    meaning, flags = Message("bob", "b1", "", None), "OtherRevision WireType"
    other = _case("message-of-sds", comment, flags, "01", sds, meaning, REJECTED)
    told = [*_identifiers(), *_timestamps(), *_contents(), *_histories(), *forms(PROPOSAL), other]
    return [*told, *malformed(PROPOSAL)]


def _identifiers() -> list[Vector]:
    full = ordinary(causal_history=named("a1", "a2"), bloom_filter=b"\xf0\x0f")
    comment, ids = "Content with a timestamp and nothing else.", "01 02 03 04 06 08"
    out = [
        _plain("ordinary-content", comment, "Field", ids, ORDINARY),
        _plain("all-fields", "Every field at once.", "Field", "01 05 07", full),
    ]
    return out + identifiers(PROPOSAL, "02", "03", "06")


def _timestamps() -> list[Vector]:
    unset, zero = ordinary(lamport_timestamp=None), ordinary(lamport_timestamp=0)
    out = [
        _plain("lamport-absent", "No timestamp: an ephemeral message.", "Presence", "04", unset),
        _plain("lamport-zero", "A timestamp that is present and zero.", "Presence", "04", zero),
    ]
    values = {"one": 1, **around_powers(7, 14, 21, 28), "2-24-and-1": 2**24 + 1, "largest": LARGEST_INT32}
    for slug, value in values.items():
        said = ordinary(lamport_timestamp=value)
        out.append(_plain(f"lamport-{slug}", f"The timestamp {value}.", "Field", "04", said))
    odd = {
        slug: (f"The timestamp {value}, in ten bytes: it may be refused, for nothing counts below 0.", value, value)
        for slug, value in (("minus-one", -1), ("minus-1000", -1000), ("smallest", -(2**31)))
    } | {
        "beyond-2-31": ("The varint 2^31, cut to 32 bits the smallest int32.", 2**31, -(2**31)),
        "beyond-2-32-and-1000": ("The varint 2^32+1000, cut to 32 bits 1000.", 2**32 + 1000, 1000),
        "beyond-epoch-time": ("An epoch time in milliseconds, cut to 32 bits.", 1_800_000_000_000, 408_702_976),
        "beyond-minus-one-in-five-bytes": ("The varint 2^32-1, cut to 32 bits -1.", 2**32 - 1, -1),
    }
    for slug, (comment, value, cut) in odd.items():
        wire = PROPOSAL.wire(lamport_timestamp=number(PROPOSAL["lamport_timestamp"], value))
        outcomes = (_signed(cut), REJECTED) if cut >= 0 else (REJECTED, _signed(cut))
        out.append(_case(f"lamport-{slug}", comment, "Int32", "04", wire, *outcomes))
    return out


def _signed(value: int) -> Outcome:
    """The ordinary message with any timestamp of 32 bits."""
    return {"message": {**message_json(ORDINARY), "lamport_timestamp": str(value)}}


def _contents() -> list[Vector]:
    sync, nothing = ordinary(content=None, bloom_filter=b"\x01"), ordinary(lamport_timestamp=None, content=None)
    empty = PROPOSAL.wire(content=PROPOSAL.part("content", ""))
    absent, of_bytes = ordinary(content=None), ordinary(bloom_filter=b"\xff\x00\xc3")
    of_no_length = ordinary(bloom_filter=b"")
    out = [
        _plain("content-absent", "No content: a sync message.", "NoPresence", "08", sync),
        _case("content-empty", "Content of no length: the same.", "NoPresence", "08", empty, absent),
        _plain("neither-timestamp-nor-content", "Nothing but identifiers.", "NoPresence", "01", nothing, REJECTED),
        _plain("filter-empty", "A filter of no length.", "EmptyFilter", "07", of_no_length, read_as(ORDINARY)),
        _plain("filter-of-any-bytes", "A filter is bytes, not text.", "Field", "07", of_bytes),
    ]
    contents = {
        "content-zero-character": ("The character NUL is content.", "\x00"),
        "content-beyond-ascii": ("Text of many scripts.", "zo\u00eb \u4e2d\u6587 \U0001f98a"),
        "content-blank": ("A blank is content.", " "),
        "content-byte-order-mark": ("A byte order mark is a character of the text.", "\ufeffhi"),
        "content-of-300-bytes": ("Content whose length takes two bytes.", "ab\n" * 100),
    }
    for slug, (comment, text) in contents.items():
        out.append(_plain(slug, comment, "Field", "08", ordinary(content=text.encode())))
    return out


def _histories() -> list[Vector]:
    # What an entry of SDS looks like.
    nested = length(1, "a1").decode()
    like = "An ID of the bytes that an entry of SDS has: a string of a line feed, a control character and a1."
    rows: dict[str, tuple[str, list[str]]] = {
        "of-one": ("One ID, a plain string.", ["a1"]),
        "in-its-order": ("Three IDs keep their order, which is not that of their letters.", ["c", "a", "b"]),
        "named-twice": ("The same ID twice: both are there to be read.", ["a", "a"]),
        "beyond-ascii": ("IDs of many scripts.", ["\u4e2d", "e\u0301", "\U0001f98a"]),
        "two-hundred": ("A causal history of 200 IDs must be accepted.", [f"m{index}" for index in range(200)]),
        "like-an-entry": (like, [nested]),
    }
    out = [
        _plain(f"history-{slug}", comment, "Field", "05", ordinary(causal_history=named(*ids)))
        for slug, (comment, ids) in rows.items()
    ]
    unnamed = ordinary(causal_history=named(""))
    return [*out, _plain("history-of-no-length", "An empty ID.", "EmptyId", "05", unnamed, REJECTED)]

"""Messages of the proposal and the bytes that say them; and wire bytes, and which kind of message they are."""

from __future__ import annotations

from sds_reference import Message
from sds_reference.revision import Revision

from ....vectors.model import REJECTED, Note, Outcome, Vector, vector
from .fields import message_json
from .forum_bytes import (
    CHANNEL_ID,
    CONTENT,
    FILTER,
    LARGEST,
    MESSAGE_ID,
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
from .register import PROPOSAL, group
from .texts import of_proposal
from .wire_bytes import length

ENCODING_NOTES = {
    "FieldOrder": Note(
        "The bytes given have the fields in ascending order. Any other order of the same fields is as good.",
        ("FORUM-01",),
    ),
    "Presence": Note(
        "Timestamp and filter are on the wire when they are set, to whatever, and only then.", ("FORUM-04", "FORUM-07")
    ),
    "NoPresence": Note(
        "Content of no length is usually left out; written, it says the same.", ("FORUM-08", "FORUM-34")
    ),
    "Kinds": Note("What each kind of message has and what it leaves out.", ("FORUM-17", "FORUM-34", "FORUM-38")),
}
KINDS_NOTES = {
    "Content": Note("A timestamp and content.", ("FORUM-21", "FORUM-24")),
    "Sync": Note(
        "A timestamp and empty content: received like all others, so it is logged and can be named.",
        ("FORUM-34", "FORUM-37"),
    ),
    "Ephemeral": Note("Content and no timestamp: processed at once.", ("FORUM-38", "FORUM-39")),
    "Undefined": Note(
        "Neither. The proposal says nothing of it: it may be refused, or taken for an ephemeral message without "
        "content.",
        ("FORUM-38", "AMB-35"),
    ),
    "EmptyContent": Note("Content has no presence: of no length it is absent.", ("FORUM-08", "FORUM-34")),
    "ZeroLamport": Note("A timestamp of zero is a timestamp.", ("FORUM-04", "AMB-33")),
    "Hybrid": Note(
        "No timestamp, but a causal history or a filter: still ephemeral.", ("FORUM-38", "AMB-31", "AMB-37")
    ),
}
EMPTY = length(CONTENT, "")


@group("wire-encoding", "encode", "Messages, and the bytes that say them.", ENCODING_NOTES, PROPOSAL)
def forum_encoding(revision: Revision) -> list[Vector]:
    """Every field, presence, the order of the history, and the kinds of messages."""
    three = named("c", "a", "b")
    other = Message("zo\u00eb", "m-\U0001f600", "\u4e2d", 1, content="\u00e9\u4e2d\U0001f98a".encode())
    rows = (
        (
            "content",
            "Content with all that a regular message has.",
            "FieldOrder Kinds",
            "01 02 03 05 06 07 17",
            ordinary(causal_history=named("c"), bloom_filter=b"\x01\x02"),
            WHO + WHEN + history("c") + WHERE + length(FILTER, b"\x01\x02") + WHAT,
        ),
        (
            "first-message",
            "The first message of a channel has no causal history, and a filter of no length.",
            "Presence Kinds",
            "04 07",
            ordinary(lamport_timestamp=1, bloom_filter=b""),
            WHO + lamport(1) + WHERE + length(FILTER, b"") + WHAT,
        ),
        (
            "ephemeral",
            "An ephemeral message has content and none of the three.",
            "Kinds Presence",
            "38",
            ordinary(lamport_timestamp=None),
            WHO + WHERE + WHAT,
        ),
        (
            "lamport-zero",
            "A timestamp of zero is on the wire.",
            "Presence",
            "04",
            ordinary(lamport_timestamp=0),
            WHO + lamport(0) + WHERE + WHAT,
        ),
        (
            "history-in-order",
            "The IDs of the history keep their order.",
            "FieldOrder",
            "05",
            ordinary(causal_history=three),
            WHO + WHEN + history("c", "a", "b") + WHERE + WHAT,
        ),
        (
            "beyond-ascii",
            "Identifiers and content of many scripts are UTF-8.",
            "FieldOrder",
            "02 03 06 08",
            other,
            length(SENDER_ID, "zo\u00eb")
            + length(MESSAGE_ID, "m-\U0001f600")
            + lamport(1)
            + length(CHANNEL_ID, "\u4e2d")
            + length(CONTENT, "\u00e9\u4e2d\U0001f98a"),
        ),
        (
            "content-of-200-bytes",
            "A length of two bytes.",
            "FieldOrder",
            "08",
            ordinary(content=b"0123456789" * 20),
            WHO + WHEN + WHERE + length(CONTENT, "0123456789" * 20),
        ),
    )
    out = [_encoded(*row) for row in rows]
    syncs = (
        (
            "sync",
            "A sync message has empty content.",
            ordinary(causal_history=three, bloom_filter=b"\x03", content=None),
            WHO + WHEN + history("c", "a", "b") + WHERE + length(FILTER, b"\x03"),
        ),
        (
            "sync-at-first",
            "A sync message before anything else: its timestamp of zero is set.",
            ordinary(lamport_timestamp=0, bloom_filter=b"", content=None),
            WHO + lamport(0) + WHERE + length(FILTER, b""),
        ),
    )
    for slug, comment, message, wire in syncs:
        fields = {"message": message_json(message)}
        outcomes = [{"wire": wire.hex()}, {"wire": (wire + EMPTY).hex()}]
        out.append(vector(slug, comment, ["Kinds", "NoPresence"], of_proposal("34 04"), fields, *outcomes))
    for name, value in (("2-7", 2**7), ("2-14", 2**14), ("2-21", 2**21), ("2-28", 2**28), ("largest", LARGEST)):
        message = ordinary(lamport_timestamp=value)
        wire = WHO + lamport(value) + WHERE + WHAT
        out.append(_encoded(f"lamport-{name}", f"The timestamp {value}.", "FieldOrder", "04", message, wire))
    return out


def _encoded(slug: str, comment: str, flags: str, requirements: str, message: Message, wire: bytes) -> Vector:
    fields = {"message": message_json(message)}
    return vector(slug, comment, flags.split(), of_proposal(requirements), fields, {"wire": wire.hex()})


@group("message-kinds", "message-kind", "Wire bytes, and which kind of message they are.", KINDS_NOTES, PROPOSAL)
def forum_kinds(revision: Revision) -> list[Vector]:
    """Every combination of timestamp and content, each absent, empty and there."""
    rows = (
        ("content", "Timestamp and content.", "Content", "21 24", WHO + WHEN + WHERE + WHAT, "content"),
        (
            "content-zero-lamport",
            "A timestamp of zero, and content.",
            "Content ZeroLamport",
            "04 21",
            WHO + lamport(0) + WHERE + WHAT,
            "content",
        ),
        (
            "content-zero-character",
            "A timestamp, and NUL for content.",
            "Content",
            "08 21",
            WHO + WHEN + WHERE + length(CONTENT, "\x00"),
            "content",
        ),
        ("sync", "A timestamp and no content.", "Sync EmptyContent", "34 37", WHO + WHEN + WHERE, "sync"),
        (
            "sync-empty-content",
            "A timestamp, and content of no length.",
            "Sync EmptyContent",
            "34 37",
            WHO + WHEN + WHERE + EMPTY,
            "sync",
        ),
        (
            "sync-zero-lamport",
            "A timestamp of zero and no content.",
            "Sync ZeroLamport",
            "04 34",
            WHO + lamport(0) + WHERE + length(FILTER, b""),
            "sync",
        ),
        ("ephemeral", "Content and no timestamp.", "Ephemeral", "38 39", WHO + WHERE + WHAT, "ephemeral"),
        (
            "ephemeral-with-filter",
            "Content and a filter, no timestamp.",
            "Ephemeral Hybrid",
            "39",
            WHO + WHERE + length(FILTER, b"\x01") + WHAT,
            "ephemeral",
        ),
        (
            "ephemeral-with-history",
            "Content and a causal history, no timestamp. It may wait for what it names.",
            "Ephemeral Hybrid",
            "39",
            WHO + history("never-sent") + WHERE + WHAT,
            "ephemeral",
        ),
    )
    out = [
        vector(slug, comment, flags.split(), of_proposal(requirements), {"wire": wire.hex()}, {"kind": kind})
        for slug, comment, flags, requirements, wire, kind in rows
    ]
    undefined = (
        ("nothing-at-all", "Neither timestamp nor content.", "Undefined", WHO + WHERE),
        (
            "nothing-but-empty-content",
            "Content of no length and no timestamp.",
            "Undefined EmptyContent",
            WHO + WHERE + EMPTY,
        ),
        ("nothing-but-a-history", "A causal history and nothing else.", "Undefined", WHO + history("x") + WHERE),
    )
    legal: list[Outcome] = [{"kind": "undefined"}, {"kind": "ephemeral"}, REJECTED]
    for slug, comment, flags, wire in undefined:
        out.append(vector(slug, comment, flags.split(), ["FORUM-01"], {"wire": wire.hex()}, *legal))
    return out

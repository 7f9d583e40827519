"""Fields longer than those of small examples, for reading and for writing: whoever cuts one short is seen."""

from __future__ import annotations

from collections.abc import Iterator
from hashlib import sha256

from sds_reference import HistoryEntry, Message

from ....vectors.model import Note
from .wire_bytes import entry, ordinary

LONG_NOTES = {
    "Long": Note(
        "Fields of usual lengths: IDs of 64 hex digits, hints of 32 bytes, a filter for 10,000 IDs, content that needs "
        "three bytes for its length. Nothing is cut short.",
        ("SDS-MSG-01", "SDS-MSG-20"),
    )
}

Case = tuple[str, str, str, Message]
"""ID, comment, requirements and message."""


def _digest(text: str) -> str:
    return sha256(text.encode()).hexdigest()


def _bytes(seed: str, size: int) -> bytes:
    """Bytes without a pattern."""
    blocks = (sha256(f"{seed} {number}".encode()).digest() for number in range(size // 32 + 1))
    return b"".join(blocks)[:size]


def long_fields() -> Iterator[Case]:
    """Messages with long fields."""
    full = HistoryEntry(_digest("m1"), bytes.fromhex(_digest("hint 1")), _digest("alice"))
    some = (full, HistoryEntry(_digest("m2"), None, _digest("bob")), HistoryEntry(_digest("m3")))
    assert len(entry(full)) > 127
    names = Message(_digest("alice"), _digest("m9"), _digest("c1"), 1000, content=b"hi")
    yield "long-identifiers", "Sender, message and channel of 64 hex digits.", "MSG-02 MSG-03 MSG-04", names
    comment = "Entries with IDs of 64 hex digits, the first with a hint of 32 bytes and longer than 127."
    yield "long-entries", comment, "MSG-06 MSG-10 MSG-11 MSG-12", ordinary(causal_history=some)
    comment = "A repair request for messages with IDs of 64 hex digits."
    yield "long-requests", comment, "MSG-08 MSG-10 MSG-12", ordinary(repair_request=some)
    hint = HistoryEntry("a1", _bytes("hint", 200))
    yield "long-hint", "A hint of 200 bytes.", "MSG-11", ordinary(causal_history=(hint,))
    for size, what in ((500, "a length of two bytes"), (18_000, "a length of three bytes")):
        filled, text = ordinary(bloom_filter=_bytes("filter", size)), ordinary(content=_bytes("content", size))
        yield f"filter-of-{size}-bytes", f"A filter of {size:,} bytes: {what}.", "MSG-07", filled
        yield f"content-of-{size}-bytes", f"Content of {size:,} bytes: {what}.", "MSG-09 MSG-20", text

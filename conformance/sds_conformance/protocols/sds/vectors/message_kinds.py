"""What kind a message is: presence of two fields decides (sections "Periodic Sync Message", "Ephemeral Messages")."""

from __future__ import annotations

from sds_reference.revision import Revision

from ....vectors.model import Note, Vector, legal, vector
from .register import group
from .texts import of_sds
from .wire_bytes import CONTENT, FILTER, HISTORY, LAMPORT, WHAT, WHEN, WHO, entry, length, number

NOTES = {
    "Content": Note("A timestamp and content: delivered, and logged.", ("SDS-RECV-07", "SDS-STATE-10")),
    "Sync": Note("A timestamp and no content: neither delivered nor logged.", ("SDS-SYNC-02", "SDS-SYNC-13")),
    "Ephemeral": Note("Content and no timestamp: delivered, and not logged.", ("SDS-EPHEMERAL-04", "SDS-EPHEMERAL-05")),
    "Undefined": Note("Neither: nothing happens, or the message is refused.", ("SDS-RECV-10", "AMB-35")),
    "EmptyContent": Note("Content of no length is no content.", ("SDS-MSG-19", "AMB-34")),
    "ZeroLamport": Note("A timestamp of zero is a timestamp.", ("SDS-MSG-05", "AMB-33")),
    "Hybrid": Note(
        "No timestamp, but other fields of a regular message: still ephemeral.",
        ("SDS-EPHEMERAL-06", "AMB-31", "AMB-37"),
    ),
}


@group("message-kinds", "message-kind", "Wire bytes, and which kind of message they are.", NOTES)
def message_kinds(revision: Revision) -> list[Vector]:
    """Every combination of timestamp and content, each absent, empty and there."""
    hybrid = length(HISTORY, entry("never-sent"))
    rows = (
        ("content", "Timestamp and content.", "Content", "MSG-05 MSG-09 RECV-07", WHO + WHEN + WHAT, "content"),
        (
            "content-zero-lamport",
            "A timestamp of zero, and content.",
            "Content ZeroLamport",
            "MSG-05 RECV-07",
            WHO + number(LAMPORT, 0) + WHAT,
            "content",
        ),
        (
            "content-zero-byte",
            "A timestamp, and a zero byte for content.",
            "Content",
            "MSG-09 RECV-07",
            WHO + WHEN + length(CONTENT, b"\x00"),
            "content",
        ),
        ("sync", "A timestamp and no content.", "Sync", "MSG-19 SYNC-13", WHO + WHEN, "sync"),
        (
            "sync-empty-content",
            "A timestamp, and content of no length.",
            "Sync EmptyContent",
            "MSG-19 RECV-10",
            WHO + WHEN + length(CONTENT, b""),
            "sync",
        ),
        (
            "sync-zero-lamport",
            "A timestamp of zero and no content.",
            "Sync ZeroLamport",
            "MSG-05 MSG-19",
            WHO + number(LAMPORT, 0) + length(FILTER, b""),
            "sync",
        ),
        ("ephemeral", "Content and no timestamp.", "Ephemeral", "MSG-18 EPHEMERAL-04", WHO + WHAT, "ephemeral"),
        (
            "ephemeral-with-filter",
            "Content and a filter, no timestamp.",
            "Ephemeral Hybrid",
            "EPHEMERAL-06",
            WHO + length(FILTER, b"\x01") + WHAT,
            "ephemeral",
        ),
        (
            "ephemeral-with-history",
            "Content and a causal history, no timestamp. It may wait for what it names.",
            "Ephemeral Hybrid",
            "EPHEMERAL-06",
            WHO + hybrid + WHAT,
            "ephemeral",
        ),
    )
    out = [
        vector(slug, comment, flags.split(), _ids(requirements), {"wire": wire.hex()}, {"kind": kind})
        for slug, comment, flags, requirements, wire, kind in rows
    ]
    undefined = (
        ("nothing-at-all", "Neither timestamp nor content.", "Undefined", WHO),
        (
            "nothing-but-empty-content",
            "Content of no length and no timestamp.",
            "Undefined EmptyContent",
            WHO + length(CONTENT, b""),
        ),
        ("nothing-but-a-history", "A causal history and nothing else.", "Undefined", WHO + hybrid),
    )
    refused = legal({"rejected": True}, "AMB-35")
    for slug, comment, flags, wire in undefined:
        fields = {"wire": wire.hex()}
        out.append(vector(slug, comment, flags.split(), ["SDS-RECV-10"], fields, {"kind": "undefined"}, refused))
    return out


def _ids(requirements: str) -> list[str]:
    return of_sds(requirements)

"""What kind a message is: presence of two fields decides (sections "Periodic Sync Message", "Ephemeral Messages")."""

from __future__ import annotations

from sds_reference.revision import Revision

from ....vectors.model import REJECTED, Note, Outcome, Vector, legal, vector
from .register import PROPOSAL as FORUM
from .register import group
from .wire_bytes import PROPOSAL, SDS, Layout, named, ordinary

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


NOTES_OF_THE_PROPOSAL = {
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
TITLE = "Wire bytes, and which kind of message they are."
Fields = dict[str, object]


def _vector(
    layout: Layout, slug: str, comment: str, flags: str, shorts: str, fields: Fields, *kinds: Outcome
) -> Vector:
    """``fields`` are those of the ordinary message that are other; content of no length is on the wire."""
    wire = layout.wire(ordinary(**fields))
    return vector(slug, comment, flags, layout.ids(shorts), {"wire": wire.hex()}, *kinds)


def _kinds(layout: Layout, shorts: str, sync: str, undefined: str, *outcomes: Outcome) -> list[Vector]:
    """Every combination of timestamp and content, each absent, empty and there; ``shorts`` row by row."""
    zero: Fields = {"lamport_timestamp": 0}
    unset: Fields = {"lamport_timestamp": None}
    filtered: Fields = {**unset, "bloom_filter": b"\x01"}
    nothing: Fields = {**unset, "content": None}
    waits = "Content and a causal history, no timestamp. It may wait for what it names."
    one = ("zero-byte", "a zero byte") if layout is SDS else ("zero-character", "NUL")
    hybrid = named("never-sent")
    last = hybrid if layout is SDS else named("x")
    silent: Fields = {**zero, "bloom_filter": b"", "content": None}
    rows: dict[str, tuple[str, str, Fields]] = {
        "content": ("Timestamp and content.", "Content", {}),
        "content-zero-lamport": ("A timestamp of zero, and content.", "Content ZeroLamport", zero),
        f"content-{one[0]}": (f"A timestamp, and {one[1]} for content.", "Content", {"content": b"\x00"}),
        "sync": ("A timestamp and no content.", sync, {"content": None}),
        "sync-empty-content": ("A timestamp, and content of no length.", "Sync EmptyContent", {"content": b""}),
        "sync-zero-lamport": ("A timestamp of zero and no content.", "Sync ZeroLamport", silent),
        "ephemeral": ("Content and no timestamp.", "Ephemeral", unset),
        "ephemeral-with-filter": ("Content and a filter, no timestamp.", "Ephemeral Hybrid", filtered),
        "ephemeral-with-history": (waits, "Ephemeral Hybrid", {**unset, "causal_history": hybrid}),
    }
    out = [
        # What kind it is begins its ID.
        _vector(layout, slug, comment, flags, ids, fields, {"kind": slug.partition("-")[0]})
        for (slug, (comment, flags, fields)), ids in zip(rows.items(), shorts.split(", "), strict=True)
    ]
    empty: Fields = {**nothing, "content": b""}
    listed: Fields = {**nothing, "causal_history": last}
    neither: tuple[tuple[str, str, str, Fields], ...] = (
        ("nothing-at-all", "Neither timestamp nor content.", "Undefined", nothing),
        ("nothing-but-empty-content", "Content of no length and no timestamp.", "Undefined EmptyContent", empty),
        ("nothing-but-a-history", "A causal history and nothing else.", "Undefined", listed),
    )
    return [*out, *(_vector(layout, *row[:3], undefined, row[3], *outcomes) for row in neither)]


@group("message-kinds", "message-kind", TITLE, NOTES)
def message_kinds(revision: Revision) -> list[Vector]:
    """What has neither is undefined, and may be refused."""
    shorts = (
        "MSG-05 MSG-09 RECV-07, MSG-05 RECV-07, MSG-09 RECV-07, MSG-19 SYNC-13, MSG-19 RECV-10, MSG-05 MSG-19, "
        "MSG-18 EPHEMERAL-04, EPHEMERAL-06, EPHEMERAL-06"
    )
    return _kinds(SDS, shorts, "Sync", "RECV-10", {"kind": "undefined"}, legal(REJECTED, "AMB-35"))


@group("message-kinds", "message-kind", TITLE, NOTES_OF_THE_PROPOSAL, FORUM)
def forum_kinds(revision: Revision) -> list[Vector]:
    """What has neither may be taken for an ephemeral message as well."""
    shorts = "21 24, 04 21, 08 21, 34 37, 34 37, 04 34, 38 39, 39, 39"
    outcomes: list[Outcome] = [{"kind": "undefined"}, {"kind": "ephemeral"}, REJECTED]
    return _kinds(PROPOSAL, shorts, "Sync EmptyContent", "01", *outcomes)

"""The sizes of ClearSkies that `limits` measures."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from itertools import pairwise
from typing import Any

from sds_harness.clearskies.actor import Actor
from sds_harness.clearskies.clubs import record_id
from sds_harness.clearskies.frames import Frame
from sds_harness.clearskies.links import ScriptedLink
from sds_harness.clearskies.peer import ScriptedPeer
from sds_harness.clearskies.stage import Stage

from ..dimensions import Dimensions
from .scenarios.layout import MEBIBYTE

DIMENSIONS = Dimensions("CSDB-")

TOO_MANY = 1 << 16
"""Largest number of items in one run, which keeps all of them until it is judged."""
LARGEST_BODY = 16_777_216
"""The largest body of a message in bytes, by the text."""

count_dimension = partial(DIMENSIONS.dimension, position="the text names no bound", most=TOO_MANY)
"""Registers a dimension that counts items."""
message_dimension = partial(DIMENSIONS.dimension, at_once=True)
"""Registers a dimension of a single message."""


@count_dimension("records received", "02", "33", "37", demanded=260)
def records(stage: Stage, size: int) -> str | None:
    """N records arrive on one link; then another peer asks for all of them."""
    alice, link = _send_records(stage, size)
    asked = request_all(alice)
    return _describe_closing(link) or _describe_missing(asked, size)


@count_dimension("records written", "08", "10", "14", demanded=50)
def puts(stage: Stage, size: int) -> str | None:
    """The application writes N records; another peer asks for updates after half of them."""
    alice, bob = stage.open("alice"), stage.peer("bob")
    for number in range(size // 2):
        alice.put(f"record-{number}", number)
    link = subscribe(alice, bob)
    for number in range(size // 2, size):
        alice.put(f"record-{number}", number)
    stage.settle()
    return _describe_closing(link) or _describe_missing(link, size)


@count_dimension("revisions of a record", "10", "14", "44", demanded=12)
def revisions(stage: Stage, size: int) -> None:
    """The application writes one record N times while another peer listens."""
    alice, bob = stage.open("alice"), stage.peer("bob")
    subscribe(alice, bob)
    for number in range(size):
        alice.put("door", number)
    stage.settle()


@count_dimension("deleted records", "13", "56", demanded=40)
def tombstones(stage: Stage, size: int) -> str | None:
    """N records are deleted; then a peer connects that still has the first, the last and one between."""
    alice, bob, carol = stage.open("alice"), stage.peer("bob"), stage.peer("carol")
    link = alice.link(bob)
    both, old = {bob.peer_id: 1, carol.peer_id: 1}, {carol.peer_id: 1}
    for number in range(size):
        tell(link, version(bob, f"record {number}", None, both, deleted=True))
    request_all(alice)
    ghosts = alice.link(carol)
    for number in sorted({0, size // 2, size - 1}):
        tell(ghosts, version(carol, f"record {number}", "there", old))
    request_all(alice)
    return _describe_closing(link)


@count_dimension("listeners", "14", "20", "35", demanded=12)
def listeners(stage: Stage, size: int) -> None:
    """N peers ask for updates; then the application writes a record."""
    alice = stage.open("alice")
    for number in range(size):
        subscribe(alice, stage.peer(f"listener {number}"))
    alice.put("door", "open")
    stage.settle()


@message_dimension(
    "vector clock members",
    *("12", "46"),
    demanded=40,
    position="the text names no bound",
    most=TOO_MANY,
    declared="clock_members",
)
def clock(stage: Stage, size: int) -> str | None:
    """The application writes a record, so that its clock has N members; then another peer asks for it."""
    alice, bob = stage.open("alice"), stage.peer("bob")
    writers = {record_id(f"writer {number}"): number for number in range(1, size - 1)}
    link = alice.link(bob)
    link.say(version(bob, "crowd", 1, {bob.peer_id: 1, **writers}))
    alice.after(1_000).put("crowd", 2)
    request_all(alice)
    return _describe_closing(link)


@message_dimension(
    "bytes of a message's body",
    *("02", "07"),
    demanded=2 * MEBIBYTE,
    position="bodies of 16,777,216 bytes are the largest that the framing of the text allows",
    most=LARGEST_BODY,
    declared="body_bytes",
)
def body(stage: Stage, size: int) -> str | None:
    """An update with a body of N bytes arrives; then another peer asks for the record."""
    alice, bob = stage.open("alice"), stage.peer("bob")
    around = len(bob.update("large", "").body)
    link = alice.link(bob)
    link.say(bob.update("large", "x" * max(0, size - around)))
    asked = request_all(alice)
    return _describe_closing(link) or _describe_missing(asked, 1)


@message_dimension(
    "levels of JSON", "07", demanded=3, position="the text names no bound (CA-16)", most=10_000, declared="depth"
)
def depth(stage: Stage, size: int) -> str | None:
    """An update with N levels of JSON arrives; then another peer asks for the record."""
    alice, bob = stage.open("alice"), stage.peer("bob")
    flat = bob.update("deep", "the value")
    link = alice.link(bob)
    # Build the text by hand: no encoder nests that deep.
    link.say(replace(flat, body=flat.body.replace(b'"the value"', b"[" * (size - 1) + b"]" * (size - 1) or b"1")))
    asked = request_all(alice)
    return _describe_closing(link) or _describe_missing(asked, 1)


@count_dimension("pieces of a message", "02", "37", demanded=300)
def pieces(stage: Stage, size: int) -> str | None:
    """An update arrives in N pieces; then another peer asks for the record."""
    alice, bob = stage.open("alice"), stage.peer("bob")
    link = alice.link(bob)
    wire = bob.update("torn", "x" * size).wire
    cuts = [len(wire) * number // size for number in range(size + 1)]
    for start, end in pairwise(cuts):
        if not link.broken:
            link.send(wire[start:end])
    asked = request_all(alice)
    return _describe_closing(link) or _describe_missing(asked, 1)


@DIMENSIONS.dimension(
    "cost of an update", "02", demanded=260, position="the text asks for no speed", most=TOO_MANY, timed=True
)
def cost(stage: Stage, size: int) -> None:
    """N records arrive: does each cost more processor time as their number grows?"""
    _send_records(stage, size)


def _send_records(stage: Stage, size: int) -> tuple[Actor, ScriptedLink]:
    """Open a peer that receives N records on one link; return the peer and the link."""
    alice, bob = stage.open("alice"), stage.peer("bob")
    link = alice.link(bob)
    for number in range(size):
        tell(link, bob.update(f"record-{number}", number))
    return alice, link


def _describe_closing(link: ScriptedLink) -> str | None:
    """A sentence if the peer closed the link, which is legal beyond the demanded size; else None."""
    return "the link is closed" if link.broken else None


def _describe_missing(link: ScriptedLink, records: int) -> str | None:
    """A sentence if fewer records were sent on the link than there are."""
    heard = len({message.body.members.get("uuid") for message in link.updates})
    return f"{heard} of {records} records came" if heard < records else None


# ---- helpers --------------------------------------------------------------------------------------------------------


def subscribe(actor: Actor, peer: ScriptedPeer, since: Any = None) -> ScriptedLink:
    """A link to a peer under test whose other end has asked for updates."""
    link = actor.link(peer)
    link.ask(since)
    return link


def request_all(actor: Actor) -> ScriptedLink:
    """Let a new scripted peer ask for everything, and hang up when all are quiet."""
    stage = actor.stage
    link = subscribe(actor, stage.peer(f"reader {len(stage.trace.steps)}"))
    stage.settle()
    if not link.broken:
        link.cut()
    return link


def version(peer: ScriptedPeer, key: str, value: Any, clock: Mapping[str, int], **more: Any) -> Frame:
    """A version of the record that all scripted peers mean by the key, with this clock."""
    return peer.update(key, value, **{"uuid": record_id(key), "vector_clock": clock, **more})


def tell(link: ScriptedLink, *frames: Frame) -> None:
    """Send messages while the link exists."""
    for frame in frames:
        if not link.broken:
            link.say(frame)

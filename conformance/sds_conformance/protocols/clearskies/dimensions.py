"""The sizes of ClearSkies that `limits` measures: one function each, which writes the schedule of a size."""

from __future__ import annotations

from functools import partial
from typing import Any

from sds_harness.clearskies.frames import UPDATE
from sds_harness.clearskies.group_trace import GroupTrace
from sds_harness.clearskies.operations import Schedule
from sds_harness.clearskies.player import NO_LINK, perform
from sds_harness.clearskies.script import Message, Part, Peer, Script, ScriptLink
from sds_harness.clearskies.stage import Stage

from ..dimensions import Dimensions
from .scenarios.layout import MEBIBYTE
from .scenarios.scripts import request_all, subscribe


def _perform(schedule: Schedule, stage: Stage, room: int) -> GroupTrace:
    """Play a schedule. A peer may close a link beyond the demanded size."""
    return perform(schedule, stage, room, NO_LINK)


DIMENSIONS = Dimensions("CSDB-", Script, _perform)

TOO_MANY = 1 << 16
"""Maximum number of items in one run, because a run keeps all of them until it is judged."""
LARGEST_BODY = 16_777_216
"""The maximum size of the body of a message in bytes, by the specification."""
NO_BOUND = "the specification names no bound"


def _describe_closing(group_trace: GroupTrace, label: str) -> str:
    """A sentence if the peer closed a link early, which is legal beyond the demanded size; else ""."""
    closed = any(why.startswith(NO_LINK) for why in group_trace.left_out.values())
    return "the link is closed" if closed or any(loss.packet.act == 0 for loss in group_trace.losses) else ""


def _describe_missing(group_trace: GroupTrace, label: str) -> str:
    """A sentence if the peer closed a link early, or if the last link carried fewer records than there are; else ""."""
    last = max((packet.wire.link for packet in group_trace.packets), default=0)
    written: set[Any] = set()
    arrived: set[Any] = set()
    for packet in group_trace.packets:
        for message in packet.wire.messages:
            if message.type == UPDATE:
                (arrived if packet.act and packet.wire.link == last else written).add(message.body.members.get("uuid"))
    records = len(written | arrived)
    missing = f"{len(arrived)} of {records} records arrived" if len(arrived) < records else ""
    return _describe_closing(group_trace, label) or missing


_count = partial(DIMENSIONS.dimension, position=NO_BOUND, most=TOO_MANY)
"""Registers a dimension that counts items."""
_at_once = partial(DIMENSIONS.dimension, at_once=True)
"""Registers a dimension of a single message."""


def _open_participants(script: Script) -> tuple[Part, Peer]:
    return script.open("alice"), script.peer("bob")


def _update_records(script: Script, size: int) -> Part:
    """Open a peer that receives N records on one link."""
    alice, bob = _open_participants(script)
    link = alice.link(bob)
    for number in range(size):
        link.update(f"record-{number}", number)
    return alice


@_count("records received", "02", "33", "37", demanded=260, lost=_describe_missing)
def records(script: Script, size: int) -> None:
    """N records arrive on one link; then another peer requests all of them."""
    request_all(_update_records(script, size))


@_count("records written", "08", "10", "14", demanded=50, lost=_describe_missing)
def puts(script: Script, size: int) -> None:
    """The application writes N records; another peer requests updates after half of them."""
    alice, bob = _open_participants(script)
    for number in range(size // 2):
        alice.put(f"record-{number}", number)
    subscribe(alice, bob)
    for number in range(size // 2, size):
        alice.put(f"record-{number}", number)
    script.settle()


@_count("revisions of a record", "10", "14", "44", demanded=12)
def revisions(script: Script, size: int) -> None:
    """The application writes one record N times while another peer is subscribed."""
    alice, bob = _open_participants(script)
    subscribe(alice, bob)
    for number in range(size):
        alice.put("door", number)
    script.settle()


@_count("deleted records", "13", "56", demanded=40, lost=_describe_closing)
def tombstones(script: Script, size: int) -> None:
    """N records are deleted; then a peer connects that still has the first, the last and one between."""
    alice, bob = _open_participants(script)
    carol = script.peer("carol")
    link = alice.link(bob)
    for number in range(size):
        key = f"record {number}"
        link.update(key, None, record=key, clock={bob: 1, carol: 1}, deleted=True)
    request_all(alice)
    old = alice.link(carol)
    for number in sorted({0, size // 2, size - 1}):
        key = f"record {number}"
        old.update(key, "there", record=key, clock={carol: 1})
    request_all(alice)


@_count("listeners", "14", "20", "35", demanded=12)
def listeners(script: Script, size: int) -> None:
    """N peers request updates; then the application writes a record."""
    alice = script.open("alice")
    for number in range(size):
        subscribe(alice, script.peer(f"listener {number}"))
    alice.put("door", "open")
    script.settle()


@_at_once(
    "vector clock members",
    *("12", "46"),
    demanded=40,
    position=NO_BOUND,
    most=TOO_MANY,
    declared="clock_members",
    lost=_describe_closing,
)
def clock(script: Script, size: int) -> None:
    """The application writes a record, so that its clock has N members; then another peer requests it."""
    alice, bob = _open_participants(script)
    alice.link(bob).update("crowd", 1, clock={bob: 1}, clock_members=max(0, size - 2))
    alice.after(1_000).put("crowd", 2)
    request_all(alice)


def _update_one(script: Script, **fields: int) -> None:
    """One update arrives; then another peer requests the record."""
    alice, bob = _open_participants(script)
    alice.link(bob).update("large", **fields)
    request_all(alice)


@_at_once(
    "bytes of a message's body",
    *("02", "07"),
    demanded=2 * MEBIBYTE,
    position="bodies of 16,777,216 bytes are the largest that the framing of the specification allows",
    most=LARGEST_BODY,
    declared="body_bytes",
    lost=_describe_missing,
)
def body(script: Script, size: int) -> None:
    """An update with a body of N bytes arrives; then another peer requests the record."""
    _update_one(script, body_bytes=size)


@_at_once(
    "levels of JSON",
    "07",
    demanded=3,
    position="the specification names no bound (CA-16)",
    most=10_000,
    declared="depth",
    lost=_describe_missing,
)
def depth(script: Script, size: int) -> None:
    """An update with N levels of JSON arrives; then another peer requests the record."""
    _update_one(script, levels=size - 1)


@_count("pieces of a message", "02", "37", demanded=300, lost=_describe_missing)
def pieces(script: Script, size: int) -> None:
    """An update arrives in N pieces; then another peer requests the record."""
    alice, bob = _open_participants(script)
    link: ScriptLink = alice.link(bob)
    message: Message = bob.update("torn", length=size)
    link.send(*(message.part(byte, byte + 1) for byte in range(size - 1)), message.part(size - 1))
    request_all(alice)


@DIMENSIONS.dimension(
    "cost of an update", "02", demanded=260, position="the specification requires no speed", most=TOO_MANY, timed=True
)
def cost(script: Script, size: int) -> None:
    """N records arrive: does each cost more processor time as their number grows?"""
    _update_records(script, size)

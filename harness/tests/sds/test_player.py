"""The player: each participant acts and receives at the right time and from the right sender."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from syrupy.assertion import SnapshotAssertion

from player_helpers import NOT_CAROL, TRIO, arrived, message, reference, shown
from sds_harness.schedules.base_player import raise_if_stopped
from sds_harness.sds import operations as ops
from sds_harness.sds.encodings import ENCODINGS
from sds_harness.sds.group_trace import GroupTrace
from sds_harness.sds.operations import Member, Operation, Route
from sds_harness.sds.player import hint_of
from sds_harness.stage import START_MS
from sds_proto.testee.v1 import testee_pb2 as pb
from sds_reference import Config, HistoryEntry, Message, build_filter, encode

FAR = -1_000_000_000_000
LATE_AT_BOB = Route(late=(("bob", 50),))
MISSED_BY_CAROL = tuple(ops.Send("alice", f"m{n}", route=NOT_CAROL) for n in (1, 2, 3))
STORIES: dict[str, tuple[Operation, ...]] = {
    "a broadcast reaches the others before the next operation begins": (
        *(ops.Send("bob", "m1"), ops.Sync("alice"), ops.Tick("carol"), ops.Ephemeral("carol"), ops.Look("bob")),
    ),
    "a route is for whatever an operation broadcasts": (
        ops.Sync("alice", route=NOT_CAROL),
        ops.Ephemeral("alice", route=NOT_CAROL),
        ops.Say("xavier", "x1", route=NOT_CAROL),
        ops.Send("alice", "m1", route=Route(lost=("bob", "carol"))),
        ops.Wait(40_000),
        ops.Tick(route=NOT_CAROL),
    ),
    "rules and cuts are for their links, and a route wins over both": (
        *(ops.Links(100, sender="alice", listener="bob"), ops.Links(100, listener="dave"), ops.Join("dave")),
        *(ops.Send("alice", "m1"), ops.Send("bob", "m2"), ops.Heal()),
        *(ops.Cut(("alice", "bob"), ("carol",)), ops.Send("alice", "m3"), ops.Send("carol", "m4"), ops.Heal()),
        *(ops.Links(100), ops.Send("alice", "m5", route=Route(late=(("bob", 40),), twice=("carol",)))),
        *(ops.Links(0, 0, (5, 5)), ops.Send("dave", "m6", route=Route(("bob",), (("carol", 0),))), ops.Wait(90)),
    ),
    "no clock is stepped back beyond the first millisecond": (
        *(ops.StepClock("bob", FAR), ops.StepClock("bob", FAR), ops.Tick("bob"), ops.Send("bob", "m1")),
    ),
    "who joins late hears nothing of what was said before": (
        ops.Send("alice", "m1", route=Route(late=(("dave", 50),))),
        *(ops.Send("dave", "never"), ops.Wait(10), ops.Join("dave"), ops.Join("dave")),
        *(ops.Send("bob", "m2"), ops.Wait(100)),
    ),
    "who crashed does and hears nothing more and does not come back": (
        ops.Send("alice", "m1", route=LATE_AT_BOB),
        *(ops.Crash("bob"), ops.Crash("bob"), ops.Send("bob", "never"), ops.Tick(), ops.Join("bob")),
        *(ops.Say("xavier", "x1"), ops.Garble("bob", "00"), ops.Again("m1", "bob"), ops.Wait(100)),
    ),
    "a lookup fetches what is missing through all dependencies": (
        *(*MISSED_BY_CAROL, ops.Send("bob", "m4"), ops.Lookup("bob"), ops.Lookup("carol"), ops.Lookup("carol")),
    ),
    "calm goes on while something is missing that may be sent again": (
        *(ops.Send("alice", "m1", route=NOT_CAROL), ops.Crash("alice"), ops.Send("bob", "m2")),
        ops.Calm(rounds=3, period_ms=500),
    ),
    "what is refused is left out and the rest is played": (
        *(ops.Send("alice", "m1", content="rude"), ops.Send("alice", "m2")),
    ),
}


def refuse(request: pb.Request, reply: pb.Reply) -> None:
    if request.send.content == b"rude":
        reply.rejected.reason = "no such words"


def describe(group_trace: GroupTrace) -> Iterator[str]:
    """The group trace in lines: time, participant, command, packet and deliveries."""
    labels = {message(group_trace, name).message_id: name for name in group_trace.labels}
    for act in group_trace.acts:
        of = f" {act.packet.label or act.packet.sender!r} ({act.source})" if act.packet else ""
        sent = f", {len(act.step.broadcasts)} sent" if act.step.broadcasts else ""
        events = "".join(f", {each.kind} {labels.get(each.message_id, '')}".rstrip() for each in act.step.events)
        clock = f" by clock {act.step.now_ms - START_MS:+}" if act.step.now_ms else ""
        yield f"{act.operation} T+{act.at_ms}{clock} {act.who} {act.step.command}{of}{sent}{events}"
    for loss in group_trace.losses:
        yield f"lost: {loss.packet.label!r} to {loss.listener} at T+{loss.at_ms}, {loss.why}"
    ended = f"settled {group_trace.settled} in {group_trace.calm_rounds}"
    yield f"crashed {group_trace.crashed}, left out {group_trace.left_out}, {ended}"


@pytest.mark.parametrize("story", STORIES)
def test_everybody_acts_and_hears_in_this_order(story: str, snapshot: SnapshotAssertion) -> None:
    members = (*TRIO, Member("dave", late=True)) if "dave" in repr(STORIES[story]) else TRIO
    history: dict[str, Any] = {"configuration": (("causal_history_size", 1),)} if "lookup" in story else {}
    group_trace = shown(*STORIES[story], members=members, handle=reference(refuse), **history)
    assert [act.number for act in group_trace.acts] == list(range(1, len(group_trace.acts) + 1))
    assert (group_trace.breakdown, group_trace.storm) == (None, False)
    assert "\n".join(describe(group_trace)) == snapshot


def test_a_scripted_peer_says_whatever_it_is_reported_to() -> None:
    group_trace = shown(
        ops.Send("alice", "m1"),
        ops.Wait(100),
        ops.Say("xavier", "x1", lamport_ms=-30, after=("m1", "x0"), hint=True, senders_named=True, asks=("m1",)),
        ops.Say("xavier", "x2", lamport_ms=None, content=None, filter=("m1",), to="bob", channel=1),
        ops.Say("xavier", "x3", lamport_ms=1 << 64, id_of="m1", poses_as="alice", raw_filter="00ff", raw="7f"),
        ops.Say("xavier", "x4", lamport_ms=-(10**13), id_of="never", content="hi", filter=()),
        channels=("c1", "c2"),
    )
    first = message(group_trace, "m1").message_id
    m1, x0 = HistoryEntry(first, hint_of("m1"), "alice"), HistoryEntry("never-x0", hint_of("x0"), "nobody")
    size = Config().bloom_profile, Config().bloom_parameters
    now = START_MS + 100
    asked = (replace(m1, retrieval_hint=None),)
    said = [
        Message("xavier", "xavier-x1", "c1", now - 30, (m1, x0), None, asked, b"content x1 of xavier"),
        Message("xavier", "xavier-x2", "c2", None, (), build_filter(*size, [first])),
        Message("alice", first, "c1", (1 << 64) - 1, (), b"\x00\xff", (), b"\x7f"),
        Message("xavier", "never-never", "c1", 0, (), build_filter(*size, []), (), b"hi"),
    ]
    assert [message(group_trace, label) for label in ("x1", "x2", "x3", "x4")] == said
    assert {(packet.sender, packet.act) for packet in group_trace.packets[1:]} == {("xavier", 0)}
    assert arrived(group_trace, "bob") == ["m1", "x1", "x2", "x3", "x4"]
    assert arrived(group_trace, "carol") == ["m1", "x1", "x3", "x4"]


def test_a_scripted_peer_writes_the_same_in_other_ways() -> None:
    group_trace = shown(*(ops.Say("xavier", "x1", after=("x0",), encoding=way) for way in ENCODINGS))
    usual, *others = [packet.wire for packet in group_trace.packets]
    assert {usual.message} == {wire.message for wire in others}
    assert len({usual.raw, *(wire.raw for wire in others)}) == len(ENCODINGS)


@pytest.mark.parametrize("place", [0, 1])
def test_of_what_a_step_broadcasts_the_requested_message_has_the_label(place: int) -> None:
    def chatter(request: pb.Request, reply: pb.Reply) -> None:
        if request.WhichOneof("command") == "send":
            other = encode(Message("alice", "more", "c1", START_MS, content=b"more"))
            broadcasts = [*reply.effects.broadcasts]
            broadcasts.insert(place, other)
            reply.effects.ClearField("broadcasts")
            reply.effects.broadcasts.extend(broadcasts)

    group_trace = shown(ops.Send("alice", "m1"), handle=reference(chatter))
    assert arrived(group_trace, "bob") == (["", "m1"] if place == 0 else ["m1", ""])
    assert [act.number for act in group_trace.acts if act.step.broadcasts] == [
        packet.act for packet in group_trace.packets[:1]
    ]


def test_a_scenario_is_not_stopped_by_a_period_that_nobody_tells() -> None:
    def untold(request: pb.Request, reply: pb.Reply) -> None:
        if request.WhichOneof("command") == "open":
            reply.opened.configuration.ClearField("t_min_ms")

    group_trace = shown(
        ops.Wait(0, "t_min_ms // 2"), ops.Tick("alice"), members=(Member("alice"),), handle=reference(untold)
    )
    assert "does not report its t_min_ms" in group_trace.left_out[0]
    raise_if_stopped(group_trace)

"""The player: each participant acts and receives at the right time and from the right sender."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from syrupy.assertion import SnapshotAssertion

from player_helpers import NOT_CAROL, TRIO, message, reference, shown
from sds_harness.schedules.base_player import raise_if_stopped
from sds_harness.sds import operations as ops
from sds_harness.sds.group_trace import GroupTrace
from sds_harness.sds.operations import Member, Operation, Route
from sds_harness.stage import START_MS
from sds_proto.testee.v1 import testee_pb2 as pb

LATE_AT_BOB = Route(late=(("bob", 50),))
MISSED_BY_CAROL = tuple(ops.Send("alice", f"m{n}", route=NOT_CAROL) for n in (1, 2, 3))
STORIES: dict[str, tuple[Operation, ...]] = {
    "rules and cuts are for their links, and a route wins over both": (
        *(ops.Links(100, sender="alice", listener="bob"), ops.Links(100, listener="dave"), ops.Join("dave")),
        *(ops.Send("alice", "m1"), ops.Send("bob", "m2"), ops.Heal()),
        *(ops.Cut(("alice", "bob"), ("carol",)), ops.Send("alice", "m3"), ops.Send("carol", "m4"), ops.Heal()),
        *(ops.Links(100), ops.Send("alice", "m5", route=Route(late=(("bob", 40),), twice=("carol",)))),
        *(ops.Links(0, 0, (5, 5)), ops.Send("dave", "m6", route=Route(("bob",), (("carol", 0),))), ops.Wait(90)),
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
}


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
    group_trace = shown(*STORIES[story], members=members, **history)
    assert [act.number for act in group_trace.acts] == list(range(1, len(group_trace.acts) + 1))
    assert (group_trace.breakdown, group_trace.storm) == (None, False)
    assert "\n".join(describe(group_trace)) == snapshot


def test_a_scenario_is_not_stopped_by_a_period_that_nobody_tells() -> None:
    def untold(request: pb.Request, reply: pb.Reply) -> None:
        if request.WhichOneof("command") == "open":
            reply.opened.configuration.ClearField("t_min_ms")

    group_trace = shown(
        ops.Wait(0, "t_min_ms // 2"), ops.Tick("alice"), members=(Member("alice"),), handle=reference(untold)
    )
    assert "does not report its t_min_ms" in group_trace.left_out[0]
    raise_if_stopped(group_trace)

"""The player: each participant acts and receives at the right time and from the right sender."""

from __future__ import annotations

from dataclasses import replace

import pytest

from player_helpers import NOT_CAROL, TRIO, arrivals, commands, delivered, heard, message, reference, shown
from sds_harness.schedules.performer import raise_if_stopped
from sds_harness.sds import operations as ops
from sds_harness.sds.operations import Member, Route
from sds_harness.sds.player import hint_of
from sds_harness.stage import START_MS
from sds_proto.testee.v1 import testee_pb2 as pb
from sds_reference import Config, HistoryEntry, Message, build_filter, encode

# ---- Order and time --------------------------------------------------------------------------------------------------


def test_a_broadcast_reaches_the_others_in_order_before_the_next_operation_begins() -> None:
    show = shown(ops.Send("bob", "m1"), ops.Sync("alice"), ops.Tick("carol"), ops.Ephemeral("carol"), ops.Look("bob"))
    assert commands(show) == [
        *("bob send", "alice receive", "carol receive"),
        *("alice send_sync", "bob receive", "carol receive"),
        "carol tick",
        *("carol send_ephemeral", "alice receive", "bob receive"),
        "bob observe",
    ]
    assert [act.number for act in show.acts] == list(range(1, len(show.acts) + 1))
    assert [act.operation for act in show.acts] == [-1, -1, -1, 0, 0, 0, 1, 1, 1, 2, 3, 3, 3, 4]
    assert [packet.label for packet in show.packets] == ["m1", "", ""]
    assert delivered(show, "alice") == ["m1", ""]
    assert {act.source for act in show.acts} == {"network"}
    assert (show.breakdown, show.left_out, show.losses, show.storm) == (None, {}, [], False)


def test_a_route_is_for_whatever_an_operation_broadcasts() -> None:
    show = shown(
        ops.Sync("alice", route=NOT_CAROL),
        ops.Ephemeral("alice", route=NOT_CAROL),
        ops.Say("xavier", "x1", route=NOT_CAROL),
        ops.Send("alice", "m1", route=Route(lost=("bob", "carol"))),
        ops.Wait(40_000),
        ops.Tick(route=NOT_CAROL),
    )
    assert [act.operation for act in arrivals(show, "bob")] == [0, 1, 2, 5]
    assert delivered(show, "bob")[-1] == "m1"
    assert heard(show, "carol") == []


def test_no_clock_is_stepped_back_beyond_the_first_millisecond() -> None:
    far = -1_000_000_000_000
    show = shown(ops.StepClock("bob", far), ops.StepClock("bob", far), ops.Tick("bob"), ops.Send("bob", "m1"))
    assert [act.step.now_ms for act in show.acts if act.who == "bob"] == [START_MS, 1, 1]
    assert heard(show, "alice") == ["m1"]


# ---- Participants ----------------------------------------------------------------------------------------------------


def test_a_late_participant_hears_nothing_of_what_was_said_before_it_joined() -> None:
    show = shown(
        ops.Send("alice", "m1", route=Route(late=(("carol", 50),))),
        ops.Send("carol", "never"),
        ops.Wait(10),
        ops.Join("carol"),
        ops.Join("carol"),
        ops.Send("bob", "m2"),
        ops.Wait(100),
        members=(*TRIO[:2], Member("carol", late=True)),
    )
    assert [(act.step.command, act.at_ms) for act in show.acts if act.who == "carol"] == [("open", 10), ("receive", 10)]
    assert heard(show, "carol") == ["m2"]
    assert show.parties["carol"].opened_ms == START_MS + 10
    assert list(show.labels) == ["m1", "m2"]


def test_whoever_crashed_does_and_hears_nothing_more_and_does_not_come_back() -> None:
    show = shown(
        ops.Send("alice", "m1", route=Route(late=(("bob", 50),))),
        ops.Crash("bob"),
        ops.Crash("bob"),
        ops.Send("bob", "never"),
        ops.Tick(),
        ops.Join("bob"),
        ops.Say("xavier", "x1"),
        ops.Garble("bob", "00"),
        ops.Again("m1", "bob"),
        ops.Wait(100),
    )
    assert commands(show, "bob") == []
    assert show.crashed == {"bob": 1}
    assert [(loss.packet.label, loss.listener, loss.at_ms, loss.why) for loss in show.losses] == [
        ("m1", "bob", 50, "crashed")
    ]
    assert heard(show, "carol") == ["m1", "x1"]


# ---- Stores, copies, scripted peers ----------------------------------------------------------------------------------


def test_a_lookup_fetches_what_is_missing_through_all_dependencies() -> None:
    missed = [ops.Send("alice", f"m{n}", route=NOT_CAROL) for n in (1, 2, 3)]
    show = shown(
        *missed,
        ops.Send("bob", "m4"),
        ops.Lookup("bob"),
        ops.Lookup("carol"),
        ops.Lookup("carol"),
        configuration=(("causal_history_size", 1),),
    )
    assert [(act.packet.label if act.packet else "", act.source, act.operation) for act in arrivals(show, "carol")] == [
        ("m4", "network", 3),
        *((label, "store", 5) for label in ("m3", "m2", "m1")),
    ]
    assert delivered(show, "carol") == ["m1", "m2", "m3", "m4"]
    assert heard(show, "bob") == ["m1", "m2", "m3"]


def test_a_scripted_peer_says_whatever_it_is_told_to() -> None:
    show = shown(
        ops.Send("alice", "m1"),
        ops.Wait(100),
        ops.Say("xavier", "x1", lamport_ms=-30, after=("m1", "x0"), hint=True, senders_named=True, asks=("m1",)),
        ops.Say("xavier", "x2", lamport_ms=None, content=None, filter=("m1",), to="bob", channel=1),
        ops.Say("xavier", "x3", lamport_ms=1 << 64, id_of="m1", poses_as="alice", raw_filter="00ff", raw="7f"),
        ops.Say("xavier", "x4", lamport_ms=-(10**13), id_of="never", content="hi", filter=()),
        channels=("c1", "c2"),
    )
    first = message(show, "m1").message_id
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
    assert [message(show, label) for label in ("x1", "x2", "x3", "x4")] == said
    assert {(packet.sender, packet.act) for packet in show.packets[1:]} == {("xavier", 0)}
    assert heard(show, "bob") == ["m1", "x1", "x2", "x3", "x4"]
    assert heard(show, "carol") == ["m1", "x1", "x3", "x4"]


@pytest.mark.parametrize("place", [0, 1])
def test_of_what_a_step_broadcasts_the_requested_message_has_the_label(place: int) -> None:
    def chatter(request: pb.Request, reply: pb.Reply) -> None:
        if request.WhichOneof("command") == "send":
            other = encode(Message("alice", "more", "c1", START_MS, content=b"more"))
            broadcasts = [*reply.effects.broadcasts]
            broadcasts.insert(place, other)
            reply.effects.ClearField("broadcasts")
            reply.effects.broadcasts.extend(broadcasts)

    show = shown(ops.Send("alice", "m1"), handle=reference(chatter))
    assert heard(show, "bob") == (["", "m1"] if place == 0 else ["m1", ""])
    assert [act.number for act in show.acts if act.step.broadcasts] == [packet.act for packet in show.packets[:1]]


# ---- Scenarios -------------------------------------------------------------------------------------------------------

ALICE = (Member("alice"),)


def test_a_scenario_is_not_stopped_by_a_period_that_nobody_tells() -> None:
    def untold(request: pb.Request, reply: pb.Reply) -> None:
        if request.WhichOneof("command") == "open":
            reply.opened.configuration.ClearField("t_min_ms")

    show = shown(ops.Wait(0, "t_min_ms // 2"), ops.Tick("alice"), members=ALICE, handle=reference(untold))
    assert "does not tell its t_min_ms" in show.left_out[0]
    raise_if_stopped(show)

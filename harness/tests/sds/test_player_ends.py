"""The ends of schedules, operations that are left out, and group traces that are the same in each process."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from player_helpers import (
    TRIO,
    Fragile,
    arrived,
    commands,
    delivered,
    message,
    reference,
    shown,
    stage_on,
    without,
)
from sds_harness.faults import FaultKind
from sds_harness.schedules import Schedule
from sds_harness.sds import operations as ops
from sds_harness.sds import player
from sds_harness.sds.group_trace import GroupTrace
from sds_harness.sds.operations import Member
from sds_harness.sds.player import hint_of, play
from sds_proto.testee.v1 import testee_pb2 as pb
from sds_reference.testee.dialect import load_dialect

# ---- Undeclared capabilities and refusals ----------------------------------------------------------------------------


def test_what_needs_a_capability_that_is_not_there_is_left_out_and_reported() -> None:
    group_trace = shown(
        ops.Sync("alice"),
        ops.Ephemeral("alice"),
        ops.Look(),
        ops.Send("alice", "m1", channel=1, hint=True),
        ops.Send("alice", "m2"),
        handle=without(
            pb.CAPABILITY_SYNC,
            pb.CAPABILITY_EPHEMERAL,
            pb.CAPABILITY_OBSERVE,
            pb.CAPABILITY_CHANNELS,
            pb.CAPABILITY_RETRIEVAL_HINTS,
        ),
        channels=("c1", "c2"),
    )
    assert group_trace.left_out == {0: "needs the capability sync", 1: "needs the capability ephemeral"}
    assert commands(group_trace, "alice") == ["send", "send"]
    assert arrived(group_trace, "bob") == delivered(group_trace, "bob") == ["m1", "m2"]
    assert message(group_trace, "m1").channel_id == "c1"
    assert {party.channels for party in group_trace.parties.values()} == {("c1",)}
    assert [entry.retrieval_hint for entry in message(group_trace, "m2").causal_history] == [None]
    assert hint_of("m1") in [e.retrieval_hint for e in message(shown(*HINTED), "m2").causal_history]


HINTED = (ops.Send("alice", "m1", hint=True), ops.Send("alice", "m2"))


def test_whoever_may_not_be_opened_is_missing_and_the_others_play() -> None:
    def refuse(request: pb.Request, reply: pb.Reply) -> None:
        if request.open.participant_id == "alice":
            reply.rejected.reason = "full"

    group_trace = shown(ops.Send("alice", "never"), ops.Send("bob", "m1"), handle=reference(refuse))
    assert group_trace.left_out == {-1: "opening participant 'alice' was refused: full"}
    assert list(group_trace.parties) == ["bob", "carol"]
    assert commands(group_trace) == ["bob send", "carol receive"]


# ---- Ends ------------------------------------------------------------------------------------------------------------


def test_a_breakdown_is_noted_ends_the_group_trace_and_leaves_no_other_participant_open() -> None:
    sound, fragile = Fragile(), Fragile("receive")
    stages = {"alice": sound.stage, "bob": fragile.stage, "carol": sound.stage}
    group_trace = play(Schedule(TRIO, (ops.Send("alice", "m1"), ops.Tick())), stages)
    assert group_trace.breakdown is not None
    assert (group_trace.breakdown.kind, group_trace.breakdown.detail) == (FaultKind.CRASH, "RuntimeError: out of order")
    assert group_trace.broken == "bob"
    assert commands(group_trace) == ["alice send", "bob receive"]
    assert group_trace.acts[-1].step.reply is None
    assert sound.asked == ["hello", "open", "open", "send", "close", "close"]
    assert fragile.asked == ["hello", "open", "receive"]


def test_a_storm_is_broken_off(monkeypatch: pytest.MonkeyPatch) -> None:
    def answer(request: pb.Request, reply: pb.Reply) -> None:
        if request.WhichOneof("command") == "receive":
            reply.effects.broadcasts.append(request.receive.wire)

    monkeypatch.setattr(player, "MAX_PACKETS", 100)
    group_trace = shown(ops.Send("alice", "m1"), ops.Send("alice", "never"), handle=reference(answer))
    assert group_trace.storm
    assert list(group_trace.labels) == ["m1"]
    assert 100 <= len(group_trace.packets) <= 101
    assert not shown(ops.Send("alice", "m1", times=100)).storm


def test_a_schedule_without_end_is_left_out_from_there_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(player, "MAX_STEPS", 12)
    group_trace = shown(*[ops.Tick("alice")] * 100)
    assert group_trace.steps == 12
    assert list(group_trace.left_out.values()) == ["the maximum of 12 steps was reached, and the rest was not played"]
    assert group_trace.breakdown is None
    assert not group_trace.storm


def test_too_much_repetition_ends_the_schedule() -> None:
    group_trace = shown(*[ops.Repeat(1, 2_000), ops.Mark("t")] * 60, ops.Tick("alice"))
    assert commands(group_trace) == []
    assert "the maximum of 100,000 repeated operations was reached" in next(iter(group_trace.left_out.values()))


def test_a_repair_that_is_none_of_the_messages_is_not_awaited() -> None:
    group_trace = shown(
        ops.Write("zoe", "lost"), ops.Await("alice", ("lost",), nth=3), configuration=(("sds_r", True),)
    )
    assert "nth is 3, and the number of messages is 1" in next(iter(group_trace.left_out.values()))


# ---- Several implementations, repeatedly -----------------------------------------------------------------------------

BUSY = Schedule(
    (Member("alice"), Member("bob", clock_ms=700), Member("carol", late=True)),
    (
        ops.Links(loss_percent=30, duplicate_percent=30, delay_ms=(0, 900)),
        *(ops.Send(who, f"{who}-{n}", hint=n % 2 == 0) for n in range(4) for who in ("alice", "bob")),
        ops.Join("carol"),
        ops.Wait(500),
        ops.Say("xavier", "x1", after=("alice-1", "bob-2"), filter=("alice-3",), senders_named=True),
        ops.Send("carol", "carol-0"),
        ops.Look(),
        ops.Lookup("bob"),
        ops.Calm(rounds=6, store=True),
    ),
    configuration=(("sds_r", True),),
    seed=11,
)


def mixed() -> GroupTrace:
    """Play on two implementations; bob's speaks the dialect of nim-sds."""
    text = stage_on(reference())
    private = stage_on(reference(dialect=load_dialect("nim-sds")), "nim-sds")
    return play(BUSY, {"alice": text, "bob": private, "carol": text})


def lines(group_trace: GroupTrace) -> str:
    """Everything in a group trace, as lines."""
    traces = [line for trace in group_trace.traces for line in trace.to_json_lines()]
    acts = [f"{a.number} {a.who} {a.step.index} {a.at_ms} {a.operation} {a.source}" for a in group_trace.acts]
    losses = [f"{loss.packet.number} {loss.listener} {loss.at_ms} {loss.why}" for loss in group_trace.losses]
    return "\n".join(
        [
            *traces,
            *acts,
            *losses,
            repr((group_trace.began, group_trace.left_out, group_trace.calm_rounds, group_trace.settled)),
        ]
    )


def test_no_order_depends_on_the_hashes_of_a_process() -> None:
    script = "import test_player_ends as tests; print(tests.lines(tests.mixed()))"
    path = os.pathsep.join([os.path.dirname(__file__), *sys.path])
    printed = [
        subprocess.run(
            [sys.executable, "-c", script],
            env={**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": path, "PYTHONUTF8": "1"},
            capture_output=True,
            check=True,
            timeout=30,
        ).stdout
        for seed in ("0", "4711")
    ]
    assert printed[0].decode() == lines(mixed()) + "\n"
    assert printed[1] == printed[0]

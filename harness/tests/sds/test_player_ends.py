"""The ends of schedules, operations that are left out, and repeated performances with several implementations."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import replace

import pytest

from player_helpers import (
    TRIO,
    Fragile,
    arrivals,
    commands,
    delivered,
    heard,
    message,
    reference,
    shown,
    stage_on,
    without,
)
from sds_harness.faults import FaultKind
from sds_harness.schedules import Schedule, player
from sds_harness.sds import operations as ops
from sds_harness.sds.operations import Member
from sds_harness.sds.performance import Performance
from sds_harness.sds.player import hint_of, play
from sds_proto.testee.v1 import testee_pb2 as pb
from sds_reference.testee.dialect import load_dialect

# ---- Calm ------------------------------------------------------------------------------------------------------------


def test_calm_ends_once_a_message_is_missing_that_nobody_will_send_again() -> None:
    # The longest period in force, 90 s, passes, and two rounds of a minute after it.
    strange = shown(ops.Say("xavier", "x1", to="bob"), ops.Say("xavier", "x2", after=("x1",)), ops.Calm(rounds=50))
    assert strange.settled
    assert strange.calm_rounds == 4


# ---- What cannot be had ----------------------------------------------------------------------------------------------


def test_what_needs_a_capability_that_is_not_there_is_left_out_and_told() -> None:
    show = shown(
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
    assert show.left_out == {0: "needs the capability sync", 1: "needs the capability ephemeral"}
    assert commands(show, "alice") == ["send", "send"]
    assert heard(show, "bob") == delivered(show, "bob") == ["m1", "m2"]
    assert message(show, "m1").channel_id == "c1"
    assert {party.channels for party in show.parties.values()} == {("c1",)}
    assert [entry.retrieval_hint for entry in message(show, "m2").causal_history] == [None]
    assert hint_of("m1") in [e.retrieval_hint for e in message(shown(*HINTED), "m2").causal_history]


HINTED = (ops.Send("alice", "m1", hint=True), ops.Send("alice", "m2"))


def test_whoever_may_not_be_opened_is_missing_and_the_others_play() -> None:
    def refuse(request: pb.Request, reply: pb.Reply) -> None:
        if request.open.participant_id == "alice":
            reply.rejected.reason = "full"

    show = shown(ops.Send("alice", "never"), ops.Send("bob", "m1"), handle=reference(refuse))
    assert show.left_out == {-1: "opening participant 'alice' was refused: full"}
    assert list(show.parties) == ["bob", "carol"]
    assert commands(show) == ["bob send", "carol receive"]


# ---- Ends ------------------------------------------------------------------------------------------------------------


def test_in_the_end_every_participant_is_closed_even_who_crashed_in_the_schedule() -> None:
    one, other = Fragile(), Fragile()
    stages = {"alice": one.stage, "bob": other.stage, "carol": other.stage}
    show = play(Schedule(TRIO, (ops.Crash("carol"),)), stages)
    assert (one.asked, other.asked) == (["hello", "open", "close"], ["hello", "open", "open", "close", "close"])
    assert "close" not in commands(show)


def test_a_breakdown_is_noted_ends_the_performance_and_leaves_no_other_participant_open() -> None:
    sound, fragile = Fragile(), Fragile("receive")
    stages = {"alice": sound.stage, "bob": fragile.stage, "carol": sound.stage}
    show = play(Schedule(TRIO, (ops.Send("alice", "m1"), ops.Tick())), stages)
    assert show.breakdown is not None
    assert (show.breakdown.kind, show.breakdown.detail) == (FaultKind.CRASH, "RuntimeError: out of order")
    assert show.broken == "bob"
    assert commands(show) == ["alice send", "bob receive"]
    assert show.acts[-1].step.reply is None
    assert sound.asked == ["hello", "open", "open", "send", "close", "close"]
    assert fragile.asked == ["hello", "open", "receive"]


def test_a_breakdown_at_the_close_is_noted_too() -> None:
    fragile = Fragile("close")
    show = play(Schedule(TRIO[:1], (ops.Tick(),)), {"alice": fragile.stage})
    assert show.breakdown is not None
    assert show.breakdown.kind is FaultKind.CRASH
    assert show.broken == "alice"
    assert commands(show) == ["alice tick"]


def test_a_storm_is_broken_off(monkeypatch: pytest.MonkeyPatch) -> None:
    def answer(request: pb.Request, reply: pb.Reply) -> None:
        if request.WhichOneof("command") == "receive":
            reply.effects.broadcasts.append(request.receive.wire)

    monkeypatch.setattr(player, "MAX_PACKETS", 100)
    show = shown(ops.Send("alice", "m1"), ops.Send("alice", "never"), handle=reference(answer))
    assert show.storm
    assert list(show.labels) == ["m1"]
    assert 100 <= len(show.packets) <= 101
    assert not shown(ops.Send("alice", "m1", times=100)).storm


def test_a_schedule_without_end_is_left_out_from_there_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(player, "MAX_STEPS", 12)
    show = shown(*[ops.Tick("alice")] * 100)
    assert show.steps == 12
    assert list(show.left_out.values()) == ["there were 12 steps, and the rest was not played"]
    assert show.breakdown is None
    assert not show.storm


# ---- Several implementations, again and again ------------------------------------------------------------------------

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


def mixed(schedule: Schedule = BUSY) -> Performance:
    """Play on two implementations; bob's speaks the dialect of nim-sds."""
    text = stage_on(reference())
    private = stage_on(reference(dialect=load_dialect("nim-sds")), "nim-sds")
    return play(schedule, {name: private if name == "bob" else text for name in schedule.names})


def lines(show: Performance) -> str:
    """Everything in a performance, as lines."""
    traces = [line for trace in show.traces for line in trace.to_json_lines()]
    acts = [f"{a.number} {a.who} {a.step.index} {a.at_ms} {a.operation} {a.source}" for a in show.acts]
    losses = [f"{loss.packet.number} {loss.listener} {loss.at_ms} {loss.why}" for loss in show.losses]
    return "\n".join([*traces, *acts, *losses, repr((show.began, show.left_out, show.calm_rounds, show.settled))])


def test_two_implementations_hear_each_other_each_in_its_own_layout() -> None:
    show = mixed(Schedule(TRIO, (ops.Send("alice", "m1"), ops.Send("bob", "m2"), ops.Send("carol", "m3"))))
    assert [trace.dialect.name if trace.dialect else "" for trace in show.traces] == ["", "nim-sds"]
    assert show.cast["alice"] is show.cast["carol"] is show.traces[0]
    assert delivered(show, "alice") == ["m2", "m3"]
    assert delivered(show, "bob") == ["m1", "m3"]
    assert delivered(show, "carol") == ["m1", "m2"]
    (at_bob, _), (at_alice, _) = arrivals(show, "bob"), arrivals(show, "alice")
    m1, m2 = show.labels["m1"].wire, show.labels["m2"].wire
    assert at_bob.step.whole_request.receive.wire == load_dialect("nim-sds").to_private(m1.raw) != m1.raw
    assert at_alice.step.whole_request.receive.wire == m2.text != m2.raw
    assert at_bob.step.received.message == m1.message
    assert message(show, "m3").causal_history[-1].message_id == message(show, "m2").message_id


def test_the_same_schedule_is_played_the_same_again_and_another_seed_makes_a_difference() -> None:
    first = lines(mixed())
    assert lines(mixed()) == first
    assert lines(mixed(replace(BUSY, seed=12))) != first
    assert first.count("\n") > 100


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

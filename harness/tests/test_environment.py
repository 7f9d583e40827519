"""An environment changes one thing around a schedule, and the schedule says the same in it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from sds_harness.environment import PLAIN, Environment
from sds_harness.link import Limits, LocalLink
from sds_harness.sds.actor import Actor
from sds_harness.sds.environments import ENVIRONMENTS
from sds_harness.sds.language import open_session
from sds_harness.sds.stage import Stage
from sds_harness.sds.trace import Step
from sds_harness.stage import START_MS
from sds_proto.testee.v1 import testee_pb2 as pb
from sds_reference.testee import server

HOUR = 3_600_000


def stage_in(name: str) -> Stage:
    handle = server.Testee(server.TesteeOptions("1")).handle
    session = open_session(lambda: LocalLink(handle), Limits(), "sds-2026-01")
    return Stage(session, "a schedule", environment=ENVIRONMENTS[name])


def short_story(stage: Stage) -> Actor:
    alice, bob = stage.open(), stage.peer("bob")
    alice.receive(bob.content(stage.now_ms))
    alice.send()
    alice.send(channel_id="c1")
    alice.observe()
    alice.tick()
    return alice


def channel_of(step: Step) -> str:
    """The channel that a command names; "" for none."""
    message = step.received.message if step.command == "receive" else None
    return message.channel_id if message is not None else step.channel_id


def in_main_channel(stage: Stage) -> list[Step]:
    return [s for s in stage.trace.steps if channel_of(s) in ("", stage.label("c1"))]


@pytest.mark.parametrize("name", ENVIRONMENTS)
def test_a_schedule_does_the_same_commands_in_every_environment(name: str) -> None:
    stage, plain = stage_in(name), stage_in("plain")
    short_story(stage)
    short_story(plain)
    assert [s.command for s in in_main_channel(stage)] == [s.command for s in plain.trace.steps]
    assert {step.answer for step in stage.trace.steps} <= {"opened", "effects", "state"}
    assert stage.trace.environment == name


def test_the_plain_environment_comes_first_and_changes_nothing() -> None:
    assert next(iter(ENVIRONMENTS.values())) is PLAIN
    assert replace(PLAIN, name="", summary="") == Environment("", "")


def test_every_environment_but_the_plain_one_changes_something() -> None:
    for environment in ENVIRONMENTS.values():
        bare = replace(environment, name="", summary="", presumes="", needs=())
        assert (bare == Environment("", "")) is (environment is PLAIN)


@pytest.mark.parametrize("function", [str.lower, str.upper, lambda name: name.encode("latin-1", "replace").decode()])
def test_names_of_all_scripts_do_not_survive_careless_hands(function: Callable[[str], str]) -> None:
    labels = [ENVIRONMENTS["all-scripts"].label(name) for name in ("alice", "bob", "carol", "dave", "c1", "c2")]
    assert [function(label) for label in labels] != labels


def test_names_stay_distinct_and_are_given_once() -> None:
    stage = stage_in("all-scripts")
    names = [f"p{number}" for number in range(500)]
    labels = [stage.label(name) for name in names]
    assert len(set(labels)) == len(names)
    assert not set(labels) & set(names)
    assert [stage.label(label) for label in labels] == labels
    assert stage.label("") == ""


def test_names_reach_the_wire_and_the_ids() -> None:
    stage = stage_in("all-scripts")
    alice = short_story(stage)
    received = stage.trace.steps[1].received.message
    assert received is not None
    assert received.sender_id == stage.label("bob")
    assert received.message_id.startswith(received.sender_id)
    assert received.channel_id == stage.label("c1") == alice.party.channels[0]


def test_different_senders_say_the_same() -> None:
    stage = stage_in("equal-contents")
    alice, dora, bob = stage.open("alice"), stage.open("dora"), stage.peer("bob")
    messages = [alice.send(), dora.send(), bob.content(START_MS)]
    assert {message.content for message in messages} == {b"message 1"}
    assert alice.send().content == b"message 2"
    assert alice.send(b"as told").content == b"as told"


def test_the_same_happens_in_two_other_channels_one_and_two_commands_later() -> None:
    stage = stage_in("third-channel")
    alice, bob = stage.open(), stage.peer("bob")
    assert list(stage.trace.steps[0].request.open.channels) == ["first", "second", "c1"]
    assert alice.party.channels[0] == "c1"
    alice.send()
    alice.observe()
    alice.receive(bob.content(START_MS))
    alice.send()
    alice.after(1).send()
    alice.tick()
    assert [(s.command, channel_of(s)) for s in stage.trace.steps[1:-1]] == [
        ("send", "c1"),
        ("observe", "c1"),
        ("send", "first"),
        ("observe", "first"),
        ("receive", "c1"),
        ("receive", "first"),
        ("send", "second"),
        ("observe", "second"),
        ("send", "c1"),
        ("send", "first"),
        ("receive", "second"),  # for time passes
        ("send", "second"),
        ("send", "c1"),
        ("send", "first"),  # for all is done in all channels before a tick
        ("send", "second"),
    ]


def test_messages_have_the_same_ids_in_other_channels_and_later_timestamps() -> None:
    stage = stage_in("third-channel")
    alice, bob = stage.open(), stage.peer("bob")
    alice.receive(bob.content(START_MS, "before", message_id="m"))
    alice.tick()
    there = [s.received.message for s in stage.trace.steps if s.command == "receive"]
    assert [m.message_id for m in there if m is not None] == ["m"] * 3
    assert [m.causal_history[0].message_id for m in there if m is not None] == ["before"] * 3
    assert [m.lamport_timestamp for m in there if m is not None] == [START_MS, START_MS + 500_000, START_MS + 1_000]


def test_messages_of_participants_under_test_are_those_that_they_sent_in_the_channel() -> None:
    stage = stage_in("third-channel")
    alice, dora, bob = stage.open("alice"), stage.open("dora"), stage.peer("bob")
    own = alice.send()
    dora.receive(own)
    dora.receive(bob.content(START_MS, own))
    dora.tick()
    sent = [s.new.message_id for s in stage.trace.steps if s.command == "send" and s.new is not None]
    arrived = [s.received.message for s in stage.trace.steps if s.command == "receive"]
    own_arrived = [m.message_id for m in arrived if m is not None and m.sender_id == "alice"]
    named = [m.causal_history[0].message_id for m in arrived if m is not None and m.sender_id == "bob"]
    assert len(set(sent)) == 3
    assert own_arrived == named == sent


def test_no_timestamp_passes_what_scenarios_use_as_a_bound() -> None:
    stage = stage_in("third-channel")
    alice, bob = stage.open(), stage.peer("bob")
    alice.receive(bob.content(2**63 - 1))
    alice.tick()
    there = [s.received.message for s in stage.trace.steps if s.command == "receive"]
    assert [m.lamport_timestamp for m in there if m is not None] == [2**63 - 1] * 3


def test_what_is_no_message_or_names_another_channel_is_not_repeated() -> None:
    stage = stage_in("third-channel")
    alice = stage.open(channels=("c1", "c2"))
    alice.receive(b"\xff", stage.peer("bob", "c2").content(START_MS))
    alice.send(channel_id="c2")
    alice.tick()
    assert [s.command for s in stage.trace.steps] == ["open", "receive", "receive", "send", "tick"]


def test_the_clock_steps_back_and_forth_and_the_schedule_does_not_know() -> None:
    stage = stage_in("unsteady-clock")
    alice = stage.open()
    for _ in range(11):
        alice.tick()
    times = [step.now_ms - START_MS for step in stage.trace.steps]
    assert stage.now_ms == START_MS
    assert min(times) == -HOUR
    assert max(times) == HOUR
    assert times[:6] == times[6:12]
    assert stage.trace.parties["alice"].opened_ms == stage.trace.steps[0].now_ms


def test_codec_operations_have_no_time_to_be_off() -> None:
    stage = stage_in("unsteady-clock")
    stage.open()
    step = stage.step("", pb.Request(query_filter=pb.QueryFilter(bloom_filter=b"", message_ids=["a"])))
    assert step.now_ms == 0

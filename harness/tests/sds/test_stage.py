"""A stage plays a schedule: every command becomes a step of the trace, and what is not declared is never asked for."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import pytest

from sds_harness import faults
from sds_harness.faults import FaultKind
from sds_harness.link import Limits, LocalLink
from sds_harness.sds.actor import MAX_TICKS
from sds_harness.sds.language import open_session
from sds_harness.sds.stage import Stage
from sds_harness.stage import START_MS, ScheduleStoppedError
from sds_proto.testee.v1 import testee_pb2 as pb
from sds_reference import Config, Kind, build_filter, decode, encode
from sds_reference.testee import server
from sds_reference.testee.dialect import load_dialect

Handle = Callable[[pb.Request], pb.Reply]
NIM = load_dialect("nim-sds")
LIMITS = Limits()


def reference(**options: Any) -> Handle:
    """The reference with these TesteeOptions."""
    return server.Testee(server.TesteeOptions("1", **options)).handle


def stage_on(handle: Handle, **stage: Any) -> Stage:
    return Stage(open_session(lambda: LocalLink(handle), LIMITS, "sds-2026-01"), "a schedule", **stage)


def without(*capabilities: int) -> Handle:
    return reference(without=frozenset(capabilities))


def changed(handle: Handle, **replies: Callable[[pb.Request, pb.Reply], None]) -> Handle:
    """``handle`` with its replies to some commands changed; requests are seen as they came."""

    def changing(request: pb.Request) -> pb.Reply:
        reply = handle(request)
        command = request.WhichOneof("command")
        if command in replies:
            replies[command](request, reply)
        return reply

    return changing


def delivered(step: Any) -> list[str]:
    return [event.message_id for event in step.events if event.kind == "delivered"]


# ---- Steps and time --------------------------------------------------------------------------------------------------


def test_every_command_is_a_step_with_its_answer_and_its_time() -> None:
    stage = stage_on(reference())
    alice, bob = stage.open("alice"), stage.peer("bob")
    alice.send(b"one")
    stage.advance(250)
    alice.receive(bob.content(stage.now_ms))
    stage.advance(-1_000)
    alice.tick()
    steps = stage.trace.steps
    assert [step.index for step in steps] == [1, 2, 3, 4]
    assert [step.command for step in steps] == ["open", "send", "receive", "tick"]
    assert [step.answer for step in steps] == ["opened", "effects", "effects", "effects"]
    assert [step.now_ms - START_MS for step in steps] == [0, 0, 250, -750]
    assert [step.channel_id for step in steps] == ["", "c1", "", ""]
    assert {step.participant for step in steps} == {"alice"}
    assert list(stage.trace.of("bob")) == []


def test_time_starts_at_the_real_one_for_who_has_no_virtual_clock() -> None:
    assert stage_on(reference()).trace.start_ms == START_MS
    before = time.time() * 1_000
    stage = stage_on(without(pb.CAPABILITY_VIRTUAL_CLOCK))
    assert before - 1 <= stage.trace.start_ms <= time.time() * 1_000
    assert stage.now_ms == stage.trace.start_ms


def test_others_can_be_ahead_of_a_clock_that_nobody_moves() -> None:
    stage = stage_on(without(pb.CAPABILITY_VIRTUAL_CLOCK))
    stage.go_ahead()
    assert stage.now_ms == stage.trace.start_ms + 3_600_000
    stage.open()
    assert stage.trace.steps[0].now_ms == stage.trace.start_ms


@pytest.mark.parametrize(
    ("bound_ms", "ahead_ms"), [(0, 500), (1_000, 500), (60_000, 30_000), (7_200_000, 3_600_000), (10**9, 3_600_000)]
)
def test_others_are_ahead_by_half_of_what_a_clock_of_its_own_accepts(bound_ms: int, ahead_ms: int) -> None:
    config = Config(max_lamport_ahead_ms=bound_ms)
    stage = stage_on(reference(config=config, without=frozenset({pb.CAPABILITY_VIRTUAL_CLOCK})))
    stage.go_ahead()
    assert stage.now_ms == stage.trace.start_ms + ahead_ms


def test_others_are_not_ahead_of_a_virtual_clock() -> None:
    stage = stage_on(reference())
    stage.go_ahead()
    assert stage.now_ms == stage.trace.start_ms


def test_a_participant_is_recorded_as_it_was_opened() -> None:
    stage = stage_on(reference())
    stage.advance(5)
    stage.open("alice", ("c1", "c2"), pb.Configuration(causal_history_size=7))
    party = stage.trace.parties["alice"]
    assert (party.name, party.channels, party.opened_ms) == ("alice", ("c1", "c2"), START_MS + 5)
    assert party.asked == pb.Configuration(causal_history_size=7, sync_interval_ms=0, lost_timeout_ms=0, sds_r=False)
    assert (party.in_force.causal_history_size, party.in_force.sync_interval_ms) == (7, 0)
    assert party.in_force.bloom_capacity == 10_000


def test_nothing_is_given_up_as_lost_unless_asked_for() -> None:
    stage = stage_on(reference(config=Config(lost_timeout_ms=1_000)))
    patient = stage.open("alice")
    hasty = stage.open("carol", configuration=pb.Configuration(lost_timeout_ms=1_000))
    orphan = stage.peer("bob").content(START_MS, "never-sent")
    for actor in (patient, hasty):
        actor.receive(orphan)
    stage.advance(60_000)
    assert [event.kind for event in patient.tick().events] == []
    assert [event.kind for event in hasty.tick().events] == ["lost", "delivered"]


def test_automatic_sync_messages_are_off_unless_asked_for() -> None:
    stage = stage_on(reference())
    quiet = stage.open("alice")
    chatty = stage.open("bob", configuration=pb.Configuration(sync_interval_ms=1_000))
    stage.advance(10_000)
    assert quiet.tick().broadcasts == []
    (sync,) = chatty.tick().broadcasts
    assert sync.message is not None
    assert sync.message.kind is Kind.SYNC


def test_an_opening_that_is_refused_stops_the_schedule() -> None:
    stage = stage_on(reference())
    with pytest.raises(ScheduleStoppedError, match="opening participant 'alice' was refused: causal_history_size must"):
        stage.open("alice", configuration=pb.Configuration(causal_history_size=0))


def test_closing_frees_the_participants_and_is_no_part_of_the_trace() -> None:
    closed: list[int] = []
    stage = stage_on(changed(reference(), close=lambda request, _: closed.append(request.close.handle)))
    stage.open("alice")
    stage.open("bob")
    stage.close()
    assert closed == [1, 2]
    assert len(stage.trace.steps) == 2


def test_a_close_that_breaks_the_conversation_is_its_last_step() -> None:
    def crash(request: pb.Request, _: pb.Reply) -> None:
        if request.close.handle == 2:
            raise RuntimeError("freed twice")

    stage = stage_on(changed(reference(), close=crash))
    stage.open("alice").tick()
    stage.open("bob")
    with pytest.raises(faults.TesteeError, match="freed twice"):
        stage.close()
    last = stage.trace.steps[-1]
    assert (last.index, last.participant, last.command, last.reply) == (4, "bob", "close", None)
    assert stage.trace.breakdown is not None
    assert stage.trace.breakdown.kind is FaultKind.CRASH


# ---- Sending and receiving -------------------------------------------------------------------------------------------


def test_sending_gives_the_message_that_was_broadcast() -> None:
    stage = stage_on(reference())
    alice = stage.open("alice")
    message = alice.send(b"one", message_id="m-1", retrieval_hint=b"where")
    assert (message.message_id, message.content, message.lamport_timestamp) == ("m-1", b"one", START_MS + 1)
    assert stage.trace.steps[-1].broadcasts[0].message == message
    (entry,) = alice.send(b"two").causal_history
    assert (entry.message_id, entry.retrieval_hint) == ("m-1", b"where")
    assert alice.send().content != alice.send().content
    assert alice.send_ephemeral(b"typing").kind is Kind.EPHEMERAL
    sync = alice.send_sync()
    assert sync is not None
    assert sync.kind is Kind.SYNC


def test_a_sync_message_that_has_nothing_to_say_may_be_left_out() -> None:
    stage = stage_on(reference(config=Config(sync_with_empty_log=False)))
    assert stage.open("alice").send_sync() is None


def test_a_refused_send_stops_the_schedule_with_the_reason() -> None:
    stage = stage_on(reference())
    alice = stage.open("alice")
    with pytest.raises(ScheduleStoppedError, match="send was refused: content is empty"):
        alice.send(b"")
    with pytest.raises(ScheduleStoppedError, match="send_ephemeral was refused: content is empty"):
        alice.send_ephemeral(b"")


def test_a_send_that_broadcasts_no_message_stops_the_schedule() -> None:
    silent = stage_on(changed(reference(), send=lambda _, reply: reply.effects.ClearField("broadcasts")))
    with pytest.raises(ScheduleStoppedError, match="send at step 2 broadcast nothing"):
        silent.open("alice").send()
    garbling = stage_on(changed(reference(), send=lambda _, reply: reply.effects.broadcasts.insert(0, b"\x0a\xff")))
    assert garbling.open("alice").send(b"hi").content == b"hi"

    def only_garbage(_: pb.Request, reply: pb.Reply) -> None:
        reply.effects.broadcasts[:] = [b"\x0a\xff"]

    with pytest.raises(ScheduleStoppedError, match="send at step 2 broadcast bytes that are not an SDS message"):
        stage_on(changed(reference(), send=only_garbage)).open("alice").send()


def test_messages_are_received_as_encoded_and_bytes_as_they_are() -> None:
    stage = stage_on(reference())
    alice, bob = stage.open("alice"), stage.peer("bob")
    first, second = bob.content(1), bob.content(2)
    step = alice.receive(first, second, b"\x0a\xff")
    receives = [step for step in stage.trace.steps if step.command == "receive"]
    assert [step.request.receive.wire for step in receives] == [encode(first), encode(second), b"\x0a\xff"]
    assert [step.received.message for step in receives] == [first, second, None]
    assert step is receives[-1]
    assert step.answer == "rejected"
    assert "not an SDS message" in step.received.error


def test_with_a_dialect_the_implementation_sees_and_speaks_private_bytes() -> None:
    stage = stage_on(reference(dialect=NIM), dialect=NIM)
    alice, bob = stage.open("alice"), stage.peer("bob")
    message = bob.content(START_MS)
    step = alice.receive(message)
    assert step.request.receive.wire == NIM.to_private(encode(message))
    assert delivered(step) == [message.message_id]
    sent = alice.send(b"hi")
    (wire,) = stage.trace.steps[-1].broadcasts
    assert wire.raw == NIM.to_private(wire.text)
    assert decode(wire.text) == sent


# ---- Capabilities ----------------------------------------------------------------------------------------------------


def test_what_is_not_declared_stops_the_schedule_before_it_is_asked_for() -> None:
    everything: dict[str, tuple[int, Callable[[Stage], object]]] = {
        "channels": (pb.CAPABILITY_CHANNELS, lambda stage: stage.open("alice", ("c1", "c2"))),
        "sync": (pb.CAPABILITY_SYNC, lambda stage: stage.open().send_sync()),
        "ephemeral": (pb.CAPABILITY_EPHEMERAL, lambda stage: stage.open().send_ephemeral()),
        "message-id-accepted": (pb.CAPABILITY_MESSAGE_ID_ACCEPTED, lambda stage: stage.open().send(message_id="m")),
    }
    for name, (capability, ask) in everything.items():
        stage = stage_on(without(capability))
        with pytest.raises(ScheduleStoppedError, match=f"needs the capability {name}"):
            ask(stage)
        assert [step.command for step in stage.trace.steps] in ([], ["open"])


def test_an_implementation_that_needs_message_ids_is_given_some() -> None:
    def needs_ids(_: pb.Request, reply: pb.Reply) -> None:
        reply.hello.capabilities.append(pb.CAPABILITY_MESSAGE_ID_REQUIRED)

    stage = stage_on(changed(without(pb.CAPABILITY_MESSAGE_ID_ACCEPTED), hello=needs_ids))
    alice = stage.open("alice")
    ids = [alice.send().message_id, alice.send_ephemeral().message_id, alice.send(message_id="mine").message_id]
    assert ids == ["alice-own-1", "alice-own-2", "mine"]


def unsupported(_: pb.Request, reply: pb.Reply) -> None:
    reply.unsupported.what = "not today"


def test_an_honest_answer_of_unsupported_stops_the_schedule_and_is_recorded() -> None:
    stage = stage_on(changed(without(pb.CAPABILITY_RETRIEVAL_HINTS), receive=unsupported))
    alice, bob = stage.open(), stage.peer("bob")
    with pytest.raises(ScheduleStoppedError, match=r"receive was answered `unsupported` \(not today\)"):
        alice.receive(bob.content(START_MS), retrieval_hint=b"where")
    assert stage.trace.steps[-1].answer == "unsupported"
    assert stage.trace.breakdown is None


def test_a_promise_that_is_not_kept_breaks_the_conversation_at_its_step() -> None:
    stage = stage_on(changed(reference(), observe=unsupported))
    alice = stage.open()
    with pytest.raises(faults.TesteeError, match="observe, although Hello declares observe, was answered"):
        alice.observe()
    assert (stage.trace.steps[-1].command, stage.trace.steps[-1].reply) == ("observe", None)
    assert stage.trace.breakdown is not None
    assert stage.trace.breakdown.kind is FaultKind.REFUSAL


def test_the_state_is_looked_at_where_it_can_be_and_left_alone_where_not() -> None:
    stage = stage_on(reference())
    alice = stage.open()
    message = alice.send()
    state = alice.observe(message.message_id, "never-sent")
    assert state is not None
    assert list(state.filter_hits) == [True, False]
    assert [entry.message_id for entry in state.log.entries] == [message.message_id]
    blind = stage_on(without(pb.CAPABILITY_OBSERVE))
    assert blind.open().observe() is None
    assert [step.command for step in blind.trace.steps] == ["open"]


def test_a_filter_is_built_by_the_declared_profile_with_the_size_in_force() -> None:
    stage = stage_on(reference())
    stage.open(configuration=pb.Configuration(bloom_capacity=100, bloom_error_rate=0.01))
    config = Config(bloom_capacity=100, bloom_error_rate=0.01)
    assert stage.filter_over("m-1", "m-2") == build_filter(
        config.bloom_profile, config.bloom_parameters, ["m-1", "m-2"]
    )
    assert [step.command for step in stage.trace.steps] == ["open"]


def test_a_filter_whose_size_nobody_has_said_is_built_by_the_implementation_itself() -> None:
    stage = stage_on(reference())
    assert stage.filter_over("m-1") == build_filter(Config().bloom_profile, Config().bloom_parameters, ["m-1"])
    assert [step.command for step in stage.trace.steps] == ["build_filter"]


def test_a_size_in_force_that_is_none_is_not_believed() -> None:
    def no_size(_: pb.Request, reply: pb.Reply) -> None:
        reply.opened.configuration.bloom_error_rate = 2.0

    stage = stage_on(changed(reference(), open=no_size))
    stage.open()
    stage.filter_over("m-1")
    assert [step.command for step in stage.trace.steps] == ["open", "build_filter"]


def test_a_filter_of_an_unknown_profile_is_built_by_the_implementation_itself_or_not_at_all() -> None:
    def another_profile(_: pb.Request, reply: pb.Reply) -> None:
        reply.hello.profiles.bloom = "home-made"

    stage = stage_on(changed(reference(), hello=another_profile))
    alice = stage.open()
    made = stage.filter_over("m-1")
    assert made is not None
    alice.ask_filter(made, "m-1", "m-2")
    answer = stage.trace.steps[-1].reply
    assert answer is not None
    assert list(answer.membership.hits) == [True, False]
    mute = stage_on(changed(without(pb.CAPABILITY_FILTER_CODEC), hello=another_profile))
    assert mute.filter_over("m-1") is None
    mute.open().ask_filter(b"")
    assert [step.command for step in mute.trace.steps] == ["open"]


# ---- Settling --------------------------------------------------------------------------------------------------------


def test_settling_ticks_until_buffered_messages_are_delivered() -> None:
    stage = stage_on(reference(config=Config(cascade_on_receive=False, incoming_sweep_ms=5_000)))
    alice, bob = stage.open(), stage.peer("bob")
    first = bob.content(START_MS)
    second = bob.content(START_MS + 1, first)
    alice.receive(second)
    assert delivered(alice.receive(first)) == [first.message_id]
    alice.settle()
    ticks = [step for step in stage.trace.steps if step.command == "tick"]
    assert [delivered(step) for step in ticks] == [[second.message_id], [], []]
    assert stage.now_ms == START_MS + 15_000


def test_settling_waits_a_minute_a_tick_where_nobody_says_when_the_sweep_runs() -> None:
    stage = stage_on(
        changed(reference(), open=lambda _, reply: reply.opened.configuration.ClearField("incoming_sweep_ms"))
    )
    stage.open().settle()
    assert stage.now_ms == START_MS + 120_000


def test_settling_ends_with_an_implementation_that_never_becomes_quiet() -> None:
    def again(_: pb.Request, reply: pb.Reply) -> None:
        reply.effects.events.add().delivered.message_id = "m-1"

    stage = stage_on(changed(reference(), tick=again))
    stage.open().settle()
    assert len(stage.trace.steps) == 1 + MAX_TICKS
    assert stage.now_ms == START_MS


def test_what_arrives_at_many_is_kept_once() -> None:
    """A broadcast with a large filter arrives at every other participant: its bytes are kept once in a trace."""
    stage = stage_on(reference())
    actors = [stage.open(name) for name in ("alice", "bob", "carol")]
    message = stage.peer("dave").content(stage.now_ms, content=bytes(20_000))
    for actor in actors:
        actor.receive(message)
    arrivals = [step for step in stage.trace.steps if step.command == "receive"]
    assert len({id(step.received.raw) for step in arrivals}) == 1
    assert all(step.request.ByteSize() < 1_000 for step in arrivals)
    assert [step.whole_request.receive.wire for step in arrivals] == [arrivals[0].received.raw] * 3
    assert len(arrivals[0].received.raw) > 20_000

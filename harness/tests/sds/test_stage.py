"""A stage plays a schedule: every command becomes a step of the trace, and no undeclared command is sent."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from sds_harness.link import Limits, LocalLink
from sds_harness.sds.actor import MAX_TICKS
from sds_harness.sds.language import open_session
from sds_harness.sds.stage import Stage
from sds_harness.stage import START_MS, ScheduleStoppedError
from sds_proto.testee.v1 import testee_pb2 as pb
from sds_reference.testee import server

Handle = Callable[[pb.Request], pb.Reply]
LIMITS = Limits()


def reference(**options: Any) -> Handle:
    """The reference with these TesteeOptions."""
    return server.Testee(server.TesteeOptions("1", **options)).handle


def stage_on(handle: Handle, **stage: Any) -> Stage:
    return Stage(open_session(lambda: LocalLink(handle), LIMITS, "sds-2026-01"), "a schedule", **stage)


def without(*capabilities: int) -> Handle:
    return reference(without=frozenset(capabilities))


def changed(handle: Handle, **replies: Callable[[pb.Request, pb.Reply], None]) -> Handle:
    """Change the replies of ``handle`` to some commands. It receives the original requests."""

    def changing(request: pb.Request) -> pb.Reply:
        reply = handle(request)
        command = request.WhichOneof("command")
        if command in replies:
            replies[command](request, reply)
        return reply

    return changing


def test_a_refusal_stops_the_schedule_with_the_reason() -> None:
    stage = stage_on(reference())
    with pytest.raises(ScheduleStoppedError, match="opening participant 'alice' was refused: causal_history_size must"):
        stage.open("alice", configuration=pb.Configuration(causal_history_size=0))
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


def test_settling_ends_with_an_implementation_that_never_becomes_quiet() -> None:
    def again(_: pb.Request, reply: pb.Reply) -> None:
        reply.effects.events.add().delivered.message_id = "m-1"

    stage = stage_on(changed(reference(), tick=again))
    stage.open().settle()
    assert len(stage.trace.steps) == 1 + MAX_TICKS
    assert stage.now_ms == START_MS

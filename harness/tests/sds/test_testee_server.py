"""The reference behind the testee protocol: its answers to each command, which are the same over each carrier."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

from sds_harness.endpoint import AUTO, Endpoint
from sds_harness.grpc_link import GrpcLink
from sds_harness.link import Limits, Link, LocalLink, StdioLink
from sds_harness.sds.language import SDS, open_session
from sds_harness.sds.stage import Stage
from sds_proto.testee.v1 import testee_pb2 as pb
from sds_reference.testee import server
from sds_testee.framing import Framing

LIMITS = Limits(start_s=20, command_s=10, exit_s=5)


def opened(
    testee: server.Testee, participant_id: str = "alice", channels: Any = ("c1", "c2"), **asked: Any
) -> pb.Reply:
    command = pb.Open(participant_id=participant_id, channels=channels, configuration=pb.Configuration(**asked))
    return testee.handle(pb.Request(id=7, open=command))


@pytest.mark.parametrize(
    ("asked", "why"),
    [
        ({"causal_history_size": 0}, "causal_history_size must be at least 1"),
        ({"bloom_capacity": 0}, "bloom filter of capacity 0"),
        ({"bloom_capacity": 10_000_001}, "bloom_capacity is above the maximum of 10,000,000"),
        ({"bloom_error_rate": float("nan")}, "error rate nan"),
        ({"bloom_error_rate": 1.0}, "error rate 1.0"),
        ({"resend_unacknowledged_ms": 0}, "resend_unacknowledged_ms must be positive"),
        ({"possible_ack_threshold": 1}, "possible_ack_threshold must be at least 2"),
        ({"participant_id": ""}, "a participant needs a non-empty ID"),
        ({"channels": ("c1", "")}, "a channel needs a non-empty ID"),
    ],
)
def test_a_configuration_without_meaning_is_rejected_and_makes_no_participant(asked: dict[str, Any], why: str) -> None:
    testee = server.Testee(server.TesteeOptions("1.2"))
    assert why in opened(testee, **asked).rejected.reason
    assert opened(testee, "next").opened.handle == 1


@pytest.mark.parametrize(
    ("kind", "fields"),
    [
        (pb.Close, {}),
        (pb.Send, {"content": b"x"}),
        (pb.SendEphemeral, {"content": b"x"}),
        (pb.SendSync, {}),
        (pb.Receive, {}),
        (pb.Tick, {}),
        (pb.Observe, {}),
    ],
)
def test_an_unknown_handle_and_a_channel_that_was_not_joined_are_rejected(kind: Any, fields: dict[str, Any]) -> None:
    testee = server.Testee(server.TesteeOptions("1.2"))
    handle = opened(testee).opened.handle
    name = next(field.name for field in pb.Request.DESCRIPTOR.fields if field.message_type is kind.DESCRIPTOR)
    reply = testee.handle(pb.Request(id=5, **{name: kind(handle=99, **fields)}))
    assert reply == pb.Reply(id=5, rejected=pb.Rejected(reason="no participant has handle 99"))
    if "channel_id" in kind.DESCRIPTOR.fields_by_name:
        reply = testee.handle(pb.Request(**{name: kind(handle=handle, channel_id="c9", **fields)}))
        assert reply.rejected.reason == "not a member of channel 'c9': join it first"


@pytest.mark.parametrize(
    ("request_", "capability"),
    [
        (pb.Request(observe=pb.Observe(handle=1, channel_id="c1")), pb.CAPABILITY_OBSERVE),
        (pb.Request(build_filter=pb.BuildFilter()), pb.CAPABILITY_FILTER_CODEC),
        (pb.Request(decode=pb.Decode()), pb.CAPABILITY_MESSAGE_CODEC),
        (pb.Request(repair_times=pb.RepairTimes()), pb.CAPABILITY_REPAIR_TIMES),
    ],
)
def test_what_is_held_back_is_unsupported_by_name(request_: pb.Request, capability: pb.Capability) -> None:
    testee = server.Testee(server.TesteeOptions("1.2", without=frozenset({capability})))
    opened(testee)
    assert testee.handle(request_).unsupported.what == pb.Capability.Name(capability)


def conversation(connect: Callable[[], Link]) -> list[bytes]:
    """Every answer of a longer conversation, as bytes; ids and handles are part of them."""
    session = open_session(connect, LIMITS, "sds-2026-01")
    stage = Stage(session, "conversation")
    alice, bob = stage.open("alice", ("c1", "c2")), stage.peer("bób ☃")
    late = bob.content(stage.now_ms, content=bytes(range(256)) * 300)
    for number in range(12):
        stage.advance(7_000)
        sent = alice.send(b"\x00\xff\n%d" % number, retrieval_hint=b"\n" * number)
        seen = stage.filter_over(sent.message_id)
        alice.receive(bob.content(stage.now_ms, bloom_filter=seen), bob.content(stage.now_ms, sent, late))
        alice.receive(b"\x0a\xff", bob.ephemeral(b""), bob.sync(stage.now_ms, sent, "nobody-has-this"))
        alice.send(b"to the other channel", "c2")
        alice.send_ephemeral()
        alice.send_sync("c2")
        alice.tick()
        alice.observe(sent.message_id, late.message_id)
    alice.receive(late)
    alice.settle()
    session.close()
    return [step.reply.SerializeToString(deterministic=True) for step in stage.trace.steps if step.reply is not None]


def events(reply: bytes) -> list[str]:
    return [event.WhichOneof("event") or "" for event in pb.Reply.FromString(reply).effects.events]


def over_grpc(command: list[str]) -> GrpcLink:
    return GrpcLink(Endpoint(AUTO, SDS.service, started=True), command, LIMITS)


def test_the_answers_are_the_same_byte_for_byte_however_they_are_carried() -> None:
    command = [sys.executable, "-m", "sds_reference"]
    answers = {framing: conversation(partial(StdioLink, command, framing, LIMITS)) for framing in Framing}
    local = conversation(lambda: LocalLink(server.Testee(server.TesteeOptions("1")).handle))
    assert len(local) == 1 + 12 * 11 + 1 + 2
    assert {event for reply in local for event in events(reply)} == {
        "delivered",
        "acknowledged",
        "possibly_acknowledged",
        "missing",
    }
    assert answers[Framing.JSON] == local
    assert answers[Framing.BINARY] == local
    assert conversation(partial(over_grpc, command)) == local

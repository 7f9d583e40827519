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
from sds_harness.sds.peer import ScriptedPeer
from sds_harness.sds.stage import Stage
from sds_proto.testee.v1 import testee_pb2 as pb
from sds_reference import Message, encode
from sds_reference.testee import server
from sds_testee.framing import Framing

T = 1_800_000_000_000
LIMITS = Limits(start_s=20, command_s=10, exit_s=5)


class Reference:
    """One participant, alice, in the channels "c1" and "c2", without automatic sync messages."""

    def __init__(self, **options: Any) -> None:
        self.testee = server.Testee(server.TesteeOptions("1.2", **options))
        self.handle = self.open().opened.handle

    def open(self, participant_id: str = "alice", channels: tuple[str, ...] = ("c1", "c2"), **asked: Any) -> pb.Reply:
        configuration = pb.Configuration(**{"sync_interval_ms": 0, **asked})
        command = pb.Open(now_ms=T, participant_id=participant_id, channels=channels, configuration=configuration)
        return self.testee.handle(pb.Request(id=7, open=command))

    def send(self, content: bytes = b"hi", channel_id: str = "c1", **fields: Any) -> pb.Reply:
        command = pb.Send(now_ms=T, handle=self.handle, channel_id=channel_id, content=content, **fields)
        return self.testee.handle(pb.Request(id=7, send=command))

    def receive(self, message: Message | bytes, **fields: Any) -> pb.Reply:
        wire = encode(message) if isinstance(message, Message) else message
        command = pb.Receive(now_ms=T, handle=self.handle, wire=wire, **fields)
        return self.testee.handle(pb.Request(id=7, receive=command))

    def tick(self, now_ms: int) -> pb.Effects:
        return self.testee.handle(pb.Request(id=7, tick=pb.Tick(now_ms=now_ms, handle=self.handle))).effects

    def observe(self, *filter_ids: str, channel_id: str = "c1") -> pb.Reply:
        command = pb.Observe(now_ms=T, handle=self.handle, channel_id=channel_id, filter_ids=filter_ids)
        return self.testee.handle(pb.Request(id=7, observe=command))


def content(message_id: str, *depends_on: str, **fields: Any) -> Message:
    return ScriptedPeer("bob", "c1").content(T, *depends_on, message_id=message_id, **fields)


def events(reply: pb.Reply | pb.Effects) -> list[str]:
    effects = reply.effects if isinstance(reply, pb.Reply) else reply
    return [event.WhichOneof("event") or "" for event in effects.events]


# ---- Participants ----------------------------------------------------------------------------------------------------


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
    reference = Reference()
    reply = reference.open(**asked)
    assert why in reply.rejected.reason
    assert reference.open("next").opened.handle == reference.handle + 1


def test_an_unknown_handle_is_rejected_by_every_command_that_takes_one() -> None:
    for command in (
        pb.Request(id=5, close=pb.Close(handle=99)),
        pb.Request(id=5, send=pb.Send(handle=99, channel_id="c1", content=b"x")),
        pb.Request(id=5, send_ephemeral=pb.SendEphemeral(handle=99, channel_id="c1", content=b"x")),
        pb.Request(id=5, send_sync=pb.SendSync(handle=99, channel_id="c1")),
        pb.Request(id=5, receive=pb.Receive(handle=99)),
        pb.Request(id=5, tick=pb.Tick(handle=99)),
        pb.Request(id=5, observe=pb.Observe(handle=99, channel_id="c1")),
    ):
        reply = Reference().testee.handle(command)
        assert reply == pb.Reply(id=5, rejected=pb.Rejected(reason="no participant has handle 99"))


def test_a_channel_that_was_not_joined_is_rejected_by_every_command_that_names_one() -> None:
    for command in (
        pb.Request(send=pb.Send(handle=1, channel_id="c9", content=b"x")),
        pb.Request(send_ephemeral=pb.SendEphemeral(handle=1, channel_id="c9", content=b"x")),
        pb.Request(send_sync=pb.SendSync(handle=1, channel_id="c9")),
        pb.Request(observe=pb.Observe(handle=1, channel_id="c9")),
    ):
        assert Reference().testee.handle(command).rejected.reason == "not a member of channel 'c9': join it first"


# ---- Commands --------------------------------------------------------------------------------------------------------


def test_what_is_held_back_is_unsupported_by_name() -> None:
    filters, messages, times = pb.CAPABILITY_FILTER_CODEC, pb.CAPABILITY_MESSAGE_CODEC, pb.CAPABILITY_REPAIR_TIMES
    reference = Reference(without=frozenset({pb.CAPABILITY_OBSERVE, filters, messages, times}))
    assert reference.observe().unsupported.what == "CAPABILITY_OBSERVE"
    for request, capability in (
        (pb.Request(build_filter=pb.BuildFilter()), filters),
        (pb.Request(query_filter=pb.QueryFilter()), filters),
        (pb.Request(encode=pb.Encode()), messages),
        (pb.Request(decode=pb.Decode()), messages),
        (pb.Request(repair_times=pb.RepairTimes()), times),
    ):
        assert reference.testee.handle(request).unsupported.what == pb.Capability.Name(capability)


# ---- Through a pipe --------------------------------------------------------------------------------------------------


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


def over_grpc(command: list[str]) -> GrpcLink:
    return GrpcLink(Endpoint(AUTO, SDS.service, started=True), command, LIMITS)


def test_the_answers_are_the_same_byte_for_byte_however_they_are_carried() -> None:
    command = [sys.executable, "-m", "sds_reference"]
    answers = {framing: conversation(partial(StdioLink, command, framing, LIMITS)) for framing in Framing}
    local = conversation(lambda: LocalLink(server.Testee(server.TesteeOptions("1")).handle))
    assert len(local) == 1 + 12 * 11 + 1 + 2
    assert {event for reply in local for event in events(pb.Reply.FromString(reply))} == {
        "delivered",
        "acknowledged",
        "possibly_acknowledged",
        "missing",
    }
    assert answers[Framing.JSON] == local
    assert answers[Framing.BINARY] == local
    assert conversation(partial(over_grpc, command)) == local

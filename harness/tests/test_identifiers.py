"""An identifier of 40 MB is a breakdown of its sender; content of that size is not."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from clearskies_proto.testee.v1 import testee_pb2 as cs
from clearskies_reference.testee.server import Testee as ClearSkiesTestee
from clearskies_reference.testee.server import TesteeOptions as ClearSkiesOptions
from clearskies_stages import stage_of
from sds_harness.faults import Breakdown, FaultKind, TesteeError
from sds_harness.identifiers import MAX_BYTES
from sds_harness.link import Limits, LocalLink
from sds_harness.sds.language import open_session
from sds_harness.sds.stage import Stage
from sds_proto.testee.v1 import testee_pb2 as pb
from sds_proto.wire.v2026_01 import message_pb2 as wire
from sds_reference.testee.server import Testee, TesteeOptions

LONG = "x" * (MAX_BYTES + 1)
HINT = b"x" * 2 * MAX_BYTES
LARGE = "x" * (4 << 20)
ADAPTERS = Path(__file__).with_name("broken_adapters.py")


def broken(call: Callable[[], object]) -> Breakdown:
    with pytest.raises(TesteeError) as caught:
        call()
    return caught.value.breakdown


def stage(change: Callable[[pb.Request, pb.Reply], object]) -> Stage:
    """A stage with the reference; ``change`` changes each reply."""
    testee = Testee(TesteeOptions("1"))

    def answer(request: pb.Request) -> pb.Reply:
        reply = testee.handle(request)
        change(request, reply)
        return reply

    return Stage(open_session(lambda: LocalLink(answer), Limits(), "sds-2026-01"), "by-hand")


def on_the_wire(**fields: object) -> Callable[[pb.Request, pb.Reply], object]:
    """Add these fields to the messages that the reference sends."""

    def change(request: pb.Request, reply: pb.Reply) -> None:
        if request.HasField("send"):
            message = wire.Message.FromString(reply.effects.broadcasts[0])
            message.MergeFrom(wire.Message(**fields))  # type: ignore[arg-type]
            reply.effects.broadcasts[0] = message.SerializeToString()

    return change


def in_the_reply(**fields: object) -> Callable[[pb.Request, pb.Reply], object]:
    """Add these fields to the answer to Send."""
    added = pb.Reply(effects=pb.Effects(**fields))  # type: ignore[arg-type]
    return lambda request, reply: reply.MergeFrom(added) if request.HasField("send") else None


def event(**fields: object) -> Callable[[pb.Request, pb.Reply], object]:
    return in_the_reply(events=[pb.Event(**fields)])  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("change", "name"),
    [
        (in_the_reply(message_id=LONG), "message_id"),
        (event(channel_id="c1", delivered=pb.Delivered(message_id=LONG)), "message_id"),
        (event(channel_id="c1", lost=pb.Lost(message_ids=["m", LONG])), "message_ids"),
        (on_the_wire(message_id=LONG), "message_id"),
        (on_the_wire(causal_history=[wire.HistoryEntry(message_id=LONG)]), "message_id"),
        (on_the_wire(repair_request=[wire.HistoryEntry(message_id="m", sender_id=LONG)]), "sender_id"),
    ],
)
def test_a_long_identifier_breaks_the_conversation(change: Callable[[pb.Request, pb.Reply], object], name: str) -> None:
    played = stage(change)
    alice = played.open()
    breakdown = broken(lambda: alice.send(b"hello"))
    assert breakdown.kind is FaultKind.OVERSIZED
    assert breakdown.detail == f"the answer to send has an identifier of 65,537 bytes ({name}); the limit is 65,536"
    assert "filled with content" in breakdown.advice
    assert played.trace.breakdown == breakdown


@pytest.mark.parametrize(
    "change",
    [
        event(channel_id="c1", delivered=pb.Delivered(message_id="m", content=LARGE.encode())),
        event(
            channel_id="c1",
            missing=pb.Missing(entries=[pb.MissingEntry(message_id="m", retrieval_hint=HINT)]),
        ),
        on_the_wire(content=LARGE.encode(), bloom_filter=HINT),
        in_the_reply(message_id="x" * MAX_BYTES),
        in_the_reply(events=[pb.Event(channel_id="c1", lost=pb.Lost(message_ids=["x" * 60] * 20_000))]),
    ],
    ids=["content", "hint", "wire", "at-the-limit", "many"],
)
def test_what_is_no_identifier_may_be_large(change: Callable[[pb.Request, pb.Reply], object]) -> None:
    stage(change).open().send(b"hello")


def test_clearskies_has_the_same_bound_on_links_whatever_the_pieces() -> None:
    body = b'{"type":"database.update","key":"k","value":1,"uuid":"%s"}' % LONG.encode()
    pieces = [b"m%d%s" % (len(body), body[:40_000]), body[40_000:]]

    class Sends(ClearSkiesTestee):
        def handle(self, request: cs.Request) -> cs.Reply:
            reply = super().handle(request)
            if request.HasField("put"):
                del reply.effects.sent[:]
                reply.effects.sent.add(link=1, data=pieces.pop(0))
            return reply

    played = stage_of(testee=Sends(ClearSkiesOptions("1")))
    alice = played.open("alice")
    alice.link(played.peer("bob"))
    alice.put("k", 1)
    breakdown = broken(lambda: alice.put("l", 2))
    assert breakdown.detail == "the answer to put has an identifier of 65,537 bytes (uuid); the limit is 65,536"


WEIGHED = """
import resource, subprocess, sys
code = subprocess.call(sys.argv[1:])
print("most:", resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
sys.exit(code)
"""
"""Runs a command in a small process and prints its peak memory, which would include that of a large parent."""


@pytest.mark.exhaustive
@pytest.mark.parametrize("framing", ["json", "binary"])
def test_a_message_id_of_40_mb_takes_no_gibibyte(framing: str) -> None:
    adapter = [sys.executable, str(ADAPTERS), "answers-with-a-huge-id"]
    command = [sys.executable, "-m", "sds_conformance", "run", "--scenario", "two-resend-periods"]
    options = ["--environment", "plain", "--framing", framing]
    weighed = [sys.executable, "-c", WEIGHED, *command, *options, "--", *adapter]
    suite = subprocess.run(weighed, capture_output=True, text=True, check=False)
    assert "an identifier of 40,000,000 bytes" in " ".join(suite.stdout.split())
    assert suite.returncode in (1, 3)
    most = int(suite.stdout.partition("most: ")[2])
    assert most < 600 << (10 if sys.platform == "linux" else 20)

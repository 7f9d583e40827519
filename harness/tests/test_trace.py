"""A trace records every step, and scripted peers write the given messages."""

from __future__ import annotations

import json

import pytest

from sds_harness import faults
from sds_harness.faults import FaultKind
from sds_harness.link import Limits, LocalLink
from sds_harness.sds.language import open_session
from sds_harness.sds.peer import ScriptedPeer
from sds_harness.sds.stage import Stage
from sds_harness.sds.trace import Event, Step, Wire
from sds_harness.stage import START_MS
from sds_proto.testee.v1 import testee_pb2 as pb
from sds_reference import HistoryEntry, Kind, Message, encode
from sds_reference.testee import server


class CrashesAtATick(server.Testee):
    """The reference, but for one thing."""

    def handle(self, request: pb.Request) -> pb.Reply:
        if request.HasField("tick"):
            raise ZeroDivisionError("in the clock")
        return super().handle(request)


def stage_on(testee: server.Testee) -> Stage:
    return Stage(open_session(lambda: LocalLink(testee.handle), Limits(), "sds-2026-01"), "a schedule")


def reference() -> server.Testee:
    return server.Testee(server.TesteeOptions("1"))


def test_a_breakdown_is_kept_with_the_step_at_which_it_happened() -> None:
    stage = stage_on(CrashesAtATick(server.TesteeOptions("1")))
    alice = stage.open()
    with pytest.raises(faults.TesteeError):
        alice.tick()
    step = stage.trace.steps[-1]
    assert (step.command, step.reply, step.answer, step.events, step.broadcasts) == ("tick", None, "", [], [])
    assert stage.trace.breakdown is not None
    assert stage.trace.breakdown.kind is FaultKind.CRASH
    *_, last = stage.trace.to_json_lines()
    assert json.loads(last) == {"breakdown": "crash", "detail": "ZeroDivisionError: in the clock"}


def test_an_event_says_which_messages_it_is_about() -> None:
    entries = [pb.MissingEntry(message_id="m1", retrieval_hint=b"h"), pb.MissingEntry(message_id="m2")]
    told = {
        Event("delivered", "c1", ("m1",), b"hi"): pb.Event(delivered=pb.Delivered(message_id="m1", content=b"hi")),
        Event("acknowledged", "c1", ("m1",)): pb.Event(acknowledged=pb.Acknowledged(message_id="m1")),
        Event("possibly_acknowledged", "c1", ("m1",)): pb.Event(
            possibly_acknowledged=pb.PossiblyAcknowledged(message_id="m1")
        ),
        Event("missing", "c1", ("m1", "m2"), missing=(HistoryEntry("m1", b"h"), HistoryEntry("m2"))): pb.Event(
            missing=pb.Missing(entries=entries)
        ),
        Event("lost", "c1", ("m1", "m2")): pb.Event(lost=pb.Lost(message_ids=["m1", "m2"])),
        Event("", "c1", ()): pb.Event(),
    }
    for event, reply in told.items():
        reply.channel_id = "c1"
        assert Event.of(reply) == event
        assert event.message_id == (event.message_ids[0] if event.kind else "")


def test_a_trace_can_be_written_as_lines_of_json() -> None:
    stage = stage_on(reference())
    stage.open().receive(stage.peer("bob").content(START_MS, content=b"hi"))
    header, opened, received = map(json.loads, stage.trace.to_json_lines())
    hello = header.pop("hello")
    assert (hello["name"], "CAPABILITY_OBSERVE" in hello["capabilities"]) == ("sds_reference", True)
    assert header == {
        "schedule": "a schedule",
        "implementation": "sds_reference",
        "revision": "sds-2026-01",
        "steps": 2,
        "environment": "plain",
        "dialect": "",
        "startMs": START_MS,
        "stopped": "",
    }
    assert (opened["step"], opened["participant"], opened["request"]["open"]["channels"]) == (1, "alice", ["c1"])
    assert received["reply"]["effects"]["events"][0]["delivered"] == {"messageId": "bob-1", "content": "aGk="}


def test_lines_of_json_do_not_break_at_what_people_write() -> None:
    stage = stage_on(reference())
    stage.open("älice\nand \u2028 bob")
    header, opened = stage.trace.to_json_lines()
    assert "\n" not in header + opened
    assert json.loads(opened)["participant"] == "älice\nand \u2028 bob"


def test_a_step_that_is_no_receive_and_has_no_effects_has_nothing_on_the_wire() -> None:
    observed = Step(1, "alice", pb.Request(observe=pb.Observe(channel_id="c9")), pb.Reply(state=pb.State()))
    assert (observed.answer, observed.channel_id, observed.now_ms) == ("state", "c9", 0)
    assert (observed.events, observed.broadcasts) == ([], [])
    assert (Step(2, "", pb.Request(), None).command, Step(2, "", pb.Request(), pb.Reply()).answer) == ("", "")


def test_bytes_that_are_no_message_are_kept_with_the_reason() -> None:
    wire = Wire(b"\x0a\xff", None)
    assert (wire.raw, wire.text, wire.message) == (b"\x0a\xff", b"\x0a\xff", None)
    assert "not an SDS message" in wire.error
    message = Message("bob", "m-1", "c1", 7)
    assert Wire(encode(message), None).message == message


def test_scripted_peers_write_each_kind_of_message_and_no_id_twice() -> None:
    bob = ScriptedPeer("bob", "c9")
    one = bob.content(7, content=b"x", bloom_filter=b"\x01")
    two = bob.content(8, one, "free-hand", HistoryEntry("m-0", b"where"), message_id="named")
    messages = [one, two, bob.sync(9, one), bob.sync(9, empty_content=True), bob.ephemeral(b"now"), bob.content(9)]
    assert len({message.message_id for message in messages}) == len(messages)
    assert [message.kind for message in messages] == [
        Kind.CONTENT,
        Kind.CONTENT,
        Kind.SYNC,
        Kind.SYNC,
        Kind.EPHEMERAL,
        Kind.CONTENT,
    ]
    assert one == Message("bob", "bob-1", "c9", 7, (), b"\x01", (), b"x")
    assert two.causal_history == (HistoryEntry("bob-1"), HistoryEntry("free-hand"), HistoryEntry("m-0", b"where"))
    assert (messages[2].content, messages[3].content) == (None, b"")


def test_a_scripted_peer_uses_the_ids_it_is_given_even_an_empty_one() -> None:
    bob = ScriptedPeer("bob", "c9")
    assert bob.content(1, message_id="").message_id == ""
    assert bob.sync(1, message_id="s-1").message_id == "s-1"
    assert bob.ephemeral(b"x", message_id="e-1").message_id == "e-1"
    assert bob.content(1, content=b"").kind is Kind.SYNC

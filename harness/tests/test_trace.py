"""A trace records every step, and scripted peers write the given messages."""

from __future__ import annotations

import json

import pytest

from sds_harness import faults
from sds_harness.faults import FaultKind
from sds_harness.link import Limits, LocalLink
from sds_harness.sds.language import open_session
from sds_harness.sds.stage import Stage
from sds_harness.stage import START_MS
from sds_proto.testee.v1 import testee_pb2 as pb
from sds_reference.testee import server


class CrashesAtATick(server.Testee):
    """The reference, except that it crashes at a Tick."""

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

"""A trace records every step, and scripted peers write the given messages."""

from __future__ import annotations

import json

from sds_harness.link import Limits, LocalLink
from sds_harness.sds.language import open_session
from sds_harness.sds.stage import Stage
from sds_harness.stage import START_MS
from sds_reference.testee import server


def stage_on(testee: server.Testee) -> Stage:
    return Stage(open_session(lambda: LocalLink(testee.handle), Limits(), "sds-2026-01"), "a schedule")


def reference() -> server.Testee:
    return server.Testee(server.TesteeOptions("1"))


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

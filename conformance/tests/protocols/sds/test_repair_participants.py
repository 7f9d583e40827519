"""Participants under test with SDS-R: what they are asked for, and when a schedule ends instead."""

from __future__ import annotations

import pytest

from run_helpers import altered, reference, stage
from sds_conformance.protocols.sds.scenarios.repair.participants import (
    LONGEST_MS,
    T_MAX_MS,
    open_with_repairs,
)
from sds_conformance.protocols.sds.scenarios.scripts import Script
from sds_harness.sds.player import perform
from sds_harness.sds.stage import Stage
from sds_harness.stage import ScheduleStoppedError
from sds_proto.testee.v1 import testee_pb2 as pb


def play_opening(on: Stage, configuration: pb.Configuration | None = None) -> None:
    script = Script()
    open_with_repairs(script, configuration=configuration).tick()
    perform(script.schedule("opening"), on)


@pytest.mark.parametrize(
    ("field", "value", "said"),
    [
        ("sds_r", False, "SDS-R is declared, but could not be turned on"),
        ("t_max_ms", LONGEST_MS + 1, f"T_max is too long, although {T_MAX_MS} ms were requested"),
        ("t_max_ms", 2**63, "beyond 2"),
    ],
)
def test_where_there_is_nothing_to_wait_for_the_schedule_ends(field: str, value: int, said: str) -> None:
    def insists(request: pb.Request, reply: pb.Reply) -> None:
        if reply.HasField("opened"):
            setattr(reply.opened.configuration, field, value)

    with pytest.raises(ScheduleStoppedError, match=said):
        play_opening(stage(altered(insists)))


@pytest.mark.parametrize("capability", [pb.CAPABILITY_SDS_R, pb.CAPABILITY_VIRTUAL_CLOCK])
def test_without_sds_r_or_a_clock_that_obeys_the_schedule_ends(capability: int) -> None:
    on = stage(reference(without=[capability]))
    with pytest.raises(ScheduleStoppedError, match="needs the capability"):
        play_opening(on)
    assert on.trace.steps == []

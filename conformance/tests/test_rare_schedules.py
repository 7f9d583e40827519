"""Schedules that generated ones come to once in ten thousand times or less: no check takes the reference's legal answer
to them for a fault."""

from __future__ import annotations

import pytest

from global_schedules import performed, schedule
from sds_conformance.exploration.judging import Scope, assess
from sds_harness.schedules import Schedule
from sds_harness.schedules.operations import Look, Route, Say, Send, Sync, Tick, Wait

# Names are in the hashes that say when somebody asks and answers.
RARE = {
    "SDS-R-FIELDS-02: the hint is forgotten when somebody else asks, and then named anew without": schedule(
        Say("xavier", "m1", after=("m2",), hint=True),
        Wait(2),
        Sync("🦊-fox"),
        Say("xavier", "m4", after=("m2",)),
        Wait(4),
        Sync("Ж-alice"),
        names=("Ж-alice", "🦊-fox"),
        configuration=(("sds_r", True), ("t_max_ms", 6), ("t_min_ms", 2)),
    ),
    "SDS-R-SWEEP-05: a sweep gives up what is missing before another one answers": schedule(
        Say("xavier", "m1", after=("ghost0",)),
        Wait(60_000),
        Say("xavier", "m5"),
        Say("xavier", "m9", asks=("m5",)),
        Look(),
        Tick(),
        Wait(7_500),
        Tick(),
        Look(),
        names=("Ж-alice",),
        channels=(),
        configuration=(("lost_timeout_ms", 60_000), ("sds_r", True)),
    ),
    "SDS-R-TREQ-03: between T_min and T_max is one millisecond": schedule(
        Say("xavier", "m1", after=tuple(f"ghost{number}" for number in range(50))),
        Look(),
        names=("alice", "bob", "carol", "dave"),
        configuration=(("sds_r", True), ("t_max_ms", 5_001), ("t_min_ms", 5_000)),
    ),
    "SDS-MSG-23: a sync message of somebody else has the ID of a message": schedule(
        Send("alice", "m1", route=Route(lost=("bob",))),
        Say("xavier", "m2", content=None, id_of="m1"),
        Wait(30_000),
        Tick(),
        names=("alice", "bob"),
        configuration=(("sds_r", True), ("sync_interval_ms", 10_000)),
    ),
}


@pytest.mark.parametrize("what", RARE.values(), ids=RARE)
def test_what_is_rare_is_no_fault(what: Schedule) -> None:
    performance = performed(what)
    assessment = assess(performance, Scope.of())
    assert (assessment.findings, assessment.errors) == ([], {})
    assert performance.breakdown is None

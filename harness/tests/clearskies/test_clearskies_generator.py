"""Generated schedules of ClearSkies: every operation occurs, and what Hypothesis draws is valid and shrinks."""

from __future__ import annotations

from collections import Counter

from hypothesis import HealthCheck, find, given, settings

from clearskies_stages import session_of
from sds_harness.clearskies import operations as ops
from sds_harness.clearskies.generator import generate_schedule
from sds_harness.clearskies.notation import NOTATION
from sds_harness.clearskies.player import play
from sds_harness.clearskies.stage import Stage
from sds_harness.clearskies.strategies import schedules
from sds_harness.schedules import Schedule, dumps


def few(examples: int) -> settings:
    checks = list(HealthCheck)
    return settings(max_examples=examples, derandomize=True, database=None, deadline=None, suppress_health_check=checks)


def test_every_operation_and_every_oddity_is_drawn() -> None:
    drawn = [generate_schedule(3, index) for index in range(900)]
    kinds = Counter(op.op for schedule in drawn[:300] for op in schedule.operations)
    by_hand = {"write", "connect", "send", "settle", "compare_clocks", "require"}
    assert set(kinds) == set(ops.OPERATIONS) - by_hand
    assert min(kinds.values()) >= 3
    oddities = {op.odd for schedule in drawn for op in schedule.operations if isinstance(op, ops.Say)}
    assert oddities == set(ops.ODDITIES) - {"blanks", "escaped"}


@given(schedules(3, 4, longest=2))
@few(15)
def test_what_hypothesis_draws_is_valid_and_is_played(schedule: Schedule) -> None:
    assert NOTATION.loads(dumps(schedule)) == schedule
    stage = Stage(session_of(), schedule.name)
    show = play(schedule, dict.fromkeys(schedule.names, stage))
    assert show.breakdown is None
    assert not show.traces[0].unsettled


def test_what_is_found_is_shrunk() -> None:
    def deletes(schedule: Schedule) -> bool:
        return any(isinstance(operation, ops.Delete) for operation in schedule.operations)

    # Hypothesis also draws constants of the loaded modules, so the number of examples that it needs depends on the
    # modules.
    found = find(schedules(longest=1, scripted=False), deletes, settings=few(600))
    assert deletes(found)
    assert len(found.members) == 3
    assert len(found.operations) <= 30

"""Generated schedules of ClearSkies: the same everywhere and valid, and every passage and operation occurs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from hypothesis import HealthCheck, find, given, settings

from clearskies_stages import session_of
from sds_harness.clearskies import operations as ops
from sds_harness.clearskies.generator import Grammar, generate_schedule
from sds_harness.clearskies.notation import NOTATION
from sds_harness.clearskies.player import play
from sds_harness.clearskies.stage import Stage
from sds_harness.clearskies.strategies import schedules
from sds_harness.schedules import Schedule, dumps


def drawn(count: int, grammar: Grammar | None = None, seed: int = 3) -> Iterator[Schedule]:
    return (generate_schedule(seed, index, grammar or Grammar()) for index in range(count))


def few(examples: int) -> settings:
    checks = list(HealthCheck)
    return settings(max_examples=examples, derandomize=True, database=None, deadline=None, suppress_health_check=checks)


def survives(schedule: Schedule) -> bool:
    """Return whether its file satisfies the schema, names only existing participants, and is read back unchanged."""
    return NOTATION.loads(dumps(schedule)) == schedule


def test_every_passage_and_every_operation_is_drawn() -> None:
    kinds = Counter(op.op for schedule in drawn(300) for op in schedule.operations)
    by_hand = {"write", "connect", "send", "settle", "compare_clocks", "require"}
    assert set(kinds) == set(ops.OPERATIONS) - by_hand
    assert min(kinds.values()) >= 3
    oddities = {op.odd for s in drawn(900) for op in s.operations if isinstance(op, ops.Say)}
    assert oddities == set(ops.ODDITIES)


# ---- Hypothesis ------------------------------------------------------------------------------------------------------


@given(schedules(3, 4, longest=2))
@few(15)
def test_what_hypothesis_draws_is_valid_and_is_played(schedule: Schedule) -> None:
    assert survives(schedule)
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

"""Generated schedules of ClearSkies: the same everywhere and valid, and every passage and operation occurs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, find, given, settings

from clearskies_stages import session_of
from sds_harness.clearskies import operations as ops
from sds_harness.clearskies.generator import Grammar, generate_schedule
from sds_harness.clearskies.notation import NOTATION
from sds_harness.clearskies.passages import PASSAGES
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


@pytest.mark.parametrize("name", PASSAGES)
def test_each_passage_alone_makes_valid_schedules(name: str) -> None:
    for index, bounds in enumerate(((1, 1), (2, 2), (3, 8))):
        schedule = generate_schedule(2, index, Grammar(*bounds, passages=(name,)))
        assert survives(schedule)
        assert schedule.operations


def test_every_passage_and_every_operation_is_drawn() -> None:
    kinds = Counter(op.op for schedule in drawn(300) for op in schedule.operations)
    by_hand = {"write", "connect", "send", "settle", "compare_clocks", "require"}
    assert set(kinds) == set(ops.OPERATIONS) - by_hand
    assert min(kinds.values()) >= 3
    oddities = {op.odd for s in drawn(900) for op in s.operations if isinstance(op, ops.Say)}
    assert oddities == set(ops.ODDITIES)


def test_somebody_may_always_write_and_links_are_between_those_who_are_there() -> None:
    for schedule in drawn(200):
        here = set(schedule.names)
        assert not all(isinstance(m, ops.Member) and m.read_only for m in schedule.members), schedule.name
        for op in schedule.operations:
            if isinstance(op, ops.Close):
                here.remove(op.who)
            elif isinstance(op, ops.Reopen):
                here.add(op.who)
            elif isinstance(op, ops.Link | ops.Put | ops.Rename | ops.Delete):
                assert op.who in here, schedule.name
                assert getattr(op, "to", op.who) in here, schedule.name


def test_in_the_end_mostly_everybody_reaches_everybody() -> None:
    ended = [s for s in drawn(200) if any(isinstance(op, ops.Calm) for op in s.operations)]
    assert len(ended) > 140
    for schedule in ended:
        place = next(n for n, op in enumerate(schedule.operations) if isinstance(op, ops.Calm))
        rest = schedule.operations[place + 1 :]
        assert all(isinstance(op, ops.Look | ops.Read) for op in rest), schedule.name
        assert any(isinstance(op, ops.Read) for op in rest), schedule.name


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

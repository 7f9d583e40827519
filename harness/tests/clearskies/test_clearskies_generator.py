"""Generated schedules of ClearSkies: the same everywhere, valid, with every passage and operation within reach."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, find, given, settings

from clearskies_stages import session_of
from sds_harness.clearskies import operations as ops
from sds_harness.clearskies.generator import NAMES, ODD_NAMES, Grammar, draw_schedule, generate_schedule
from sds_harness.clearskies.notation import NOTATION
from sds_harness.clearskies.passages import PASSAGES
from sds_harness.clearskies.player import play
from sds_harness.clearskies.stage import Stage
from sds_harness.clearskies.strategies import schedules
from sds_harness.clearskies.writer import LURKERS, PEERS
from sds_harness.schedules import Schedule, dumps

HARNESS = Path(__file__).parents[2]
# The packages are stubs: what they import, other interpreters do not have, and the generator does not need it.
DIGEST = """
import hashlib, sys, types
for name in ("sds_harness", "sds_harness.schedules", "sds_harness.clearskies"):
    sys.modules[name] = types.ModuleType(name)
    sys.modules[name].__path__ = [sys.argv[1] + "/" + name.replace(".", "/")]
from sds_harness.clearskies.generator import generate_schedule
print(hashlib.sha256("".join(ascii(generate_schedule(0, index)) for index in range(20)).encode()).hexdigest())
"""


class Simplest:
    def integer(self, least: int, most: int) -> int:
        return least


class Greatest:
    def integer(self, least: int, most: int) -> int:
        return most


def drawn(count: int, grammar: Grammar | None = None, seed: int = 3) -> Iterator[Schedule]:
    return (generate_schedule(seed, index, grammar or Grammar()) for index in range(count))


def few(examples: int) -> settings:
    checks = list(HealthCheck)
    return settings(max_examples=examples, derandomize=True, database=None, deadline=None, suppress_health_check=checks)


def survives(schedule: Schedule) -> bool:
    """As a file it satisfies the schema, names only participants that exist, and is read back unchanged."""
    return NOTATION.loads(dumps(schedule)) == schedule


def test_the_same_number_is_the_same_schedule_and_any_other_is_another() -> None:
    assert list(drawn(30)) == list(drawn(30))
    assert len({replace(s, name="") for seed in (1, 2, 11) for s in drawn(30, seed=seed)}) == 90
    assert generate_schedule(5, 7).name == "seed 5, schedule 7"


def test_an_interpreter_without_anything_else_draws_the_same() -> None:
    done = subprocess.run(
        [sys.executable, "-c", DIGEST, str(HARNESS / "sds_harness")[: -len("/sds_harness")]],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONHASHSEED": "1", "PYTHONDONTWRITEBYTECODE": "1"},
    )
    here = "".join(ascii(generate_schedule(0, index)) for index in range(20))
    assert (done.stdout.strip(), done.stderr) == (hashlib.sha256(here.encode()).hexdigest(), "")


def test_every_schedule_survives_as_a_file() -> None:
    for schedule in drawn(60, seed=11):
        assert survives(schedule), schedule.name


@pytest.mark.parametrize("name", PASSAGES)
def test_each_passage_alone_makes_valid_schedules(name: str) -> None:
    for index, bounds in enumerate(((1, 1), (2, 2), (3, 8))):
        schedule = generate_schedule(2, index, Grammar(*bounds, passages=(name,)))
        assert survives(schedule)
        assert schedule.operations


@pytest.mark.parametrize("choices", [Simplest(), Greatest()])
def test_the_simplest_and_the_greatest_choices_make_valid_schedules(choices: Simplest | Greatest) -> None:
    assert survives(draw_schedule(choices))


def test_the_simplest_schedule_is_small() -> None:
    schedule = draw_schedule(Simplest())
    assert (len(schedule.members), schedule.channels, schedule.configuration) == (3, (), ())
    assert len(schedule.operations) <= 8
    assert schedule.members == tuple(ops.Member(name) for name in schedule.names)


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


def test_unscripted_nobody_but_participants_says_anything() -> None:
    def scripted(grammar: Grammar) -> bool:
        return any(isinstance(op, ops.Scripted | ops.Say) for s in drawn(100, grammar) for op in s.operations)

    assert scripted(Grammar())
    assert not scripted(Grammar(scripted=False))


@pytest.mark.parametrize("name", PASSAGES)
def test_each_passage_says_what_it_is_about_and_marks_what_it_needs(name: str) -> None:
    entry = PASSAGES[name]
    assert entry.summary.endswith(".")
    assert entry.weight > 0
    schedules_of_it = drawn(12, Grammar(3, 3, passages=(name,)))
    assert any(isinstance(op, ops.Scripted | ops.Say) for s in schedules_of_it for op in s.operations) == entry.scripted


@pytest.mark.parametrize("bounds", [(1, 1), (2, 3), (4, 4), (5, 8), (8, 8)])
def test_as_many_participants_as_were_asked_for(bounds: tuple[int, int]) -> None:
    sizes = {len(schedule.members) for schedule in drawn(80, Grammar(*bounds))}
    least, most = bounds
    # Numbers without a weight of their own are drawn only where there is no other.
    assert sizes == set(range(max(least, min(3, most)), most + 1))


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"fewest": 0}, "between 1 and 8"),
        ({"most": 9}, "not 3 to 9"),
        ({"longest": 0}, "at least one passage"),
        ({"passages": ("the-ghost", "no-such")}, "no passage 'no-such': there are .*the-ghost"),
    ],
)
def test_a_grammar_that_makes_no_sense_is_refused(arguments: dict[str, object], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        Grammar(**arguments)  # type: ignore[arg-type]
    if "passages" not in arguments:
        with pytest.raises(ValueError, match=said):
            schedules(**arguments)  # type: ignore[arg-type]


def test_no_participant_is_a_scripted_peer() -> None:
    names = (*NAMES, *ODD_NAMES, *PEERS, *LURKERS, "stranger", "reader")
    assert len(set(names)) == len(names)


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

    # Hypothesis also draws constants of loaded modules, so the number of examples that it takes depends on these.
    found = find(schedules(longest=1, scripted=False), deletes, settings=few(600))
    assert deletes(found)
    assert len(found.members) == 3
    assert len(found.operations) <= 30

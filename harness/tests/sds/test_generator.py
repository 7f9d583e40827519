"""Generated schedules: the same everywhere, valid, with every passage within reach, and within their grammar."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from sds_harness.schedules import Schedule, dumps
from sds_harness.schedules.choices import SeededChoices, chance, choose_weighted, pick, sample
from sds_harness.sds import operations as ops
from sds_harness.sds.generator import NAMES, ODD_NAMES, Grammar, draw_schedule, generate_schedule, passages_of
from sds_harness.sds.notation import NOTATION
from sds_harness.sds.passages import PASSAGES
from sds_harness.sds.writer import PEERS, SDS, Text, Writer
from sds_reference import FORUM_2024

HARNESS = Path(__file__).parents[2]
OTHERS = [
    python
    for minor in (11, 12, 13, 14)
    for python in sorted(Path.home().glob(f".pyenv/versions/3.{minor}.*/bin/python"))
    if minor != sys.version_info.minor
][:2]
"""Interpreters of other versions."""
PROPOSAL = Text.of(FORUM_2024)

# The packages are stubs: what they import, other interpreters do not have, and the generator does not need it.
DIGEST = """
import hashlib, sys, types
for name in ("sds_harness", "sds_harness.schedules", "sds_harness.sds"):
    sys.modules[name] = types.ModuleType(name)
    sys.modules[name].__path__ = [sys.argv[1] + "/" + name.replace(".", "/")]
from sds_harness.sds.generator import generate_schedule
print(hashlib.sha256("".join(ascii(generate_schedule(0, index)) for index in range(20)).encode()).hexdigest())
"""


class Told:
    """Choices that were made before; what is asked for is noted."""

    def __init__(self, *numbers: int) -> None:
        self._numbers = iter(numbers)
        self.asked: list[tuple[int, int]] = []

    def integer(self, least: int, most: int) -> int:
        self.asked.append((least, most))
        return next(self._numbers)


class Simplest:
    def integer(self, least: int, most: int) -> int:
        return least


class Greatest:
    def integer(self, least: int, most: int) -> int:
        return most


def drawn(count: int, grammar: Grammar | None = None, seed: int = 3, text: Text = SDS) -> Iterator[Schedule]:
    return (generate_schedule(seed, index, grammar or Grammar(), text) for index in range(count))


def text_of(passage: str) -> Text:
    """A text that it says something of."""
    return SDS if passage in passages_of(SDS) else PROPOSAL


def survives(schedule: Schedule) -> bool:
    """As a file it satisfies the schema, names only participants that exist, and is read back unchanged."""
    return NOTATION.loads(dumps(schedule)) == schedule


# ---- The same everywhere ---------------------------------------------------------------------------------------------


def test_the_same_number_is_the_same_schedule_and_any_other_is_another() -> None:
    assert list(drawn(30)) == list(drawn(30))
    assert len({replace(s, name="") for seed in (1, 2, 11) for s in drawn(30, seed=seed)}) == 90
    assert generate_schedule(5, 7).name == "seed 5, schedule 7"


@pytest.mark.every_python
@pytest.mark.parametrize(("python", "hash_seed"), [(Path(sys.executable), "1"), *((python, "2") for python in OTHERS)])
def test_every_interpreter_draws_the_same(python: Path, hash_seed: str) -> None:
    done = subprocess.run(
        [str(python), "-c", DIGEST, str(HARNESS)],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONHASHSEED": hash_seed, "PYTHONDONTWRITEBYTECODE": "1"},
    )
    here = "".join(ascii(generate_schedule(0, index)) for index in range(20))
    assert (done.stdout.strip(), done.stderr) == (hashlib.sha256(here.encode()).hexdigest(), "")


# ---- Valid -----------------------------------------------------------------------------------------------------------


def test_every_schedule_survives_as_a_file() -> None:
    for schedule in drawn(40, seed=11):
        assert survives(schedule), schedule.name


@pytest.mark.parametrize("name", PASSAGES)
def test_each_passage_alone_makes_valid_schedules(name: str) -> None:
    for index, bounds in enumerate(((1, 1), (2, 2), (3, 8))):
        schedule = generate_schedule(2, index, Grammar(*bounds, passages=(name,)), text_of(name))
        assert survives(schedule)
        assert schedule.operations


@pytest.mark.parametrize("choices", [Simplest(), Greatest()])
def test_the_simplest_and_the_greatest_choices_make_valid_schedules(choices: Simplest | Greatest) -> None:
    assert survives(draw_schedule(choices))


def test_the_simplest_schedule_is_small() -> None:
    schedule = draw_schedule(Simplest())
    assert (len(schedule.members), schedule.channels, schedule.seed) == (3, ("c1",), 0)
    assert len(schedule.operations) <= 8
    assert not any(member.late or member.clock_ms for member in schedule.members)


def test_only_those_join_who_are_late_and_only_once() -> None:
    joined = 0
    for schedule in drawn(400, Grammar(passages=("late-joiner", "syncs"))):
        joins = [operation.who for operation in schedule.operations if isinstance(operation, ops.Join)]
        assert len(joins) == len(set(joins))
        assert set(joins) <= {member.name for member in schedule.members if member.late}
        joined += len(joins)
    assert joined > 5


# ---- Passages --------------------------------------------------------------------------------------------------------


def noting(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """Counts which passages are written from now on."""
    written: Counter[str] = Counter()

    def counting(name: str, write: Callable[[Writer], None]) -> Callable[[Writer], None]:
        def count(writer: Writer) -> None:
            written[name] += 1
            write(writer)

        return count

    for name, passage in list(PASSAGES.items()):
        monkeypatch.setitem(PASSAGES, name, replace(passage, write=counting(name, passage.write)))
    return written


def test_each_passage_is_reached(monkeypatch: pytest.MonkeyPatch) -> None:
    written = noting(monkeypatch)
    list(drawn(700))
    assert set(written) == set(passages_of(SDS))
    assert min(written.values()) >= 3


def test_each_passage_about_the_proposal_is_reached_and_no_other(monkeypatch: pytest.MonkeyPatch) -> None:
    written = noting(monkeypatch)
    list(drawn(700, text=PROPOSAL))
    assert set(written) == set(passages_of(PROPOSAL))
    assert min(written.values()) >= 3
    assert not any(PASSAGES[name].repairs for name in written)
    assert set(PASSAGES) == set(passages_of(SDS)) | set(passages_of(PROPOSAL))


def test_nothing_is_drawn_that_the_proposal_has_not() -> None:
    for schedule in drawn(150, text=PROPOSAL):
        assert survives(schedule)
        assert "sds_r" not in dict(schedule.configuration)
        for operation in schedule.operations:
            asks = getattr(operation, "asks", ())
            hinted = getattr(operation, "hint", False) or getattr(operation, "senders_named", False)
            assert (asks, hinted) == ((), False), schedule.name


@pytest.mark.parametrize(
    ("grammar", "said"), [(Grammar(sds_r=True), "no SDS-R"), (Grammar(passages=("gap",)), "'gap'")]
)
def test_what_the_proposal_has_not_cannot_be_asked_for(grammar: Grammar, said: str) -> None:
    with pytest.raises(ValueError, match=f"{said}.*forum-2024|forum-2024.*{said}"):
        draw_schedule(Simplest(), grammar, text=PROPOSAL)
    with pytest.raises(ValueError, match="'syncs-in-reverse' is about something that SDS does not have"):
        draw_schedule(Simplest(), Grammar(passages=("syncs-in-reverse",)))


def test_only_those_passages_that_were_asked_for_are_written(monkeypatch: pytest.MonkeyPatch) -> None:
    written = noting(monkeypatch)
    schedules = list(drawn(30, Grammar(passages=("gap", "diamond"), longest=2)))
    assert set(written) == {"gap", "diamond"}
    assert len(schedules) <= sum(written.values()) <= 2 * len(schedules)


def test_without_sds_r_nothing_is_about_it(monkeypatch: pytest.MonkeyPatch) -> None:
    written = noting(monkeypatch)
    about = {"t_min_ms", "t_max_ms", "num_participants", "num_response_groups", "max_repair_requests"}
    for schedule in drawn(150, Grammar(sds_r=False)):
        configuration = dict(schedule.configuration)
        assert configuration["sds_r"] is False
        assert not about & set(configuration)
    assert not any(PASSAGES[name].repairs for name in written)


def test_with_sds_r_every_schedule_has_it_and_undecided_some_have_it() -> None:
    assert {dict(schedule.configuration)["sds_r"] for schedule in drawn(50, Grammar(sds_r=True))} == {True}
    assert {dict(schedule.configuration)["sds_r"] for schedule in drawn(50)} == {True, False}


def test_unscripted_nobody_says_odd_things() -> None:
    def odd(grammar: Grammar) -> set[str]:
        kinds = {operation.op for schedule in drawn(150, grammar) for operation in schedule.operations}
        return kinds & {"say", "garble"}

    assert odd(Grammar(scripted=False)) == set()
    assert odd(Grammar()) == {"say", "garble"}


@pytest.mark.parametrize("passage", PASSAGES.values(), ids=PASSAGES)
def test_each_passage_says_what_it_is_about_and_marks_what_it_needs(passage: object) -> None:
    entry = next(one for one in PASSAGES.values() if one is passage)
    assert entry.summary.endswith((".", "?"))
    assert entry.weight > 0
    schedules = drawn(12, Grammar(passages=(entry.name,)), text=text_of(entry.name))
    kinds = {op.op for schedule in schedules for op in schedule.operations}
    assert bool(kinds & {"say", "garble"}) == entry.scripted


def test_every_operation_is_drawn() -> None:
    by_hand = {"write", "receive", "settle", "mark", "require"}
    every = {operation.op for schedule in drawn(300) for operation in schedule.operations}
    assert every == set(ops.OPERATIONS) - by_hand


# ---- Grammar ---------------------------------------------------------------------------------------------------------


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
        ({"fewest": 5, "most": 4}, "not 5 to 4"),
        ({"longest": 0}, "at least one passage"),
        ({"passages": ("gap", "no-such")}, "no passage 'no-such': there are .*gap"),
    ],
)
def test_a_grammar_that_makes_no_sense_is_refused(arguments: dict[str, object], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        Grammar(**arguments)  # type: ignore[arg-type]


def test_no_participant_is_a_scripted_peer() -> None:
    assert len({*NAMES, *ODD_NAMES, *PEERS}) == len(NAMES) + len(ODD_NAMES) + len(PEERS)


# ---- Choices ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("least", "most"), [(0, 2), (-3, 2), (0, 9), (5, 21), (0, 99)])
def test_every_number_within_the_bounds_is_as_likely_as_any_other(least: int, most: int) -> None:
    choices = SeededChoices(0, 0)
    number = most - least + 1
    counts = Counter(choices.integer(least, most) for _ in range(400 * number))
    assert set(counts) == set(range(least, most + 1))
    assert all(300 < count < 500 for count in counts.values())


def test_where_there_is_no_choice_none_is_made() -> None:
    choices, other = SeededChoices(1, 1), SeededChoices(1, 1)
    assert [choices.integer(7, 7) for _ in range(5)] == [7] * 5
    assert choices.integer(0, 1 << 40) == other.integer(0, 1 << 40)


def test_seed_and_index_are_not_mixed_up() -> None:
    streams = [(1, 11), (11, 1), (111, 0), (0, 111)]
    assert len({SeededChoices(*stream).integer(0, 1 << 60) for stream in streams}) == len(streams)


def test_chance_is_a_percentage_and_the_simplest_is_no() -> None:
    assert [chance(Told(number), 30) for number in (0, 69, 70, 99)] == [False, False, True, True]
    assert not chance(Told(99), 0)
    assert chance(Told(0), 100)


def test_pick_takes_any_and_the_simplest_is_the_first() -> None:
    told = Told(0, 2)
    assert [pick(told, "abc"), pick(told, "abc")] == ["a", "c"]
    assert told.asked == [(0, 2)] * 2


def test_weighted_gives_each_its_share() -> None:
    told = Told(*range(6))
    items = (("a", 1), ("b", 3), ("never", 0), ("c", 2))
    assert "".join(choose_weighted(told, items) for _ in range(6)) == "abbbcc"
    assert told.asked == [(0, 5)] * 6


def test_some_keeps_the_order() -> None:
    assert sample(Told(99, 0, 99, 50), "abcd", 50) == ["a", "c", "d"]
    assert sample(SeededChoices(0, 0), "abcd", 0) == []

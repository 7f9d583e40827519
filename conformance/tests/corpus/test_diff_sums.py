"""Sums of a diff do not depend on the distribution over tasks, and never exceed the reported number."""

from __future__ import annotations

import random
from collections import Counter

import pytest

pytest.importorskip("pyarrow")

from sds_conformance.corpus import difference
from sds_conformance.corpus.classes import Class, Classified
from sds_conformance.corpus.difference import MOST_CAUSES, SAMPLES, Sum, most_common
from sds_conformance.corpus.divergences import DIFFERENT, Divergence

pytestmark = pytest.mark.spark


def found(number: int, chance: random.Random) -> Classified:
    divergence = Divergence(number, DIFFERENT, chance.randint(1, 40), (chance.choice(["wire", "log"]),))
    kind = chance.choice([Class.LEGAL, Class.A_VIOLATES, Class.UNEXPLAINED])
    violated = ("SDS-SEND-01", "G-01")[: chance.randint(0, 2)]
    return Classified(divergence, kind, chance.choice(["sweeps", "filters"]), "so it is", violated, violated[:1])


def added(those: list[Classified]) -> Sum:
    out = Sum()
    for one in those:
        out.add(one)
    return out


def test_tasks_say_together_what_one_says() -> None:
    chance = random.Random(3)
    those = [found(number, chance) for number in range(200)]
    whole, parts = added(those), Sum()
    for start in (150, 0, 60):
        end = {0: 60, 60: 150, 150: 200}[start]
        parts.add_json(added(those[start:end]).to_json())
    assert parts == whole
    assert sum(whole.classes.values()) == sum(whole.depths.values()) == 200
    for cause in whole.causes:
        alike = [one.divergence for one in those if (one.kind, one.cause) == (cause.kind, cause.cause)]
        assert cause.schedules == len(alike)
        earliest = sorted((one.step, one.schedule) for one in alike)[:SAMPLES]
        assert (cause.least_step, cause.samples) == (earliest[0][0], tuple(number for _, number in earliest))


def test_depths_are_powers_of_two() -> None:
    steps = {0: 0, 1: 0, 2: 1, 3: 1, 4: 2, 7: 2, 8: 3}
    for step, depth in steps.items():
        counted = added([Classified(Divergence(1, DIFFERENT, step), Class.LEGAL, "sweeps")]).depths
        assert counted == {(Class.LEGAL, depth): 1}


def test_a_sum_does_not_grow_with_the_ways_to_differ(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(difference, "_HELD", MOST_CAUSES + 5)
    several = [
        Classified(Divergence(n, DIFFERENT, 1), Class.UNEXPLAINED, f"cause {n}") for n in range(MOST_CAUSES + 50)
    ]
    out = added([*several, several[0]])
    assert len(out.alike) == MOST_CAUSES + 5
    assert len(out.causes) == MOST_CAUSES
    assert out.causes[0].schedules == 2
    assert out.classes[Class.UNEXPLAINED] == MOST_CAUSES + 51


def test_the_most_common_first_and_then_by_name() -> None:
    assert list(most_common(Counter({"b": 1, "a": 1, "c": 2}))) == ["c", "a", "b"]

"""Generated schedules of each protocol: a number means the same schedule, and each is valid as a file."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import pytest

from sds_harness.clearskies import generator as clearskies
from sds_harness.clearskies.notation import NOTATION as CLEARSKIES
from sds_harness.schedules import Schedule, dumps
from sds_harness.schedules.files import Notation
from sds_harness.sds import generator as sds
from sds_harness.sds.notation import NOTATION as SDS

GENERATORS: list[tuple[Any, Notation]] = [(sds, SDS), (clearskies, CLEARSKIES)]
each_generator = pytest.mark.parametrize(("generator", "notation"), GENERATORS, ids=["sds", "clearskies"])


@dataclass(frozen=True)
class Chooser:
    """Chooses the least or the greatest number each time."""

    integer: Callable[[int, int], int]


@each_generator
def test_the_same_number_is_the_same_schedule_and_any_other_is_another(generator: Any, notation: Notation) -> None:
    def drawn(seed: int) -> list[Schedule]:
        return [generator.generate_schedule(seed, index) for index in range(30)]

    assert drawn(3) == drawn(3)
    assert len({replace(schedule, name="") for seed in (1, 2, 11) for schedule in drawn(seed)}) == 90
    assert generator.generate_schedule(5, 7).name == "seed 5, schedule 7"


@each_generator
def test_every_schedule_survives_as_a_file(generator: Any, notation: Notation) -> None:
    drawn = [generator.generate_schedule(11, index) for index in range(50)]
    extremes = [generator.draw_schedule(Chooser(choice)) for choice in (min, max)]
    for schedule in drawn + extremes:
        assert notation.loads(dumps(schedule)) == schedule, schedule.name

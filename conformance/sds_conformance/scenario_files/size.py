"""Makes a dimension for `limits` from a scenario file. The size is the number to which the key ``parameter`` points.

The file demands the size that it contains. A failure up to this size is a fault of the implementation; a failure at a
larger size is worth a warning.
"""

from __future__ import annotations

from functools import partial
from typing import Any

from sds_harness.schedules import Schedule, ScheduleFileError
from sds_harness.schedules.files import to_json
from sds_harness.schedules.parameter import value_of, with_value

from ..protocols import repertoire_of
from ..protocols.dimensions import LENGTH_FACTOR, Dimension
from .reader import LoadedScenario, PlaySchedule, ScenarioFileError

LARGEST = 1 << 64
SMALLEST_SIZES = (1, 2, 3)
"""The sizes with which the search for a limit begins."""


def dimension_of(loaded: LoadedScenario, revision: str) -> Dimension:
    """Return the dimension of a file. Raises ScenarioFileError if it has no parameter, or cannot be played at
    any size.
    """
    schedule = loaded.schedule
    if not schedule.parameter:
        raise ScenarioFileError(
            f"{loaded.printable_path} has no number to raise: add a line such as `parameter: operations[0].times`"
        )
    for size in SMALLEST_SIZES:
        if why := _invalid(schedule, size, revision):
            raise ScenarioFileError(f"{loaded.printable_path}: parameter: {schedule.parameter} cannot be {size}: {why}")
    demanded = value_of(schedule)

    def play(stage: Any, size: int) -> str:
        """Play the file with ``size`` as its parameter. Return the expectations that were not met, as text."""
        PlaySchedule(with_value(schedule, size), revision, LENGTH_FACTOR)(stage)
        return loaded.describe_unmet(stage.trace.unmet)

    return Dimension(
        loaded.name,
        loaded.name,
        "Plays a scenario file with another value of its parameter.",
        partial(with_value, schedule),
        play,
        schedule.requirements,
        demanded,
        "the scenario file demands no larger size",
        max(demanded, _largest(schedule, revision)),
        file=str(loaded.path),
    )


def _invalid(schedule: Schedule, size: int, revision: str) -> str:
    """Return why a size cannot be played; "" if it can be played."""
    try:
        repertoire_of(revision).notation.from_json(to_json(with_value(schedule, size)))
    except ScheduleFileError as error:
        return str(error)
    return ""


def _largest(schedule: Schedule, revision: str) -> int:
    """The largest size that can be played, found by doubling and bisection."""
    valid, invalid = SMALLEST_SIZES[-1], LARGEST + 1
    while invalid - valid > 1:
        size = min(2 * valid, (valid + invalid) // 2)
        if _invalid(schedule, size, revision):
            invalid = size
        else:
            valid = size
    return valid

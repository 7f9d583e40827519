"""The Hypothesis strategies: their schedules are valid and shrink."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, find, given, settings

from sds_harness.schedules import Schedule, dumps
from sds_harness.sds.notation import NOTATION
from sds_harness.sds.operations import Send
from sds_harness.sds.strategies import schedules

SMALL = 8
"""Maximum number of operations of one simple passage."""


def few(examples: int) -> settings:
    return settings(
        max_examples=examples,
        derandomize=True,
        database=None,
        deadline=None,
        suppress_health_check=list(HealthCheck),
    )


def sends(schedule: Schedule) -> int:
    return sum(isinstance(operation, Send) for operation in schedule.operations)


@given(schedules())
@few(25)
def test_schedules_are_valid(schedule: Schedule) -> None:
    assert NOTATION.loads(dumps(schedule)) == schedule
    assert 3 <= len(schedule.members) <= 8


def test_arguments_that_make_no_sense_are_refused_at_once() -> None:
    for bounds in ((3, 9), (0, 3), (4, 3)):
        with pytest.raises(ValueError, match="between 1 and 8"):
            schedules(*bounds)
    with pytest.raises(ValueError, match="unknown passage 'no-such'"):
        schedules(passages=["no-such"])
    with pytest.raises(ValueError, match="at least one passage"):
        schedules(longest=0)
    with pytest.raises(ValueError, match=r"unknown revision 'no-such': revisions are .*forum-2024"):
        schedules(revision="no-such")
    with pytest.raises(ValueError, match="'gap' does not apply to forum-2024"):
        schedules(revision="forum-2024", passages=["gap"])


@pytest.mark.every_python
def test_what_is_found_is_shrunk() -> None:
    found = find(schedules(), lambda schedule: sends(schedule) >= 2, settings=few(100))
    assert sends(found) >= 2
    assert len(found.members) == 3
    assert len(found.operations) <= SMALL
    assert (found.channels, found.seed) == (("c1",), 0)
    assert not any(member.late or member.clock_ms for member in found.members)

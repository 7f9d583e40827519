"""The Hypothesis strategies: their schedules are valid, shrink, and find faults."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import HealthCheck, Phase, find, given, settings

from player_helpers import reference, stage_on
from sds_harness.schedules import Schedule, dumps
from sds_harness.sds.group_trace import GroupTrace
from sds_harness.sds.notation import NOTATION
from sds_harness.sds.operations import Send
from sds_harness.sds.player import play
from sds_harness.sds.strategies import schedules
from sds_reference import Config, Participant
from sds_reference.mutants import MUTANTS

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


def played(
    schedule: Schedule, participant: type[Participant] = Participant, config: Config | None = None
) -> GroupTrace:
    stage = stage_on(reference(participant_class=participant, config=config or Config()))
    return play(schedule, dict.fromkeys(schedule.names, stage))


def delivered_twice(group_trace: GroupTrace) -> bool:
    """Was a content message delivered to a participant more than once?"""
    labelled = {packet.wire.message.message_id for packet in group_trace.labels.values() if packet.wire.message}
    deliveries = Counter(
        (act.who, event.channel_id, event.message_id)
        for act in group_trace.acts
        for event in act.step.events
        if event.kind == "delivered" and event.message_id in labelled
    )
    return any(count > 1 for count in deliveries.values())


def sends(schedule: Schedule) -> int:
    return sum(isinstance(operation, Send) for operation in schedule.operations)


# ---- The drawn schedules ---------------------------------------------------------------------------------------------


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
    with pytest.raises(ValueError, match="'gap' is about something that forum-2024 does not have"):
        schedules(revision="forum-2024", passages=["gap"])


# ---- Shrinking -------------------------------------------------------------------------------------------------------


@pytest.mark.every_python
def test_what_is_found_is_shrunk() -> None:
    found = find(schedules(), lambda schedule: sends(schedule) >= 2, settings=few(100))
    assert sends(found) >= 2
    assert len(found.members) == 3
    assert len(found.operations) <= SMALL
    assert (found.channels, found.seed) == (("c1",), 0)
    assert not any(member.late or member.clock_ms for member in found.members)


# ---- Finding faults --------------------------------------------------------------------------------------------------


def test_a_fault_is_found() -> None:
    mutant = MUTANTS["delivers-copies"]
    tried: list[Schedule] = []

    def fails(schedule: Schedule) -> bool:
        tried.append(schedule)
        return delivered_twice(played(schedule, mutant.participant_class, mutant.configure(Config())))

    found = find(
        schedules(3, 4, scripted=False, longest=2),
        fails,
        settings=settings(few(60), phases=[Phase.generate]),
    )
    assert len(tried) <= 60
    assert delivered_twice(played(found, mutant.participant_class, mutant.configure(Config())))
    assert not delivered_twice(played(found))

"""Scenarios of SDS that are schedules: each is stored in a file, played from it, shrunk and drawn."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace

import pytest

from played import stage
from sds_conformance.drawing.spacetime import spacetime_svg
from sds_conformance.exploration.shrinking import shrink
from sds_conformance.protocols import repertoire_of
from sds_conformance.protocols.sds.register import SCENARIOS
from sds_harness.schedules import Performance, Schedule, dumps
from sds_harness.sds.notation import NOTATION
from sds_harness.sds.operations import Receive
from sds_harness.sds.player import perform
from sds_harness.stage import ScheduleStopped

REVISION = "sds-2026-01"
REPERTOIRE = repertoire_of(REVISION)
SCHEDULES = {name: scenario.write for name, scenario in SCENARIOS.items() if scenario.write is not None}
MOST_DRAWN = 60
"""Operations of a schedule that is drawn and shrunk: with more, both take long and show nothing new."""
SHORT = [name for name, schedule in SCHEDULES.items() if len(schedule().operations) <= MOST_DRAWN]


def conversation(schedule: Schedule) -> list[tuple[str, bytes, bytes]]:
    """The participant, the request and the reply of each step with the reference model."""
    playing = stage(name=schedule.name)
    with suppress(ScheduleStopped):
        perform(schedule, playing)
    return [
        (step.participant, step.request.SerializeToString(), step.reply.SerializeToString())
        for step in playing.trace.steps
        if step.reply is not None
    ]


def played(schedule: Schedule) -> Performance:
    return REPERTOIRE.play(schedule, dict.fromkeys(schedule.names, stage(name=schedule.name)))


def arrivals_of(schedule: Schedule) -> list[Receive]:
    return [operation for operation in schedule.operations if isinstance(operation, Receive)]


@pytest.mark.parametrize("name", SCHEDULES)
def test_a_scenario_is_the_same_after_it_was_stored_in_a_file(name: str) -> None:
    schedule = SCHEDULES[name]()
    assert NOTATION.loads(dumps(schedule)) == schedule


@pytest.mark.parametrize("name", SHORT)
def test_a_scenario_has_the_same_conversation_when_it_is_played_from_its_file(name: str) -> None:
    schedule = SCHEDULES[name]()
    by_the_scenario = stage(name=name)
    with suppress(ScheduleStopped):
        SCENARIOS[name].function(by_the_scenario)
    expected = [step.request.SerializeToString() for step in by_the_scenario.trace.steps]
    assert [request for _, request, _ in conversation(NOTATION.loads(dumps(schedule)))] == expected != []


@pytest.mark.parametrize("name", SHORT)
def test_a_scenario_is_drawn(name: str) -> None:
    drawn = spacetime_svg(played(SCHEDULES[name]()), title=name)
    assert drawn.startswith("<svg")
    assert name in drawn


@pytest.mark.parametrize("name", [name for name in SHORT if arrivals_of(SCHEDULES[name]())])
def test_a_scenario_is_shrunk_to_the_arrival_that_matters(name: str) -> None:
    schedule = SCHEDULES[name]()
    last = arrivals_of(schedule)[-1].messages[-1]

    def fails(candidate: Schedule) -> Performance | None:
        """As a violation that shows when the last message arrives."""
        labels = {m for one in candidate.operations if isinstance(one, Receive) for m in one.messages}
        written = {getattr(one, "label", "") for one in candidate.operations}
        return Performance(candidate, [], {}) if last in labels & written else None

    # Shrinking renumbers the labels, so the relevant one is found by its remaining operations.
    small = shrink(replace(schedule, notes=()), fails, REPERTOIRE).schedule
    assert len(small.operations) == 2
    assert NOTATION.loads(dumps(small)) == small


def test_most_scenarios_are_schedules() -> None:
    assert len(SCHEDULES) > len(SCENARIOS) / 2

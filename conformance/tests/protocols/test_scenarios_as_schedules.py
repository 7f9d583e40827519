"""Scenarios that are schedules, of each protocol: each is stored in a file, played from it, shrunk and drawn."""

from __future__ import annotations

import re
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import pytest

from sds_conformance.drawing.spacetime import spacetime_svg
from sds_conformance.protocols import protocol_of, repertoire_of
from sds_harness.environment import PLAIN
from sds_harness.link import Limits
from sds_harness.schedules import Schedule, dumps
from sds_harness.session import Session
from sds_harness.stage import ScheduleStoppedError

REVISIONS = ("sds-2026-01", "clearskies-database")
MOST_DRAWN = 60
"""Operations of a schedule that is drawn and shrunk: with more, both take long and show nothing new."""


@dataclass(frozen=True)
class Written:
    """A scenario that is a schedule."""

    revision: str
    name: str
    schedule: Schedule
    function: Callable[[Any], None]

    def stage(self) -> Any:
        """A stage with the reference model on it."""
        protocol = protocol_of(self.revision)
        link = protocol.model.reference
        session = Session(lambda: link(frozenset()), Limits(), self.revision, protocol.rules.language)
        return protocol.rules.stage(session, self.name, None, PLAIN)


def written(revision: str) -> list[Written]:
    scenarios = protocol_of(revision).rules.register.scenarios.values()
    return [
        Written(revision, scenario.name, schedule, scenario.function)
        for scenario in scenarios
        if (schedule := scenario.schedule) is not None
    ]


ALL = [one for revision in REVISIONS for one in written(revision)]


def sample() -> list[Written]:
    """Short scenarios that together have every kind of operation that short scenarios have."""
    short = [one for one in ALL if len(one.schedule.operations) <= MOST_DRAWN]
    kinds = {one.name: {type(operation) for operation in one.schedule.operations} for one in short}
    missing = {kind for found in kinds.values() for kind in found}
    out: list[Written] = []
    while missing:
        out.append(max(short, key=lambda one: len(kinds[one.name] & missing)))
        missing -= kinds[out[-1].name]
    return out


SAMPLE = sample()


def requests_of(stage: Any) -> list[bytes]:
    """The requests of a stage, without the random part of the path of a store."""
    requests = [step.request.SerializeToString() for step in stage.trace.steps]
    return [re.sub(rb"clearskies-\w{8}/", b"clearskies/", request) for request in requests]


def by_name(scenarios: list[Written]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("scenario", scenarios, ids=lambda one: f"{one.revision}-{one.name}")


def test_every_scenario_is_the_same_after_it_was_stored_in_a_file() -> None:
    for scenario in ALL:
        assert repertoire_of(scenario.revision).notation.loads(dumps(scenario.schedule)) == scenario.schedule


@pytest.mark.parametrize("revision", REVISIONS)
def test_the_schedule_of_a_limit_can_be_stored_in_a_file(revision: str) -> None:
    for name, dimension in protocol_of(revision).dimensions.items():
        schedule = dimension.write(5)
        assert repertoire_of(revision).notation.loads(dumps(schedule)) == schedule, name
        assert schedule.operations


@by_name(SAMPLE)
def test_a_scenario_has_the_same_requests_when_it_is_played_from_its_file(scenario: Written) -> None:
    repertoire = repertoire_of(scenario.revision)
    by_the_scenario = scenario.stage()
    with suppress(ScheduleStoppedError):
        scenario.function(by_the_scenario)
    expected = requests_of(by_the_scenario)
    by_the_scenario.close()
    stored = repertoire.notation.loads(dumps(scenario.schedule))
    from_the_file = scenario.stage()
    repertoire.perform(stored, dict.fromkeys(stored.names, from_the_file), 1)
    assert requests_of(from_the_file) == expected != []
    from_the_file.close()


@by_name(SAMPLE)
def test_a_scenario_is_drawn(scenario: Written) -> None:
    stages = dict.fromkeys(scenario.schedule.names, scenario.stage())
    drawn = spacetime_svg(repertoire_of(scenario.revision).play(scenario.schedule, stages), title=scenario.name)
    assert drawn.startswith("<svg")
    assert scenario.name in drawn
    assert all(f">{name}<" in drawn for name in scenario.schedule.names)

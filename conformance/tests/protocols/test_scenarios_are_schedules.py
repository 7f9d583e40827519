"""Every scenario of the suite is a schedule, which a user can save as a file, change and play."""

from __future__ import annotations

import pytest

from sds_conformance.judging.registry import Scenario
from sds_conformance.protocols import protocols
from sds_harness.schedules import Notation, dumps

SCENARIOS = [
    pytest.param(protocol.repertoire.notation, scenario, id=name)
    for protocol in protocols()
    if protocol.repertoire is not None
    for name, scenario in protocol.rules.register.scenarios.items()
]


@pytest.mark.parametrize(("notation", "scenario"), SCENARIOS)
def test_a_scenario_survives_as_a_file(notation: Notation, scenario: Scenario) -> None:
    assert scenario.schedule is not None
    assert notation.loads(dumps(scenario.schedule)) == scenario.schedule

"""Which requirement is exercised where is read from a real run of the reference, not from comments."""

from __future__ import annotations

import pytest

from sds_conformance.cli.requirements import row
from sds_conformance.judging.certification import Certification
from sds_conformance.judging.exercise import certify_reference, sightings_of
from sds_conformance.judging.exits import Exit
from sds_conformance.judging.verdict import Verdict
from sds_conformance.protocols import Protocol, protocols
from sds_conformance.protocols.sds.catalogue import CURRENT


@pytest.fixture(scope="module", params=protocols(), ids=lambda protocol: protocol.name)
def protocol(request: pytest.FixtureRequest) -> Protocol:
    assert isinstance(request.param, Protocol)
    return request.param


@pytest.fixture(scope="module")
def played(protocol: Protocol, request: pytest.FixtureRequest) -> dict[str, Certification]:
    """The reference, judged on everything, by revision."""
    if protocol.name == "SDS":
        outcomes: dict[str, Certification] = request.getfixturevalue("outcomes")
        return outcomes
    return {"": certify_reference(protocol.rules, lambda: protocol.model.reference(frozenset()))}


def test_the_reference_passes_every_requirement_that_has_a_check(
    protocol: Protocol, played: dict[str, Certification]
) -> None:
    for outcome in played.values():
        assert [v.requirement.id for v in outcome.verdicts if v.verdict is not Verdict.PASS] == []
        assert [finding for verdict in outcome.verdicts for finding in verdict.findings] == []
        assert (outcome.exit_code, outcome.breakdowns, outcome.gave_up) == (Exit.CONFORMANT, [], False)
    checks = set(protocol.rules.register.checks)
    assert {v.requirement.id for outcome in played.values() for v in outcome.verdicts} == checks
    if CURRENT in played:
        requirements = protocol.rules.catalogue.requirements
        stated = {each for each in checks if requirements[each].is_stated_in(CURRENT)}
        assert {v.requirement.id for v in played[CURRENT].verdicts} == stated


def test_every_scenario_is_played_to_its_end(protocol: Protocol, played: dict[str, Certification]) -> None:
    traces = [trace for outcome in played.values() for trace in outcome.traces.values()]
    assert {name for outcome in played.values() for name in outcome.traces} == set(protocol.rules.register.scenarios)
    assert [trace.schedule for trace in traces if trace.stopped or trace.breakdown] == []


def test_every_scenario_exercises_the_requirements_that_it_is_played_for(
    protocol: Protocol, played: dict[str, Certification]
) -> None:
    sightings = sightings_of(played.values())
    wrong = {}
    for scenario in protocol.rules.register.scenarios.values():
        missed = {r for r in scenario.declared if not sightings.get(r, {}).get(scenario.name)}
        if missed != scenario.violated:
            wrong[scenario.name] = missed ^ scenario.violated
        assert len(set(scenario.exercises)) == len(scenario.exercises) > 0, scenario.name
        assert set(scenario.exercises) <= set(protocol.rules.register.checks), scenario.name
    assert wrong == {}


def test_every_requirement_is_traced_to_a_run_or_says_why_it_is_untestable(
    protocol: Protocol, played: dict[str, Certification]
) -> None:
    """The table of `sds-conformance requirements` has no hole."""
    sightings = sightings_of(played.values())
    for requirement in protocol.rules.catalogue.requirements.values():
        name = requirement.id
        traced = row(protocol, requirement, sightings)
        assert traced["level"], name
        assert traced["statement"], name
        if traced["status"] == "checked":
            assert traced["checks"], f"{name} has no check: register one, or give the reason as `untestable`"
            assert traced["scenarios"], f"{name} has no scenario: name it in the @scenario(...) that exercises it"
            assert traced["runs"], f"{name} is exercised by no run: its scenarios do not bring the situation about"
            assert set(traced["scenarios"]) & set(traced["exercised_in"]), f"none of its scenarios exercises {name}"
            assert traced["mutants"] or requirement.optional, f"{name} has no mutant: add one in sds_reference/mutants"
            assert not traced["reason"], name
        else:
            assert traced["status"] == "untestable", name
            assert len(traced["reason"].split()) >= 3, f"`untestable` of {name} has no reason"
            assert traced["checks"] + traced["scenarios"] + traced["mutants"] == [], name
            assert traced["runs"] == 0, name

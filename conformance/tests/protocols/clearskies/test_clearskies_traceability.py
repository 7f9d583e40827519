"""Which requirement of the database extension is exercised where is read from a real run of its model."""

from __future__ import annotations

import pytest

from sds_conformance.cli.requirements import row
from sds_conformance.judging.certification import Certification
from sds_conformance.judging.exercise import certify_reference, sightings_of, unguarded_requirements
from sds_conformance.judging.exits import Exit
from sds_conformance.judging.verdict import Verdict
from sds_conformance.protocols.clearskies.protocol import PROTOCOL

RULES, MODEL = PROTOCOL.rules, PROTOCOL.model
REGISTER = RULES.register


@pytest.fixture(scope="module")
def outcome() -> Certification:
    return certify_reference(RULES, lambda: MODEL.reference(frozenset()))


def test_the_reference_passes_every_requirement_that_has_a_check(outcome: Certification) -> None:
    assert [verdict.requirement.id for verdict in outcome.verdicts if verdict.verdict is not Verdict.PASS] == []
    assert {verdict.requirement.id for verdict in outcome.verdicts} == set(REGISTER.checks)
    assert outcome.exit_code == Exit.CONFORMANT


def test_of_the_reference_there_is_nothing_to_tell(outcome: Certification) -> None:
    assert [finding for verdict in outcome.verdicts for finding in verdict.findings] == []
    assert outcome.breakdowns == []


def test_every_scenario_is_played_to_its_end(outcome: Certification) -> None:
    assert set(outcome.traces) == set(REGISTER.scenarios)
    assert [trace.schedule for trace in outcome.traces.values() if trace.stopped or trace.breakdown] == []


def test_a_scenario_exercises_what_it_is_played_for(outcome: Certification) -> None:
    seen = outcome.sightings
    for scenario in REGISTER.scenarios.values():
        due = [each for each in scenario.declared if each not in scenario.violated]
        assert [each for each in due if not seen.get(each, {}).get(scenario.name)] == [], scenario.name
        assert len(set(scenario.declared)) == len(scenario.declared) > 0, scenario.name


def test_a_requirement_is_exercised_where_it_is_said_to_be(outcome: Certification) -> None:
    for requirement in REGISTER.checks:
        declared = {scenario.name for scenario in REGISTER.scenarios.values() if requirement in scenario.exercises}
        assert declared & set(outcome.sightings[requirement]), requirement


def test_every_check_that_can_be_violated_has_a_mutant() -> None:
    assert unguarded_requirements(RULES, MODEL) == []


def test_what_is_shown_of_a_requirement_has_no_hole_in_it(outcome: Certification) -> None:
    for requirement in RULES.catalogue.requirements.values():
        shown = row(PROTOCOL, requirement, sightings_of([outcome]))
        assert shown["status"] in ("checked", "untestable"), requirement.id
        if shown["status"] == "checked":
            assert shown["checks"], requirement.id
            assert shown["runs"], requirement.id
            assert shown["mutants"] or requirement.optional, requirement.id

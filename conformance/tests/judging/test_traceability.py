"""Which requirement is exercised where is read from a real run of the reference, not from comments."""

from __future__ import annotations

from collections import Counter

import pytest

from sds_conformance.cli.requirements import row
from sds_conformance.judging.certification import Certification
from sds_conformance.judging.exercise import Sightings, sightings_of
from sds_conformance.judging.exits import Exit
from sds_conformance.judging.verdict import Verdict
from sds_conformance.protocols.sds.catalogue import CURRENT, load_catalogue
from sds_conformance.protocols.sds.protocol import PROTOCOL
from sds_conformance.protocols.sds.register import CHECKS, SCENARIOS
from sds_reference.mutants import MUTANTS
from sds_reference.variants import VARIANTS

FORUM = "forum-2024"
REQUIREMENTS = load_catalogue().requirements
ALL_CHECKS = [check for checks in CHECKS.values() for check in checks]


@pytest.fixture(scope="module")
def sightings(outcomes: dict[str, Certification]) -> Sightings:
    return sightings_of(outcomes.values())


def revision_of(requirement: str) -> str:
    """A revision that states it, the current one if that does."""
    return CURRENT if REQUIREMENTS[requirement].is_stated_in(CURRENT) else REQUIREMENTS[requirement].revisions[0]


def test_the_reference_passes_every_requirement_that_has_a_check(outcomes: dict[str, Certification]) -> None:
    for outcome in outcomes.values():
        assert [v.requirement.id for v in outcome.verdicts if v.verdict is not Verdict.PASS] == []
        assert outcome.exit_code == Exit.CONFORMANT
    assert {v.requirement.id for outcome in outcomes.values() for v in outcome.verdicts} == set(CHECKS)
    for revision in (CURRENT, FORUM):
        stated = {r for r in CHECKS if revision_of(r) == revision}
        assert {v.requirement.id for v in outcomes[revision].verdicts} == stated


def test_of_the_reference_there_is_nothing_to_tell(outcomes: dict[str, Certification]) -> None:
    for outcome in outcomes.values():
        assert [finding for verdict in outcome.verdicts for finding in verdict.findings] == []
        assert outcome.breakdowns == []
        assert not outcome.gave_up


def test_every_scenario_is_played_to_its_end(outcomes: dict[str, Certification]) -> None:
    assert set(outcomes[CURRENT].traces) | set(outcomes[FORUM].traces) == set(SCENARIOS)
    assert {name for name, s in SCENARIOS.items() if s.declared[0].startswith("SDS-")} <= set(outcomes[CURRENT].traces)
    traces = [trace for outcome in outcomes.values() for trace in outcome.traces.values()]
    assert [trace.schedule for trace in traces if trace.stopped or trace.breakdown] == []


def test_every_scenario_exercises_the_requirements_that_it_is_played_for(sightings: Sightings) -> None:
    wrong = {}
    for scenario in SCENARIOS.values():
        missed = {r for r in scenario.declared if not sightings.get(r, {}).get(scenario.name)}
        if missed != scenario.violated:
            wrong[scenario.name] = missed ^ scenario.violated
    assert wrong == {}


def test_a_scenario_names_a_requirement_once_and_only_ones_with_checks() -> None:
    for scenario in SCENARIOS.values():
        assert len(set(scenario.exercises)) == len(scenario.exercises), scenario.name
        assert set(scenario.exercises) <= set(CHECKS), scenario.name
        assert scenario.exercises, scenario.name


# ---- From the statement to the proof ---------------------------------------------------------------------------------


def test_every_requirement_is_traced_to_a_run_or_says_why_it_is_untestable(sightings: Sightings) -> None:
    """The table of `sds-conformance requirements` has no hole."""
    for requirement in REQUIREMENTS.values():
        name = requirement.id
        traced = row(PROTOCOL, requirement, sightings)
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


def test_every_mutant_says_in_one_line_what_it_does() -> None:
    summaries = Counter(mutant.summary for mutant in MUTANTS.values())
    assert max(summaries.values()) == 1
    assert all(summary and "\n" not in summary and not summary.endswith(".") for summary in summaries)


def test_no_name_means_both_a_mutant_and_a_variant() -> None:
    assert set(MUTANTS) & set(VARIANTS) == set()


def test_checks_and_scenarios_say_in_one_line_what_they_do() -> None:
    for summary in [check.summary for check in ALL_CHECKS] + [scenario.summary for scenario in SCENARIOS.values()]:
        assert summary.endswith(".")
        assert len(summary) <= 120

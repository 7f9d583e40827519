"""Which requirement is exercised where is read from a real run of the reference, not from comments."""

from __future__ import annotations

from collections import Counter

import pytest

from played import unguarded
from sds_conformance.cli.requirements import row
from sds_conformance.judging.certification import Certification
from sds_conformance.judging.exercise import Sightings, sightings_of
from sds_conformance.judging.exits import Exit
from sds_conformance.judging.judgement import Outcome
from sds_conformance.judging.registry import Check, Scenario
from sds_conformance.judging.rules import View
from sds_conformance.judging.verdict import Verdict
from sds_conformance.protocols import rules_of
from sds_conformance.protocols.sds.catalogue import CURRENT, load_catalogue
from sds_conformance.protocols.sds.protocol import PROTOCOL
from sds_conformance.protocols.sds.register import CHECKS, SCENARIOS
from sds_reference.mutants import MUTANTS
from sds_reference.variants import VARIANTS

FORUM = "forum-2024"
REQUIREMENTS = load_catalogue().requirements
ALL_CHECKS = [check for checks in CHECKS.values() for check in checks]


@pytest.fixture(scope="module")
def views(outcomes: dict[str, Certification]) -> dict[str, list[View]]:
    return {
        revision: [view for trace in outcome.traces.values() for view in rules_of(revision).views(trace)]
        for revision, outcome in outcomes.items()
    }


@pytest.fixture(scope="module")
def sightings(outcomes: dict[str, Certification]) -> Sightings:
    return sightings_of(outcomes.values())


def revision_of(requirement: str) -> str:
    """A revision that states it, the current one if that does."""
    return CURRENT if REQUIREMENTS[requirement].stated_in(CURRENT) else REQUIREMENTS[requirement].revisions[0]


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


@pytest.mark.parametrize("scenario", SCENARIOS.values(), ids=lambda scenario: scenario.name)
def test_a_scenario_exercises_what_it_is_played_for(sightings: Sightings, scenario: Scenario) -> None:
    missed = {requirement for requirement in scenario.declared if not sightings.get(requirement, {}).get(scenario.name)}
    assert missed == scenario.violated


def test_a_scenario_names_a_requirement_once_and_only_ones_with_checks() -> None:
    for scenario in SCENARIOS.values():
        assert len(set(scenario.exercises)) == len(scenario.exercises), scenario.name
        assert set(scenario.exercises) <= set(CHECKS), scenario.name
        assert scenario.exercises, scenario.name


@pytest.mark.parametrize("requirement", CHECKS)
def test_a_requirement_with_a_check_is_exercised_where_it_is_said_to_be(sightings: Sightings, requirement: str) -> None:
    declared = {scenario.name for scenario in SCENARIOS.values() if requirement in scenario.exercises}
    assert declared & set(sightings[requirement])


@pytest.mark.parametrize("check", ALL_CHECKS, ids=lambda check: check.name)
def test_no_single_check_finds_fault_with_the_reference(views: dict[str, list[View]], check: Check) -> None:
    stated = [r for r in views if REQUIREMENTS[check.requirement].stated_in(r)]
    observations = [o for revision in stated for view in views[revision] for o in check.function(view)]
    assert {observation.outcome for observation in observations} <= {Outcome.HELD}


@pytest.mark.parametrize("requirement", CHECKS)
def test_of_the_checks_of_a_requirement_not_all_are_mere_watchmen(
    views: dict[str, list[View]], requirement: str
) -> None:
    """A check that only ever sees violations proves nothing by its silence."""
    seen = views[revision_of(requirement)]
    assert any(True for check in CHECKS[requirement] for view in seen for _ in check.function(view))


def test_the_sightings_are_the_observations_that_are_counted(outcome: Certification) -> None:
    for verdict in outcome.verdicts:
        seen = outcome.sightings[verdict.requirement.id]
        assert sum(seen.values()) == verdict.exercised
        assert len(seen) == verdict.traces


# ---- From the statement to the proof ---------------------------------------------------------------------------------


@pytest.mark.parametrize("requirement", REQUIREMENTS)
def test_a_requirement_is_traced_to_a_run_or_says_why_not(sightings: Sightings, requirement: str) -> None:
    """What `sds-conformance requirements` shows has no hole in it."""
    traced = row(PROTOCOL, REQUIREMENTS[requirement], sightings)
    assert traced["level"]
    assert traced["statement"]
    if traced["status"] == "checked":
        assert traced["checks"], "no check: register one, or give the reason as `untestable`"
        assert traced["scenarios"], "no scenario is played for it: name it in the @scenario(...) that exercises it"
        assert traced["runs"], "no run exercised it: its scenarios do not bring the situation about"
        assert set(traced["scenarios"]) & set(traced["exercised_in"]), "none of its own scenarios exercises it"
        assert traced["mutants"] or REQUIREMENTS[requirement].optional, "no mutant: add one in sds_reference/mutants"
        assert not traced["reason"]
    else:
        assert traced["status"] == "untestable"
        assert len(traced["reason"].split()) >= 3, "`untestable` has no reason"
        assert traced["checks"] + traced["scenarios"] + traced["mutants"] == []
        assert traced["runs"] == 0


def test_what_is_registered_is_in_the_catalogue() -> None:
    assert set(CHECKS) <= set(REQUIREMENTS)
    assert {requirement for scenario in SCENARIOS.values() for requirement in scenario.exercises} <= set(REQUIREMENTS)
    assert {mutant.requirement for mutant in MUTANTS.values()} <= set(REQUIREMENTS)


def test_without_a_run_it_is_not_said_in_how_many_runs_it_was_exercised() -> None:
    traced = row(PROTOCOL, REQUIREMENTS["SDS-RECV-06"], None)
    assert (traced["runs"], traced["exercised_in"]) == (None, None)
    assert traced["checks"]


def test_only_permissions_go_without_a_mutant() -> None:
    assert unguarded() == []


def test_every_mutant_violates_a_requirement_that_exists_and_is_checked() -> None:
    assert {mutant.requirement for mutant in MUTANTS.values()} <= set(CHECKS)


def test_every_mutant_says_in_one_line_what_it_does() -> None:
    summaries = Counter(mutant.summary for mutant in MUTANTS.values())
    assert max(summaries.values()) == 1
    assert all(summary and "\n" not in summary and not summary.endswith(".") for summary in summaries)


def test_no_name_means_both_a_mutant_and_a_variant() -> None:
    assert set(MUTANTS) & set(VARIANTS) == set()


def test_no_two_checks_of_a_requirement_have_the_same_name() -> None:
    for requirement, checks in CHECKS.items():
        names = [check.name for check in checks]
        assert len(set(names)) == len(names), requirement


def test_no_check_is_registered_for_two_requirements_of_a_text() -> None:
    functions = Counter((check.function, check.requirement.partition("-")[0]) for check in ALL_CHECKS)
    assert [function.__name__ for (function, _), count in functions.items() if count > 1] == []


def test_checks_and_scenarios_say_in_one_line_what_they_do() -> None:
    for summary in [check.summary for check in ALL_CHECKS] + [scenario.summary for scenario in SCENARIOS.values()]:
        assert summary.endswith(".")
        assert len(summary) <= 120


def test_scenarios_are_registered_under_their_own_names() -> None:
    assert [name for name, scenario in SCENARIOS.items() if scenario.name != name] == []

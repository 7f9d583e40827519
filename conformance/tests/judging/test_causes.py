"""Root causes: what follows from another failure is told under it, strangers are not, and nothing is lost."""

from __future__ import annotations

from collections.abc import Mapping

from sds_conformance.judging.causes import causes, consequences
from sds_conformance.judging.severity import SEVERITIES
from sds_conformance.judging.tally import MAX_STEPS, Kind, Tally
from sds_conformance.judging.verdict import RequirementVerdict, Verdict
from sds_conformance.protocols.sds.rules import RULES

KNOWN = RULES.catalogue.requirements
CAUSE, EFFECT = next(
    (row.of[0], row.fail[0])
    for row in RULES.catalogue.consequences
    if row.of[0] in KNOWN and not consequences(RULES, row.fail[0], row.of[0])
)
"""Of these it is declared that the second fails beside the first, and not the other way round."""
ONE, OTHER = "SDS-MSG-14", "SDS-EPHEMERAL-02"
"""Of these nothing is declared."""
EVERYWHERE = [f"run-{number}" for number in range(20)]


def verdict(requirement: str, places: Mapping[str, set[int]], kind: Verdict = Verdict.FAIL) -> RequirementVerdict:
    tally = Tally()
    for run, steps in places.items():
        for step in steps:
            tally.add(run, run, step, Kind("wrong", kind.value))
    return RequirementVerdict(KNOWN[requirement], kind, tally=tally)


def told(*verdicts: RequirementVerdict, exercised: list[str] = EVERYWHERE) -> dict[str, list[str]]:
    """The causes, with what is told under each."""
    found = causes(RULES, verdicts, {v.requirement.id: exercised for v in verdicts})
    return {c.verdict.requirement.id: [under.requirement.id for under, _ in c.under] for c in found}


def test_what_is_declared_to_follow_is_told_under_it_with_the_reason() -> None:
    both = verdict(CAUSE, {"run-1": {5}}), verdict(EFFECT, {"run-1": {3}})
    assert told(*both) == told(*reversed(both)) == {CAUSE: [EFFECT]}
    (found,) = causes(RULES, both, {})
    (declared,) = (row for row in RULES.catalogue.consequences if row.explains(CAUSE, EFFECT))
    assert found.under[0][1] == declared.because
    assert (found.total, found.scenarios, found.requirements) == (2, 1, {CAUSE, EFFECT})


def test_not_where_the_two_never_meet() -> None:
    assert told(verdict(CAUSE, {"run-1": {5}}), verdict(EFFECT, {"run-2": {5}})) == {CAUSE: [], EFFECT: []}


def test_what_fails_nowhere_but_after_another_is_told_under_it() -> None:
    places = {"run-1": {5}, "run-2": {5}}
    later = {"run-1": {9}, "run-2": {7}}
    assert told(verdict(ONE, places), verdict(OTHER, later)) == {ONE: [OTHER]}
    assert told(verdict(ONE, places), verdict(OTHER, later | {"run-3": {7}})) == {OTHER: [], ONE: []}


def test_not_where_it_fails_before_the_other() -> None:
    first, then = {"run-1": {5, 9}, "run-2": {5}}, {"run-1": {4, 9}, "run-2": {8}}
    assert told(verdict(ONE, first), verdict(OTHER, then)) == {ONE: [], OTHER: []}


def test_one_that_fails_everywhere_explains_nothing_else() -> None:
    everywhere = verdict(ONE, {run: {1, 2, 3} for run in EVERYWHERE})
    assert told(everywhere, verdict(OTHER, {"run-1": {2}, "run-2": {9}})) == {ONE: [], OTHER: []}


def test_at_the_same_steps_less_company_is_enough() -> None:
    half = {run: {4} for run in EVERYWHERE[:8]}
    assert told(verdict(ONE, half), verdict(OTHER, {"run-1": {4}})) == {ONE: [OTHER]}
    assert told(verdict(ONE, half), verdict(OTHER, {"run-1": {5}})) == {ONE: [], OTHER: []}


def test_no_failure_hides_under_a_warning() -> None:
    places = {"run-1": {5}}
    assert told(verdict(ONE, places, Verdict.WARN), verdict(OTHER, places)) == {OTHER: [ONE]}
    later = {"run-1": {6}}
    assert told(verdict(ONE, places, Verdict.WARN), verdict(OTHER, later)) == {OTHER: [], ONE: []}


def test_failures_come_before_warnings_and_the_most_severe_first() -> None:
    rare, frequent = verdict(ONE, {"run-1": {1}}), verdict(OTHER, {f"run-{number}": {1} for number in (4, 5, 6)})
    warned = verdict("SDS-RECV-06", {run: {1} for run in EVERYWHERE}, Verdict.WARN)
    first, second = sorted([OTHER, ONE], key=lambda one: KNOWN[one].severity)
    assert KNOWN[first].severity < KNOWN[second].severity
    assert list(told(warned, rare, frequent)) == [first, second, "SDS-RECV-06"]


def test_of_one_severity_what_is_in_more_scenarios_comes_first() -> None:
    alike = next(one for one in KNOWN if KNOWN[one].severity == KNOWN[ONE].severity and one != ONE)
    rare, frequent = verdict(ONE, {"run-1": {1}}), verdict(alike, {f"run-{number}": {1} for number in (4, 5, 6)})
    assert list(told(rare, frequent)) == [alike, ONE]


def test_the_severity_of_a_requirement_is_that_of_its_level() -> None:
    for requirement in KNOWN.values():
        assert requirement.severity in SEVERITIES
        assert (requirement.severity == 4) == (not requirement.binding), requirement.id


def test_what_passes_is_no_cause() -> None:
    assert told(RequirementVerdict(KNOWN[ONE], Verdict.PASS), RequirementVerdict(KNOWN[OTHER])) == {}


def test_a_tally_counts_by_code_and_keeps_few_steps() -> None:
    tally = Tally()
    for number in range(1000):
        tally.add("run", "often" if number % 4 else "rarely", number, Kind("late" if number % 2 else "lost", "fail"))
    assert {kind.code: dict(scenarios) for kind, scenarios in tally.kinds.items()} == {
        "lost": {"rarely": 250, "often": 250},
        "late": {"often": 500},
    }
    assert tally.scenarios == ["often", "rarely"]
    assert len(tally.places["run"]) == MAX_STEPS
    assert tally.total == 1000

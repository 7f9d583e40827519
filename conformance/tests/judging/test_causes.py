"""Root causes: a failure that follows from another is listed under it, unrelated ones are not, and none is lost."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from sds_conformance.judging.catalogue import ANOTHER_LAYOUT
from sds_conformance.judging.causes import causes, consequences
from sds_conformance.judging.verdict import RequirementVerdict, Tally, Verdict, ViolationKind
from sds_conformance.protocols.sds.rules import RULES

KNOWN = RULES.catalogue.requirements
CAUSE, EFFECT = next(
    (row.of[0], row.fail[0])
    for row in RULES.catalogue.consequences
    if {row.of[0], row.fail[0]} <= KNOWN.keys() and not consequences(RULES, row.fail[0], row.of[0])
)
"""Declared pairs: the second fails with the first, and not the other way round."""
ONE, OTHER = "SDS-MSG-14", "SDS-EPHEMERAL-02"
"""Of these nothing is declared."""
EVERYWHERE = [f"run-{number}" for number in range(20)]


def verdict(
    requirement: str, places: Mapping[str, set[int]], kind: Verdict = Verdict.FAIL, code: str = "wrong"
) -> RequirementVerdict:
    tally = Tally()
    for run, steps in places.items():
        for step in steps:
            tally.add(run, run, step, ViolationKind(code, kind.value))
    return RequirementVerdict(KNOWN[requirement], kind, tally=tally)


def describe_causes(
    *verdicts: RequirementVerdict, exercised: Collection[str] = EVERYWHERE, dialect: str = ""
) -> dict[str, list[str]]:
    """The causes, with the failures under each."""
    found = causes(RULES, verdicts, {v.requirement.id: exercised for v in verdicts}, dialect)
    return {c.verdict.requirement.id: [under.requirement.id for under, _ in c.under] for c in found}


def test_what_is_declared_to_follow_is_reported_under_it_with_the_reason() -> None:
    both = verdict(CAUSE, {"run-1": {5}}), verdict(EFFECT, {"run-1": {3}})
    assert describe_causes(*both) == describe_causes(*reversed(both)) == {CAUSE: [EFFECT]}
    (found,) = causes(RULES, both, {})
    (declared,) = (row for row in RULES.catalogue.consequences if row.explains(CAUSE, EFFECT))
    assert found.under[0][1] == declared.because
    assert (found.total, found.scenarios, found.requirements) == (2, 1, {CAUSE, EFFECT})


def test_faults_of_which_nothing_is_declared_are_two_causes_however_often_they_meet() -> None:
    places = {run: {5} for run in EVERYWHERE}
    assert describe_causes(verdict(ONE, places), verdict(OTHER, places)) == {ONE: [], OTHER: []}


def test_a_rare_fault_explains_nothing_in_runs_that_exercise_it_and_do_not_violate_it() -> None:
    many = [f"run-{number}" for number in range(100)]
    rare, frequent = verdict(CAUSE, {"run-0": {5}}), verdict(CAUSE, {run: {5} for run in many[:5]})
    elsewhere = verdict(EFFECT, {"run-99": {5}}, code="missing")
    together, alike = verdict(EFFECT, {"run-0": {5}, "run-99": {5}}, code="missing"), verdict(EFFECT, {"run-99": {5}})
    assert describe_causes(rare, elsewhere, exercised=many) == {CAUSE: [], EFFECT: []}
    assert describe_causes(rare, elsewhere, exercised=many[:99]) == {CAUSE: [EFFECT]}
    for cause, effect in ((rare, together), (frequent, elsewhere), (rare, alike)):
        assert describe_causes(cause, effect, exercised=many) == {CAUSE: [EFFECT]}


def test_no_failure_hides_under_a_warning() -> None:
    places = {"run-1": {5}}
    assert describe_causes(verdict(CAUSE, places, Verdict.WARN), verdict(EFFECT, places)) == {EFFECT: [], CAUSE: []}
    assert describe_causes(verdict(CAUSE, places), verdict(EFFECT, places, Verdict.WARN)) == {CAUSE: [EFFECT]}


def test_a_fault_explains_only_the_codes_that_follow_from_it() -> None:
    """A message that is sent late seems unasked. It does not explain that a message without content is accepted."""
    cause = verdict("SDS-SEND-10", {"run-1": {5}}, code="not-kept")
    for code, under in (("sent-unasked", ["SDS-MSG-20"]), ("empty-accepted", [])):
        found = describe_causes(cause, verdict("SDS-MSG-20", {"run-1": {5}}, Verdict.WARN, code))
        assert found["SDS-SEND-10"] == under


def test_a_declared_code_of_the_cause_must_show() -> None:
    """A copy with a new timestamp raises the Lamport timestamp. A copy with a new ID does not."""
    effect = verdict("SDS-OUTSWEEP-05", {"run-1": {5}}, code="timestamp-moved")
    for code, under in (("timestamp-changed", ["SDS-OUTSWEEP-05"]), ("id-changed", [])):
        assert describe_causes(verdict("SDS-MSG-21", {"run-1": {5}}, code=code), effect)["SDS-MSG-21"] == under


def test_no_fault_explains_that_a_message_without_content_is_accepted() -> None:
    accepted = frozenset({"empty-accepted"})
    assert not any(row.explained_codes("SDS-MSG-20", accepted) for row in RULES.catalogue.consequences)


LAYOUT = [f"SDS-MSG-0{number}" for number in (1, 2, 5)]


def test_a_dialect_is_one_cause_and_explains_nothing_but_the_layout() -> None:
    layout = [verdict(name, {"run-1": {1}}, code=ANOTHER_LAYOUT) for name in LAYOUT]
    declared = (effect for row in RULES.catalogue.consequences if "SDS-MSG-05" in row.of for effect in row.fail)
    follows = verdict(next(effect for effect in declared if effect not in LAYOUT), {"run-1": {2}})
    assert describe_causes(*layout, follows, dialect="nim-sds") == {LAYOUT[0]: LAYOUT[1:], follows.requirement.id: []}
    (found,) = causes(RULES, layout, {}, "nim-sds")
    assert found.title == "speaks the layout nim-sds"


def test_failures_come_before_warnings_and_the_most_severe_first() -> None:
    rare, frequent = verdict(ONE, {"run-1": {1}}), verdict(OTHER, {f"run-{number}": {1} for number in (4, 5, 6)})
    warned = verdict("SDS-RECV-06", {run: {1} for run in EVERYWHERE}, Verdict.WARN)
    first, second = sorted([OTHER, ONE], key=lambda one: KNOWN[one].severity)
    assert KNOWN[first].severity < KNOWN[second].severity
    assert list(describe_causes(warned, rare, frequent)) == [first, second, "SDS-RECV-06"]

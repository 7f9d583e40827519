"""Replays of certificates: the drawn sample, and the claims that it refutes."""

from __future__ import annotations

from functools import cache

from certificates import certified
from run_helpers import certify_reference, with_verdict
from sds_conformance.judging.certification import Certification
from sds_conformance.judging.verdict import Verdict
from sds_conformance.protocols.sds import rules
from sds_conformance.reports.certificate import Certificate
from sds_conformance.reports.certificate_replay import ReplayResult, Sample, compare, draw_sample

WAITING = ("a-dependency-that-waits", "a-dependent-of-the-buffered", "a-chain-in-reverse")


@cache
def again(mutant: str, *scenarios: str) -> Certification:
    start = (lambda: rules.MODEL.mutant(mutant, frozenset())) if mutant else rules.start
    return certify_reference(start, scenarios=scenarios)


def compared(made: Certificate, outcome: Certification) -> ReplayResult:
    return compare(made.data, Sample(outcome.plan, everything=False), outcome)


def test_a_failure_cannot_be_passed_off_as_not_judged() -> None:
    mutant = again("delivers-children-first", *WAITING)
    failing = with_verdict(mutant, Verdict.FAIL)
    found = compared(certified(dict.fromkeys(failing, "skipped")), mutant).differences
    assert {output.partition(":")[0] for output in found} == failing


def test_a_sample_is_drawn_from_all_sections_and_the_same_by_the_same_seed() -> None:
    data = certified().data
    first, same, other = (draw_sample(data, seed, 24).plan for seed in (1, 1, 2))
    assert first == same != other
    assert len(first.scenarios) == 24
    assert len(first.environments) == 2
    assert first.environments[0].name == "plain"
    known = rules.RULES.catalogue.requirements
    touched = {known[one].section for scenario in first.scenarios for one in scenario.exercises}
    assert {row["section"] for row in data["requirements"]} <= touched
    assert not any(scenario.long for scenario in draw_sample(data, 3, 10).plan.scenarios)

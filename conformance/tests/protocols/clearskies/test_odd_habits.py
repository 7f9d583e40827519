"""What all checks say of peers with habits that nothing forbids, and of some that are wrong now and then."""

from __future__ import annotations

import pytest

from clearskies_odd_habits import DOUBLES, FAULTS, HABITS
from clearskies_odd_peers import Odd
from sds_conformance.judging.certification import Certification, certify
from sds_conformance.judging.plan import plan
from sds_conformance.judging.verdict import Verdict
from sds_conformance.protocols.clearskies.rules import RULES
from sds_harness.link import Limits, LocalLink

AGAINST = (Verdict.FAIL, Verdict.WARN, Verdict.ERROR)


def judged(odd: Odd) -> Certification:
    what = plan(RULES, scenarios=["*"], revision="clearskies-database", environments=["plain"])
    return certify(lambda _: LocalLink(odd.start()), what, Limits())


def against(outcome: Certification) -> dict[str, str]:
    """What is said against a peer, by requirement."""
    assert outcome.breakdowns == []
    return {v.requirement.id: f"{v.verdict.value}: {v.findings[:1]}" for v in outcome.verdicts if v.verdict in AGAINST}


@pytest.mark.exhaustive
@pytest.mark.parametrize("odd", HABITS.values(), ids=HABITS)
def test_habits_are_left_in_peace(odd: Odd) -> None:
    outcome = judged(odd)
    assert against(outcome) == {}
    assert sum(verdict.verdict is Verdict.PASS for verdict in outcome.verdicts) > len(outcome.verdicts) * 0.9


def test_who_keeps_doubles_is_warned_of_them_alone() -> None:
    found = against(judged(DOUBLES))
    assert found.keys() == {"CSDB-41"}
    assert found["CSDB-41"].startswith("warn")


@pytest.mark.exhaustive
@pytest.mark.parametrize(("odd", "caught"), FAULTS.values(), ids=FAULTS)
def test_faults_of_the_many_and_the_large_are_found(odd: Odd, caught: set[str]) -> None:
    assert caught <= against(judged(odd)).keys()

"""What the checks of conflicts and deletions say of peers that are odd and legal, and of broken ones."""

from __future__ import annotations

import pytest

from clearskies_odd_peers import BROKEN, ELSEWHERE, LEGAL, Odd
from clearskies_proto.testee.v1 import testee_pb2 as pb
from clearskies_reference.mutants import MUTANTS
from clearskies_views import REVISION
from sds_conformance.judging.certification import Certification, certify
from sds_conformance.judging.plan import plan
from sds_conformance.judging.verdict import Verdict
from sds_conformance.protocols.clearskies.register import REGISTER
from sds_conformance.protocols.clearskies.rules import RULES
from sds_conformance.protocols.clearskies.scenarios import conflicts, deletions
from sds_harness.link import Limits, LocalLink

ABOUT = ("CONFLICTS", "DELETED")
OURS = {r.id for r in RULES.catalogue.requirements.values() if r.section in ABOUT} & REGISTER.checks.keys()
PLOTS = [
    name
    for name, scenario in REGISTER.scenarios.items()
    if scenario.function.__module__ in (conflicts.__name__, deletions.__name__)
]


def judged(odd: Odd, scenarios: list[str], *environments: str) -> Certification:
    what = plan(RULES, scenarios=scenarios, revision=REVISION, environments=environments or ("plain",))
    return certify(lambda _: LocalLink(odd.start()), what, Limits())


def against(outcome: Certification) -> dict[str, str]:
    """What is said against a peer, by requirement."""
    return {
        v.requirement.id: f"{v.verdict.value}: {v.findings[:1]}"
        for v in outcome.verdicts
        if v.verdict in (Verdict.FAIL, Verdict.WARN, Verdict.ERROR)
    }


@pytest.mark.parametrize("odd", LEGAL.values(), ids=LEGAL)
def test_odd_peers_are_left_in_peace(odd: Odd) -> None:
    outcome = judged(odd, PLOTS)
    assert against(outcome) == {}
    assert outcome.breakdowns == []


@pytest.mark.exhaustive
@pytest.mark.parametrize("odd", LEGAL.values(), ids=LEGAL)
def test_odd_peers_are_left_in_peace_everywhere(odd: Odd) -> None:
    outcome = judged(odd, ["*"], "*")
    assert against(outcome) == {}
    assert outcome.breakdowns == []


@pytest.mark.parametrize("odd", BROKEN.values(), ids=BROKEN)
def test_faults_that_show_indirectly_are_found_and_nothing_else_is_blamed(odd: Odd) -> None:
    assert against(judged(odd, PLOTS)).keys() & OURS == odd.fails


@pytest.mark.parametrize("odd", ELSEWHERE.values(), ids=ELSEWHERE)
def test_conflicts_are_not_blamed_for_what_is_broken_elsewhere(odd: Odd) -> None:
    found = against(judged(odd, PLOTS))
    assert found, "something is"
    assert {name: found[name] for name in found.keys() & OURS} == {}


@pytest.mark.parametrize("without", [pb.CAPABILITY_OBSERVE, pb.CAPABILITY_CONFLICT, pb.CAPABILITY_CLOCK_CODEC])
def test_who_shows_less_is_not_accused(without: int) -> None:
    assert against(judged(Odd(without=frozenset({without})), PLOTS)) == {}


@pytest.mark.parametrize("name", ["concurrent-is-older", "last-arrival-is-newer", "first-version-wins"])
def test_who_signals_no_conflicts_is_judged_by_who_wins(name: str) -> None:
    silent = frozenset({pb.CAPABILITY_CONFLICT, pb.CAPABILITY_OBSERVE})
    assert "CSDB-54" in against(judged(Odd(MUTANTS[name].peer_class, without=silent), PLOTS))


def test_an_application_that_decides_is_not_held_to_the_default() -> None:
    outcome = judged(LEGAL["keeps-both"], PLOTS)
    verdict = next(v for v in outcome.verdicts if v.requirement.id == "CSDB-54")
    assert verdict.verdict is Verdict.INCONCLUSIVE

"""A quick self-test leaves out long scenarios and those of other requirements, and nothing else."""

from __future__ import annotations

from run_helpers import examine_variant
from sds_conformance.judging import exercise
from sds_conformance.protocols.sds.register import CHECKS, SCENARIOS
from sds_conformance.protocols.sds.rules import RULES


def is_share(played: int, number: int, share: int) -> bool:
    """Is the number of played scenarios about one in ``share``? Names decide, so it varies."""
    return number / share / 2 < played < number / share * 2


def test_a_variant_plays_a_share_of_the_long_scenarios_and_their_requirements_may_be_inconclusive() -> None:
    left_out = exercise._left_out_when_quick(RULES, "newest-first")
    long = [scenario for scenario in SCENARIOS.values() if scenario.long]
    assert all(scenario.long for scenario in left_out.values())
    assert is_share(len(long) - len(left_out), len(long), exercise.QUICK_SHARE)
    acceptance = examine_variant("newest-first", quick=True)
    assert acceptance.refused == ()
    assert acceptance.passed > len(CHECKS) / 2


def test_a_mutant_plays_all_scenarios_of_its_requirement_and_a_share_of_the_others() -> None:
    violated = RULES.catalogue.requirements["SDS-RECV-05"]
    all_of_them = set(exercise._scenarios_of_mutant(RULES, "never-checks", violated, quick=False))
    some = set(exercise._scenarios_of_mutant(RULES, "never-checks", violated, quick=True))
    own = {scenario.name for scenario in SCENARIOS.values() if violated.id in scenario.exercises}
    assert own < some < all_of_them
    assert is_share(len(some - own), len(all_of_them - own), exercise.OTHER_SHARE)

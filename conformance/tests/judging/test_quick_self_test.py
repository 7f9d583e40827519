"""A quick self-test leaves long scenarios out, and nothing else."""

from __future__ import annotations

from collections import Counter

from run_helpers import examine_variant
from sds_conformance.judging import exercise
from sds_conformance.protocols import protocols
from sds_conformance.protocols.sds.register import CHECKS, SCENARIOS
from sds_conformance.protocols.sds.rules import RULES


def test_a_variant_plays_a_share_of_the_long_scenarios_and_their_requirements_may_be_inconclusive() -> None:
    left_out = exercise._left_out_when_quick(RULES, "newest-first")
    long = [scenario for scenario in SCENARIOS.values() if scenario.long]
    assert all(scenario.long for scenario in left_out.values())
    assert len(long) / 8 < len(long) - len(left_out) < len(long) / 2
    acceptance = examine_variant("newest-first", quick=True)
    assert acceptance.refused == ()
    assert acceptance.passed > len(CHECKS) / 2


def test_each_long_scenario_is_played_by_many_variants() -> None:
    for protocol in protocols():
        variants, rules = protocol.model.variants, protocol.rules
        skipping = Counter(long for name in variants for long in exercise._left_out_when_quick(rules, name))
        assert len(skipping) > 10
        assert max(skipping.values()) < len(variants) * 0.87

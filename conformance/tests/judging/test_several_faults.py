"""Implementations with several faults: each fault is a root cause of its own, and nothing else is one."""

from __future__ import annotations

import pytest

from run_helpers import SHORT, plan
from sds_conformance.exploration.campaign import CampaignOrder, explore
from sds_conformance.exploration.text import roots_in
from sds_conformance.judging.certification import certify
from sds_conformance.judging.run_player import VERDICTS
from sds_conformance.judging.verdict import Verdict
from sds_conformance.protocols.sds.rules import MODEL
from sds_harness.link import Limits
from sds_reference.mutants import MUTANTS

LONG = pytest.mark.exhaustive
LIKE_NIM = "speaks-nim-sds+acknowledges-after-one-filter-hit+log-by-arrival+drops-syncs+keeps-clock-on-delivery"
"""A layout behind a dialect, one filter hit acknowledges, and wrong order, syncs and clock."""
OTHERS = [
    "acknowledges-after-one-filter-hit+looks-in-all-logs+others-cancel-only-due-requests"
    "+requests-name-the-revealing-sender+log-by-arrival+lamport-without-clock",
    "speaks-nim-sds+first-dependency-only+lamport-without-clock",
    "content-hash-id+buffered-is-met+ties-ignoring-case+others-cancel-only-due-requests",
    "delivers-children-first+others-cancel-only-due-requests+lamport-without-clock+requests-name-the-revealing-sender",
]


def faults_of(names: str) -> list[str]:
    return sorted({MUTANTS[name].requirement for name in names.split("+")})


@pytest.mark.parametrize("names", [LIKE_NIM, *(pytest.param(names, marks=LONG) for names in OTHERS)])
def test_a_run_has_as_many_root_causes_as_there_are_faults(names: str) -> None:
    what = plan(environments=("plain",), scenarios=SHORT)
    outcome = certify(lambda _: MODEL.mutant(names, frozenset()), what, Limits(), keep=VERDICTS)
    assert sorted(cause.verdict.requirement.id for cause in outcome.causes) == faults_of(names)


@pytest.mark.parametrize(
    ("names", "schedules"), [(LIKE_NIM, 60), *(pytest.param(names, 300, marks=LONG) for names in OTHERS)]
)
def test_generated_schedules_have_as_many_root_causes_as_there_are_faults(names: str, schedules: int) -> None:
    order = CampaignOrder(lambda _: MODEL.mutant(names, frozenset()), examples=schedules)
    tally = explore(order)
    failed = [root.id for root in roots_in(tally, order) if tally.found[root.id].severity is Verdict.FAIL]
    assert sorted(failed) == faults_of(names)


def test_empty_content_that_is_sent_as_a_sync_message_violates_nothing_else() -> None:
    name, what = "sends-empty-content-as-sync", plan(scenarios=["refused-to-send*"])
    outcome = certify(lambda _: MODEL.mutant(name, frozenset()), what, Limits())
    assert [cause.requirements for cause in outcome.causes] == [{"SDS-MSG-20"}]

"""Implementations with several faults: each fault is a root cause of its own, and nothing else is one."""

from __future__ import annotations

from functools import cache

import pytest

from run_helpers import SHORT, plan
from sds_conformance.exploration.campaign import CampaignOrder, explore
from sds_conformance.exploration.text import roots_in
from sds_conformance.judging.certification import Certification, certify
from sds_conformance.judging.known_runs import KnownRuns
from sds_conformance.judging.run_player import VERDICTS
from sds_conformance.judging.verdict import Verdict
from sds_conformance.protocols.sds.rules import MODEL
from sds_harness.link import Limits
from sds_reference.mutants import MUTANTS

LIKE_NIM = "speaks-nim-sds+acknowledges-after-one-filter-hit+log-by-arrival+drops-syncs+keeps-clock-on-delivery"
"""A layout behind a dialect, one filter hit acknowledges, and wrong order, syncs and clock."""
SIX = "+".join(
    [
        "acknowledges-after-one-filter-hit",
        "looks-in-all-logs",
        "others-cancel-only-due-requests",
        "requests-name-the-revealing-sender",
        "log-by-arrival",
        "lamport-without-clock",
    ]
)
SEVERAL = [
    LIKE_NIM,
    SIX,
    "speaks-nim-sds+first-dependency-only+lamport-without-clock",
    "content-hash-id+buffered-is-met+ties-ignoring-case+others-cancel-only-due-requests",
    "delivers-children-first+others-cancel-only-due-requests+lamport-without-clock+requests-name-the-revealing-sender",
]
KNOWN = KnownRuns()


def faults_of(names: str) -> set[str]:
    return {MUTANTS[name].requirement for name in names.split("+")}


@cache
def run_of(names: str) -> Certification:
    what = plan(environments=("plain",), scenarios=SHORT)
    return certify(lambda _: MODEL.mutant(names, frozenset()), what, Limits(), keep=VERDICTS, known=KNOWN)


def roots_of_run(names: str) -> list[str]:
    return [cause.verdict.requirement.id for cause in run_of(names).causes]


@pytest.mark.parametrize(
    "names", [LIKE_NIM, *(pytest.param(names, marks=pytest.mark.exhaustive) for names in SEVERAL[1:])]
)
def test_a_run_has_as_many_root_causes_as_there_are_faults(names: str) -> None:
    roots = roots_of_run(names)
    assert len(roots) == len(faults_of(names))
    assert set(roots) == faults_of(names)


@pytest.mark.parametrize(
    ("names", "schedules"),
    [(LIKE_NIM, 60), *(pytest.param(names, 300, marks=pytest.mark.exhaustive) for names in SEVERAL[1:])],
)
def test_so_have_generated_schedules(names: str, schedules: int) -> None:
    order = CampaignOrder(lambda _: MODEL.mutant(names, frozenset()), examples=schedules)
    tally = explore(order)
    failed = [root.id for root in roots_in(tally, order) if tally.found[root.id].severity is Verdict.FAIL]
    assert len(failed) == len(faults_of(names))
    assert set(failed) == faults_of(names)


def test_what_a_dialect_explains_is_titled_and_explains_nothing_else() -> None:
    layout = next(cause for cause in run_of(LIKE_NIM).causes if cause.title)
    assert layout.title == "speaks the layout nim-sds"
    assert layout.requirements == {f"SDS-MSG-0{number}" for number in (1, 2, 3, 4, 5, 6, 7, 9)}

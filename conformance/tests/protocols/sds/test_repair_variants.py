"""Whatever an implementation of SDS-R chooses where the text leaves a choice, no check holds it against it."""

from __future__ import annotations

import pytest

from run_helpers import certified, reference, with_verdict
from sds_conformance.judging.verdict import Verdict
from sds_proto.testee.v1 import testee_pb2 as pb
from sds_reference import Config
from sds_reference.variants import VARIANTS

pytestmark = pytest.mark.exhaustive

CHOICES = [name for name, variant in VARIANTS.items() if "repair" in dict(variant.config)]
BLIND = frozenset({pb.CAPABILITY_OBSERVE})

SCENARIOS = (
    "asked-again-after-the-answer",
    "asked-for-again-and-again",
    "asked-for-what-it-has",
    "asked-in-messages-of-all-kinds",
    "sends-around-t-req",
    "authors-are-asked",
    "authors-in-many-groups",
    "content-and-sync-ask",
    "entries-name-senders",
    "every-kind-*",
    "groups-from-the-number-of-participants",
    "missing-arrives-before-t-min",
    "missing-arrives-after-t-req",
    "many-missing-at-once",
    "more-is-due-than-fits",
    "named-again-*",
    "others-sync-all-the-time",
    "requests-in-any-message",
    "somebody-else-answers-first",
    "somebody-else-asks",
    "the-next-sync-asks",
    "equal-participant-ids-miss-the-same",
    "the-sender-is-among-the-holders",
    "three-ask-two-groups",
    "copies-of-formerly-blocked-messages",
    "without-sds-r",
)
"""Short ones, in which the choices show."""

OF_MANY = {f"SDS-R-{short}" for short in ("RECV-11", "TREQ-02", "TREQ-03", "TRESP-04", "TRESP-05", "TRESP-06")}
"""What only long scenarios exercise."""
UNTOLD = {f"SDS-R-{short}" for short in ("GROUP-01", "SEND-02", "SEND-04", "SWEEP-03", "TREQ-04")}
"""Faults that are invisible if neither the buffers nor the hash are known, or that only long scenarios show."""


@pytest.mark.parametrize("name", CHOICES)
def test_a_legal_choice_that_shows_no_state_passes_in_every_environment_that_changes_repairs(name: str) -> None:
    outcome = certified(
        lambda: reference(VARIANTS[name].configure(Config()), without=BLIND),
        scenarios=SCENARIOS,
        environments=("sds-r", "unsteady-clock"),
        profile="sds-r",
    )
    findings = [f for verdict in outcome.verdicts for f in verdict.findings if f.severity is not Verdict.PASS]
    assert [(f.requirement, f.run, f.step, f.expected, f.seen) for f in findings] == []
    assert outcome.breakdowns == []
    assert with_verdict(outcome, Verdict.PASS) >= set(outcome.plan.requirements) - OF_MANY - UNTOLD
    assert with_verdict(outcome, Verdict.FAIL, Verdict.WARN, Verdict.ERROR) == set()


def test_there_is_a_choice_of_each_kind() -> None:
    """A variant of SDS-R that is new is looked at here without anybody's doing."""
    assert {"nim-hash", "private-hash", "asks-for-one", "lets-requests-expire", "answers-at-once"} <= set(CHOICES)
    assert len(CHOICES) >= 11

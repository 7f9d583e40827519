"""Scenarios that ask for equal resend periods of unacknowledged and possibly acknowledged messages."""

from __future__ import annotations

import pytest

from run_helpers import outcomes, reference, stage, view
from sds_conformance.judging.judgement import Outcome
from sds_conformance.protocols.sds.checks.core import outgoing_buffer
from sds_harness.sds.stage import Stage
from sds_proto.testee.v1 import testee_pb2 as pb
from sds_reference import Config

PERIOD_MS = 30_000
EQUAL = Config(resend_unacknowledged_ms=PERIOD_MS, resend_possibly_acknowledged_ms=PERIOD_MS)


def resent(asked: pb.Configuration | None) -> Stage:
    """A participant with equal periods resends a possibly acknowledged message twice."""
    on = stage(reference(EQUAL))
    alice = on.open("alice", ("c1",), asked)
    sent = alice.send()
    bob = on.peer("bob")
    alice.receive(bob.content(1, bloom_filter=on.filter_over(sent.message_id)))
    for _ in range(4):
        on.advance(PERIOD_MS)
        alice.tick()
    return on


@pytest.mark.parametrize("asked", [None, pb.Configuration(resend_unacknowledged_ms=PERIOD_MS)])
def test_an_implementation_that_chooses_equal_periods_gets_a_warning(asked: pb.Configuration | None) -> None:
    seen = view(resent(asked))
    assert Outcome.VIOLATED in outcomes(outgoing_buffer.possibly_acknowledged_have_their_own_period, seen)


def test_an_implementation_that_uses_the_equal_periods_of_a_scenario_gets_no_warning() -> None:
    asked = pb.Configuration(resend_unacknowledged_ms=PERIOD_MS, resend_possibly_acknowledged_ms=PERIOD_MS)
    seen = view(resent(asked))
    assert seen.copies
    assert not outcomes(outgoing_buffer.possibly_acknowledged_have_their_own_period, seen)

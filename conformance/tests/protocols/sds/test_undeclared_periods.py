"""Implementations that wait before they resend, and declare no resend period."""

from __future__ import annotations

from run_helpers import Handle, altered, certified, outcomes, reference, stage, verdict_on, view
from sds_conformance.judging.judgement import Outcome
from sds_conformance.judging.verdict import Verdict
from sds_conformance.protocols.sds.checks.core import outgoing_buffer
from sds_harness.sds.stage import Stage
from sds_proto.testee.v1 import testee_pb2 as pb
from sds_reference import Config
from sds_reference.mutants import MUTANTS

WAIT_MS = 30_000


def waiting(ticks: int, every_ms: int = 10_000) -> Stage:
    """A participant that waits for 30 s before it resends, and neither declares nor reports the period."""

    def hide_period(request: pb.Request, reply: pb.Reply) -> None:
        if reply.HasField("opened"):
            reply.opened.configuration.ClearField("resend_unacknowledged_ms")

    hidden = {pb.CAPABILITY_OBSERVE, pb.CAPABILITY_RESEND_PERIOD}
    on = stage(altered(hide_period, reference(Config(resend_unacknowledged_ms=WAIT_MS), without=hidden)))
    alice = on.open("alice", ("c1",))
    alice.send()
    for _ in range(ticks):
        on.advance(every_ms)
        alice.tick()
    return on


def test_who_resends_after_a_wait_keeps_its_messages_and_resends_them() -> None:
    seen = view(waiting(14))
    assert seen.copies
    assert outcomes(outgoing_buffer.sent_messages_are_resent, seen) == {Outcome.HELD}
    assert outcomes(outgoing_buffer.unacknowledged_are_rebroadcast, seen) == {Outcome.HELD}


def test_who_resends_nothing_learns_which_capability_to_declare() -> None:
    seen = view(waiting(2))
    assert not seen.copies
    for check in (outgoing_buffer.sent_messages_are_resent, outgoing_buffer.unacknowledged_are_rebroadcast):
        (found,) = check(seen)
        assert found.outcome is Outcome.VIOLATED
        assert "declare CAPABILITY_RESEND_PERIOD and report resend_unacknowledged_ms" in found.seen


def test_who_resends_in_every_sweep_may_report_the_period_that_it_was_asked_for() -> None:
    def start() -> Handle:
        participant = MUTANTS["rebroadcasts-always"].participant_class
        return reference(participant=participant, without={pb.CAPABILITY_RESEND_PERIOD})

    outcome = certified(start, scenarios=["t-max-is-zero", "asked-for-unacknowledged-messages"])
    assert verdict_on(outcome, "SDS-R-SWEEP-04").verdict is Verdict.PASS

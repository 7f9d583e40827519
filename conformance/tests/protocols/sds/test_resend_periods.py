"""Copies on the grid of ticks: what they say of periods and order, and what they cannot say."""

from __future__ import annotations

from dataclasses import replace

import pytest

from run_helpers import Handle, T, altered, certified, of_channel, outcomes, reference, stage, view, with_verdict
from sds_conformance.judging.judgement import Outcome
from sds_conformance.judging.verdict import Verdict
from sds_conformance.protocols.sds.checks.core.outgoing_buffer import (
    possibly_acknowledged_have_their_own_period,
    unacknowledged_come_sooner,
    unacknowledged_go_first,
)
from sds_conformance.protocols.sds.view.resends import gaps, possibly_acknowledged
from sds_harness.sds.stage import Stage
from sds_proto.testee.v1 import testee_pb2 as pb
from sds_reference import Channel, Effects, HistoryEntry
from sds_reference.mutants import MUTANTS

HELD, VIOLATED = {Outcome.HELD}, {Outcome.VIOLATED}
S = 1_000


def one_of_each(
    handle: Handle | None = None, *, tick_ms: int = 15 * S, ticks: int = 24, possibly_ms: int = 90 * S
) -> Stage:
    """One message that a filter holds, one that nothing speaks for, and ticks."""
    on = stage(handle)
    asked = pb.Configuration(resend_unacknowledged_ms=30 * S, resend_possibly_acknowledged_ms=possibly_ms)
    alice = on.open(configuration=asked)
    first = alice.send()
    alice.send()
    alice.receive(on.peer("bob").content(T + 1, bloom_filter=on.filter_over(first.message_id)))
    for _ in range(ticks):
        on.advance(tick_ms)
        alice.tick()
    return on


def with_fault(name: str) -> Handle:
    return reference(participant=MUTANTS[name].participant_class)


# ---- The facts -------------------------------------------------------------------------------------------------------


def test_a_gap_in_which_the_clock_went_back_is_none() -> None:
    on = stage()
    alice = on.open(configuration=pb.Configuration(resend_unacknowledged_ms=30 * S))
    alice.send()
    for milliseconds in (30 * S, -10 * S, 45 * S, 30 * S):
        on.advance(milliseconds)
        alice.tick()
    seen = view(on)
    assert len(seen.copies) == 3
    assert [gap.waited_ms for gap in gaps(seen, seen.sent[0])] == [30 * S, 30 * S]


# ---- A period of their own -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("possibly_ms", [31 * S, 45 * S, 60 * S, 90 * S])
@pytest.mark.parametrize("tick_ms", [5 * S, 15 * S, 30 * S])
def test_any_longer_period_is_accepted(possibly_ms: int, tick_ms: int) -> None:
    on = one_of_each(tick_ms=tick_ms, ticks=300 * S // tick_ms, possibly_ms=possibly_ms)
    for check in (possibly_acknowledged_have_their_own_period, unacknowledged_come_sooner, unacknowledged_go_first):
        assert outcomes(check, view(on)) <= HELD


@pytest.mark.parametrize("in_force_ms", [90 * S, 0])
def test_never_resending_them_is_a_fault_of_a_milder_sort(in_force_ms: int) -> None:
    """In force a period that is not kept, or none at all."""
    on = one_of_each(with_fault("never-resends-the-possible") if in_force_ms else None, possibly_ms=in_force_ms)
    (found,) = possibly_acknowledged_have_their_own_period(view(on))
    assert (found.outcome, found.position) == (Outcome.VIOLATED, "AMB-66")


def test_a_few_periods_without_a_copy_are_not_never() -> None:
    on = one_of_each(with_fault("never-resends-the-possible"), ticks=12)
    assert outcomes(possibly_acknowledged_have_their_own_period, view(on)) == set()


def test_three_copies_are_enough() -> None:
    class StopsAfterThree(Channel):
        _copies: tuple[str, ...] = ()

        def sweep_outgoing(self, now_ms: int, effects: Effects) -> None:
            for entry in self.outgoing.take_due(now_ms):
                effects.broadcasts.append(self.rebroadcast(entry))
                self._copies += (entry.message_id,)
                if self._copies.count(entry.message_id) < 3:
                    self.schedule_resend(entry, now_ms)

    on = one_of_each(of_channel(StopsAfterThree), ticks=40)
    assert outcomes(possibly_acknowledged_have_their_own_period, view(on)) == HELD
    assert outcomes(unacknowledged_come_sooner, view(on)) == HELD


def test_ticks_that_are_too_rare_to_tell_two_periods_apart_say_nothing() -> None:
    on = one_of_each(tick_ms=200 * S, ticks=8)
    assert outcomes(possibly_acknowledged_have_their_own_period, view(on)) == set()
    assert outcomes(unacknowledged_come_sooner, view(on)) == set()


def test_periods_that_are_not_in_force_are_not_judged() -> None:
    def says_nothing(request: pb.Request, reply: pb.Reply) -> None:
        if reply.HasField("opened"):
            reply.opened.configuration.ClearField("resend_possibly_acknowledged_ms")

    on = one_of_each(altered(says_nothing, with_fault("one-resend-period")))
    assert outcomes(possibly_acknowledged_have_their_own_period, view(on)) == set()


def test_a_sweep_of_its_own_every_minute_is_accepted() -> None:
    class EveryMinute(Channel):
        _swept_at = 0

        def sweep_outgoing(self, now_ms: int, effects: Effects) -> None:
            if now_ms - self._swept_at >= 60 * S:
                self._swept_at = now_ms
                super().sweep_outgoing(now_ms, effects)

    on = one_of_each(of_channel(EveryMinute), ticks=40)
    for check in (possibly_acknowledged_have_their_own_period, unacknowledged_come_sooner):
        assert outcomes(check, view(on)) == HELD


# ---- The unacknowledged first ----------------------------------------------------------------------------------------


def test_what_was_acknowledged_meanwhile_has_no_place_in_the_order() -> None:
    on = stage(with_fault("rebroadcasts-the-acknowledged"))
    alice, bob = on.open(configuration=pb.Configuration(resend_unacknowledged_ms=30 * S)), on.peer("bob")
    sent = alice.send()
    alice.send()
    alice.receive(bob.content(T + 1, sent))
    for _ in range(4):
        on.advance(30 * S)
        alice.tick()
    assert outcomes(unacknowledged_go_first, view(on)) == set()


def test_a_copy_that_answers_a_repair_request_says_nothing_of_periods() -> None:
    on = stage()
    alice, bob = on.open(), on.peer("bob")
    sent = alice.send()
    asks = bob.content(T + 1, bloom_filter=on.filter_over(sent.message_id))
    alice.receive(replace(asks, repair_request=(HistoryEntry(sent.message_id),)))
    assert list(possibly_acknowledged(view(on))) == []


def test_undeclared_resends_are_no_responses() -> None:
    undeclared = frozenset({pb.CAPABILITY_RESEND, pb.CAPABILITY_RESEND_PERIOD})
    outcome = certified(lambda: reference(without=undeclared), scenarios=("asked-for-unacknowledged-messages",))
    assert with_verdict(outcome, Verdict.PASS) >= {"SDS-R-TRESP-02"}
    assert not with_verdict(outcome, Verdict.FAIL, Verdict.WARN, Verdict.ERROR)

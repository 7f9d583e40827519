"""A newcomer among those who have talked for a while: when it is one, and what its place is."""

from __future__ import annotations

from run_helpers import Handle, T, outcomes, stage, view
from sds_conformance.judging.judgement import Outcome
from sds_conformance.protocols.sds.checks.core.timestamps import (
    newcomers_find_their_place,
    newcomers_send_at_once_with_the_right_time,
)
from sds_harness.sds.stage import Stage
from sds_proto.testee.v1 import testee_pb2 as pb

HELD, VIOLATED = {Outcome.HELD}, {Outcome.VIOLATED}
MINUTE = 60_000


def joined(handle: Handle | None = None, *, has_history: bool = False, talk: int = 6) -> Stage:
    """Bob talks for ``talk`` minutes, nora joins and speaks, and alice hears her after bob's next message."""
    on = stage(handle)
    alice, bob = on.open(configuration=pb.Configuration(causal_history_size=12)), on.peer("bob")
    for _ in range(talk):
        on.advance(MINUTE)
        alice.receive(bob.content(on.now_ms - 1))
    nora = on.open("nora")
    if has_history:
        nora.receive(bob.content(on.now_ms))
    on.advance(50)
    nora.send()
    wires = on.trace.steps[-1].broadcasts
    on.advance(MINUTE)
    alice.receive(bob.content(on.now_ms))
    if wires:
        alice.receive(wires[0].raw)
    alice.settle()
    alice.observe()
    on.advance(MINUTE)
    alice.send()
    return on


def test_one_that_has_heard_something_is_no_newcomer() -> None:
    on = joined(has_history=True)
    assert outcomes(newcomers_send_at_once_with_the_right_time, view(on, "nora")) == set()
    assert outcomes(newcomers_find_their_place, view(on)) == set()


def test_where_nothing_was_said_before_there_is_no_newcomer() -> None:
    on = joined(talk=0)
    assert outcomes(newcomers_send_at_once_with_the_right_time, view(on, "nora")) == set()


def test_messages_from_ahead_of_its_clock_are_not_older() -> None:
    on = stage()
    alice, bob = on.open(), on.peer("bob")
    alice.receive(bob.content(T + 5 * MINUTE))
    on.advance(MINUTE)
    on.open("nora").send()
    assert outcomes(newcomers_send_at_once_with_the_right_time, view(on, "nora")) == set()


def test_a_clock_that_starts_when_the_channel_is_first_used_is_accepted() -> None:
    on = stage()
    alice, bob = on.open(), on.peer("bob")
    on.advance(MINUTE)
    alice.receive(bob.content(on.now_ms - 10))
    nora = on.open("nora")
    on.advance(-5)
    nora.send()
    assert outcomes(newcomers_send_at_once_with_the_right_time, view(on, "nora")) == HELD

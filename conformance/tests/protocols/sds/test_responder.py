"""Limits of what is expected of a responder of SDS-R: one answer in each tick, and refusals by chance."""

from __future__ import annotations

from repair_traces import ask, holding, silent, ticks, turns_of
from run_helpers import altered, reference, stage, view
from sds_conformance.protocols.sds.scenarios.repair.live import repairing
from sds_conformance.protocols.sds.scenarios.repair.participants import T_MAX_MS, T_MIN_MS
from sds_conformance.protocols.sds.view.responder import (
    MESSAGES,
    SWEEP_MS,
    free_ticks,
    refused_for_good,
)
from sds_proto.testee.v1 import testee_pb2 as pb


def test_a_tick_that_sent_as_much_as_any_could_send_no_more() -> None:
    """Who answers one request a tick is slow, and not late."""

    def one_a_tick(request: pb.Request, reply: pb.Reply) -> None:
        if request.HasField("tick"):
            waiting.extend(reply.effects.broadcasts)
            reply.effects.broadcasts[:] = waiting[:1]
            del waiting[:1]

    waiting: list[bytes] = []
    on = stage(altered(one_a_tick))
    alice = repairing(on)
    ask(on, alice, *holding(on, alice, 5))
    busy = ticks(on, alice, *[T_MAX_MS] * 5)
    idle = ticks(on, alice, SWEEP_MS)
    assert free_ticks(view(on)) == {tick.index for tick in idle}
    assert [turn.overdue for turn in turns_of(on)] == [None] * 5
    assert sorted(t.answer.index for t in turns_of(on) if t.answer) == [tick.index for tick in busy]


def asked_thrice(refused: tuple[str, ...], count: int = MESSAGES) -> frozenset[str]:
    """Requests that are refused for good in the view of the suite, because they are never answered."""
    on = stage(silent(*refused) if refused else reference())
    alice = repairing(on)
    messages = holding(on, alice, count)
    for name in ("carol", "dave", "erin"):
        ask(on, alice, *messages, by=name)
        ticks(on, alice, T_MAX_MS, SWEEP_MS, SWEEP_MS, T_MIN_MS)
    return refused_for_good(view(on))


def test_what_is_refused_again_and_again_is_told_from_chance() -> None:
    half = tuple(f"held-{number}" for number in range(6))
    assert asked_thrice(half) == set(half)
    assert asked_thrice(half[:2]) == frozenset()
    assert asked_thrice(half, count=MESSAGES - 1) == frozenset()
    assert asked_thrice(()) == frozenset()

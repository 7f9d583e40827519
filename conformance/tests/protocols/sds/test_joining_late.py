"""A newcomer among those who have talked for a while: when it is one, and what its place is."""

from __future__ import annotations

import pytest

from run_helpers import Handle, T, altered, outcomes, reference, stage, view
from sds_conformance.judging.judgement import Outcome
from sds_conformance.protocols.sds.checks.core.timestamps import (
    newcomers_find_their_place,
    newcomers_send_at_once_with_the_right_time,
)
from sds_harness.sds.stage import Stage
from sds_proto.testee.v1 import testee_pb2 as pb
from sds_reference import Config
from sds_reference.mutants import MUTANTS

HELD, VIOLATED = {Outcome.HELD}, {Outcome.VIOLATED}
MINUTE = 60_000


def joined(handle: Handle | None = None, *, told: bool = False, talk: int = 6) -> Stage:
    """Bob talks for ``talk`` minutes, nora joins and speaks, and alice hears her after bob's next message."""
    on = stage(handle)
    alice, bob = on.open(configuration=pb.Configuration(causal_history_size=12)), on.peer("bob")
    for _ in range(talk):
        on.advance(MINUTE)
        alice.receive(bob.content(on.now_ms - 1))
    nora = on.open("nora")
    if told:
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


def with_fault(name: str) -> Handle:
    return reference(participant=MUTANTS[name].participant_class)


@pytest.mark.parametrize("without", [(), (pb.CAPABILITY_OBSERVE,)])
@pytest.mark.parametrize("config", [Config(), Config(causal_history_descending=True), Config(cascade_on_receive=False)])
def test_a_newcomer_is_sorted_by_its_clock_in_all_logs(config: Config, without: tuple[int, ...]) -> None:
    on = joined(reference(config, without=without))
    assert outcomes(newcomers_send_at_once_with_the_right_time, view(on, "nora")) == HELD
    assert outcomes(newcomers_find_their_place, view(on)) == HELD
    assert outcomes(newcomers_send_at_once_with_the_right_time, view(on)) == set(), "alice was there from the start"


def test_the_last_two_of_the_log_are_enough_to_see_its_place() -> None:
    inner = reference(without=[pb.CAPABILITY_OBSERVE])

    def obeys_nobody(request: pb.Request) -> pb.Reply:
        if request.HasField("open"):
            request.open.configuration.ClearField("causal_history_size")
        return inner(request)

    assert outcomes(newcomers_find_their_place, view(joined(obeys_nobody))) == HELD


@pytest.mark.parametrize("off_ms", [-10 * MINUTE, 10 * MINUTE])
def test_a_newcomer_whose_time_is_another_is_found(off_ms: int) -> None:
    inner = reference()

    def has_a_clock_of_its_own(request: pb.Request) -> pb.Reply:
        if request.HasField("send") and request.send.handle == 2:
            request = pb.Request.FromString(request.SerializeToString())
            request.send.now_ms += off_ms
        if request.HasField("open") and request.open.participant_id == "nora":
            request = pb.Request.FromString(request.SerializeToString())
            request.open.now_ms += off_ms
        return inner(request)

    on = joined(has_a_clock_of_its_own)
    assert outcomes(newcomers_send_at_once_with_the_right_time, view(on, "nora")) == VIOLATED
    expected: set[Outcome] = set() if off_ms < 0 else HELD
    assert outcomes(newcomers_find_their_place, view(on)) == expected, "alice does as she is told"


@pytest.mark.parametrize("mutant", ["rounds-first-timestamp-to-the-hour", "refuses-to-send-before-receiving"])
def test_a_newcomer_that_must_be_told_something_first_is_found(mutant: str) -> None:
    on = stage(with_fault(mutant))
    alice, bob = on.open(), on.peer("bob")
    on.advance(10 * MINUTE)
    alice.receive(bob.content(on.now_ms - 1))
    alice.send()  # who never sends has another fault
    nora = on.open("nora")
    request = pb.Send(now_ms=on.now_ms, handle=nora.party.handle, channel_id="c1", content=b"hello")
    on.step("nora", pb.Request(send=request))
    assert outcomes(newcomers_send_at_once_with_the_right_time, view(on, "nora")) == VIOLATED


def test_one_that_has_heard_something_is_no_newcomer() -> None:
    on = joined(told=True)
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


def test_a_log_that_puts_newcomers_last_is_found() -> None:
    assert Outcome.VIOLATED in outcomes(newcomers_find_their_place, view(joined(with_fault("newcomers-last"))))


def test_a_message_of_a_newcomer_that_is_never_delivered_is_found() -> None:
    def loses(request: pb.Request, reply: pb.Reply) -> None:
        if request.HasField("receive") and b"nora" in request.receive.wire:
            reply.effects.Clear()
            reply.effects.SetInParent()

    assert outcomes(newcomers_find_their_place, view(joined(altered(loses)))) == VIOLATED

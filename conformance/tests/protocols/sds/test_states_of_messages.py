"""The states of own messages: legal oddities of signals and shown states, and similar faults."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from run_helpers import T, altered, outcomes, reference, stage, view
from sds_conformance.judging.judgement import Outcome
from sds_conformance.protocols.sds.checks.core.acknowledgement import (
    no_fall_back_to_the_shorter_period,
    one_of_several_participants_acknowledges,
    shown_states_go_forward,
    signals_go_forward,
)
from sds_harness.sds.actor import Actor
from sds_harness.sds.stage import Stage
from sds_proto.testee.v1 import testee_pb2 as pb
from sds_reference import Config, Message
from sds_reference.mutants import MUTANTS

HELD, VIOLATED = {Outcome.HELD}, {Outcome.VIOLATED}
RESENDS = pb.Configuration(resend_unacknowledged_ms=30_000, resend_possibly_acknowledged_ms=90_000)


def ticks(on: Stage, actor: Actor, count: int, milliseconds: int = 30_000) -> None:
    for _ in range(count):
        on.advance(milliseconds)
        actor.tick()


# ---- Some participants are enough ------------------------------------------------------------------------------------


def several_know(handle: Callable[[pb.Request], pb.Reply] | None = None, names: int = 1) -> Stage:
    """Carol, dave and bob are known; ``names`` of them name a message."""
    on = stage(handle)
    alice = on.open(configuration=RESENDS)
    peers = [on.peer(name) for name in ("bob", "carol", "dave")]
    alice.receive(*[peer.content(T + number) for number, peer in enumerate(peers)])
    sent = alice.send()
    ticks(on, alice, 1)
    for peer in peers[:names]:
        alice.receive(peer.content(on.now_ms, sent))
        alice.observe()
        ticks(on, alice, 4)
    return on


def test_a_signal_may_wait_for_the_sweep() -> None:
    late: list[pb.Event] = []

    def waits(request: pb.Request, reply: pb.Reply) -> None:
        if request.HasField("receive"):
            late.extend(event for event in reply.effects.events if event.HasField("acknowledged"))
            kept = [event for event in reply.effects.events if not event.HasField("acknowledged")]
            del reply.effects.events[:]
            reply.effects.events.extend(kept)
        elif request.HasField("tick"):
            reply.effects.events.extend(late)
            late.clear()

    assert outcomes(one_of_several_participants_acknowledges, view(several_know(altered(waits)))) == HELD


# ---- Forward only ----------------------------------------------------------------------------------------------------


def signalling(*steps: str) -> Stage:
    """An implementation that signals this of its first message, tick by tick."""
    own: list[str] = []
    left = list(steps)

    def signals(request: pb.Request, reply: pb.Reply) -> None:
        if request.HasField("tick"):
            for letter in left.pop(0):
                event = reply.effects.events.add(channel_id="c1")
                (event.possibly_acknowledged if letter == "p" else event.acknowledged).message_id = own[0]

    on = stage(altered(signals))
    alice = on.open()
    own.append(alice.send().message_id)
    ticks(on, alice, len(steps))
    return on


@pytest.mark.parametrize(
    "steps", [("p", "a"), ("a",), ("p",), ("p", "p", "a"), ("ap",), ("pa",), ("p", "pa"), ("a", "a")]
)
def test_signals_that_go_forward_or_repeat_themselves_are_accepted(steps: tuple[str, ...]) -> None:
    assert outcomes(signals_go_forward, view(signalling(*steps))) == HELD


@pytest.mark.parametrize("steps", [("a", "p"), ("p", "a", "p"), ("pa", "p"), ("a", "ap")])
def test_a_possible_acknowledgement_after_the_certain_one_is_a_step_back(steps: tuple[str, ...]) -> None:
    assert Outcome.VIOLATED in outcomes(signals_go_forward, view(signalling(*steps)))


def showing(*lists: str) -> Stage:
    """An implementation that shows this of its first message: u, p and a for its states, ? for none, "" for absent."""
    own: list[str] = []
    left = list(lists)
    states = {"u": pb.ACK_STATE_UNACKNOWLEDGED, "p": pb.ACK_STATE_POSSIBLY_ACKNOWLEDGED, "a": pb.ACK_STATE_ACKNOWLEDGED}

    def shows(request: pb.Request, reply: pb.Reply) -> None:
        if request.HasField("observe"):
            del reply.state.outgoing.entries[:]
            for letter in left.pop(0):
                reply.state.outgoing.entries.add(message_id=own[0], state=states.get(letter))
            reply.state.outgoing.SetInParent()

    on = stage(altered(shows))
    alice = on.open()
    own.append(alice.send().message_id)
    for _ in lists:
        alice.observe()
    return on


@pytest.mark.parametrize("lists", [("u", "p", "a"), ("u", "p", ""), ("u", "a", "a"), ("u", ""), ("p", "pp", "a", "")])
def test_shown_states_that_go_forward_are_accepted_and_tombstones_too(lists: tuple[str, ...]) -> None:
    assert outcomes(shown_states_go_forward, view(showing(*lists))) == HELD


def test_a_message_that_never_moves_shows_nothing() -> None:
    assert outcomes(shown_states_go_forward, view(showing("u", "u"))) == set()


@pytest.mark.parametrize(
    "lists", [("p", "u"), ("a", "p"), ("u", "", "u"), ("u", "", "p"), ("u", "up"), ("?",), ("u", "a", "u")]
)
def test_two_states_no_state_and_a_state_that_was_left_are_not(lists: tuple[str, ...]) -> None:
    assert Outcome.VIOLATED in outcomes(shown_states_go_forward, view(showing(*lists)))


def test_a_second_message_of_an_id_starts_from_the_beginning() -> None:
    first: list[bytes] = []

    def sends_the_same_again(request: pb.Request, reply: pb.Reply) -> None:
        if request.HasField("send"):
            first.append(reply.effects.broadcasts[0])
            reply.effects.broadcasts[0] = first[0]
        if request.HasField("observe"):
            del reply.state.outgoing.entries[:]
            if len(first) == 2:
                reply.state.outgoing.entries.add(message_id=sent.message_id, state=pb.ACK_STATE_UNACKNOWLEDGED)

    on = stage(altered(sends_the_same_again))
    alice, bob = on.open(), on.peer("bob")
    sent = alice.send()
    alice.observe()
    alice.receive(bob.content(T + 1, sent))
    alice.observe()
    alice.send()
    alice.observe()
    assert outcomes(shown_states_go_forward, view(on)) == set()
    assert outcomes(signals_go_forward, view(on)) == set()


# ---- No way back, as the copies tell ---------------------------------------------------------------------------------


def after_silence(handle: Callable[[pb.Request], pb.Reply], *, control: bool = True) -> Stage:
    """A filter holds one of two messages, and a later one, if it is to be a control, only the other."""
    on = stage(handle)
    alice = on.open(configuration=RESENDS)
    bob = on.peer("bob")
    first, second = alice.send(), alice.send()

    def over(message: Message) -> bytes | None:
        return on.filter_over(message.message_id)

    alice.receive(bob.content(T + 1, bloom_filter=over(first)))
    alice.receive(bob.content(T + 2, bloom_filter=over(second) if control else on.filter_over("nobody's")))
    ticks(on, alice, 12)
    return on


@pytest.mark.parametrize("mutant", ["returns-to-unacknowledged", "one-resend-period"])
def test_without_a_message_that_keeps_the_longer_period_nobody_is_accused(mutant: str) -> None:
    """One period for all messages is a fault, but another one."""
    on = after_silence(reference(participant=MUTANTS[mutant].participant_class), control=False)
    assert Outcome.VIOLATED not in outcomes(no_fall_back_to_the_shorter_period, view(on))


def test_ticks_that_are_too_rare_to_tell_the_periods_apart_say_nothing() -> None:
    on = stage(reference(Config()))
    alice, bob = on.open(configuration=RESENDS), on.peer("bob")
    sent = alice.send()
    alice.receive(bob.content(T + 1, bloom_filter=on.filter_over(sent.message_id)), bob.content(T + 2))
    ticks(on, alice, 5, 100_000)
    assert outcomes(no_fall_back_to_the_shorter_period, view(on)) == set()

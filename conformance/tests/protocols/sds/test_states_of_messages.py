"""The states of own messages: legal oddities of signals and shown states, and similar faults."""

from __future__ import annotations

import pytest

from run_helpers import altered, outcomes, stage, view
from sds_conformance.judging.judgement import Outcome
from sds_conformance.protocols.sds.checks.core.acknowledgement import shown_states_go_forward, signals_go_forward
from sds_harness.sds.stage import Stage
from sds_proto.testee.v1 import testee_pb2 as pb


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
    for _ in steps:
        on.advance(30_000)
        alice.tick()
    return on


@pytest.mark.parametrize(
    ("steps", "legal"),
    [
        *((steps.split(","), True) for steps in ("p,a", "a", "p", "p,p,a", "ap", "pa", "p,pa", "a,a")),
        *((steps.split(","), False) for steps in ("a,p", "p,a,p", "pa,p", "a,ap")),
    ],
)
def test_signals_go_forward_or_repeat_themselves(steps: list[str], legal: bool) -> None:
    seen = outcomes(signals_go_forward, view(signalling(*steps)))
    assert seen == {Outcome.HELD} if legal else Outcome.VIOLATED in seen


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


@pytest.mark.parametrize(
    ("lists", "legal"),
    [
        *((lists.split(","), True) for lists in ("u,p,a", "u,p,", "u,a,a", "u,", "p,pp,a,")),
        *((lists.split(","), False) for lists in ("p,u", "a,p", "u,,u", "u,,p", "u,up", "?", "u,a,u")),
    ],
)
def test_shown_states_go_forward_and_may_stay_after_the_acknowledgement(lists: list[str], legal: bool) -> None:
    seen = outcomes(shown_states_go_forward, view(showing(*lists)))
    assert seen == {Outcome.HELD} if legal else Outcome.VIOLATED in seen

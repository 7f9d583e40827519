"""Requests of others for a missing message, dependencies given up twice, and answers in another channel."""

from __future__ import annotations

from dataclasses import replace

import pytest

from run_helpers import T, altered, stage, view
from sds_conformance.protocols.sds.scenarios.repair.live import repairing
from sds_conformance.protocols.sds.scenarios.repair.participants import T_MAX_MS
from sds_conformance.protocols.sds.view.repair_tracker import RepairTracker
from sds_harness.sds.actor import Actor
from sds_harness.sds.peer import signed
from sds_harness.sds.stage import Stage
from sds_proto.testee.v1 import testee_pb2 as pb
from sds_reference import Message, decode, encode


def tracked(on: Stage) -> RepairTracker:
    return view(on).repair


def sweep(on: Stage, actor: Actor) -> int:
    """Let T_max pass and the periodic work run; the index of its step."""
    on.advance(T_MAX_MS)
    return actor.tick().index


def asking(message: Message, *wanted: Message) -> Message:
    return replace(message, repair_request=signed(*wanted))


def test_what_others_ask_for_while_it_is_missing_is_overheard() -> None:
    on = stage()
    alice, bob, carol = repairing(on), on.peer("bob"), on.peer("carol")
    lost = bob.content(T + 1)
    alice.receive(carol.sync(T, requests=signed(lost)))
    alice.receive(carol.content(T + 2, *signed(lost)))
    heard = [alice.receive(asking(carol.sync(T), lost)), alice.receive(asking(carol.ephemeral(b"x"), lost))]
    alice.receive(lost)
    alice.receive(carol.sync(T, requests=signed(lost)))
    (missing,) = tracked(on).missing
    assert [r.step for r in missing.overheard] == heard
    assert missing.undisturbed == heard[0].index


def test_what_was_given_up_says_so_once() -> None:
    on = stage()
    alice = repairing(on, configuration=pb.Configuration(lost_timeout_ms=1_000))
    alice.receive(on.peer("bob").content(T, "lost"))
    on.advance(2_000)
    given_up = alice.tick()
    alice.receive(on.peer("bob").content(T, "lost", message_id="another"))
    on.advance(2_000)
    alice.tick()
    (missing,) = tracked(on).missing
    assert (missing.lost, missing.undisturbed) == (given_up, given_up.index)


@pytest.mark.parametrize("channel", ["elsewhere", ""])
def test_an_answer_that_goes_astray_is_one_of_the_channel_it_was_asked_in(channel: str) -> None:
    def strays(request: pb.Request, reply: pb.Reply) -> None:
        if request.HasField("tick"):
            wires = [encode(replace(decode(wire), channel_id=channel)) for wire in reply.effects.broadcasts]
            reply.effects.broadcasts[:] = wires

    on = stage(altered(strays))
    alice, bob = repairing(on), on.peer("bob")
    here = bob.content(T + 1)
    alice.receive(here, on.peer("carol").sync(T, requests=signed(here)))
    tick = sweep(on, alice)
    (asked,) = tracked(on).asked
    assert [(a.step.index, a.message.channel_id) for a in asked.answers] == [(tick, channel)]

"""Somebody joins when the others have talked for a while."""

from __future__ import annotations

from sds_proto.testee.v1 import testee_pb2 as pb

from ..cast import WIDE, Actor, ScriptedPeer, Stage, scenario, take_in

MINUTE = 60_000


@scenario("STATE-04", needs=(pb.CAPABILITY_VIRTUAL_CLOCK,), asked=WIDE)
def a_late_joiner(stage: Stage, alice: Actor, bob: ScriptedPeer, carol: ScriptedPeer) -> None:
    """After ten minutes of talk a third joins, speaks before it has heard anything, and is heard after the next."""
    said = [bob.content(stage.now_ms)]
    for number in range(5):
        stage.advance(2 * MINUTE)
        said.append((carol if number % 2 else bob).content(stage.now_ms - 5, said[-1]))
    alice.receive(*said)
    nora = stage.open("nora")
    nora.after(100).send()
    from_nora = stage.trace.steps[-1].asked_for or b""
    stage.advance(MINUTE)
    later = bob.content(stage.now_ms)
    take_in(alice, later, from_nora, carol.content(stage.now_ms - 2 * MINUTE)).observe()
    take_in(nora, later)
    alice.after(MINUTE).send()
    nora.send()
    nora.observe()

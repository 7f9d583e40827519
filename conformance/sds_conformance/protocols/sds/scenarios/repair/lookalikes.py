"""What SDS-R takes for the same, and is not."""

from __future__ import annotations

from sds_harness.sds.peer import signed

from ..cast import Actor, ScriptedPeer, Stage
from ..core.lookalikes import TWINS
from .repairing import repair_scenario, t_max
from .requesting import say, say_both
from .responding import ask, wait_out


@repair_scenario("R-STATE-04", "R-RECV-09", long=True)
def asked_for_twins(stage: Stage, alice: Actor, bob: ScriptedPeer, carol: ScriptedPeer) -> None:
    """A participant is asked for IDs that are like those it has up to a zero character, or in a normal form."""
    alice.receive(*[bob.content(stage.now_ms + number, message_id=known) for number, (known, _) in enumerate(TWINS)])
    ask(stage, carol, alice, *[bob.content(stage.now_ms, message_id=other) for _, other in TWINS])
    alice.observe()
    wait_out(stage, alice)


@repair_scenario("R-STATE-09", "R-SEND-01", "R-TREQ-01", long=True)
def twins_come_and_are_asked_for(stage: Stage, alice: Actor, bob: ScriptedPeer, carol: ScriptedPeer) -> None:
    """Messages are missing; others of such IDs come, or somebody asks for these; what is missing is asked for."""
    for comes in (True, False):
        which = "came" if comes else "asked"
        lost = [bob.content(stage.now_ms, message_id=f"{which}-{known}") for known, _ in TWINS]
        twins = [bob.content(stage.now_ms, message_id=f"{which}-{other}") for _, other in TWINS]
        alice.given(bob.content(stage.now_ms + 1, *signed(*lost))).observe()
        if comes:
            alice.receive(*twins)
        else:
            alice.receive(carol.sync(stage.now_ms, requests=signed(*twins)))
        stage.advance(t_max(alice))
        left = {message.message_id: message for message in lost}
        for number in range(len(lost) + 3):
            asking = say(alice, content=number % 2 == 0)
            asked = [entry.message_id for entry in asking.repair_request] if asking is not None else []
            found = [left.pop(message_id) for message_id in asked if message_id in left]
            if found:
                alice.receive(*found)
            if not left:
                break
        say_both(alice, 1_000)
        if left:
            alice.receive(*left.values())

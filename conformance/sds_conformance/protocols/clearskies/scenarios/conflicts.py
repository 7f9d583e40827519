"""Vector clocks and conflicts."""

from __future__ import annotations

from .cast import Actor, ScriptedPeer, Stage, look, scenario


@scenario("50")
def a_descendant_of_an_older_time(stage: Stage, alice: Actor, bob: ScriptedPeer) -> None:
    """A peer changes its record twice; by the clock of its second change the first one is in the future."""
    link = alice.link(bob)
    link.say(bob.update("door", "open"))
    link.say(bob.update("door", "shut", at_ms=stage.now_ms - 3_600_000))
    look(alice)

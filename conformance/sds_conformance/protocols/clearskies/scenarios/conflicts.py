"""Vector clocks and conflicts."""

from __future__ import annotations

from .cast import Actor, ScriptedPeer, Stage, listening, look, scenario


@scenario("50")
def a_descendant_of_an_older_time(stage: Stage, alice: Actor, bob: ScriptedPeer, carol: ScriptedPeer) -> None:
    """Somebody changes a record after hearing what a peer has of it; by that clock the old one is in the future."""
    listening(alice, bob).say(bob.update("door", "open"))
    link = listening(alice, carol)
    stage.settle()
    for heard in link.updates[-1:]:
        link.say(carol.update("door", "shut", after=heard, at_ms=stage.now_ms - 3_600_000))
    look(alice)

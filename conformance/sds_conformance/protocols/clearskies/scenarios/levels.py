"""Access levels and signatures."""

from __future__ import annotations

from clearskies_proto.testee.v1 import testee_pb2 as pb

from .cast import Actor, ScriptedPeer, Stage, listening, look, scenario


@scenario("06", needs=(pb.CAPABILITY_READ_ONLY,))
def a_forged_update(stage: Stage, rita: Actor, bob: ScriptedPeer, rolf: ScriptedPeer) -> None:
    """A read-only peer hears a signed update, then one of which a byte is another than what was signed."""
    link = rita.link(bob)
    link.say(bob.update("good", "one"))
    listening(rita, rolf)
    link.send(bob.sign(bob.update("bad", "two")).flipped(60))
    stage.settle()
    look(rita, read_only=True)

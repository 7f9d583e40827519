"""A participant joins after the others have sent messages for a while."""

from __future__ import annotations

from sds_proto.testee.v1 import testee_pb2 as pb

from ..scripts import WIDE, Part, Peer, Script, deliver_and_settle, scenario

MINUTE = 60_000


@scenario("STATE-04", needs=(pb.CAPABILITY_VIRTUAL_CLOCK,), asked=WIDE)
def a_late_joiner(script: Script, alice: Part, bob: Peer, carol: Peer) -> None:
    """A newcomer joins after ten minutes, sends before it receives anything, and its message arrives late."""
    sent = [bob.content(script.now)]
    for number in range(5):
        script.advance(2 * MINUTE)
        sent.append((carol if number % 2 else bob).content(script.now - 5, sent[-1]))
    alice.receive(*sent)
    nora = script.open("nora")
    from_nora = nora.after(100).send()
    script.advance(MINUTE)
    later = bob.content(script.now)
    deliver_and_settle(alice, later, from_nora, carol.content(script.now - 2 * MINUTE)).observe()
    deliver_and_settle(nora, later)
    alice.after(MINUTE).send()
    nora.send()
    nora.observe()

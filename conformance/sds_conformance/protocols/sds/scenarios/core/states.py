"""The three states of an own message: unacknowledged, possibly acknowledged, acknowledged."""

from __future__ import annotations

from ..scripts import QUICK_RESENDS, Part, Peer, Script, scenario, tick_every


@scenario("STATE-14", "ACK-01", asked=QUICK_RESENDS)
def one_of_three_is_enough(script: Script, alice: Part, bob: Peer, carol: Peer, dave: Peer) -> None:
    """Three peers are known; one of them names an own message, and the others send messages without naming it."""
    period = alice.in_force.resend_unacknowledged_ms
    for number, peer in enumerate((bob, carol, dave)):
        alice.receive(peer.content(script.now + number))
    message = alice.send()
    alice.after(period).tick()
    alice.given(bob.content(script.now + 10, message)).observe()
    alice.receive(carol.content(script.now + 11), dave.content(script.now + 12))
    tick_every(alice, period, times=4).observe()


@scenario("STATE-17", "ACK-01", "ACK-02")
def from_state_to_state(script: Script, alice: Part, bob: Peer, carol: Peer) -> None:
    """Filters and causal histories acknowledge three own messages one by one; no state becomes a weaker one."""
    first, second, third = (alice.send() for _ in range(3))
    alice.observe()
    alice.given(bob.content(script.now + 1, holds=[first])).observe()
    alice.given(carol.content(script.now + 2, first, second)).observe()
    # Acknowledged messages stay acknowledged, even if later evidence is weaker.
    alice.given(bob.content(script.now + 3, holds=[first, second])).after(1_000).tick()
    alice.observe()
    alice.given(carol.content(script.now + 4, holds=[third])).observe()

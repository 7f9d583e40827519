"""The three states of an own message: unacknowledged, possibly acknowledged, acknowledged."""

from __future__ import annotations

from ..cast import QUICK_RESENDS, Actor, ScriptedPeer, Stage, scenario, tick_every


@scenario("STATE-14", "ACK-01", asked=QUICK_RESENDS)
def one_of_three_is_enough(
    stage: Stage, alice: Actor, bob: ScriptedPeer, carol: ScriptedPeer, dave: ScriptedPeer
) -> None:
    """Three others are known; one of them names a message, the others go on without a word on it."""
    period = alice.party.in_force.resend_unacknowledged_ms or 30_000
    for number, peer in enumerate((bob, carol, dave)):
        alice.receive(peer.content(stage.now_ms + number))
    message = alice.send()
    alice.after(period).tick()
    alice.given(bob.content(stage.now_ms + 10, message)).observe()
    alice.receive(carol.content(stage.now_ms + 11), dave.content(stage.now_ms + 12))
    tick_every(alice, period, times=4).observe()


@scenario("STATE-17", "ACK-01", "ACK-02")
def from_state_to_state(stage: Stage, alice: Actor, bob: ScriptedPeer, carol: ScriptedPeer) -> None:
    """Of three messages one is held by a filter and then named, one is named at once, one stays as it is."""
    first, second, third = (alice.send() for _ in range(3))
    alice.observe()
    in_filter = stage.filter_over(first.message_id)
    alice.given(bob.content(stage.now_ms + 1, bloom_filter=in_filter)).observe()
    alice.given(carol.content(stage.now_ms + 2, first, second)).observe()
    # What has been acknowledged stays so, whatever says less of it.
    both = stage.filter_over(first.message_id, second.message_id)
    alice.given(bob.content(stage.now_ms + 3, bloom_filter=both)).after(1_000).tick()
    alice.observe()
    alice.given(carol.content(stage.now_ms + 4, bloom_filter=stage.filter_over(third.message_id))).observe()

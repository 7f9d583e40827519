"""IDs that an implementation of SDS-R may confuse."""

from __future__ import annotations

from sds_harness.sds.script import Part, Peer, Script, signed

from ..core.lookalikes import TWINS
from .participants import T_MAX, repair_scenario
from .requests import send_both_kinds, send_in_turn
from .responses import request_messages, wait_for_responses


@repair_scenario("R-STATE-04", "R-RECV-09", long=True)
def asked_for_twins(script: Script, alice: Part, bob: Peer, carol: Peer) -> None:
    """Requested IDs are equal to the IDs of known messages up to a NUL, or in a Unicode normal form."""
    alice.receive(*[bob.content(script.now + number, message_id=known) for number, (known, _) in enumerate(TWINS)])
    request_messages(carol, alice, *[bob.content(script.now, message_id=other) for _, other in TWINS])
    alice.observe()
    wait_for_responses(alice)


@repair_scenario("R-STATE-09", "R-SEND-01", "R-TREQ-01", long=True)
def twins_come_and_are_asked_for(script: Script, alice: Part, bob: Peer, carol: Peer) -> None:
    """Messages are missing; messages with similar IDs arrive or are requested; the missing ones must be requested."""
    for comes in (True, False):
        which, number = ("came", 17) if comes else ("asked", 18)
        pairs = [*((f"{which}-{known}", f"{which}-{other}") for known, other in TWINS), (f"0{number}", f"{number}")]
        pairs += [("x" * number * 4 + last, "x" * number * 4 + other) for last, other in ("12", "34")]
        lost = [bob.content(script.now, message_id=known) for known, _ in pairs]
        twins = [bob.content(script.now, message_id=other) for _, other in pairs]
        alice.given(bob.content(script.now + 1, *signed(*lost))).observe()
        if comes:
            alice.receive(*twins)
        else:
            alice.receive(carol.sync(script.now, requests=signed(*twins)))
        script.advance(T_MAX)
        send_in_turn(alice, len(lost) + 3, *lost)
        send_both_kinds(alice, 1_000)
        alice.receive_missing()


@repair_scenario("R-STATE-04", "R-RECV-03", "R-RECV-08", long=True)
def repairs_of_a_channel_that_was_not_joined(script: Script, alice: Part, bob: Peer, carol: Peer) -> None:
    """Messages of a channel that was not joined have the IDs of a missing and a requested message, or request messages.

    These messages change nothing.
    """
    held, unasked, lost = (bob.content(script.now + number) for number in range(3))
    elsewhere = script.peer("bob", "elsewhere")
    alice.receive(held, unasked, bob.content(script.now + 3, *signed(lost)))
    request_messages(carol, alice, held)
    alice.receive(*[elsewhere.content(script.now + 4, message_id=f"bob-{number}") for number in (1, 3)])
    alice.receive(elsewhere.sync(script.now + 5, requests=signed(unasked, lost)))
    alice.observe()
    wait_for_responses(alice)
    send_both_kinds(alice, 1_000)

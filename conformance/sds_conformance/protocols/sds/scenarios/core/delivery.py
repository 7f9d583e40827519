"""Causal dependencies: deliveries, waiting messages, and their order."""

from __future__ import annotations

from ..scripts import WIDE, Part, Peer, Script, deliver_and_settle, scenario, send_optional_messages


@scenario("RECV-05", "RECV-07", "RECV-08", "RECV-09", "STATE-09", "INSWEEP-06", "INSWEEP-02", asked=WIDE)
def a_missing_dependency(script: Script, alice: Part, bob: Peer) -> None:
    """One of three dependencies of a message is missing; the message waits for it, and is delivered when it arrives."""
    base = script.now
    known = [bob.content(base + number) for number in (1, 2)]
    alice.receive(*known)
    for place in range(3):
        missing = bob.content(base + 10 + place)
        depends_on = list(known)
        depends_on.insert(place, missing)
        alice.given(bob.content(base + 20 + place, *depends_on)).observe()
        alice.send()
        deliver_and_settle(alice, missing).observe()
        script.advance(10)


@scenario("RECV-06", "RECV-09", "DELIVER-07", "INSWEEP-04", "INSWEEP-06", asked=WIDE)
def a_chain_in_reverse(script: Script, alice: Part, bob: Peer, carol: Peer) -> None:
    """A chain of three messages arrives in reverse order, so that a message waits for one that waits itself."""
    first = bob.content(script.now + 1)
    second = carol.content(script.now + 2, first)
    third = bob.content(script.now + 3, second)
    alice.given(third, second).observe()
    alice.settle()
    alice.send()
    deliver_and_settle(alice, first).observe()


@scenario("RECV-06", "RECV-09")
def a_dependent_of_the_buffered(script: Script, alice: Part, bob: Peer) -> None:
    """A message depends only on a message in the incoming buffer, whose own dependency never arrives."""
    middle = bob.content(script.now + 2, "never-sent")
    deliver_and_settle(alice, middle, bob.content(script.now + 3, middle), bob.content(script.now + 4))
    alice.after(100).send()
    alice.observe()


@scenario("INSWEEP-04", "DELIVER-07", "INSWEEP-06", "RECV-08")
def a_long_chain_in_reverse(script: Script, alice: Part, bob: Peer) -> None:
    """A chain of fifty messages arrives in reverse order."""
    chain = [bob.content(script.now)]
    for number in range(1, 50):
        chain.append(bob.content(script.now + number, chain[-1]))
    deliver_and_settle(alice, *reversed(chain)).observe()


@scenario("DELIVER-07", "RECV-05", "RECV-06")
def a_diamond(script: Script, alice: Part, bob: Peer, carol: Peer) -> None:
    """Two messages depend on one message, and a fourth on both; each arrives before a message that it depends on."""
    top = bob.content(script.now + 1)
    left, right = bob.content(script.now + 2, top), carol.content(script.now + 2, top)
    deliver_and_settle(alice, right, carol.content(script.now + 3, left, right), top)
    deliver_and_settle(alice, left)


@scenario("SEND-11", "RECV-07")
def replies_to_own_messages(script: Script, alice: Part, bob: Peer) -> None:
    """Messages arrive that depend on own messages; they are delivered, because own messages are in the own log."""
    first = alice.send()
    second = alice.after(10).send()
    deliver_and_settle(alice, bob.content(script.now + 5, first), bob.content(script.now + 6, first, second))


@scenario("RECV-01", "RECV-11")
def own_messages_come_back(script: Script, alice: Part) -> None:
    """The network reflects own messages, which name own messages in their causal histories."""
    sent = [alice.send(), alice.after(10).send()]
    script.advance(10)
    alice.given(*sent).observe()
    alice.settle()
    alice.send()


@scenario("RECV-01", "RECV-11", asked=WIDE)
def unsent_messages_with_own_sender_id(script: Script, alice: Part, bob: Peer) -> None:
    """Messages of all kinds that the participant never sent arrive with its sender ID, some with timestamps ahead."""
    alice.receive(bob.content(script.now))
    own = alice.send()
    ahead = script.now + 5_000_000
    several = [bob.content(script.now + number, sender="alice") for number in range(1, 6)]
    of_all_kinds = (
        bob.content(ahead, own, several[0], sender="alice"),
        bob.sync(ahead + 9, own, "never-sent", sender="alice"),
        bob.ephemeral(b"typing", sender="alice"),
    )
    alice.receive(*several, *of_all_kinds)
    alice.observe()
    alice.settle()
    alice.send()


@scenario("RECV-04", "SEND-09", "RECV-03", "RECV-11", "STATE-05")
def the_filter_and_the_buffer(script: Script, alice: Part, bob: Peer) -> None:
    """Received messages, also a waiting one, enter the filter, and the waiting one acknowledges an own message."""
    own = alice.send()
    delivered = [bob.content(script.now + number) for number in range(1, 5)]
    alice.receive(*delivered)
    waiting = bob.content(script.now + 10, own, "never-sent")
    alice.given(waiting).observe(waiting)
    alice.after(100).send()
    send_optional_messages(alice, ephemeral=False)


@scenario("SEND-09", "STATE-05", "SYNC-05")
def the_filter_grows(script: Script, alice: Part, bob: Peer) -> None:
    """Every message carries the filter at the time of sending."""
    for _ in range(5):
        alice.after(10).given(bob.content(script.now)).send()
    send_optional_messages(alice, ephemeral=False)

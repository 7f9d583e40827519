"""Causal dependencies: what is delivered, what waits, and in which order."""

from __future__ import annotations

from dataclasses import replace

from ..cast import WIDE, Actor, ScriptedPeer, Stage, scenario, send_the_optional, take_in


@scenario("RECV-05", "RECV-07", "RECV-08", "RECV-09", "STATE-09", "INSWEEP-06", "INSWEEP-02", asked=WIDE)
def a_missing_dependency(stage: Stage, alice: Actor, bob: ScriptedPeer) -> None:
    """A message waits for the one of three dependencies that is missing, and is delivered when it comes."""
    base = stage.now_ms
    known = [bob.content(base + number) for number in (1, 2)]
    alice.receive(*known)
    for place in range(3):
        missing = bob.content(base + 10 + place)
        depends_on = list(known)
        depends_on.insert(place, missing)
        alice.given(bob.content(base + 20 + place, *depends_on)).observe()
        alice.send()
        take_in(alice, missing).observe()
        stage.advance(10)


@scenario("RECV-06", "RECV-09", "DELIVER-07", "INSWEEP-04", "INSWEEP-06", asked=WIDE)
def a_chain_in_reverse(stage: Stage, alice: Actor, bob: ScriptedPeer, carol: ScriptedPeer) -> None:
    """A chain of three arrives from its end; each waits for one that waits itself."""
    first = bob.content(stage.now_ms + 1)
    second = carol.content(stage.now_ms + 2, first)
    third = bob.content(stage.now_ms + 3, second)
    alice.given(third, second).observe()
    alice.settle()
    alice.send()
    take_in(alice, first).observe()


@scenario("RECV-06", "RECV-09")
def a_dependent_of_the_buffered(stage: Stage, alice: Actor, bob: ScriptedPeer) -> None:
    """A message whose only dependency waits in the buffer arrives after it; its root never comes."""
    middle = bob.content(stage.now_ms + 2, "never-sent")
    take_in(alice, middle, bob.content(stage.now_ms + 3, middle), bob.content(stage.now_ms + 4))
    alice.after(100).send()
    alice.observe()


@scenario("INSWEEP-04", "DELIVER-07", "INSWEEP-06", "RECV-08")
def a_long_chain_in_reverse(stage: Stage, alice: Actor, bob: ScriptedPeer) -> None:
    """A chain of fifty arrives from its end."""
    chain = [bob.content(stage.now_ms)]
    for number in range(1, 50):
        chain.append(bob.content(stage.now_ms + number, chain[-1]))
    take_in(alice, *reversed(chain)).observe()


@scenario("DELIVER-07", "RECV-05", "RECV-06")
def a_diamond(stage: Stage, alice: Actor, bob: ScriptedPeer, carol: ScriptedPeer) -> None:
    """Two messages depend on one and a fourth on both; they arrive in a bad order."""
    top = bob.content(stage.now_ms + 1)
    left, right = bob.content(stage.now_ms + 2, top), carol.content(stage.now_ms + 2, top)
    take_in(alice, right, carol.content(stage.now_ms + 3, left, right), top)
    take_in(alice, left)


@scenario("SEND-11", "RECV-07")
def replies_to_own_messages(stage: Stage, alice: Actor, bob: ScriptedPeer) -> None:
    """Replies to own messages arrive: own messages are in the own log."""
    first = alice.send()
    second = alice.after(10).send()
    take_in(alice, bob.content(stage.now_ms + 5, first), bob.content(stage.now_ms + 6, first, second))


@scenario("RECV-01", "RECV-11")
def own_messages_come_back(stage: Stage, alice: Actor) -> None:
    """The network reflects own messages, which name own messages in their causal histories."""
    alice.send()
    alice.after(10).send()
    stage.advance(10)
    sent = [s.asked_for for s in stage.trace.steps if s.command == "send" and s.asked_for is not None]
    alice.given(*sent).observe()
    alice.settle()
    alice.send()


@scenario("RECV-01", "RECV-11", asked=WIDE)
def in_its_own_name(stage: Stage, alice: Actor, bob: ScriptedPeer) -> None:
    """Messages of all kinds come in a participant's own name that it has not sent, some of them from ahead."""
    alice.receive(bob.content(stage.now_ms))
    own = alice.send()
    ahead = stage.now_ms + 5_000_000
    several = [bob.content(stage.now_ms + number) for number in range(1, 6)]
    of_all_kinds = (
        bob.content(ahead, own, several[0]),
        bob.sync(ahead + 9, own, "never-sent"),
        bob.ephemeral(b"typing"),
    )
    alice.receive(*[replace(message, sender_id=own.sender_id) for message in (*several, *of_all_kinds)])
    alice.observe()
    alice.settle()
    alice.send()


@scenario("RECV-04", "SEND-09", "RECV-03", "RECV-11", "STATE-05")
def the_filter_and_the_buffer(stage: Stage, alice: Actor, bob: ScriptedPeer) -> None:
    """Received messages enter the filter, those that wait as well, and a waiting message acknowledges."""
    own = alice.send()
    delivered = [bob.content(stage.now_ms + number) for number in range(1, 5)]
    alice.receive(*delivered)
    waiting = bob.content(stage.now_ms + 10, own, "never-sent")
    alice.given(waiting).observe(waiting.message_id)
    alice.after(100).send()
    send_the_optional(alice, ephemeral=False)


@scenario("SEND-09", "STATE-05", "SYNC-05")
def the_filter_grows(stage: Stage, alice: Actor, bob: ScriptedPeer) -> None:
    """Every message carries the filter as it is when the message is sent."""
    for _ in range(5):
        alice.after(10).given(bob.content(stage.now_ms)).send()
    send_the_optional(alice, ephemeral=False)

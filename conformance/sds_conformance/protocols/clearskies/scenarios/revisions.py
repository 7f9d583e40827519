"""Revisions: how a peer counts its changes."""

from __future__ import annotations

from .cast import Actor, ScriptedPeer, Stage, listening, look, scenario

WIDE = (1 << 53) + 1


@scenario("25", "26", "29")
def changes_before_anybody_asks(stage: Stage, alice: Actor, bob: ScriptedPeer) -> None:
    """Changes are made when nobody is there; then somebody asks for all of them."""
    for number in range(3):
        alice.put(f"key-{number}", number)
        stage.advance(1_000)
    listening(alice, bob)


@scenario("28", "26", "27")
def changes_of_others_between(stage: Stage, alice: Actor, bob: ScriptedPeer, carol: ScriptedPeer) -> None:
    """Between two changes of the application ten of somebody else come."""
    link = listening(alice, bob)
    listening(alice, carol)
    alice.put("mine", 1)
    for number in range(10):
        link.say(bob.update(f"theirs-{number % 4}", number))
        stage.advance(100)
    alice.put("mine", 2)
    alice.put("theirs-1", 3)


@scenario("25")
def wide_revisions(stage: Stage, alice: Actor, bob: ScriptedPeer, carol: ScriptedPeer) -> None:
    """A peer has made so many changes that 53 bits do not hold their number."""
    listening(alice, carol)
    bob.revision = WIDE - 1
    alice.link(bob).say(bob.update("door", "open"))
    look(alice)

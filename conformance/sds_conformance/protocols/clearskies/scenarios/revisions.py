"""Revisions: how a peer counts its changes."""

from __future__ import annotations

from clearskies_proto.testee.v1 import testee_pb2 as pb

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


@scenario("25", "59", "29")
def wide_revisions(stage: Stage, alice: Actor, bob: ScriptedPeer, carol: ScriptedPeer) -> None:
    """Bob's revisions are above 53 bits. The peer knows the first of them and asks Erin; then it hears of the second,
    and Dave asks for both."""
    listening(alice, carol)
    bob.revision = WIDE - 1
    link = alice.link(bob)
    link.say(bob.update("door", "open"))
    stage.settle()
    alice.link(stage.peer("erin"))
    link.say(bob.update("gate", "open"))
    look(alice)
    listening(alice, stage.peer("dave"), {bob.peer_id: WIDE - 1})


@scenario("26", needs=(pb.CAPABILITY_RENAME,), long=True)
def refused_changes(stage: Stage, alice: Actor, bob: ScriptedPeer) -> None:
    """Between two changes the application tries to delete and rename what does not exist, and to write bad JSON."""
    listening(alice, bob)
    alice.put("one", 1)
    alice.delete("nothing")
    alice.rename("nothing", "something")
    alice.put("bad", text="{")
    alice.after(1_000).put("two", 2)
    look(alice)


@scenario("10", "26", needs=(pb.CAPABILITY_STORE,), store=True)
def its_changes_are_written_over(stage: Stage, alice: Actor, bob: ScriptedPeer) -> None:
    """Somebody writes over all that the application has written; the peer is started again, and changes something."""
    link = listening(alice, bob)
    alice.put("one", 1)
    alice.after(1_000).put("two", 2)
    stage.settle()
    for key, message in zip(("one", "two"), list(link.updates), strict=False):
        if not link.broken:
            link.say(bob.update(key, 3, after=message, at_ms=stage.now_ms + 1_000))
    stage.settle()
    look(alice)
    alice.reopen()
    alice.after(10_000).put("three", 4)
    look(alice)

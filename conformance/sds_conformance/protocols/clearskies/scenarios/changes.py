"""Record changes: what a peer tells others of what its application does, and of what it is told."""

from __future__ import annotations

import json

from clearskies_proto.testee.v1 import testee_pb2 as pb
from sds_harness.clearskies.clubs import record_id

from .cast import Actor, ScriptedPeer, Stage, listening, look, scenario


@scenario("01", "14", "15", "26", "29", "35")
def changes_spread(stage: Stage, alice: Actor, bob: ScriptedPeer, carol: ScriptedPeer) -> None:
    """Two peers ask for updates and get every change: two records, one written again, one deleted."""
    for peer in (bob, carol):
        listening(alice, peer)
    alice.put("photo-1", {"camera": "NIKON", "taken": "2014"})
    alice.after(1_000).put("photo-2", {"camera": "Leica"})
    alice.after(1_000).put("photo-1", {"camera": "NIKON", "taken": "2015"})
    alice.after(1_000).delete("photo-2")


@scenario("20", "21", "35", "09")
def changes_are_passed_on(
    stage: Stage, alice: Actor, bob: ScriptedPeer, carol: ScriptedPeer, dave: ScriptedPeer
) -> None:
    """Somebody tells of a record, of a change of it and of its deletion; two others listen."""
    link = listening(alice, bob)
    for peer in (carol, dave):
        listening(alice, peer)
    link.say(bob.update("door", "open"))
    stage.advance(1_000)
    link.say(bob.update("door", "shut"))
    stage.advance(1_000)
    link.say(bob.update("door", deleted=True))


@scenario("14", "20", "35", long=True)
def a_crowd_listens(stage: Stage, alice: Actor, bob: ScriptedPeer) -> None:
    """Twelve peers ask for updates; the application changes a record, and somebody else another one."""
    link = listening(alice, bob)
    for number in range(12):
        listening(alice, stage.peer(f"listener {number}"))
    alice.put("mine", 1)
    link.say(bob.update("theirs", 2))


@scenario("20", "35", "14", "09")
def a_line_of_three(stage: Stage, alice: Actor, alan: Actor, anna: Actor) -> None:
    """Changes go from either end of a line of three peers to the other one."""
    alice.link(alan)
    alan.link(anna)
    alice.put("from-alice", 1)
    stage.settle()
    anna.put("from-anna", 2)
    stage.settle()
    anna.after(1_000).put("from-alice", 3)


@scenario("19", "20")
def an_update_by_two_ways(
    stage: Stage, alice: Actor, bob: ScriptedPeer, carol: ScriptedPeer, dave: ScriptedPeer
) -> None:
    """The same update comes by two ways, and then once more; somebody listens."""
    first, second = alice.link(bob), alice.link(carol)
    listening(alice, dave)
    update = bob.update("door", "open")
    first.say(update)
    second.say(update)
    stage.settle()
    first.say(update)


@scenario("22", "23", needs=(pb.CAPABILITY_RENAME,))
def a_record_is_renamed(stage: Stage, alice: Actor, bob: ScriptedPeer) -> None:
    """The application gives a record another key, and then writes one under the old one."""
    listening(alice, bob)
    alice.put("draft", "text")
    stage.settle()
    alice.after(1_000).rename("draft", "final")
    look(alice)
    alice.after(1_000).put("final", "more text")
    alice.put("draft", "another")


@scenario("22", "02")
def a_record_of_others_is_renamed(stage: Stage, alice: Actor, bob: ScriptedPeer, carol: ScriptedPeer) -> None:
    """Somebody else gives a record another key; then a new record takes the old one."""
    link = listening(alice, bob)
    listening(alice, carol)
    draft = bob.update("draft", "text")
    link.say(draft)
    stage.advance(1_000)
    uuid = json.loads(draft.body)["uuid"]
    link.say(bob.update("final", "text", uuid=uuid, vector_clock={bob.peer_id: 2}))
    look(alice)
    link.say(bob.update("draft", "another", uuid=record_id("another"), vector_clock={bob.peer_id: 3}))
    look(alice)


@scenario("24")
def two_records_with_one_key(stage: Stage, alice: Actor, bob: ScriptedPeer, carol: ScriptedPeer) -> None:
    """Two peers have made a record with the same key, and a third one hears of both."""
    alice.link(bob).say(bob.update("door", "open"))
    stage.advance(1_000)
    alice.link(carol).say(carol.update("door", "shut"))
    stage.settle()
    alice.observe()


@scenario("24", needs=(pb.CAPABILITY_RENAME,))
def a_rename_onto_another(stage: Stage, alice: Actor, bob: ScriptedPeer) -> None:
    """A record is given the key that another one has."""
    listening(alice, bob)
    alice.put("one", 1)
    alice.after(1_000).put("two", 2)
    alice.after(1_000).rename("one", "two")
    stage.settle()
    alice.observe()


@scenario("18", "05", needs=(pb.CAPABILITY_READ_ONLY, pb.CAPABILITY_STORE), store=True)
def a_reader_is_started_again(stage: Stage, rita: Actor, bob: ScriptedPeer, rolf: ScriptedPeer) -> None:
    """A read-only peer is started again when the one who wrote is gone; then others ask it."""
    link = rita.link(bob)
    link.say(bob.update("one", 1))
    link.say(bob.update("two", 2))
    stage.settle()
    rita.reopen()
    listening(rita, rolf)
    stage.settle()
    look(rita)

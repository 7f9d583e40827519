"""Stores: a peer is closed, or its process is killed, and it is opened again."""

from __future__ import annotations

from clearskies_proto.testee.v1 import testee_pb2 as pb
from sds_harness.clearskies.clubs import record_id

from .cast import Actor, ScriptedPeer, Stage, listening, look, scenario
from .conflicts import HOUR_MS, WIDE, tell, version


@scenario("26", "08", "10", needs=(pb.CAPABILITY_STORE,), store=True, long=True)
def killed_between_changes(stage: Stage, alice: Actor, bob: ScriptedPeer) -> None:
    """The application writes, Bob receives it, and the process is killed; started again, it writes two records."""
    listening(alice, bob)
    alice.put("one", 1)
    alice.after(1_000).put("two", 2)
    alice.tick()
    alice.reopen(killed=True)
    listening(alice, bob)
    alice.after(1_000).put("one", 3)
    alice.after(1_000).put("three", 4)
    look(alice)
    alice.observe()


@scenario("37", "56", needs=(pb.CAPABILITY_STORE,), store=True, long=True)
def killed_before_it_sends(stage: Stage, alice: Actor, bob: ScriptedPeer) -> None:
    """The application writes a record that is sent; it writes another one, deletes a third one, and the process is
    killed before anybody asks for them."""
    link = listening(alice, bob)
    alice.put("sent", 1)
    alice.put("deleted", 2)
    stage.settle()
    ghosts = list(link.updates[-1:])
    link.cut()
    alice.after(1_000).put("not sent", 3)
    alice.delete("deleted")
    alice.reopen(killed=True)
    look(alice)
    if ghosts:
        alice.link(bob).send(*ghosts)
    look(alice)
    alice.observe()


@scenario("37", "29", "56", needs=(pb.CAPABILITY_STORE,), store=True, long=True)
def killed_after_updates(stage: Stage, alice: Actor, bob: ScriptedPeer, carol: ScriptedPeer) -> None:
    """A peer receives records and a deletion, and its process is killed; then it asks, and is asked."""
    link = alice.link(bob)
    link.say(bob.update("one", 1), bob.update("two", 2))
    gone = version(carol, "gone", "there", {carol.peer_id: 1})
    tell(link, version(bob, "gone", None, {bob.peer_id: 1, carol.peer_id: 1}, deleted=True))
    alice.tick()
    stage.settle()
    alice.reopen(killed=True)
    link = alice.link(bob)
    look(alice)
    tell(link, gone, bob.update("three", 3))
    look(alice)
    alice.observe()


@scenario("18", "05", needs=(pb.CAPABILITY_READ_ONLY, pb.CAPABILITY_STORE), store=True, long=True)
def a_reader_is_killed(stage: Stage, rita: Actor, bob: ScriptedPeer, rolf: ScriptedPeer) -> None:
    """The process of a read-only peer is killed after it has received records; then others ask it."""
    rita.link(bob).say(bob.update("one", 1), bob.update("two", 2))
    stage.settle()
    rita.reopen(killed=True)
    listening(rita, rolf)
    stage.settle()
    look(rita)


@scenario("13", "22", "25", "41", "44", "46", "47", needs=(pb.CAPABILITY_STORE,), store=True, long=True)
def records_after_a_restart(stage: Stage, alice: Actor, bob: ScriptedPeer, carol: ScriptedPeer) -> None:
    """A peer receives records with wide numbers, exact times and new keys, and a deletion. Started again, it is asked
    for all of them, and the application changes some."""
    link = alice.link(bob)
    clock = {bob.peer_id: 7, carol.peer_id: 3, stage.peer("dave").peer_id: 1}
    tell(link, version(bob, "crowded", "by three", clock))
    tell(link, bob.update("exact", 1, update_time="2014-03-30T12:35:29.113243778Z"))
    tell(link, version(bob, "old key", 2, {bob.peer_id: 1}, uuid=record_id("moved")))
    tell(link, bob.update("gone", 3))
    stage.advance(1_000)
    tell(link, version(bob, "new key", 2, {bob.peer_id: 2}, uuid=record_id("moved")))
    tell(link, bob.update("gone", deleted=True))
    alice.put("mine", {"number": (1 << 53) + 1})
    alice.after(1_000).put("mine too", [0.1, None, "\u2603"])
    look(alice)
    for number in range(3):
        alice.after(1_000).put("mine", number)
        look(alice)
    bob.revision = WIDE - 1
    tell(link, version(bob, "wide", 4, {bob.peer_id: WIDE}))
    look(alice)
    alice.reopen()
    look(alice)
    alice.observe()
    alice.after(HOUR_MS).put("crowded", "by four")
    alice.put("mine", 5)
    alice.put("gone", 6)
    look(alice)


@scenario("29", "37", needs=(pb.CAPABILITY_STORE,), store=True, long=True)
def what_is_known_after_a_restart(stage: Stage, alice: Actor, bob: ScriptedPeer, carol: ScriptedPeer) -> None:
    """A peer receives records and changes the last one itself. Started again, it asks for updates and receives one."""
    link = alice.link(bob)
    link.say(bob.update("one", 1), carol.update("two", 2), bob.update("three", 3))
    stage.settle()
    alice.after(1_000).put("three", 4)
    stage.settle()
    alice.reopen()
    link = alice.link(bob)
    stage.settle()
    link.say(bob.update("four", 5))
    look(alice)

"""Record changes: a peer sends the changes of its application, and relays those that it receives."""

from __future__ import annotations

from clearskies_proto.testee.v1 import testee_pb2 as pb
from sds_harness.clearskies.script import Part, Peer, Script

from .scripts import request_all, scenario, settle_and_observe, subscribe


@scenario("01", "14", "15", "26", "29", "35")
def changes_spread(script: Script, alice: Part, bob: Peer, carol: Peer) -> None:
    """The application writes two records, changes one and deletes one, while two peers are subscribed."""
    for peer in (bob, carol):
        subscribe(alice, peer)
    alice.put("photo-1", {"camera": "NIKON", "taken": "2014"})
    alice.after(1_000).put("photo-2", {"camera": "Leica"})
    alice.after(1_000).put("photo-1", {"camera": "NIKON", "taken": "2015"})
    alice.after(1_000).delete("photo-2")


@scenario("20", "21", "35", "09")
def changes_are_passed_on(script: Script, alice: Part, bob: Peer, carol: Peer, dave: Peer) -> None:
    """Bob sends a record, a change of it and its deletion, while two other peers are subscribed."""
    link = subscribe(alice, bob)
    for peer in (carol, dave):
        subscribe(alice, peer)
    link.update("door", "open")
    script.advance(1_000)
    link.update("door", "shut")
    script.advance(1_000)
    link.update("door", deleted=True)


@scenario("14", "20", "35", long=True)
def a_crowd_listens(script: Script, alice: Part, bob: Peer) -> None:
    """Twelve peers subscribe; the application writes a record, and Bob sends another one."""
    link = subscribe(alice, bob)
    for number in range(12):
        subscribe(alice, script.peer(f"listener {number}"))
    alice.put("mine", 1)
    link.update("theirs", 2)


@scenario("20", "35", "14", "09")
def a_line_of_three(script: Script, alice: Part, alan: Part, anna: Part) -> None:
    """Changes go from either end of a line of three peers to the other end."""
    alice.link(alan)
    alan.link(anna)
    alice.put("from-alice", 1)
    script.settle()
    anna.put("from-anna", 2)
    script.settle()
    anna.after(1_000).put("from-alice", 3)


@scenario("19", "20")
def an_update_by_two_ways(script: Script, alice: Part, bob: Peer, carol: Peer, dave: Peer) -> None:
    """The same update arrives on two links, and later again on the first link, while Dave is subscribed."""
    first, second = alice.link(bob), alice.link(carol)
    subscribe(alice, dave)
    update = bob.update("door", "open")
    first.send(update)
    second.send(update)
    script.settle()
    first.send(update)


@scenario("22", "23", needs=(pb.CAPABILITY_RENAME,))
def a_record_is_renamed(script: Script, alice: Part, bob: Peer) -> None:
    """The application renames a record, changes it, and writes a new record under the old key."""
    subscribe(alice, bob)
    alice.put("draft", "text")
    script.settle()
    alice.after(1_000).rename("draft", "final")
    request_all(alice)
    alice.after(1_000).put("final", "more text")
    alice.put("draft", "another")


@scenario("22", "02")
def a_record_of_others_is_renamed(script: Script, alice: Part, bob: Peer, carol: Peer) -> None:
    """Bob renames a record of his; then he sends a new record with the old key."""
    link = subscribe(alice, bob)
    subscribe(alice, carol)
    draft = link.update("draft", "text")
    script.advance(1_000)
    link.update("final", "text", after=draft, clock={bob: 2})
    request_all(alice)
    link.update("draft", "another", record="another", clock={bob: 3})
    request_all(alice)


@scenario("27", "46", "26", "23", needs=(pb.CAPABILITY_RENAME,))
def records_of_others_are_renamed_here(script: Script, alice: Part, bob: Peer, carol: Peer) -> None:
    """The application renames two records of Bob, and changes one of them afterwards."""
    subscribe(alice, carol)
    bob.revision = 8
    link = alice.link(bob)
    link.update("draft", "text", clock={bob: 4, carol: 2})
    link.update("note", "short", clock={bob: 5, carol: 3})
    script.settle()
    alice.after(1_000).put("mine", 1)
    alice.after(1_000).rename("draft", "final")
    alice.after(1_000).rename("note", "memo")
    script.settle()
    alice.after(1_000).put("memo", "long")
    request_all(alice)


@scenario("22", "07", needs=(pb.CAPABILITY_RENAME,), long=True)
def renamed_to_unusual_keys(script: Script, alice: Part, bob: Peer) -> None:
    """The application gives records keys with blanks, capitals, NUL, accents and digits, and changes half of them."""
    subscribe(alice, bob)
    keys = ("a blank at the end ", " a blank first", "In Capitals", "a\0b", "stra\xdfe", "folder/", "007", "cle\u0301")
    for number, key in enumerate(keys):
        alice.put(f"old {number}", number)
        alice.after(1_000).rename(f"old {number}", key)
        if number % 2:
            alice.after(1_000).put(key, "changed")
    request_all(alice, observe=True)


@scenario("44", needs=(pb.CAPABILITY_RENAME, pb.CAPABILITY_OBSERVE))
def changes_that_nobody_hears(script: Script, alice: Part) -> None:
    """Without any link, the application writes, changes, renames and deletes a record; each state is observed."""
    alice.put("draft", 1)
    alice.observe()
    alice.after(1_000).put("draft", 2)
    alice.observe()
    alice.after(1_000).rename("draft", "final")
    alice.observe()
    alice.after(1_000).delete("final")
    alice.observe()


@scenario("44", needs=(pb.CAPABILITY_OBSERVE,), long=True)
def a_change_without_its_listener(script: Script, alice: Part, bob: Peer) -> None:
    """The application writes a record for Bob. After his link was cut, it changes the record."""
    link = subscribe(alice, bob)
    alice.put("draft", 1)
    script.settle()
    link.cut()
    alice.observe()
    alice.after(1_000).put("draft", 2)
    alice.observe()


@scenario("20", "35", violated=("14",), store=True)
def changes_are_passed_on_after_a_restart(script: Script, alice: Part, bob: Peer, carol: Peer) -> None:
    """A peer restarts; then Bob sends a change, a record and a deletion, while Carol is subscribed."""
    link = alice.link(bob)
    link.update("door", "open")
    link.update("gate", "open")
    script.settle()
    alice.reopen()
    subscribe(alice, carol)
    link = alice.link(bob)
    script.settle()
    link.update("door", "shut")
    link.update("lamp", "on")
    script.advance(1_000)
    link.update("gate", deleted=True)


@scenario("24", violated=("22",))
def a_record_of_others_gets_the_key_of_another(script: Script, alice: Part, bob: Peer, carol: Peer) -> None:
    """Bob renames two records: to the key of a record of the application, and to the key of a record of Carol."""
    subscribe(alice, carol)
    link = alice.link(bob)
    first, second = link.update("first", 1), link.update("second", 2)
    link.send(carol.update("gate", "open"))
    alice.put("door", "open")
    script.settle()
    script.advance(1_000)
    link.update("door", 1, after=first)
    link.update("gate", 2, after=second)
    settle_and_observe(alice)


@scenario("24", needs=(pb.CAPABILITY_RENAME,))
def a_rename_onto_another(script: Script, alice: Part, bob: Peer) -> None:
    """The application gives a record the key of another record."""
    subscribe(alice, bob)
    alice.put("one", 1)
    alice.after(1_000).put("two", 2)
    alice.after(1_000).rename("one", "two")
    settle_and_observe(alice)


@scenario("18", "05", store=True)
def a_reader_is_started_again(script: Script, rita: Part, bob: Peer, rolf: Peer) -> None:
    """A read-only peer restarts after the writer has left; then others request updates from it."""
    link = rita.link(bob)
    link.update("one", 1)
    link.update("two", 2)
    script.settle()
    rita.reopen()
    subscribe(rita, rolf)
    script.settle()
    request_all(rita)

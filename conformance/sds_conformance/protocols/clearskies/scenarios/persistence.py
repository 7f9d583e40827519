"""Stores: a peer is closed, or its process is killed, and it is opened again."""

from __future__ import annotations

from clearskies_proto.testee.v1 import testee_pb2 as pb
from sds_harness.clearskies.script import Part, Peer, Script

from .conflicts import WIDE, version
from .scripts import HOUR_MS, request_all, scenario, subscribe


@scenario("26", "08", "10", store=True, long=True)
def killed_between_changes(script: Script, alice: Part, bob: Peer) -> None:
    """The process is killed after changes that Bob has received; after a restart the application writes again."""
    subscribe(alice, bob)
    alice.put("one", 1)
    alice.after(1_000).put("two", 2)
    alice.tick()
    alice.reopen(killed=True)
    subscribe(alice, bob)
    alice.after(1_000).put("one", 3)
    alice.after(1_000).put("three", 4)
    request_all(alice, observe=True)


@scenario("37", "56", store=True, long=True)
def killed_before_it_sends(script: Script, alice: Part, bob: Peer) -> None:
    """The process is killed with changes that it has not sent; after a restart others request them."""
    link = subscribe(alice, bob)
    alice.put("sent", 1)
    ghost = alice.put("deleted", 2)
    script.settle()
    link.cut()
    alice.after(1_000).put("not sent", 3)
    alice.delete("deleted")
    alice.reopen(killed=True)
    request_all(alice)
    alice.link(bob).send(ghost)
    request_all(alice, observe=True)


@scenario("37", "29", "56", store=True, long=True)
def killed_after_updates(script: Script, alice: Part, bob: Peer, carol: Peer) -> None:
    """The process is killed after it received records and a deletion; after a restart both ends request updates."""
    link = alice.link(bob)
    link.update("one", 1)
    link.update("two", 2)
    gone = version(carol, "gone", "there", {carol: 1})
    version(link, "gone", None, {bob: 1, carol: 1}, deleted=True)
    alice.tick()
    script.settle()
    alice.reopen(killed=True)
    link = alice.link(bob)
    request_all(alice)
    link.send(gone)
    link.update("three", 3)
    request_all(alice, observe=True)


@scenario("18", "05", store=True, long=True)
def a_reader_is_killed(script: Script, rita: Part, bob: Peer, rolf: Peer) -> None:
    """The process of a read-only peer is killed after it has received records; later it restarts once more."""
    link = rita.link(bob)
    link.update("one", 1)
    link.update("two", 2)
    script.settle()
    rita.reopen(killed=True)
    subscribe(rita, rolf)
    script.settle()
    request_all(rita)
    rita.reopen()
    request_all(rita, read_only=True)


@scenario("13", "22", "25", "41", "44", "46", "47", store=True, long=True)
def records_after_a_restart(script: Script, alice: Part, bob: Peer, carol: Peer) -> None:
    """A peer with wide numbers, exact times, new keys and a deletion restarts, and changes some records."""
    link = alice.link(bob)
    version(link, "crowded", "by three", {bob: 7, carol: 3, "dave": 1})
    link.update("exact", 1, time="2014-03-30T12:35:29.113243778Z")
    version(link, "old key", 2, {bob: 1}, record="moved")
    link.update("gone", 3)
    script.advance(1_000)
    version(link, "new key", 2, {bob: 2}, record="moved")
    link.update("gone", deleted=True)
    alice.put("mine", {"number": (1 << 53) + 1})
    alice.after(1_000).put("mine too", [0.1, None, "\u2603"])
    request_all(alice)
    for number in range(3):
        alice.after(1_000).put("mine", number)
        request_all(alice)
    bob.revision = WIDE - 1
    version(link, "wide", 4, {bob: WIDE})
    request_all(alice)
    alice.reopen()
    request_all(alice, observe=True)
    alice.after(HOUR_MS).put("crowded", "by four")
    alice.put("mine", 5)
    alice.put("gone", 6)
    request_all(alice)


@scenario("39", "46", "52", "54", store=True, long=True)
def concurrent_changes_after_a_restart(script: Script, alice: Part, bob: Peer, carol: Peer, dave: Peer) -> None:
    """A peer restarts with versions that descend from changes of two others, and Dave sends concurrent versions."""
    link = alice.link(bob)
    for key in ("earlier", "later"):
        version(link, key, f"{key} of bob", {bob: 2, carol: 5})
    script.settle()
    alice.reopen()
    request_all(alice)
    link = alice.link(dave)
    for key, time_ms in (("earlier", -HOUR_MS), ("later", HOUR_MS)):
        version(link, key, f"{key} of dave", {bob: 2, dave: 1}, time=time_ms)
    request_all(alice, observe=True)


@scenario("29", "37", store=True, long=True)
def what_is_known_after_a_restart(script: Script, alice: Part, bob: Peer, carol: Peer) -> None:
    """A peer receives records and changes the last one; after a restart it requests updates and receives one more."""
    link = alice.link(bob)
    link.update("one", 1)
    link.send(carol.update("two", 2))
    link.update("three", 3)
    script.settle()
    alice.after(1_000).put("three", 4)
    script.settle()
    alice.reopen()
    link = alice.link(bob)
    script.settle()
    link.update("four", 5)
    request_all(alice)


@scenario("44", store=True, long=True)
def a_change_after_many_sendings(script: Script, alice: Part, bob: Peer, carol: Peer, dave: Peer) -> None:
    """A peer sends a record to six others and restarts; then the application changes this record."""
    peers = (bob, carol, dave)
    for peer in peers:
        subscribe(alice, peer)
    first = alice.put("door", "open")
    for _ in peers:
        request_all(alice)
    alice.reopen()
    for peer in peers:
        subscribe(alice, peer, {alice: first})
    script.settle()
    alice.after(1_000).put("door", "shut")


@scenario("07", "22", needs=(pb.CAPABILITY_RENAME,), store=True, long=True)
def keys_after_a_restart(script: Script, alice: Part, bob: Peer) -> None:
    """The application and Bob rename a record each; the peer restarts, and another peer requests everything."""
    link = subscribe(alice, bob)
    alice.put("draft", "of alice")
    draft = link.update("sketch", "of bob")
    script.settle()
    alice.after(1_000).rename("draft", "final")
    link.update("picture", "of bob", after=draft, clock={bob: 2})
    request_all(alice)
    alice.reopen()
    request_all(alice, observe=True)


@scenario("07", store=True, long=True)
def odd_records_before_a_restart(script: Script, alice: Part, bob: Peer) -> None:
    """A peer restarts with a record that has an empty key, and with one whose value is null."""
    link = alice.link(bob)
    link.update("", "empty key")
    link.update("nothing", None)
    request_all(alice, observe=True)
    alice.reopen()
    request_all(alice, observe=True)


@scenario("07", "18", store=True, long=True)
def letters_of_a_reader_after_a_restart(script: Script, rita: Part, bob: Peer) -> None:
    """A read-only peer restarts with records that have letters of several bytes."""
    rita.link(bob).update("\u2603", "\u043a\U0001f98a")
    request_all(rita)
    rita.reopen()
    request_all(rita)

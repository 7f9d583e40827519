"""Revisions: how a peer counts its changes."""

from __future__ import annotations

from clearskies_proto.testee.v1 import testee_pb2 as pb
from sds_harness.clearskies.script import Numbers, Part, Peer, Script

from .scripts import request_all, scenario, subscribe

WIDE = (1 << 53) + 1
HALF = 1 << 31


@scenario("25", "26", "29")
def changes_before_anybody_asks(script: Script, alice: Part, bob: Peer) -> None:
    """The application makes three changes without any link; then Bob requests all of them."""
    for number in range(3):
        alice.put(f"key-{number}", number)
        script.advance(1_000)
    subscribe(alice, bob)


@scenario("28", "26", "27")
def changes_of_others_between(script: Script, alice: Part, bob: Peer, carol: Peer) -> None:
    """Ten changes of Bob arrive between two changes of the application."""
    link = subscribe(alice, bob)
    subscribe(alice, carol)
    alice.put("mine", 1)
    for number in range(10):
        link.update(f"theirs-{number % 4}", number)
        script.advance(100)
    alice.put("mine", 2)
    alice.put("theirs-1", 3)


@scenario("25", "59", "29")
def wide_revisions(script: Script, alice: Part, bob: Peer, carol: Peer) -> None:
    """Two revisions of Bob exceed 53 bits; the peer requests updates after the first, and Dave requests both."""
    subscribe(alice, carol)
    bob.revision = WIDE - 1
    link = alice.link(bob)
    link.update("door", "open")
    script.settle()
    alice.link(script.peer("erin"))
    link.update("gate", "open")
    request_all(alice)
    subscribe(alice, script.peer("dave"), {bob: WIDE - 1})


@scenario("33")
def wide_revisions_are_sorted(script: Script, alice: Part, bob: Peer, carol: Peer) -> None:
    """Pairs of revisions of Bob and Carol exceed 53 bits; in each pair the larger revision arrives first."""
    links = {peer: alice.link(peer) for peer in (bob, carol)}
    # In each pair, the uuids are in the order of arrival, too.
    for peer, key, revision in (
        (bob, "door", WIDE),
        (carol, "gate", WIDE - 1),
        (carol, "wall", WIDE + 4),
        (bob, "lamp", WIDE + 3),
    ):
        peer.revision = revision - 1
        links[peer].update(key, revision)
        script.settle()
    request_all(alice)


@scenario("59", "29", long=True)
def revisions_beyond_32_bits(script: Script, alice: Part, bob: Peer, carol: Peer) -> None:
    """Revisions of Bob exceed 31 and 32 bits; others request updates after two of them, and the peer requests again."""
    subscribe(alice, carol)
    alice.put("mine", 0)
    link = alice.link(bob)
    for revision in (HALF - 1, HALF, 2 * HALF - 1, 2 * HALF):
        bob.revision = revision - 1
        link.update(f"revision {revision}", 1)
        request_all(alice)
    for revision in (HALF - 1, 2 * HALF - 1):
        subscribe(alice, script.peer(f"asking after {revision}"), {bob: revision})
        script.settle()
    link.cut()
    alice.link(bob)


@scenario("33", "56", violated=("59",), long=True)
def a_deletion_is_the_last_update(script: Script, alice: Part, bob: Peer) -> None:
    """The last changes of Bob and of the application are deletions; requests name their revisions or earlier ones."""
    link = alice.link(bob)
    link.update("kept", 1)
    link.update("gone", 2)
    alice.put("mine", 3)
    gone = alice.put("mine gone", 4)
    request_all(alice)
    script.advance(1_000)
    link.update("gone", deleted=True)
    alice.delete("mine gone")
    request_all(alice)
    requests: tuple[Numbers, ...] = ({bob: 4}, {bob: 3}, {bob: 4, alice: gone})
    for since in requests:
        subscribe(alice, script.peer(script.unique_label("asking")), since)
        script.settle()


@scenario("26", needs=(pb.CAPABILITY_RENAME,), long=True)
def refused_changes(script: Script, alice: Part, bob: Peer) -> None:
    """Between two changes the application deletes and renames missing records, and writes invalid JSON."""
    subscribe(alice, bob)
    alice.put("one", 1)
    alice.delete("nothing")
    alice.rename("nothing", "something")
    alice.put("bad", text="{")
    alice.after(1_000).put("two", 2)
    request_all(alice)


@scenario("15", "26", "07", needs=(pb.CAPABILITY_RENAME,), long=True)
def changes_of_thousands_of_bytes(script: Script, alice: Part, bob: Peer) -> None:
    """Between small writes, the application writes and renames records with values and keys of thousands of bytes."""
    subscribe(alice, bob)
    alice.put("small", 0)
    alice.put("renamed", "x" * 3_000)
    alice.after(1_000).rename("renamed", "k" * 3_000)
    alice.put("small", 1)
    alice.put("letters of two bytes", "\u043a" * 2_000)
    alice.after(1_000).put("small", 2)
    alice.put("key " * 600, "v" * 3_000)
    alice.after(1_000).put("small", 3)
    alice.put("long", "l" * 9_000)
    alice.after(1_000).put("small", 4)
    request_all(alice)


@scenario("10", store=True, long=True)
def its_revisions_come_back(script: Script, alice: Part, bob: Peer) -> None:
    """Three times, a peer loses its store, receives its own changes from Bob, restarts, and writes a record."""
    for last in ("write", "deletion", "overwritten write"):
        link = subscribe(alice, bob)
        changes = [alice.after(1_000).put(f"{last} {number}", number) for number in range(3)]
        if last == "deletion":
            changes.append(alice.after(1_000).delete(f"{last} 1"))
        script.settle()
        if last == "overwritten write":
            changes.insert(0, link.update(f"{last} 2", 4, after=changes[-1], time=1_000))
            script.settle()
        alice.reopen(forget=True)
        alice.link(bob).send(*changes)
        script.settle()
        alice.reopen()
        alice.after(10_000).put(f"after the {last}", 5)
        request_all(alice)


@scenario("10", "26", store=True)
def its_changes_are_written_over(script: Script, alice: Part, bob: Peer) -> None:
    """Bob changes all records of the application; the peer restarts and the application writes another record."""
    link = subscribe(alice, bob)
    written = (("one", alice.put("one", 1)), ("two", alice.after(1_000).put("two", 2)))
    script.settle()
    for key, message in written:
        link.update(key, 3, after=message, time=1_000)
    script.settle()
    request_all(alice)
    alice.reopen()
    alice.after(10_000).put("three", 4)
    request_all(alice)

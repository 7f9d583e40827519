"""Hundreds of members in clocks and requests, hundreds of records, and members with similar names."""

from __future__ import annotations

from sds_harness.clearskies.script import Part, Peer, Script

from .conflicts import HALF, WIDEST, link_with_record, send_versions_of_many
from .scripts import request_all, scenario, subscribe


@scenario("12", "41", "46", "50", "52", long=True)
def clocks_with_hundreds_of_members(script: Script, alice: Part, bob: Peer, carol: Peer) -> None:
    """Vector clocks of three hundred members differ only in the last numbers; then the application changes a record."""
    subscribe(alice, carol)
    send_versions_of_many(link_with_record(alice, bob), carol, 300)
    request_all(alice)
    alice.after(1_000).put("first descendant", "of alice")
    request_all(alice, observe=True)


@scenario("32", "34", "59", violated=("34",), long=True)
def requests_with_hundreds_of_members(script: Script, alice: Part, bob: Peer) -> None:
    """Peers request the updates after the last or the second last revision of each of 120 writers."""
    link = alice.link(bob)
    writers = [script.peer(f"writer {number}") for number in range(120)]
    for writer in writers:
        writer.revision = 6
    link.send(*(writer.update(f"record {number}", number) for number, writer in enumerate(writers)))
    script.settle()
    subscribe(alice, script.peer("up to date"), dict.fromkeys(writers, 7))
    script.settle()
    subscribe(alice, script.peer("one behind"), {writer: 7 - (writer is writers[-1]) for writer in writers})
    script.settle()
    subscribe(alice, script.peer("all behind"), dict.fromkeys(writers, 6))


@scenario("25", "59", long=True)
def revisions_at_the_end(script: Script, alice: Part, bob: Peer, carol: Peer) -> None:
    """Revisions of Bob go up to the largest number of 63 bits; others request the updates after each large revision."""
    subscribe(alice, carol)
    link = alice.link(bob)
    for revision in (2 * HALF + 4, WIDEST - 1, WIDEST):
        bob.revision = revision - 1
        link.update(f"revision {revision}", 1)
        script.settle()
    for number, since in enumerate((2 * HALF + 3, 2 * HALF + 4, WIDEST - 1, WIDEST)):
        subscribe(alice, script.peer(f"asking {number}"), {bob: since})
        script.settle()
    request_all(alice)


@scenario("02", "07", "13", long=True)
def members_with_similar_names(script: Script, alice: Part, bob: Peer, carol: Peer) -> None:
    """Updates have unknown members whose names differ from known ones in case, or in their beginning or end."""
    subscribe(alice, carol)
    link = alice.link(bob)
    link.update("plain", 1)
    request_all(alice)
    link.update("cases", 1, members={"Key": "another", "VALUE": 2, "Deleted": True, "Type": "database.get_updates"})
    link.update("names", 1, members={"_key": "another", "value_": 2, "is_deleted": True, "rev": 1, "by": "", "": 0})
    link.update("nested", 1, members={"record": {"key": "another", "value": 2, "deleted": True, "uuid": "0"}})
    request_all(alice, observe=True)


@scenario("29", "37", "10", store=True, long=True)
def a_restart_after_hundreds_of_updates(script: Script, alice: Part, bob: Peer, carol: Peer) -> None:
    """A peer restarts after two hundred updates of others and some of its own."""
    link = alice.link(bob)
    for number in range(200):
        link.update(f"record {number % 150}", number)
    for number in range(30):
        alice.put(f"own record {number % 20}", number)
    request_all(alice)
    alice.reopen()
    alice.link(carol).update("of carol", 1)
    request_all(alice)
    alice.after(1_000).put("own record 0", "again")
    request_all(alice)


@scenario("07", "02", long=True)
def keys_of_thousands_of_letters(script: Script, alice: Part, bob: Peer, carol: Peer) -> None:
    """Pairs of keys have two or four thousand equal letters, and differ only in the last letter."""
    subscribe(alice, carol)
    link = alice.link(bob)
    for length in (2_000, 4_000):
        for end in ("a", "b"):
            link.update("k" * length + end, end)
            alice.put("o" * length + end, end)
    request_all(alice, observe=True)

"""Access levels and signatures: which changes are accepted and relayed, and which are forged."""

from __future__ import annotations

from clearskies_proto.testee.v1 import testee_pb2 as pb
from sds_harness.clearskies.operations import SIGNATURES_OF_OTHER_TEXTS
from sds_harness.clearskies.script import Part, Peer, Script

from .scripts import HOUR_MS, request_all, scenario, subscribe


@scenario("02", "17")
def a_writer_to_a_writer(script: Script, alice: Part, bob: Peer, carol: Peer) -> None:
    """A read-write peer sends another read-write peer records and a deletion, one by one, some of them signed."""
    subscribe(alice, carol)
    link = alice.link(bob)
    link.update("one", 1)
    link.update("two", 2, signature="read-write")
    link.update("three", 3)
    request_all(alice)
    script.advance(1_000)
    link.update("one", 4, signature="read-write")
    link.update("two", deleted=True)
    request_all(alice)


@scenario("02", "05", "18")
def a_writer_to_a_reader(script: Script, rita: Part, bob: Peer, rolf: Peer) -> None:
    """A read-only peer receives signed records and a deletion, and relays them to another read-only peer."""
    link = rita.link(bob)
    subscribe(rita, rolf)
    link.update("one", 1)
    link.update("two", "\u2603")
    request_all(rita, read_only=True)
    link.update("one", deleted=True)
    request_all(rita)


@scenario("03")
def a_reader_is_told_to_write(script: Script, rita: Part, bob: Peer, carol: Peer) -> None:
    """The application of a read-only peer tries to write, to change and to delete."""
    subscribe(rita, carol)
    rita.link(bob).update("theirs", 1)
    rita.put("mine", 1)
    rita.put("theirs", 2)
    rita.delete("theirs")
    request_all(rita, read_only=True)


@scenario("03", needs=(pb.CAPABILITY_RENAME,))
def a_reader_is_told_to_rename(script: Script, rita: Part, bob: Peer, carol: Peer) -> None:
    """The application of a read-only peer tries to rename a record."""
    subscribe(rita, carol)
    rita.link(bob).update("theirs", 1)
    rita.rename("theirs", "ours")
    request_all(rita, read_only=True)


@scenario("03")
def a_reader_writes_to_a_writer(script: Script, alice: Part, bob: Peer, rolf: Peer) -> None:
    """A read-only peer sends own changes: unsigned, then signed with the key of its level."""
    alice.link(bob).update("good", 1)
    alice.link(rolf).update("bad", 1)
    request_all(alice)
    alice.link(rolf).update("worse", 2, signature="read-only")
    request_all(alice)


@scenario("03")
def a_reader_writes_to_a_reader(script: Script, rita: Part, bob: Peer, rolf: Peer) -> None:
    """A read-only peer sends its own changes to a read-only peer: unsigned, then signed with the key of its level."""
    rita.link(bob).update("good", 1)
    rita.link(rolf).update("bad", 1)
    request_all(rita, read_only=True)
    rita.link(rolf).update("worse", 2, signature="read-only")
    request_all(rita, read_only=True)


@scenario("03", "02")
def a_reader_passes_on(script: Script, alice: Part, bob: Peer, rolf: Peer) -> None:
    """A read-only peer relays a record that a writer has signed, and then one without a signature."""
    alice.link(rolf).send(bob.update("good", 1, signature="read-write"))
    request_all(alice)
    alice.link(rolf).send(bob.update("bad", 2))
    request_all(alice)


@scenario("05", "02", "18")
def readers_among_themselves(script: Script, rita: Part, rosa: Part, bob: Peer, ruth: Peer) -> None:
    """Records of a writer that has left go from one read-only peer to a second and a third one."""
    link = rita.link(bob)
    link.update("one", 1)
    link.update("two", 2)
    link.cut()
    rita.link(rosa)
    script.settle()
    subscribe(rosa, ruth)
    script.settle()
    rita.link(bob).update("one", 3)


@scenario("06")
def a_forged_update_for_a_reader(script: Script, rita: Part, bob: Peer, carol: Peer, dave: Peer, rolf: Peer) -> None:
    """A read-only peer receives a valid update, one with a changed body, and one with a changed signature."""
    link = rita.link(bob)
    link.update("good", "one")
    subscribe(rita, rolf)
    link.send(carol.update("bad", "two", signature="read-write").altered)
    request_all(rita, read_only=True)
    rita.link(bob).send(dave.update("worse", "three", signature="forged"))
    request_all(rita, read_only=True)


@scenario("06")
def a_forged_update_of_somebody_known(script: Script, rita: Part, bob: Peer, rolf: Peer) -> None:
    """A read-only peer receives two altered updates of a known writer, and later one of them unaltered."""
    link = rita.link(bob)
    link.update("good", 1)
    request_all(rita, read_only=True)
    bad, better = (bob.update(key, 2, signature="read-write") for key in ("bad", "better"))
    for message in (bad, better):
        rita.link(rolf).send(message.altered)
        request_all(rita, read_only=True)
    link.send(better)
    request_all(rita, read_only=True)


@scenario("03")
def a_reader_signs_for_a_writer(script: Script, rita: Part, bob: Peer, carol: Peer, rolf: Peer) -> None:
    """A read-only peer sends a change in the name of a writer, signed with the key of its own level."""
    rita.link(bob).update("good", 1)
    request_all(rita, read_only=True)
    rita.link(rolf).send(carol.update("bad", 2, signature="read-only"))
    request_all(rita, read_only=True)


@scenario("06")
def a_forged_update_for_a_writer(script: Script, alice: Part, bob: Peer, carol: Peer, dave: Peer, rolf: Peer) -> None:
    """A read-only peer relays a signed update with a changed body to a read-write peer."""
    alice.link(bob).update("good", "one")
    subscribe(alice, carol)
    alice.link(rolf).send(dave.update("bad", "two", signature="read-write").altered)
    request_all(alice)


@scenario("06")
def forged_changes_for_a_reader(script: Script, rita: Part, bob: Peer, rolf: Peer) -> None:
    """A read-only peer receives an altered change and an altered deletion of known records from a read-only peer."""
    _forge_changes(rita, bob, rolf)


@scenario("06")
def forged_changes_for_a_writer(script: Script, alice: Part, bob: Peer, rolf: Peer) -> None:
    """A read-write peer receives an altered change and an altered deletion of known records from a read-only peer."""
    _forge_changes(alice, bob, rolf)


def _forge_changes(part: Part, bob: Peer, rolf: Peer) -> None:
    link = part.link(bob)
    link.update("one", 1)
    link.update("two", 2)
    request_all(part, read_only=True)
    changes = (
        bob.update("one", 3, signature="read-write"),
        bob.update("two", deleted=True, signature="read-write"),
    )
    for change in changes:
        part.link(rolf).send(change.altered)
        request_all(part, read_only=True)


@scenario("06", store=True)
def forged_updates_after_a_restart(script: Script, rita: Part, bob: Peer, carol: Peer, rolf: Peer) -> None:
    """A read-only peer restarts, and receives a valid update, an altered change and an altered update."""
    rita.link(bob).update("one", 1)
    script.settle()
    rita.reopen()
    rita.link(bob).update("two", 2)
    request_all(rita, read_only=True)
    for message in (bob.update("one", 3, signature="read-write"), carol.update("bad", 4, signature="read-write")):
        rita.link(rolf).send(message.altered)
        request_all(rita, read_only=True)


@scenario("06")
def an_empty_signature(script: Script, alice: Part, bob: Peer, carol: Peer, rolf: Peer) -> None:
    """A read-only peer sends a read-write peer an update of a writer with an empty signature."""
    alice.link(bob).update("good", 1)
    subscribe(alice, carol)
    alice.link(rolf).send(bob.update("bad", 2, signature="empty"))
    request_all(alice)


@scenario("16")
def an_unsigned_update_for_a_reader(script: Script, rita: Part, bob: Peer, dave: Peer, rolf: Peer) -> None:
    """A writer sends a read-only peer unsigned updates: one of its own, and one of another writer."""
    rita.link(bob).update("good", 1)
    subscribe(rita, rolf)
    rita.link(bob).update("bad", 2, signature="none")
    request_all(rita, read_only=True)
    rita.link(bob).send(dave.update("worse", 3, signature="none"))
    request_all(rita, read_only=True)


@scenario("16")
def unsigned_changes_for_a_reader(script: Script, rita: Part, bob: Peer) -> None:
    """A writer sends a read-only peer a change and a deletion of known records without signatures."""
    link = rita.link(bob)
    link.update("one", 1)
    link.update("two", 2)
    request_all(rita, read_only=True)
    rita.link(bob).update("one", 3, signature="none")
    request_all(rita, read_only=True)
    rita.link(bob).update("two", deleted=True, signature="none")
    request_all(rita, read_only=True, observe=True)


@scenario("03")
def a_reader_changes_what_is_there(script: Script, alice: Part, bob: Peer, rolf: Peer) -> None:
    """A read-only peer sends an unsigned change and an unsigned deletion of known records."""
    link = alice.link(bob)
    link.update("one", 1)
    link.update("two", 2)
    request_all(alice)
    alice.link(rolf).send(bob.update("one", 3))
    request_all(alice)
    alice.link(rolf).send(bob.update("two", deleted=True))
    request_all(alice)


@scenario("16", "14", "20")
def a_writer_has_readers(script: Script, alice: Part, bob: Peer, rolf: Peer) -> None:
    """A read-only peer requests updates from a writer; changes of this writer and of another writer follow."""
    alice.put("old", 0)
    alice.put("older", 0)
    subscribe(alice, rolf)
    alice.put("mine", 1)
    link = alice.link(bob)
    link.update("theirs", 2)
    link.update("signed", 3, signature="read-write")
    alice.after(1_000).put("mine", 3)
    alice.delete("old")
    request_all(alice, read_only=True)


@scenario("06")
def signatures_of_other_texts(script: Script, rita: Part, bob: Peer, carol: Peer, rolf: Peer, ruth: Peer) -> None:
    """A read-only peer gets updates with signatures of bodies that differ in the order of members, or in blanks."""
    subscribe(rita, ruth)
    _sign_other_texts(rita, bob, carol, rolf)


@scenario("06")
def signatures_of_other_texts_for_a_writer(
    script: Script, alice: Part, bob: Peer, carol: Peer, rolf: Peer, ruth: Peer
) -> None:
    """A read-only peer sends updates with signatures of bodies that differ in the order of members, or in blanks."""
    subscribe(alice, ruth)
    _sign_other_texts(alice, bob, carol, rolf)


def _sign_other_texts(part: Part, bob: Peer, carol: Peer, rolf: Peer) -> None:
    part.link(bob).update("good", "one")
    request_all(part, read_only=True)
    for signature in SIGNATURES_OF_OTHER_TEXTS:
        part.link(rolf).send(bob.update(f"good, {signature}", "two", signature="read-write"))
        part.script.settle()
        part.link(rolf).send(carol.update(f"bad-{signature}", {"b": 1, "a": [1, 2]}, signature=signature))
        request_all(part, read_only=True)
    part.link(rolf).send(bob.update("good", "bad", signature="reordered"))
    request_all(part, read_only=True)


@scenario("16", "02")
def altered_updates_between_writers(script: Script, alice: Part, bob: Peer, carol: Peer, rolf: Peer) -> None:
    """A read-write peer sends signed updates, one of them altered, while a read-only peer is subscribed."""
    subscribe(alice, rolf)
    link = alice.link(bob)
    link.send(carol.update("good", 1, signature="read-write"))
    request_all(alice, read_only=True)
    link.send(carol.update("altered", 2, signature="read-write").altered)
    request_all(alice, read_only=True)


@scenario("06", long=True)
def a_forgery_after_many_updates(script: Script, rita: Part, bob: Peer, dave: Peer, rolf: Peer) -> None:
    """Forty valid updates of two writers are followed by forged ones: with the next revision, and with an old one."""
    link = rita.link(rolf)
    link.send(*(bob.update(f"record {number}", number, signature="read-write") for number in range(40)))
    dave.revision = 20
    link.send(dave.update("of dave", 1, signature="read-write"))
    request_all(rita, read_only=True)
    link.ask()
    link.send(bob.update("forged", "bad", signature="read-write").altered)
    request_all(rita, read_only=True)
    dave.revision = 9
    rita.link(rolf).send(dave.update("early", "bad", signature="read-write").altered)
    request_all(rita, read_only=True)


@scenario("06")
def forgeries_in_the_name_of_a_reader(script: Script, rita: Part, bob: Peer, carol: Peer, rolf: Peer) -> None:
    """A read-only peer receives altered updates that name it as the last writer."""
    link = rita.link(bob)
    link.update("one", 1)
    request_all(rita, read_only=True)
    script.advance(1_000)
    for number, key in enumerate(("one", "new")):
        forged = carol.update(key, "bad", poses_as="rita", revision=7 + number, signature="read-write")
        rita.link(rolf).send(forged.altered)
        request_all(rita, read_only=True)
    rita.observe()


@scenario("06", "03", long=True)
def forgeries_in_the_name_of_the_receiver(script: Script, alice: Part, bob: Peer, carol: Peer, rolf: Peer) -> None:
    """A read-only peer sends altered and unsigned updates that name the receiver as the last writer."""
    link = subscribe(alice, bob)
    link.update("one", 1)
    mine = alice.put("mine", 1)
    request_all(alice)
    script.advance(1_000)
    for number, signature in enumerate(("read-write", "none", "read-only")):
        for key in ("mine", "one", f"new {number}"):
            forged = carol.update(
                key,
                "bad",
                poses_as="alice",
                revision=20 + number,
                signature=signature,
                time=HOUR_MS,
                **({"after": mine} if key == "mine" else {}),
            )
            alice.link(rolf).send(forged.altered if signature == "read-write" else forged)
            request_all(alice)
    alice.observe()
    alice.put("mine too", 2)
    request_all(alice)

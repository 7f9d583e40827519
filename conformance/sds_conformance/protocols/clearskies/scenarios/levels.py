"""Access levels and signatures: whose changes are taken, and who passes them on."""

from __future__ import annotations

from sds_harness.clearskies.clubs import READ_ONLY
from sds_harness.clearskies.frames import Frame

from .cast import Actor, ScriptedPeer, Stage, listening, look, scenario


@scenario("02", "17")
def a_writer_to_a_writer(stage: Stage, alice: Actor, bob: ScriptedPeer, carol: ScriptedPeer) -> None:
    """A read-write peer makes three records and deletes one, the half of it signed; each change comes by itself."""
    listening(alice, carol)
    link = alice.link(bob)
    link.say(bob.update("one", 1))
    link.say(bob.sign(bob.update("two", 2)))
    link.say(bob.update("three", 3))
    look(alice)
    stage.advance(1_000)
    link.say(bob.sign(bob.update("one", 4)))
    link.say(bob.update("two", deleted=True))
    look(alice)


@scenario("02", "05", "18")
def a_writer_to_a_reader(stage: Stage, rita: Actor, bob: ScriptedPeer, rolf: ScriptedPeer) -> None:
    """A read-only peer hears of records and of a deletion, signed, and passes them on to another one."""
    link = rita.link(bob)
    listening(rita, rolf)
    link.say(bob.update("one", 1))
    link.say(bob.update("two", 2))
    look(rita, read_only=True)
    link.say(bob.update("one", deleted=True))
    look(rita)


@scenario("03")
def a_reader_is_told_to_write(stage: Stage, rita: Actor, bob: ScriptedPeer, carol: ScriptedPeer) -> None:
    """The application of a read-only peer writes, changes and deletes, or tries to."""
    listening(rita, carol)
    rita.link(bob).say(bob.update("theirs", 1))
    rita.put("mine", 1)
    rita.put("theirs", 2)
    rita.delete("theirs")
    look(rita, read_only=True)


@scenario("03")
def a_reader_writes_to_a_writer(stage: Stage, alice: Actor, bob: ScriptedPeer, rolf: ScriptedPeer) -> None:
    """A read-only peer sends a change of its own: without a signature, then with that of its level."""
    alice.link(bob).say(bob.update("good", 1))
    alice.link(rolf).send(rolf.update("bad", 1))
    look(alice)
    alice.link(rolf).send(rolf.sign(rolf.update("worse", 2), READ_ONLY))
    look(alice)


@scenario("03")
def a_reader_writes_to_a_reader(stage: Stage, rita: Actor, bob: ScriptedPeer, rolf: ScriptedPeer) -> None:
    """A read-only peer sends a change of its own to another one, unsigned and signed by its level."""
    rita.link(bob).say(bob.update("good", 1))
    rita.link(rolf).send(rolf.update("bad", 1))
    look(rita, read_only=True)
    rita.link(rolf).send(rolf.sign(rolf.update("worse", 2), READ_ONLY))
    look(rita, read_only=True)


@scenario("03", "02")
def a_reader_passes_on(stage: Stage, alice: Actor, bob: ScriptedPeer, rolf: ScriptedPeer) -> None:
    """A read-only peer passes on what a read-write one has signed, and then a record of that without its signature."""
    alice.link(rolf).send(bob.sign(bob.update("good", 1)))
    look(alice)
    alice.link(rolf).send(bob.update("bad", 2))
    look(alice)


@scenario("05", "02", "18")
def readers_among_themselves(stage: Stage, rita: Actor, rosa: Actor, bob: ScriptedPeer, ruth: ScriptedPeer) -> None:
    """What a read-write peer has told one read-only peer goes on to a second and a third one when it is gone."""
    link = rita.link(bob)
    link.say(bob.update("one", 1), bob.update("two", 2))
    link.cut()
    rita.link(rosa)
    stage.settle()
    listening(rosa, ruth)
    stage.settle()
    link = rita.link(bob)
    link.say(bob.update("one", 3))


def altered(frame: Frame) -> Frame:
    """A message with the signature that it had, and another digit at the end of its time."""
    return frame.flipped(frame.body.rindex(b'Z"') - 1)


@scenario("06")
def a_forged_update_for_a_reader(
    stage: Stage, rita: Actor, bob: ScriptedPeer, carol: ScriptedPeer, dave: ScriptedPeer, rolf: ScriptedPeer
) -> None:
    """A read-only peer hears a signed update, then two of others: one altered, one with the signature altered."""
    link = rita.link(bob)
    link.say(bob.update("good", "one"))
    listening(rita, rolf)
    link.send(altered(carol.sign(carol.update("bad", "two"))))
    look(rita, read_only=True)
    rita.link(bob).send(dave.sign(dave.update("worse", "three")).forged())
    look(rita, read_only=True)


@scenario("06")
def a_forged_update_of_somebody_known(stage: Stage, rita: Actor, bob: ScriptedPeer, rolf: ScriptedPeer) -> None:
    """A read-only peer hears a signed update; then another one passes on two of the same writer that it has altered,
    and at last the second one comes as it was."""
    link = rita.link(bob)
    link.say(bob.update("good", 1))
    look(rita, read_only=True)
    bad, better = (bob.sign(bob.update(key, 2)) for key in ("bad", "better"))
    for frame in (bad, better):
        rita.link(rolf).send(altered(frame))
        look(rita, read_only=True)
    link.say(better)
    look(rita, read_only=True)


@scenario("03")
def a_reader_signs_for_a_writer(
    stage: Stage, rita: Actor, bob: ScriptedPeer, carol: ScriptedPeer, rolf: ScriptedPeer
) -> None:
    """A read-only peer passes on a change in the name of a read-write one, with the signature of its own level."""
    rita.link(bob).say(bob.update("good", 1))
    look(rita, read_only=True)
    rita.link(rolf).send(carol.sign(carol.update("bad", 2), READ_ONLY))
    look(rita, read_only=True)


@scenario("06")
def a_forged_update_for_a_writer(
    stage: Stage, alice: Actor, bob: ScriptedPeer, carol: ScriptedPeer, dave: ScriptedPeer, rolf: ScriptedPeer
) -> None:
    """A read-only peer passes on a signed update of which it has altered a byte, to a read-write one."""
    alice.link(bob).say(bob.update("good", "one"))
    listening(alice, carol)
    alice.link(rolf).send(altered(dave.sign(dave.update("bad", "two"))))
    look(alice)


@scenario("16")
def an_unsigned_update_for_a_reader(
    stage: Stage, rita: Actor, bob: ScriptedPeer, dave: ScriptedPeer, rolf: ScriptedPeer
) -> None:
    """A read-write peer sends a read-only one updates without a signature: one of its own, one of another writer."""
    rita.link(bob).say(bob.update("good", 1))
    listening(rita, rolf)
    rita.link(bob).send(bob.update("bad", 2))
    look(rita, read_only=True)
    rita.link(bob).send(dave.update("worse", 3))
    look(rita, read_only=True)


@scenario("16")
def unsigned_changes_for_a_reader(stage: Stage, rita: Actor, bob: ScriptedPeer) -> None:
    """A read-write peer changes what a read-only one has, and deletes it, without a signature."""
    rita.link(bob).say(bob.update("one", 1), bob.update("two", 2))
    look(rita, read_only=True)
    rita.link(bob).send(bob.update("one", 3))
    look(rita, read_only=True)
    rita.link(bob).send(bob.update("two", deleted=True))
    look(rita, read_only=True)
    rita.observe()


@scenario("03")
def a_reader_changes_what_is_there(stage: Stage, alice: Actor, bob: ScriptedPeer, rolf: ScriptedPeer) -> None:
    """A read-only peer passes on changes of what a read-write one has, and a deletion, without a signature."""
    alice.link(bob).say(bob.update("one", 1), bob.update("two", 2))
    look(alice)
    alice.link(rolf).send(bob.update("one", 3))
    look(alice)
    alice.link(rolf).send(bob.update("two", deleted=True))
    look(alice)


@scenario("16", "14", "20")
def a_writer_has_readers(stage: Stage, alice: Actor, bob: ScriptedPeer, rolf: ScriptedPeer) -> None:
    """A read-only peer asks a read-write one, and gets its changes and those of another one, with signatures. Then
    somebody reads all that is there."""
    alice.put("old", 0)
    alice.put("older", 0)
    listening(alice, rolf)
    alice.put("mine", 1)
    alice.link(bob).say(bob.update("theirs", 2), bob.sign(bob.update("signed", 3)))
    alice.after(1_000).put("mine", 3)
    alice.delete("old")
    look(alice, read_only=True)

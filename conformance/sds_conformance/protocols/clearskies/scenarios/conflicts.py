"""Vector clocks and conflicts."""

from __future__ import annotations

import json
from typing import Any

from clearskies_proto.testee.v1 import testee_pb2 as pb
from sds_harness.clearskies.clubs import record_id
from sds_harness.clearskies.frames import Frame
from sds_harness.clearskies.links import ScriptedLink
from sds_harness.clearskies.peer import iso

from .cast import Actor, ScriptedPeer, Stage, listening, look, scenario

HOUR_MS = 3_600_000
WIDE = (1 << 53) + 1
HALF = 1 << 31
"""A signed integer of 32 bits does not hold it."""
WIDEST = (1 << 63) - 1


def version(peer: ScriptedPeer, key: str, value: Any, clock: dict[str, int], **more: Any) -> Frame:
    """A version of the one record that all scripted peers know under a key, with a clock that is given outright."""
    return peer.update(key, value, **{"uuid": record_id(key), "vector_clock": clock, **more})


def tell(link: ScriptedLink, *frames: Frame) -> None:
    """Say one after the other, for as long as the peer listens."""
    for frame in frames:
        if not link.broken:
            link.say(frame)


@scenario("50", "55", "49", "48", "47")
def one_descends_from_the_other(stage: Stage, alice: Actor, bob: ScriptedPeer, carol: ScriptedPeer) -> None:
    """A record is changed by who has heard of it, with a clock that is an hour behind; of others, which come newest
    first, the older ones are dated an hour later or earlier, one with another key; and one comes with a clock that is
    there already."""
    from_carol = alice.link(carol)
    told = listening(alice, bob)
    tell(from_carol, carol.update("lamp", "on"))
    alice.after(1_000).put("door", "open")
    stage.settle()
    for message in told.updates[-1:]:
        tell(told, bob.update("door", "shut", after=message, at_ms=stage.now_ms - HOUR_MS))
    for key, old_key, later_ms in (("gate", "gate", HOUR_MS), ("bell", "old bell", -HOUR_MS)):
        tell(told, version(bob, key, "new", {carol.peer_id: 1, bob.peer_id: 1}))
        old = version(carol, old_key, "old", {carol.peer_id: 1}, at_ms=stage.now_ms + later_ms, uuid=record_id(key))
        tell(from_carol, old)
    clock = {bob.peer_id: 1, carol.peer_id: 1}
    tell(told, version(bob, "roof", "whole", clock))
    tell(from_carol, version(carol, "roof", "open", clock, at_ms=stage.now_ms - HOUR_MS))
    look(alice)
    alice.observe()


@scenario("39", "51", "54", "52", "46")
def neither_descends_from_the_other(stage: Stage, alice: Actor, bob: ScriptedPeer, carol: ScriptedPeer) -> None:
    """Bob and Carol have changed seven records at the same time: the later change comes first or last, later by an
    hour, by half a second, by ten years, or written with fewer digits, and one is a deletion. Then two are changed
    once more."""
    told = alice.link(bob)
    tell(told, bob.update("lamp", "on"))
    early, late = iso(stage.now_ms - 2 * HOUR_MS), iso(stage.now_ms - HOUR_MS)
    times = (
        ("first", late, early),
        ("last", early, late),
        ("digits", "2014-02-23T23:45:39.5Z", "2014-02-23T23:45:39Z"),
        ("halves", "2014-02-23T23:45:39.25Z", "2014-02-23T23:45:39.75Z"),
        ("far", "2031-01-01T00:00:00Z", "2041-01-01T00:00:00Z"),
        ("edited", late, early),
        ("deleted", early, late),
    )
    for key, one, other in times:
        tell(told, version(bob, key, "of bob", {bob.peer_id: 2}, update_time=one))
        clock, deleted = {bob.peer_id: 1, carol.peer_id: 1}, key in ("edited", "deleted")
        tell(told, version(carol, key, "of carol", clock, update_time=other, deleted=deleted))
    look(alice)
    alice.observe()
    for key, _, _ in times[:2]:
        alice.put(key, "of alice")
    look(alice)


@scenario("26", "54")
def a_conflict_between_two_changes(stage: Stage, alice: Actor, bob: ScriptedPeer) -> None:
    """Alice's record comes back as Bob has changed it at the same time, later; then she writes another one."""
    told = listening(alice, bob)
    alice.put("door", "open")
    stage.settle()
    for message in told.updates[-1:]:
        uuid, clock = message.body.members.get("uuid"), {bob.peer_id: 1}
        tell(told, version(bob, "door", "shut", clock, uuid=uuid, at_ms=stage.now_ms + HOUR_MS))
    stage.settle()
    alice.observe()
    alice.after(1_000).put("window", "open")
    stage.settle()


@scenario("54", long=True)
def times_in_conflict(stage: Stage, alice: Actor, bob: ScriptedPeer, carol: ScriptedPeer, dave: ScriptedPeer) -> None:
    """Bob and Carol have changed records at the same time, with times that have offsets, and one to nine digits.
    Somebody listens."""
    listening(alice, dave)
    told = alice.link(bob)
    tell(told, bob.update("lamp", "on"))
    times = (
        ("east", "2014-02-23T23:45:39+05:30", "2014-02-23T20:00:00Z"),
        ("west", "2014-02-23T20:45:39-08:00", "2014-02-23T23:00:00Z"),
        ("both", "2014-02-23T23:30:00+02:00", "2014-02-23T22:00:00-03:00"),
        ("half", "2014-02-23T23:45:39.5Z", "2014-02-23T23:45:39.45Z"),
        ("nine", "2014-02-23T23:45:39.123456789Z", "2014-02-23T23:45:39.123456788Z"),
        ("last nine", "2014-02-23T23:45:39.123456788Z", "2014-02-23T23:45:39.123456789Z"),
        ("one", "2014-02-23T23:45:39.09Z", "2014-02-23T23:45:39.1Z"),
        ("long", "2014-02-23T23:45:39.999999999Z", "2014-02-23T23:45:45Z"),
    )
    for key, one, other in times:
        tell(told, version(bob, key, "of bob", {bob.peer_id: 2}, update_time=one))
        clock = {bob.peer_id: 1, carol.peer_id: 1}
        tell(told, version(carol, key, "of carol", clock, update_time=other))
    look(alice)
    alice.observe()


@scenario("51", "54", long=True)
def one_conflict_after_the_other(
    stage: Stage, alice: Actor, bob: ScriptedPeer, carol: ScriptedPeer, dave: ScriptedPeer
) -> None:
    """Bob and Carol change a record at the same time, then Bob changes the outcome. Dave knows nothing of that,
    and changes it as well: later or earlier, and with the smaller clock."""
    told = alice.link(bob)
    tell(told, bob.update("lamp", "on"))
    for key, later_ms in (("door", HOUR_MS), ("gate", -HOUR_MS)):
        for peer, clock in (
            (bob, {bob.peer_id: 2}),
            (carol, {bob.peer_id: 1, carol.peer_id: 1}),
            (bob, {bob.peer_id: 9, carol.peer_id: 1, alice.peer_id: 9}),
        ):
            tell(told, version(peer, key, f"of {peer.name}", clock))
            stage.advance(1_000)
        look(alice)
        clock = {bob.peer_id: 1, dave.peer_id: 1}
        tell(told, version(dave, key, "of dave", clock, at_ms=stage.now_ms + later_ms))
        look(alice)
    alice.observe()


@scenario("43", long=True)
def zeros_in_clocks(stage: Stage, alice: Actor, bob: ScriptedPeer, carol: ScriptedPeer) -> None:
    """Records come newest first, with a zero in the clock of the older version or of the newer one; the older versions
    are dated later."""
    told = alice.link(bob)
    tell(told, bob.update("lamp", "on"))
    for key, old, new in (
        ("first", {bob.peer_id: 1, carol.peer_id: 0}, {bob.peer_id: 2}),
        ("last", {bob.peer_id: 1}, {bob.peer_id: 2, carol.peer_id: 0}),
    ):
        tell(told, version(bob, key, "new", new))
        tell(told, version(bob, key, "old", old, at_ms=stage.now_ms + HOUR_MS))
    look(alice)
    alice.observe()


@scenario("41", "44", long=True)
def its_own_number_is_large(stage: Stage, alice: Actor, bob: ScriptedPeer) -> None:
    """A record comes in whose clock the peer has the largest number of 31 bits; the application changes it twice."""
    link = listening(alice, bob)
    clock = {alice.peer_id: HALF - 1, bob.peer_id: 1}
    tell(link, version(bob, "door", "open", clock))
    look(alice)
    alice.after(1_000).put("door", "shut")
    alice.after(1_000).put("door", "ajar")
    look(alice)


@scenario("54", long=True)
def two_keys_in_conflict(stage: Stage, alice: Actor, bob: ScriptedPeer, carol: ScriptedPeer) -> None:
    """Bob and Carol have given records two keys at the same time, and one of them has deleted the half of them."""
    told = alice.link(bob)
    tell(told, bob.update("lamp", "on"))
    early, late = iso(stage.now_ms - 2 * HOUR_MS), iso(stage.now_ms - HOUR_MS)
    for number, (one, other) in enumerate(((early, late), (late, early)) * 3):
        uuid = record_id(f"record {number} of two keys")
        gone = {2: {}, 3: {}, 4: {"deleted": True}, 5: {"deleted": True}}.get(number)
        mine, theirs = gone is not None and not gone, bool(gone)
        for peer, clock, time, deleted in (
            (bob, {bob.peer_id: 2}, one, mine),
            (carol, {bob.peer_id: 1, carol.peer_id: 1}, other, theirs),
        ):
            key = f"{number} by {peer.name}"
            tell(told, version(peer, key, f"of {peer.name}", clock, update_time=time, deleted=deleted, uuid=uuid))
    look(alice)
    alice.observe()


@scenario("16", needs=(), long=True)
def a_conflict_for_readers(
    stage: Stage, alice: Actor, bob: ScriptedPeer, carol: ScriptedPeer, rolf: ScriptedPeer
) -> None:
    """A read-only peer has got a version, signed; that wins a conflict, and another read-only peer asks."""
    listening(alice, rolf)
    told = alice.link(bob)
    tell(told, version(bob, "door", "of bob", {bob.peer_id: 2}, at_ms=stage.now_ms - HOUR_MS))
    alice.put("gate", "of alice")
    stage.settle()
    clock = {bob.peer_id: 1, carol.peer_id: 1}
    tell(told, version(carol, "door", "of carol", clock, at_ms=stage.now_ms - 2 * HOUR_MS))
    look(alice, read_only=True)


@scenario("24", long=True)
def three_records_with_one_key(
    stage: Stage, alice: Actor, bob: ScriptedPeer, carol: ScriptedPeer, dave: ScriptedPeer
) -> None:
    """Three peers have made a record with the same key."""
    for peer in (bob, carol, dave):
        tell(alice.link(peer), peer.update("door", f"of {peer.name}"))
        stage.advance(1_000)
    stage.settle()
    alice.observe()
    look(alice)


@scenario("46", "43", long=True)
def clocks_of_many(stage: Stage, alice: Actor, bob: ScriptedPeer, carol: ScriptedPeer) -> None:
    """Clocks have forty members, zeros, and numbers of several digits of which one is behind; the application changes
    what has them."""
    listening(alice, carol)
    told = alice.link(bob)
    crowd = {record_id(f"writer {number}"): number for number in range(1, 41)}
    tell(told, version(bob, "crowd", 1, {bob.peer_id: 1, **crowd}))
    tell(told, version(bob, "zeros", 1, {bob.peer_id: 1, carol.peer_id: 0}))
    late, early = iso(stage.now_ms), iso(stage.now_ms - HOUR_MS)
    tell(told, version(bob, "digits", "later", {bob.peer_id: 10, carol.peer_id: 1}, update_time=late))
    tell(told, version(carol, "digits", "earlier", {bob.peer_id: 9, carol.peer_id: 2}, update_time=early))
    look(alice)
    alice.after(1_000).put("crowd", 2)
    alice.after(1_000).put("digits", "mine")
    look(alice)


@scenario("44", "45", long=True)
def a_record_in_turn(stage: Stage, alice: Actor, bob: ScriptedPeer, carol: ScriptedPeer) -> None:
    """The application and somebody else change a record in turn, and the application changes one of somebody else."""
    link = listening(alice, bob)
    listening(alice, carol)
    alice.put("door", 0)
    link.say(bob.update("gate", 0))
    for number in range(1, 4):
        stage.settle()
        for message in link.updates[-1:]:
            if not link.broken:
                link.say(bob.update("door", number, after=message, at_ms=stage.now_ms))
        alice.after(1_000).put("door", -number)
        alice.after(1_000).put("gate", number)
    look(alice)


@scenario("20", "35")
def a_conflict_is_passed_on(
    stage: Stage, alice: Actor, bob: ScriptedPeer, carol: ScriptedPeer, dave: ScriptedPeer
) -> None:
    """Bob and Carol have changed a record at the same time, and the later change comes last; somebody listens."""
    listening(alice, dave)
    told = alice.link(bob)
    tell(told, bob.update("lamp", "on"))
    tell(told, version(bob, "door", "of bob", {bob.peer_id: 2}, at_ms=stage.now_ms - 2 * HOUR_MS))
    stage.settle()
    clock = {bob.peer_id: 1, carol.peer_id: 1}
    tell(told, version(carol, "door", "of carol", clock, at_ms=stage.now_ms - HOUR_MS))
    look(alice)
    alice.observe()
    stage.settle()


@scenario("39", "51", "52", "54", needs=(pb.CAPABILITY_READ_ONLY,))
def a_reader_hears_of_both(stage: Stage, rita: Actor, bob: ScriptedPeer, carol: ScriptedPeer) -> None:
    """Bob and Carol have changed two records at the same time; a reader hears the later change first or last."""
    told = rita.link(bob)
    tell(told, bob.update("lamp", "on"))
    for key, later_ms in (("first", -HOUR_MS), ("last", HOUR_MS)):
        tell(told, version(bob, key, "of bob", {bob.peer_id: 2}))
        clock = {bob.peer_id: 1, carol.peer_id: 1}
        tell(told, version(carol, key, "of carol", clock, at_ms=stage.now_ms + later_ms))
    look(rita, read_only=True)
    rita.observe()


@scenario("54")
def equal_times(stage: Stage, alice: Actor, alan: Actor, bob: ScriptedPeer, carol: ScriptedPeer) -> None:
    """Two peers hear of two changes of a record with the same time, each in another order, and of two deletions."""
    time = iso(stage.now_ms)
    lamp = bob.update("lamp", "on")
    mine, theirs = {bob.peer_id: 2}, {bob.peer_id: 1, carol.peer_id: 1}
    one = version(bob, "door", "open", mine, update_time=time)
    other = version(carol, "door", "shut", theirs, update_time=time)
    gone = version(bob, "gate", None, mine, update_time=time, deleted=True)
    gone_too = version(carol, "gate", None, theirs, update_time=time, deleted=True)
    for actor, frames in ((alice, (one, other, gone, gone_too)), (alan, (other, one, gone_too, gone))):
        tell(actor.link(bob), lamp, *frames)
    look(alice)
    look(alan)


@scenario("38", "39", "40", "51", "52", "54")
def changed_on_two_sides(stage: Stage, alice: Actor, alan: Actor, bob: ScriptedPeer) -> None:
    """Two peers that cannot hear each other make records with the same keys, two of them at the same time, and change
    those of a third one; then they are connected."""
    told = [listening(actor, bob) for actor in (alice, alan)]
    for key in ("lamp", "bell"):
        frame = bob.update(key, "of bob")
        for link in told:
            tell(link, frame)
    for key, first, second in (
        ("door", alice, alan),
        ("gate", alan, alice),
        ("lamp", alice, alan),
        ("bell", alan, alice),
    ):
        first.after(1_000).put(key, f"of {first.name}")
        second.after(HOUR_MS).put(key, f"of {second.name}")
    for actor in (alice, alan):
        actor.put("roof", f"of {actor.name}")
    stage.settle()
    alice.link(alan)
    stage.settle()
    for actor in (alice, alan):
        look(actor)
        actor.observe()


@scenario("38", "40", "54")
def a_key_that_is_taken(stage: Stage, alice: Actor, bob: ScriptedPeer, carol: ScriptedPeer) -> None:
    """Records come with keys that others have: later ones, and earlier ones."""
    told = alice.link(bob)
    tell(told, bob.update("lamp", "on"))
    for key, one, other in (("door", 2 * HOUR_MS, HOUR_MS), ("gate", HOUR_MS, 2 * HOUR_MS)):
        tell(told, bob.update(key, "of bob", at_ms=stage.now_ms - one))
        tell(told, carol.update(key, "of carol", at_ms=stage.now_ms - other))
    look(alice)
    alice.observe()


@scenario("43", "44", "45")
def a_record_again_and_again(stage: Stage, alice: Actor, bob: ScriptedPeer) -> None:
    """The application writes a record twice when nobody listens, and three times when somebody does."""
    alice.put("door", 0)
    alice.observe()
    alice.after(1_000).put("door", 1)
    alice.observe()
    listening(alice, bob)
    for number in range(2, 5):
        alice.after(1_000).put("door", number)


@scenario("46")
def a_record_of_others_again(stage: Stage, alice: Actor, bob: ScriptedPeer, carol: ScriptedPeer) -> None:
    """The application changes a record that three others have changed before."""
    listening(alice, carol)
    clock = {bob.peer_id: 7, carol.peer_id: 3, stage.peer("dave").peer_id: 1}
    bob.revision = 6
    tell(alice.link(bob), version(bob, "door", "open", clock))
    stage.settle()
    alice.after(1_000).put("door", "shut")


@scenario("41", "42")
def numbers_of_clocks(stage: Stage, alice: Actor, bob: ScriptedPeer, carol: ScriptedPeer) -> None:
    """Clocks have the numbers of revisions, others, and such as 53 bits do not hold or tell apart; the application
    changes one of the records."""
    listening(alice, carol)
    told = alice.link(bob)
    for key, revision, clock in (
        ("alike", 2, {bob.peer_id: 2}),
        ("behind", 15, {bob.peer_id: 44}),
        ("ahead", 44, {bob.peer_id: 15, carol.peer_id: 1}),
    ):
        bob.revision = revision - 1
        tell(told, version(bob, key, revision, clock))
    look(alice)
    tell(told, version(bob, "wide", "numbers", {bob.peer_id: WIDE, carol.peer_id: WIDEST}))
    look(alice)
    for number in (bob.revision + 1, WIDE - 1, WIDE):
        tell(told, version(bob, "near", f"{number}", {bob.peer_id: number}))
        look(alice)
    alice.after(1_000).put("wide", 5)
    look(alice)
    alice.observe()


@scenario("50")
def numbers_grow_longer(stage: Stage, alice: Actor, bob: ScriptedPeer, carol: ScriptedPeer) -> None:
    """Somebody changes records of which the numbers have one digit more then, or one bit."""
    listening(alice, carol)
    told = alice.link(bob)
    for key, number in (("ten", 10), ("hundred", 100), ("half", HALF), ("whole", 2 * HALF)):
        for value in (number - 1, number):
            tell(told, version(bob, key, value, {bob.peer_id: value, carol.peer_id: 2}))
            stage.advance(1_000)
    look(alice)
    alice.observe()


@scenario("41", "43", "48", "50", "51", needs=(pb.CAPABILITY_CLOCK_CODEC,), long=True)
def clocks_are_compared(stage: Stage, alice: Actor) -> None:
    """Pairs of clocks: equal, one before the other, neither, with absent members and with numbers of 64 bits."""
    a, b, c = (stage.peer(name).peer_id for name in ("bob", "carol", "dave"))
    pairs: tuple[tuple[dict[str, int], dict[str, int]], ...] = (
        ({a: 2, b: 1}, {b: 1, a: 2}),
        ({a: 2, b: 1}, {a: 2, b: 2}),
        ({a: 3, b: 3}, {a: 2, b: 3}),
        ({a: 2, b: 1}, {a: 1, b: 2}),
        ({a: 10, b: 9}, {a: 9, b: 10}),
        ({a: 9, b: 1}, {a: 10, b: 1}),
        ({a: HALF - 1}, {a: HALF}),
        ({a: 2}, {a: 2, b: 1}),
        ({a: 2, c: 1}, {a: 2}),
        ({a: 1}, {b: 2}),
        ({a: 2, b: 3}, {a: 2, c: 1}),
        ({}, {}),
        ({}, {a: 1}),
        ({a: 1, b: 0}, {a: 1}),
        ({a: WIDE}, {a: WIDE - 1}),
        ({a: WIDEST - 1, b: 1}, {a: WIDEST, b: 1}),
        ({a: WIDEST}, {a: WIDEST}),
    )
    for one, other in pairs:
        said = pb.CompareClocks(one=json.dumps(one).encode(), other=json.dumps(other).encode())
        alice.do(pb.Request(compare_clocks=said))


def _in_conflict(stage: Stage, alice: Actor, bob: ScriptedPeer, carol: ScriptedPeer) -> None:
    """Two versions of one record, and two records with one key."""
    told = alice.link(bob)
    early, late = iso(stage.now_ms - 2 * HOUR_MS), iso(stage.now_ms - HOUR_MS)
    one, other = {"who": "bob", "b": [1]}, {"who": "carol", "c": {"x": None}}
    for key, first, second in (("later", early, late), ("earlier", late, early)):
        tell(told, version(bob, key, one, {bob.peer_id: 2}, update_time=first))
        tell(told, version(carol, key, other, {bob.peer_id: 1, carol.peer_id: 1}, update_time=second))
        tell(told, bob.update(f"{key} key", one, update_time=first))
        tell(told, carol.update(f"{key} key", other, update_time=second))
    look(alice)


@scenario("53", "52", needs=(pb.CAPABILITY_RESOLUTION_MERGE,), resolution=pb.RESOLUTION_MERGE)
def objects_are_merged(stage: Stage, alice: Actor, bob: ScriptedPeer, carol: ScriptedPeer) -> None:
    """An application that merges what is in conflict hears of four conflicts about objects."""
    _in_conflict(stage, alice, bob, carol)


@scenario("53", "52", needs=(pb.CAPABILITY_RESOLUTION_SEPARATE,), resolution=pb.RESOLUTION_SEPARATE)
def records_are_separated(stage: Stage, alice: Actor, bob: ScriptedPeer, carol: ScriptedPeer) -> None:
    """An application that keeps both hears of four conflicts."""
    _in_conflict(stage, alice, bob, carol)

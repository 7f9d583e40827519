"""Vector clocks and conflicts."""

from __future__ import annotations

from typing import Any

from clearskies_proto.testee.v1 import testee_pb2 as pb
from sds_harness.clearskies.script import Message, Numbers, Part, Peer, Script, ScriptLink

from .scripts import HOUR_MS, request_all, scenario, settle_and_observe, subscribe

WIDE = (1 << 53) + 1
HALF = 1 << 31
"""The smallest number that a signed integer of 32 bits cannot hold."""
WIDEST = (1 << 63) - 1


def version(writer: Peer | ScriptLink, key: str, value: Any, clock: Numbers, **more: Any) -> Message:
    """Create a version of a record, with the given clock. All scripted peers share one record for a key.

    If ``writer`` is a link, the version is also sent. ``more`` has further members of the update.
    """
    return writer.update(key, value, **{"record": key, "clock": clock, **more})


def link_with_record(part: Part, peer: Peer) -> ScriptLink:
    """Link a scripted peer, and let it send a record that is in no conflict.

    A peer under test that accepts nothing does not have this record.
    """
    link = part.link(peer)
    link.update("lamp", "on")
    return link


def _link_and_observe(script: Script, alice: Part, alan: Part) -> None:
    """Wait until two peers have sent everything, link them, and observe the records of both."""
    script.settle()
    alice.link(alan)
    script.settle()
    for part in (alice, alan):
        request_all(part, observe=True)


@scenario("50", "55", "49", "48", "47")
def one_descends_from_the_other(script: Script, alice: Part, bob: Peer, carol: Peer) -> None:
    """Newer versions of records arrive with an earlier time than the older versions, or before them."""
    carol.revision = 20
    from_carol = alice.link(carol)
    link = subscribe(alice, bob)
    from_carol.update("lamp", "on")
    door = alice.after(1_000).put("door", "open")
    script.settle()
    link.update("door", "shut", after=door, time=-HOUR_MS)
    for key, old_key, later_ms in (("gate", "gate", HOUR_MS), ("bell", "old bell", -HOUR_MS)):
        version(link, key, "new", {carol: 1, bob: 1})
        script.settle()
        version(from_carol, old_key, "old", {carol: 1}, time=later_ms, record=key)
    version(link, "mast", "new", {carol: 1, bob: 1})
    script.settle()
    version(from_carol, "mast", None, {carol: 1}, time=HOUR_MS, deleted=True)
    clock = {bob: 1, carol: 1}
    version(link, "roof", "whole", clock)
    script.settle()
    version(from_carol, "roof", "open", clock, time=-HOUR_MS)
    request_all(alice, observe=True)


@scenario("39", "51", "54", "52", "46")
def neither_descends_from_the_other(script: Script, alice: Part, bob: Peer, carol: Peer) -> None:
    """Bob and Carol changed seven records concurrently, with times that differ in their order and format."""
    link = link_with_record(alice, bob)
    early, late = -2 * HOUR_MS, -HOUR_MS
    times: tuple[tuple[str, int | str, int | str], ...] = (
        ("first", late, early),
        ("last", early, late),
        ("digits", "2014-02-23T23:45:39.5Z", "2014-02-23T23:45:39Z"),
        ("halves", "2014-02-23T23:45:39.25Z", "2014-02-23T23:45:39.75Z"),
        ("far", "2031-01-01T00:00:00Z", "2041-01-01T00:00:00Z"),
        ("edited", late, early),
        ("deleted", early, late),
    )
    for key, one, other in times:
        version(link, key, "of bob", {bob: 2}, time=one)
        clock, deleted = {bob: 1, carol: 1}, key in ("edited", "deleted")
        link.send(version(carol, key, "of carol", clock, time=other, deleted=deleted))
    request_all(alice, observe=True)
    for key, _, _ in times[:2]:
        alice.put(key, "of alice")
    request_all(alice)


@scenario("26", "54")
def a_conflict_between_two_changes(script: Script, alice: Part, bob: Peer) -> None:
    """Bob sends a concurrent, later change of a record of the application, which then writes another record."""
    link = subscribe(alice, bob)
    door = alice.put("door", "open")
    script.settle()
    link.update("door", "shut", after=door, concurrent=True, time=HOUR_MS)
    settle_and_observe(alice)
    alice.after(1_000).put("window", "open")
    script.settle()


@scenario("54", long=True)
def times_in_conflict(script: Script, alice: Part, bob: Peer, carol: Peer, dave: Peer) -> None:
    """Bob and Carol changed records concurrently; the times have offsets, or fractions of one to nine digits."""
    subscribe(alice, dave)
    link = link_with_record(alice, bob)
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
        version(link, key, "of bob", {bob: 2}, time=one)
        clock = {bob: 1, carol: 1}
        link.send(version(carol, key, "of carol", clock, time=other))
    request_all(alice, observe=True)


@scenario("51", "54", long=True)
def one_conflict_after_the_other(script: Script, alice: Part, bob: Peer, carol: Peer, dave: Peer) -> None:
    """A conflict is followed by a change of its outcome, and by a concurrent change of Dave."""
    link = link_with_record(alice, bob)
    for key, later_ms in (("door", HOUR_MS), ("gate", -HOUR_MS)):
        for peer, clock in (
            (bob, {bob: 2}),
            (carol, {bob: 1, carol: 1}),
            (bob, {bob: 9, carol: 1, alice: 9}),
        ):
            link.send(version(peer, key, f"of {peer.name}", clock))
            script.advance(1_000)
        request_all(alice)
        clock = {bob: 1, dave: 1}
        link.send(version(dave, key, "of dave", clock, time=later_ms))
        request_all(alice)
    alice.observe()


@scenario("43", long=True)
def zeros_in_clocks(script: Script, alice: Part, bob: Peer, carol: Peer) -> None:
    """Newer versions arrive before older ones; one of the two vector clocks has a zero."""
    link = link_with_record(alice, bob)
    for number, (key, old, new) in enumerate(
        (
            ("first", {bob: 1, carol: 0}, {bob: 2}),
            ("last", {bob: 1}, {bob: 2, carol: 0}),
        )
    ):
        bob.revision = 20 + number
        version(link, key, "new", new)
        bob.revision = 10 + number
        version(link, key, "old", old, time=HOUR_MS)
    request_all(alice, observe=True)


@scenario("49", "50", "51", "54", long=True)
def clocks_with_many_members(script: Script, alice: Part, bob: Peer, carol: Peer) -> None:
    """Vector clocks of more than twelve members differ in the last numbers alone."""
    send_versions_of_many(link_with_record(alice, bob), carol, 12)
    request_all(alice, observe=True)


def send_versions_of_many(link: ScriptLink, carol: Peer, members: int) -> None:
    """Send versions of six records, whose vector clocks have many members and differ only in the last numbers.

    Of each record, the second version descends from the first, is its ancestor, or is concurrent.
    """
    bob = link.peer
    many: dict[Peer | str, int] = {f"member {number}": number + 1 for number in range(members)}
    old, new = {**many, bob: 1}, {**many, bob: 2}
    for key, times in (("first", (-2 * HOUR_MS, -HOUR_MS)), ("last", (-HOUR_MS, -2 * HOUR_MS))):
        version(link, f"{key} descendant", "old", old, time=times[0])
        version(link, f"{key} descendant", "new", new, time=times[1])
        version(link, f"{key} ancestor", "new", {**many, carol: 1, bob: 2}, time=times[0])
        link.send(version(carol, f"{key} ancestor", "old", {**many, carol: 1, bob: 1}, time=times[1]))
        version(link, f"{key} conflict", "of bob", new, time=times[0])
        link.send(version(carol, f"{key} conflict", "of carol", {**old, carol: 1}, time=times[1]))


@scenario("41", "44", long=True)
def its_own_number_is_large(script: Script, alice: Part, bob: Peer) -> None:
    """The peer's number in a received vector clock is the largest number of 31 bits; two changes follow."""
    link = subscribe(alice, bob)
    clock = {alice: HALF - 1, bob: 1}
    version(link, "door", "open", clock)
    request_all(alice)
    alice.after(1_000).put("door", "shut")
    alice.after(1_000).put("door", "ajar")
    request_all(alice)


@scenario("44", needs=(pb.CAPABILITY_WIDE_INTEGERS,), long=True)
def its_own_number_exceeds_53_bits(script: Script, alice: Part, bob: Peer) -> None:
    """The peer's number in a received vector clock exceeds 53 bits; two changes increment it."""
    link = subscribe(alice, bob)
    version(link, "door", "open", {alice: WIDE - 1, bob: 1})
    request_all(alice)
    alice.after(1_000).put("door", "shut")
    alice.after(1_000).put("door", "ajar")
    request_all(alice)


@scenario("54", long=True)
def two_keys_in_conflict(script: Script, alice: Part, bob: Peer, carol: Peer) -> None:
    """Bob and Carol concurrently gave records different keys, or deleted them."""
    link = link_with_record(alice, bob)
    early, late = -2 * HOUR_MS, -HOUR_MS
    for number, (one, other) in enumerate(((early, late), (late, early)) * 3):
        record = f"record {number} with two keys"
        gone = {2: {}, 3: {}, 4: {"deleted": True}, 5: {"deleted": True}}.get(number)
        mine, theirs = gone is not None and not gone, bool(gone)
        for peer, clock, time, deleted in (
            (bob, {bob: 2}, one, mine),
            (carol, {bob: 1, carol: 1}, other, theirs),
        ):
            key = f"{number} by {peer.name}"
            link.send(version(peer, key, f"of {peer.name}", clock, time=time, deleted=deleted, record=record))
    request_all(alice, observe=True)


@scenario("16", long=True)
def a_conflict_for_readers(script: Script, alice: Part, bob: Peer, carol: Peer, rolf: Peer) -> None:
    """A version that was sent to a read-only peer wins a conflict; another read-only peer requests updates."""
    subscribe(alice, rolf)
    link = alice.link(bob)
    version(link, "door", "of bob", {bob: 2}, time=-HOUR_MS)
    alice.put("gate", "of alice")
    script.settle()
    clock = {bob: 1, carol: 1}
    link.send(version(carol, "door", "of carol", clock, time=-2 * HOUR_MS))
    request_all(alice, read_only=True)


@scenario("24")
def three_records_with_one_key(script: Script, alice: Part, bob: Peer, carol: Peer, dave: Peer) -> None:
    """Three peers send a record each, all with the same key."""
    for peer in (bob, carol, dave):
        alice.link(peer).update("door", f"of {peer.name}")
        script.advance(1_000)
    settle_and_observe(alice)
    request_all(alice)


@scenario("46", "43", long=True)
def clocks_of_many(script: Script, alice: Part, bob: Peer, carol: Peer) -> None:
    """Vector clocks have forty members, zeros, or numbers of several digits; changes follow."""
    subscribe(alice, carol)
    link = alice.link(bob)
    crowd = {f"writer {number}": number for number in range(1, 41)}
    version(link, "crowd", 1, {bob: 1, **crowd})
    version(link, "zeros", 1, {bob: 1, carol: 0})
    version(link, "digits", "later", {bob: 10, carol: 1})
    link.send(version(carol, "digits", "earlier", {bob: 9, carol: 2}, time=-HOUR_MS))
    request_all(alice)
    alice.after(1_000).put("crowd", 2)
    alice.after(1_000).put("digits", "mine")
    request_all(alice)


@scenario("44", "45", long=True)
def a_record_in_turn(script: Script, alice: Part, bob: Peer, carol: Peer) -> None:
    """The application and Bob change a record in turn; the application also changes a record of Bob."""
    link = subscribe(alice, bob)
    subscribe(alice, carol)
    door = alice.put("door", 0)
    link.update("gate", 0)
    for number in range(1, 4):
        script.settle()
        link.update("door", number, after=door)
        door = alice.after(1_000).put("door", -number)
        alice.after(1_000).put("gate", number)
    request_all(alice)


@scenario("20", "35")
def a_conflict_is_passed_on(script: Script, alice: Part, bob: Peer, carol: Peer, dave: Peer) -> None:
    """The later of two concurrent changes arrives last, while Dave is subscribed."""
    subscribe(alice, dave)
    link = link_with_record(alice, bob)
    version(link, "door", "of bob", {bob: 2}, time=-2 * HOUR_MS)
    script.settle()
    clock = {bob: 1, carol: 1}
    link.send(version(carol, "door", "of carol", clock, time=-HOUR_MS))
    request_all(alice, observe=True)
    script.settle()


@scenario("39", "51", "52", "54")
def a_reader_hears_of_both(script: Script, rita: Part, bob: Peer, carol: Peer) -> None:
    """A read-only peer receives two pairs of concurrent changes; in one pair the later change arrives first."""
    link = link_with_record(rita, bob)
    for key, later_ms in (("first", -HOUR_MS), ("last", HOUR_MS)):
        version(link, key, "of bob", {bob: 2})
        clock = {bob: 1, carol: 1}
        link.send(version(carol, key, "of carol", clock, time=later_ms))
    request_all(rita, read_only=True, observe=True)


@scenario("54")
def equal_times(script: Script, alice: Part, alan: Part, bob: Peer, carol: Peer) -> None:
    """Two peers receive concurrent changes with equal times, in opposite orders."""
    lamp = bob.update("lamp", "on")
    mine, theirs = {bob: 2}, {bob: 1, carol: 1}
    one = version(bob, "door", "open", mine)
    other = version(carol, "door", "shut", theirs)
    gone = version(bob, "gate", None, mine, deleted=True)
    gone_too = version(carol, "gate", None, theirs, deleted=True)
    for part, messages in ((alice, (one, other, gone, gone_too)), (alan, (other, one, gone_too, gone))):
        part.link(bob).send(lamp, *messages)
    request_all(alice)
    request_all(alan)


@scenario("38", "39", "40", "51", "52", "54")
def changed_on_two_sides(script: Script, alice: Part, alan: Part, bob: Peer) -> None:
    """Two unconnected peers write the same keys and change the same records; then they are linked."""
    links = [subscribe(part, bob) for part in (alice, alan)]
    for key in ("lamp", "bell"):
        message = bob.update(key, "of bob")
        for link in links:
            link.send(message)
    for key, first, second in (
        ("door", alice, alan),
        ("gate", alan, alice),
        ("lamp", alice, alan),
        ("bell", alan, alice),
    ):
        first.after(1_000).put(key, f"of {first.name}")
        second.after(HOUR_MS).put(key, f"of {second.name}")
    for part in (alice, alan):
        part.put("roof", f"of {part.name}")
    _link_and_observe(script, alice, alan)


@scenario("19", "39", "54", long=True)
def changed_at_the_same_time(script: Script, alice: Part, alan: Part, bob: Peer) -> None:
    """Two unconnected peers change a record of Bob at the same time; then they are linked."""
    message = bob.update("lamp", "of bob")
    for part in (alice, alan):
        part.link(bob).send(message)
    script.advance(1_000)
    for part in (alice, alan):
        part.put("lamp", f"of {part.name}")
    _link_and_observe(script, alice, alan)


@scenario("38", "40", "54")
def a_key_that_is_taken(script: Script, alice: Part, bob: Peer, carol: Peer) -> None:
    """Carol's records have the keys of Bob's records, with a later or an earlier time."""
    link = link_with_record(alice, bob)
    for key, one, other in (("door", 2 * HOUR_MS, HOUR_MS), ("gate", HOUR_MS, 2 * HOUR_MS)):
        link.update(key, "of bob", time=-one)
        link.send(carol.update(key, "of carol", time=-other))
    request_all(alice, observe=True)


@scenario("43", "44", "45")
def a_record_again_and_again(script: Script, alice: Part, bob: Peer) -> None:
    """The application writes a record twice without a link, and three times while Bob is subscribed."""
    alice.put("door", 0)
    alice.observe()
    alice.after(1_000).put("door", 1)
    alice.observe()
    subscribe(alice, bob)
    for number in range(2, 5):
        alice.after(1_000).put("door", number)


@scenario("46")
def a_record_of_others_again(script: Script, alice: Part, bob: Peer, carol: Peer) -> None:
    """The application changes a record that three others have changed before."""
    subscribe(alice, carol)
    bob.revision = 6
    version(alice.link(bob), "door", "open", {bob: 7, carol: 3, "dave": 1})
    script.settle()
    alice.after(1_000).put("door", "shut")


@scenario("41", "42")
def numbers_of_clocks(script: Script, alice: Part, bob: Peer, carol: Peer) -> None:
    """Numbers in vector clocks equal revisions or differ from them, or exceed 53 bits."""
    subscribe(alice, carol)
    link = alice.link(bob)
    for key, revision, clock in (
        ("alike", 2, {bob: 2}),
        ("alike after a gap", 9, {bob: 9}),
        ("behind", 15, {bob: 44}),
        ("ahead", 44, {bob: 15, carol: 1}),
    ):
        bob.revision = revision - 1
        version(link, key, revision, clock)
    request_all(alice)
    version(link, "wide", "numbers", {bob: WIDE, carol: WIDEST})
    request_all(alice)
    for number in (bob.revision + 1, WIDE - 1, WIDE):
        version(link, "near", f"{number}", {bob: number})
        request_all(alice)
    alice.after(1_000).put("wide", 5)
    request_all(alice, observe=True)


@scenario("50")
def numbers_grow_longer(script: Script, alice: Part, bob: Peer, carol: Peer) -> None:
    """Numbers in vector clocks grow by one digit or by one bit."""
    subscribe(alice, carol)
    link = alice.link(bob)
    for key, number in (("ten", 10), ("hundred", 100), ("half", HALF), ("whole", 2 * HALF)):
        for value in (number - 1, number):
            version(link, key, value, {bob: value, carol: 2})
            script.advance(1_000)
    request_all(alice, observe=True)


@scenario("41", "43", "48", "50", "51", needs=(pb.CAPABILITY_CLOCK_CODEC,), long=True)
def clocks_are_compared(script: Script, alice: Part) -> None:
    """Pairs of vector clocks are compared: equal, ordered or concurrent; with absent members, or numbers of 64 bits."""
    a, b, c = "bob", "carol", "dave"
    many = {f"member {number}": 1 for number in range(12)}
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
        ({**many, c: 1}, {**many, c: 2}),
        ({**many, c: 2}, {**many, c: 1}),
        ({**many, b: 2, c: 1}, {**many, b: 1, c: 2}),
        ({a: WIDE}, {a: WIDE - 1}),
        ({a: WIDEST - 1, b: 1}, {a: WIDEST, b: 1}),
        ({a: WIDEST}, {a: WIDEST}),
    )
    for one, other in pairs:
        alice.compare_clocks(one, other)


def _send_conflicts(alice: Part, bob: Peer, carol: Peer) -> None:
    """Let two concurrent versions of a record arrive, and two records with one key, each twice; some members of both
    values have one name.
    """
    link = alice.link(bob)
    early, late = -2 * HOUR_MS, -HOUR_MS
    for key, first, second in (("later", early, late), ("earlier", late, early)):
        one, other = (
            {"who": who, who: [1, None], "of": key, "nested": {who: 1}, "null": null}
            for who, null in (("bob", None), ("carol", 1))
        )
        version(link, key, one, {bob: 2}, time=first)
        link.send(version(carol, key, other, {bob: 1, carol: 1}, time=second))
        one, other = ({**value, "of": f"{key} key"} for value in (one, other))
        link.update(f"{key} key", one, time=first)
        link.send(carol.update(f"{key} key", other, time=second))
    version(link, "wide", {"bob": WIDE}, {bob: 2}, time=early)
    link.send(version(carol, "wide", {"carol": 1}, {bob: 1, carol: 1}, time=late))
    request_all(alice)


@scenario("53", "52", resolution=pb.RESOLUTION_MERGE)
def objects_are_merged(script: Script, alice: Part, bob: Peer, carol: Peer) -> None:
    """An application that merges conflicting objects receives five conflicts."""
    _send_conflicts(alice, bob, carol)


@scenario("14", resolution=pb.RESOLUTION_MERGE)
def merged_values_reach_others(script: Script, alice: Part, alan: Part, anna: Part) -> None:
    """Two peers write records at the same time and merge them; the third peer is linked to one of the two."""
    alice.link(anna)
    line = alice.link(alan)
    alice.put("one record", {"both": 0})
    script.settle()
    line.cut()
    for number, part in enumerate((alan, alice, alan, alice)):
        key = "one key" if number < 2 else "one record"
        part.after(1_000).put(key, {f"{number}": number, "both": number})
    script.settle()
    alice.link(alan)
    script.settle()
    for part in (alice, alan, anna):
        part.observe()


@scenario("53", "52", resolution=pb.RESOLUTION_SEPARATE)
def records_are_separated(script: Script, alice: Part, bob: Peer, carol: Peer) -> None:
    """An application that keeps both records receives five conflicts."""
    _send_conflicts(alice, bob, carol)

"""Rules hold in unusual states: for hidden records, after half a message, or if clocks contradict update_times."""

from __future__ import annotations

from typing import Any

from clearskies_proto.testee.v1 import testee_pb2 as pb
from sds_harness.clearskies.script import Part, Peer, Script

from .conflicts import link_with_record, version
from .deletions import YEAR_MS
from .scripts import HOUR_MS, request_all, scenario, settle_and_observe, subscribe

DAY_MS = 24 * HOUR_MS
MISLEADING_CONTENTS: tuple[tuple[str, Any], ...] = (
    ("constructor", "toString"),
    ("valueOf", {"constructor": 1, "hasOwnProperty": True}),
    ("it's", "it's"),
    ("a-b", "a-b"),
    ("a_b", "a_b"),
    ("100 percent", 100),
    ("100%", 101),
    ("a*", "star"),
    ("value", {"key": 1, "type": "value"}),
    ("type", "database.get_updates"),
    ("deleted", True),
    ("vector_clock", {}),
    ("like a record", {"key": "a-b", "value": 1, "uuid": "none", "deleted": True}),
    ("like a request", {"type": "database.get_updates", "since": {}}),
    ("text of null", "null"),
    ("text of a number", "1"),
    ("text of an object", '{"a": 1}'),
    ("a//b", "undefined"),
    ("a/../b", "NaN"),
    ("a%20b", "&lt;b&gt;"),
    ("a b", [1, 1, "a", "a"]),
    ("a&amp;b", [1e-300, 1e300]),
    ("${key}", {"toString": 1, "length": 0, "$ref": "a", "a.b": 2, "_id": 3}),
    ("{0} %s", "2014-01-01T00:00:00Z"),
    ("--", {f"member {number}": number for number in range(2_000)}),
    ("tab\tstop", None),
    ("\u043a" * 400, "\u043a" * 400),
)
_CONTESTED_KEYS = tuple(
    f"{order} {change}" for order in ("first", "last") for change in ("renamed", "deleted", "changed")
)
CENTURIES = (
    ("1960", "1960-05-01T12:00:00.000Z", "2014-05-01T12:00:00.000Z"),
    ("2014", "2014-05-01T12:00:00.000Z", "1960-05-01T12:00:00.000Z"),
    ("2040", "2040-05-01T12:00:00.000Z", "2110-05-01T12:00:00.000Z"),
    ("2110", "2110-05-01T12:00:00.000Z", "2040-05-01T12:00:00.000Z"),
)


# ---- Contents --------------------------------------------------------------------------------------------------------


@scenario("07", "02", "13", long=True)
def misleading_contents(script: Script, alice: Part, bob: Peer, carol: Peer) -> None:
    """Keys look like patterns or built-in names, and values like messages; then two records are deleted."""
    subscribe(alice, carol)
    link = alice.link(bob)
    for key, value in MISLEADING_CONTENTS:
        alice.put(f"own {key}", value)
        link.update(key, value)
    alice.put("constructor, own", 1)
    alice.put("__proto__", 2)
    alice.put("", 3)
    request_all(alice)
    alice.after(1_000).delete("own a_b")
    alice.delete("own 100%")
    link.update("a_b", deleted=True)
    request_all(alice, observe=True)


@scenario("11", long=True)
def days_of_months(script: Script, alice: Part, bob: Peer) -> None:
    """The application writes an old record and a new one over four months, at each hour of the day."""
    subscribe(alice, bob)
    for number in range(24):
        alice.put("again", number)
        alice.put(f"record {number}", number)
        script.advance(5 * DAY_MS + HOUR_MS + 61_007)


# ---- Times and clocks ------------------------------------------------------------------------------------------------


@scenario("50", "55", long=True)
def newer_in_all_but_time(script: Script, alice: Part, bob: Peer, carol: Peer) -> None:
    """Bob changes, deletes, restores and renames records of the application, with an equal or an earlier time."""
    subscribe(alice, carol)
    link = subscribe(alice, bob)
    link.update("lamp", "on")
    records = {key: alice.put(key, f"{key} of alice") for key in ("gone", "moved", "again", "same", "tied")}
    link.update("tied", "tied of bob", after=records["tied"])
    script.settle()
    restored = alice.after(1_000).delete("again")
    script.settle()
    link.update("gone", after=records["gone"], deleted=True, time=-HOUR_MS)
    link.update("elsewhere", "moved of bob", after=records["moved"], time=-HOUR_MS)
    link.update("again", "again of bob", after=restored, time=-HOUR_MS)
    link.update("same", "same of alice", after=records["same"])
    settle_and_observe(alice)
    request_all(alice, observe=True)


@scenario("14", "02", long=True)
def own_changes_of_records_from_the_future(script: Script, alice: Part, bob: Peer, carol: Peer) -> None:
    """The application changes and deletes records whose times are an hour ahead of its clock."""
    subscribe(alice, carol)
    link = alice.link(bob)
    for key in ("door", "gate"):
        link.update(key, "of bob", time=HOUR_MS)
    request_all(alice)
    alice.after(1_000).put("door", "of alice")
    alice.delete("gate")
    request_all(alice)


@scenario("54", "51", "52", long=True)
def changes_without_links_in_conflict(script: Script, alice: Part, bob: Peer) -> None:
    """The application changes and deletes records of Bob without any link; Bob changed them earlier or later."""
    keys = {
        f"{time} {kind}": (kind, HOUR_MS if time == "later" else -HOUR_MS)
        for time in ("earlier", "later")
        for kind in ("put", "deletion", "null", "deleted")
    }
    link = link_with_record(alice, bob)
    for key in keys:
        version(link, key, "first", {bob: 1}, time=-3 * HOUR_MS)
    request_all(alice)
    link.cut()
    for key, (kind, _) in keys.items():
        if kind == "deletion":
            alice.delete(key)
        else:
            alice.put(key, "of alice")
    request_all(alice)
    link = alice.link(bob)
    for key, (kind, later_ms) in keys.items():
        value = None if kind == "null" else "of bob"
        version(link, key, value, {bob: 2}, time=later_ms, deleted=kind == "deleted")
    settle_and_observe(alice)
    request_all(alice)


@scenario("39", "51", "54", long=True)
def changed_on_two_sides_unheard(script: Script, alice: Part, alan: Part, bob: Peer) -> None:
    """Two peers have records of Bob; without any link they change, delete and create records; then they are linked."""
    for key in ("put first", "put last", "deleted first", "deleted last"):
        message = bob.update(key, "of bob")
        for part in (alice, alan):
            part.link(bob).send(message)
    script.settle()
    for part in (alice, alan):
        part.observe()
    script.advance(1_000)
    for number, (first, second) in enumerate(((alice, alan), (alan, alice))):
        order = ("first", "last")[number]
        first.after(1_000).put(f"put {order}", f"of {first.name}")
        second.after(1_000).put(f"put {order}", f"of {second.name}")
        alice.after(1_000).delete(f"deleted {order}") if number else None
        alan.after(1_000).put(f"deleted {order}", "of alan")
        alice.after(1_000).delete(f"deleted {order}") if not number else None
        first.after(1_000).put(f"new {order}", f"of {first.name}")
        second.after(1_000).put(f"new {order}", f"of {second.name}")
    alice.link(alan)
    script.settle()
    for part in (alice, alan):
        part.observe()
        request_all(part)


@scenario("54", long=True)
def times_of_other_centuries(script: Script, alice: Part, bob: Peer, carol: Peer) -> None:
    """Bob and Carol changed records concurrently, with times before 1970 and after 2106."""
    link = link_with_record(alice, bob)
    for key, one, other in CENTURIES:
        version(link, key, "of bob", {bob: 2}, time=one)
        link.send(version(carol, key, "of carol", {bob: 1, carol: 1}, time=other))
    request_all(alice, observe=True)


@scenario("51", "39", "54", long=True)
def clocks_without_common_members(script: Script, alice: Part, bob: Peer, carol: Peer) -> None:
    """The vector clocks of concurrent versions have no peer in common; the later one arrives first, or last."""
    link = link_with_record(alice, bob)
    for key, later_ms in (("first", -2 * HOUR_MS), ("last", HOUR_MS)):
        version(link, key, "of bob", {bob: 2}, time=-HOUR_MS)
        link.send(version(carol, key, "of carol", {carol: 3}, time=later_ms))
    request_all(alice, observe=True)


@scenario("52", "46", store=True, long=True)
def conflicts_before_a_restart(script: Script, alice: Part, bob: Peer, carol: Peer) -> None:
    """A peer restarts after conflicts about four records, and has sent two of them; the application changes all."""
    link = link_with_record(alice, bob)
    for sent in ("sent", "unsent"):
        for key, later_ms in ((f"first {sent}", -2 * HOUR_MS), (f"last {sent}", -HOUR_MS // 2)):
            version(link, key, "of bob", {bob: 2}, time=-HOUR_MS)
            link.send(version(carol, key, "of carol", {bob: 1, carol: 1}, time=later_ms))
        if sent == "sent":
            request_all(alice)
    script.settle()
    alice.reopen()
    alice.observe()
    for key in ("first sent", "last sent", "first unsent", "last unsent"):
        alice.after(1_000).put(key, "of alice")
    request_all(alice, observe=True)


@scenario("53", resolution=pb.RESOLUTION_SEPARATE, long=True)
def values_of_all_kinds_are_separated(script: Script, alice: Part, bob: Peer, carol: Peer) -> None:
    """An application that keeps both records receives conflicts about lists, texts, numbers and own records."""
    link = subscribe(alice, bob)
    for number, (key, one, other) in enumerate((("list", [1], [2]), ("text", "a", "b"), ("number", 1, 2))):
        version(link, key, one, {bob: 2}, time=-HOUR_MS)
        times = (-2 * HOUR_MS, -HOUR_MS // 2)
        link.send(version(carol, key, other, {bob: 1, carol: 1}, time=times[number % 2]))
    mine = [alice.put(key, f"{key} of alice") for key in ("earlier", "later")]
    script.settle()
    for message, key, later_ms in zip(mine, ("earlier", "later"), (-HOUR_MS, HOUR_MS), strict=True):
        link.update(key, f"{key} of bob", after=message, concurrent=True, time=later_ms)
    request_all(alice)


# ---- Records with one key --------------------------------------------------------------------------------------------


@scenario("54", "38", "20", "35", long=True)
def keys_in_conflict_and_a_listener(script: Script, alice: Part, bob: Peer, carol: Peer, dave: Peer) -> None:
    """New and renamed records have the keys of other records, with a later or an earlier time; Dave is subscribed."""
    subscribe(alice, dave)
    link = link_with_record(alice, bob)
    alice.put("mine", "of alice")
    alice.put("mine too", "of alice")
    for key, one, other in (("door", 2, 1), ("gate", 1, 2)):
        link.update(key, "of bob", time=-one * HOUR_MS)
        link.send(carol.update(key, None if key == "door" else "of carol", time=-other * HOUR_MS))
    settle_and_observe(alice)
    moved = link.update("old key", "moved", time=-3 * HOUR_MS)
    link.send(carol.update("wall", "of carol", time=-HOUR_MS))
    request_all(alice)
    link.update("mine", "of bob", time=HOUR_MS)
    link.update("mine too", "of bob", time=-HOUR_MS)
    link.update("wall", "moved", after=moved, clock={bob: 2}, time=-2 * HOUR_MS)
    settle_and_observe(alice)
    request_all(alice)


@scenario("02", "13", violated=("56",), long=True)
def the_record_without_its_key_changes(script: Script, alice: Part, bob: Peer, carol: Peer, dave: Peer) -> None:
    """Of two records with one key, the earlier one is renamed, or deleted before the other one is renamed."""
    link, other = alice.link(bob), alice.link(carol)
    link.update("lamp", "on")
    first = {}
    for key in ("door", "gate"):
        first[key] = version(link, key, "of bob", {bob: 1}, record=f"{key} of bob")
        script.advance(1_000)
        version(other, key, "of carol", {carol: 1}, record=f"{key} of carol")
    request_all(alice)
    script.advance(1_000)
    version(link, "free", "of bob", {bob: 2}, record="door of bob")
    version(link, "gate", None, {bob: 2}, record="gate of bob", deleted=True)
    script.settle()
    version(other, "another", "of carol", {carol: 2}, record="gate of carol")
    settle_and_observe(alice)
    request_all(alice)
    alice.link(dave).send(first["gate"])
    request_all(alice, observe=True)


@scenario("38", "54", "02", "35", "37", long=True)
def the_record_with_the_key_goes(script: Script, alice: Part, bob: Peer, carol: Peer, dave: Peer) -> None:
    """Of two records with one key, the later one is renamed, deleted, or changed with an earlier update_time."""
    subscribe(alice, dave)
    _write_two_records_of_each_key(alice, bob, carol)
    script.settle()
    subscribe(alice, script.peer("erin"))
    script.settle()
    _take_the_keys_away(alice, carol)


@scenario("38", "54", store=True, long=True)
def the_record_with_the_key_goes_after_a_restart(script: Script, alice: Part, bob: Peer, carol: Peer) -> None:
    """A peer with two records of one key restarts; then the later one is renamed, deleted, or gets an earlier time."""
    _write_two_records_of_each_key(alice, bob, carol)
    request_all(alice)
    alice.reopen()
    alice.observe()
    _take_the_keys_away(alice, carol)


def _write_two_records_of_each_key(part: Part, bob: Peer, carol: Peer) -> None:
    """For each key, Carol's record is the later one; it arrives first or last."""
    link, other = part.link(bob), part.link(carol)
    link.update("lamp", "on")
    for key in _CONTESTED_KEYS:
        if key.startswith("first"):
            version(other, key, f"{key} of carol", {carol: 1}, record=f"{key} of carol", time=-HOUR_MS)
            part.script.settle()
        version(link, key, f"{key} of bob", {bob: 1}, record=f"{key} of bob", time=-2 * HOUR_MS)
        part.script.settle()
        if key.startswith("last"):
            version(other, key, f"{key} of carol", {carol: 1}, record=f"{key} of carol", time=-HOUR_MS)
            part.script.settle()


def _take_the_keys_away(part: Part, carol: Peer) -> None:
    """Rename, delete or change the records of Carol that have the keys."""
    link = part.link(carol)
    for key in _CONTESTED_KEYS:
        fields: dict[str, Any] = {"record": f"{key} of carol"}
        match key.split()[1]:
            case "renamed":
                version(link, f"new name of {key}", f"{key} of carol", {carol: 2}, **fields)
            case "deleted":
                version(link, key, None, {carol: 2}, deleted=True, **fields)
            case _:
                version(link, key, f"{key} of carol, changed", {carol: 2}, time=-3 * HOUR_MS, **fields)
    settle_and_observe(part)
    request_all(part, observe=True)


@scenario("38", "54", store=True, long=True)
def one_key_before_a_restart(script: Script, alice: Part, bob: Peer, carol: Peer) -> None:
    """A peer has two records with one key, and restarts."""
    link = link_with_record(alice, bob)
    for key, one, other in (("door", 2, 1), ("gate", 1, 2)):
        link.update(key, "of bob", time=-one * HOUR_MS)
        link.send(carol.update(key, "of carol", time=-other * HOUR_MS))
    settle_and_observe(alice)
    alice.reopen()
    alice.observe()
    request_all(alice)
    alice.link(script.peer("dave")).update("roof", "whole")
    alice.observe()


# ---- Changes that are passed on --------------------------------------------------------------------------------------


@scenario("20", "35", "02", "22", "14", "07", "50", long=True)
def unusual_changes_are_passed_on(script: Script, alice: Part, bob: Peer, carol: Peer, rolf: Peer, ruth: Peer) -> None:
    """Read-only peers relay records; Bob deletes and restores records, with old or new keys, or renames them twice.

    One deletion arrives without its record. The application uses a key that is free again, and an empty key.
    """
    for peer in (carol, ruth):
        subscribe(alice, peer)
    link = alice.link(bob)
    alice.link(rolf).send(bob.update("lamp", "on", signature="read-write"))
    version(link, "never seen", None, {bob: 1}, deleted=True)
    for key in ("again", "elsewhere", "draft", "sheet", "gone", "left"):
        version(link, key, f"in {key}", {bob: 1})
    request_all(alice)
    both: tuple[dict[str, str | None], ...] = (
        {"again": None, "elsewhere": None, "gone": None, "draft": "final", "left": "right"},
        {"again": "again", "elsewhere": "nowhere", "draft": "draft", "sheet": "gone"},
    )
    for number, changes in enumerate(both, start=2):
        script.advance(1_000)
        for record, new_key in changes.items():
            version(link, new_key or record, f"{number}", {bob: number}, record=record, deleted=new_key is None)
        request_all(alice)
    alice.after(1_000).put("left", "of alice")
    mine = alice.put("", "of alice")
    request_all(alice)
    script.advance(1_000)
    link.update("", after=mine, deleted=True)
    version(link, "gone", None, {bob: 3}, deleted=True)
    version(link, "never seen", None, {bob: 2}, deleted=True)
    request_all(alice, observe=True)


@scenario("20", "35", "02", long=True)
def its_own_changes_come_back_for_others(script: Script, alice: Part, bob: Peer, carol: Peer) -> None:
    """A peer has lost its records; Bob sends the peer its own earlier changes, while Carol is subscribed."""
    subscribe(alice, bob)
    changes = alice.put("mine", 1), alice.after(1_000).put("mine too", 2)
    script.settle()
    alice.reopen()
    subscribe(alice, carol)
    alice.link(bob).send(*changes)
    request_all(alice)


@scenario("19", store=True, long=True)
def known_updates_come_again(script: Script, alice: Part, bob: Peer, carol: Peer, dave: Peer) -> None:
    """Updates, a deletion and an own change arrive again: at once, after sixty others, and after a restart."""
    subscribe(alice, dave)
    link = subscribe(alice, bob)
    mine = alice.put("mine", 1)
    script.settle()
    known = [link.update("door", "open"), link.update("gate", "open"), mine]
    script.advance(1_000)
    known.append(link.update("gate", deleted=True))
    script.settle()
    for number in (0, 60):
        for each in range(number):
            link.update(f"record {each}", each)
        request_all(alice)
        other = alice.link(carol)
        other.send(known[0], known[3], mine)
        script.settle()
        other.cut()
    alice.reopen()
    subscribe(alice, dave)
    script.settle()
    alice.link(carol).send(known[0], known[3], mine)
    request_all(alice)


@scenario("14", "13", "02", "07", long=True)
def keys_of_deleted_records_are_used(script: Script, alice: Part, bob: Peer, carol: Peer) -> None:
    """Bob deletes records; the application writes records with their keys, and deletes one again."""
    subscribe(alice, carol)
    link = alice.link(bob)
    for key in ("one", "two"):
        link.update(key, "of bob")
    request_all(alice)
    script.advance(1_000)
    for key in ("one", "two"):
        link.update(key, deleted=True)
    request_all(alice)
    for key in ("one", "two"):
        alice.after(1_000).put(key, "of alice")
    request_all(alice)
    alice.after(1_000).delete("two")
    request_all(alice, observe=True)


@scenario("02", "22", "10", needs=(pb.CAPABILITY_RENAME,), long=True)
def renamed_to_the_key_of_the_deleted(script: Script, alice: Part, bob: Peer) -> None:
    """The application renames a record to the key of a record that it has deleted, and back."""
    subscribe(alice, bob)
    alice.put("one", 1)
    alice.put("two", 2)
    script.settle()
    alice.after(1_000).delete("one")
    alice.after(1_000).rename("two", "one")
    request_all(alice)
    alice.after(1_000).rename("one", "two")
    request_all(alice)


@scenario("35", "14", "20", "37", "31", long=True)
def half_a_message_waits(script: Script, alice: Part, bob: Peer, carol: Peer) -> None:
    """While half of a message of Bob waits, the application and Carol change records; then the other half arrives."""
    link = subscribe(alice, bob)
    link.update("whole", 1)
    request_all(alice)
    message = bob.update("halves", 2)
    link.send(message.part(end=100))
    alice.after(1_000).put("mine", 3)
    alice.link(carol).update("of carol", 4)
    script.settle()
    request_all(alice)
    link.send(message.part(begin=100))
    request_all(alice)


# ---- Messages in unusual pieces --------------------------------------------------------------------------------------


@scenario("37", "02", long=True)
def pieces_of_signed_messages(script: Script, rita: Part, bob: Peer, ruth: Peer) -> None:
    """Signed messages arrive in pieces that end in the head, in the body and in the signature, or several at once."""
    subscribe(rita, ruth)
    link = rita.link(bob)
    link.update("whole", 0)
    request_all(rita, read_only=True)
    for cuts in ((1,), (3,), (100,), (-200,), (-1,), (2, 100, -100)):
        message = bob.update(f"cut at {cuts}", "x" * 100, signature="read-write")
        for begin, end in zip((0, *cuts), (*cuts, None), strict=True):
            link.send(message.part(begin, end))
    request_all(rita, read_only=True)
    link.send(*(bob.update(f"joined {number}", number, signature="read-write") for number in range(4)), joined=True)
    request_all(rita, read_only=True)


@scenario("37", "02", long=True)
def an_invalid_message_among_others(script: Script, alice: Part, bob: Peer, carol: Peer) -> None:
    """One piece contains a valid, an invalid and another valid update; then Bob sends one more update."""
    subscribe(alice, carol)
    link = alice.link(bob)
    link.update("good", 1)
    request_all(alice)
    before, after = bob.update("before", 2), bob.update("after", 4)
    link.send(before, bob.update("bad", 3, without=("uuid",)), after, joined=True)
    script.settle()
    link.update("last", 5)
    request_all(alice)


@scenario("31", "35", long=True)
def a_request_behind_an_update(script: Script, alice: Part, bob: Peer) -> None:
    """Bob sends an update and a request in one piece."""
    alice.put("mine", 1)
    link = alice.link(bob)
    update = bob.update("of bob", 2)
    link.send(update, bob.message({"type": "database.get_updates", "since": {}}), joined=True)
    script.settle()
    alice.after(1_000).put("mine too", 3)


# ---- Answers ---------------------------------------------------------------------------------------------------------


@scenario("33", "37", long=True)
def answers_with_deletions_between(script: Script, alice: Part, bob: Peer) -> None:
    """The application and Bob delete records between other changes; others ask for everything."""
    link = alice.link(bob)
    for number in range(4):
        link.update(f"record {number}", number)
        alice.put(f"mine {number}", number)
    script.settle()
    link.update("record 1", deleted=True)
    alice.after(1_000).delete("mine 1")
    link.update("record 0", "again")
    alice.put("mine 0", "again")
    for _ in range(2):
        request_all(alice)


@scenario("37", "34", long=True)
def many_writers_with_one_revision(script: Script, alice: Part, bob: Peer, carol: Peer) -> None:
    """Bob relays updates of 120 writers, all with one revision; Carol is subscribed, and others request updates."""
    subscribe(alice, carol)
    link = alice.link(bob)
    link.send(*(script.peer(f"writer {number}").update(f"record {number}", number) for number in range(120)))
    request_all(alice)
    subscribe(alice, script.peer("asking"), {"writer 0": 2})


@scenario("29", "37", "59", long=True)
def first_revisions_of_one(script: Script, alice: Part, bob: Peer, carol: Peer) -> None:
    """The first change of Bob has the revision 1; others request updates after revisions 0 and 1."""
    bob.revision = 0
    alice.link(bob).update("one", 1)
    alice.link(carol).update("two", 2)
    request_all(alice)
    for revision in (0, 1):
        subscribe(alice, script.peer(f"asking {revision}"), {bob: revision})
        script.settle()
    alice.link(script.peer("dave"))


# ---- Revisions -------------------------------------------------------------------------------------------------------


@scenario("10", "26", store=True, long=True)
def a_deletion_is_the_last_before_a_restart(script: Script, alice: Part, bob: Peer) -> None:
    """The last change before a restart is a deletion; then the application writes again."""
    subscribe(alice, bob)
    alice.put("one", 1)
    alice.put("two", 2)
    alice.after(1_000).delete("two")
    request_all(alice)
    alice.reopen()
    alice.after(1_000).put("three", 3)
    request_all(alice)


@scenario("26", "28", long=True)
def refusals_and_conflicts_of_keys_between(script: Script, alice: Part, bob: Peer, carol: Peer) -> None:
    """Between changes of the application, an invalid update arrives, and then a record with the key of another one."""
    other = subscribe(alice, carol)
    link = alice.link(bob)
    link.update("door", "of bob")
    script.settle()
    alice.put("one", 1)
    link.update("bad", 1, without=("uuid",))
    request_all(alice)
    alice.after(1_000).put("two", 2)
    script.settle()
    other.update("door", "of carol", time=-HOUR_MS)
    settle_and_observe(alice)
    alice.after(1_000).put("three", 3)


@scenario("22", "46", "07", store=True, long=True)
def killed_after_changes_of_others(script: Script, alice: Part, bob: Peer, carol: Peer) -> None:
    """The process is killed after one record got a new key and another a larger clock; the application changes both."""
    link = alice.link(bob)
    version(link, "crowded", "by three", {bob: 1, carol: 3, "dave": 1})
    version(link, "old key", 1, {bob: 1}, record="moved")
    script.advance(1_000)
    version(link, "crowded", "by three", {bob: 7, carol: 3, "dave": 1})
    version(link, "new key", 2, {bob: 2}, record="moved")
    alice.put("mine", 1)
    request_all(alice)
    alice.tick()
    alice.reopen(killed=True)
    request_all(alice)
    alice.after(1_000).put("crowded", "by four")
    alice.put("new key", 3)
    request_all(alice, observe=True)


@scenario("10", "26", store=True, long=True)
def restarted_twice(script: Script, alice: Part, bob: Peer) -> None:
    """A peer restarts twice between changes of the application."""
    subscribe(alice, bob)
    alice.put("one", 1)
    alice.after(1_000).put("two", 2)
    script.settle()
    for _ in range(2):
        alice.reopen()
        request_all(alice)
    alice.after(1_000).put("three", 3)
    alice.put("one", 4)
    request_all(alice)


# ---- Deleted records -------------------------------------------------------------------------------------------------


@scenario("56", long=True)
def ghosts_after_acknowledgments(script: Script, alice: Part, bob: Peer, carol: Peer, rolf: Peer) -> None:
    """Deleted records arrive again: from a read-only peer, after a request for later updates, or after Bob has left."""
    link = link_with_record(alice, bob)
    ghosts = [version(carol, f"record {number}", "there", {carol: 1}, signature="read-write") for number in range(4)]
    for number in range(4):
        version(link, f"record {number}", None, {bob: 1, carol: 1}, deleted=True)
    alice.put("mine", 1)
    request_all(alice)
    for ghost, part in ((ghosts[0], "read-only"), (ghosts[1], "asking"), (ghosts[2], "left"), (ghosts[3], "empty")):
        match part:
            case "read-only":
                alice.link(rolf).send(ghost)
            case "asking":
                subscribe(alice, script.peer("asking"), {bob: bob.revision, alice: 9})
                script.settle()
                alice.link(carol).send(ghost)
            case _:
                link.cut()
                script.settle()
                alice.link(carol).send(ghost)
                link = alice.link(bob)
        request_all(alice)


@scenario("56", long=True)
def ghosts_of_the_twice_deleted(script: Script, alice: Part, bob: Peer, carol: Peer) -> None:
    """A record is deleted, restored and deleted again; then both of its earlier versions arrive."""
    link = link_with_record(alice, bob)
    clocks = ({carol: 1}, {bob: 1, carol: 1}, {bob: 2, carol: 1}, {bob: 3, carol: 1})
    for number, clock in enumerate(clocks[1:]):
        version(link, "door", "restored" if number == 1 else None, clock, deleted=number != 1)
        request_all(alice)
        script.advance(1_000)
    old = alice.link(carol)
    version(old, "door", "there", clocks[0])
    request_all(alice)
    old.send(version(bob, "door", "restored", clocks[2], time=HOUR_MS))
    request_all(alice)


@scenario("56", "02", "05", long=True)
def deletions_of_unknown_records_at_a_reader(script: Script, rita: Part, bob: Peer, carol: Peer, ruth: Peer) -> None:
    """A read-only peer receives the deletion of an unknown record, then a request for updates, then the record."""
    subscribe(rita, ruth)
    link = link_with_record(rita, bob)
    version(link, "door", None, {bob: 1, carol: 1}, deleted=True)
    request_all(rita, read_only=True)
    version(rita.link(carol), "door", "there", {carol: 1}, time=HOUR_MS)
    request_all(rita, read_only=True)


@scenario("56", store=True, long=True)
def ghosts_after_two_restarts(script: Script, alice: Part, bob: Peer, carol: Peer) -> None:
    """A peer with two deletions restarts twice, the second time after a year; then the deleted records arrive."""
    link = subscribe(alice, bob)
    link.update("lamp", "on")
    version(link, "door", None, {bob: 1, carol: 1}, deleted=True)
    gate = alice.put("gate", "shut")
    script.settle()
    alice.after(1_000).delete("gate")
    request_all(alice)
    for passed_ms in (0, YEAR_MS):
        script.advance(passed_ms)
        alice.reopen()
        request_all(alice)
    link = alice.link(carol)
    version(link, "door", "there", {carol: 1}, time=HOUR_MS)
    link.send(gate)
    request_all(alice)


# ---- Access levels ---------------------------------------------------------------------------------------------------


@scenario("06", long=True)
def a_forged_message_among_others(script: Script, rita: Part, bob: Peer, carol: Peer, rolf: Peer) -> None:
    """A read-only peer sends valid updates and an altered one in one piece."""
    rita.link(bob).update("good", 1)
    request_all(rita, read_only=True)
    first = bob.update("better", 2, signature="read-write")
    forged = carol.update("bad", 3, signature="read-write").altered
    rita.link(rolf).send(first, forged, joined=True)
    request_all(rita, read_only=True)


@scenario("06", long=True)
def forgeries_in_unusual_states(script: Script, rita: Part, bob: Peer, carol: Peer, rolf: Peer, ruth: Peer) -> None:
    """A read-only peer without writers gets altered updates: concurrent, of deleted records, with old or new keys."""
    subscribe(rita, ruth)
    _forge_everything(rita, bob, carol, rolf)


@scenario("06", long=True)
def forgeries_in_unusual_states_for_a_writer(
    script: Script, alice: Part, bob: Peer, carol: Peer, rolf: Peer, ruth: Peer
) -> None:
    """Altered updates arrive from a read-only peer: concurrent, of deleted records, with known or new keys."""
    subscribe(alice, ruth)
    _forge_everything(alice, bob, carol, rolf)


def _forge_everything(part: Part, bob: Peer, carol: Peer, rolf: Peer) -> None:
    link = link_with_record(part, bob)
    for key in ("gone", "moved", "both"):
        version(link, key, "of bob", {bob: 1})
    request_all(part, read_only=True)
    part.script.advance(1_000)
    version(link, "gone", None, {bob: 2}, deleted=True)
    request_all(part, read_only=True)
    link.cut()
    part.script.advance(1_000)
    signed: dict[str, Any] = {"signature": "read-write"}
    for forged in (
        version(carol, "gone", "bad", {bob: 2, carol: 1}, **signed),
        version(carol, "elsewhere", "bad", {bob: 1, carol: 1}, record="moved", **signed),
        version(carol, "both", "bad", {carol: 1}, **signed),
        carol.update("lamp", "bad", **signed),
        carol.update("large", length=100_000, **signed),
        version(carol, "unknown", None, {carol: 1}, deleted=True, **signed),
    ):
        part.link(rolf).send(forged.altered)
        request_all(part, read_only=True)
    part.observe()


@scenario("03", store=True, long=True)
def a_reader_is_told_to_write_in_unusual_states(script: Script, rita: Part, bob: Peer) -> None:
    """The application of a read-only peer tries to write without any link, under a deleted key, and after a restart."""
    rita.put("first", 1)
    link = rita.link(bob)
    link.update("theirs", 1)
    link.update("gone", 2)
    request_all(rita, read_only=True)
    script.advance(1_000)
    link.update("gone", deleted=True)
    request_all(rita, read_only=True)
    rita.put("gone", 3)
    rita.reopen()
    rita.put("theirs", 4)
    rita.delete("theirs")
    rita.put("new", 5)
    request_all(rita, read_only=True)


@scenario("03", store=True, long=True)
def a_reader_writes_after_a_restart(script: Script, alice: Part, bob: Peer, rolf: Peer) -> None:
    """A peer restarts; a read-only peer sends unsigned changes of present, deleted and unknown records."""
    link = subscribe(alice, bob)
    link.update("one", 1)
    link.update("gone", 2)
    mine = alice.put("mine", "of alice")
    request_all(alice)
    script.advance(1_000)
    link.update("gone", deleted=True)
    request_all(alice)
    for value in ("bad", "worse"):
        _write_unsigned(alice, bob, rolf)
        for unsigned in (
            bob.update("mine", value, after=mine),
            bob.update("mine", value, after=mine, concurrent=True, time=HOUR_MS),
            bob.update("yours", value, after=mine),
        ):
            alice.link(rolf).send(unsigned)
            request_all(alice)
        if value == "bad":
            alice.reopen()
            alice.link(bob).update("two", 3)
            request_all(alice)


def _write_unsigned(part: Part, bob: Peer, other: Peer) -> None:
    for key, deleted in (("gone", False), ("unknown", True), ("one", False)):
        part.link(other).send(bob.update(key, "bad", deleted=deleted, signature="none"))
        request_all(part, read_only=part.name == "rita")
    part.observe()


@scenario("16", store=True, long=True)
def unsigned_updates_after_a_restart(script: Script, rita: Part, bob: Peer, dave: Peer) -> None:
    """A read-only peer restarts; a writer sends unsigned changes of present, deleted and unknown records."""
    link = rita.link(bob)
    link.update("one", 1)
    link.update("gone", 2)
    script.settle()
    script.advance(1_000)
    link.update("gone", deleted=True)
    request_all(rita, read_only=True)
    _write_unsigned(rita, bob, dave)
    rita.reopen()
    rita.link(bob).update("two", 3)
    request_all(rita, read_only=True)
    _write_unsigned(rita, bob, dave)


@scenario("18", "05", "02", store=True, long=True)
def a_reader_repeats_unusual_messages(script: Script, rita: Part, bob: Peer, carol: Peer, rolf: Peer) -> None:
    """Signed messages with unknown members or unusual numbers, and a changed record, arrive; then the peer restarts."""
    subscribe(rita, rolf)
    link = rita.link(bob)
    link.update("plain", 1)
    request_all(rita, read_only=True)
    link.update("more", 2, members={"trusted": True, "note": ["", None]})
    link.update("numbers", [1.0, 1e-7, 1e300, (1 << 53) - 1], members={"deleted": False})
    link.update("text", "\u2603 \u2028 </script> /")
    version(link, "door", "of bob", {bob: 1})
    script.advance(1_000)
    link.send(version(carol, "door", "of carol", {bob: 1, carol: 1}, signature="read-write"))
    script.advance(1_000)
    link.update("text", "changed")
    request_all(rita, read_only=True)
    rita.reopen()
    request_all(rita)
    subscribe(rita, rolf)
    script.settle()
    rita.link(bob).update("plain", "changed")
    request_all(rita)

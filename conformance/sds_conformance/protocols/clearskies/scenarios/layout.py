"""What records are: keys and values, uuids, who wrote them last and when."""

from __future__ import annotations

import json
from typing import Any

from clearskies_proto.testee.v1 import testee_pb2 as pb
from sds_harness.clearskies.clubs import record_id

from .cast import Actor, ScriptedPeer, Stage, listening, look, scenario

VALUES: tuple[Any, ...] = (
    None,
    True,
    0,
    -1.5,
    9_007_199_254_740_991,
    "",
    "déjà vu \u2603 \U0001f5fb",
    'quotes " and \\ and \n newlines',
    [],
    {},
    [1, [2, [3, {"four": None}]], "five"],
    {"camera": "NIKON", "tags": ["a", "b"], "size": {"w": 3, "h": 2}, "": False},
    "a long one " * 400,
    [0.1, 1e-7, 1e21, 1, 1, "1"],
    ["\ufb01 \u00bd", "2014-02-23T23:45:39Z", {"__proto__": {"x": 1}, "constructor": None}],
    "x" * 100_000,
    {"e\u0301": "\u1e9b\u0323 \u00e5 A\u030a"},
)
KEYS = (
    "",
    "a/b",
    "Photo-1",
    "photo-1",
    "clé",
    "ключ",
    "鍵",
    "\U0001f511",
    "with blanks",
    "key",
    "uuid",
    "k" * 300,
    "\n",
    "\ufb01le",
    "__proto__",
    "large",
    "cle\u0301",
)
TIMES = (
    "2014-02-23T23:45:39Z",
    "2014-02-23T23:45:39.5Z",
    "2014-03-30T12:35:29.113243778Z",
    "1970-01-01T00:00:00Z",
    "2099-12-31T23:59:59.900Z",
    "2014-02-23T23:45:39+05:30",
    "2014-02-23T23:45:39.25-08:00",
    "2014-03-30T12:35:29.11324377Z",
)
ODD_CONTENTS: tuple[tuple[str, Any], ...] = (
    ("false", False),
    ("none of many", [False, None, 0, "", [], {}, -0.5]),
    ("above 53 bits", [(1 << 53) + 1, -(1 << 53) - 1, (1 << 63) - 1]),
    ("Ends with a blank ", 1),
    (" begins with one", 2),
    ("a\0b", "a\0b"),
    ("a", "before NUL"),
    (f"{'k' * 100} one", 3),
    (f"{'k' * 100} two", 4),
    ("\ufb01ne", "ligature"),
    ("Mixed Case", "Mixed Case"),
    ("\ufeffmark", "\ufeffmark"),
    ("empty list", []),
    ("one list", [[]]),
    ("007", "007"),
    ("7", 3.14159265358979),
    ('C:\\new\\"table"', 'C:\\new\\"table"'),
    ("lines\r\nof\rtext", "lines\r\nof\rtext"),
    ("folder", "a folder"),
    ("folder/", "what is in it"),
    ("stra\xdfe", "stra\xdfe"),
    ("strasse", "strasse"),
    ("} and {", "} ] and { [ {"),
    ("many", list(range(3_000))),
)
MEBIBYTE = 1 << 20
HOUR_MS = 3_600_000


@scenario("07", "08", "11", "15", "44")
def keys_and_values(stage: Stage, alice: Actor, bob: ScriptedPeer) -> None:
    """The application writes keys and values of all kinds, of which somebody gets the half as they are written."""
    pairs = list(zip(KEYS, VALUES, strict=True))
    for key, value in pairs[::2]:
        alice.put(key, value)
    listening(alice, bob)
    for key, value in pairs[1::2]:
        alice.put(key, value)


@scenario("07", "02")
def keys_and_values_of_others(stage: Stage, alice: Actor, bob: ScriptedPeer, carol: ScriptedPeer) -> None:
    """Somebody else writes keys and values of all kinds."""
    listening(alice, carol)
    link = alice.link(bob)
    for key, value in zip(KEYS, VALUES, strict=True):
        link.say(bob.update(key, value))
    look(alice)


@scenario("07", "02", "13", long=True)
def odd_contents(stage: Stage, alice: Actor, bob: ScriptedPeer, carol: ScriptedPeer) -> None:
    """Keys with blanks, NUL and letters of two cases, and values such as false, here and from somebody else."""
    listening(alice, carol)
    link = alice.link(bob)
    for key, value in ODD_CONTENTS:
        alice.put(f"{key} " if key.endswith(" ") else f"{key}, own", value)
        if not link.broken:
            link.say(bob.update(f"{key}  " if key.endswith(" ") else key, value))
    alice.put("a\0b, own", 1)
    alice.put("a, own", 2)
    look(alice)
    for value in (1, None, 0):
        alice.after(1_000).put("again", value)
        if not link.broken:
            link.say(bob.update("again, of bob", value))
        look(alice)
    alice.observe()


@scenario("07", needs=(pb.CAPABILITY_STORE,), store=True, long=True)
def contents_after_a_restart(stage: Stage, alice: Actor, bob: ScriptedPeer) -> None:
    """The same is there when the peer is started again."""
    link = alice.link(bob)
    for key, value in ODD_CONTENTS:
        if not link.broken:
            link.say(bob.update(key, value))
    look(alice)
    alice.reopen()
    look(alice)
    alice.observe()


@scenario("02", "07", long=True)
def large_values(stage: Stage, alice: Actor, bob: ScriptedPeer, carol: ScriptedPeer) -> None:
    """The application writes a value of two mebibytes, and so does somebody else."""
    listening(alice, carol)
    alice.put("small", 1)
    alice.put("large", "x" * 2 * MEBIBYTE)
    alice.link(bob).say(bob.update("their small", 1))
    look(alice)
    alice.link(bob).say(bob.update("their large", "y" * 2 * MEBIBYTE))
    look(alice)


@scenario("02", "31", long=True)
def unknown_members_and_types(stage: Stage, alice: Actor, bob: ScriptedPeer, carol: ScriptedPeer) -> None:
    """Updates and requests have members that nobody knows, and a message of an unknown type comes between them."""
    link = alice.link(bob)
    link.say(bob.update("plain", 1))
    look(alice)
    if not link.broken:
        link.say(bob.update("more", 2, trusted=True, note={"by": ["hand"], "deleted": True}))
    look(alice)
    if not link.broken:
        unknown = bob.frame({"type": "x.nobody-knows", "key": "plain", "since": {}})
        link.send(unknown.wire + bob.update("behind", 3).wire)
    look(alice)
    asking = alice.link(carol)
    asking.send(carol.get_updates({}, max=100, note={"type": "database.update"}))


@scenario("13", "02", "50", long=True)
def deletions_in_other_forms(
    stage: Stage, alice: Actor, bob: ScriptedPeer, carol: ScriptedPeer, dave: ScriptedPeer
) -> None:
    """Deletions have no value, or one, or another key; one is written again; a key is taken by an older record."""
    listening(alice, dave)
    link = alice.link(bob)
    keys = ("bare", "full", "moved", "again", "box")
    for key in keys:
        link.say(bob.update(key, f"in {key}"))
    look(alice)
    stage.advance(1_000)
    link.say(bob.update("bare", deleted=True, without=("value",)))
    link.say(bob.update("full", "in full", deleted=True))
    moved = json.loads(bob.update("moved", deleted=True).body)
    link.say(bob.frame(moved | {"key": "elsewhere"}))
    link.say(bob.update("again", deleted=True))
    link.say(bob.update("box", deleted=True, at_ms=stage.now_ms + HOUR_MS))
    look(alice)
    stage.advance(1_000)
    link.say(bob.update("again", "there"))
    alice.link(carol).say(carol.update("box", "of carol"))
    look(alice)
    alice.observe()


@scenario("08", needs=(pb.CAPABILITY_UUID_ACCEPTED,), long=True)
def a_uuid_that_is_taken(stage: Stage, alice: Actor, bob: ScriptedPeer) -> None:
    """The application suggests a uuid for a second record that the first one has."""
    listening(alice, bob)
    uuid = record_id("taken")
    alice.put("one", 1, uuid=uuid)
    alice.after(1_000).put("two", 2, uuid=uuid)
    look(alice)


@scenario("08", "26", "10", needs=(pb.CAPABILITY_STORE,), store=True, long=True)
def started_again_between_changes(stage: Stage, alice: Actor, bob: ScriptedPeer) -> None:
    """The application writes, and the peer is closed at once; started again, it writes the same key and another one."""
    listening(alice, bob)
    alice.put("one", 1)
    alice.after(1_000).put("two", 2)
    alice.reopen()
    listening(alice, bob)
    alice.after(1_000).put("one", 3)
    alice.after(1_000).put("three", 4)
    look(alice)
    alice.observe()


@scenario("11", long=True)
def times_of_day(stage: Stage, alice: Actor, bob: ScriptedPeer) -> None:
    """The application writes two records at several times of a day, and makes new ones."""
    listening(alice, bob)
    for number in range(5):
        alice.put("again", number)
        alice.put(f"new {number}", number)
        stage.advance(5 * HOUR_MS + 1_000)


@scenario("08", "10", long=True)
def many_records(stage: Stage, alice: Actor, alan: Actor, bob: ScriptedPeer) -> None:
    """Two peers make fifty records each."""
    for number in range(50):
        alice.put(f"of alice {number}", number)
        alan.put(f"of alan {number}", number)
    listening(alice, bob)
    listening(alan, bob)


@scenario("09", "10", "27", "12")
def who_wrote_last(stage: Stage, alice: Actor, alan: Actor, bob: ScriptedPeer, carol: ScriptedPeer) -> None:
    """A record goes from hand to hand: two peers under test write it in turn after a third one, two others listen."""
    alice.link(alan)
    listening(alan, carol)
    listening(alice, bob).say(bob.update("door", "open"))
    stage.settle()
    alan.after(1_000).put("door", "shut")
    stage.settle()
    alice.after(1_000).put("door", "ajar")
    alice.put("window", "shut")
    stage.settle()
    alan.after(1_000).put("window", "open")


@scenario("10", "26", "08")
def records_in_turn(stage: Stage, alice: Actor, bob: ScriptedPeer) -> None:
    """The application writes two records in turn, several times."""
    listening(alice, bob)
    for number in range(3):
        alice.after(1_000).put("one", number)
        alice.after(1_000).put("two", number)
        alice.after(1_000).put("one", -number - 1)


@scenario("02", "13")
def a_deletion_that_nobody_saw(stage: Stage, alice: Actor, bob: ScriptedPeer) -> None:
    """The application writes a record and deletes it before anybody is there."""
    alice.put("short-lived", 1)
    alice.put("other", 2)
    alice.after(1_000).delete("short-lived")
    listening(alice, bob)


@scenario("13", "14", "02")
def deletions(stage: Stage, alice: Actor, bob: ScriptedPeer, carol: ScriptedPeer) -> None:
    """Records are deleted, here and by somebody else; others say that they are not, or do not say anything. One is
    written again."""
    link = listening(alice, bob)
    listening(alice, carol)
    link.say(bob.update("silent", 1))
    link.say(bob.frame(json.loads(bob.update("said", 2).body) | {"deleted": False}))
    alice.put("mine", 3)
    look(alice)
    alice.after(1_000).delete("mine")
    stage.advance(1_000)
    link.say(bob.update("silent", deleted=True))
    look(alice)
    alice.after(1_000).put("mine", 4)


@scenario("02", "13")
def a_key_of_the_deleted(stage: Stage, alice: Actor, bob: ScriptedPeer, carol: ScriptedPeer) -> None:
    """Somebody deletes a record, and somebody else makes one with its key; then the first one is deleted once more."""
    link, other = alice.link(bob), alice.link(carol)
    link.say(bob.update("box", 1))
    look(alice)
    stage.advance(1_000)
    link.say(bob.update("box", deleted=True))
    look(alice)
    stage.advance(1_000)
    other.say(carol.update("box", 2))
    look(alice)
    stage.advance(1_000)
    link.say(bob.update("box", deleted=True))
    look(alice)
    alice.observe()


@scenario("07", "22")
def members_are_left_out(stage: Stage, alice: Actor, bob: ScriptedPeer, carol: ScriptedPeer) -> None:
    """Objects are written again with fewer members, here and by somebody else, who also gives one another key."""
    listening(alice, carol)
    link = alice.link(bob)
    alice.put("mine", {"a": 1, "b": {"c": 2}})
    photo, page = bob.update("photo", {"a": 1, "b": 2}), bob.update("page", {"a": 1})
    link.say(photo, page)
    look(alice)
    alice.after(1_000).put("mine", {"b": {}})
    link.say(bob.update("photo", {"b": 3}))
    uuid = json.loads(page.body)["uuid"]
    link.say(bob.update("leaf", {"d": 4}, uuid=uuid, vector_clock={bob.peer_id: 2}))
    look(alice)


@scenario("11")
def times_of_others(stage: Stage, alice: Actor, bob: ScriptedPeer) -> None:
    """Updates have times with and without fractions and offsets, also of peers whose clocks are wrong by decades."""
    link = alice.link(bob)
    for number, time in enumerate(TIMES):
        link.say(bob.update(f"record-{number}", number, update_time=time))
    look(alice)

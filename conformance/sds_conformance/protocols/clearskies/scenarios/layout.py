"""The members of records: keys, values, uuids, last writers and times."""

from __future__ import annotations

import json
from typing import Any

from clearskies_proto.testee.v1 import testee_pb2 as pb
from sds_harness.clearskies.script import Part, Peer, Script

from .conflicts import version
from .scripts import HOUR_MS, request_all, scenario, subscribe

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
    "A\u030a e\u0301",
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
    "letters and accents",
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
    ("none inside", {"a": None, "b": {"c": None}, "d": 1}),
    ("twenty levels", json.loads("[" * 20 + "1" + "]" * 20)),
)
MEBIBYTE = 1 << 20


@scenario("07", "08", "11", "15", "44")
def keys_and_values(script: Script, alice: Part, bob: Peer) -> None:
    """The application writes keys and values of all kinds, half of them before and half after Bob subscribes."""
    pairs = list(zip(KEYS, VALUES, strict=True))
    for key, value in pairs[::2]:
        alice.put(key, value)
    subscribe(alice, bob)
    for key, value in pairs[1::2]:
        alice.put(key, value)


@scenario("07", "02")
def keys_and_values_of_others(script: Script, alice: Part, bob: Peer, carol: Peer) -> None:
    """Bob sends keys and values of all kinds, while Carol is subscribed."""
    subscribe(alice, carol)
    link = alice.link(bob)
    for key, value in zip(KEYS, VALUES, strict=True):
        link.update(key, value)
    request_all(alice)


@scenario("07", "02", "13", long=True)
def odd_contents(script: Script, alice: Part, bob: Peer, carol: Peer) -> None:
    """The application and Bob write unusual keys and values, such as blanks, NUL, upper and lower case, and false."""
    subscribe(alice, carol)
    link = alice.link(bob)
    for key, value in ODD_CONTENTS:
        alice.put(f"{key} " if key.endswith(" ") else f"{key}, own", value)
        link.update(f"{key}  " if key.endswith(" ") else key, value)
    alice.put("a\0b, own", 1)
    alice.put("a, own", 2)
    request_all(alice)
    for value in (1, None, 0):
        alice.after(1_000).put("again", value)
        link.update("again, of bob", value)
        request_all(alice)
    alice.observe()


@scenario("07", store=True, long=True)
def contents_after_a_restart(script: Script, alice: Part, bob: Peer) -> None:
    """A peer receives unusual keys and values, and restarts."""
    link = alice.link(bob)
    for key, value in ODD_CONTENTS:
        link.update(key, value)
    request_all(alice)
    alice.reopen()
    request_all(alice, observe=True)


@scenario("02", "07", long=True)
def large_values(script: Script, alice: Part, bob: Peer, carol: Peer) -> None:
    """The application writes a value of two mebibytes, and so does Bob."""
    subscribe(alice, carol)
    alice.put("small", 1)
    alice.put("large", length=2 * MEBIBYTE)
    alice.link(bob).update("their small", 1)
    request_all(alice)
    alice.link(bob).update("their large", length=2 * MEBIBYTE)
    request_all(alice)


@scenario("02", "31", long=True)
def unknown_members_and_types(script: Script, alice: Part, bob: Peer, carol: Peer) -> None:
    """Updates and requests have unknown members, and a message of an unknown type arrives between updates."""
    link = alice.link(bob)
    link.update("plain", 1)
    request_all(alice)
    link.update("more", 2, members={"trusted": True, "note": {"by": ["hand"], "deleted": True}})
    request_all(alice)
    unknown = bob.message({"type": "x.nobody-knows", "key": "plain", "since": {}})
    link.send(unknown, bob.update("behind", 3), joined=True)
    request_all(alice)
    alice.link(carol).ask(max=100, note={"type": "database.update"})


@scenario("07", "02", long=True)
def escaped_strings(script: Script, alice: Part, bob: Peer, carol: Peer) -> None:
    """In updates of Bob, all characters of strings and names are escaped, and numbers have a capital E."""
    subscribe(alice, carol)
    link = alice.link(bob)
    link.update("plain", "lamp")
    request_all(alice)
    for key, value in (
        ("pair", "\U0001f98a"),
        ("short", '\b\f\n\r\t/\\"'),
        ("\U0001f98a/\t", {"\u00e9": "", "": "\u2028"}),
        ("exponents", [1e300, -1.5e-7]),
    ):
        link.update(key, value, odd="escaped")
        request_all(alice)
    link.update("deleted", odd="escaped", deleted=True)
    request_all(alice, observe=True)


@scenario("02", long=True)
def blanks_of_all_kinds(script: Script, alice: Part, bob: Peer, carol: Peer) -> None:
    """The updates of Bob have spaces, tabs and line ends of two characters between all parts of their JSON."""
    subscribe(alice, carol)
    link = alice.link(bob)
    link.update("plain", "lamp")
    request_all(alice)
    for number in range(3):
        link.update(f"door {number}", [{}, {"number": [number]}], odd="blanks")
        request_all(alice, observe=True)


@scenario("13", "02", "50", long=True)
def deletions_in_other_forms(script: Script, alice: Part, bob: Peer, carol: Peer, dave: Peer) -> None:
    """Deletions have no value, a value, or another key; a record is written again, and a key is reused."""
    subscribe(alice, dave)
    link = alice.link(bob)
    for key in ("bare", "full", "moved", "again", "box"):
        link.update(key, f"in {key}")
    request_all(alice)
    script.advance(1_000)
    link.update("bare", deleted=True, without=("value",))
    link.update("full", "in full", deleted=True)
    link.update("moved", deleted=True, members={"key": "elsewhere"})
    link.update("again", deleted=True)
    link.update("box", deleted=True, time=HOUR_MS)
    request_all(alice)
    script.advance(1_000)
    link.update("again", "there")
    alice.link(carol).update("box", "of carol")
    request_all(alice, observe=True)


@scenario("08", needs=(pb.CAPABILITY_UUID_ACCEPTED,), long=True)
def a_uuid_that_is_taken(script: Script, alice: Part, bob: Peer, carol: Peer) -> None:
    """The application suggests uuids of other records: an existing one, deleted ones, and one without its key."""
    link = subscribe(alice, bob)
    alice.put("one", 1, record="taken")
    alice.after(1_000).put("two", 2, record="taken")
    alice.put("gone", 3, record="deleted")
    alice.after(1_000).delete("gone")
    version(link, "lamp", None, {bob: 1, carol: 1}, record="deleted by bob", deleted=True)
    version(link, "door", "of bob", {bob: 1}, record="without its key", time=-HOUR_MS)
    script.settle()
    version(alice.link(carol), "door", "of carol", {carol: 1}, record="with the key")
    request_all(alice)
    for number, record in enumerate(("deleted", "deleted by bob", "without its key"), 4):
        alice.after(1_000).put(f"number {number}", number, record=record)
    request_all(alice, observe=True)


@scenario("08", "26", "10", store=True, long=True)
def started_again_between_changes(script: Script, alice: Part, bob: Peer) -> None:
    """A peer restarts between changes; the application changes an old record and writes a new one."""
    subscribe(alice, bob)
    alice.put("one", 1)
    alice.after(1_000).put("two", 2)
    alice.reopen()
    subscribe(alice, bob)
    alice.after(1_000).put("one", 3)
    alice.after(1_000).put("three", 4)
    request_all(alice, observe=True)


@scenario("11")
def the_first_milliseconds_of_a_second(script: Script, alice: Part, bob: Peer) -> None:
    """The application writes two records a few milliseconds after a full second, and a third one a little later."""
    subscribe(alice, bob)
    alice.after(7).put("door", "open")
    alice.put("window", "shut")
    alice.after(90).put("gate", "open")


@scenario("08", "10", long=True)
def many_records(script: Script, alice: Part, alan: Part, bob: Peer) -> None:
    """Two peers make fifty records each."""
    for number in range(50):
        alice.put(f"of alice {number}", number)
        alan.put(f"of alan {number}", number)
    subscribe(alice, bob)
    subscribe(alan, bob)


@scenario("09", "10", "27", "12")
def who_wrote_last(script: Script, alice: Part, alan: Part, bob: Peer, carol: Peer) -> None:
    """Bob creates a record; two peers under test change it and a second record in turn, with two subscribers."""
    alice.link(alan)
    subscribe(alan, carol)
    subscribe(alice, bob).update("door", "open")
    script.settle()
    alan.after(1_000).put("door", "shut")
    script.settle()
    alice.after(1_000).put("door", "ajar")
    alice.put("window", "shut")
    script.settle()
    alan.after(1_000).put("window", "open")


@scenario("10", "26", "08")
def records_in_turn(script: Script, alice: Part, bob: Peer) -> None:
    """The application changes two records in turn, several times."""
    subscribe(alice, bob)
    for number in range(3):
        alice.after(1_000).put("one", number)
        alice.after(1_000).put("two", number)
        alice.after(1_000).put("one", -number - 1)


@scenario("02", "13")
def a_deletion_that_nobody_saw(script: Script, alice: Part, bob: Peer) -> None:
    """The application writes a record and deletes it before there is any link."""
    alice.put("short-lived", 1)
    alice.put("other", 2)
    alice.after(1_000).delete("short-lived")
    subscribe(alice, bob)


@scenario("13", "14", "02")
def deletions(script: Script, alice: Part, bob: Peer, carol: Peer) -> None:
    """Records are deleted and written again; in other updates the member deleted is false or absent."""
    link = subscribe(alice, bob)
    subscribe(alice, carol)
    link.update("silent", 1)
    link.update("said", 2, members={"deleted": False})
    alice.put("mine", 3)
    request_all(alice)
    alice.after(1_000).delete("mine")
    script.advance(1_000)
    link.update("silent", deleted=True)
    request_all(alice)
    alice.after(1_000).put("mine", 4)


@scenario("02", "13")
def a_key_of_the_deleted(script: Script, alice: Part, bob: Peer, carol: Peer) -> None:
    """Carol reuses the key of a record that Bob has deleted; then Bob deletes his record again."""
    link, other = alice.link(bob), alice.link(carol)
    link.update("box", 1)
    request_all(alice)
    script.advance(1_000)
    link.update("box", deleted=True)
    request_all(alice)
    script.advance(1_000)
    other.update("box", 2)
    request_all(alice)
    script.advance(1_000)
    link.update("box", deleted=True)
    request_all(alice, observe=True)


@scenario("07", "22")
def members_are_left_out(script: Script, alice: Part, bob: Peer, carol: Peer) -> None:
    """The application and Bob write objects again with fewer members; one record also gets a new key."""
    subscribe(alice, carol)
    link = alice.link(bob)
    alice.put("mine", {"a": 1, "b": {"c": 2}})
    link.update("photo", {"a": 1, "b": 2})
    page = link.update("page", {"a": 1})
    request_all(alice)
    alice.after(1_000).put("mine", {"b": {}})
    link.update("photo", {"b": 3})
    link.update("leaf", {"d": 4}, after=page, clock={bob: 2})
    request_all(alice)


@scenario("11")
def times_of_others(script: Script, alice: Part, bob: Peer) -> None:
    """Bob's updates have times with fractions and offsets, and times that are wrong by decades."""
    link = alice.link(bob)
    for number, time in enumerate(TIMES):
        link.update(f"record-{number}", number, time=time)
    request_all(alice)

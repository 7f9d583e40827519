"""A tour of the ClearSkies database extension, as commands of the testee protocol; at the other ends are scripts."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import cache
from pathlib import Path
from shutil import copy
from typing import Any

from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, PublicFormat

from clearskies_club import NOW, RO, A, B, C, D, body, by_read_write, get_updates, plain, private, update
from clearskies_proto.testee.v1 import testee_pb2 as pb
from clearskies_reference import AccessLevel

E = "e" * 32
WRITER, READER = pb.ACCESS_LEVEL_READ_WRITE, pb.ACCESS_LEVEL_READ_ONLY


@cache
def pems(level: AccessLevel) -> tuple[str, str]:
    """The private and the public key of a level."""
    key = private(level)
    private_pem = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    public_pem = key.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
    return private_pem.decode(), public_pem.decode()


def keys(level: pb.AccessLevel = WRITER) -> pb.Keys:
    """The keys that a peer of a level is given."""
    (writer, writers), (reader, readers) = pems(AccessLevel.READ_WRITE), pems(RO)
    return pb.Keys(
        read_write_private=writer if level == WRITER else "",
        read_only_private=reader if level == READER else "",
        read_write_public=writers,
        read_only_public=readers,
    )


class Driver:
    """Gives commands, and keeps the answers."""

    def __init__(self, handle: Callable[[pb.Request], pb.Reply]) -> None:
        self._handle = handle
        self.replies: list[pb.Reply] = []
        self.now_ms = NOW

    def do(self, command: str, **fields: Any) -> pb.Reply:
        """One command, a second after the one before it."""
        self.now_ms += 1_000
        request = pb.Request(id=len(self.replies) + 1)
        made = getattr(request, command)
        if "now_ms" in made.DESCRIPTOR.fields_by_name:
            fields = {"now_ms": self.now_ms} | fields
        made.CopyFrom(type(made)(**fields))
        reply = self._handle(request)
        self.replies.append(reply)
        return reply

    def open(self, peer_id: str = A, level: pb.AccessLevel = WRITER, **more: Any) -> int:
        opened = self.do("open", peer_id=peer_id, access_level=level, keys=keys(level), **more)
        assert opened.HasField("opened"), opened
        return opened.opened.handle

    def said(self) -> list[bytes]:
        return [reply.SerializeToString(deterministic=True) for reply in self.replies]


def tour(handle: Callable[[pb.Request], pb.Reply], folder: Path) -> list[bytes]:
    """Every answer, as bytes."""
    driver = Driver(handle)
    driver.do("hello", protocol_version=1)
    writes(driver, folder)
    conflicts(driver)
    reads(driver, folder)
    crowds(driver)
    far(driver, folder)
    odd(driver, folder)
    odd_for_readers(driver)
    large(driver)
    edges(driver, folder)
    codecs(driver)
    return driver.said()


def writes(driver: Driver, folder: Path) -> None:
    """A read-write peer, which writes, is asked, asks, and is started again."""
    store = str(folder / "writer")
    one = driver.open(store=store)

    def receive(link: int, data: bytes) -> None:
        driver.do("receive", handle=one, link=link, data=data)

    driver.do("put", handle=one, key="Photo", value="null")
    driver.do("put", handle=one, key="long", value=json.dumps("x" * 2_000))
    driver.do("put", handle=one, key="photo", value='{"a": 1}', uuid="9" * 32)
    driver.do("observe", handle=one)
    for link, (peer_id, level) in enumerate(((B, WRITER), (C, READER), (D, WRITER), (D, WRITER)), start=1):
        driver.do("connect", handle=one, link=link, peer_id=peer_id, access_level=level)
        receive(link, get_updates())
    for link in (1, 2):
        receive(link, get_updates(**{A: 3}))
        receive(link, get_updates(**{A: 9}))
    driver.do("put", handle=one, key="third", value="[1, 2.5]")
    driver.do("put", handle=one, key="clé", value="1")
    driver.do("rename", handle=one, key="third", new_key="fourth")
    driver.do("put", handle=one, key="fourth", value="3", now_ms=NOW)
    driver.do("delete", handle=one, key="fourth")
    for number, (by, rev) in enumerate(((B, 1), (E, 4), (B, 5), (B, 7))):
        fields: dict[str, Any] = {"key": f"k{number}", "last_updated_rev": rev, "vector_clock": {by: rev + number}}
        receive(1, plain(update(uuid=f"{number:032x}", last_updated_by=by, **fields)))
    wide = {"last_updated_rev": (1 << 53) + 1, "vector_clock": {E: (1 << 53) + 1}}
    receive(3, by_read_write(update(uuid="7" * 32, key="wide", last_updated_by=E, **wide)))
    # Once more, by another way; with another key; and deleted.
    receive(3, plain(update(uuid=f"{3:032x}", key="k3", last_updated_rev=7, vector_clock={B: 10})))
    receive(1, plain(update(uuid=f"{3:032x}", key="renamed", last_updated_rev=8, vector_clock={B: 12})))
    receive(1, plain(update(uuid=f"{2:032x}", key="k2", last_updated_rev=9, vector_clock={B: 13}, deleted=True)))
    receive(1, plain(update(uuid=f"{2:032x}", key="k2", last_updated_rev=10, vector_clock={B: 7})))
    two = [plain(update(uuid=f"{n:032x}", key=f"k{n}", last_updated_rev=n, vector_clock={B: n})) for n in (20, 21)]
    receive(1, b"".join(two))
    receive(1, plain(update(uuid=f"{22:032x}", key="k22", last_updated_rev=22, vector_clock={B: 22}, deleted=False)))
    driver.do("tick", handle=one)
    driver.do("put", handle=one, key="k0", value="2")
    driver.do("delete", handle=one, key="k1")
    receive(3, plain(update(uuid=f"{1:032x}", key="k1", last_updated_by=E, last_updated_rev=3, vector_clock={E: 3})))
    # What read-only peers say.
    receive(2, plain(update(uuid="8" * 32, key="by a reader", last_updated_by=E)))
    receive(2, by_read_write(update(uuid="8" * 32, key="by a reader", last_updated_by=C)))
    receive(2, by_read_write(update(uuid="8" * 32, key="by a reader", last_updated_by=E), private(RO)))
    receive(2, by_read_write(update(uuid="8" * 32, key="by a writer", last_updated_by=E, last_updated_rev=6)))
    receive(2, get_updates(**{B: 5, E: 0}))
    driver.do("observe", handle=one)
    driver.do("close", handle=one)
    one = driver.open(store=store)
    driver.do("connect", handle=one, link=1, peer_id=B, access_level=WRITER)
    receive(1, get_updates())
    receive(1, plain(update(uuid=f"{2:032x}", key="k2", last_updated_rev=11, vector_clock={B: 7})))
    driver.do("observe", handle=one)


EARLY, LATE = "2014-01-01T00:00:00.1Z", "2014-01-01T00:00:00.2Z"
WEST, EAST = "2014-01-01T00:30:00-01:00", "2014-01-01T01:00:00+00:00"
"""The later one is written as if it were the earlier one."""


def conflicts(driver: Driver) -> None:
    """A peer for every pair of versions of a record, and of records with a key, in both orders."""
    pairs = [
        (time, order)
        for time in ((EARLY, LATE), (EAST, WEST), (EARLY, EARLY))
        for order in (slice(None), slice(None, None, -1))
    ]
    for resolution in (pb.RESOLUTION_UNSPECIFIED, pb.RESOLUTION_MERGE, pb.RESOLUTION_SEPARATE):
        for times, order in pairs if resolution == pb.RESOLUTION_UNSPECIFIED else pairs[:2]:
            one = driver.open(configuration=pb.Configuration(resolution=resolution))
            driver.do("connect", handle=one, link=1, peer_id=B, access_level=WRITER)
            driver.do("connect", handle=one, link=2, peer_id=C, access_level=WRITER)
            driver.do("receive", handle=one, link=2, data=get_updates())
            for data in _pair(times)[order]:
                driver.do("receive", handle=one, link=1, data=data)
                driver.do("observe", handle=one)
            driver.do("connect", handle=one, link=3, peer_id=D, access_level=WRITER)
            driver.do("receive", handle=one, link=3, data=get_updates())
    ages(driver)


def _pair(times: tuple[str, str]) -> list[bytes]:
    first = update(value={"b": 1, "n": 1}, vector_clock={B: 2, E: 1}, update_time=times[0])
    other = update(value={"e": 2, "n": 2}, vector_clock={B: 1, E: 2}, update_time=times[1], last_updated_by=E)
    rival = update(uuid="2" * 32, last_updated_by=E, last_updated_rev=2, vector_clock={E: 7}, update_time=times[1])
    gone = update(uuid="2" * 32, last_updated_rev=3, vector_clock={B: 8}, update_time=times[0], deleted=True)
    return [plain(first), plain(other), plain(rival), plain(gone)]


def ages(driver: Driver) -> None:
    """Versions that descend from each other, with times that say otherwise."""
    one = driver.open()
    driver.do("connect", handle=one, link=1, peer_id=B, access_level=WRITER)
    driver.do("put", handle=one, key="k", value="1", now_ms=5)
    driver.do("receive", handle=one, link=1, data=plain(update()))
    driver.do("observe", handle=one)
    one = driver.open()
    driver.do("connect", handle=one, link=1, peer_id=B, access_level=WRITER)
    driver.do("put", handle=one, key="unsent", value="1")
    driver.do("delete", handle=one, key="unsent")
    driver.do("put", handle=one, key="k", value="1", uuid="5" * 32, now_ms=5)
    driver.do("receive", handle=one, link=1, data=plain(update(uuid="5" * 32)))
    driver.do("observe", handle=one)
    for clocks, times in (
        (({B: 1}, {B: 2}), (LATE, EARLY)),
        (({B: 2}, {B: 1}), (EARLY, LATE)),
        (({B: 2}, {B: 1}), (LATE, EARLY)),
        (({B: 1}, {B: 1}), (EARLY, LATE)),
    ):
        one = driver.open()
        driver.do("connect", handle=one, link=1, peer_id=B, access_level=WRITER)
        for rev, (clock, time) in enumerate(zip(clocks, times, strict=True), start=1):
            data = plain(update(value=rev, vector_clock=clock, update_time=time, last_updated_rev=rev))
            driver.do("receive", handle=one, link=1, data=data)
        driver.do("observe", handle=one)


def reads(driver: Driver, folder: Path) -> None:
    """A read-only peer, among others, which is started again."""
    store = str(folder / "reader")
    one = driver.open(A, READER, store=store)
    driver.do("put", handle=one, key="k", value="1")
    for link, (peer_id, level) in enumerate(((B, WRITER), (C, READER)), start=1):
        driver.do("connect", handle=one, link=link, peer_id=peer_id, access_level=level)
        driver.do("receive", handle=one, link=link, data=get_updates())
    flipped = by_read_write(update()).replace(b'"n": 1', b'"n": 2')
    for data in (plain(update()), flipped, by_read_write(update(), private(RO)), by_read_write(update())):
        driver.do("receive", handle=one, link=1, data=data)
        driver.do("receive", handle=one, link=2, data=data)
    unsigned = plain(update(value=2, last_updated_rev=2, vector_clock={B: 2}))
    driver.do("receive", handle=one, link=1, data=unsigned)
    driver.do("rename", handle=one, key="k", new_key="l")
    driver.do("observe", handle=one, uuids=["1" * 32])
    driver.do("close", handle=one)
    one = driver.open(A, READER, store=store)
    driver.do("connect", handle=one, link=1, peer_id=C, access_level=READER)
    driver.do("receive", handle=one, link=1, data=get_updates())


def crowds(driver: Driver) -> None:
    """More peers than a handful that ask, and more records than a page holds."""
    one = driver.open()
    for link in range(1, 11):
        driver.do("connect", handle=one, link=link, peer_id=f"{link:032x}", access_level=WRITER)
        driver.do("receive", handle=one, link=link, data=get_updates())
    driver.do("put", handle=one, key="k", value="1")
    for rev in range(1, 301):
        record = update(uuid=f"{rev:032x}", key=f"key {rev}", last_updated_rev=rev)
        driver.do("receive", handle=one, link=1, data=plain(record))
    driver.do("observe", handle=one)
    driver.do("receive", handle=one, link=2, data=get_updates())


def far(driver: Driver, folder: Path) -> None:
    """Times, revisions and letters that are out of the way, and a peer whose changes are written over before it is
    started again."""
    store = str(folder / "written over")
    one = driver.open(store=store)
    driver.do("connect", handle=one, link=1, peer_id=B, access_level=WRITER)
    for by, year, clock in ((B, 2031, {B: 2, E: 1}), (E, 2041, {B: 1, E: 2})):
        record = update(key="cle\u0301", last_updated_by=by, update_time=f"{year}-01-01T00:00:00Z", vector_clock=clock)
        driver.do("receive", handle=one, link=1, data=plain(record))
    wide = update(uuid="3" * 32, key="wide", last_updated_by=D, last_updated_rev=(1 << 53) + 1, vector_clock={D: 1})
    driver.do("receive", handle=one, link=1, data=plain(wide))
    driver.do("receive", handle=one, link=1, data=get_updates(**{C: 9, D: 1 << 53}))
    driver.do("connect", handle=one, link=2, peer_id=C, access_level=WRITER)
    driver.do("put", handle=one, key="k", value="1", uuid="4" * 32)
    over = update(uuid="4" * 32, last_updated_rev=2, vector_clock={A: 9, B: 1}, update_time="2050-01-01T00:00:00Z")
    driver.do("receive", handle=one, link=1, data=plain(over))
    driver.do("observe", handle=one)
    driver.do("close", handle=one)
    one = driver.open(store=store)
    driver.do("put", handle=one, key="another", value="2", uuid="5" * 32)
    driver.do("observe", handle=one)
    again(driver, one)


def again(driver: Driver, one: int) -> None:
    """Repeated values: a key, an own change, another version; and a link with both ends here."""
    for link, (peer_id, level) in enumerate(((B, WRITER), (C, READER), (B, WRITER)), start=1):
        driver.do("connect", handle=one, link=link, peer_id=peer_id, access_level=level)
        driver.do("receive", handle=one, link=link, data=get_updates())
    for link, fields in (
        (1, {"uuid": "6" * 32, "key": "gone", "last_updated_rev": 30, "deleted": True}),
        (1, {"uuid": "7" * 32, "key": "gone", "last_updated_rev": 31}),
        (1, {"uuid": "8" * 32, "key": "own", "last_updated_by": A, "last_updated_rev": 50, "vector_clock": {A: 50}}),
        (1, {"uuid": "9" * 32, "key": "old", "last_updated_rev": 32, "value": {"a": 1}, "vector_clock": {B: 32}}),
        (1, {"uuid": "9" * 32, "key": "new", "last_updated_rev": 33, "value": {"b": 2}, "vector_clock": {B: 33}}),
        (2, {"uuid": "9" * 32, "key": "new", "last_updated_rev": 34, "value": {"c": 3}, "vector_clock": {B: 34}}),
    ):
        driver.do("receive", handle=one, link=link, data=plain(update(**fields)))
    driver.do("disconnect", handle=one, link=3)
    driver.do("put", handle=one, key="last", value="0")
    driver.do("observe", handle=one)


def odd(driver: Driver, folder: Path) -> None:
    """Keys, values, clocks and deletions of odd forms; many deletions and a year; and the same again."""
    store = str(folder / "odd")
    one = driver.open(store=store)
    for link, peer_id in enumerate((B, D, B), start=1):
        driver.do("connect", handle=one, link=link, peer_id=peer_id, access_level=WRITER)
    rev = 100

    def tell(key: str, value: Any, uuid: str = "", by: str = B, link: int = 1, **more: Any) -> None:
        nonlocal rev
        rev += 1
        fields = {"uuid": uuid or f"{rev:032x}", "key": key, "value": value, "last_updated_by": by}
        said = {**fields, "last_updated_rev": rev, "vector_clock": {by: rev}, **more}
        driver.do("receive", handle=one, link=link, data=plain(update(**said)))

    def ask(link: int = 2) -> None:
        driver.do("receive", handle=one, link=link, data=get_updates())

    driver.do("receive", handle=one, link=2, data=plain({"type": "database.get_updates", "since": {}, "max": 1}))
    for key, value in ((" Blank ", False), ("a\0b", []), ("k" * 100, (1 << 53) + 1)):
        tell(key, value)
    for key, text in (("own\0", "false"), ("number", str((1 << 53) + 1))):
        driver.do("put", handle=one, key=key, value=text)
    driver.do("put", handle=one, key="number", value=str((1 << 53) + 1))
    tell("more", 1, trusted=True, note=1)
    tell("zero", 1, vector_clock={B: 1, C: 0})
    tell("other link", 1, link=3)
    tell("deep", 1)
    deep = json.dumps(update(uuid="d" * 32, key="deep one", value=0)).replace(
        '"value": 0', '"value":' + "[" * 150 + "]" * 150
    )
    driver.do("receive", handle=one, link=1, data=plain_text(deep))
    ask()
    tell("crowd", 1, uuid="a" * 32, vector_clock={f"{number:032x}": number for number in range(1, 21)})
    driver.do("put", handle=one, key="crowd", value="2")
    driver.do("put", handle=one, key="taken", value="3", uuid="a" * 32)
    letters = update(uuid="b" * 32, key="letters", value="\u2603" * 99, last_updated_rev=190, vector_clock={B: 190})
    wire = plain_text(json.dumps(letters, ensure_ascii=False))
    for piece in (wire[: len(wire) // 2], wire[len(wire) // 2 : -150], wire[-150:-149], wire[-149:]):
        driver.do("receive", handle=one, link=1, data=piece)
    for number in range(3):
        tell("three", number, by=(B, D, E)[number], update_time=f"2015-01-01T00:00:0{number}Z")
    driver.do("observe", handle=one)
    rev = 200
    times = ("2014-01-01T00:00:00.1234Z", "2014-01-01T00:00:00.1235Z")
    for uuid, later, deleted in (("1", 0, False), ("2", 1, False), ("3", 0, True), ("4", 1, True)):
        for at, (by, clock) in enumerate(((E, {B: 1, E: 2}), (B, {B: 2, E: 1}))):
            key, time = f"key of {by[0]} {uuid}", times[(at + later) % 2]
            tell(key, at, uuid * 30 + "ab", by, vector_clock=clock, update_time=time, deleted=deleted and by == B)
    for by, clock in ((E, {B: 1, E: 2}), (B, {B: 2, E: 1})):
        tell("tie", 9 if by == B else 1, "5" * 30 + "cd", by, vector_clock=clock, update_time=times[0])
    for by, clock in ((B, {B: 2, E: 1}), (E, {B: 1, E: 2})):
        tell("gone", None, "6" * 30 + "cd", by, deleted=True, vector_clock=clock, update_time=times[0])
    for number in range(12):
        tell(f"gone {number}", None, f"{number:02x}" * 16, vector_clock={B: 2}, deleted=True)
    tell("gone 11", 1)
    ask()
    for number in (0, 11):
        tell(f"gone {number}", 1, f"{number:02x}" * 16, vector_clock={B: 1})
    driver.do("tick", handle=one, now_ms=driver.now_ms + 366 * 86_400_000)
    tell("gone 10", 1, "0a" * 16, vector_clock={B: 1})
    without = {name: said for name, said in update(uuid="e" * 32, last_updated_rev=300).items() if name != "value"}
    driver.do("receive", handle=one, link=1, data=plain(without | {"deleted": True}))
    driver.do("put", handle=one, key="listened to", value="1")
    driver.do("observe", handle=one)
    driver.do("receive", handle=one, link=1, data=plain({"type": "x.unknown"}))
    tell("behind", 1)
    driver.do("close", handle=one)
    one = driver.open(store=store)
    driver.do("put", handle=one, key="crowd", value="3")
    driver.do("observe", handle=one)


def large(driver: Driver) -> None:
    """Values of more than a mebibyte."""
    one, text = driver.open(), "y" * ((1 << 20) + 100)
    driver.do("connect", handle=one, link=1, peer_id=B, access_level=WRITER)
    driver.do("receive", handle=one, link=1, data=plain(update(value=text)))
    driver.do("put", handle=one, key="own", value=json.dumps(text))
    driver.do("observe", handle=one)


def edges(driver: Driver, folder: Path) -> None:
    """Pieces, pings and crowds of messages, contents on the edge, commands that are refused, and a store that is copied
    while it is open."""
    store = folder / "edges"
    one = driver.open(store=str(store))
    for link, peer_id in enumerate((B, C), start=1):
        driver.do("connect", handle=one, link=link, peer_id=peer_id, access_level=WRITER)

    def receive(data: bytes, link: int = 1) -> None:
        driver.do("receive", handle=one, link=link, data=data)

    number = 0

    def said(**fields: Any) -> bytes:
        nonlocal number
        number += 1
        own = {
            "uuid": f"{number:032x}",
            "key": f"edge {number}",
            "last_updated_rev": number,
            "vector_clock": {B: number},
        }
        return plain(update(**own | fields))

    receive(get_updates() + said())
    receive(b"".join(said() for _ in range(80)))
    halves = said(), plain(update(uuid="c" * 32, key="of c", last_updated_by=C, vector_clock={C: 1}))
    for half in (slice(50), slice(50, None)):
        for link, wire in enumerate(halves, start=1):
            receive(wire[half], link)
    wire = said()
    receive(wire[:50])
    driver.do("tick", handle=one)
    receive(wire[50:])
    receive(plain({"type": "core.ping", "timeout": 60}))
    for key, value in (
        ("007", 3.14159265358979),
        ("folder/", list(range(1_100))),
        ("stra\xdfe", "C:\\new"),
        ("brace", "}\r\n"),
    ):
        receive(said(key=key, value=value))
    receive(said(uuid="c0" * 16, key="null", value=1))
    receive(said(uuid="c0" * 16, key="null", value=None))
    driver.do("put", handle=one, key="null", value="null")
    driver.do("delete", handle=one, key="nothing")
    driver.do("put", handle=one, key="mine", value="1", uuid="a" * 32)
    driver.do("put", handle=one, key="other", value="2", uuid="b" * 32)
    driver.do("rename", handle=one, key="mine", new_key="mine")
    driver.do("rename", handle=one, key="mine", new_key="other")
    driver.do("delete", handle=one, key="other")
    driver.do("put", handle=one, key="other", value="3", uuid="d" * 32)
    receive(said(uuid="e" * 32, key="wide", vector_clock={A: (1 << 31) - 1, B: 1}))
    driver.do("put", handle=one, key="wide", value="4")
    for clock, value in (({B: 200}, 1), ({B: 1, C: 1}, 2), ({B: 201, C: 1, A: 9}, 3), ({B: 1, D: 1}, 4)):
        receive(
            said(
                uuid="f" * 32,
                key="contested",
                value=value,
                vector_clock=clock,
                update_time=f"203{value}-01-01T00:00:00Z",
            )
        )
    receive(said(uuid="9" * 32, key="new key", deleted=True, vector_clock={B: 2}))
    receive(said(uuid="9" * 32, key="old key", vector_clock={B: 1}))
    driver.do("observe", handle=one)
    for file in sorted(folder.glob("edges*")):
        copy(file, folder / file.name.replace("edges", "copy", 1))
    two = driver.open(store=str(folder / "copy"))
    driver.do("observe", handle=two)


def odd_for_readers(driver: Driver) -> None:
    """A conflict at a read-only peer, and one at a read-write peer whose version a read-only peer has got."""
    first = update(value=1, vector_clock={B: 2}, update_time=LATE)
    other = update(value=2, vector_clock={B: 1, E: 2}, update_time=EARLY, last_updated_by=E)
    for level in (READER, WRITER):
        one = driver.open(level=level)
        for link, (peer_id, theirs) in enumerate(((B, WRITER), (C, READER)), start=1):
            driver.do("connect", handle=one, link=link, peer_id=peer_id, access_level=theirs)
        for data in (by_read_write(first), by_read_write(other)):
            driver.do("receive", handle=one, link=2, data=get_updates())
            driver.do("receive", handle=one, link=1, data=data)
        driver.do("receive", handle=one, link=2, data=get_updates())


def plain_text(body: str) -> bytes:
    """A body that is written already, as a message."""
    return b"m%d%s" % (len(body.encode()), body.encode())


def codecs(driver: Driver) -> None:
    """Commands that need no peer."""
    driver.do("compare_clocks", one=json.dumps({A: (1 << 31) - 1}).encode(), other=json.dumps({A: 1 << 31}).encode())
    driver.do("compare_clocks", one=json.dumps({A: 1}).encode(), other=json.dumps({A: 1, B: 1}).encode())
    driver.do("compare_clocks", one=json.dumps({A: (1 << 53) + 1}).encode(), other=json.dumps({A: 1 << 53}).encode())
    driver.do("frame", body=body(update()), private_key=keys().read_write_private)
    framed = driver.replies[-1].framed.data
    driver.do("unframe", data=framed + b"m2{}" + framed[:9])
    signature = driver.replies[-1].unframed.messages[0].signature
    for text in (body(update()), body(update(value=2))):
        driver.do("verify", body=text, signature=signature, public_key=keys().read_write_public)

"""The peer of the ClearSkies database in JavaScript, driven as a process with plain lines of JSON."""

from __future__ import annotations

import base64
import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import padding, rsa
from hypothesis import given, settings
from hypothesis import strategies as st

ADAPTER = Path(__file__).parents[1] / "adapters" / "clearskies-js" / "adapter.mjs"
A, B, C, D = (digit * 32 for digit in "abcd")
NOW = 1_800_000_000_000
READ_WRITE, READ_ONLY = "ACCESS_LEVEL_READ_WRITE", "ACCESS_LEVEL_READ_ONLY"
PATIENCE_S = 60
BODY_BYTES = 16_777_216
UUID = "0123456789abcdef" * 2

Fields = dict[str, Any]


@cache
def private_key(level: str) -> rsa.RSAPrivateKey:
    """The key pair of an access level."""
    assert level in (READ_WRITE, READ_ONLY)
    return rsa.generate_private_key(public_exponent=65537, key_size=2048)


def private_pem(level: str) -> str:
    key = private_key(level)
    form = serialization.PrivateFormat.PKCS8
    return key.private_bytes(serialization.Encoding.PEM, form, serialization.NoEncryption()).decode()


def public_pem(level: str) -> str:
    form = serialization.PublicFormat.SubjectPublicKeyInfo
    return private_key(level).public_key().public_bytes(serialization.Encoding.PEM, form).decode()


def keys_of(level: str) -> dict[str, str]:
    """The keys that a member of a level has."""
    keys = {"readOnlyPrivate": private_pem(READ_ONLY), "readOnlyPublic": public_pem(READ_ONLY)}
    if level == READ_WRITE:
        keys["readWritePrivate"] = private_pem(READ_WRITE)
    return {**keys, "readWritePublic": public_pem(READ_WRITE)}


def b64(data: bytes) -> str:
    return base64.b64encode(data).decode()


def encode(message: Fields) -> bytes:
    """An unsigned message on a link."""
    body = json.dumps(message).encode()
    return b"m%d" % len(body) + body


def encode_signed(message: Fields, level: str = READ_WRITE) -> bytes:
    """A message on a link that a level has signed."""
    body = json.dumps(message).encode()
    signature = base64.b64encode(private_key(level).sign(body, padding.PKCS1v15(), hashes.SHA256()))
    return b"s%d:%d" % (len(body), len(signature)) + body + b"\n" + signature + b"\n"


def update(key: str = "k", by: str = D, rev: int = 2, **others: Any) -> Fields:
    """A database.update, all of whose fields can be told."""
    message = {
        "type": "database.update",
        "key": key,
        "value": {"n": 1},
        "uuid": UUID,
        "last_updated_by": by,
        "last_updated_rev": rev,
        "update_time": "2026-02-23T23:45:39.123456789Z",
        "vector_clock": {by: rev},
    }
    return {**message, **others}


GET_UPDATES = encode({"type": "database.get_updates", "since": {}})


class Process:
    """The adapter as a process."""

    def __init__(self) -> None:
        node = shutil.which("node")
        if node is None:
            pytest.skip("node is not installed: install Node 20 or newer")
        self.process = subprocess.Popen([node, ADAPTER], stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def line(self, line: bytes) -> Fields:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(line + b"\n")
        self.process.stdin.flush()
        answered: Fields = json.loads(self.process.stdout.readline())
        return answered

    def ask(self, command: str, **fields: Any) -> Fields:
        """The whole reply."""
        reply = self.line(json.dumps({"id": "7", command: fields}).encode())
        assert reply.pop("id") == "7"
        return reply

    def end(self) -> None:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        if self.process.poll() is None:
            self.process.stdin.close()
            assert self.process.wait(PATIENCE_S) == 0
        self.process.stdout.close()

    def kill(self) -> None:
        self.process.kill()
        self.process.wait(PATIENCE_S)


class Peer:
    """A peer in a process. What it sends waits in `out`, by link."""

    def __init__(self, process: Process, peer_id: str, level: str = READ_WRITE, **others: Any) -> None:
        self.process, self.peer_id, self.level = process, peer_id, level
        self.out: dict[int, bytes] = {}
        self.events: list[Fields] = []
        fields = {"nowMs": str(NOW), "peerId": peer_id, "accessLevel": level, "keys": keys_of(level), **others}
        self.handle = process.ask("open", **fields)["opened"]["handle"]

    def ask(self, command: str, now: int = NOW, **fields: Any) -> Fields:
        reply = self.process.ask(command, nowMs=str(now), handle=self.handle, **fields)
        for sent in reply.get("effects", {}).get("sent", []):
            link = int(sent["link"])
            self.out[link] = self.out.get(link, b"") + base64.b64decode(sent["data"])
        self.events += reply.get("effects", {}).get("events", [])
        return reply

    def connect(self, link: int, peer_id: str, level: str = READ_WRITE) -> None:
        assert "effects" in self.ask("connect", link=str(link), peerId=peer_id, accessLevel=level)

    def receive(self, link: int, data: bytes) -> Fields:
        return self.ask("receive", link=str(link), data=b64(data))

    def scripted(self, link: int, level: str = READ_WRITE) -> None:
        """Connects D, which the test plays, and subscribes it."""
        self.connect(link, D, level)
        self.receive(link, GET_UPDATES)
        self.out.clear()
        self.events.clear()

    def state(self) -> Fields:
        state: Fields = self.process.ask("observe", handle=self.handle)["state"]
        return state

    def values(self) -> Fields:
        """What the application sees: the values by key."""
        records = [record for record in self.state()["records"] if not record["deleted"]]
        values = {record["key"]: json.loads(record["value"]) for record in records}
        assert len(values) == len(records)
        return values

    def sent(self, link: int) -> list[Fields]:
        """The messages that wait on a link, which they leave by this."""
        reply = self.process.ask("unframe", data=b64(self.out.pop(link, b"")))["unframed"]
        assert reply["rest"] == "0"
        return [json.loads(base64.b64decode(message["body"])) for message in reply["messages"]]

    def closed(self) -> list[str]:
        return [event["linkClosed"]["link"] for event in self.events if "linkClosed" in event]


@pytest.fixture
def process() -> Iterator[Process]:
    process = Process()
    yield process
    process.end()


def join(one: Peer, other: Peer, number: int) -> None:
    """A link between two peers."""
    one.connect(number, other.peer_id, other.level)
    other.connect(number, one.peer_id, one.level)


def settle(*links: tuple[Peer, Peer, int]) -> list[bytes]:
    """Carries what waits until nothing does; all that was carried."""
    carried = []
    for _ in range(100):
        waiting = [
            (far, link, near.out.pop(link))
            for a, b, link in links
            for near, far in ((a, b), (b, a))
            if link in near.out
        ]
        if not waiting:
            return carried
        for far, link, data in waiting:
            carried.append(data)
            far.receive(link, data)
    raise AssertionError("it never ends")


def test_two_read_write_peers_have_the_same_in_the_end(process: Process) -> None:
    a, b = Peer(process, A), Peer(process, B)
    a.ask("put", key="old", value="[1]")
    join(a, b, 1)
    settle((a, b, 1))
    b.ask("put", key="new", value='{"x":null}')
    a.ask("rename", key="old", newKey="renamed")
    settle((a, b, 1))
    assert a.values() == b.values() == {"renamed": [1], "new": {"x": None}}
    b.ask("delete", key="renamed", now=NOW - 3_600_000)
    settle((a, b, 1))
    assert a.values() == b.values() == {"new": {"x": None}}
    assert a.state()["known"] == b.state()["known"] == {"since": {A: "3", B: "3"}}
    assert (a.state()["revision"], b.state()["revision"]) == ("3", "3")
    # Each change followed from the one before: however late a clock is, there is no conflict.
    assert not [event for event in a.events + b.events if "conflict" in event]


def test_the_clock_moves_with_a_change_a_sending_and_a_receipt(process: Process) -> None:
    a, b = Peer(process, A), Peer(process, B)
    a.ask("put", key="k", value="1")
    assert a.state()["records"][0]["vectorClock"] == {A: "1"}
    join(a, b, 1)
    settle((a, b, 1))
    assert a.state()["records"][0]["vectorClock"] == {A: "2"}
    assert b.state()["records"][0]["vectorClock"] == {A: "2", B: "1"}
    b.ask("put", key="k", value="2")
    settle((a, b, 1))
    assert a.state()["records"][0]["vectorClock"] == {A: "3", B: "3"}


def test_a_read_only_relay_repeats_the_signed_bytes(process: Process) -> None:
    a, relay = Peer(process, A), Peer(process, B, READ_ONLY)
    reader, writer = Peer(process, C, READ_ONLY), Peer(process, D)
    join(a, relay, 1)
    settle((a, relay, 1))
    a.ask("put", key="k", value='"signed"')
    (signed,) = settle((a, relay, 1))
    assert signed.startswith(b"s")
    join(relay, reader, 2)
    join(relay, writer, 3)
    assert signed in settle((relay, reader, 2))
    assert signed in settle((relay, writer, 3))
    assert reader.values() == writer.values() == {"k": "signed"}
    assert "rejected" in relay.ask("put", key="k", value="1")
    assert "rejected" in relay.ask("delete", key="k")
    assert relay.values() == {"k": "signed"}


@pytest.mark.parametrize("receiver", [READ_WRITE, READ_ONLY])
def test_a_flipped_byte_is_refused_and_the_link_closed(process: Process, receiver: str) -> None:
    peer = Peer(process, A, receiver)
    peer.scripted(1, READ_ONLY)
    message = bytearray(encode_signed(update()))
    message[message.index(b'"n": 1') + 5] ^= 1
    assert "effects" in peer.receive(1, bytes(message))
    assert peer.closed() == ["1"]
    assert peer.values() == {}
    assert peer.state()["known"]["since"] == {}
    assert "rejected" in peer.receive(1, encode_signed(update()))


@pytest.mark.parametrize("message", [encode(update()), encode_signed(update(), READ_ONLY)])
def test_a_read_only_peer_cannot_make_a_change(process: Process, message: bytes) -> None:
    peer = Peer(process, A)
    peer.scripted(1, READ_ONLY)
    peer.receive(1, message)
    assert peer.closed() == ["1"]
    assert peer.values() == {}


def test_an_update_is_not_sent_back_and_not_repeated_twice(process: Process) -> None:
    peer = Peer(process, A)
    peer.scripted(1)
    peer.connect(2, B)
    peer.receive(2, GET_UPDATES)
    peer.out.clear()
    message = encode(update())
    peer.receive(1, message)
    assert peer.out == {2: message}
    peer.out.clear()
    peer.receive(1, message)
    peer.receive(2, message)
    assert peer.out == {}
    assert len(peer.events) == 1


def test_a_deleted_record_does_not_come_back(process: Process) -> None:
    a, b, c = Peer(process, A), Peer(process, B), Peer(process, C)
    join(a, b, 1)
    join(b, c, 2)
    a.ask("put", key="ghost", value="1")
    settle((a, b, 1), (b, c, 2))
    for peer in (b, c):
        peer.ask("disconnect", link="2")
    a.ask("delete", key="ghost")
    settle((a, b, 1))
    for peer in (a, b):
        peer.ask("disconnect", link="1")
    join(b, c, 3)
    settle((b, c, 3))
    join(a, b, 4)
    settle((a, b, 4), (b, c, 3))
    assert a.values() == b.values() == c.values() == {}
    assert [record["deleted"] for record in c.state()["records"]] == [True]


def test_what_was_answered_survives_the_end_of_the_process(tmp_path: Path) -> None:
    store = str(tmp_path / "store")
    process = Process()
    peer = Peer(process, A, store=store)
    peer.scripted(1)
    peer.ask("put", key="mine", value="9007199254740993")
    peer.receive(1, encode(update()))
    before = peer.state()
    process.kill()
    # A line that was never finished was never answered for.
    with Path(store).open("ab") as file:
        file.write(b'{"revision":99,"kno')
    process = Process()
    assert "rejected" in process.ask("open", peerId=B, accessLevel=READ_WRITE, keys=keys_of(READ_WRITE), store=store)
    peer = Peer(process, A, store=store)
    assert peer.state() == before
    peer.ask("put", key="more", value="1")
    assert peer.state()["revision"] == "3"
    process.kill()
    process = Process()
    assert set(Peer(process, A, store=store).values()) == {"mine", "more", "k"}
    process.end()


def test_a_journal_does_not_grow_forever(process: Process, tmp_path: Path) -> None:
    store = tmp_path / "store"
    peer = Peer(process, A, store=str(store))
    value = json.dumps("x" * 500_000)
    for _ in range(20):
        peer.ask("put", key="k", value=value)
    assert store.stat().st_size < 5_500_000
    before = peer.state()
    peer.ask("close")
    assert Peer(process, A, store=str(store)).state() == before


def test_a_damaged_store_is_refused(process: Process, tmp_path: Path) -> None:
    store = tmp_path / "store"
    for content in (b"\n", b"hello\n", b'{"format":"clearskies-js 1","peer":"%b"}\n{}\n' % A.encode(), b"\xff\n"):
        store.write_bytes(content)
        reply = process.ask("open", peerId=A, accessLevel=READ_WRITE, keys=keys_of(READ_WRITE), store=str(store))
        assert "rejected" in reply, content
        assert store.read_bytes() == content
    reply = process.ask("open", peerId=A, accessLevel=READ_WRITE, keys=keys_of(READ_WRITE), store=str(tmp_path))
    assert "rejected" in reply


@pytest.mark.parametrize("number", [2**53 + 1, 2**63 - 1, 2**64 - 1])
def test_wide_integers_survive(process: Process, tmp_path: Path, number: int) -> None:
    store = str(tmp_path / "store")
    peer = Peer(process, A, store=store)
    peer.scripted(1)
    peer.receive(1, encode(update(rev=number, value=[number], vector_clock={D: number, B: 2**53 + 1})))
    peer.ask("close")
    peer = Peer(process, A, store=store)
    (record,) = peer.state()["records"]
    assert record["lastUpdatedRev"] == str(number)
    assert record["vectorClock"] == {D: str(number), B: str(2**53 + 1), A: "1"}
    peer.connect(1, C)
    (asked,) = peer.sent(1)
    assert asked["since"] == {D: number}
    peer.receive(1, GET_UPDATES)
    (sent,) = peer.sent(1)
    assert (sent["last_updated_rev"], sent["value"]) == (number, [number])
    peer.ask("put", key="k", value="1.0")
    assert peer.sent(1)[0]["vector_clock"] == {D: number, B: 2**53 + 1, A: 3}


def test_what_is_no_64_bit_integer_closes_the_link(process: Process) -> None:
    peer = Peer(process, A)
    wrong = [2**64, -1, 1.0, "1", None, 10**5000]
    for link, number in enumerate(wrong):
        peer.scripted(link)
        text = json.dumps(update(rev=0)).replace('"last_updated_rev": 0', '"last_updated_rev": NUMBER')
        body = text.replace("NUMBER", "1" + "0" * 5000 if number == wrong[-1] else json.dumps(number)).encode()
        peer.receive(link, b"m%d" % len(body) + body)
        assert peer.closed() == [str(link)]
    assert peer.values() == {}


def test_a_message_can_be_cut_at_every_byte(process: Process) -> None:
    stream = encode_signed(update("ß🦊"))
    for at in range(1, len(stream)):
        peer = Peer(process, A, READ_ONLY)
        peer.connect(1, D)
        peer.receive(1, stream[:at])
        assert peer.values() == {}
        peer.receive(1, stream[at:])
        assert peer.values() == {"ß🦊": {"n": 1}}
        peer.ask("close")


def test_many_messages_come_a_byte_at_a_time(process: Process) -> None:
    peer = Peer(process, A)
    peer.connect(1, D)
    attached = b'!14{"type":"foo"}3\nabc12\nm2{}m2{}m2{}0\n$14:4{"type":"foo"}\nAAAA\n0\n'
    for byte in encode(update()) + attached + encode_signed(update("other", uuid=UUID[::-1], rev=3)):
        peer.receive(1, bytes([byte]))
    assert peer.values() == {"k": {"n": 1}, "other": {"n": 1}}


def test_a_link_that_breaks_within_a_message_leaves_nothing(process: Process) -> None:
    peer = Peer(process, A)
    peer.scripted(1)
    peer.receive(1, encode(update())[:-1])
    peer.ask("disconnect", link="1")
    assert peer.values() == {}
    peer.scripted(2)
    peer.receive(2, encode(update()))
    assert peer.values() == {"k": {"n": 1}}


DEEP = b"[" * 200_000
GARBAGE = {
    "no kind": b"x2{}",
    "no length": b"m{}",
    "no body": b"m0{}",
    "no object": b"m2[]",
    "whitespace first": b"m3 {}",
    "too long": b"m16777217{",
    "endless length": b"m" + b"0" * 100,
    "not JSON": b"m2{x",
    "unfinished JSON": b'm13{"type":"foo"',
    "no type": b"m2{}",
    "no string as type": b'm10{"type":1}',
    "no UTF-8": b'm15{"type":"foo\xff"}',
    "a name twice": b'm27{"type":"foo","type":"foo"}',
    "deep": b'm%d{"type":"foo","x":%s}' % (19 + len(DEEP), DEEP),
    "no length of a signature": b's14{"type":"foo"}',
    "too long a signature": b's14:99999{"type":"foo"}',
    "no base64": b's14:4{"type":"foo"}\n????\n',
    "no newline": b's14:4{"type":"foo"}AAAA\n\n',
    "no length of a chunk": b'!14{"type":"foo"}\n',
    "since is none": encode({"type": "database.get_updates"}),
    "since of no peer": encode({"type": "database.get_updates", "since": {"x": 1}}),
    "no uuid": encode(update(uuid="x")),
    "no key": encode(update(key=None)),  # type: ignore[arg-type]
    "half a character as key": encode(update(key="\ud83e")),
    "no 31 February": encode(update(update_time="2026-02-31T00:00:00Z")),
    "another time zone": encode(update(update_time="2026-02-23T00:00:00+01:00")),
    "no clock": encode(update(vector_clock=[])),
    "deleted is none": encode(update(deleted=1)),
    "greedy": 17 * GET_UPDATES,
}


@pytest.mark.parametrize("name", GARBAGE)
def test_garbage_closes_the_link_and_no_other(process: Process, name: str) -> None:
    peer = Peer(process, A)
    peer.scripted(1)
    peer.connect(2, B)
    assert "effects" in peer.receive(1, GARBAGE[name] + encode(update()))
    assert peer.closed() == ["1"]
    assert peer.values() == {}
    peer.receive(2, encode(update()))
    assert peer.values() == {"k": {"n": 1}}


@settings(max_examples=150, deadline=None)
@given(st.data())
def test_whatever_comes_is_answered(data: st.DataObject) -> None:
    message = data.draw(st.sampled_from([encode(update()), encode_signed(update()), GET_UPDATES]))
    at = data.draw(st.integers(0, len(message) - 1))
    changed = message[:at] + data.draw(st.binary(max_size=3)) + message[at + data.draw(st.integers(0, 3)) :]
    peer = Peer(shared_process(), A)
    peer.scripted(1)
    assert "effects" in peer.receive(1, changed)
    for record in peer.state()["records"]:
        assert (record["uuid"], record["lastUpdatedBy"]) != ("", "")
    peer.ask("close")


@cache
def shared_process() -> Process:
    return Process()


@pytest.fixture(scope="module", autouse=True)
def ended() -> Iterator[None]:
    yield
    if shared_process.cache_info().currsize:
        shared_process().end()


def test_conflicting_changes_end_alike(process: Process) -> None:
    a, b, c = Peer(process, A), Peer(process, B), Peer(process, C, READ_ONLY)
    join(a, b, 1)
    a.ask("put", key="k", value="0")
    settle((a, b, 1))
    for peer in (a, b):
        peer.ask("disconnect", link="1")
    a.ask("put", key="k", value='"later"', now=NOW + 2)
    b.ask("put", key="k", value='"earlier"', now=NOW + 1)
    join(a, b, 2)
    join(b, c, 3)
    settle((a, b, 2), (b, c, 3))
    assert a.values() == b.values() == c.values() == {"k": "later"}
    (uuid,) = {record["uuid"] for record in a.state()["records"]}
    assert {"conflict": {"uuid": uuid, "incomingUuid": uuid}} in a.events
    # Who wrote it has not changed by that, and what follows is no conflict.
    assert [record["lastUpdatedBy"] for record in b.state()["records"]] == [A]
    b.events.clear()
    a.ask("put", key="k", value="2", now=NOW - 5)
    settle((a, b, 2), (b, c, 3))
    assert a.values() == b.values() == c.values() == {"k": 2}
    assert not [event for event in b.events if "conflict" in event]


@pytest.mark.parametrize(
    ("resolution", "left"),
    [
        ("UNSPECIFIED", [{"x": 2}]),
        ("MERGE", [{"x": 2, "a": 1}]),
        ("SEPARATE", [{"x": 2}, {"x": 1, "a": 1}]),
    ],
)
@pytest.mark.parametrize("same_record", [True, False])
def test_conflicts_end_as_the_application_wants(
    process: Process, resolution: str, left: list[Fields], same_record: bool
) -> None:
    wish = {"configuration": {"resolution": f"RESOLUTION_{resolution}"}}
    a, b, c = Peer(process, A, **wish), Peer(process, B, **wish), Peer(process, C, READ_ONLY)
    uuids = (UUID, UUID if same_record else UUID[::-1])
    for peer, value, uuid in zip((a, b), ('{"x":1,"a":1}', '{"x":2}'), uuids, strict=True):
        peer.ask("put", key="k", value=value, uuid=uuid, now=NOW + len(value) % 2)
    join(a, b, 1)
    join(a, c, 2)
    join(b, c, 3)
    settle((a, b, 1), (a, c, 2), (b, c, 3))
    assert a.values() == b.values() == c.values()
    assert sorted(map(str, a.values().values())) == sorted(map(str, left))
    assert a.values()["k"] == left[0]


@settings(max_examples=25, deadline=None)
@given(st.data())
def test_peers_that_are_linked_agree(data: st.DataObject) -> None:
    """Random changes and links of two writers and a reader, with one clock that is right: in the end all see the same."""
    process = shared_process()
    peers = [Peer(process, A), Peer(process, B), Peer(process, C, READ_ONLY)]
    links: dict[tuple[int, int], int] = {}
    number = 0

    def toggle(one: int, other: int) -> None:
        nonlocal number
        if (one, other) in links:
            link = links.pop((one, other))
            for peer in (peers[one], peers[other]):
                peer.ask("disconnect", link=str(link))
                peer.out.pop(link, None)
        else:
            number += 1
            links[one, other] = number
            join(peers[one], peers[other], number)

    def carry() -> None:
        settle(*((peers[one], peers[other], link) for (one, other), link in links.items()))

    pairs = [(0, 1), (0, 2), (1, 2)]
    for now in range(data.draw(st.integers(1, 12))):
        what = data.draw(st.sampled_from(["put", "rename", "delete", "link", "carry"]))
        peer, keys = peers[data.draw(st.integers(0, 1))], st.sampled_from("kl")
        if what == "put":
            peer.ask("put", key=data.draw(keys), value=str(now), now=NOW + now)
        elif what == "rename":
            peer.ask("rename", key=data.draw(keys), newKey=data.draw(keys), now=NOW + now)
        elif what == "delete":
            peer.ask("delete", key=data.draw(keys), now=NOW + now)
        elif what == "link":
            toggle(*data.draw(st.sampled_from(pairs)))
        else:
            carry()
    for pair in pairs:
        if pair not in links:
            toggle(*pair)
    carry()
    seen = [peer.values() for peer in peers]
    assert seen[0] == seen[1] == seen[2]
    for peer in peers:
        assert peer.closed() == []
        peer.ask("close")


def test_updates_come_in_the_order_of_their_revisions(process: Process) -> None:
    peer = Peer(process, A)
    for key in "abcdeadb":
        peer.ask("put", key=key, value="1")
    peer.connect(1, D)
    peer.out.clear()
    peer.receive(1, encode({"type": "database.get_updates", "since": {A: 4, B: 9}}))
    assert [(message["key"], message["last_updated_rev"]) for message in peer.sent(1)] == [
        ("e", 6),
        ("a", 7),
        ("d", 8),
        ("b", 9),
    ]


def test_only_one_link_to_a_peer_is_asked_on(process: Process) -> None:
    peer = Peer(process, A)
    peer.connect(1, D)
    peer.connect(2, D)
    assert [message["type"] for message in peer.sent(1)] == ["database.get_updates"]
    assert peer.out == {}
    peer.ask("disconnect", link="1")
    assert [message["type"] for message in peer.sent(2)] == ["database.get_updates"]


def test_values_keep_their_digits(process: Process) -> None:
    a, b = Peer(process, A), Peer(process, B)
    join(a, b, 1)
    settle((a, b, 1))
    value = '{"pi":3.14159265358979323846264338327950288,"large":1e400,"zero":-0,"\\u0061":["\\ud83e",1.0]}'
    a.ask("put", key="k", value=f" {value}\n")
    settle((a, b, 1))
    assert b.state()["records"][0]["value"] == value
    for wrong in ("", "1 2", "01", "'x'", "[1,]", '{"a":1,"\\u0061":2}', "NaN", '"\t"', "[" * 500 + "]" * 500):
        assert "rejected" in a.ask("put", key="k", value=wrong), wrong
    assert a.state()["revision"] == "2"


def test_the_largest_body_is_taken_and_one_more_byte_is_not(process: Process) -> None:
    peer = Peer(process, A)
    peer.scripted(1)
    room = BODY_BYTES - len(json.dumps(update(value="")))
    largest = encode(update(value="x" * room))
    peer.receive(1, largest[:1000])
    peer.receive(1, largest[1000:])
    assert len(peer.values()["k"]) == room
    peer.receive(1, encode(update(rev=3, value="x" * (room + 1))))
    assert peer.closed() == ["1"]
    assert "rejected" in peer.ask("put", key="k", value=json.dumps("x" * BODY_BYTES))


def test_codecs(process: Process) -> None:
    body = b'{"type":"foo"}'
    framed = process.ask("frame", body=b64(body), privateKey=private_pem(READ_WRITE))["framed"]["data"]
    unframed = process.ask("unframe", data=b64(base64.b64decode(framed) + b"m9"))["unframed"]
    (message,) = unframed["messages"]
    assert (base64.b64decode(message["body"]), unframed["rest"]) == (body, "2")
    private_key(READ_WRITE).public_key().verify(
        base64.b64decode(message["signature"]), body, padding.PKCS1v15(), hashes.SHA256()
    )
    for level, valid in ((READ_WRITE, True), (READ_ONLY, False)):
        asked = {"body": b64(body), "signature": message["signature"], "publicKey": public_pem(level)}
        assert process.ask("verify", **asked) == {"verified": {"valid": valid}}
    assert "rejected" in process.ask("verify", body="", signature="", publicKey="no key")
    assert "rejected" in process.ask("unframe", data=b64(b"m2{}x"))
    clocks = [{A: 1}, {A: 1, B: 0}, {A: 2**64 - 2}, {A: 2**64 - 1}, {B: 1}]
    found = [
        process.ask("compareClocks", one=b64(json.dumps(one).encode()), other=b64(json.dumps(other).encode()))
        for one, other in zip(clocks, clocks[1:], strict=False)
    ]
    assert [(c["comparison"]["oneBeforeOther"], c["comparison"]["otherBeforeOne"]) for c in found] == [
        (True, True),
        (True, False),
        (True, False),
        (False, False),
    ]


def test_what_cannot_be_done_is_said(process: Process) -> None:
    assert process.ask("frobnicate") == {"unsupported": {"what": "frobnicate"}}
    assert "rejected" in process.ask("tick", handle="99")
    assert "rejected" in process.ask("open", peerId="x", accessLevel=READ_WRITE, keys=keys_of(READ_WRITE))
    assert "rejected" in process.ask("open", peerId=A, accessLevel=READ_WRITE, keys=keys_of(READ_ONLY))
    assert "error" in process.line(b"no JSON")
    done = subprocess.run(
        [shutil.which("node") or "", ADAPTER],
        env={**os.environ, "SDS_TESTEE_FRAMING": "binary"},
        capture_output=True,
        timeout=PATIENCE_S,
        check=False,
    )
    assert (done.returncode, done.stdout) == (2, b"")
    assert b"JSON lines only" in done.stderr

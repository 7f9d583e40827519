"""The peer of the ClearSkies database in JavaScript: what it tells others, repeats, and keeps."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from clearskies_js_peers import (
    GET_UPDATES,
    NOW,
    READ_ONLY,
    READ_WRITE,
    A,
    B,
    C,
    D,
    Peer,
    Process,
    encode,
    join,
    keys_of,
    settle,
    started,
    update,
)


@pytest.fixture
def process() -> Iterator[Process]:
    yield from started()


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

"""The peer of the ClearSkies database in JavaScript: what is cut, forged or no message at all, and its codecs."""

from __future__ import annotations

import base64
import itertools
import json
import os
import shutil
import subprocess
from collections.abc import Iterator

import pytest
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import padding
from hypothesis import given, settings
from hypothesis import strategies as st

from clearskies_js_peers import (
    ADAPTER,
    BODY_BYTES,
    GET_UPDATES,
    PATIENCE_S,
    READ_ONLY,
    READ_WRITE,
    UUID,
    A,
    B,
    D,
    Peer,
    Process,
    b64,
    encode,
    encode_signed,
    join,
    keys_of,
    private_key,
    private_pem,
    public_pem,
    settle,
    started,
    update,
)


@pytest.fixture(scope="module")
def process() -> Iterator[Process]:
    yield from started()


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
    peer = Peer(process, A, READ_ONLY)
    for at in range(1, len(stream)):
        peer.connect(at, D)
        peer.receive(at, stream[:at])
    assert peer.values() == {}
    for at in range(1, len(stream)):
        peer.receive(at, stream[at:])
    # One of them was the first. The others say the same, and were understood as well.
    assert peer.values() == {"ß🦊": {"n": 1}}
    assert peer.closed() == []
    for at in range(1, len(stream)):
        unframed = process.ask("unframe", data=b64(stream + stream[:at]))["unframed"]
        assert (len(unframed["messages"]), unframed["rest"]) == (1, str(at))


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
    "an offset of more than a day": encode(update(update_time="2026-02-23T00:00:00+25:00")),
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


@settings(max_examples=100, deadline=None)
@given(st.data())
def test_whatever_comes_is_answered(process: Process, data: st.DataObject) -> None:
    message = data.draw(st.sampled_from([encode(update()), encode_signed(update()), GET_UPDATES]))
    at = data.draw(st.integers(0, len(message) - 1))
    changed = message[:at] + data.draw(st.binary(max_size=3)) + message[at + data.draw(st.integers(0, 3)) :]
    peer = Peer(process, A)
    peer.scripted(1)
    assert "effects" in peer.receive(1, changed)
    for record in peer.state()["records"]:
        assert (record["uuid"], record["lastUpdatedBy"]) != ("", "")
    peer.ask("close")


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
        for one, other in itertools.pairwise(clocks)
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

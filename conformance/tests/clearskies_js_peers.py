"""Peers of the ClearSkies database in JavaScript in a process that is driven with plain lines of JSON."""

from __future__ import annotations

import base64
import json
import shutil
import subprocess
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import padding, rsa

ADAPTER = Path(__file__).parents[2] / "harness" / "adapters" / "clearskies-js" / "adapter.mjs"
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
    """A database.update; every field can be set."""
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
    """A peer in a process. Its output waits in `out`, by link."""

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
        """The values that the application sees, by key."""
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


def started() -> Iterator[Process]:
    """A process, which ends with the test."""
    process = Process()
    yield process
    process.end()


def join(one: Peer, other: Peer, number: int) -> None:
    """A link between two peers."""
    one.connect(number, other.peer_id, other.level)
    other.connect(number, one.peer_id, one.level)


def settle(*links: tuple[Peer, Peer, int]) -> list[bytes]:
    """Carries what waits until nothing does; all that was carried."""
    carried: list[bytes] = []
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

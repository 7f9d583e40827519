"""The model behind the testee protocol: its replies, which are the same in each framing."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from functools import cache, partial
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, PublicFormat

from clearskies_club import NOW, RO, A, B, C, by_read_write, get_updates, plain, private, update
from clearskies_proto.testee.v1 import testee_pb2 as pb
from clearskies_reference import AccessLevel
from clearskies_reference.testee.command import main
from clearskies_reference.testee.server import Testee, TesteeOptions
from sds_testee.framing import ENVIRONMENT_VARIABLE, Framing

WRITER, READER = pb.ACCESS_LEVEL_READ_WRITE, pb.ACCESS_LEVEL_READ_ONLY


@cache
def pems(level: AccessLevel) -> tuple[str, str]:
    """The private and the public key of a level."""
    key = private(level)
    private_pem = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    public_pem = key.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
    return private_pem.decode(), public_pem.decode()


def keys(level: pb.AccessLevel = WRITER) -> pb.Keys:
    """The keys of a peer of a level, as Open contains them."""
    (writer, writers), (reader, readers) = pems(AccessLevel.READ_WRITE), pems(RO)
    return pb.Keys(
        read_write_private=writer if level == WRITER else "",
        read_only_private=reader if level == READER else "",
        read_write_public=writers,
        read_only_public=readers,
    )


class Driver:
    """Sends commands and stores the replies."""

    def __init__(self, handle: Callable[[pb.Request], pb.Reply]) -> None:
        self._handle = handle
        self.replies: list[pb.Reply] = []
        self.now_ms = NOW

    def do(self, command: str, **fields: Any) -> pb.Reply:
        """Send a command, one second of virtual time after the previous command."""
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

    def bodies_of(self) -> list[bytes]:
        return [reply.SerializeToString(deterministic=True) for reply in self.replies]


def driver(**more: Any) -> Driver:
    return Driver(Testee(TesteeOptions("1.2", **more)).handle)


@pytest.mark.parametrize(
    ("fields", "why"),
    [
        ({"peer_id": "x"}, "peer ID"),
        ({"access_level": 0}, "access level"),
        ({"keys": pb.Keys(read_write_private="x")}, "PEM"),
        ({"keys": pb.Keys(read_write_public="x")}, "PEM"),
        ({"access_level": READER}, "must not have the private key"),
        ({"store": "/dev/null/x"}, "unable to open"),
        ({"configuration": pb.Configuration.FromString(b"\x08\x09")}, "no resolution"),
    ],
)
def test_what_cannot_be_opened_is_rejected(fields: dict[str, Any], why: str) -> None:
    asked = {"peer_id": A, "access_level": WRITER, "keys": keys()} | fields
    assert why in driver().do("open", **asked).rejected.reason


def test_what_is_refused_as_a_whole_is_rejected_and_the_rest_is_not() -> None:
    one = driver()
    handle = one.open()
    one.do("connect", handle=handle, link=1, peer_id=B, access_level=WRITER)
    receive = partial(one.do, "receive", handle=handle, link=1)
    bad = plain(update(last_updated_rev=0))
    assert "last_updated_rev" in receive(data=bad).rejected.reason
    assert receive(data=bad + plain(update())).HasField("effects")
    assert receive(data=bad + b"m").HasField("effects")
    assert "no link 2" in one.do("disconnect", handle=handle, link=2).rejected.reason
    assert "no JSON" in one.do("put", handle=handle, key="k", value="{").rejected.reason
    assert "uuid" in one.do("put", handle=handle, key="k", value="1", uuid="x").rejected.reason


# ---- The command line --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "arguments",
    [["--mutant", "x"], ["--variant", "x"], ["--without", "x"], ["--signature-profile", "x"], ["--framing", "x"]],
)
def test_what_makes_no_sense_is_said(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    assert ended.value.code == 2
    assert "x" in capsys.readouterr().err


def test_the_list_names_mutants_and_variants(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--list"]) == 0
    output = capsys.readouterr().out
    assert "mutant   signs-nothing: CSDB-16, signs nothing" in output
    assert "variant  clock-per-peer: " in output


class Process:
    """``python -m clearskies_reference``, driven over its pipes."""

    def __init__(self, framing: Framing) -> None:
        self._framing, self._buffer = framing, bytearray()
        command = [sys.executable, "-m", "clearskies_reference"]
        environment = {ENVIRONMENT_VARIABLE: framing.value, "PYTHONPATH": ":".join(sys.path)}
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment)

    def handle(self, request: pb.Request) -> pb.Reply:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(self._framing.pack(request))
        self.process.stdin.flush()
        while (frame := self._framing.take(self._buffer)) is None:
            data = self.process.stdout.read1()  # type: ignore[attr-defined]
            assert data, "it ended"
            self._buffer += data
        return self._framing.parse(frame, pb.Reply)

    def end(self) -> int:
        assert self.process.stdin is not None
        self.process.stdin.close()
        return self.process.wait(20)


def test_the_answers_are_the_same_however_they_are_framed(tmp_path: Path) -> None:
    answers = []
    for framing in Framing:
        process = Process(framing)
        one = Driver(process.handle)
        store = str(tmp_path / framing.value)
        handle = one.open(store=store)
        one.do("connect", handle=handle, link=1, peer_id=B, access_level=READER)
        one.do("put", handle=handle, key="k \U0001f5dd", value='{"n": 9007199254740993}', uuid="5" * 32)
        one.do("receive", handle=handle, link=1, data=get_updates() + by_read_write(update(last_updated_by=C))[:100])
        one.do("receive", handle=handle, link=1, data=by_read_write(update(last_updated_by=C))[100:])
        one.do("observe", handle=handle)
        one.do("rename", handle=handle, key="nothing", new_key="l")
        process.process.kill()
        process.process.wait(20)
        again = Process(framing)
        one._handle = again.handle
        handle = one.open(store=store)
        one.do("observe", handle=handle)
        assert again.end() == 0
        answers.append(one.bodies_of())
    assert answers[0] == answers[1]
    state = pb.Reply.FromString(answers[0][-1]).state
    assert state == pb.Reply.FromString(answers[0][5]).state
    assert [record.key for record in state.records] == ["k", "k \U0001f5dd"]

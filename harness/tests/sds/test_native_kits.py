"""The kits in compiled languages, each with its toy: invalid lines, faults in the implementation, large and odd values.

All kits get the same conversation, because their answers must be equal.
"""

from __future__ import annotations

import base64
import json
import os
import subprocess
from typing import Any

import pytest
from google.protobuf import json_format

from native_changes import CHANGES
from native_templates import LANGUAGES, Built, build_once
from sds_proto.testee.v1 import testee_pb2 as pb
from sds_reference import Message, decode, encode
from sds_testee.framing import ENVIRONMENT_VARIABLE

pytestmark = pytest.mark.exhaustive

T = 1_800_000_000_000
LARGEST = 2**64 - 1
LIMIT_S = 60


@pytest.fixture(scope="module", params=LANGUAGES)
def built(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Built:
    language: str = request.param
    return build_once(tmp_path_factory, language, CHANGES[language])


def raw(built: Built, data: bytes, **variables: str) -> subprocess.CompletedProcess[bytes]:
    """The output of the adapter for these bytes, until it exits. It runs under the POSIX locale."""
    environment = {**os.environ, "LC_ALL": "C", "PYTHONUTF8": "0", **variables}
    settings: dict[str, Any] = {"cwd": built.folder, "env": environment, "timeout": LIMIT_S}
    return subprocess.run(built.command, input=data, capture_output=True, **settings)


def said(built: Built, *lines: bytes) -> list[pb.Reply]:
    """The reply to each line, which must be strict ProtoJSON in UTF-8."""
    done = raw(built, b"\n".join(lines))
    assert done.returncode == 0, done.stderr.decode()
    replies = [json_format.Parse(line.decode(), pb.Reply()) for line in done.stdout.splitlines()]
    assert len(replies) == len(lines), done.stdout[:2000]
    return replies


def asked(built: Built, *commands: dict[str, Any]) -> list[pb.Reply]:
    """The reply to each command; the first command has id 1."""
    lines = [json.dumps({"id": str(number), **command}).encode() for number, command in enumerate(commands, 1)]
    replies = said(built, *lines)
    assert [reply.id for reply in replies] == list(range(1, len(commands) + 1))
    return replies


def opening(now_ms: int = T, participant: str = "alice", *channels: str) -> dict[str, Any]:
    return {"open": {"nowMs": str(now_ms), "participantId": participant, "channels": channels or ["c1"]}}


def sending(content: bytes, handle: int = 1, channel: str = "c1", now_ms: int = T) -> dict[str, Any]:
    fields = {"nowMs": str(now_ms), "handle": str(handle), "channelId": channel}
    return {"send": {**fields, "content": base64.b64encode(content).decode()}}


def receiving(wire: bytes, now_ms: int = T) -> dict[str, Any]:
    return {"receive": {"nowMs": str(now_ms), "handle": "1", "wire": base64.b64encode(wire).decode()}}


def answers(replies: list[pb.Reply]) -> list[str | None]:
    return [reply.WhichOneof("answer") for reply in replies]


def test_it_answers_lines_that_are_no_request_and_goes_on(built: Built) -> None:
    lines = {
        b"not json": (0, "error"),
        b"": (0, "error"),
        b"[]": (0, "error"),
        b"7": (0, "error"),
        b"\xff\xfe\x00": (0, "error"),
        b'{"id":"1","hello":{}': (0, "error"),
        b'{"id":"2","hello":{}} x': (0, "error"),
        b'{"id":"3","hello":' + b"[" * 200_000: (0, "error"),
        b'{"id":{},"hello":{}}': (0, "error"),
        b'{"id":"-1","hello":{}}': (0, "error"),
        b'{"id":"18446744073709551616","hello":{}}': (0, "error"),
        b'{"id":"4"}': (4, "unsupported"),
        b'{"id":"5","frobnicate":{}}': (5, "unsupported"),
        b'{"id":"6","hello":{},"tick":{}}': (6, "error"),
        b'{"id":"7","tick":[]}': (7, "error"),
        b'{"id":"8","tick":{"handle":"9"}}': (8, "error"),
        b'{"id":"9","tick":{"whoKnows":1}}': (9, "unsupported"),
        b'{"id":"10","open":{"channels":["c1"],"nowMs":"soon"}}': (10, "error"),
        b'{"id":"11","open":{"channels":["c1"],"nowMs":"18446744073709551616"}}': (11, "error"),
        b'{"id":"12","open":{"channels":"c1"}}': (12, "error"),
        b' \t{ "id" : "18446744073709551615" , "hello" : { "harness" : "\\u00e9\\ud83e\\udd8a\\/" } } \r': (
            LARGEST,
            "hello",
        ),
        b'{"hello":{"whoKnows":[null,true,-1.5e3,{"a":[]}]},"id":13}': (13, "hello"),
    }
    replies = said(built, *lines)
    assert dict(zip(lines, [(reply.id, reply.WhichOneof("answer")) for reply in replies], strict=True)) == lines
    assert "frobnicate" in replies[list(lines).index(b'{"id":"5","frobnicate":{}}')].unsupported.what
    errors = [reply.error.message for reply in replies if reply.WhichOneof("answer") == "error"]
    assert all(errors)


def test_it_refuses_the_other_framing_in_words(built: Built) -> None:
    done = raw(built, b"", **{ENVIRONMENT_VARIABLE: "binary"})
    assert done.returncode in (1, 2)
    assert b"JSON lines only" in done.stderr


@pytest.mark.parametrize(
    ("command", "what"),
    [
        ({"sendSync": {}}, "SYNC"),
        ({"buildFilter": {"messageIds": ["m"], "bloomCapacity": 9}}, "FILTER_SIZES"),
        ({"open": {}}, "UNNAMED_CHANNEL"),
        ({"send": {"messageId": "m"}}, "MESSAGE_ID"),
        ({"receive": {"retrievalHint": ""}}, "RETRIEVAL_HINTS"),
    ],
    ids=lambda value: value if isinstance(value, str) else next(iter(value)),
)
def test_what_is_not_declared_is_unsupported(built: Built, command: dict[str, Any], what: str) -> None:
    _, _, reply = asked(built, {"hello": {}}, opening(), command)
    assert what in reply.unsupported.what


def test_what_is_declared_and_not_filled_in_is_an_error(built: Built) -> None:
    ephemeral = {"sendEphemeral": {"handle": "1", "channelId": "c1", "content": "aGk="}}
    replies = asked(built, {"hello": {}}, opening(), ephemeral, sending(b"hello"))
    assert answers(replies) == ["hello", "opened", "error", "effects"]
    assert "sendephemeral" in replies[2].error.message.lower().replace("_", "")


def test_what_is_filled_in_is_answered(built: Built) -> None:
    *_, state, times, so_far, decoded = asked(
        built,
        {"hello": {}},
        opening(),
        {"observe": {"handle": "1", "channelId": "c1", "filterIds": ["m", "", "Ж字🦊"]}},
        {"repairTimes": {"numResponseGroups": -(2**31)}},
        {"encode": {"message": {"messageId": "m", "causalHistory": [{"senderId": "bob"}], "lamportTimestamp": "7"}}},
        {"decode": {"wire": "AP8="}},
    )
    assert state.state == pb.State(lamport_timestamp=LARGEST, filter_hits=[True, False, True])
    assert times.rejected.reason == f"{-(2**31)} groups"
    assert so_far.unsupported.what == "so far"
    entry = pb.HistoryEntry(message_id="a", retrieval_hint=b"")
    message = pb.Message(causal_history=[entry], content=b"\x00\xff")
    assert decoded.decoded == pb.Decoded(message=message, kind=pb.MESSAGE_KIND_CONTENT)


def test_a_fault_of_the_implementation_is_reported_and_the_process_goes_on(built: Built) -> None:
    _, fault, sent = asked(built, opening(), sending(b"boom"), sending(b"hello"))
    assert "no memory, Ж字🦊" in fault.error.message
    assert decode(sent.effects.broadcasts[0]).content == b"hello"
    done = raw(
        built, json.dumps({"id": 1, **opening()}).encode() + b"\n" + json.dumps({"id": 2, **sending(b"x")}).encode()
    )
    assert "noise, Ж字🦊".encode() in done.stderr


def test_a_defect_of_the_implementation_ends_the_process_with_its_message(built: Built) -> None:
    commands = opening(), sending(b"crash"), sending(b"hello")
    lines = [json.dumps({"id": str(number), **command}).encode() for number, command in enumerate(commands, 1)]
    done = raw(built, b"\n".join(lines))
    assert done.returncode != 0
    assert answers([json_format.Parse(line.decode(), pb.Reply()) for line in done.stdout.splitlines()]) == ["opened"]
    assert "a defect, Ж字🦊".encode() in done.stderr


def test_numbers_of_64_bits(built: Built) -> None:
    bob = Message("bob", "b1", "c1", LARGEST - 1, content=b"hi")
    _, early, _, late, over = asked(
        built, opening(LARGEST - 9), sending(b"1"), receiving(encode(bob)), sending(b"2"), sending(b"3")
    )
    assert decode(early.effects.broadcasts[0]).lamport_timestamp == LARGEST - 8
    assert decode(late.effects.broadcasts[0]).lamport_timestamp == LARGEST
    assert over.WhichOneof("answer") == "rejected"


ODD = (
    "",
    "\x00",
    "a\x00b",
    "\x7f\x80",
    "\ud7ff\ue000\ufffe\uffff",
    "🦊\U0010ffff",
    '"\\/\b\f\n\r\t',
    "\u2028\u2029",
    "é" * 5000,
)


@pytest.mark.parametrize("ascii_only", [True, False], ids=["escaped", "utf-8"])
def test_text_of_every_kind(built: Built, ascii_only: bool) -> None:
    channels = list(ODD)
    commands = [
        {"hello": {}},
        opening(T, "Ж\x00字🦊", *channels),
        *(sending(b"hi", 1, channel) for channel in channels),
    ]
    replies = said(built, *(json.dumps(command, ensure_ascii=ascii_only).encode() for command in commands))
    messages = [decode(reply.effects.broadcasts[0]) for reply in replies[2:]]
    assert [message.channel_id for message in messages] == channels
    assert {message.sender_id for message in messages} == {"Ж\x00字🦊"}
    assert len({message.message_id for message in messages}) == len(channels)
    wires = [encode(Message("bob", "b" + name, channels[2], T, content=b"x")) for name in ODD]
    replies = asked(built, opening(T, "alice", channels[2]), *map(receiving, wires))
    signals = [(event.channel_id, event.delivered.message_id) for reply in replies for event in reply.effects.events]
    assert signals == [(channels[2], "b" + name) for name in ODD]


@pytest.mark.parametrize("escape", [r"\ud800", r"\udfff", r"\udc00\ud800", r"\ud800x", r"\ud83e\ud83e\udd8a"])
def test_half_a_character_breaks_nothing(built: Built, escape: str) -> None:
    lines = [
        '{"id":"1","open":{"channels":["X"],"participantId":"X"}}',
        '{"id":"2","open":{"channels":["c1"]}}',
        '{"id":"3","send":{"handle":"1","channelId":"X","content":"aGk="}}',
        '{"id":"4","X":{}}',
        '{"id":"5","tick":{"X":{}}}',
        '{"id":"6","hello":{}}',
    ]
    replies = said(built, *(line.replace("X", escape).encode() for line in lines))
    assert [reply.id for reply in replies if reply.id] == [n for n, reply in enumerate(replies, 1) if reply.id]
    assert answers(replies)[1::4] == ["opened", "hello"]


def test_bytes_that_are_no_base64_and_no_message(built: Built) -> None:
    rejected = [
        b"\xff",
        b"\x0a\x05ab",
        b"\x00\x00",
        b"\x0b\x0c",
        b"\x0a\x01\xff",
        b"\x52" + b"\xff" * 11,
        b"\x0a" + b"\xff" * 9 + b"\x01",
    ]
    fine = [
        b"",
        encode(Message("bob", "b1", "nowhere", T, content=b"x")),
        b"\x1a\x02c1" + b"\xa8\x01\x07" + b"\xb1\x01" + bytes(8),
    ]
    replies = asked(built, opening(), *map(receiving, rejected), *map(receiving, fine))
    assert answers(replies[1:]) == ["rejected"] * len(rejected) + ["effects"] * len(fine)
    for wrong in ("*", "AAA=A", "AAA\u0141", 7, ["AAAA"]):
        _, reply, alive = asked(built, opening(), {"receive": {"handle": "1", "wire": wrong}}, sending(b"hello"))
        assert (reply.WhichOneof("answer"), alive.WhichOneof("answer")) == ("error", "effects"), wrong


def test_lines_of_many_mib(built: Built) -> None:
    content = bytes(range(256)) * 20_000
    wire = encode(Message("bob", "b1", "c1", T, content=content))
    _, sent, received = asked(built, opening(), sending(content), receiving(wire))
    assert decode(sent.effects.broadcasts[0]).content == content
    assert received.effects.events[0].delivered.content == content

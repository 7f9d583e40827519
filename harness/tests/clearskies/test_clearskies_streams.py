"""Streams are put together wherever their pieces end, and nothing that comes on them raises."""

from __future__ import annotations

import json
import pickle
from base64 import b64decode
from itertools import pairwise
from time import perf_counter
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from clearskies_reference import PROFILES, AccessLevel, Message, SignatureProfile
from clearskies_reference.testee.server import TesteeOptions
from clearskies_reference.variants import VARIANTS
from clearskies_stages import stage_of
from sds_harness.clearskies.bodies import Bodies, read
from sds_harness.clearskies.clubs import READ_WRITE, profile_called
from sds_harness.clearskies.environments import ClearSkiesEnvironment
from sds_harness.clearskies.frames import GET_UPDATES, UPDATE, Frame, frame_of
from sds_harness.clearskies.streams import Stream

PKCS1 = PROFILES["rsa-pkcs1-sha256"]
BODY = b'{"type":"x"}'


def stream() -> Stream:
    return Stream(1, Bodies(), PKCS1)


messages = st.builds(Frame, st.sampled_from([b"{}", BODY, b'{ "n":\n"m2{}"}']), st.sampled_from([None, b"QUJD", b""]))


@settings(max_examples=60, deadline=None)
@given(st.lists(messages, max_size=5), st.lists(st.integers(0, 400), max_size=8), st.booleans())
def test_where_pieces_end_means_nothing(frames: list[Frame], cuts: list[int], broken: bool) -> None:
    whole = b"".join(frame.wire for frame in frames)
    data = whole + (b"no message" if broken else b"")
    taken = stream()
    ends = [0, *sorted(cut for cut in cuts if cut <= len(data)), len(data)]
    for step, (begin, end) in enumerate(pairwise(ends), 1):
        taken.feed(data[begin:end], step)
    assert [(message.body.raw, message.signature) for message in taken.messages] == [
        (frame.body, frame.signature) for frame in frames
    ]
    assert taken.length == len(data)
    assert (taken.broken is not None) == broken
    if taken.broken is not None:
        assert taken.broken.offset == len(whole)
    assert taken.incomplete_bytes == len(data) - len(whole)
    end_of = 0
    for message, frame in zip(taken.messages, frames, strict=True):
        begin, end_of = end_of, end_of + len(frame.wire)
        assert ends[message.began - 1] <= begin < ends[message.began]
        assert ends[message.step - 1] < end_of <= ends[message.step]


def test_what_answers_a_request_that_is_repeated_is_repeated_once() -> None:
    requests, answers = stream(), stream()
    requests.face(answers)

    def told(taken: Stream, members: dict[str, Any]) -> bool:
        (message,) = taken.feed(frame_of(members).wire, 1)
        return message.repeated

    ask, other = ({"type": GET_UPDATES, "since": {digit * 32: 1}} for digit in "ab")
    update, newer = ({"type": UPDATE, "last_updated_rev": number} for number in (2, 3))
    assert [told(requests, ask), told(answers, update), told(answers, update)] == [False] * 3
    assert [told(requests, ask), told(answers, update), told(answers, update)] == [True, True, False]
    assert [told(requests, ask), told(answers, newer), told(answers, update)] == [True, False, True]
    assert [told(requests, other), told(answers, update)] == [False, False]


@settings(max_examples=100, deadline=None)
@given(st.lists(st.binary(max_size=40), max_size=6))
@example([b"m99999999999{}"])
@example([b's2:4{}\n\xff\xff\xff\xff\n{"', b"m"])
def test_no_bytes_raise(pieces: list[bytes]) -> None:
    taken = stream()
    for step, piece in enumerate(pieces, 1):
        taken.feed(piece, step)
    assert taken.length == sum(map(len, pieces))
    assert all(message.signer is None for message in taken.messages)


@pytest.mark.parametrize(
    ("raw", "value"),
    [
        (b'{"n":18446744073709551617}', {"n": 2**64 + 1}),
        (b'{"a":1,"b":{"a":2},"a":3}', {"a": 3, "b": {"a": 2}}),
        (b' {"k":"\xc3\xa9"}', {"k": "é"}),
    ],
)
def test_bodies_are_read_exactly(raw: bytes, value: object) -> None:
    body = read(raw)
    assert (body.value, body.error) == (value, "")
    assert body.twice == (("a",) if raw.count(b'"a":') > 2 else ())


def test_a_body_of_many_levels_is_json() -> None:
    body = read(b'{"n":' + b"[" * 100_000 + b"]" * 100_000 + b"}")
    assert (body.error, list(body.members)) == ("", ["n"])


@pytest.mark.parametrize(
    "raw",
    [
        b"",
        b"{",
        b'{"n":NaN}',
        b'{"n":-Infinity}',
        b'{"k":"\xff"}',
        '{"n":1}'.encode("utf-16-le"),
        b'{"n":' + b"9" * 10_000 + b"}",
    ],
)
def test_bodies_that_are_no_json_say_so(raw: bytes) -> None:
    body = read(raw)
    assert body.error.startswith("no JSON: ")
    assert len(body.error) <= 200
    assert (body.value, body.members, body.type) == (None, {}, "")


def test_a_body_that_is_no_object_has_no_members() -> None:
    assert (read(b"[1]").members, read(b'{"type":[]}').type, read(b"[1]").error) == ({}, "", "")


def test_bodies_are_kept_once_and_not_without_end() -> None:
    bodies = Bodies(10)
    assert bodies.read(BODY) is bodies.read(BODY)
    assert bodies.read(b"[1,2,3,4,5,6,7,8,9,0]").error.startswith("not read")
    assert bodies.read(b"[1,2]").value == [1, 2]


def test_what_is_read_in_two_places_is_kept_once_and_has_room_in_both() -> None:
    here = Bodies(10)
    there = here.for_another_trace()
    assert here.read(BODY) is there.read(bytes(bytearray(BODY)))
    assert here.read(b"[1,2,3]").value == there.read(b"[1,2,3]").value == [1, 2, 3]
    assert here.read(b"[4,5,6,7,8,9]").error.startswith("not read")
    assert Bodies(10).read(b"[4,5,6,7,8,9]").value == [4, 5, 6, 7, 8, 9]


def test_large_streams_take_no_quadratic_time() -> None:
    taken = stream()
    data = frame_of({"type": "x", "value": "y" * 4_000_000}).wire
    began = perf_counter()
    for place in range(0, len(data), 1_000):
        taken.feed(data[place : place + 1_000], place)
    assert perf_counter() - began < 5
    assert [message.type for message in taken.messages] == ["x"]


# ---- Signatures ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("profile", PROFILES.values(), ids=list(PROFILES))
def test_scripted_peers_sign_the_same_each_time_whatever_is_drawn(profile: SignatureProfile) -> None:
    one, again, other = (Frame(body).signed(profile) for body in (BODY, BODY, b'{"type":"y"}'))
    assert one == again
    assert one.signature != other.signature
    assert len(b64decode(one.signature or b"")) == 256


@pytest.mark.parametrize("level", AccessLevel)
@pytest.mark.parametrize("profile", PROFILES.values(), ids=list(PROFILES))
def test_a_signature_tells_the_level_of_its_maker(level: AccessLevel, profile: SignatureProfile) -> None:
    frame = Frame(BODY).signed(profile, level)
    wire = frame.wire + frame.flipped().wire + frame.forged().wire + frame.unsigned().wire
    signers = {}
    for name in (*PROFILES, "of my own"):
        taken = Stream(1, Bodies(), profile_called(name))
        taken.feed(wire, 1)
        assert taken.messages[0].framed == Message(BODY, frame.signature)
        signers[name] = [message.signer for message in taken.messages]
    assert signers.pop(profile.name) == [level, None, None, None]
    assert set(map(tuple, signers.values())) == {(None,) * 4}


def test_signatures_are_read_by_the_declared_profile() -> None:
    assert profile_called("") is PKCS1
    assert profile_called("of my own") is None
    config = VARIANTS["pss-signatures"].configure(TesteeOptions("1").config)
    stage = stage_of(config=config)
    alice, bob = stage.open(), stage.peer("bob", read_only=True)
    link = alice.link(bob)
    alice.put("k", 1)
    (sent,) = link.ask()
    assert sent.signer is READ_WRITE
    link.say(bob.update("k2", 2, last_updated_by=stage.trace.club.join("carol")))
    assert {message.signer for message in stage.trace.into(stage.trace.steps[-1])} == {READ_WRITE}


# ---- Traces ----------------------------------------------------------------------------------------------------------


def test_a_message_may_end_in_a_later_step() -> None:
    stage = stage_of(ClearSkiesEnvironment("in halves", "", halved=True))
    alice, bob = stage.open(), stage.peer("bob")
    link = alice.link(bob)
    step = link.say(bob.update("k", 1))
    (message,) = stage.trace.into(step)
    assert (message.began, message.step, message.link) == (step.index - 1, step.index, link.number)
    assert stage.trace.into(stage.trace.steps[step.index - 2]) == []
    (asked,) = stage.trace.out(stage.trace.steps[1])
    assert (asked.type, asked.body.members["since"]) == ("database.get_updates", {})


def test_a_trace_can_be_sent_elsewhere_and_says_the_same() -> None:
    stage = stage_of()
    alice, bob = stage.open(), stage.open("bob")
    alice.link(bob)
    alice.put("k", 1)
    trace = stage.trace
    told = [(each.participant, each.sent.messages, each.arrived.messages) for each in trace.connections]
    again = pickle.loads(pickle.dumps(trace))
    assert [(each.participant, each.sent.messages, each.arrived.messages) for each in again.connections] == told
    assert [step.sent for step in again.steps] == [step.sent for step in trace.steps]
    header, *rows = map(json.loads, trace.to_json_lines())
    assert (header["revision"], len(rows)) == ("clearskies-database", len(trace.steps))
    assert trace.club.name_of(alice.peer_id) == "alice"
    assert trace.club.name_of("f" * 32) == "f" * 32


def test_the_environments_tear_and_lose_nothing() -> None:
    for environment in (ClearSkiesEnvironment("", "", torn=True), ClearSkiesEnvironment("", "", halved=True)):
        for length in (0, 1, 2, 11, 12, 13, 15, 16, 500):
            data = bytes(index % 256 for index in range(length))
            pieces = list(environment.pieces(data))
            assert b"".join(pieces) == data
            assert len(pieces) <= 20
    assert list(ClearSkiesEnvironment("", "", torn=True).pieces(b"m12{")) == [b"m", b"1", b"2", b"{"]


def test_a_refused_write_has_a_reason_that_can_be_printed() -> None:
    stage = stage_of()
    step = stage.open("rita", read_only=True).put("k", 1)
    assert step.refusal.startswith("a read-only peer")
    assert (step.effects, step.sent, step.uuid, step.state) == (None, [], "", None)
    assert stage.trace.steps[0].refusal == ""

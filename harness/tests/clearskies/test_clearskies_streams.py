"""Streams are assembled from any pieces, and no input on them raises an error."""

from __future__ import annotations

from itertools import pairwise
from time import perf_counter

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from clearskies_reference import PROFILES
from sds_harness.clearskies.bodies import Bodies, read
from sds_harness.clearskies.frames import Frame, frame_of
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
    assert (taken.broken is not None) == broken
    assert taken.incomplete_bytes == len(data) - len(whole)
    end_of = 0
    for message, frame in zip(taken.messages, frames, strict=True):
        begin, end_of = end_of, end_of + len(frame.wire)
        assert ends[message.began - 1] <= begin < ends[message.began]
        assert ends[message.step - 1] < end_of <= ends[message.step]


@settings(max_examples=100, deadline=None)
@given(st.lists(st.binary(max_size=40), max_size=6))
@example([b"m99999999999{}"])
@example([b's2:4{}\n\xff\xff\xff\xff\n{"', b"m"])
def test_no_bytes_raise(pieces: list[bytes]) -> None:
    taken = stream()
    for step, piece in enumerate(pieces, 1):
        taken.feed(piece, step)
    assert all(message.signer is None for message in taken.messages)


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


def test_large_streams_take_no_quadratic_time() -> None:
    taken = stream()
    data = frame_of({"type": "x", "value": "y" * 4_000_000}).wire
    began = perf_counter()
    for place in range(0, len(data), 1_000):
        taken.feed(data[place : place + 1_000], place)
    assert perf_counter() - began < 5
    assert [message.type for message in taken.messages] == ["x"]

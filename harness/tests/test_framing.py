"""Frames on a byte stream: any division into chunks gives the same messages."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise
from unittest import mock

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from sds_proto.testee.v1 import testee_pb2 as pb
from sds_testee.framing import MAX_FRAME_BYTES, Framing, FramingError, TooLongError
from sds_testee.stdio import serve

pytestmark = pytest.mark.every_python

JSON, BINARY = Framing.JSON, Framing.BINARY

texts = st.text(st.characters(codec="utf-8"), max_size=12)
blobs = st.binary(max_size=40)
numbers = st.integers(0, 2**64 - 1)

requests = st.one_of(
    st.builds(pb.Request, id=numbers),
    st.builds(pb.Request, id=numbers, tick=st.builds(pb.Tick, now_ms=numbers, handle=numbers)),
    st.builds(
        pb.Request,
        id=numbers,
        send=st.builds(
            pb.Send, now_ms=numbers, channel_id=texts, content=blobs, message_id=texts, retrieval_hint=st.none() | blobs
        ),
    ),
    st.builds(pb.Request, id=numbers, receive=st.builds(pb.Receive, now_ms=numbers, wire=blobs)),
    st.builds(
        pb.Request,
        id=numbers,
        open=st.builds(
            pb.Open,
            participant_id=texts,
            channels=st.lists(texts, max_size=3),
            configuration=st.builds(
                pb.Configuration, bloom_error_rate=st.none() | st.floats(0, 1), sync_interval_ms=st.none() | numbers
            ),
        ),
    ),
)
framings = st.sampled_from(Framing)


def taken(framing: Framing, chunks: Iterable[bytes]) -> tuple[list[bytes], bytes]:
    """Bodies of the frames that arrive in ``chunks``, and the bytes of an unfinished frame at the end."""
    buffer, bodies, searched = bytearray(), [], 0
    for chunk in chunks:
        buffer += chunk
        while (body := framing.take(buffer, searched)) is not None:
            bodies.append(body)
            searched = 0
        searched = len(buffer)
    return bodies, bytes(buffer)


def cut(stream: bytes, places: Iterable[int]) -> list[bytes]:
    edges = [0, *sorted(place % (len(stream) + 1) for place in places), len(stream)]
    return [stream[start:end] for start, end in pairwise(edges)]


@given(framings, st.lists(requests, max_size=5), st.lists(st.integers(0, 10_000), max_size=20))
def test_any_chunking_of_a_stream_gives_the_same_messages(
    framing: Framing, messages: list[pb.Request], places: list[int]
) -> None:
    stream = b"".join(framing.pack(message) for message in messages)
    bodies, rest = taken(framing, cut(stream, places))
    assert [framing.parse(body, pb.Request) for body in bodies] == messages
    assert rest == b""


def test_a_binary_frame_is_a_big_endian_length_and_protobuf() -> None:
    assert BINARY.pack(pb.Request(id=7)) == b"\x00\x00\x00\x02\x08\x07"
    assert BINARY.pack(pb.Request()) == b"\x00\x00\x00\x00"


def test_a_json_frame_says_large_numbers_and_bytes_as_protojson_does() -> None:
    message = pb.Request(id=2**64 - 1, receive=pb.Receive(wire=b"\x00\xff"))
    assert JSON.pack(message) == b'{"id": "18446744073709551615", "receive": {"wire": "AP8="}}\n'


def test_unknown_fields_of_a_request_are_ignored_and_an_unknown_name_in_a_reply_is_refused() -> None:
    assert JSON.parse(b'{"id":"7","frobnicate":{"x":[1]}}', pb.Request, lenient=True) == pb.Request(id=7)
    assert BINARY.parse(b"\x08\x07\xfa\xff\xff\x0f\x00", pb.Request).id == 7
    assert BINARY.parse(b"\x08\x07\xfa\xff\xff\x0f\x00", pb.Reply).id == 7
    with pytest.raises(FramingError, match='no field named "effect"'):
        JSON.parse(b'{"id":"7","effect":{}}', pb.Reply)


def test_a_long_reply_is_reported_from_output_that_is_none() -> None:
    for buffer in (bytearray((3 * MAX_FRAME_BYTES).to_bytes(4, "big")), bytearray(b"logs")):
        with pytest.raises(FramingError) as error:
            BINARY.take(buffer)
        assert isinstance(error.value, TooLongError) is (buffer != b"logs")
    for start in (b'{"id":"7","effects":', b"x"):
        with pytest.raises(FramingError) as error:
            JSON.take(bytearray(start.ljust(MAX_FRAME_BYTES + 1, b"1")))
        assert isinstance(error.value, TooLongError) is (start != b"x")


def test_a_line_is_refused_once_it_is_over_the_limit_and_not_before() -> None:
    line = bytearray(MAX_FRAME_BYTES)
    assert JSON.take(line) is None
    line += b"x"
    with pytest.raises(FramingError, match="a line of more than 67108864 bytes"):
        JSON.take(line)


@pytest.mark.parametrize(
    ("framing", "body", "why"),
    [
        (JSON, b"", "not a JSON object"),
        (JSON, b'["id"]', "not a JSON object"),
        (JSON, b'{"id":', "Failed to load JSON"),
        (JSON, b'{"id":1,"id":2}', "duplicate key"),
        (JSON, b'{"id":-1}', "out of range"),
        (JSON, b'{"id":1.5}', "integer"),
        (JSON, b'{"id":' + b"9" * 5000 + b"}", "Failed to load JSON"),
        (JSON, b'{"id":"\xff"}', "utf-8"),
        (JSON, b'{"send":{"channelId":"\\ud800"}}', "surrogate"),
        (JSON, b'{"send":{"content":"a"}}', "base64"),
        (JSON, b'{"send":{},"tick":{}}', "oneof"),
        (JSON, b'{"x":' + b"[" * 100_000, "recursion"),
        (BINARY, b"\x08", "parsing"),
        (BINARY, b"\x2a\x03\x1a\x01\xff", "parsing"),
    ],
)
def test_a_body_that_is_no_message_is_refused_in_one_line(framing: Framing, body: bytes, why: str) -> None:
    with pytest.raises(FramingError, match=f"(?i){why}") as caught:
        framing.parse(body, pb.Request)
    assert "\n" not in str(caught.value)


@given(framings, st.binary(max_size=60))
@example(JSON, b"{" * 2000)
def test_any_bytes_are_a_message_or_a_framing_error(framing: Framing, body: bytes) -> None:
    try:
        message = framing.parse(body, pb.Reply)
    except FramingError:
        return
    assert framing.parse(framing.pack(message)[4 * (framing is BINARY) :], pb.Reply) == message


# ---- Serving ---------------------------------------------------------------------------------------------------------


class Pipes:
    """The functions of the module os that ``serve`` needs: stdin arrives in chunks, and stdout accepts a few bytes at a
    time.
    """

    def __init__(self, chunks: list[bytes]) -> None:
        self.chunks = [chunk for chunk in chunks if chunk]
        self.written = b""

    def read(self, descriptor: int, size: int) -> bytes:
        assert descriptor == 0
        return self.chunks.pop(0) if self.chunks else b""

    def write(self, descriptor: int, data: memoryview) -> int:
        assert descriptor == 1
        self.written += data[:7]
        return min(7, len(data))


def served(framing: Framing, *chunks: bytes) -> list[pb.Reply]:
    """Replies of an echo to a stdin that arrives in these chunks."""
    pipes = Pipes(list(chunks))
    with mock.patch("sds_testee.stdio.os", pipes):
        serve(lambda request: pb.Reply(id=request.id), pb.Request, pb.Reply, framing)
    bodies, rest = taken(framing, [pipes.written])
    assert rest == b""
    return [framing.parse(body, pb.Reply) for body in bodies]


@given(framings, st.lists(requests, max_size=6), st.lists(st.integers(0, 10_000), max_size=12))
def test_every_request_is_answered_in_order_however_it_arrives(
    framing: Framing, messages: list[pb.Request], places: list[int]
) -> None:
    stream = b"".join(framing.pack(message) for message in messages)
    assert [reply.id for reply in served(framing, *cut(stream, places))] == [message.id for message in messages]


def test_a_request_that_is_none_is_answered_with_an_error_and_the_next_one_is_served() -> None:
    bad, good = served(JSON, b'hello?\n{"id":"2"}\n')
    assert bad == pb.Reply(error=pb.Error(message="not a request: not a JSON object"))
    assert good == pb.Reply(id=2)


def test_a_request_without_an_end_is_not_answered() -> None:
    assert served(JSON, b'{"id":"1"}\n{"id":"2"}') == [pb.Reply(id=1)]
    assert served(BINARY, BINARY.pack(pb.Request(id=1)) + b"\x00\x00\x00\x02\x08") == [pb.Reply(id=1)]

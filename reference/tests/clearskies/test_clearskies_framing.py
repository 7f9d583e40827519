"""Messages on a stream: the same in whatever pieces they arrive, bounded, and nothing beyond what breaks them."""

from __future__ import annotations

import sys
from base64 import b64encode
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clearskies_reference import BrokenFramingError, MalformedMessageError, Message, Parser
from clearskies_reference.framing import MAX_SIGNATURE_BYTES
from clearskies_reference.json_text import MAX_BODY_BYTES

BODIES = st.binary(max_size=40).map(lambda inside: b"{" + inside + b"}")
MESSAGES = st.builds(Message, BODIES, st.none() | st.binary(max_size=30).map(b64encode))


def attached(message: Message, *pieces: bytes) -> bytes:
    wire = message.to_wire()
    head = {b"m": b"!", b"s": b"$"}[wire[:1]]
    return head + wire[1:] + b"".join(b"%d\n%s" % (len(piece), piece) for piece in (*pieces, b""))


def parsed(*pieces: bytes) -> tuple[list[Message], int]:
    parser = Parser()
    return [message for piece in pieces for message in parser.feed(piece)], parser.incomplete_bytes


@settings(deadline=None)
@given(st.lists(st.tuples(MESSAGES, st.lists(st.binary(min_size=1, max_size=9), max_size=3) | st.none())), st.data())
def test_a_stream_says_the_same_in_whatever_pieces(
    sent: list[tuple[Message, list[bytes] | None]], data: st.DataObject
) -> None:
    wires = [message.to_wire() if more is None else attached(message, *more) for message, more in sent]
    stream = b"".join(wires)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(stream)), max_size=12)))
    pieces = [stream[start:end] for start, end in pairwise([0, *cuts, len(stream)])]
    expected = [message for message, _ in sent]
    assert parsed(stream) == parsed(*pieces) == parsed(*(bytes([byte]) for byte in stream)) == (expected, 0)


@settings(deadline=None)
@given(MESSAGES, st.data())
def test_what_is_not_whole_yet_is_the_rest(message: Message, data: st.DataObject) -> None:
    for wire in (message.to_wire(), attached(message, b"123", b"4")):
        cut = data.draw(st.integers(0, len(wire) - 1))
        assert parsed(message.to_wire() + wire[:cut]) == ([message], cut)


def test_the_examples_of_the_core_protocol() -> None:
    body = b'{"type":"foo","arg":"bar"}'
    assert Message(body).to_wire() == b"m26" + body
    assert Message(body, b"QUJD").to_wire() == b"s26:4" + body + b"\nQUJD\n"
    assert parsed(b"$26:4" + body + b"\nQUJD\n3\nabc0\n") == ([Message(body, b"QUJD")], 0)


@pytest.mark.parametrize(
    "stream",
    [
        b"x",
        b" m2{}",
        b"m{}",
        b"m:2{}",
        b"m2:3{}",
        b"m-2{}",
        b"m+2{}",
        b"m 2{}",
        b"m2 {}",
        b"m2[]",
        b"m0{}",
        b"m\xd9\xa3{}",
        b"s2{}",
        b"s2:{}",
        b"s2:4:4{}",
        b"s2:4{}QUJD\n\n",
        b"s2:4{}xQUJDx",
        b"m%d{" % (MAX_BODY_BYTES + 1),
        b"s2:%d{" % (MAX_SIGNATURE_BYTES + 1),
        b"m" + b"0" * 400,
        b"m" + b"9" * 400 + b"{",
        b"!2{}x\n",
        b"!2{}-1\n",
        b"!2{}" + b"1" * 400,
        b"!2{}%d\n" % (MAX_BODY_BYTES + 1),
    ],
)
def test_what_breaks_the_framing_is_refused_and_what_stood_before_it_is_not(stream: bytes) -> None:
    for pieces in ([stream], [bytes([byte]) for byte in stream]):
        parser = Parser()
        assert [message.body for message in parser.feed(b"m2{}")] == [b"{}"]
        with pytest.raises(BrokenFramingError):
            _ = [message for piece in pieces for message in parser.feed(piece)]


def test_a_digit_too_many_is_not_waited_for() -> None:
    parser = Parser()
    with pytest.raises(BrokenFramingError):
        list(parser.feed(b"m" + b"1" * 30))
    assert parser.incomplete_bytes < 40


def test_the_largest_body_goes_through() -> None:
    body = b'{"a":"' + b"x" * (MAX_BODY_BYTES - 8) + b'"}'
    assert parsed(Message(body).to_wire()) == ([Message(body)], 0)
    with pytest.raises(MalformedMessageError):
        Message(body + b" ").to_wire()


@pytest.mark.parametrize("body", [b"", b"[]", b" {}", b"null"])
def test_a_body_that_is_no_object_is_not_framed(body: bytes) -> None:
    with pytest.raises(MalformedMessageError):
        Message(body).to_wire()


@pytest.mark.parametrize("text", [b"", b"QUJ", b"QU JD", b"QUJD\n", b"-_-_", b"\xff\xff"])
def test_a_signature_that_is_no_base64_is_a_malformed_message(text: bytes) -> None:
    (message,), _ = parsed(b"s2:%d{}\n%s\n" % (len(text), text))
    with pytest.raises(MalformedMessageError):
        message.signature_bytes()


def calls(pieces: list[bytes]) -> int:
    """How many functions, also those of C, a parser calls for a stream."""
    count = 0

    def counting(frame: object, event: str, argument: object) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    parser = Parser()
    sys.setprofile(counting)
    try:
        for piece in pieces:
            for _ in parser.feed(piece):
                pass
    finally:
        sys.setprofile(None)
    return count


def test_the_cost_is_that_of_the_bytes_however_they_are_cut() -> None:
    body = b"{" + b"x" * 2_000 + b"}"
    few, many = (Message(body).to_wire() * count for count in (4, 16))
    for size in (1, 7, 4_096):
        cost = [calls([s[i : i + size] for i in range(0, len(s), size)]) for s in (few, many)]
        assert cost[1] < 5 * cost[0]

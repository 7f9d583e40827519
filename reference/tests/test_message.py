"""Section "Message": the wire format. The golden vectors contain its bytes, and other libraries read them."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sds_reference import MAX_LAMPORT, HistoryEntry, MalformedMessageError, Message, decode, encode

pytestmark = pytest.mark.every_python

HEAD = bytes.fromhex("0a0161 120131 1a0163")
"""sender_id "a", message_id "1", channel_id "c"."""


@pytest.mark.parametrize(
    "wire",
    [
        pytest.param(HEAD + b"\xa2\x01\x05abcd", id="truncated content"),
        pytest.param(HEAD + b"\x50" + b"\xff" * 10, id="varint without an end"),
        pytest.param(HEAD + b"\x5a\x02\x0a\x05", id="entry longer than its field"),
        pytest.param(b"\xff" * 40, id="noise"),
        pytest.param(b"\x1a\x03\xed\xa0\x80", id="surrogate in channel_id"),
        pytest.param(HEAD + b"\x5a\x03\x0a\x01\xff", id="invalid UTF-8 in an entry"),
    ],
)
def test_bytes_that_are_not_a_message_are_refused(wire: bytes) -> None:
    with pytest.raises(MalformedMessageError, match="not an SDS message"):
        decode(wire)


texts = st.text(st.characters(codec="utf-8"), max_size=8)
entries = st.lists(
    st.builds(HistoryEntry, texts, st.none() | st.binary(max_size=8), st.none() | texts), max_size=4
).map(tuple)
messages = st.builds(
    Message,
    texts,
    texts,
    texts,
    st.none() | st.integers(0, MAX_LAMPORT),
    entries,
    st.none() | st.binary(max_size=16),
    entries,
    st.none() | st.binary(max_size=16),
)


@settings(deadline=None)
@given(messages)
def test_every_message_survives_the_wire(message: Message) -> None:
    assert decode(encode(message)) == message


@settings(deadline=None)
@given(st.binary(max_size=60))
def test_any_bytes_are_read_or_refused_and_what_is_read_has_a_canonical_form(wire: bytes) -> None:
    try:
        message = decode(wire)
    except MalformedMessageError:
        return
    assert decode(encode(message)) == message

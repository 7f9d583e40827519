"""A dialect renumbers the fields of a message, in both directions, and no private field becomes a field of the
specification.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sds_harness.sds.dialects import load_named_dialect
from sds_reference import MAX_LAMPORT, ConfigurationError, HistoryEntry, MalformedMessageError, Message, encode
from sds_reference.testee.dialect import Dialect, load_dialect
from sds_reference.wire_fields import LEN, VARINT, WireField, join, split

NIM = load_dialect("nim-sds")


texts = st.text(st.characters(codec="utf-8"), max_size=8)
blobs = st.binary(max_size=12)
histories = st.lists(st.builds(HistoryEntry, texts, st.none() | blobs, st.none() | texts), max_size=3).map(tuple)
messages = st.builds(
    Message,
    texts,
    texts,
    texts,
    st.none() | st.integers(0, MAX_LAMPORT),
    histories,
    st.none() | blobs,
    histories,
    st.none() | blobs,
)
fields = st.one_of(
    st.builds(WireField, st.integers(1, 25), st.just(VARINT), st.integers(0, 2**64 - 1)),
    st.builds(WireField, st.integers(1, 25), st.just(LEN), blobs),
)


@given(messages)
def test_every_message_survives_the_way_there_and_back(message: Message) -> None:
    wire = encode(message)
    assert NIM.to_text(NIM.to_private(wire)) == wire


@given(st.lists(fields, max_size=8))
def test_a_private_field_becomes_a_field_of_the_text_only_by_the_dialect(private: list[WireField]) -> None:
    known = {number for _, number in NIM.numbers}
    text = decode_numbers(NIM.to_text(join(private)))
    of_the_text = {1, 2, 3, 10, 11, 12, 13, 20}
    for before, after in zip(private, text, strict=True):
        assert (after in of_the_text) == (before.number in known)


def decode_numbers(wire: bytes) -> list[int]:
    return [field.number for field in split(wire)]


def test_private_bytes_that_do_not_split_are_malformed() -> None:
    with pytest.raises(MalformedMessageError, match="not protobuf"):
        NIM.to_text(b"\x0a\xff")


# ---- Where dialects come from ----------------------------------------------------------------------------------------


def test_a_dialect_can_be_a_file_of_ones_own(tmp_path: Path) -> None:
    path = tmp_path / "mine.json"
    path.write_text(json.dumps({"dialect": "mine", "message": {"content": 1, "sender_id": 20}}))
    mine = load_named_dialect(str(path))
    assert mine == Dialect("mine", "", (("content", 1), ("sender_id", 20)))
    private = mine.to_private(encode(Message("alice", "m-1", "c1", content=b"hi")))
    assert split(private) == [
        WireField(20, LEN, b"alice"),
        WireField(2, LEN, b"m-1"),
        WireField(3, LEN, b"c1"),
        WireField(1, LEN, b"hi"),
    ]


def test_an_unknown_name_is_answered_with_the_known_ones() -> None:
    with pytest.raises(ConfigurationError, match=r"no dialect 'nim': known are nim-sds, or give the path of a .json"):
        load_named_dialect("nim")


def test_a_file_that_does_not_exist_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match=r"dialect .*none\.json: .*No such file"):
        load_named_dialect(str(tmp_path / "none.json"))


NEEDS = 'needs {"dialect": NAME'


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (b"{", "Expecting property name"),
        (b"\xff\xfe", "is not UTF-8"),
        (b"[" * 100_000, "nested too deep"),
        (b'{"dialect": "x"}', NEEDS),
        (b'{"dialect": "x", "message": [1]}', NEEDS),
        (
            b'{"dialect": "x", "message": {"contents": 1}}',
            "'contents' is not a field of Message; its fields are sender_id",
        ),
        (b'{"dialect": "x", "message": {"content": 0}}', "content has number 0, which is not a protobuf field number"),
        (b'{"dialect": "x", "message": {"content": "5"}}', "content has number '5'"),
        (b'{"dialect": "x", "message": {"content": true}}', "content has number True"),
        (b'{"dialect": "x", "message": {"content": 5, "sender_id": 5}}', "two fields share a number"),
    ],
)
def test_a_file_that_describes_no_dialect_is_refused_with_the_reason(tmp_path: Path, content: bytes, why: str) -> None:
    path = tmp_path / "bad.json"
    path.write_bytes(content)
    with pytest.raises(ConfigurationError) as caught:
        load_named_dialect(str(path))
    assert str(caught.value).startswith(f"dialect {path}: ")
    assert why in str(caught.value)

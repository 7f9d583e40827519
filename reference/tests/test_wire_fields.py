"""The protobuf wire below the message: splitting and joining numbered fields."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sds_reference import MalformedMessageError, decode
from sds_reference.wire_fields import FIXED32, FIXED64, LEN, VARINT, WireField, join, split, varint

pytestmark = pytest.mark.every_python

WIRE = bytes.fromhex("0a0161 50ac02 09 0807060504030201 15 04030201 a201020001")
FIELDS = [
    WireField(1, LEN, b"a"),
    WireField(10, VARINT, 300),
    WireField(1, FIXED64, 0x0102030405060708),
    WireField(2, FIXED32, 0x01020304),
    WireField(20, LEN, b"\x00\x01"),
]


def test_a_message_splits_into_its_fields_in_their_order() -> None:
    assert split(WIRE) == FIELDS


def test_fields_join_to_the_bytes_they_came_from() -> None:
    assert join(FIELDS) == WIRE


def test_no_bytes_are_no_fields() -> None:
    assert split(b"") == []
    assert join([]) == b""


def test_repeated_fields_all_stay() -> None:
    assert [field.value for field in split(bytes.fromhex("5001 5002 5003"))] == [1, 2, 3]


def test_a_nested_message_is_not_opened() -> None:
    assert split(bytes.fromhex("5a050a036d2d31")) == [WireField(11, LEN, b"\x0a\x03m-1")]


def test_fields_can_be_reordered_without_changing_the_message() -> None:
    wire = bytes.fromhex("0a0161 120131 1a0163 5007 a2010178")
    reversed_wire = join(reversed(split(wire)))
    assert reversed_wire == bytes.fromhex("a2010178 5007 1a0163 120131 0a0161")
    assert decode(reversed_wire) == decode(wire)


@pytest.mark.parametrize(
    ("value", "encoded"),
    [(0, "00"), (1, "01"), (127, "7f"), (128, "8001"), (300, "ac02"), (2**64 - 1, "ffffffffffffffffff01")],
)
def test_a_varint_is_as_short_as_it_can_be(value: int, encoded: str) -> None:
    assert varint(value).hex() == encoded


@pytest.mark.parametrize(
    ("value", "least", "encoded"), [(7, 3, "878000"), (0, 2, "8000"), (300, 2, "ac02"), (300, 4, "ac828000")]
)
def test_a_varint_can_be_made_longer_than_it_need_be(value: int, least: int, encoded: str) -> None:
    assert varint(value, least).hex() == encoded


@pytest.mark.parametrize(
    "wire",
    [
        pytest.param("0a05 61", id="truncated"),
        pytest.param("50", id="no varint"),
        pytest.param("07", id="wire type 7"),
        pytest.param("0200", id="field number 0"),
        pytest.param("0b 0801", id="group without an end"),
    ],
)
def test_bytes_that_are_not_protobuf_are_refused(wire: str) -> None:
    with pytest.raises(MalformedMessageError, match="not protobuf"):
        split(bytes.fromhex(wire))


def test_a_group_is_refused_by_its_number() -> None:
    with pytest.raises(MalformedMessageError, match="field 3 is a group"):
        split(bytes.fromhex("1b 0801 1c"))


fields = st.one_of(
    st.builds(WireField, st.integers(1, 2**29 - 1), st.just(VARINT), st.integers(0, 2**64 - 1)),
    st.builds(WireField, st.integers(1, 2**29 - 1), st.just(FIXED64), st.integers(0, 2**64 - 1)),
    st.builds(WireField, st.integers(1, 2**29 - 1), st.just(FIXED32), st.integers(0, 2**32 - 1)),
    st.builds(WireField, st.integers(1, 2**29 - 1), st.just(LEN), st.binary(max_size=200)),
)


@settings(deadline=None)
@given(st.lists(fields, max_size=8))
def test_all_fields_survive_joining_and_splitting(those: list[WireField]) -> None:
    assert split(join(those)) == those

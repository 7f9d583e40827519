"""Fields of protobuf below the level of messages."""

from __future__ import annotations

from sds_reference.wire_fields import FIXED32, FIXED64, LEN, VARINT, WireField, count_missing_bytes, join

WHOLE = join(
    [
        WireField(1, FIXED64, 7),
        WireField(2, FIXED32, 7),
        WireField(3, VARINT, 300),
        WireField(20, LEN, b"a text of 200" * 20),
    ]
)


def test_the_bytes_that_are_missing_of_a_last_text_are_counted() -> None:
    assert count_missing_bytes(WHOLE) == 0
    for missing in range(1, 260):
        assert count_missing_bytes(WHOLE[:-missing]) == missing


def test_of_other_bytes_none_are_known_to_be_missing() -> None:
    for wire in (b"", b"\xff", b"\x08", b"\x08\x80", b"\x0a\x80", WHOLE[:5], b"\x0b\x0c", b"\xff" * 40):
        assert count_missing_bytes(wire) == 0

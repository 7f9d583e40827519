"""Section "Message": the wire format."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sds_reference import MAX_LAMPORT, HistoryEntry, Kind, MalformedMessageError, Message, decode, encode

pytestmark = pytest.mark.every_python

FULL = Message(
    sender_id="alicé",
    message_id="m-3",
    channel_id="0",
    lamport_timestamp=1_800_000_000_000,
    causal_history=(HistoryEntry("m-1"), HistoryEntry("m-2", b"\xff\x00\xc3\x28", "bob")),
    bloom_filter=b"\x00\x80",
    repair_request=(HistoryEntry("m-0", None, "carol"),),
    content=b"\x00\xff\xfe\x80\x0a",
)

FULL_WIRE = bytes.fromhex(
    "0a06 616c6963c3a9"  # 1 sender_id
    "1203 6d2d33"  # 2 message_id
    "1a01 30"  # 3 channel_id
    "50 80a0f1c2b134"  # 10 lamport_timestamp
    "5a05 0a03 6d2d31"  # 11 causal_history, entry with 1 message_id
    "5a10 0a03 6d2d32 1204 ff00c328 1a03 626f62"  # 11, entry with 2 retrieval_hint and 3 sender_id as well
    "6202 0080"  # 12 bloom_filter
    "6a0c 0a03 6d2d30 1a05 6361726f6c"  # 13 repair_request
    "a20105 00fffe800a"  # 20 content
)

HEAD = bytes.fromhex("0a0161 120131 1a0163")
"""sender_id "a", message_id "1", channel_id "c"."""


def test_a_full_message_has_the_bytes_the_schema_gives_it() -> None:
    assert encode(FULL) == FULL_WIRE


def test_a_full_message_is_read_back_from_its_bytes() -> None:
    assert decode(FULL_WIRE) == FULL


def test_equal_messages_are_one_member_of_a_set() -> None:
    assert len({FULL, decode(FULL_WIRE), Message("a", "1", "c")}) == 2
    assert len({*FULL.causal_history, HistoryEntry("m-1")}) == 2


def test_a_message_with_only_the_three_ids_has_three_fields() -> None:
    message = Message("a", "1", "c")
    assert encode(message) == HEAD
    assert decode(HEAD) == message


def test_a_lamport_timestamp_of_zero_is_present_on_the_wire() -> None:
    assert encode(Message("a", "1", "c", 0)) == HEAD + b"\x50\x00"
    assert decode(HEAD + b"\x50\x00").lamport_timestamp == 0


def test_the_largest_lamport_timestamp_takes_ten_bytes() -> None:
    wire = HEAD + bytes.fromhex("50 ffffffffffffffffff01")
    assert encode(Message("a", "1", "c", MAX_LAMPORT)) == wire
    assert decode(wire).lamport_timestamp == 18_446_744_073_709_551_615


@pytest.mark.parametrize("value", [2**53 + 1, 2**63, 2**64 - 1])
def test_large_lamport_timestamps_are_exact(value: int) -> None:
    assert decode(encode(Message("a", "1", "c", value))).lamport_timestamp == value


def test_empty_optional_fields_are_present_and_differ_from_unset_ones() -> None:
    empty = Message("a", "1", "c", None, (HistoryEntry("2", b"", ""),), b"", (), b"")
    wire = HEAD + bytes.fromhex("5a07 0a0132 1200 1a00 6200 a20100")
    assert encode(empty) == wire
    assert decode(wire) == empty
    assert decode(HEAD) == Message("a", "1", "c", None, (), None, (), None)


def test_an_entry_without_any_field_is_an_entry_with_an_empty_id() -> None:
    assert decode(HEAD + bytes.fromhex("5a00")).causal_history == (HistoryEntry(""),)


def test_missing_ids_are_empty_strings() -> None:
    assert decode(b"") == Message("", "", "")


def test_unknown_fields_are_ignored() -> None:
    unknown = bytes.fromhex("9a0603 010203 2007 31 0102030405060708 3d 01020304")  # 99 LEN, 4 VARINT, 6 I64, 7 I32
    assert decode(unknown + FULL_WIRE + unknown) == FULL


def test_the_last_of_a_repeated_scalar_wins() -> None:
    wire = FULL_WIRE + bytes.fromhex("0a0161 5007 a2010178")
    message = decode(wire)
    assert (message.sender_id, message.lamport_timestamp, message.content) == ("a", 7, b"x")


def test_a_non_minimal_varint_has_the_value_of_the_minimal_one() -> None:
    assert decode(HEAD + bytes.fromhex("50 87808000")).lamport_timestamp == 7


def test_fields_in_reverse_order_make_the_same_message() -> None:
    wire = bytes.fromhex(
        "a2010178 6a030a0135 620180 5a030a0133 5a030a0134 5007 1a0163 120131 0a0161"  # repeated ones keep their order
    )
    assert decode(wire) == Message(
        "a", "1", "c", 7, (HistoryEntry("3"), HistoryEntry("4")), b"\x80", (HistoryEntry("5"),), b"x"
    )


@pytest.mark.parametrize(
    "wire",
    [
        pytest.param(FULL_WIRE[:-1], id="truncated content"),
        pytest.param(HEAD + b"\x50", id="varint without a byte"),
        pytest.param(HEAD + b"\x50" + b"\xff" * 10, id="varint without an end"),
        pytest.param(HEAD + b"\x5a\x02\x0a\x05", id="entry longer than its field"),
        pytest.param(b"\x07", id="wire type 7"),
        pytest.param(b"\x02\x00", id="field number 0"),
        pytest.param(b"\xff" * 40, id="noise"),
        pytest.param(b"\x0a\x02\xc3\x28", id="invalid UTF-8 in sender_id"),
        pytest.param(b"\x12\x01\x80", id="invalid UTF-8 in message_id"),
        pytest.param(b"\x1a\x03\xed\xa0\x80", id="surrogate in channel_id"),
        pytest.param(HEAD + b"\x5a\x03\x0a\x01\xff", id="invalid UTF-8 in an entry"),
    ],
)
def test_bytes_that_are_not_a_message_are_refused(wire: bytes) -> None:
    with pytest.raises(MalformedMessageError, match="not an SDS message"):
        decode(wire)


@pytest.mark.parametrize(
    ("lamport", "text", "kind"),
    [
        (7, b"x", Kind.CONTENT),
        (0, b"x", Kind.CONTENT),
        (7, None, Kind.SYNC),
        (0, b"", Kind.SYNC),
        (None, b"x", Kind.EPHEMERAL),
        (None, b"", Kind.UNDEFINED),
        (None, None, Kind.UNDEFINED),
    ],
)
def test_the_kind_follows_from_lamport_timestamp_and_content(
    lamport: int | None, text: bytes | None, kind: Kind
) -> None:
    assert Message("a", "1", "c", lamport, content=text).kind is kind


def test_causal_history_and_filter_do_not_decide_the_kind() -> None:
    message = Message("a", "1", "c", None, (HistoryEntry("2"),), b"\x00", (HistoryEntry("3"),), b"x")
    assert message.kind is Kind.EPHEMERAL


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

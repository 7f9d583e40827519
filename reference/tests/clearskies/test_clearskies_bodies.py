"""Bodies of messages: strict JSON, exact numbers, times of any precision, and ignored members."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clearskies_club import A, B, body, update
from clearskies_reference import (
    MalformedMessageError,
    Record,
    read,
    timestamp,
    update_body,
)
from clearskies_reference.json_text import MAX_DEPTH
from clearskies_reference.json_text import read as read_json
from clearskies_reference.timestamps import from_nanoseconds, nanoseconds_up

pytestmark = pytest.mark.every_python

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)
TEXT = st.text(st.characters(exclude_categories=["Cs"]))


def record(**fields: Any) -> Record:
    found = read(body(update(**fields)))
    assert isinstance(found, Record)
    return found


@settings(deadline=None)
@given(VALUES, TEXT, st.booleans())
def test_an_update_says_all_of_a_record(value: object, key: str, deleted: bool) -> None:
    sent = record(value=value, key=key, deleted=deleted, last_updated_rev=(1 << 63) + 1)
    assert read(update_body(sent)) == sent
    assert read(update_body(sent, writes_deleted_false=True)) == sent
    assert ("deleted" in json.loads(update_body(sent))) == deleted


@pytest.mark.parametrize(
    "text",
    [
        b"",
        b'{"a":1,}',
        b'{"a":1,"a":2}',
        b"NaN",
        b"[Infinity]",
        b"1e999",
        b'"\\ud800"',
        b'"\xff"',
        b"1" * 5_000,
        b"{} {}",
        b"\xef\xbb\xbf{}",
        b"[" * 5_000_000,
        b"[" * (MAX_DEPTH + 1) + b"]" * (MAX_DEPTH + 1),
        b'"' + b'\\"' * 1_000_000,
    ],
    ids=lambda text: repr(text[:24]),
)
def test_what_is_no_json_is_refused(text: bytes) -> None:
    with pytest.raises(MalformedMessageError):
        read_json(text)


def test_brackets_in_strings_are_no_depth() -> None:
    assert read_json(b'["' + b"[" * 1_000 + b'\\"[{"]') == ["[" * 1_000 + '"[{']
    assert read_json(b"[" * MAX_DEPTH + b"]" * MAX_DEPTH)
    assert len(read_json(b"[" + b",".join([b"[]"] * 1_000) + b"]")) == 1_000


@pytest.mark.parametrize(
    "fields",
    [
        {"type": None},
        {"key": 1},
        {"uuid": "1" * 31},
        {"uuid": "A" * 32},
        {"last_updated_by": [B]},
        {"last_updated_rev": 0},
        {"last_updated_rev": 1 << 64},
        {"last_updated_rev": 1.0},
        {"last_updated_rev": True},
        {"update_time": None},
        {"vector_clock": None},
        {"deleted": "true"},
    ],
)
def test_an_update_of_wrong_types_is_refused(fields: dict[str, Any]) -> None:
    with pytest.raises(MalformedMessageError):
        read(body(update(**fields)))


@pytest.mark.parametrize(
    "name", ["key", "value", "uuid", "last_updated_by", "last_updated_rev", "vector_clock", "type"]
)
def test_an_update_that_lacks_something_is_refused(name: str) -> None:
    members = update()
    del members[name]
    with pytest.raises(MalformedMessageError):
        read(body(members))


@pytest.mark.parametrize("since", [None, [], {A: -1}, {A: 1 << 64}, {A: "1"}, {"a": 1}, {A: True}])
def test_a_request_of_wrong_types_is_refused(since: object) -> None:
    with pytest.raises(MalformedMessageError):
        read(body({"type": "database.get_updates", "since": since}))


# ---- Times -------------------------------------------------------------------------------------------------------


@settings(deadline=None)
@given(st.integers(-(1 << 80), 1 << 80), st.integers(0, 9))
def test_a_time_that_is_written_is_read_as_the_same(nanoseconds: int, digits: int) -> None:
    if abs(nanoseconds) > 3 * 10**17 * 10**9:
        nanoseconds >>= 24
    time = from_nanoseconds(nanoseconds, digits)
    assert timestamp(time.text) == time
    assert from_nanoseconds(nanoseconds_up(time) - 1, 9) == time


@pytest.mark.parametrize(
    "texts",
    [
        ("2014-02-23T23:45:39Z", "2014-02-23T23:45:39.000Z", "2014-02-24T00:45:39+01:00", "2014-02-23 23:45:39"),
        ("2014-03-30T12:35:29.113243778Z", "2014-03-30T14:35:29,1132437780+0200", "2014-03-30t11:35:29.113243778-01"),
        ("2014-03-30T12:35Z", "2014-03-30T12:35:00z"),
        ("2016-12-31T23:59:60Z", "2017-01-01T00:00:00Z"),
        ("+12014-01-01T00:00:00Z", "+0012014-01-01T00:00:00Z"),
    ],
)
def test_the_same_time_in_other_words(texts: tuple[str, ...]) -> None:
    assert len({timestamp(text) for text in texts}) == 1


@pytest.mark.parametrize(
    "text",
    [
        "",
        "2014-02-23",
        "2015-02-29T00:00:00Z",
        "2014-13-01T00:00:00Z",
        "2014-01-01T24:00:00Z",
        "2014-01-01T00:00:61Z",
        "2014-01-01T00:00:00.Z",
        "2014-01-01T00:00:00+24:00",
        "2014-01-01T00:00:00Z\n",
        "٢٠١٤-01-01T00:00:00Z",
        "2014-01-01T00:00:00." + "1" * 80 + "Z",
        "+123456789012-01-01T00:00:00Z",
    ],
)
def test_what_is_no_time_is_refused(text: str) -> None:
    with pytest.raises(MalformedMessageError):
        timestamp(text)

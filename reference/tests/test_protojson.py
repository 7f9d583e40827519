"""The codec of ProtoJSON gives the same messages, the same texts and the same errors as json_format."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any
from unittest import mock

import pytest
from google.protobuf import json_format
from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.message import Message
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sds_proto.testee.v1 import testee_pb2 as pb
from sds_testee import protojson

pytestmark = pytest.mark.every_python

KINDS: list[Any] = [getattr(pb, name) for name in pb.DESCRIPTOR.message_types_by_name]
texts = st.text(st.characters(codec="utf-8"), max_size=8) | st.sampled_from(
    [":", '":', '"\n', "a:b", "\u2028\x00\x7f", "1"]
)
SCALARS: dict[int, st.SearchStrategy[Any]] = {
    FieldDescriptor.TYPE_BOOL: st.booleans(),
    FieldDescriptor.TYPE_BYTES: st.binary(max_size=8),
    FieldDescriptor.TYPE_DOUBLE: st.floats(),
    FieldDescriptor.TYPE_INT32: st.integers(-(2**31), 2**31 - 1),
    FieldDescriptor.TYPE_STRING: texts,
    FieldDescriptor.TYPE_UINT32: st.integers(0, 2**32 - 1),
    FieldDescriptor.TYPE_UINT64: st.integers(0, 2**64 - 1),
}


def values_of(field: Any) -> st.SearchStrategy[Any]:
    if field.message_type is not None:
        one = st.deferred(lambda: messages(getattr(pb, field.message_type.name)))
    elif field.enum_type is not None:
        one = st.sampled_from([*field.enum_type.values_by_number, -1, 2**31 - 1])
    else:
        one = SCALARS[field.type]
    return st.lists(one, max_size=3) if field.is_repeated else one


@st.composite
def messages(draw: st.DrawFn, kind: Any) -> Any:
    """Any message of a type."""
    set_fields = (
        draw(st.lists(st.sampled_from(list(kind.DESCRIPTOR.fields)), max_size=5)) if kind.DESCRIPTOR.fields else []
    )
    chosen = {field.containing_oneof or field: field for field in set_fields}
    return kind(**{field.name: draw(values_of(field)) for field in chosen.values()})


any_message = st.sampled_from([pb.Request, pb.Reply, *KINDS]).flatmap(messages)

ODD = [
    *("null", "true", "0", "-0", "-0.0", "0.0", "1.0", "1e3", "1.5", "1e400", "-1", "NaN", "Infinity", "[]", "{}"),
    *("18446744073709551615", "18446744073709551616", "4294967296", "9" * 400, "9" * 5000, "01", "1.", "[null]"),
    *('""', '"1"', '" 1"', '"1_0"', '"+1"', '"1\\n"', '"1.0"', '"1e3"', '"-0"', '"\u0664"', '"true"', '"nan"', '"NaN"'),
    *('"Infinity"', '"0.5"', '"AP8="', '"AP8"', '"AP9="', '"_-8="', '"A P8="', '"AP8=="', '"AP8=AP8="', '"=AAA"'),
    *('"AAAA\\u003d"', '"\\ud800"', '"\\udc00\\ud800"', '"\\ud83d\\ude00"', '"\x00"', '"\x7f"', '"\u2028"'),
    *('"CAPABILITY_SYNC"', '"capability_sync"', "3", '"3"', "77", '["1", 1]', '[{}, {"x": 1}]', '{"id": 1, "id": 2}'),
    *("[" * 1200 + "]" * 1200, '{"tick":' * 200 + "{}" + "}" * 200),
]


@st.composite
def written(draw: st.DrawFn, value: Any, kind: Any) -> str:
    """A value as an adapter might write it: mostly valid, with blanks, escapes and odd parts."""
    quirk = draw(st.integers(0, 40))
    if quirk == 0:
        return draw(st.sampled_from(ODD))
    blank = draw(st.sampled_from(["", "", "", " ", "\t\r\n "]))
    if isinstance(value, list):
        return "[" + f",{blank}".join(draw(written(item, kind)) for item in value) + "]"
    if not isinstance(value, dict):
        text = json.dumps(value, ensure_ascii=draw(st.booleans()))
        if quirk == 1 and isinstance(value, str):
            text = '"' + "".join(f"\\u{ord(c):04x}" if ord(c) < 0x10000 else c for c in value) + '"'
        return value if quirk == 2 and isinstance(value, str) else text
    fields = kind.DESCRIPTOR.fields_by_camelcase_name if kind is not None else {}
    parts = []
    for name, item in value.items():
        field = fields.get(name)
        inner = getattr(pb, field.message_type.name) if field is not None and field.message_type is not None else None
        names = [name] * 8 + [field.name if field is not None else name, f"{name}x", f"[{name}]"]
        for _ in range(draw(st.sampled_from([1, 1, 1, 1, 1, 2]))):
            key = draw(st.sampled_from(names))
            after = draw(st.sampled_from([":", ":", ": ", " :", "\t: "]))
            escaped = f"\\u{ord(key[0]):04x}{key[1:]}" if draw(st.integers(0, 20)) == 0 else key
            parts.append(f'"{escaped}"{after}{draw(written(item, inner))}')
    if parts and draw(st.integers(0, 8)) == 0:
        other = draw(st.sampled_from(list(kind.DESCRIPTOR.fields))).json_name if kind is not None else "x"
        parts.append(f'"{other}":{draw(st.sampled_from([*ODD, "{}"]))}')
    return blank + "{" + f",{blank}".join(parts) + "}" + blank


@st.composite
def broken(draw: st.DrawFn) -> tuple[Any, bytes]:
    """A type of message, and a text that is such a message or almost one."""
    message = draw(any_message)
    kind = type(message)
    body = draw(written(json_format.MessageToDict(message), kind)).encode("utf-8", "surrogatepass")
    for _ in range(draw(st.sampled_from([0, 0, 0, 1, 2]))):
        place = draw(st.integers(0, len(body)))
        change = draw(st.sampled_from(["flip", "cut", "insert", "drop"]))
        some = draw(
            st.sampled_from(
                [b'"', b":", b",", b" ", b"{", b"}", b"\\", b"0", b"\xff", b"\xed\xa0\x80", b"\xef\xbb\xbf"]
            )
        )
        rest = {"flip": some + body[place + 1 :], "cut": b"", "insert": some + body[place:], "drop": body[place + 1 :]}
        body = body[:place] + rest[change]
    return kind, body


def outcome(parse: Callable[[], Message]) -> tuple[Any, str]:
    try:
        return parse().SerializeToString(deterministic=True), ""
    except (json_format.ParseError, UnicodeDecodeError, RecursionError) as error:
        return type(error), str(error)


def hold_equal(kind: Any, body: bytes, lenient: bool) -> None:
    by_hand = outcome(lambda: json_format.Parse(body, kind(), ignore_unknown_fields=lenient))
    assert outcome(lambda: protojson.parse(body, kind, lenient=lenient)) == by_hand


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(any_message)
def test_a_message_is_written_as_json_format_writes_it_and_read_back(message: Any) -> None:
    text = json_format.MessageToJson(message, indent=None, ensure_ascii=False)
    assert protojson.write(message) == text
    assert protojson.write(message, compact=True) == json.dumps(
        json_format.MessageToDict(message), ensure_ascii=False, separators=(",", ":")
    )
    hold_equal(type(message), text.encode(), False)


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(broken(), st.booleans())
def test_a_text_is_read_or_refused_as_json_format_does(text: tuple[Any, bytes], lenient: bool) -> None:
    hold_equal(*text, lenient)


UNUSUAL = [
    '{"id":1,"id":2}',
    '{"id" :1,"id":2}',
    '{"id" :1,"id" :2}',
    '{"id":1,"\\u0069d":2}',
    '{"tick":{"nowMs":"1","now_ms":"2"}}',
    '{"tick":{"nowMs":"1","now_ms":null}}',
    '{"tick":{"nowMs":null}}',
    '{"tick":null,"close":{}}',
    '{"tick":{},"close":{}}',
    '{"tick":{"x":1,"x":2}}',
    '{"send":{"channelId":":","channelId":"\\":"}}',
    '{"send":{"channelId" :":","channelId":"b"}}',
    '{"open":{"channels":[":","\\":"]}}',
    '{"open":{"channels":["a",null]}}',
    f'{{"send":{{"content":"{"A" * 2000}","content":"AAAA"}}}}',
    f'{{"send":{{"content":"{"A" * 2000}","channelId":"a:\\":"}}}}',
    f'{{"send":{{"channelId":"a","channel_id":"{"A" * 2000}"}}}}',
    '{"open":{"configuration":{"bloomErrorRate":-0.0,"numResponseGroups":2147483648}}}',
    '{"id":"1","frobnicate":{"x":[1]}}',
    '\ufeff{"id":"1"}',
    '{"id":"1"}}',
    "{}",
    "[]",
    "7",
    "",
    *(f'{{"id":{value}}}' for value in ODD),
    *(f'{{"receive":{{"wire":{value}}}}}' for value in ODD),
    *(f'{{"open":{{"configuration":{{"bloomErrorRate":{value}}}}}}}' for value in ODD),
]
"""Unusual JSON, which the parser of protobuf accepts or rejects."""


@pytest.mark.parametrize("lenient", [False, True])
def test_what_is_not_as_everybody_writes_it_is_read_or_refused_as_json_format_does(lenient: bool) -> None:
    for text in UNUSUAL:
        hold_equal(pb.Request, text.encode(), lenient)


def test_usual_messages_are_not_left_to_json_format() -> None:
    usual = [
        (pb.Request, '{"id": "7", "tick": {"nowMs": "1800000000000", "handle": "1"}}'),
        (pb.Request, '{"id":7,"receive":{"nowMs":1800000000000,"handle":1,"wire":"AP8=","retrievalHint":""}}'),
        (pb.Request, '{"id":"7","open":{"channels":["a:b"],"configuration":{"sdsR":true,"bloomErrorRate":0.01}}}'),
        (pb.Request, ' { "id" : "7", "send": {"now_ms": "1", "content": "AP8=", "messageId": "é\\u00e9"} } \r'),
        (pb.Request, f'{{"id":"7","send":{{"channelId":"a:b","content":"{"A" * 2000}"}}}}'),
        (pb.Reply, '{"id":"7","effects":{}}'),
        (pb.Reply, '{"id":"7","effects":{"events":[{"channelId":"c","delivered":{"messageId":"m","content":""}}]}}'),
        (pb.Reply, '{"id":"7","effects":{"broadcasts":["AP8=",""],"messageId":null}}'),
        (
            pb.Reply,
            '{"id":"7","state":{"filterHits":[true,false],"outgoing":{"entries":[{"state":"ACK_STATE_ACKNOWLEDGED"}]}}}',
        ),
        (pb.Reply, '{"id":"7","hello":{"capabilities":["CAPABILITY_SYNC"],"limits":{"logEntries":"1"}}}'),
    ]
    expected = [json_format.Parse(text, kind()) for kind, text in usual]
    texts_of = [json_format.MessageToJson(message, indent=None, ensure_ascii=False) for message in expected]
    with mock.patch.object(protojson, "json_format"):
        assert [protojson.parse(text.encode(), kind) for kind, text in usual] == expected
        assert list(map(protojson.write, expected)) == texts_of

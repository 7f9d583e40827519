"""For any line, the validator names the field and the side at fault."""

from __future__ import annotations

import json
import sys
from typing import Any

import pytest

from sds_harness.link import Limits, StdioLink
from sds_harness.sds.language import SDS, open_session
from sds_harness.validation import MAX_COMPLAINTS, MAX_OF_ONE, MessageOrigin, Validator
from sds_proto.testee.v1 import testee_pb2 as pb
from sds_testee.framing import Framing


def complaints(*bodies: bytes, framing: Framing = Framing.JSON) -> list[tuple[str, str]]:
    """The complaints about replies: field and sentence."""
    validator = Validator(SDS, framing)
    for body in bodies:
        validator.sent(framing_of(framing, pb.Request(id=1, tick=pb.Tick(handle=1))))
        validator.on_frame(body, True)
    assert all(complaint.side is MessageOrigin.ADAPTER for complaint in validator.complaints)
    return [(complaint.path, complaint.message) for complaint in validator.complaints]


def framing_of(framing: Framing, message: Any) -> bytes:
    body = framing.take(bytearray(framing.pack(message)))
    assert body is not None
    return body


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (b"\xff", "byte 1 of the line is not UTF-8"),
        (b"DEBUG", "the line is not JSON: Expecting value at character 1"),
        (b'{"id":"1","effects":{}} trailing', "the line is not JSON: Extra data at character 25"),
        (b"[" * 100_000, "the line is nested too deeply"),
        (b'{"id":"1","id":"2","effects":{}}', 'the field "id" is duplicated in one object'),
        (b'{"id":NaN,"effects":{}}', 'NaN is not JSON: it must be quoted, "NaN"'),
        (b"[]", "a list is not an object"),
        (b'{"id":"1","effects":{},"error":{}}', "effects and error are set at once: they exclude each other"),
        (b'{"id":"1"}', "none of hello, opened, effects"),
    ],
)
def test_what_is_no_reply_at_all(line: bytes, said: str) -> None:
    ((path, output),) = complaints(line)
    assert path == ""
    assert output.startswith(said)


@pytest.mark.parametrize(
    ("answer", "path", "said"),
    [
        ({"effects": {"broadcast": []}}, "effects.broadcast", "unknown field: did you mean broadcasts?"),
        ({"effects": {"zzz": 1}}, "effects.zzz", "unknown field: the fields here are broadcasts, events, messageId"),
        ({"effects": {"events": [None]}}, "effects.events[0]", "null has no meaning here"),
        ({"effects": {"broadcasts": ["a"]}}, "effects.broadcasts[0]", '"a" is not base64: its 1 characters'),
        ({"decoded": {"kind": "CONTENT"}}, "decoded.kind", '"CONTENT" is not a value of this enum'),
        ({"opened": {"handle": -1}}, "opened.handle", "-1 is not a number from 0 to 18446744073709551615"),
    ],
)
def test_a_field_is_named_by_its_path(answer: dict[str, Any], path: str, said: str) -> None:
    ((where, output),) = complaints(json.dumps({"id": "1", **answer}).encode())
    assert where == path
    assert output.startswith(said)


def test_a_misspelt_answer_is_not_missing_as_well() -> None:
    assert complaints(b'{"id":"1","efects":{}}') == [("efects", "unknown field: did you mean effects?")]


def test_complaints_that_differ_in_the_value_alone_are_one() -> None:
    validator = Validator(SDS, Framing.JSON)
    for number in range(5):
        validator.on_frame(b'{"id":"1","effects":{"messageId":%d}}' % number, True)
    (complaint,) = validator.complaints
    assert (complaint.message, complaint.more) == ("0 is not a string", 4)


def test_many_complaints_are_counted_and_not_kept() -> None:
    validator = Validator(SDS, Framing.JSON)
    for number in range(40):
        names = ",".join(f'"x{number}y{index}":1' for index in range(100))
        validator.on_frame(b'{"id":"1","effects":{%s}}' % names.encode(), True)
    assert len(validator.complaints) == MAX_COMPLAINTS
    assert validator.dropped == 40 * MAX_OF_ONE - MAX_COMPLAINTS


def test_a_request_that_is_wrong_is_ours() -> None:
    validator = Validator(SDS, Framing.JSON)
    validator.sent(b'{"id":"1","tik":{}}')
    (complaint,) = validator.complaints
    assert (complaint.side, complaint.path) == (MessageOrigin.SUITE, "tik")


def test_a_command_that_nobody_knows_is_asked_for_on_purpose() -> None:
    validator = Validator(SDS, Framing.JSON)
    validator.sent(b'{"id":"1","frobnicate":{}}')
    assert validator.complaints == []


def test_over_binary_framing_fields_are_unknown_by_their_numbers() -> None:
    right = framing_of(Framing.BINARY, pb.Reply(id=1, effects=pb.Effects(events=[pb.Event(channel_id="c")])))
    assert complaints(right, framing=Framing.BINARY) == []
    assert complaints(right + b"\xf8\x01\x01", framing=Framing.BINARY) == [("", "field number 31 is unknown in Reply")]
    inner = b"\x08\x01\xba\x01\x07\x12\x05\xf8\x01\x01\x0a\x00"
    assert complaints(inner, framing=Framing.BINARY) == [("effects.events[0]", "field number 31 is unknown in Event")]
    assert complaints(b"\xff", framing=Framing.BINARY) == [("", "the message is not a Reply in protobuf")]


@pytest.mark.every_python
@pytest.mark.parametrize("framing", list(Framing))
def test_a_conversation_with_the_reference_is_valid_both_ways(framing: Framing) -> None:
    validator = Validator(SDS, framing)

    def connect() -> StdioLink:
        link = StdioLink((sys.executable, "-m", "sds_reference"), framing, Limits())
        assert link.listen(validator)
        return link

    session = open_session(connect, Limits(), "sds-2026-01")
    session.call(pb.Request(open=pb.Open(now_ms=1, participant_id="\U0001f98a", channels=["c"])))
    session.probe_honesty()
    session.close()
    assert (validator.requests, validator.complaints) == (3, [])

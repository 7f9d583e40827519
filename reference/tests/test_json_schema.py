"""The JSON Schemas of the testee protocol accept everything that ProtoJSON allows, and reject misspelt names."""

from __future__ import annotations

import json
import re
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest
from google.protobuf import json_format, struct_pb2
from jsonschema import Draft202012Validator

from clearskies_proto.testee.v1 import testee_pb2 as clearskies_pb
from sds_proto.testee.v1 import testee_pb2 as pb
from sds_testee.json_schema import schema_of

pytestmark = pytest.mark.every_python

PAGE = Path(__file__).parents[2] / "harness" / "adapters" / "PROTOCOL.md"
SCHEMAS: dict[str, Any] = {
    name: json.loads(files("sds_proto.testee.v1").joinpath(f"{name}.schema.json").read_text("utf-8"))
    for name in ("request", "reply")
}


def wrong(name: str, message: Any) -> list[str]:
    """The places in a message that its schema rejects."""
    return [error.json_path for error in Draft202012Validator(SCHEMAS[name]).iter_errors(message)]


def reply(**answer: Any) -> dict[str, Any]:
    return {"id": "1", **answer}


def test_the_schemas_are_schemas() -> None:
    for schema in SCHEMAS.values():
        Draft202012Validator.check_schema(schema)


@pytest.mark.parametrize(
    "message",
    [
        reply(effects={}),
        {"id": 1, "effects": {}},
        {"id": "18446744073709551615", "effects": {}},
        reply(effects=None, error={"message": None}, hello=None),
        reply(effects={"broadcasts": ["", "aGk", "aGk=", "_-8", "+/8="], "events": None, "messageId": "m"}),
        reply(effects={"message_id": "m", "events": [{"channel_id": "c", "possibly_acknowledged": {}}]}),
        reply(state={"lamportTimestamp": 1.8e12, "outgoing": {"entries": [{"state": 3}, {"state": None}]}}),
        reply(hello={"capabilities": ["CAPABILITY_SYNC", 2, 99]}),
        reply(opened={"configuration": {"bloomErrorRate": "NaN", "numResponseGroups": "-5", "sdsR": False}}),
        reply(opened={"configuration": {"bloomErrorRate": 1e-3, "bloomCapacity": "4294967295", "tMinMs": "3e4"}}),
    ],
)
def test_what_a_parser_takes_is_taken(message: dict[str, Any]) -> None:
    assert wrong("reply", message) == []
    json_format.Parse(json.dumps(message), pb.Reply())


@pytest.mark.parametrize(
    ("message", "where"),
    [
        ({"effects": {}}, "$"),
        ({"id": None, "effects": {}}, "$.id"),
        (reply(), "$"),
        (reply(effects={}, state={}), "$"),
        (reply(efects={}), "$"),
        (reply(effects={"broadcast": []}), "$.effects"),
        (reply(effects={"events": [{"delivered": {"mesageId": "m"}}]}), "$.effects.events[0].delivered"),
        (reply(effects={"events": [{"delivered": {}, "lost": {}}]}), "$.effects.events[0]"),
        (reply(effects={"events": [None]}), "$.effects.events[0]"),
        (reply(effects={"broadcasts": ["aGk=", "not base64!"]}), "$.effects.broadcasts[1]"),
        (reply(effects={"messageId": 7}), "$.effects.messageId"),
        ({"id": "18446744073709551616", "effects": {}}, "$.id"),
        ({"id": 1.5, "effects": {}}, "$.id"),
        ({"id": " 1", "effects": {}}, "$.id"),
        (reply(opened={"handle": ""}), "$.opened.handle"),
        (reply(opened={"configuration": {"bloomCapacity": 4294967296}}), "$.opened.configuration.bloomCapacity"),
        (
            reply(opened={"configuration": {"numResponseGroups": "2147483648"}}),
            "$.opened.configuration.numResponseGroups",
        ),
        (reply(opened={"configuration": {"bloomErrorRate": "much"}}), "$.opened.configuration.bloomErrorRate"),
        (reply(opened={"configuration": {"sdsR": "true"}}), "$.opened.configuration.sdsR"),
        (reply(hello={"capabilities": ["CAPABILITY_SYNCH"]}), "$.hello.capabilities[0]"),
    ],
)
def test_what_is_wrong_is_found_at_its_place(message: dict[str, Any], where: str) -> None:
    assert where in wrong("reply", message)


@pytest.mark.parametrize(
    ("clock", "fits"),
    [
        ({}, True),
        ({"alice": "3", "": 0}, True),
        ({"alice": str((1 << 64) - 1)}, True),
        ({"alice": str(1 << 64)}, False),
        ({"alice": -1}, False),
        ([["alice", 3]], False),
    ],
)
def test_the_values_of_a_map_are_held_to_their_type(clock: Any, fits: bool) -> None:
    record: Any = clearskies_pb.Record
    schema = schema_of(record.DESCRIPTOR)
    assert Draft202012Validator(schema).is_valid({"vectorClock": clock}) is fits


def test_what_protojson_writes_in_a_way_of_its_own_is_refused_and_not_described_wrongly() -> None:
    with pytest.raises(NotImplementedError, match="special form"):
        schema_of(struct_pb2.Struct.DESCRIPTOR)


# ---- The page ----------------------------------------------------------------------------------------------------

LINES = re.findall(r"^([<>]) (\{.*\})$", PAGE.read_text("utf-8"), re.MULTILINE)


def test_the_examples_of_the_page_are_messages() -> None:
    for side, line in LINES:
        unknown = "frobnicate" in line and side == ">"
        assert wrong({">": "request", "<": "reply"}[side], json.loads(line)) == (["$", "$"] if unknown else []), line


def test_every_command_and_every_answer_has_an_example() -> None:
    shown = {(side, name) for side, line in LINES for name in json.loads(line)}
    commands = {(">", field.json_name) for field in pb.Request.DESCRIPTOR.fields}
    answers = {("<", field.json_name) for field in pb.Reply.DESCRIPTOR.fields}
    assert commands | answers == shown - {(">", "frobnicate")}

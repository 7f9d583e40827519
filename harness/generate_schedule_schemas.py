"""Regenerate the JSON Schemas of schedules: ``python harness/generate_schedule_schemas.py``.

They follow from the classes of operations: the types of fields give the bounds, and docstrings the descriptions.
"""

from __future__ import annotations

import ast
import inspect
import json
import re
import sys
import textwrap
from collections.abc import Iterable, Mapping
from dataclasses import MISSING, fields, is_dataclass
from pathlib import Path
from types import NoneType, UnionType
from typing import Annotated, Any, Union, get_args, get_origin, get_type_hints

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "reference")]

from clearskies_proto.testee.v1 import testee_pb2 as clearskies_pb  # noqa: E402
from sds_harness.clearskies import operations as clearskies  # noqa: E402
from sds_harness.clearskies.notation import NOTATION as CLEARSKIES  # noqa: E402
from sds_harness.docstrings import docstring  # noqa: E402
from sds_harness.schedules.files import Notation  # noqa: E402
from sds_harness.schedules.operations import Route, Schedule  # noqa: E402
from sds_harness.schedules.shapes import Bounds, Label, Ms, Name  # noqa: E402
from sds_harness.sds import operations as sds  # noqa: E402
from sds_harness.sds.encodings import ENCODINGS  # noqa: E402
from sds_harness.sds.notation import NOTATION as SDS  # noqa: E402
from sds_proto.testee.v1 import testee_pb2 as sds_pb  # noqa: E402
from sds_reference import REVISIONS  # noqa: E402

Json = dict[str, Any]

_BASIC = {str: "string", int: "integer", bool: "boolean"}
_named: dict[str, Json] = {}
"""The schemas of the types that have names and occur in the operations of the protocol."""
_OBJECTS: dict[type[Any], str] = {
    sds.Entry: "entry",
    clearskies.Entry: "entry",
    clearskies.MessageCopy: "copy",
    Route: "route",
}
"""The classes that are objects within operations."""
_CONFIGURATION = "configuration"
_LARGEST_INT32 = (1 << 31) - 1

MEETS_IF: Mapping[str, Mapping[str, str]] = {
    "sds": {
        "delivers": "The participant delivers these messages, in this order. Other messages may come between them.",
        "does_not_deliver": "The participant delivers none of these messages.",
        "acknowledged": "The participant reports these messages of its own as acknowledged.",
        "not_acknowledged": "The participant reports none of these messages as acknowledged.",
        "misses": "The participant reports these messages as missing.",
        "gives_up": "The participant reports these messages as lost.",
        "refuses": "The participant rejects these messages, or the commands to send them.",
    },
    "clearskies": {
        "delivers": "The participant accepts these changes, in this order. Other changes may come between them.",
        "does_not_deliver": "The participant accepts none of these changes.",
        "refuses": "The participant rejects the commands for these changes.",
    },
}
"""For each protocol: its expectations, each with the condition under which it is met."""


def schema_of(protocol: str) -> Json:
    """The JSON Schema (2020-12) of the schedules of a protocol: ``sds`` or ``clearskies``."""
    notation = {"sds": SDS, "clearskies": CLEARSKIES}[protocol]
    channels: Json = {
        "description": "Names of channels, which operations refer to by number, from 0. An empty list if the "
        "application names no channel.",
        "items": {"type": "string", "minLength": 1, "maxLength": 200},
        "maxItems": 64,
        "default": ["c1"],
    }
    configuration = _configuration(sds_pb.Configuration)
    title, people = "A schedule of SDS messages", "participants, the network"
    objects: list[type[Any]] = [Route, sds.Entry]
    if protocol == "clearskies":
        title, people = "A schedule of the ClearSkies database extension", "peers, the links"
        channels = {"description": "There are none.", "items": {"type": "string"}, "maxItems": 0, "default": []}
        least, *_, most = sorted(clearskies_pb.Resolution.values())
        resolution = {"type": "integer", "minimum": least, "maximum": most}
        described = (
            "How conflicts are resolved: 0 keeps the winner (the default), 1 merges, 2 stores the loser separately."
        )
        configuration = _object({"resolution": {"description": described, **resolution}})
        objects = [clearskies.Entry, clearskies.MessageCopy]
    top = _field_docstrings(Schedule)
    _named.clear()
    schema: Json = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$comment": "Written by `python harness/generate_schedule_schemas.py`: change the classes of operations.",
        "title": title,
        "description": f"The operations of some {people}, of the network and of their clocks. "
        "Fields that are left out have their defaults.",
        "type": "object",
        "additionalProperties": False,
        "required": ["members", "operations"],
        "properties": {
            "version": {"description": "The version of the format.", "const": 1, "default": 1},
            "name": {"description": "A name for reports of `fuzz` and `replay`.", "type": "string", "maxLength": 200},
            "seed": {
                "description": top["seed"],
                "type": "integer",
                "default": 0,
                "minimum": 0,
                "maximum": (1 << 63) - 1,
            },
            "members": {
                "description": "The participants under test: names, or objects with the fields of `member`.",
                "type": "array",
                "items": {"if": {"type": "string"}, "then": _shape_of(Name), "else": _reference("member")},
                "minItems": 1,
                "maxItems": 64 if protocol == "sds" else 16,
            },
            "channels": {"type": "array", **channels},
            _CONFIGURATION: {"description": top[_CONFIGURATION], **_reference(_CONFIGURATION)},
            "operations": {"description": "The steps, in order. Each has the key `op`.", **_operations(notation)},
            "description": {"description": top["description"], "type": "string", "maxLength": 4_000},
            "revision": {
                "description": "The revision of the specification for which the schedule is written. Default: the "
                "current revision.",
                "type": "string",
                "maxLength": 64,
            },
            "requirements": {
                "description": "IDs of the requirements that the schedule tests. `run` warns if one of them is not "
                "exercised.",
                "type": "array",
                "items": {"type": "string", "minLength": 1, "maxLength": 64},
                "maxItems": 200,
            },
            "parameter": {
                "description": "The number that `limits` raises: the path of a number in the file, such as "
                "`operations[0].times`.",
                "type": "string",
                "minLength": 1,
                "maxLength": 200,
            },
            "expect": {
                "description": "Expectations about the result. A run of the schedule fails if one is not met.",
                "type": "array",
                "maxItems": 200,
                "items": _object(
                    {"who": _shape_of(Name), **{key: _expectation(met) for key, met in MEETS_IF[protocol].items()}},
                    required=["who"],
                    minProperties=2,
                    maxProperties=2,
                ),
            },
            "notes": {
                "description": "Notes from the command that found a counterexample.",
                "type": "object",
                "maxProperties": 20,
                "additionalProperties": {"type": "string", "maxLength": 400},
            },
        },
        "$defs": {
            _CONFIGURATION: {
                "description": "What participants are asked to configure: fields of Configuration in testee.proto.",
                **configuration,
            },
            "member": _shape_of_class(notation.member, notation.absent.get("member", ())),
            **{_OBJECTS[kind]: _shape_of_class(kind) for kind in objects},
            **{
                name: _shape_of_class(kind, notation.absent.get(name, ()), op=name)
                for name, kind in notation.operations.items()
            },
        },
    }
    schema["$defs"] |= dict(sorted(_named.items()))
    return schema


def _operations(notation: Notation) -> Json:
    """The schema of the list of operations: the name of an operation decides which fields it has."""
    named: list[Json] = [
        {"if": {"properties": {"op": {"const": name}}, "required": ["op"]}, "then": _reference(name)}
        for name in notation.operations
    ]
    return {
        "type": "array",
        "maxItems": 10_000,
        "items": {
            "type": "object",
            "required": ["op"],
            "properties": {"op": {"enum": [*notation.operations]}},
            "allOf": named,
        },
    }


def _expectation(met_if: str) -> Json:
    return {"description": met_if, "type": "array", "items": _shape_of(Label), "minItems": 1, "maxItems": 1_000}


def _configuration(message: type[Any]) -> Json:
    """The fields of a configuration of the testee protocol. Numbers of 64 bits are milliseconds."""
    shapes: dict[str, Json] = {}
    for field in message.DESCRIPTOR.fields:
        match field.cpp_type:
            case field.CPPTYPE_BOOL:
                shapes[field.name] = {"type": "boolean"}
            case field.CPPTYPE_DOUBLE:
                shapes[field.name] = {"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 1}
            case field.CPPTYPE_INT64 | field.CPPTYPE_UINT64:
                shapes[field.name] = _shape_of(Ms)
            case kind:
                least = -_LARGEST_INT32 - 1 if kind == field.CPPTYPE_INT32 else 0
                shapes[field.name] = {"type": "integer", "minimum": least, "maximum": _LARGEST_INT32}
    return _object(shapes)


def _shape_of_class(kind: type[Any], absent: Iterable[str] = (), op: str = "") -> Json:
    """The schema of an object with the fields of a class except ``absent``; with ``op``, it is an operation."""
    late = {"ENCODINGS": ENCODINGS, "REVISIONS": REVISIONS}
    hints, described = get_type_hints(kind, localns=late, include_extras=True), _field_docstrings(kind)
    if kind is sds.Entry:  # a field that is None is left out of the file
        hints = {name: get_args(hint)[0] if NoneType in get_args(hint) else hint for name, hint in hints.items()}
    own = [field for field in fields(kind) if field.name not in absent]
    shapes = {field.name: _described(_shape_of(hints[field.name]), described.get(field.name, "")) for field in own}
    required = [field.name for field in own if field.default is MISSING and field.default_factory is MISSING]
    if op:
        shapes = {"op": {"const": op}, **shapes}
        required = ["op", *required]
    more: Json = {"required": required} if required else {}
    if kind is sds.Entry:
        more["anyOf"] = [{"required": ["label"]}, {"required": ["id"]}]
    return _described(_object(shapes, **more), docstring(kind).partition("\n\n")[0])


def _shape_of(hint: Any) -> Json:
    """The schema of the values of a type."""
    arguments = get_args(hint)
    match get_origin(hint):
        case origin if origin is Annotated:
            kind, shape = arguments
            if not shape.name:
                return _bounded(kind, shape)
            if shape.keywords:
                _named[shape.name] = _bounded(kind, shape)
            return _reference(shape.name)
        case origin if origin in (UnionType, Union):
            return _one_of([_shape_of(each) for each in arguments if each is not NoneType], NoneType in arguments)
        case origin if origin is tuple and arguments[-1] is ...:
            return {"type": "array", "items": _shape_of(arguments[0])}
        case origin if origin is tuple:
            items = [_shape_of(each) for each in arguments]
            return {"type": "array", "prefixItems": items, "items": False, "minItems": len(items)}
        case _ if is_dataclass(hint):
            return _reference(_OBJECTS[hint])  # type: ignore[index]
    return {"type": _BASIC[hint]}


def _bounded(kind: Any, shape: Bounds) -> Json:
    whole = {"enum", "type"} & {*shape.keywords}
    return shape.keywords if whole else {**_shape_of(kind), **shape.keywords}


def _one_of(shapes: list[Json], optional: bool) -> Json:
    """The schema of values that match one of ``shapes``; ``optional`` adds null."""
    if len(shapes) == 1 and isinstance(shapes[0].get("type"), str) and shapes[0]["type"] != "array" and optional:
        return {**shapes[0], "type": [shapes[0]["type"], "null"]}
    null: list[Json] = [{"type": "null"}] if optional else []
    return {"oneOf": [*null, *shapes]}


def _object(properties: Mapping[str, Json], **more: Any) -> Json:
    return {"type": "object", "additionalProperties": False, **more, "properties": {**properties}}


def _reference(name: str) -> Json:
    return {"$ref": f"#/$defs/{name}"}


def _described(shape: Json, docs: str) -> Json:
    """The schema ``shape`` with the docstring ``docs``, as Markdown, for its description."""
    text = re.sub(r"``([^`]+)``", r"`\1`", " ".join(docs.split()))
    text = re.sub(r"\bNone\b", "null", text)
    return {"description": text, **shape} if text else shape


def _field_docstrings(kind: type[Any]) -> dict[str, str]:
    """The docstrings of the fields of a class and of its bases, by name of the field."""
    out: dict[str, str] = {}
    for base in reversed(kind.__mro__[:-1]):
        body = ast.parse(textwrap.dedent(inspect.getsource(base))).body[0]
        assert isinstance(body, ast.ClassDef)
        for before, after in zip(body.body, body.body[1:], strict=False):
            if not (isinstance(before, ast.AnnAssign) and isinstance(before.target, ast.Name)):
                continue
            if isinstance(after, ast.Expr) and "ClassVar" not in ast.unparse(before.annotation):
                out[before.target.id] = str(ast.literal_eval(after.value))
    return out


def text_of(protocol: str) -> str:
    """The text of the schema of a protocol."""
    return json.dumps(schema_of(protocol), indent=1, ensure_ascii=False) + "\n"


def path_of(protocol: str) -> Path:
    """The file of the schema of a protocol."""
    return HERE / "sds_harness" / protocol / "schedule.schema.json"


if __name__ == "__main__":
    for each in MEETS_IF:
        path_of(each).write_text(text_of(each), "utf-8")

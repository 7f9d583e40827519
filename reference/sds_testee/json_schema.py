"""JSON Schemas (draft 2020-12) of the messages of a testee protocol in JSON lines, from descriptors.

The schemas accept everything that ProtoJSON allows a parser to accept: 64-bit numbers as strings or numbers, bytes in
either alphabet of base64 with or without padding, names in lowerCamelCase or as in the .proto file, null for an unset
field. They reject unknown names: between a harness and an adapter, an unknown name is a misspelling.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from google.protobuf.descriptor import Descriptor, EnumDescriptor, FieldDescriptor, OneofDescriptor

DIALECT = "https://json-schema.org/draft/2020-12/schema"
REQUIRED = ("id",)
"""Fields that a request and a reply always have. An id is never 0, which ProtoJSON would omit: ids start at 1."""

Schema = dict[str, Any]
_SET = {"not": {"type": "null"}}
_NO_COMMENTS: Mapping[str, str] = {}


def schema_of(root: Descriptor, comments: Mapping[str, str] = _NO_COMMENTS) -> Schema:
    """The schema of a request or a reply, with the schemas of its inner messages under ``$defs``.

    ``comments`` are texts for people, by the full name of the message or field that they describe. Raises
    NotImplementedError for types that no testee protocol has: maps whose keys are not strings, and messages to which
    ProtoJSON gives a special form.
    """
    definitions: dict[str, Schema] = {}
    whole = {"$schema": DIALECT, "title": _short(root.full_name, root)} | _message(root, root, definitions, comments)
    whole["type"] = "object"
    return whole | {"$defs": dict(sorted(definitions.items()))}


def _message(
    message: Descriptor, root: Descriptor, definitions: dict[str, Schema], comments: Mapping[str, str]
) -> Schema:
    outermost = message is root
    out: Schema = {}
    if message.full_name in comments:
        out["description"] = comments[message.full_name]
    out["type"] = ["object", "null"]
    properties: Schema = {}
    for field in message.fields:
        described = _field(field, root, definitions, comments)
        if outermost and field.name in REQUIRED:
            described |= _SET
        properties[field.json_name] = described
    # Parsers also accept the name in the .proto file.
    aliases = [field for field in message.fields if field.name != field.json_name]
    properties |= {field.name: {"$ref": f"{_place(message, root)}/properties/{field.json_name}"} for field in aliases}
    out["properties"] = properties
    out["additionalProperties"] = False
    if outermost:
        out["required"] = [name for name in REQUIRED if name in message.fields_by_name]
    # An optional field has a oneof of its own, which must not become a choice in the schema.
    choices = [_choice(oneof, needed=outermost) for oneof in message.oneofs if not oneof.name.startswith("_")]
    if choices:
        out["allOf"] = choices
    return out


def _choice(oneof: OneofDescriptor, *, needed: bool) -> Schema:
    """The schema of a oneof: exactly one of its fields is set or, if none is ``needed``, at most one."""
    each = [_require_presence(field) for field in oneof.fields]
    if needed:
        return {"oneOf": each}
    return {"if": {"type": "object"}, "then": {"oneOf": [*each, {"not": {"anyOf": each}}]}}


def _require_presence(field: FieldDescriptor) -> Schema:
    names = dict.fromkeys((field.json_name, field.name))
    ways = [{"required": [name], "properties": {name: _SET}} for name in names]
    return ways[0] if len(ways) == 1 else {"anyOf": ways}


def _field(
    field: FieldDescriptor, root: Descriptor, definitions: dict[str, Schema], comments: Mapping[str, str]
) -> Schema:
    described = {"description": comments[field.full_name]} if field.full_name in comments else {}
    if field.message_type is not None and field.message_type.GetOptions().map_entry:
        key, value = (field.message_type.fields_by_name[name] for name in ("key", "value"))
        if key.type != FieldDescriptor.TYPE_STRING:
            raise NotImplementedError(f"{field.full_name}: the keys of a map are strings")
        entry = _field(value, root, definitions, comments)
        return described | {"type": ["object", "null"], "additionalProperties": entry | _SET}
    one = {"$ref": f"#/$defs/{_define(field, root, definitions, comments)}"}
    return described | ({"type": ["array", "null"], "items": one | _SET} if field.is_repeated else one)


def _define(
    field: FieldDescriptor, root: Descriptor, definitions: dict[str, Schema], comments: Mapping[str, str]
) -> str:
    """The name of the definition of a field's value. If the definition does not exist, it is added."""
    if field.message_type is not None:
        message = field.message_type
        if message.full_name.startswith("google.protobuf."):
            raise NotImplementedError(f"{field.full_name}: ProtoJSON gives {message.full_name} a special form")
        name = _short(message.full_name, root)
        if name not in definitions:
            definitions[name] = {}  # before its fields, because a message can contain itself
            definitions[name] = _message(message, root, definitions, comments)
        return name
    if field.enum_type is not None:
        name = _short(field.enum_type.full_name, root)
        definitions.setdefault(name, _enum(field.enum_type, comments))
        return name
    name = _SCALARS[field.type]
    definitions.setdefault(name, _SCHEMAS[name])
    return name


def _enum(enum: EnumDescriptor, comments: Mapping[str, str]) -> Schema:
    described = {"description": comments[enum.full_name]} if enum.full_name in comments else {}
    names = {"enum": [value.name for value in enum.values]}
    return described | {"anyOf": [names, {"type": "integer", **_bounds(32, signed=True)}, {"type": "null"}]}


def _short(full_name: str, root: Descriptor) -> str:
    """The name of a message without the name of its package."""
    return full_name.removeprefix(f"{root.file.package}.")


def _place(message: Descriptor, root: Descriptor) -> str:
    return "#" if message is root else f"#/$defs/{_short(message.full_name, root)}"


# ---- Scalars -----------------------------------------------------------------------------------------------------


def _bounds(bits: int, *, signed: bool) -> Schema:
    half = 1 << (bits - 1)
    return {"minimum": -half, "maximum": half - 1} if signed else {"minimum": 0, "maximum": 2 * half - 1}


def _up_to(most: int) -> str:
    """Return a regular expression for the decimal numbers from 0 to ``most``."""
    digits = str(most)
    ways = ["0", *([f"[1-9][0-9]{{0,{len(digits) - 2}}}"] if len(digits) > 1 else [])]
    for place, digit in enumerate(digits):
        least, greatest, rest = (0 if place else 1), int(digit) - 1, len(digits) - place - 1
        if greatest >= least:
            lower = f"[{least}-{greatest}]" if greatest > least else str(least)
            ways.append(f"{digits[:place]}{lower}" + (f"[0-9]{{{rest}}}" if rest else ""))
    return f"(?:{'|'.join([*ways, digits])})"


def _integer(bits: int, *, signed: bool) -> Schema:
    bounds = _bounds(bits, signed=signed)
    negative = f"|-{_up_to(-bounds['minimum'])}" if signed else ""
    # Whole numbers with an exponent are unusual, but valid.
    exponent = f"|{'-?' if signed else ''}[0-9]+(?:\\.[0-9]+)?[eE]\\+?[0-9]+"
    return {
        "description": f"a number from {bounds['minimum']} to {bounds['maximum']}, as a JSON string or a JSON number",
        "type": ["string", "integer", "null"],
        "pattern": f"^(?:{_up_to(bounds['maximum'])}{negative}{exponent})$",
        **bounds,
    }


_SCHEMAS: dict[str, Schema] = {
    "bool": {"description": "true or false", "type": ["boolean", "null"]},
    "bytes": {
        "description": "bytes in base64, of the standard or the URL-safe alphabet",
        "type": ["string", "null"],
        "contentEncoding": "base64",
        "pattern": "^(?:[A-Za-z0-9+/_-]{4})*(?:[A-Za-z0-9+/_-]{2}(?:==)?|[A-Za-z0-9+/_-]{3}=?)?$",
    },
    "double": {
        "description": 'a number, or one of the strings "NaN", "Infinity" and "-Infinity"',
        "type": ["number", "string", "null"],
        "pattern": "^(?:NaN|-?Infinity|-?(?:0|[1-9][0-9]*)(?:\\.[0-9]+)?(?:[eE][+-]?[0-9]+)?)$",
    },
    "int32": _integer(32, signed=True),
    "int64": _integer(64, signed=True),
    "string": {"description": "a string", "type": ["string", "null"]},
    "uint32": _integer(32, signed=False),
    "uint64": _integer(64, signed=False),
}
_SCALARS = {
    FieldDescriptor.TYPE_BOOL: "bool",
    FieldDescriptor.TYPE_BYTES: "bytes",
    FieldDescriptor.TYPE_DOUBLE: "double",
    FieldDescriptor.TYPE_FLOAT: "double",
    FieldDescriptor.TYPE_INT32: "int32",
    FieldDescriptor.TYPE_SINT32: "int32",
    FieldDescriptor.TYPE_SFIXED32: "int32",
    FieldDescriptor.TYPE_INT64: "int64",
    FieldDescriptor.TYPE_SINT64: "int64",
    FieldDescriptor.TYPE_SFIXED64: "int64",
    FieldDescriptor.TYPE_STRING: "string",
    FieldDescriptor.TYPE_UINT32: "uint32",
    FieldDescriptor.TYPE_FIXED32: "uint32",
    FieldDescriptor.TYPE_UINT64: "uint64",
    FieldDescriptor.TYPE_FIXED64: "uint64",
}


def scalar_of(field: FieldDescriptor) -> str:
    """The name of a scalar type, such as ``uint64``."""
    return _SCALARS[field.type]

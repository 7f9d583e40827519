"""JSON Schemas (2020-12) of the files of golden vectors.

All vectors of a file have one shape, a form of input and outcomes. This module has the parts from which the schema of a
shape is built, and the schema of a whole file, which contains the schema of its shape.

The schemas are strict: an unknown field is an error. Sizes are bounded, so that a file from an unknown source cannot
use up the memory of its reader.
"""

from __future__ import annotations

from .model import ACCEPTABLE, INVALID, VALID, Schema, Shape

HEX: Schema = {"type": "string", "pattern": "^([0-9a-f]{2})*$", "maxLength": 1_000_000}


def _up_to(largest: int) -> str:
    """Return a regular expression for the decimal numbers from 0 to ``largest``, without leading zeros."""
    digits = str(largest)
    shorter = f"0|[1-9][0-9]{{0,{len(digits) - 2}}}"
    below = [
        f"{digits[:at]}[{'1' if at == 0 else '0'}-{int(digit) - 1}][0-9]{{{len(digits) - at - 1}}}"
        for at, digit in enumerate(digits)
        if int(digit) > (1 if at == 0 else 0)
    ]
    return "|".join([shorter, *below, digits])


UINT64 = _up_to(2**64 - 1)
NUMERAL: Schema = {"type": "string", "pattern": f"^({UINT64})$"}
"""An unsigned 64-bit number as a string, because a double cannot hold all such numbers."""
TEXT: Schema = {"type": "string", "maxLength": 4096, "pattern": r"^[^\ud800-\udfff]*$"}
"""A string without lone surrogates, so that it can be encoded as UTF-8."""
COUNT: Schema = {"type": "integer", "minimum": 0, "maximum": 2**32 - 1}
WHOLE: Schema = {"type": "integer", "minimum": -(2**31), "maximum": 2**32 - 1}
YES: Schema = {"const": True}
NAME: Schema = {"type": "string", "pattern": "^[a-z0-9][a-z0-9-]*$", "maxLength": 100}


def array(items: Schema, least: int = 0) -> Schema:
    """Return the schema of a list of limited length."""
    return {"type": "array", "items": items, "minItems": least, "maxItems": 10_000}


TEXTS = array(TEXT)


def record(required: Schema, optional: Schema | None = None) -> Schema:
    """Return the schema of an object with exactly these fields."""
    properties = {**required, **(optional or {})}
    return {"type": "object", "properties": properties, "required": list(required), "additionalProperties": False}


def ref(name: str) -> Schema:
    return {"$ref": f"#/$defs/{name}"}


def outcomes(*kinds: Schema) -> Schema:
    """Return the schema of the legal outcomes of one test or step."""
    return array({"oneOf": list(kinds)} if len(kinds) > 1 else kinds[0], least=1)


def vector_of(requirement: Schema, inputs: Schema, legal: Schema | None, optional: Schema | None = None) -> Schema:
    """Return the schema of one vector: its inputs and legal outcomes. Without ``legal``, its steps have the
    outcomes.
    """
    fields = {
        "id": {"type": "string", "pattern": "^[a-z0-9-]+/[a-z0-9-]+(@[a-z0-9-]+)?$", "maxLength": 200},
        "comment": {"type": "string", "minLength": 1, "maxLength": 400},
        "result": {"enum": [VALID, INVALID, ACCEPTABLE]},
        "flags": array({"type": "string", "pattern": "^[A-Z][A-Za-z0-9]*$"}, least=1),
        "requirements": array(requirement, least=1),
    }
    required = {**fields, **inputs, **({"outcomes": legal} if legal is not None else {})}
    return record(required, {"warned": YES, **(optional or {})})


def schema(name: str, shape: Shape) -> Schema:
    """Return the schema of the files of one shape."""
    note = record({"description": {"type": "string", "minLength": 1}, "ids": array({"type": "string"}, least=1)})
    header = {
        "$schema": {"const": schema_path(name)},
        "group": NAME,
        "shape": {"const": name},
        "title": {"type": "string", "minLength": 1},
        "revisions": array(NAME, least=1),
        "generatorVersion": {"type": "string", "pattern": "^[0-9]+$"},
        "numberOfTests": {"type": "integer", "minimum": 1},
        "digest": {"type": "string", "pattern": "^[0-9a-f]{64}$"},
        "notes": {"type": "object", "additionalProperties": note, "minProperties": 1},
        **shape.heading,
        "tests": array(ref("test"), least=1),
    }
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": f"urn:sds-conformance:vectors:{name}:1",
        "title": shape.title,
        **record(header),
        "$defs": {**shape.definitions, "test": shape.test},
    }


def schema_path(shape: str) -> str:
    """Return the path of the schema of a shape, relative to a file of vectors."""
    return f"../schema/{shape}.schema.json"

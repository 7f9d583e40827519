"""Describes the wrong fields of a message in JSON, with the path of each field and what belongs there."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from difflib import get_close_matches
from typing import Any

from jsonschema import Draft202012Validator
from jsonschema.exceptions import ValidationError

from sds_testee.json_schema import schema_of

from .declaration import printable

_SHOWN = 60
FieldComplaint = tuple[str, str, str]
"""The path of a field, its error, and the violated rule of the schema."""


def describe_wrong_field(body: bytes, kind: Any) -> str:
    """Describe the first wrong field of a line that is not a valid message of ``kind``; "" if the line is not a
    JSON object, or if no field is wrong. ``kind`` is a class of messages in protobuf.
    """
    try:
        message = parse_line(body)
    except NotAnObjectError:
        return ""
    if not isinstance(message, dict):
        return ""
    found = field_errors(Draft202012Validator(schema_of(kind.DESCRIPTOR)), message)
    return next((f"{path}: {complaint}" for path, complaint, _ in found if path), "")


def field_errors(schema: Draft202012Validator, message: dict[str, Any]) -> Iterator[FieldComplaint]:
    """The wrong fields of a message, in the order of their paths."""
    errors = sorted(schema.iter_errors(message), key=lambda error: list(map(str, error.absolute_path)))
    strange = {tuple(error.absolute_path) for error in errors if error.validator == "additionalProperties"}
    for error in errors:
        for complaint in _fields_with_errors(error):
            # Do not also report a misspelt field as missing.
            if not (
                error.validator == "oneOf" and tuple(error.absolute_path) in strange and complaint[1].startswith("none")
            ):
                yield complaint


# ---- JSON --------------------------------------------------------------------------------------------------------


class NotAnObjectError(ValueError):
    """A line that is not a JSON object."""


def parse_line(body: bytes) -> Any:
    """Parse a line of JSON. Raises NotAnObjectError."""
    try:
        return json.loads(body.decode("utf-8"), object_pairs_hook=_reject_duplicates, parse_constant=_reject_constant)
    except UnicodeDecodeError as error:
        raise NotAnObjectError(f"byte {error.start + 1} of the line is not UTF-8") from None
    except json.JSONDecodeError as error:
        raise NotAnObjectError(f"the line is not JSON: {error.msg} at character {error.pos + 1}") from None
    except RecursionError:
        raise NotAnObjectError("the line is nested too deeply") from None
    except NotAnObjectError:
        raise
    except ValueError as error:  # Python refuses to convert an integer with more than 4,300 digits
        raise NotAnObjectError(f"the line is not JSON: {error}") from None


def _reject_duplicates(pairs: Iterable[tuple[str, Any]]) -> dict[str, Any]:
    out: dict[str, Any] = {}
    for name, value in pairs:
        if name in out:
            raise NotAnObjectError(f"the field {quote(name)} is duplicated in one object")
        out[name] = value
    return out


def _reject_constant(name: str) -> Any:
    raise NotAnObjectError(f'{name} is not JSON: it must be quoted, "{name}"')


def name_of_message(message: Any) -> str:
    """The command or the answer of a message."""
    names = (
        [name for name, value in message.items() if name != "id" and value is not None]
        if isinstance(message, dict)
        else []
    )
    return printable(names[0], _SHOWN) if len(names) == 1 else ""


# ---- Texts of complaints -----------------------------------------------------------------------------------------


def _fields_with_errors(error: ValidationError) -> Iterator[FieldComplaint]:
    """The paths of the fields that an error is about, with a sentence for each."""
    schema: Any = error.schema
    value: Any = error.instance
    path = _path(error.absolute_path)
    match error.validator:
        case "additionalProperties":
            field_names = [
                name for name, of in schema["properties"].items() if "/properties/" not in of.get("$ref", "")
            ]
            for name in value:
                if name not in schema["properties"]:
                    likely = _closest_name(name, field_names)
                    text = (
                        f"did you mean {likely}?"
                        if likely
                        else f"the fields here are {', '.join(field_names)}"
                        if field_names
                        else "there are no fields here"
                    )
                    yield _path([*error.absolute_path, name]), f"unknown field: {text}", ""
        case "required":
            for name in schema["required"]:
                if name not in value:
                    yield name, "is missing: a reply echoes the id of its request", ""
        case "oneOf":
            yield path, _describe_oneof(schema["oneOf"], value), ""
        case "anyOf":
            names: list[str] = next((one["enum"] for one in schema["anyOf"] if "enum" in one), [])
            likely = _closest_name(value, names) if isinstance(value, str) else ""
            text = f"did you mean {likely}?" if likely else f"there are {', '.join(names)}"
            yield path, f"{quote(value)} is not a value of this enum: {text}", ""
        case "not":
            yield path, "null has no meaning here: omit the field or give it a value", ""
        case "pattern" if "contentEncoding" in schema:
            yield path, _describe_bad_base64(value), "contentEncoding"
        case rule:
            yield path, f"{quote(value)} is not {_expected_type(schema)}", str(rule)


def _describe_oneof(ways: list[dict[str, Any]], value: Any) -> str:
    """Describe a violated ``oneOf``: exactly one of several fields must be set, but no field or several fields are
    set."""
    choices = [[name for one in way.get("anyOf", [way]) for name in one.get("required", ())] for way in ways]
    present = [names for names in choices if names and any(value.get(name) is not None for name in names)]
    if present:
        return f"{' and '.join(names[0] for names in present)} are set at once: they exclude each other"
    return f"none of {', '.join(names[0] for names in choices if names)} is set: exactly one must be"


def _describe_bad_base64(value: str) -> str:
    strange = re.search(r"[^A-Za-z0-9+/_=-]", value)
    if strange is not None:
        return f"{quote(strange.group())} at character {strange.start() + 1} is not base64"
    return f"{quote(value)} is not base64: its {len(value)} characters, with padding, are not a whole number of bytes"


def _expected_type(schema: dict[str, Any]) -> str:
    if "additionalProperties" in schema:
        return "an object"
    return "a list" if "items" in schema else str(schema.get("description", "what belongs here"))


def _closest_name(name: str, known: list[str]) -> str:
    """The name in ``known`` that is most similar to ``name``; "" if no name is similar."""
    by_letters = {one.lower().replace("_", ""): one for one in known}
    close = get_close_matches(name[:100].lower().replace("_", ""), by_letters, 1)
    return by_letters[close[0]] if close else ""


def _path(parts: Iterable[str | int]) -> str:
    text = "".join(f"[{part}]" if isinstance(part, int) else f".{printable(part, _SHOWN)}" for part in parts)
    return text.removeprefix(".")


def quote(value: Any) -> str:
    match value:
        case dict():
            return "an object"
        case list():
            return "a list"
        case _:
            return printable(json.dumps(value, ensure_ascii=False), _SHOWN)

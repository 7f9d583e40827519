"""Checks each message of a conversation against the JSON Schema of its type, and names the wrong field and the side
that sent the message.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from difflib import get_close_matches
from enum import Enum
from itertools import islice
from typing import Any

from google.protobuf.message import DecodeError, Message
from google.protobuf.unknown_fields import UnknownFieldSet
from jsonschema import Draft202012Validator
from jsonschema.exceptions import ValidationError

from sds_testee.framing import Framing
from sds_testee.json_schema import schema_of

from .declaration import printable
from .language import Language
from .link import UNKNOWN_COMMAND, Listener

MAX_OF_ONE = 5
"""Maximum number of complaints about one message."""
MAX_COMPLAINTS = 50
"""Maximum number of distinct complaints that are kept."""
_SHOWN = 60
FieldComplaint = tuple[str, str, str]
"""The path of a field, its error, and the violated rule of the schema."""


class MessageOrigin(Enum):
    """The side that sent a message with a complaint: the suite or the implementation."""

    ADAPTER = "the adapter"
    SUITE = "the suite"


@dataclass
class SchemaComplaint:
    """One place in a message that violates the schema."""

    side: MessageOrigin
    number: int
    """The number of the request, or of the request that the reply answers, counted from 1."""
    message_kind: str
    """The command or the answer; "" if it cannot be determined."""
    path: str
    """The path of the field within the message: ``effects.events[0].channelId``; "" for the message itself."""
    message: str
    """Describes the error and what was expected."""
    rule: str = ""
    """The violated rule of the schema. Complaints about the same field and rule count as equal, whatever the value
    of the field is."""
    more: int = 0
    """The number of further complaints about the same field and rule."""


class Validator(Listener):
    """Checks the messages of the links that it listens to, and collects a SchemaComplaint for each violation."""

    def __init__(self, language: Language, framing: Framing) -> None:
        self.framing = framing
        self.requests = 0
        self.replies = 0
        self.dropped = 0
        """Number of complaints that were not kept because there were too many."""
        self._kinds = {MessageOrigin.SUITE: language.request, MessageOrigin.ADAPTER: language.reply}
        self._schemas = {side: Draft202012Validator(schema_of(kind.DESCRIPTOR)) for side, kind in self._kinds.items()}
        self._kept: dict[tuple[MessageOrigin, str, str], SchemaComplaint] = {}

    @property
    def complaints(self) -> list[SchemaComplaint]:
        """The complaints in the order in which they arose."""
        return list(self._kept.values())

    def sent(self, body: bytes) -> None:
        self.requests += 1
        self._add_complaints(MessageOrigin.SUITE, self.requests, body)

    def on_frame(self, body: bytes, whole: bool) -> None:
        if whole:
            self.replies += 1
            self._add_complaints(MessageOrigin.ADAPTER, self.requests, body)

    def _add_complaints(self, side: MessageOrigin, number: int, body: bytes) -> None:
        what = ""
        if self.framing is Framing.BINARY:
            found = self._check_protobuf(side, body)
        else:
            try:
                message = _parse_line(body)
                what = _name_of_message(message)
                found = self._check_json(side, message)
            except _NotAnObjectError as error:
                found = iter([("", str(error), "")])
        for path, complaint, rule in islice(found, MAX_OF_ONE):
            self._keep(SchemaComplaint(side, number, what, path, complaint, rule))

    def _keep(self, complaint: SchemaComplaint) -> None:
        alike = complaint.side, re.sub(r"\[\d+\]", "[]", complaint.path), complaint.rule or complaint.message
        if alike in self._kept:
            self._kept[alike].more += 1
        elif len(self._kept) < MAX_COMPLAINTS:
            self._kept[alike] = complaint
        else:
            self.dropped += 1

    def _check_json(self, side: MessageOrigin, message: Any) -> Iterator[FieldComplaint]:
        if not isinstance(message, dict):
            yield "", f"{_quote(message)} is not an object", ""
            return
        if side is MessageOrigin.SUITE and UNKNOWN_COMMAND in message:
            return  # the suite sends this unknown command on purpose
        errors = sorted(self._schemas[side].iter_errors(message), key=lambda error: list(map(str, error.absolute_path)))
        strange = {tuple(error.absolute_path) for error in errors if error.validator == "additionalProperties"}
        for error in errors:
            for complaint in _fields_with_errors(error):
                # Do not also report a misspelt field as missing.
                if not (
                    error.validator == "oneOf"
                    and tuple(error.absolute_path) in strange
                    and complaint[1].startswith("none")
                ):
                    yield complaint

    def _check_protobuf(self, side: MessageOrigin, body: bytes) -> Iterator[FieldComplaint]:
        """Complain of bytes that are not a message in protobuf, and of fields with unknown numbers."""
        if side is MessageOrigin.SUITE:
            return
        try:
            message: Message = self._kinds[side].FromString(body)
        except DecodeError:
            yield "", "the message is not a Reply in protobuf", ""
            return
        yield from _unknown_fields(message, "")


# ---- JSON --------------------------------------------------------------------------------------------------------


class _NotAnObjectError(ValueError):
    """A line that is not a JSON object."""


def _parse_line(body: bytes) -> Any:
    """Parse a line of JSON. Raises _NotAnObjectError."""
    try:
        return json.loads(body.decode("utf-8"), object_pairs_hook=_reject_duplicates, parse_constant=_reject_constant)
    except UnicodeDecodeError as error:
        raise _NotAnObjectError(f"byte {error.start + 1} of the line is not UTF-8") from None
    except json.JSONDecodeError as error:
        raise _NotAnObjectError(f"the line is not JSON: {error.msg} at character {error.pos + 1}") from None
    except RecursionError:
        raise _NotAnObjectError("the line is nested too deeply") from None
    except _NotAnObjectError:
        raise
    except ValueError as error:  # Python refuses to convert an integer with more than 4,300 digits
        raise _NotAnObjectError(f"the line is not JSON: {error}") from None


def _reject_duplicates(pairs: Iterable[tuple[str, Any]]) -> dict[str, Any]:
    out: dict[str, Any] = {}
    for name, value in pairs:
        if name in out:
            raise _NotAnObjectError(f"the field {_quote(name)} is duplicated in one object")
        out[name] = value
    return out


def _reject_constant(name: str) -> Any:
    raise _NotAnObjectError(f'{name} is not JSON: it must be quoted, "{name}"')


def _name_of_message(message: Any) -> str:
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
            yield path, f"{_quote(value)} is not a value of this enum: {text}", ""
        case "not":
            yield path, "null has no meaning here: omit the field or give it a value", ""
        case "pattern" if "contentEncoding" in schema:
            yield path, _describe_bad_base64(value), "contentEncoding"
        case rule:
            yield path, f"{_quote(value)} is not {_expected_type(schema)}", str(rule)


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
        return f"{_quote(strange.group())} at character {strange.start() + 1} is not base64"
    return f"{_quote(value)} is not base64: its {len(value)} characters, with padding, are not a whole number of bytes"


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


def _quote(value: Any) -> str:
    match value:
        case dict():
            return "an object"
        case list():
            return "a list"
        case _:
            return printable(json.dumps(value, ensure_ascii=False), _SHOWN)


# ---- Protobuf ----------------------------------------------------------------------------------------------------


def _unknown_fields(message: Message, path: str) -> Iterator[FieldComplaint]:
    """The fields of a message whose numbers are unknown."""
    strange = UnknownFieldSet(message)
    for index in range(len(strange)):
        yield path, f"field number {strange[index].field_number} is unknown in {message.DESCRIPTOR.name}", ""
    for descriptor, value in message.ListFields():
        # Entries of maps are not checked.
        if descriptor.message_type is not None and not descriptor.message_type.GetOptions().map_entry:
            place = f"{path}.{descriptor.json_name}".removeprefix(".")
            if descriptor.is_repeated:
                for number, one in enumerate(value):
                    yield from _unknown_fields(one, f"{place}[{number}]")
            else:
                yield from _unknown_fields(value, place)

"""ProtoJSON at about the cost of binary: a reader and a writer for each type of message, made from its descriptor.

The reader accepts only texts in the usual form. It passes every other text to protobuf's own `json_format`, which
accepts it or says what is wrong with it. So the accepted texts, their meaning and all error messages are those of
`json_format`. The writer writes the same text as `json_format`.

`json_format` handles everything that no testee protocol has: maps, extensions, messages that contain themselves, the
messages of google.protobuf, 32-bit floating point numbers.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from functools import cache
from json.encoder import encode_basestring
from typing import Any, TypeVar

import orjson
import pybase64
from google.protobuf import json_format
from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.message import Message

M = TypeVar("M", bound=Message)

_UNSURE = (LookupError, ValueError, TypeError, OverflowError)
"""Errors of the reader and the writer for texts and messages that `json_format` must handle."""


def parse(body: bytes, kind: type[M], *, lenient: bool = False) -> M:
    """The message of type ``kind`` in a JSON text; ``lenient`` ignores unknown fields. Raises as `json_format` does."""
    try:
        return _read(body, kind)
    except _UNSURE:
        pass
    return json_format.Parse(body, kind(), ignore_unknown_fields=lenient)


def write(message: Message, *, compact: bool = False) -> str:
    """The JSON text of a message, on one line; ``compact`` omits blanks between its parts."""
    try:
        return _writer(message.DESCRIPTOR, compact)(message)
    except _UNSURE:
        pass
    data = json_format.MessageToDict(message)
    return json.dumps(data, ensure_ascii=False, separators=(",", ":") if compact else None)


def _handled_fields(message: Any, within: frozenset[Any]) -> list[FieldDescriptor]:
    """The fields of a message that this module reads and writes. Raises TypeError if the message has a special form."""
    if _is_elsewhere(message):
        raise TypeError(f"{message.full_name} has a special form")
    return [
        field
        for field in message.fields
        if field.type not in _ELSEWHERE
        and (field.message_type is None or not (field.message_type in within or _is_elsewhere(field.message_type)))
    ]


def _is_elsewhere(message: Any) -> bool:
    return bool(message.GetOptions().map_entry or message.full_name.startswith("google.protobuf."))


_ELSEWHERE = (FieldDescriptor.TYPE_FLOAT, FieldDescriptor.TYPE_GROUP)
_INTEGERS = frozenset(
    (
        *(FieldDescriptor.CPPTYPE_INT32, FieldDescriptor.CPPTYPE_INT64),
        *(FieldDescriptor.CPPTYPE_UINT32, FieldDescriptor.CPPTYPE_UINT64),
    )
)
_LONG = frozenset((FieldDescriptor.CPPTYPE_INT64, FieldDescriptor.CPPTYPE_UINT64))

# ---- Reading -----------------------------------------------------------------------------------------------------

_Read = Callable[[Any, list[int]], Any]
"""Converts a JSON value to a value for the constructor of a message. The last element of the list is a counter: it is
increased by the number of fields in the JSON value."""
_Known = tuple[str, type, _Read | None, dict[type, _Read | None], int]
"""The name of a field in the constructor, the usual type of its values in JSON, the reader of that type, the
readers by type, and the bit of the oneof that the field belongs to, or 0. The reader is None for a value that is used
unchanged."""

_FAR_APART = 300
"""From this average number of bytes per colon on, searching for each colon is faster than counting all of them."""
_SPACED_COLON = re.compile(rb'"[ \t\r\n]+:')


def _read(body: bytes, kind: type[M]) -> M:
    value = orjson.loads(body)
    if type(value) is not dict:
        raise TypeError("no object")
    names = [0]
    fields = _reader(kind.DESCRIPTOR)(value, names)
    # If a name is repeated, or a field has both of its names, the parsed object has only the second value, but the text
    # has two colons. All other colons are in strings. There, a colon follows a quotation mark only at the beginning of
    # the string, or if the quotation mark is escaped.
    if _more_than(names[0], body) and (names[0] != body.count(b'":') or _SPACED_COLON.search(body)):
        raise ValueError("perhaps a repeated name")
    return kind(**fields)


def _more_than(names: int, body: bytes) -> bool:
    """Return whether the text has more colons than ``names``, the number of its names. It never has fewer."""
    if len(body) < _FAR_APART * names:
        return body.count(b":") != names
    # Searching for the colon is faster than counting the characters before it.
    place = -1
    for _ in range(names + 1):
        place = body.find(b":", place + 1)
        if place < 0:
            return False
    return True


@cache
def _reader(message: Any, within: frozenset[Any] = frozenset()) -> _Read:
    within |= {message}
    known: dict[str, _Known] = {}
    for field in _handled_fields(message, within):
        readers = _readers(field, within)
        usual = next(iter(readers))
        of = field.containing_oneof
        choice = 1 << of.index if of is not None and len(of.fields) > 1 else 0
        known[field.json_name] = known[field.name] = (field.name, usual, readers[usual], readers, choice)

    def read(value: Any, names: list[int]) -> dict[str, Any]:
        out = {}
        chosen = 0
        for key, item in value.items():
            name, usual, convert, readers, choice = known[key]
            if choice:
                if chosen & choice:
                    raise ValueError("two of a choice")
                chosen |= choice
            if type(item) is not usual:
                convert = readers[type(item)]
            out[name] = item if convert is None else convert(item, names)
        names[0] += len(out)
        return out

    return read


def _readers(field: FieldDescriptor, within: frozenset[Any]) -> dict[type, _Read | None]:
    """The readers of the values of a field, by their types in JSON, the usual type first."""
    one: dict[type, _Read | None]
    if field.message_type is not None:
        one = {dict: _reader(field.message_type, within)}
    elif field.enum_type is not None:
        by_name = {value.name: value.number for value in field.enum_type.values}
        numbers = {value.number: value.number for value in field.enum_type.values}
        one = {str: lambda value, names: by_name[value], int: lambda value, names: numbers[value]}
    elif field.cpp_type in _INTEGERS:
        one = {str: _integer, int: None} if field.cpp_type in _LONG else {int: None, str: _integer}
    else:
        one = _SCALARS[field.type]
    # The constructor treats None as unset, too.
    return {list: _read_each(one), type(None): None} if field.is_repeated else one | {type(None): None}


def _read_each(one: dict[type, _Read | None]) -> _Read:
    (usual, convert), *_ = one.items()

    def each(value: Any, names: list[int]) -> list[Any]:
        if value and {*map(type, value)} != {usual}:
            raise TypeError("not all as usual")
        return value if convert is None else [convert(item, names) for item in value]

    return each


def _integer(value: Any, names: list[int]) -> int:
    if " " in value:
        raise ValueError("Python accepts blanks around a number, and ProtoJSON does not")
    return int(value)


def _bytes(value: Any, names: list[int]) -> bytes:
    return pybase64.b64decode(value, validate=True)


def _parse_double(value: Any, names: list[int]) -> float:
    if not value or value - value:
        raise ValueError("0 may have a sign, and infinity and NaN are no JSON numbers")
    return float(value)


_SCALARS: dict[int, dict[type, _Read | None]] = {
    FieldDescriptor.TYPE_STRING: {str: None},
    FieldDescriptor.TYPE_BYTES: {str: _bytes},
    FieldDescriptor.TYPE_BOOL: {bool: None},
    FieldDescriptor.TYPE_DOUBLE: {float: _parse_double, int: _parse_double},
}

# ---- Writing -----------------------------------------------------------------------------------------------------

_Write = Callable[[Any], str]


@cache
def _writer(message: Any, compact: bool, within: frozenset[Any] = frozenset()) -> _Write:
    within |= {message}
    after, colon = (",", ":") if compact else (", ", ": ")
    known: dict[FieldDescriptor, tuple[str, _Write | None]] = {}
    for field in _handled_fields(message, within):
        one = _write_one(field, compact, within)
        name = f'"{field.json_name}"{colon}'
        if field.is_repeated:
            known[field] = (name, _write_each(one, after))
        else:
            # Values that consist only of digits need quotation marks and no escaping.
            known[field] = (f'{name}"', None) if one is _write_long else (name, one)

    def write_message(value: Any) -> str:
        parts = []
        for field, item in value.ListFields():
            name, show = known[field]
            parts.append(f'{name}{item}"' if show is None else name + show(item))
        return f"{{{after.join(parts)}}}"

    return write_message


def _write_each(one: _Write, after: str) -> _Write:
    return lambda value: "[" + after.join(map(one, value)) + "]"


def _write_one(field: FieldDescriptor, compact: bool, within: frozenset[Any]) -> _Write:
    if field.message_type is not None:
        return _writer(field.message_type, compact, within)
    if field.enum_type is not None:
        names = {value.number: f'"{value.name}"' for value in field.enum_type.values}
        return lambda value: names.get(value) or str(value)
    if field.cpp_type in _INTEGERS:
        return _write_long if field.cpp_type in _LONG else str
    return _WRITERS[field.type]


def _write_long(value: int) -> str:
    return f'"{value}"'


def _write_bytes(value: bytes) -> str:
    return f'"{pybase64.b64encode_as_string(value)}"'


def _write_bool(value: bool) -> str:
    return "true" if value else "false"


def _write_double(value: float) -> str:
    if value - value:
        raise ValueError("no number")
    return repr(value)


_WRITERS: dict[int, _Write] = {
    FieldDescriptor.TYPE_STRING: encode_basestring,
    FieldDescriptor.TYPE_BYTES: _write_bytes,
    FieldDescriptor.TYPE_BOOL: _write_bool,
    FieldDescriptor.TYPE_DOUBLE: _write_double,
}

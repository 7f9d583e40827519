"""Dialects: a private wire layout, described as data, and its translation from and to the layout of the text.

With a dialect one wire fault is one fault: what an implementation says is judged after translation, while the
requirements about the layout itself see the bytes as they were.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path

from sds_proto.wire.v2026_01 import message_pb2 as pb

from ..errors import ConfigurationError, MalformedMessage
from ..wire_fields import WireField, join, split

_NUMBERS: dict[str, int] = {field.name: field.number for field in pb.Message.DESCRIPTOR.fields}
_OUT_OF_THE_WAY = 100_000
_LONGEST_REASON = 300
"""Characters: a file can have any value where a number belongs."""


@dataclass(frozen=True)
class Dialect:
    """A private numbering of the fields of ``Message``."""

    name: str
    description: str
    numbers: tuple[tuple[str, int], ...]
    """(field name of the text, private number)."""

    def to_private(self, wire: bytes) -> bytes:
        """Translate a message of the text. Bytes that are no protobuf stay as they are."""
        try:
            return self._renumber(wire, {_NUMBERS[name]: number for name, number in self.numbers})
        except MalformedMessage:
            return wire

    def to_text(self, wire: bytes) -> bytes:
        """Translate a private message to the layout of the text. Raises MalformedMessage if it does not split."""
        return self._renumber(wire, {number: _NUMBERS[name] for name, number in self.numbers})

    @staticmethod
    def _renumber(wire: bytes, mapping: dict[int, int]) -> bytes:
        taken = set(mapping.values())
        return join(
            # A field that the dialect does not know must not turn into one that it does.
            WireField(
                mapping.get(f.number, f.number + _OUT_OF_THE_WAY if f.number in taken else f.number),
                f.wire_type,
                f.value,
            )
            for f in split(wire)
        )


@cache
def dialect_names() -> tuple[str, ...]:
    """The dialects that ship."""
    return tuple(sorted(path.name.removesuffix(".json") for path in files(__package__).joinpath("dialects").iterdir()))


def load_dialect(name: str, read: Callable[[Path], str] | None = None) -> Dialect:
    """The dialect of that name that ships or, with ``read`` to read it, the one in the JSON file at that path. A path
    must be the user's: what an implementation calls its dialect is none. Raises ConfigurationError."""
    try:
        if name in dialect_names():
            return parse_dialect(files(__package__).joinpath("dialects", f"{name}.json").read_text("utf-8"))
        if read is not None and name.endswith(".json"):
            return parse_dialect(read(Path(name)))
    except (OSError, ValueError) as error:
        raise ConfigurationError(f"dialect {name}: {str(error)[:_LONGEST_REASON]}") from None
    or_one = ", or give the path of a .json file" if read is not None else ""
    raise ConfigurationError(f"no dialect {name!r}: known are {', '.join(dialect_names())}{or_one}")


@cache
def parse_dialect(text: str) -> Dialect:
    """The dialect that JSON describes. Raises ValueError."""
    try:
        data = json.loads(text)
    except RecursionError:
        raise ValueError("it is nested too deep") from None
    numbers = data.get("message") if isinstance(data, dict) else None
    if not isinstance(numbers, dict) or not isinstance(data.get("dialect"), str):
        raise ValueError('needs {"dialect": NAME, "description": TEXT, "message": {FIELD: NUMBER, ...}}')
    for field, number in numbers.items():
        if field not in _NUMBERS:
            raise ValueError(f"{field!r} is no field of Message: those are {', '.join(_NUMBERS)}")
        if type(number) is not int or not 1 <= number < 1 << 29:
            raise ValueError(f"{field} has number {number!r}, which is no protobuf field number")
    if len(set(numbers.values())) != len(numbers):
        raise ValueError("two fields share a number")
    return Dialect(data["dialect"], str(data.get("description", "")), tuple(numbers.items()))

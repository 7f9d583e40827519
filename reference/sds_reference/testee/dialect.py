"""Dialects: private wire layouts, described as data, and their translation from and to the layout of the specification.

Without a dialect, one difference of layout would look like many faults. With it, messages are judged after translation,
and only the requirements about the layout itself judge the original bytes.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path

from sds_proto.wire.v2026_01 import message_pb2 as pb

from ..errors import ConfigurationError, MalformedMessageError
from ..wire_fields import WireField, join, split

_NUMBERS: dict[str, int] = {field.name: field.number for field in pb.Message.DESCRIPTOR.fields}
_OUT_OF_THE_WAY = 100_000
_LONGEST_REASON = 300
"""Maximum number of characters of the reason of an error. A reason can quote values of the file, however long."""


@dataclass(frozen=True)
class Dialect:
    """A private numbering of the fields of ``Message``."""

    name: str
    description: str
    numbers: tuple[tuple[str, int], ...]
    """Pairs of (field name in the specification, private field number)."""

    def to_private(self, wire: bytes) -> bytes:
        """Translate a message to the private layout. Bytes that are not protobuf stay unchanged."""
        try:
            return self._renumber(wire, {_NUMBERS[name]: number for name, number in self.numbers})
        except MalformedMessageError:
            return wire

    def to_text(self, wire: bytes) -> bytes:
        """Translate a private message to the layout of the specification. Raises MalformedMessageError if it is not
        protobuf."""
        return self._renumber(wire, {number: _NUMBERS[name] for name, number in self.numbers})

    @staticmethod
    def _renumber(wire: bytes, mapping: dict[int, int]) -> bytes:
        taken = set(mapping.values())
        return join(
            # A field that the dialect does not know must not become a field that it knows.
            WireField(
                mapping.get(f.number, f.number + _OUT_OF_THE_WAY if f.number in taken else f.number),
                f.wire_type,
                f.value,
            )
            for f in split(wire)
        )


@cache
def dialect_names() -> tuple[str, ...]:
    """Names of the dialects that ship with the model."""
    return tuple(sorted(path.name.removesuffix(".json") for path in files(__package__).joinpath("dialects").iterdir()))


def load_dialect(name: str, read: Callable[[Path], str] | None = None) -> Dialect:
    """Load a dialect by its name, or from a JSON file if ``read`` is given and ``name`` is its path.

    Only the user may give a path: the name that an implementation declares is never used as a path. Raises
    ConfigurationError.
    """
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
    """Parse a dialect from JSON. Raises ValueError."""
    try:
        data = json.loads(text)
    except RecursionError:
        raise ValueError("the JSON is nested too deep") from None
    numbers = data.get("message") if isinstance(data, dict) else None
    if not isinstance(numbers, dict) or not isinstance(data.get("dialect"), str):
        raise ValueError('a dialect needs {"dialect": NAME, "description": TEXT, "message": {FIELD: NUMBER, ...}}')
    for field, number in numbers.items():
        if field not in _NUMBERS:
            raise ValueError(f"{field!r} is not a field of Message; its fields are {', '.join(_NUMBERS)}")
        if type(number) is not int or not 1 <= number < 1 << 29:
            raise ValueError(f"{field} has number {number!r}, which is not a protobuf field number")
    if len(set(numbers.values())) != len(numbers):
        raise ValueError("two fields share a number")
    return Dialect(data["dialect"], str(data.get("description", "")), tuple(numbers.items()))

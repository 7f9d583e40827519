"""Parses bodies of messages as JSON. Invalid JSON and duplicate names are reported in the result and never raised.

Integers are exact. Three limits protect against foreign input: on the digits of a number, on the nesting (strings
replace deeper values), and on the number of values in all bodies of a trace.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from clearskies_reference.json_text import collapse

MAX_VALUES = 4_000_000
"""Maximum number of values in all bodies of a trace. Further bodies are not parsed."""


@dataclass(frozen=True, slots=True)
class Body:
    """The bytes of a body and their JSON value."""

    raw: bytes
    value: Any = None
    """The parsed value; None if the body is not valid JSON."""
    error: str = ""
    """Why ``value`` is None: the body is not valid JSON, or too many values were parsed before."""
    twice: tuple[str, ...] = ()
    """Names that occur more than once in an object. ``value`` has the last member with such a name."""

    depth: int = 0
    """The depth of the nesting if it exceeds the limit of the parser; else 0. In ``value``, strings replace the parts
    that are nested deeper than the limit."""

    @property
    def members(self) -> dict[str, Any]:
        """The members of the object; empty if the body is not an object."""
        return self.value if isinstance(self.value, dict) else {}

    @property
    def is_unicode(self) -> bool:
        """Are all strings valid Unicode? Lone surrogates can be escaped, and many parsers reject them (RFC
        8259, 8.2)."""
        if b"\\u" not in self.raw:
            return True
        try:
            json.dumps(self.value, ensure_ascii=False).encode()
        except (UnicodeEncodeError, RecursionError):
            return False
        return True

    @property
    def type(self) -> str:
        """The type in the body; "" if there is none."""
        found = self.members.get("type")
        return found if isinstance(found, str) else ""


class RoundedNumber(float):
    """A whole number, written with a point or an exponent, that no double holds exactly.

    It equals the number as written and the nearest double: implementations keep either of them.
    """

    def __new__(cls, nearest: float, written: int) -> RoundedNumber:
        number = super().__new__(cls, nearest)
        number.written = written
        return number

    written: int

    def __eq__(self, other: object) -> bool:
        if isinstance(other, RoundedNumber) and self.written == other.written:
            return True
        return float(self) == other or (isinstance(other, int) and self.written == other)

    def __ne__(self, other: object) -> bool:
        return not self == other

    __hash__ = float.__hash__


def read_number(text: str) -> float:
    """A JSON number with a point or an exponent; a `RoundedNumber` if a double changes a whole number."""
    nearest = float(text)
    if not (abs(nearest) >= 1 << 53 and nearest.is_integer()):
        return nearest
    written = Decimal(text)
    whole = int(written)
    return nearest if whole == nearest or whole != written else RoundedNumber(nearest, whole)


def read(raw: bytes) -> Body:
    """Parse a body."""
    twice: dict[str, None] = {}

    def members(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        out = dict(pairs)
        if len(out) != len(pairs):
            seen: set[str] = set()
            for name, _ in pairs:
                if name in seen:
                    twice[name] = None
                seen.add(name)
        return out

    def parse(text: bytes) -> Any:
        # Decode first: json.loads would take some bytes for UTF-16.
        return json.loads(
            text.decode(), object_pairs_hook=members, parse_constant=_reject_number, parse_float=read_number
        )

    depth = 0
    try:
        try:
            value = parse(raw)
        except RecursionError:
            shallow, depth = collapse(raw)
            value = parse(shallow)
    except (ValueError, RecursionError) as error:
        return Body(raw, error=f"no JSON: {error}"[:200])
    return Body(raw, value, twice=tuple(twice), depth=depth)


def _reject_number(text: str) -> None:
    raise ValueError(f"{text} is not a number of JSON")


class Bodies:
    """The bodies of one trace: equal ones are parsed and stored once."""

    def __init__(self, most_values: int = MAX_VALUES) -> None:
        self._most = self._left = most_values
        self._known: dict[bytes, Body] = {}
        self._everywhere: dict[bytes, Body] = {}
        """All parsed bodies, shared with the instances that ``for_another_trace`` returns."""

    def for_another_trace(self) -> Bodies:
        """The bodies of another trace of the same messages. The result has its own limit on values, and shares parsed
        bodies with this object."""
        other = Bodies(self._most)
        other._everywhere = self._everywhere
        return other

    def read(self, raw: bytes) -> Body:
        """Parse a body. If the bound on values is exceeded, the result has only the bytes and an error."""
        body = self._known.get(raw)
        if body is None:
            # Every value except the first follows one of these characters.
            values = sum(map(raw.count, (b"[", b"{", b",", b":")))
            if values > self._left:
                return Body(raw, error="the suite did not parse this body: earlier bodies have too many values")
            self._left -= values
            body = self._everywhere.get(raw)
            if body is None:
                body = self._everywhere[raw] = read(raw)
            self._known[body.raw] = body
        return body

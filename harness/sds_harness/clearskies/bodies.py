"""Bodies of messages as JSON, whatever they are: what does not parse, and what stands twice, is told and not raised.

Integers are exact. What comes from outside is bounded: in the digits of a number, in nesting, where strings take the
place of what is too deep, and in how many values are kept of all bodies together.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from clearskies_reference.json_text import collapse

MAX_VALUES = 4_000_000
"""So many values are kept of all bodies of a trace: more is not read."""


@dataclass(frozen=True, slots=True)
class Body:
    """The bytes of a body, and what they say."""

    raw: bytes
    value: Any = None
    """What it parses to, None if it does not."""
    error: str = ""
    """Why it does not parse."""
    twice: tuple[str, ...] = ()
    """Names that stand more than once in an object; the value has what came last."""

    depth: int = 0
    """How deep it is nested, where that is too deep for ``value``, which has strings in place of what is innermost."""

    @property
    def members(self) -> dict[str, Any]:
        """Those of the object; none if it is no object."""
        return self.value if isinstance(self.value, dict) else {}

    @property
    def is_unicode(self) -> bool:
        """Are all its strings text? Half a surrogate pair can be escaped, and many refuse that (RFC 8259, 8.2)."""
        if b"\\u" not in self.raw:
            return True
        try:
            json.dumps(self.value, ensure_ascii=False).encode()
        except (UnicodeEncodeError, RecursionError):
            return False
        return True

    @property
    def type(self) -> str:
        """What it says that it is, "" if it says nothing."""
        found = self.members.get("type")
        return found if isinstance(found, str) else ""


def read(raw: bytes) -> Body:
    """What a body says."""
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
        # As text: bytes would be taken for UTF-16 where they look like that.
        return json.loads(text.decode(), object_pairs_hook=members, parse_constant=_no_number)

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


def _no_number(text: str) -> None:
    raise ValueError(f"{text} is no number of JSON")


class Bodies:
    """The bodies of one trace: equal ones are read once, and kept once."""

    def __init__(self, most_values: int = MAX_VALUES) -> None:
        self._most = self._left = most_values
        self._known: dict[bytes, Body] = {}
        self._everywhere: dict[bytes, Body] = {}
        """Also those that were read beside it."""

    def beside(self) -> Bodies:
        """Those of something else that is about the same messages: there is room in it for itself, and what both read
        is kept once."""
        other = Bodies(self._most)
        other._everywhere = self._everywhere
        return other

    def read(self, raw: bytes) -> Body:
        """What a body says, as long as there is room for it."""
        body = self._known.get(raw)
        if body is None:
            # Every value but the first stands behind one of these.
            values = sum(map(raw.count, (b"[", b"{", b",", b":")))
            if values > self._left:
                return Body(raw, error="not read: the bodies that came before it have too many values")
            self._left -= values
            body = self._everywhere.get(raw)
            if body is None:
                body = self._everywhere[raw] = read(raw)
            self._known[body.raw] = body
        return body

"""Bodies of messages and values of records: JSON, read strictly and written in one form.

Rejected are duplicate names in an object, NaN and Infinity, numbers beyond the range of doubles, halves of surrogate
pairs, and unbounded nesting. Integers are exact, however large; with a point or an exponent, up to 64 bits.
"""

from __future__ import annotations

import json
import re
from decimal import Decimal
from hashlib import sha256
from typing import Any

import orjson

from .errors import MalformedMessageError

MAX_BODY_BYTES = 16_777_216
"""Maximum number of bytes of a body ("Framing" of the core protocol)."""
MAX_DEPTH = 100
"""Maximum nesting of lists and objects; the specification has no limit."""

_EXACT = 1 << 53
"""Up to this number, a double represents every integer exactly."""
_STRINGS = re.compile(rb'"(?:[^"\\]++|\\.)*+(?:"|\\?\Z)', re.DOTALL)
"""Matches each string as a whole, even an unfinished one, so that no byte is scanned twice."""
_TOKENS = re.compile(rb'"(?:[^"\\]++|\\.)*+"|[\[\]{}]', re.DOTALL)
_ONE_KIND = bytes.maketrans(b"{}", b"[]")
_NO_BRACKETS = bytes(sorted(set(range(256)) - set(b"[]{}")))


def read(text: bytes) -> Any:
    """The value of a JSON text. Raises MalformedMessageError."""
    if len(text) > MAX_BODY_BYTES:
        raise MalformedMessageError(f"the JSON has {len(text)} bytes; the limit is {MAX_BODY_BYTES}")
    _refuse_depth(text)
    try:
        # orjson is stricter than json about numbers and text. It does not detect duplicate names, and converts integers
        # above 64 bits to doubles.
        orjson.loads(text)
        return json.loads(text, object_pairs_hook=_object, parse_float=_number)
    except (ValueError, RecursionError) as error:
        raise MalformedMessageError(f"no JSON: {error}"[:200]) from None


def write(value: Any) -> str:
    """The canonical text of a value from ``read``: without blanks, with members in their original order."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)


def normalize(text: str) -> str:
    """A JSON text in the form of ``write``. Raises MalformedMessageError."""
    try:
        return write(read(text.encode()))
    except UnicodeEncodeError:
        raise MalformedMessageError("a string contains half of a surrogate pair") from None


def collapse(text: bytes, most: int = MAX_DEPTH) -> tuple[bytes, int]:
    """Replace every value deeper than ``most`` levels by a string with its digest.

    Returns the text and the depth found. Equal texts collapse to equal strings. Unmatched brackets stay unchanged.
    """
    out, open_, deepest, stored, began = [], 0, 0, 0, 0
    for found in _TOKENS.finditer(text):
        if found[0] in b"[{":
            open_ += 1
            deepest = max(deepest, open_)
            began = found.start() if open_ == most + 1 else began
        elif found[0] in b"]}":
            open_ -= 1
            if open_ == most:
                out += [text[stored:began], b'"%s"' % sha256(text[began : found.end()]).hexdigest().encode()]
                stored = found.end()
    return b"".join([*out, text[stored:]]), deepest


def _object(members: list[tuple[str, Any]]) -> dict[str, Any]:
    out = dict(members)
    if len(out) != len(members):
        raise MalformedMessageError("an object has a duplicate name")
    return out


def _number(text: str) -> int | float:
    """A number with a point or an exponent: a float, or an integer of up to 64 bits that a float would change."""
    nearest = float(text)
    if not _EXACT <= abs(nearest) <= 1 << 64:
        return nearest
    written = Decimal(text)
    whole = int(written)
    return nearest if whole == nearest or whole != written else whole


def _refuse_depth(text: bytes) -> None:
    """Reject JSON that is nested too deep, before a recursive function reads it."""
    if text.count(b"[") + text.count(b"{") <= MAX_DEPTH:
        return
    brackets = _STRINGS.sub(b"", text).translate(_ONE_KIND, _NO_BRACKETS)
    for _ in range(MAX_DEPTH):
        # Remove the innermost pairs of brackets MAX_DEPTH times. The brackets that remain are nested too deep.
        brackets = brackets.replace(b"[]", b"")
    if brackets:
        raise MalformedMessageError(f"JSON nested deeper than {MAX_DEPTH}, or brackets that do not match")

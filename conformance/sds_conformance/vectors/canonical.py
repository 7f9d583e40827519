"""The canonical form of a file of vectors, and its digests.

Files are ASCII, because editors can save the same letters in different normal forms. Floats are not allowed, because
languages print them differently. Null is not allowed, because an absent field means the same.
"""

from __future__ import annotations

import json
from hashlib import sha256
from typing import Any

from sds_harness.json_text import escape_json


def format_document(document: Any) -> bytes:
    """Format a file: keys in the given order, indented by two spaces, LF, non-ASCII as ``\\uXXXX``.

    Raises ValueError for a float or null.
    """
    _plain(document)
    return (escape_json(json.dumps(document, ensure_ascii=True, indent=2)) + "\n").encode("ascii")


def digest(value: Any) -> str:
    """Return the SHA-256, in hex, of the compact JSON of ``value``: keys sorted by code point, no blanks, non-ASCII
    escaped.
    """
    _plain(value)
    compact = json.dumps(value, ensure_ascii=True, sort_keys=True, separators=(",", ":"))
    return sha256(compact.encode("ascii")).hexdigest()


def file_digest(content: bytes) -> str:
    """Return the SHA-256, in hex, of the content of a file."""
    return sha256(content).hexdigest()


def _plain(value: Any) -> None:
    if isinstance(value, dict):
        for inner in value.values():
            _plain(inner)
    elif isinstance(value, list):
        for inner in value:
            _plain(inner)
    elif not isinstance(value, str | int):  # bool is an int
        raise ValueError(f"{value!r} is not allowed here: use an integer, a string, or omit the field")

"""Removes the token that lets the harness in from everything that a gRPC server says.

A server can quote the token: in the details of a status, in a reply, on stderr. The link removes it before anything
else reads the words, so no report, trace, transcript or page can hold it. An implementation that hides the token on
purpose, for example one character at a time, is not stopped by this.
"""

from __future__ import annotations

import base64
import html
import json
import re
from collections.abc import Iterable, Iterator
from urllib.parse import quote

REMOVED = "[token removed]"
SHORTEST = 6
"""Characters of a token. A shorter one could be part of ordinary words, or of the layout of a message."""


_ENCODING = "utf-8", "surrogateescape"  # of a variable in the environment that holds no token


class Redaction:
    """Replaces tokens, plain and encoded, in text and in bytes."""

    def __init__(self, tokens: Iterable[str]) -> None:
        forms = {form for token in tokens if len(token) >= SHORTEST for form in _forms(token)}
        # The longest first: a form can begin with another one.
        pattern = "|".join(re.escape(form) for form in sorted(forms, key=len, reverse=True))
        self._text = re.compile(pattern) if forms else None
        self._bytes = re.compile(pattern.encode(*_ENCODING)) if forms else None

    def text(self, text: str) -> str:
        """``text`` with `REMOVED` in place of each token."""
        return self._text.sub(REMOVED, text) if self._text is not None else text

    def data(self, data: bytes) -> bytes:
        """``data`` with a mark of the same length for each token: in a message, lengths of fields precede it."""
        return self._bytes.sub(_same_length, data) if self._bytes is not None else data


def _same_length(found: re.Match[bytes]) -> bytes:
    size = len(found[0])
    return (REMOVED if size >= len(REMOVED) else "").ljust(size, "*").encode("ascii")


def _forms(token: str) -> Iterator[str]:
    """A token as it is, and as logs and messages encode it."""
    yield token
    in_json = json.dumps(token)[1:-1]
    yield from (in_json, in_json.replace("/", r"\/"), html.escape(token))
    for quoted in (quote(token, errors="surrogateescape"), quote(token, safe="", errors="surrogateescape")):
        yield from (quoted, re.sub("%..", lambda code: code[0].lower(), quoted))
    raw = token.encode(*_ENCODING)
    yield from (raw.hex(), raw.hex().upper())
    for before in range(3):  # base64 encodes a token in another way behind each number of bytes, "Bearer " for example
        encoded = base64.b64encode(b"\0" * before + raw).decode("ascii")
        # Only the characters that no byte before or behind the token has a part in.
        inner = encoded[-(-8 * before // 6) : 8 * (before + len(raw)) // 6]
        yield from (inner, inner.replace("+", "-").replace("/", "_"))

"""Removes the access token from all output of a gRPC server.

A server can quote the token: in the details of a status, in a reply, on stderr. The link removes it before any other
code reads the text, so no report, trace, transcript or page can contain it. This does not stop an implementation that
hides the token on purpose, for example by sending one character at a time.
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
"""Minimum length of a token in characters. A shorter token could occur in ordinary words or in the encoding of a
message, where it must not be replaced.
"""


_ENCODING = "utf-8", "surrogateescape"  # the environment variable may hold bytes that are not UTF-8


class Redaction:
    """Removes access tokens from text and from bytes, also if they are escaped or in base64."""

    def __init__(self, tokens: Iterable[str]) -> None:
        forms = {form for token in tokens if len(token) >= SHORTEST for form in _forms(token)}
        # The longest first, because one form can be a prefix of another.
        pattern = "|".join(re.escape(form) for form in sorted(forms, key=len, reverse=True))
        self._text = re.compile(pattern) if forms else None
        self._bytes = re.compile(pattern.encode(*_ENCODING)) if forms else None

    def text(self, text: str) -> str:
        """``text`` with `REMOVED` in place of each token."""
        return self._text.sub(REMOVED, text) if self._text is not None else text

    def data(self, data: bytes) -> bytes:
        """``data`` with each token replaced by a mark of the same length, because messages contain the lengths of their
        fields."""
        return self._bytes.sub(_same_length, data) if self._bytes is not None else data


def _same_length(found: re.Match[bytes]) -> bytes:
    size = len(found[0])
    return (REMOVED if size >= len(REMOVED) else "").ljust(size, "*").encode("ascii")


def _forms(token: str) -> Iterator[str]:
    """A token in plain text, and as logs and messages encode it."""
    yield token
    in_json = json.dumps(token)[1:-1]
    yield from (in_json, in_json.replace("/", r"\/"), html.escape(token))
    for quoted in (quote(token, errors="surrogateescape"), quote(token, safe="", errors="surrogateescape")):
        yield from (quoted, re.sub("%..", lambda code: code[0].lower(), quoted))
    raw = token.encode(*_ENCODING)
    yield from (raw.hex(), raw.hex().upper())
    for before in range(3):  # base64 depends on the number of bytes before the token, as in "Bearer "
        encoded = base64.b64encode(b"\0" * before + raw).decode("ascii")
        # Use only characters that do not depend on bytes before or after the token.
        inner = encoded[-(-8 * before // 6) : 8 * (before + len(raw)) // 6]
        yield from (inner, inner.replace("+", "-").replace("/", "_"))

"""Writes JSON for files that people open. The values stay the same, but the JSON text contains nothing that terminals,
editors and CIs would obey.

Control characters, bidirectional marks and lone surrogates are escaped, so that a program reads the same value while
`cat` shows the file safely. The second # of ## is escaped, too: CI commands begin with ##.
"""

from __future__ import annotations

import json
import re
from typing import Any

from .declaration import ORDER_MARK

_ESCAPED_MARK = ORDER_MARK[0] + f"\\u{ord(ORDER_MARK[1]):04x}"


def dumps(data: object, **options: Any) -> str:
    """``data`` as JSON, with the options of ``json.dumps``."""
    return escape_json(json.dumps(data, ensure_ascii=False, **options))


def escape_json(text: str) -> str:
    """JSON with the same values that contains only printable characters and line feeds."""
    text = text.replace(ORDER_MARK, _ESCAPED_MARK)
    if text.isprintable():
        return text
    # Outside of strings, JSON has no other control characters than these. They are blanks there and never part of a
    # string.
    text = text.replace("\t", " ").replace("\r", " ")
    return _UNSHOWN.sub(lambda found: json.dumps(found[0])[1:-1] if not found[0].isprintable() else found[0], text)


_UNSHOWN = re.compile(r"[^\n -~]")

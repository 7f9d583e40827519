"""JSON for files that people open: the same values, in text that no terminal, editor or CI obeys.

Control characters, marks that turn text around and halves of surrogate pairs are escaped, so that a program reads the
same value while `cat` shows the file. The second # of ## is escaped, too: commands to a CI begin with ##.
"""

from __future__ import annotations

import json
import re
from typing import Any

from .declaration import ORDER_MARK

_ESCAPED_MARK = ORDER_MARK[0] + f"\\u{ord(ORDER_MARK[1]):04x}"


def dumps(data: object, **options: Any) -> str:
    """``data`` as JSON, with the options of ``json.dumps``."""
    return escaped(json.dumps(data, ensure_ascii=False, **options))


def escaped(text: str) -> str:
    """JSON with the same values, in characters that can be shown and line feeds alone."""
    text = text.replace(ORDER_MARK, _ESCAPED_MARK)
    if text.isprintable():
        return text
    # Outside of strings JSON has no other characters than these, which are blanks there and no part of any string.
    text = text.replace("\t", " ").replace("\r", " ")
    return _UNSHOWN.sub(lambda found: json.dumps(found[0])[1:-1] if not found[0].isprintable() else found[0], text)


_UNSHOWN = re.compile(r"[^\n -~]")

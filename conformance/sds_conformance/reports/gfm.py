"""Escapes untrusted text in GitHub Markdown.

Prose of the catalogue is escaped. Texts of an implementation are shown as code, in which GitHub makes no links and no
mentions.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from sds_harness.declaration import printable, without_orders

JOINER = "\u2060"
"""An invisible character: it prevents mentions, issue numbers and addresses from becoming links."""
LONGEST = 1000
"""Maximum number of characters of a text."""
_SPECIAL = re.compile(r"([\\`*_{}\[\]<>()#|~&!$])")
_LINKING = re.compile(r"(?<=[@#])|(?<=:)(?=//)|(?<=www)(?=\.)|(?<=mailto:)|(?<=xmpp:)", re.IGNORECASE)


def prose(text: str) -> str:
    """Escape a text that follows other text in a paragraph. Not for the beginning of a paragraph."""
    return _LINKING.sub(JOINER, _SPECIAL.sub(r"\\\1", printable(text, LONGEST)))


def code(text: str) -> str:
    """Format a text as inline code. Not for tables, in which a pipe ends the cell even inside code."""
    shown = printable(text, LONGEST).strip() or "-"
    fence = "`" * (_longest_run(shown) + 1)
    pad = " " if "`" in (shown[0], shown[-1]) else ""
    return f"{fence}{pad}{shown}{pad}{fence}"


def block(lines: Iterable[str], language: str = "text") -> str:
    """Format lines as a code block."""
    text = without_orders("\n".join(printable(line, LONGEST) for line in lines))
    fence = "`" * max(3, _longest_run(text) + 1)
    return f"{fence}{language}\n{text}\n{fence}"


def _longest_run(text: str) -> int:
    return max((len(run) for run in re.findall("`+", text)), default=0)

"""Text of strangers in Markdown as GitHub reads it: it is shown, and does nothing else.

Prose of the catalogue is escaped; what an implementation says is code, in which GitHub neither links nor mentions.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from sds_harness.declaration import printable, without_orders

JOINER = "\u2060"
"""Nobody sees it, and what stands on both sides of it is no mention, number of an issue or address any more."""
LONGEST = 1000
"""Characters of one text."""
_SPECIAL = re.compile(r"([\\`*_{}\[\]<>()#|~&!$])")
_LINKING = re.compile(r"(?<=[@#])|(?<=:)(?=//)|(?<=www)(?=\.)|(?<=mailto:)|(?<=xmpp:)", re.IGNORECASE)


def prose(text: str) -> str:
    """A text that stands within a paragraph, not at its beginning."""
    return _LINKING.sub(JOINER, _SPECIAL.sub(r"\\\1", printable(text, LONGEST)))


def code(text: str) -> str:
    """A text as code within a paragraph; never in a table, where a pipe ends even code."""
    shown = printable(text, LONGEST).strip() or "-"
    fence = "`" * (_longest_run(shown) + 1)
    pad = " " if "`" in (shown[0], shown[-1]) else ""
    return f"{fence}{pad}{shown}{pad}{fence}"


def block(lines: Iterable[str], language: str = "text") -> str:
    """Lines as a block of code."""
    text = without_orders("\n".join(printable(line, LONGEST) for line in lines))
    fence = "`" * max(3, _longest_run(text) + 1)
    return f"{fence}{language}\n{text}\n{fence}"


def _longest_run(text: str) -> int:
    return max((len(run) for run in re.findall("`+", text)), default=0)

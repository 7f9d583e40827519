"""Room that text takes: estimated, since it depends on the fonts of whoever looks at it."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator

LINE = 13
"""Pixels from one line of a label to the next."""
MAX_LINES = 4
NORMAL = 6.5
"""Pixels of a letter."""
FAINT_LINE = 10
"""Instead, of a label that is small print."""
_BOLD = frozenset({"content", "copy", "ephemeral", "deliver", "bad"})


def lines_of(text: str, width: int, char: float = NORMAL, limit: int = MAX_LINES) -> list[str]:
    """A text in lines that fit a width in pixels, cut after ``limit`` lines."""
    out: list[str] = []
    line = ""
    for word in _words(text, width, char):
        longer = f"{line} {word}" if line else word
        if line and text_width(longer, char) > width:
            out.append(line)
            longer = word
        line = longer
    out.append(line)
    return out if len(out) <= limit else [*out[: limit - 1], out[limit - 1][:-1] + "…"]


def _words(text: str, width: int, char: float) -> Iterator[str]:
    """The words of a text; longer ones than the width in pieces."""
    for word in text.split(" "):
        most = max(1, int(width / char / (2 if text_width(word, 1) > len(word) else 1)))
        yield from (word[start : start + most] for start in range(0, max(1, len(word)), most))


def char_width(css: str) -> float:
    """Pixels of a character in a label of a class."""
    return 5.6 if css == "faint" else 7.3 if css in _BOLD else NORMAL


def line_height(css: str) -> int:
    """Pixels of a line of a label of a class."""
    return FAINT_LINE if css == "faint" else LINE


def text_width(text: str, char: float = NORMAL) -> float:
    """Pixels that a text takes; ``char`` is what a letter does."""
    return char * sum(2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text)

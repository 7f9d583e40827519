"""Estimates the size of text, which depends on the fonts of the reader."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator

LINE = 13
"""Line height of a label, in pixels."""
MAX_LINES = 4
NORMAL = 6.5
"""Width of a character, in pixels."""
FAINT_LINE = 10
"""Line height of a label in small print, in pixels."""
_BOLD = frozenset({"content", "copy", "ephemeral", "deliver", "bad"})


def lines_of(text: str, width: int, char: float = NORMAL, limit: int = MAX_LINES) -> list[str]:
    """Wrap a text to a width in pixels, and cut it after ``limit`` lines."""
    out: list[str] = []
    line = ""
    for word in _split_words(text, width, char):
        longer = f"{line} {word}" if line else word
        if line and text_width(longer, char) > width:
            out.append(line)
            longer = word
        line = longer
    out.append(line)
    return out if len(out) <= limit else [*out[: limit - 1], out[limit - 1][:-1] + "…"]


def _split_words(text: str, width: int, char: float) -> Iterator[str]:
    """Split a text into words, and words that are too wide into pieces."""
    for word in text.split(" "):
        most = max(1, int(width / char / (2 if text_width(word, 1) > len(word) else 1)))
        yield from (word[start : start + most] for start in range(0, max(1, len(word)), most))


def char_width(css: str) -> float:
    """Return the width of a character in a label of that CSS class, in pixels."""
    return 5.6 if css == "faint" else 7.3 if css in _BOLD else NORMAL


def line_height(css: str) -> int:
    """Return the line height of a label of that CSS class, in pixels."""
    return FAINT_LINE if css == "faint" else LINE


def text_width(text: str, char: float = NORMAL) -> float:
    """Return the width of a text in pixels. ``char`` is the width of a character."""
    return char * sum(2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text)

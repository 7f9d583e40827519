"""A badge: the verdict of a report in a few words, as SVG, flat. It is green only for what was judged as a whole."""

from __future__ import annotations

from math import ceil

from ..drawing.lettering import text_width
from ..telling.markup import environment
from .report import Report
from .standing import Tone, standing

COLOURS = {Tone.GOOD: "#1a7f37", Tone.PARTIAL: "#8a5a00", Tone.BAD: "#b42318", Tone.NONE: "#57606a"}
"""White letters on each of them have a contrast of 4.5 and more."""
_MARGIN = 7
_CHAR, _CAPITAL = 6.0, 1.8
"""Pixels of a letter, and how much more a capital takes; the text is stretched to what is estimated."""


def badge(report: Report) -> str:
    """The SVG, complete in itself."""
    whole, label = standing(report), report.protocol.name
    left, right = (_width(text) + 2 * _MARGIN for text in (label, whole.short))
    return (
        environment(__package__)
        .get_template("badge.svg.j2")
        .render(
            label=label, message=whole.short, left=left, width=left + right, margin=_MARGIN, colour=COLOURS[whole.tone]
        )
    )


def _width(text: str) -> int:
    return ceil(text_width(text, _CHAR) + _CAPITAL * sum(c.isupper() for c in text))

"""A flat SVG badge with the verdict of a report. It is green only if no fault was found and enough was judged."""

from __future__ import annotations

from math import ceil

from ..drawing.text_size import text_width
from ..presentation.markup import template
from .overall_result import Tone, compute_overall_result
from .report import Report

COLOURS = {Tone.GOOD: "#1a7f37", Tone.PARTIAL: "#8a5a00", Tone.BAD: "#b42318", Tone.NONE: "#57606a"}
"""Background colours. White letters have a contrast of at least 4.5 on each of them."""
_MARGIN = 7
_CHAR, _CAPITAL = 6.0, 1.8
"""Estimated width of a letter and extra width of a capital, in pixels. The SVG stretches the text to the estimate."""


def badge(report: Report) -> str:
    """Return the badge as a self-contained SVG."""
    whole, label = compute_overall_result(report), report.protocol.name
    left, right = (_width(text) + 2 * _MARGIN for text in (label, whole.short))
    return template(__package__ or "", "badge.svg.j2").render(
        label=label, message=whole.short, left=left, width=left + right, margin=_MARGIN, colour=COLOURS[whole.tone]
    )


def _width(text: str) -> int:
    return ceil(text_width(text, _CHAR) + _CAPITAL * sum(c.isupper() for c in text))

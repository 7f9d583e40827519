"""Quotes what an implementation wrote to stderr at the violating step."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from textwrap import wrap

from sds_harness.declaration import printable

from ..judging.formats import format_count

BAR = "| "
"""Prefix of each quoted line. The prefix prevents a CI from executing a line as a command."""
MAX_LINES = 24
MAX_CHARS = 300


def quote_stderr(lines: Sequence[str], width: int) -> Iterator[str]:
    """Wrap the first `MAX_LINES` lines to ``width`` characters, with `BAR` before each wrapped line.

    If there are more lines, the last line tells how many are left out.
    """
    for line in lines[:MAX_LINES]:
        for part in wrap(printable(line, MAX_CHARS), max(20, width - len(BAR)), break_on_hyphens=False):
            yield BAR + part
    if len(lines) > MAX_LINES:
        yield f"{BAR}... {format_count(len(lines) - MAX_LINES, 'more line')}"

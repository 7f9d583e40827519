"""What an implementation wrote to stderr at a step that is blamed: its own words, and told as nobody else's."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from textwrap import wrap

from sds_harness.declaration import printable

from ..judging.quoting import counted

BAR = "| "
"""Before each line, wrapped or not: so no CI takes one for a command, wherever it is printed."""
MAX_LINES = 24
MAX_CHARS = 300


def quoted(said: Sequence[str], width: int) -> Iterator[str]:
    """The lines, each behind a bar, so many characters wide."""
    for line in said[:MAX_LINES]:
        for part in wrap(printable(line, MAX_CHARS), max(20, width - len(BAR)), break_on_hyphens=False):
            yield BAR + part
    if len(said) > MAX_LINES:
        yield f"{BAR}... {counted(len(said) - MAX_LINES, 'more line')}"

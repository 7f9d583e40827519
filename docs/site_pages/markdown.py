"""Functions that write the Markdown of generated pages, and that find and cut sections of existing pages."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence

_SPECIAL = re.compile(r"([\\*_\[\]<>#|~$`])")
_CODE = re.compile(r"(`[^`\n]+`)")
_FENCE = re.compile(r"^( *)(```+|~~~+).*?^\1\2 *$", re.MULTILINE | re.DOTALL)
_LINK = re.compile(r"(!?)\[((?:[^\[\]]|\[[^\]]*\])*)\]\(([^)\s]+)\)")
_HEADING = re.compile(r"^(#+) (.*)$", re.MULTILINE)


def prose(text: str) -> str:
    """Escape the special characters of Markdown, except in backticks, which mark code."""
    parts = _CODE.split(text.replace("``", "`"))
    return "".join(part if _CODE.fullmatch(part) else _SPECIAL.sub(r"\\\1", part) for part in parts)


def code(text: str) -> str:
    """Format a text as code that can also stand in a cell of a table."""
    return f"`` {text.replace('|', '&#124;')} ``" if "`" in text else f"`{text}`"


def cell(text: str) -> str:
    """Join the lines of a Markdown text and escape pipes, so that the text fits into a cell of a table."""
    return " ".join(text.split()).replace(" | ", " \\| ")


def table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    """Return the lines of a table, and an empty line at the end. Return no lines if there are no rows."""
    lines = ["| " + " | ".join(cell(one) for one in row) + " |" for row in rows]
    if not lines:
        return []
    return ["| " + " | ".join(heads) + " |", "|" + " --- |" * len(heads), *lines, ""]


def code_block(text: str, language: str = "text") -> list[str]:
    """Return the lines of a block of code, and an empty line at the end."""
    return [f"````{language}", *text.rstrip("\n").splitlines(), "````", ""]


def index_entries(names: Iterable[str]) -> list[str]:
    """Return the lines that add names to the index of Sphinx, as main entries: the search lists them first."""
    lines = [line for name in names for line in (f"```{{index}} ! single: {name}", "```")]
    return [*lines, ""] if lines else []


def page(title: str, lines: Iterable[str], *, orphan: bool = False) -> str:
    """Return the text of a page. An orphan is in no table of contents; readers find it by links and by the search."""
    head = ["---", "orphan: true", "---", ""] if orphan else []
    return "\n".join([*head, f"# {title}", "", *lines]).rstrip("\n") + "\n"


def outside_code(text: str, change: Callable[[str], str]) -> str:
    """Apply ``change`` to the text outside fenced code blocks."""
    done, parts = 0, []
    for found in _FENCE.finditer(text):
        parts += [change(text[done : found.start()]), found[0]]
        done = found.end()
    return "".join([*parts, change(text[done:])])


def with_links(text: str, target: Callable[[str, bool], str | None]) -> str:
    """Replace the targets of links and images.

    ``target`` takes the old target, and whether the link is an image. It returns the new target, or None to keep only
    the text of the link.
    """

    def replace_link(found: re.Match[str]) -> str:
        image, words, old = found.groups()
        if "](" in words:  # The text of this link is an image.
            words = _LINK.sub(replace_link, words)
        new = target(old, bool(image))
        return words if new is None else f"{image}[{words}]({new})"

    def outside_spans(part: str) -> str:
        # Also search in `spans of code`, because the text of a link can contain a span.
        return _LINK.sub(replace_link, part)

    return outside_code(text, outside_spans)


def slug(heading: str) -> str:
    """The anchor of a heading, as GitHub and MyST make it."""
    return re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-")


def headings(text: str) -> list[tuple[int, str, int]]:
    """The level, text and place of each heading outside of fenced blocks."""
    blank = _FENCE.sub(lambda found: re.sub(r"[^\n]", " ", found[0]), text)
    return [(len(found[1]), found[2], found.start()) for found in _HEADING.finditer(blank)]


def cut(text: str, heading: str, instead: str) -> tuple[str, str]:
    """Cut the section below a heading out of a page.

    Returns the page with ``instead`` below the heading, and the section as a separate page. Raises LookupError if there
    is no such heading.
    """
    found = headings(text)
    place = next((n for n, (_, words, _) in enumerate(found) if words == heading), None)
    if place is None:
        raise LookupError(f"no heading {heading!r}")
    level, _, start = found[place]
    end = next((at for above, _, at in found[place + 1 :] if above <= level), len(text))
    section, offset = text[start:end], 0
    for below, _, at in headings(section):
        # Remove the same number of "#" from each heading, so that the first heading becomes the title.
        drop = min(level, below) - 1
        section = section[: at - offset] + section[at - offset + drop :]
        offset += drop
    return f"{text[:start]}{'#' * level} {heading}\n\n{instead}\n\n{text[end:]}", section

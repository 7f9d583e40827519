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
    """Markdown in a cell of a table."""
    return " ".join(text.split()).replace(" | ", " \\| ")


def table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    """The lines of a table and an empty one; none if there are no rows."""
    lines = ["| " + " | ".join(cell(one) for one in row) + " |" for row in rows]
    if not lines:
        return []
    return ["| " + " | ".join(heads) + " |", "|" + " --- |" * len(heads), *lines, ""]


def code_block(text: str, language: str = "text") -> list[str]:
    """The lines of a block of code and an empty one."""
    return [f"````{language}", *text.rstrip("\n").splitlines(), "````", ""]


def index_entries(names: Iterable[str]) -> list[str]:
    """Main entries of the index, which search lists first, and an empty line; none if there are no names."""
    lines = [line for name in names for line in (f"```{{index}} ! single: {name}", "```")]
    return [*lines, ""] if lines else []


def page(title: str, lines: Iterable[str], *, orphan: bool = False) -> str:
    """A page. An orphan is in no table of contents and is reached by links and by search."""
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

    ``target`` gets a target, and whether it is that of an image; if it returns None, only the text of the link remains.
    """

    def replace_link(found: re.Match[str]) -> str:
        image, words, old = found.groups()
        if "](" in words:  # a picture that is a link
            words = _LINK.sub(replace_link, words)
        new = target(old, bool(image))
        return words if new is None else f"{image}[{words}]({new})"

    def outside_spans(part: str) -> str:
        # A span of code in the words of a link belongs to the link, so links are looked for first.
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
        # Each heading loses the same number of marks, so that the first one is the title.
        drop = min(level, below) - 1
        section = section[: at - offset] + section[at - offset + drop :]
        offset += drop
    return f"{text[:start]}{'#' * level} {heading}\n\n{instead}\n\n{text[end:]}", section

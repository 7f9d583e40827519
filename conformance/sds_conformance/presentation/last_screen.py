"""The last screen of a command that plays: at most 20 lines of 80 columns with the result and the next commands.

It has the verdict, counts, one line for each root cause, what was exercised, where the report is, and the command to
type next. If these lines do not fit, some root causes are only counted. All commands that play end with this screen.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from rich.cells import cell_len
from rich.console import Console
from rich.text import Text

from sds_harness.declaration import printable

from ..judging.formats import format_count
from ..judging.verdict import RANK, Verdict

MOST_CAUSES = 8
"""Maximum number of root causes that are shown."""
HEIGHT = 20
"""Maximum number of lines of the screen, if the next command takes at most three of them."""
STYLES = {
    Verdict.PASS: "green",
    Verdict.FAIL: "bold red",
    Verdict.WARN: "yellow",
    Verdict.INCONCLUSIVE: "magenta",
    Verdict.SKIPPED: "cyan",
    Verdict.ERROR: "bold white on red",
}
LONGEST_COMMAND = 4000
"""Maximum number of characters of a command, which may come from an untrusted report."""
_LABEL = 10


@dataclass(frozen=True)
class CauseLine:
    """A root cause in one line."""

    verdict: Verdict
    severity: int
    """From 1 to 4, see ``judging.severity``."""
    what: str
    """ID of the requirement or property, or the kind of breakdown."""
    rule: str
    """The violated rule, or a description of the breakdown."""


@dataclass(frozen=True)
class LastScreen:
    """The content of the last screen of a command."""

    verdict: Text
    causes: Sequence[CauseLine] = ()
    """The root causes, the most severe first."""
    facts: Sequence[tuple[str, Text]] = ()
    """Further lines, each with a label and a text. Paths in the texts are not wrapped."""
    next: str = ""
    """The next command to type; "" for none."""
    why: str = field(default="", compare=False)
    """The purpose of the next command, as a verb phrase such as "shows the first finding"."""


def sort_causes(causes: Iterable[CauseLine]) -> list[CauseLine]:
    """Sort root causes by verdict, then by severity, the worst first. The sort is stable."""
    return sorted(causes, key=lambda cause: (-RANK.get(cause.verdict, 0), cause.severity))


def show_last_screen(console: Console, screen: LastScreen) -> None:
    head = list(screen.verdict.wrap(console, console.width, overflow="fold"))
    tail = [line for label, text in screen.facts for line in _label_lines(console, label, text)]
    if screen.next:
        tail += labelled_command(console, "Next", screen.next)
        tail += _label_lines(console, "", Text(screen.why, "dim")) if screen.why else []
    number = min(len(screen.causes), MOST_CAUSES)
    while number > 1 and len(head) + len(tail) + _height(number, len(screen.causes)) > HEIGHT:
        number -= 1
    for line in head:
        line.rstrip()
        console.print(line, soft_wrap=True)
    if screen.causes:
        console.print(Text("Severity  Root cause         Rule", "dim"))
        for cause in screen.causes[:number]:
            console.print(_line(console, cause), soft_wrap=True)
        if rest := screen.causes[number:]:
            warnings = sum(cause.verdict is Verdict.WARN for cause in rest)
            more = [f"{len(rest) - warnings} more"] if warnings < len(rest) else []
            more += [format_count(warnings, "warning")] if warnings else []
            console.print(Text(f"          and {' and '.join(more)}", "dim"))
    for line in tail:
        console.print(line, soft_wrap=True)


def _height(number: int, of: int) -> int:
    """Return the height of the table if ``number`` of ``of`` root causes are shown."""
    return 1 + number + (of > number) if of else 0


def _line(console: Console, cause: CauseLine) -> Text:
    start = Text.assemble(
        (f"{cause.severity} {cause.verdict.value.upper():<7} ", STYLES[cause.verdict]), (f"{cause.what:<18} ", "bold")
    )
    rest = Text(printable(cause.rule, 300))
    rest.truncate(max(10, console.width - start.cell_len), overflow="ellipsis")
    return Text.assemble(start, rest)


def _label_lines(console: Console, label: str, text: Text) -> list[Text]:
    before, out = f"  {label:<{_LABEL}}", []
    for line in [text] if text.no_wrap else text.wrap(console, max(20, console.width - len(before)), overflow="fold"):
        line.rstrip()
        out.append(Text.assemble((before, "dim"), line))
        before = " " * len(before)
    return out


def labelled_command(console: Console, label: str, command: str) -> list[Text]:
    """Return the lines of a command with a label, see `command_lines`."""
    before = f"  {label:<{_LABEL}}"
    first, *rest = command_lines(console, printable(command, LONGEST_COMMAND), len(before))
    return [Text.assemble((before, "dim"), (first, "blue")), *(Text(line, "blue") for line in rest)]


_FURTHER = " " * 4
"""The indent of continuation lines. A small indent leaves more room in a line."""


def command_lines(console: Console, command: str, indent: int) -> list[str]:
    """Return the lines of a command, which can be copied as a whole.

    If the output is not a terminal, the command is one line. On a terminal it is broken between words, and a backslash
    ends each line but the last.

    The caller prints the first line after ``indent`` columns; the other lines include their indent.
    """
    if not console.is_terminal or indent + cell_len(command) <= console.width:
        return [command]
    try:
        words = [shlex.quote(word) for word in shlex.split(command)]
    except ValueError:
        return [command]
    # Keep an option on one line with its value, unless this needs an additional line.
    return min((_fill_lines(parts, indent, console.width) for parts in (_with_values(words), words)), key=len)


def _fill_lines(parts: Sequence[str], indent: int, width: int) -> list[str]:
    """Fill lines with the parts of a command. Every line except the last ends with a backslash."""
    lines = [""]
    for number, part in enumerate(parts, 1):
        end = " \\" if number < len(parts) else ""
        room = width - (indent if len(lines) == 1 else 0) - len(end)
        if not lines[-1]:
            lines[-1] = part
        elif cell_len(f"{lines[-1]} {part}") <= room:
            lines[-1] += f" {part}"
        else:
            lines[-1] += " \\"
            first, *rest = _pieces(part, width - len(_FURTHER) - len(end))
            lines += [f"{_FURTHER}{first}", *rest]
    return lines


def _pieces(part: str, room: int) -> list[str]:
    """Break a word that has spaces and is longer than a line, such as NAME=COMMAND, at its spaces.

    Each piece is quoted separately. A continued piece must start its line: text before it would become part of the
    word.
    """
    if cell_len(part) <= room or len(words := shlex.split(part)) > 1:
        return [part]
    pieces = [""]
    for word in re.findall(r"\S* |\S+", words[0]):
        if pieces[-1] and cell_len(shlex.quote(pieces[-1] + word)) >= room:
            pieces.append("")
        pieces[-1] += word
    quoted = [shlex.quote(piece) for piece in pieces]
    return [*(f"{piece}\\" for piece in quoted[:-1]), quoted[-1]]


def _with_values(words: Iterable[str]) -> list[str]:
    """Join each option with its value, and the ``--`` before the command of an implementation with the first word of
    the command.
    """
    parts: list[str] = []
    for word in words:
        if parts and parts[-1].startswith("--") and " " not in parts[-1] and not word.startswith("-"):
            parts[-1] += f" {word}"
        else:
            parts.append(word)
    return parts

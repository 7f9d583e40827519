"""Pages for users: their links and commands, and a reader who types the commands and compares the output."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

FENCED = re.compile(r"^( *)```(\w*)\n(.*?)^\1```$", re.MULTILINE | re.DOTALL)
TIMEOUT_S = 300


def blocks(text: str) -> list[tuple[str, str]]:
    """The kind and the content of each fenced block."""
    return [(found[2], textwrap.dedent(found[3])) for found in FENCED.finditer(text)]


def commands(block: str) -> Iterator[tuple[str, list[str]]]:
    """The lines to type, each with the output that the page shows."""
    for typed in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
        line, *shown = typed.splitlines()
        yield line, shown


def anchors(text: str) -> set[str]:
    """The anchors of the headings of a page."""
    headings = re.findall(r"^#+ (.*)$", text, flags=re.MULTILINE)
    return {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}


def broken_links(page: Path, root: Path) -> list[str]:
    """The relative links that lead to no file, or to no heading of it."""
    text = FENCED.sub("", page.read_text("utf-8"))
    broken = []
    for link, name, anchor in re.findall(r"\]\((([^)#\s]*)#?([^)\s]*))\)", text):
        if "://" in link:
            continue
        target = Path(os.path.normpath(page.parent / name)) if name else page
        found = target.exists() and target.is_relative_to(root)
        if not found or (anchor and anchor not in anchors(target.read_text("utf-8"))):
            broken.append(link)
    return broken


def alike(shown: list[str], printed: str) -> bool:
    """Does the page show what was printed, apart from empty lines at the end? A line of three dots stands for any
    lines, or for none."""
    lines = timeless("\n".join(shown)).splitlines()
    wanted = "".join("(?:.*\n)*" if line == "..." else re.escape(line) + "\n" for line in lines)
    return re.fullmatch(f"{wanted}\n*", "".join(f"{line}\n" for line in timeless(printed).splitlines())) is not None


def timeless(text: str) -> str:
    """The text without blanks at line ends, without forecasts, without the amounts and seconds at the end of a report,
    which can move a line end, and without counts that a new requirement or scenario changes."""
    text = re.sub(r"[ \t]+$", "", text, flags=re.MULTILINE)
    text = re.sub(r", for about \d+ (s|min)$", "", text, flags=re.MULTILINE)
    text = re.sub(r"\((?:[0-9,]+\s+\w+,\s+)+[0-9.]+\s+s\)\.", "(all that was played).", text)
    text = re.sub(r"\d[\d,]*(?=( of \d[\d,]*)?\s(of them|requirements|verdicts|scenarios|runs|steps)\b)", "N", text)
    return re.sub(r"N of \d[\d,]*", "N of N", text)


def edited(text: str, piece: str) -> str:
    """A file after an edit: the lines with a blank or a plus replace those with a blank or a minus."""
    lines = piece.splitlines(keepends=True)
    assert {line[0] for line in lines} <= set(" -+"), piece
    before, after = ("".join(line[1:] for line in lines if line[0] != sign) for sign in "+-")
    assert text.count(before) == 1, f"not there once:\n{before}"
    return text.replace(before, after)


@dataclass
class Reader:
    """Types the lines of a page one by one in a shell, makes its edits, and saves its YAML files: their first line is a
    comment with the name."""

    folder: Path
    """The current folder; ``cd`` changes it."""
    programs: Path
    """An empty folder for the programs that the reader finds first."""
    status: int = 0
    """The exit code of the last line."""
    wrong: list[str] = field(default_factory=list)
    """The lines that printed something else, with their output."""
    failed: list[str] = field(default_factory=list)
    """The lines that ended without a verdict: neither 0 nor 1."""

    def __post_init__(self) -> None:
        python = shlex.quote(sys.executable)
        for name, started in (("sds-conformance", f"{python} -m sds_conformance"), ("python", python)):
            program = self.programs / name
            program.write_text(f'#!/bin/sh\nexec {started} "$@"\n', "utf-8")
            program.chmod(0o755)

    def types(self, line: str) -> str:
        """Run a line. Return stdout and stderr."""
        where = self.programs / "where"
        script = f'(exit {self.status})\n{line}\nstatus=$?\npwd > "{where}"\nexit $status\n'
        kept = {name: value for name, value in os.environ.items() if name not in ("COLUMNS", "FORCE_COLOR", "CI")}
        done = subprocess.run(
            ["sh", "-c", script],
            cwd=self.folder,
            env={**kept, "PATH": f"{self.programs}{os.pathsep}{kept['PATH']}", "NO_COLOR": "1"},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            encoding="utf-8",
            timeout=TIMEOUT_S,
            check=False,
        )
        self.status, self.folder = done.returncode, Path(where.read_text("utf-8").rstrip("\n"))
        return done.stdout

    def follows(self, kind: str, block: str) -> None:
        """Do what a block says, and note the differences."""
        if kind == "diff":
            _, *edits = re.split(r"^--- (.*)\n", block, flags=re.MULTILINE)
            for name, piece in zip(edits[::2], edits[1::2], strict=True):
                path = self.folder / name
                path.write_text(edited(path.read_text("utf-8"), piece), "utf-8")
        if kind == "yaml" and (named := re.match(r"# (\w[\w-]*\.yaml)\n", block)):
            (self.folder / named[1]).write_text(block, "utf-8")
        if kind == "console":
            for line, shown in commands(block):
                printed = self.types(line)
                if not alike(shown, printed):
                    self.wrong.append(f"$ {line}\n{printed}")
                if self.status not in (0, 1):
                    self.failed.append(f"$ {line}\n{printed}\nexit code {self.status}")

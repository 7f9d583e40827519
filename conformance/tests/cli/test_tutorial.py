"""The tutorial of adapters: what it says to type is typed, its edits are made, and what it shows comes out."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from played import REPOSITORY

TUTORIAL = REPOSITORY / "harness" / "adapters" / "TUTORIAL.md"
TEXT = TUTORIAL.read_text("utf-8")
PARTS = dict(zip(("python", "javascript"), TEXT.split("\n## The same in JavaScript\n"), strict=True))
TOOLS = {"python": "python3", "javascript": "node"}
FENCED = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
PATIENCE_S = 300


# ---- What stands in it -------------------------------------------------------------------------------------------


def blocks(text: str) -> list[tuple[str, str]]:
    """The fenced blocks: what kind, and what is in it."""
    return [(found[1], found[2]) for found in FENCED.finditer(text)]


def commands(block: str) -> Iterator[tuple[str, list[str]]]:
    """The lines that are typed, and the lines that are shown below each."""
    for typed in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
        line, *shown = typed.splitlines()
        yield line, shown


def edited(text: str, piece: str) -> str:
    """A file after an edit: lines with a blank or a minus make way for those with a blank or a plus."""
    lines = piece.splitlines(keepends=True)
    assert {line[0] for line in lines} <= set(" -+"), piece
    before, after = ("".join(line[1:] for line in lines if line[0] != sign) for sign in "+-")
    assert text.count(before) == 1, f"not there once:\n{before}"
    return text.replace(before, after)


def anchors(text: str) -> set[str]:
    """What links to the headings of a page are called."""
    headings = re.findall(r"^#+ (.*)$", text, flags=re.MULTILINE)
    return {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}


def alike(shown: list[str], printed: str) -> bool:
    """Is that what was printed, but for empty lines at the end? A line of three dots is any lines, or none."""
    lines = timeless("\n".join(shown)).splitlines()
    wanted = "".join("(?:.*\n)*" if line == "..." else re.escape(line) + "\n" for line in lines)
    return re.fullmatch(f"{wanted}\n*", "".join(f"{line}\n" for line in timeless(printed).splitlines())) is not None


def timeless(text: str) -> str:
    """Without how much was played and the seconds at the end of a report, a line end that their length may bring there,
    and blanks at ends."""
    text = re.sub(r"[ \t]+$", "", text, flags=re.MULTILINE)
    return re.sub(r"\((?:[0-9,]+\s+\w+,\s+)+[0-9.]+\s+s\)\.", "(all that was played).", text)


@pytest.mark.parametrize(
    ("shown", "printed", "is_so"),
    [
        (["a", "b"], "a  \nb\n\n", True),
        (["a", "b"], "a\n\nb\n", False),
        (["a", "b"], "a\nb\nc\n", False),
        (["a", "b"], "a\n  b\n", False),
        (["a", "...", "c"], "a\nc\n", True),
        (["a", "...", "c"], "a\nb\nb\nc\n", True),
        (["a", "...", "c"], "a\nb\n", False),
        (["...", "c"], "a\nb.c\n", False),
        ([], "", True),
        ([], "a\n", False),
        (["it conforms (2 runs, 7 steps, 1.5 s)."], "it conforms (2 runs, 1,800 steps,\n10.5 s).\n", True),
        (["it conforms (2 runs, 7 steps, 1.5 s)."], "it does not (2 runs, 7 steps, 1.5 s).\n", False),
    ],
)
def test_what_is_shown_is_told_from_what_is_not(shown: list[str], printed: str, is_so: bool) -> None:
    assert alike(shown, printed) is is_so


def test_an_edit_replaces_what_stands_there_once() -> None:
    piece = " a\n-b\n+B\n+\n"
    assert edited("a\nb\nc\n", piece) == "a\nB\n\nc\n"
    for text in ("a\nc\n", "a\nb\na\nb\n"):
        with pytest.raises(AssertionError, match="not there once"):
            edited(text, piece)


def test_a_reader_gets_through_it_and_finds_what_it_links() -> None:
    assert len(TEXT.splitlines()) <= 250
    links = re.findall(r"\]\(([^)#]*)#?([^)]*)\)", TEXT)
    assert links
    for name, anchor in links:
        path = TUTORIAL.parent / name if name else TUTORIAL
        assert path.is_file(), name
        assert not anchor or anchor in anchors(path.read_text("utf-8")), f"{name}#{anchor}"
    kinds = [kind for kind, _ in blocks(TEXT)]
    assert kinds.count("sh") == 1, "what is typed stands in console blocks, which are run, but for the installation"
    assert set(kinds) == {"sh", "console", "diff"}


# ---- What comes of it --------------------------------------------------------------------------------------------


@dataclass
class Reader:
    """Types the lines of the tutorial one by one, in a shell, and makes its edits."""

    folder: Path
    """Where the reader is; ``cd`` moves on from there."""
    programs: Path
    """Where ``sds-conformance`` is, this suite."""
    status: int = 0
    """The exit code of the line before."""
    wrong: list[str] = field(default_factory=list)

    def types(self, line: str) -> str:
        """What is printed, on stdout and stderr."""
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
            timeout=PATIENCE_S,
            check=False,
        )
        self.status, self.folder = done.returncode, Path(where.read_text("utf-8").rstrip("\n"))
        return done.stdout

    def follows(self, kind: str, block: str) -> None:
        """Does what a block says, and notes what comes out otherwise."""
        if kind == "diff":
            _, *edits = re.split(r"^--- (.*)\n", block, flags=re.MULTILINE)
            for name, piece in zip(edits[::2], edits[1::2], strict=True):
                path = self.folder / name
                path.write_text(edited(path.read_text("utf-8"), piece), "utf-8")
        if kind == "console":
            for line, shown in commands(block):
                printed = self.types(line)
                if not alike(shown, printed):
                    self.wrong.append(f"$ {line}\n{printed}")


@pytest.mark.exhaustive
@pytest.mark.parametrize("part", PARTS)
def test_what_is_typed_comes_out_as_it_is_shown(tmp_path: Path, part: str) -> None:
    if shutil.which(TOOLS[part]) is None:
        pytest.skip(f"not on this machine: {TOOLS[part]}")
    folder, programs = tmp_path / "clean", tmp_path / "programs"
    folder.mkdir()
    programs.mkdir()
    program = programs / "sds-conformance"
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m sds_conformance "$@"\n', "utf-8")
    program.chmod(0o755)
    reader = Reader(folder, programs)
    for kind, block in blocks(PARTS[part]):
        reader.follows(kind, block)
    assert not reader.wrong, "comes out otherwise:\n\n" + "\n\n".join(reader.wrong)

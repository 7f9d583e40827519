"""The tutorial of adapters: its commands are typed, its edits are made, and its output comes out."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from run_helpers import REPOSITORY
from typed_pages import Reader, blocks, broken_links, commands

TUTORIAL = REPOSITORY / "harness" / "adapters" / "TUTORIAL.md"
TEXT = TUTORIAL.read_text("utf-8")
PARTS = dict(zip(("python", "javascript"), TEXT.split("\n## The same in JavaScript\n"), strict=True))
TOOLS = {"python": "python3", "javascript": "node"}


def test_a_reader_gets_through_it_and_finds_what_it_links() -> None:
    assert len(TEXT.splitlines()) <= 300
    assert "](" in TEXT
    assert broken_links(TUTORIAL, REPOSITORY) == []
    kinds = [kind for kind, _ in blocks(TEXT)]
    assert kinds.count("sh") == 1, "all lines to type are in console blocks, which are played, except the installation"
    assert set(kinds) == {"sh", "console", "diff"}


def test_it_ends_with_a_certificate_that_others_verify() -> None:
    lines = [line for kind, block in blocks(PARTS["python"]) if kind == "console" for line, _ in commands(block)]
    (written,) = (number for number, line in enumerate(lines) if "certificate write" in line)
    (verified,) = (number for number, line in enumerate(lines) if "certificate verify" in line)
    assert written < verified


@pytest.mark.exhaustive
@pytest.mark.parametrize("part", PARTS)
def test_what_is_typed_comes_out_as_it_is_shown(tmp_path: Path, part: str) -> None:
    if shutil.which(TOOLS[part]) is None:
        pytest.skip(f"not on this machine: {TOOLS[part]}")
    folder, programs = tmp_path / "clean", tmp_path / "programs"
    folder.mkdir()
    programs.mkdir()
    reader = Reader(folder, programs)
    for kind, block in blocks(PARTS[part]):
        reader.follows(kind, block)
    assert not reader.wrong, "comes out otherwise:\n\n" + "\n\n".join(reader.wrong)

"""CONTRIBUTING's example of a new requirement changes four files of a copy of the suite, and its mutant is killed."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

from run_helpers import REPOSITORY
from typed_pages import Reader, blocks

COPIED = ("conformance/sds_conformance", "reference/sds_reference")
PAGE = (REPOSITORY / "CONTRIBUTING.md").read_text("utf-8")
SECTION = PAGE[PAGE.index("## A new requirement, step by step") :].partition("\n## ")[0]


def texts(root: Path) -> dict[str, str]:
    """The sources below a folder, by path."""
    found = [path for folder in COPIED for path in (root / folder).rglob("*.*") if path.suffix in (".py", ".json")]
    return {path.relative_to(root).as_posix(): path.read_text("utf-8") for path in found}


def test_a_new_requirement_changes_four_files_and_its_mutant_is_killed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root, programs = tmp_path / "copy", tmp_path / "programs"
    programs.mkdir()
    for folder in COPIED:
        shutil.copytree(REPOSITORY / folder, root / folder, ignore=shutil.ignore_patterns("__pycache__"))
    monkeypatch.setenv("PYTHONPATH", ":".join(str((root / folder).parent) for folder in COPIED))
    before, reader = texts(root), Reader(root, programs)
    for kind, block in blocks(SECTION):
        reader.follows(kind, block)
    assert (reader.wrong, reader.failed, reader.status) == ([], [], 0)
    after = texts(root)
    changed = sorted(path for path in after if after[path] != before.get(path))
    assert re.findall(r"/(catalogue|checks|scenarios|mutants)/", "".join(changed)) == [
        *("catalogue", "checks", "scenarios", "mutants")
    ]
    assert len(changed) == 4

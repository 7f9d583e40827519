"""A folder for vectors that is empty or not there yet, and what is in the files of one."""

from __future__ import annotations

import json
from importlib import import_module
from pathlib import Path

import pytest

from sds_conformance.vectors.folder import load_of
from sds_conformance.vectors.generation import begin
from sds_conformance.vectors.lint import lint
from suite_terminal import too_wide, typed, words
from vector_folders import VECTOR_SET, VECTORS


def bytes_of(folder: Path) -> dict[str, bytes]:
    """Everything in a folder of vectors but who consumes them."""
    paths = (path for path in folder.rglob("*") if path.is_file() and "consumers" not in path.parts)
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in paths}


@pytest.mark.exhaustive
def test_an_empty_folder_gets_all_that_the_suite_has(tmp_path: Path) -> None:
    result = typed("vectors", "generate", "--out", tmp_path)
    assert result.exit_code == 0, result.stderr
    assert bytes_of(tmp_path) == bytes_of(VECTORS)
    assert lint(VECTOR_SET, tmp_path) == []


def test_an_empty_folder_begins_with_what_was_released(tmp_path: Path) -> None:
    folder = tmp_path / "new"
    begin(VECTOR_SET, folder, VECTORS)
    assert {"CHANGELOG.md", "README.md", "released.json", "sds/lamport.json"} <= set(bytes_of(folder))
    assert not {"manifest.json", "schema/lamport.schema.json"} & set(bytes_of(folder))
    assert bytes_of(folder).items() <= bytes_of(VECTORS).items()
    (folder / "CHANGELOG.md").write_text("## 1234.0.0\n", "utf-8")
    begin(VECTOR_SET, folder, VECTORS)
    assert (folder / "CHANGELOG.md").read_text("utf-8") == "## 1234.0.0\n"


def test_a_folder_of_something_else_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").touch()
    result = typed("vectors", "generate", "--out", tmp_path)
    assert result.exit_code == 2
    assert "has no CHANGELOG.md, and is not empty: name a folder that is, or a new one" in words(result.stderr)
    assert set(bytes_of(tmp_path)) == {"thesis.tex"}


def test_the_files_are_listed_with_the_shape_and_the_revisions_in_each(monkeypatch: pytest.MonkeyPatch) -> None:
    # That they are what they should be takes its time to find out, and others do.
    command = import_module("sds_conformance.cli.vectors.command")
    known = [file for material in VECTOR_SET.materials for file in load_of(VECTOR_SET, material, VECTORS)]
    monkeypatch.setattr(command, "load_all", lambda vector_set, folder: known)
    rows = json.loads(typed("vectors", "list", "--json").stdout)
    for row in rows:
        data = json.loads((VECTORS / row["file"]).read_text("utf-8"))
        assert (data["shape"], data["revisions"]) == (row["shape"], row["revisions"])
    assert len(rows) == len(known) == len({row["file"] for row in rows})
    text = typed("vectors", "list", "--files").stdout
    assert too_wide(text) == []
    output = words(text)
    for row in rows:
        assert f"{Path(row['file']).name} {row['shape']} {row['revisions'][0]} {row['numberOfTests']}" in output
    assert typed("vectors", "list", "--files", "--group", "lamport").exit_code == 2

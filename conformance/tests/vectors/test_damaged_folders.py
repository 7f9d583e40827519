"""Folders that are not what they should be: nothing is lost by them, nothing hangs, nothing reaches a terminal."""

from __future__ import annotations

import json
import os
import shutil
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from run_helpers import reference_command
from sds_conformance.vectors.folder import CHANGELOG, MANIFEST
from sds_conformance.vectors.lint import lint
from suite_terminal import typed
from vector_folders import VECTOR_SET, VECTORS, copy_of_vectors, edit

pytestmark = pytest.mark.exhaustive

MODULE = import_module("sds_conformance.cli.vectors")
"""In its package the command of the same name stands before it."""
ESCAPE = "\x1b[2J"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return copy_of_vectors(tmp_path)


def _bytes(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


# ---- what is replaced ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("where", [".", "inside", ".."])
def test_no_export_over_its_own_source(folder: Path, where: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(MODULE, "default_folder", lambda: folder)
    target = folder / where
    target.mkdir(exist_ok=True)
    if target.resolve() != folder:
        shutil.copy(folder / MANIFEST, target)
    before = _bytes(folder)
    result = typed("vectors", "export", "--overwrite", target)
    assert result.exit_code == 2
    assert "overlap: name a separate folder" in result.stderr.replace("\n", " ")
    assert _bytes(folder) == before


@pytest.mark.parametrize(
    "manifest",
    ["{}", '{"name": "an app"}', "", '{"version": "1", "generatorVersion": "1", "files": {"../a": ""}, "retired": []}'],
)
def test_a_folder_with_another_manifest_is_not_replaced(tmp_path: Path, manifest: str) -> None:
    (tmp_path / "sds").mkdir()
    (tmp_path / MANIFEST).write_text(manifest, "utf-8")
    (tmp_path / "sds" / "precious.json").write_text("{}", "utf-8")
    before = _bytes(tmp_path)
    result = typed("vectors", "export", "--overwrite", tmp_path)
    assert result.exit_code == 2
    assert "holds no vectors" in result.stderr
    assert _bytes(tmp_path) == before


def test_an_export_deletes_what_the_manifest_names_alone(folder: Path) -> None:
    (folder / "sds" / "precious.txt").write_text("x", "utf-8")
    edit(folder, "lamport", lambda data: None)
    old = folder / "sds" / "old.json"
    old.write_text("{}", "utf-8")
    manifest = json.loads((folder / MANIFEST).read_text("utf-8"))
    manifest["files"]["sds/old.json"] = "0" * 64
    (folder / MANIFEST).write_text(json.dumps(manifest), "utf-8")
    assert typed("vectors", "export", "--overwrite", folder).exit_code == 0
    assert (folder / "sds" / "precious.txt").exists()
    assert not old.exists()
    assert (folder / MANIFEST).read_bytes() == (VECTORS / MANIFEST).read_bytes()


@pytest.mark.parametrize("name", ["sds", "schema", "sds/lamport.json"])
def test_nothing_is_replaced_through_links(folder: Path, tmp_path: Path, name: str) -> None:
    elsewhere = tmp_path / "elsewhere"
    (folder / name).rename(elsewhere)
    (folder / name).symlink_to(elsewhere)
    before = _bytes(elsewhere) if elsewhere.is_dir() else elsewhere.read_bytes()
    ways: list[tuple[str | Path, ...]] = [("export", "--overwrite", folder), ("generate", "--out", folder)]
    for arguments in ways:
        result = typed("vectors", *arguments)
        assert result.exit_code == 2
        assert "is a symbolic link" in result.stderr.replace("\n", " ")
    assert (_bytes(elsewhere) if elsewhere.is_dir() else elsewhere.read_bytes()) == before


# ---- what is read ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["sds/zero.json", "sds/lamport.json", MANIFEST, "schema/hash.schema.json", CHANGELOG])
def test_devices_and_pipes_are_no_files(folder: Path, name: str) -> None:
    for kind in ("device", "pipe", "folder"):
        (folder / name).unlink(missing_ok=True)
        if kind == "device":
            (folder / name).symlink_to("/dev/zero")
        elif kind == "pipe":
            os.mkfifo(folder / name)
        else:
            (folder / name).unlink(missing_ok=True)
            (folder / name).mkdir()
        said = ("not a regular file", "is missing", "Is a directory")
        assert any(words in sentence for words in said for sentence in lint(VECTOR_SET, folder)), kind
        if kind != "folder":
            (folder / name).unlink()


def _spoil(data: dict[str, Any]) -> None:
    data["tests"][0]["comment"] += "!"


def test_vectors_that_somebody_changed_are_not_asked(folder: Path) -> None:
    edit(folder, "lamport", _spoil, honest=False)
    result = typed("vectors", "run", "--vectors", folder, "--group", "lamport", "--", *reference_command())
    assert result.exit_code == 2
    output = result.stderr.replace("\n", " ")
    assert "sds/lamport.json: its SHA-256 differs from that in the manifest" in output
    assert "vectors lint" in output


def test_nothing_of_strangers_reaches_the_terminal_raw(folder: Path) -> None:
    (folder / "sds" / f"{ESCAPE}.json").write_text("{", "utf-8")
    (folder / "sds" / f"{ESCAPE}.txt").write_text("{", "utf-8")
    ways: list[tuple[str | Path, ...]] = [("lint", folder), ("run", "--vectors", folder, "--", *reference_command())]
    for arguments in ways:
        result = typed("vectors", *arguments)
        assert result.exit_code in (1, 2)
        assert "\x1b" not in result.stderr + result.stdout

"""Everything that ``vectors lint`` promises to find is found, and named."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from run_helpers import REPOSITORY
from sds_conformance.vectors.folder import LARGEST_FILE, MANIFEST, VectorsError, load_all
from sds_conformance.vectors.generation import differences
from sds_conformance.vectors.lint import lint
from vector_folders import VECTOR_SET, copy_of_vectors, edit, seal

Change = Callable[[dict[str, Any]], object]


@pytest.fixture
def whole(tmp_path: Path) -> Path:
    return copy_of_vectors(tmp_path)


@pytest.fixture
def folder(whole: Path) -> Path:
    """A few groups of vectors: lint judges each file by itself, and all of them take 0.6 s."""
    for path in [*(whole / "sds").glob("*.json"), *(whole / "clearskies").glob("*.json")]:
        if not path.name.startswith(("wire-decoding", "lamport", "log-order", "vector-clocks")):
            path.unlink()
    seal(whole)
    return whole


def _first(**fields: object) -> Change:
    return lambda data: data["tests"][0].update(fields)


@pytest.mark.parametrize(
    ("change", "output"),
    [
        (_first(surplus=1), "'surplus' was unexpected"),
        (_first(wire="0A"), "does not match"),
        (_first(flags=["Nowhere"]), "the flag Nowhere is not explained"),
        (_first(requirements=["SDS-MSG-99"]), "requirement SDS-MSG-99 does not exist"),
        (_first(requirements=["SDS-R-RECV-03"]), "the vector names no requirement of sds-2025-10-amended"),
        (_first(requirements=["SDS-R-RECV-03", "SDS-MSG-01"]), ""),
        (_first(requirements=["SDS-MSG-01", "FORUM-01"]), "FORUM-01 is not stated in sds-2026-01"),
        (_first(id="lamport/elsewhere"), "its ID does not begin with wire-decoding/"),
        (_first(result="invalid"), "its result is invalid, but its outcomes require valid"),
        (_first(outcomes=[{"rejected": True, "position": "AMB-999"}]), "position AMB-999 does not exist"),
        (lambda data: data["tests"][1].update(id=data["tests"][0]["id"]), "two vectors are called wire-decoding/"),
        (lambda data: data["notes"].update(Unused={"description": "x", "ids": ["AMB-52"]}), "no vector has this flag"),
        (lambda data: data["notes"]["Field"].update(ids=["AMB-999"]), "names AMB-999, which does not exist"),
        (lambda data: data.update(revisions=["sds-1999"]), "unknown revision sds-1999"),
        (lambda data: data.update(generatorVersion="9"), "generatorVersion is not 1"),
        (lambda data: data.update(group="lamport"), "its name does not begin with its group"),
        (lambda data: data.update(shape="spiral"), "its shape is unknown; shapes are decode"),
    ],
)
def test_what_is_wrong_with_a_file(folder: Path, change: Change, output: str) -> None:
    edit(folder, "wire-decoding", change)
    found = lint(VECTOR_SET, folder)
    assert not output or any(output in sentence for sentence in found), found
    assert bool(found) == bool(output)


@pytest.mark.parametrize(
    ("change", "output"),
    [
        (lambda data: data.update(numberOfTests=1), "numberOfTests is 1"),
        (lambda data: data.update(digest="0" * 64), "its digest does not match its tests"),
        (lambda data: data["tests"].pop(), "its SHA-256 differs from that in the manifest"),
    ],
)
def test_what_does_not_fit(folder: Path, change: Change, output: str) -> None:
    edit(folder, "wire-decoding", change, honest=False)
    assert any(output in sentence for sentence in lint(VECTOR_SET, folder))


def test_files_that_lack_and_files_that_nobody_knows(folder: Path) -> None:
    (folder / "sds" / "lamport.json").unlink()
    (folder / "sds" / "notes.txt").write_text("x", "utf-8")
    (folder / "README.md").unlink()
    (folder / "schema" / "hash.schema.json").write_text("{}", "utf-8")
    found = lint(VECTOR_SET, folder)
    for output in (
        "sds/lamport.json is in the manifest, and is missing",
        "sds/notes.txt is not in the manifest",
        "README.md is missing",
        "schema/hash.schema.json is not the schema",
    ):
        assert any(output in sentence for sentence in found), output


@pytest.mark.parametrize("text", ["", "[]", "{", '{"version": "1"}', '{"a": 1, "a": 2}', "[" * 100_000])
def test_a_manifest_that_is_none(folder: Path, text: str) -> None:
    (folder / MANIFEST).write_text(text, "utf-8")
    assert len(lint(VECTOR_SET, folder)) == 1


def test_files_of_strangers_are_bounded(folder: Path) -> None:
    with (folder / "sds" / "lamport.json").open("r+b") as file:
        file.truncate(LARGEST_FILE + 1)
    assert any("has more than 32 MiB" in sentence for sentence in lint(VECTOR_SET, folder))
    with pytest.raises(VectorsError, match="has more than"):
        load_all(VECTOR_SET, folder)
    with pytest.raises(VectorsError, match="no vectors"):
        load_all(VECTOR_SET, folder / "schema")


def test_line_ends_of_windows_are_named_once(whole: Path) -> None:
    for path in whole.rglob("*.json"):
        path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))
    (found,) = lint(VECTOR_SET, whole)
    assert "more files: its lines end with CRLF" in found
    assert "core.autocrlf" in found
    with pytest.raises(VectorsError, match="its lines end with CRLF"):
        load_all(VECTOR_SET, whole)
    sentences = differences(VECTOR_SET, whole, {"schema/x.json": b"{}\n"})
    assert "schema/x.json is missing" in sentences
    name = "sds/lamport.json"
    wanted = {name: (whole / name).read_bytes().replace(b"\r\n", b"\n")}
    assert differences(VECTOR_SET, whole, wanted)[0].startswith(f"{name}: its lines end with CRLF")


def test_a_clone_with_autocrlf_has_the_bytes_that_were_committed(tmp_path: Path) -> None:
    if not (REPOSITORY / ".git").exists() or shutil.which("git") is None:
        pytest.skip("needs git and a checkout")
    clone = tmp_path / "clone"
    options = ["-c", "core.autocrlf=true", "-c", "safe.directory=*"]
    subprocess.run(["git", "clone", "-q", *options, str(REPOSITORY), str(clone)], check=True)
    ends = subprocess.run(["git", "ls-files", "--eol"], cwd=clone, capture_output=True, text=True, check=True)
    assert [line for line in ends.stdout.splitlines() if "w/crlf" in line or "w/mixed" in line] == []

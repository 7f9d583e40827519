"""Versions and the ledger: a promise that was released is kept, or lint says which one is not."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from run_helpers import REPOSITORY
from sds_conformance.vectors.canonical import file_digest, format_document
from sds_conformance.vectors.changelog import changelog_versions
from sds_conformance.vectors.documents import documents
from sds_conformance.vectors.folder import CHANGELOG, LEDGER, MANIFEST, VectorsError, load_all
from sds_conformance.vectors.generation import changelog_gap, wanted_files, write
from sds_conformance.vectors.ledger import add_release, read_ledger
from sds_conformance.vectors.lint import lint
from suite_terminal import typed, words
from vector_folders import VECTOR_SET, VECTORS, copy_of_vectors, edit, seal

Change = Callable[[dict[str, Any]], object]


def unreleased(to: Path) -> Path:
    """A version 1.0.0 of two groups, and no other version."""
    folder = copy_of_vectors(to)
    for path in (folder / "sds").glob("*.json"):
        if not path.name.startswith(("lamport", "log-order")):
            path.unlink()
    printed = file_digest((folder / MANIFEST).read_bytes())
    (folder / CHANGELOG).write_text(f"# Changelog\n\n## 1.0.0\n\nManifest: `{printed}`\n\nThe first.\n", "utf-8")
    seal(folder, version="1.0.0")
    return folder


def release(folder: Path) -> None:
    """The output of ``vectors release`` for files that are not generated."""
    (folder / LEDGER).write_bytes(add_release(folder, changelog_versions(folder)[0][0], load_all(VECTOR_SET, folder)))


def begin(folder: Path, version: str, text: str = "Something.") -> None:
    """A new version at the top of the changelog, with a manifest of its own."""
    changelog = folder / CHANGELOG
    head, mark, rest = changelog.read_text("utf-8").partition("## ")
    manifest = json.loads((folder / MANIFEST).read_text("utf-8"))
    (folder / MANIFEST).write_bytes(format_document({**manifest, "version": version}))
    printed = file_digest((folder / MANIFEST).read_bytes())
    changelog.write_text(f"{head}## {version}\n\nManifest: `{printed}`\n\n{text}\n\n{mark}{rest}", "utf-8")


@pytest.fixture(scope="module")
def version_1(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A version 1.0.0 that is released."""
    out = unreleased(tmp_path_factory.mktemp("version_1"))
    release(out)
    return out


@pytest.fixture
def folder(tmp_path: Path, version_1: Path) -> Path:
    """A copy of a version 1.0.0 that is released."""
    return Path(shutil.copytree(version_1, tmp_path / "vectors"))


def says(folder: Path, *printed: str) -> bool:
    found = lint(VECTOR_SET, folder)
    return bool(found) and all(any(text in sentence for sentence in found) for text in printed)


def _another_outcome(data: dict[str, Any]) -> None:
    data["tests"][0]["outcomes"][0]["local"] = "5"


def _another_input(data: dict[str, Any]) -> None:
    data["tests"][0]["now_ms"] = "5"


def _wanted(folder: Path) -> dict[str, bytes]:
    """The files of a folder in canonical form, with the manifest over them."""
    return wanted_files(VECTOR_SET, folder, documents(VECTOR_SET, folder, compute=False))


FIRST = "lamport/send-clock-far-ahead"


# ---- What is released ------------------------------------------------------------------------------------------------


def _in_better_words(data: dict[str, Any]) -> None:
    data["tests"][0].update(comment="In better words.", requirements=["SDS-SEND-01"])


def _one_more(data: dict[str, Any]) -> None:
    data["tests"].append({**data["tests"][0], "id": "lamport/new"})


DIFFERS = f"{FIRST}: differs from its released form in sds-2025-10-amended, sds-2026-01"


@pytest.mark.parametrize(
    ("version", "changelog", "change", "printed"),
    [
        ("", "", _another_outcome, DIFFERS),
        ("1.0.1", "Something.", _another_outcome, DIFFERS),
        ("2.0.0", "Something.", _another_input, DIFFERS),
        ("1.0.1", f"Corrected: `{FIRST}`, whose timestamp was wrong.", _another_outcome, ""),
        ("", "", _in_better_words, "manifest.json is not that of version 1.0.0, which is released"),
        ("1.0.1", "Something.", _in_better_words, ""),
        (
            "1.1.0",
            "Something.",
            lambda data: data["tests"].pop(0),
            f"{FIRST}: released for sds-2025-10-amended, sds-2026-01, but missing there",
        ),
        ("1.0.1", "Something.", _one_more, "increase the middle number"),
        ("1.1.0", "Something.", _one_more, ""),
    ],
)
def test_a_released_vector_changes_only_if_the_changelog_says_that_it_was_wrong(
    folder: Path, version: str, changelog: str, change: Change, printed: str
) -> None:
    if version:
        begin(folder, version, changelog)
    edit(folder, "lamport", change)
    assert says(folder, printed) == bool(printed)


def _retire(folder: Path, test_id: str) -> None:
    edit(folder, "lamport", lambda data: data["tests"].remove(next(t for t in data["tests"] if t["id"] == test_id)))
    seal(folder, retired=[test_id])


def test_what_is_retired_is_named_in_the_changelog_and_stays_retired(folder: Path) -> None:
    begin(folder, "1.1.0")
    _retire(folder, FIRST)
    assert says(folder, f"{FIRST} is retired, but CHANGELOG.md does not mention it")
    changelog = folder / CHANGELOG
    changelog.write_text(changelog.read_text("utf-8").replace("Something.", f"Retired: `{FIRST}`, of no use."), "utf-8")
    assert lint(VECTOR_SET, folder) == []
    release(folder)
    assert lint(VECTOR_SET, folder) == []
    begin(folder, "1.2.0")
    edit(folder, "lamport", lambda data: data["tests"].append({**data["tests"][0], "id": FIRST}))
    assert says(folder, "although it is retired")
    manifest = json.loads((folder / MANIFEST).read_text("utf-8"))
    (folder / MANIFEST).write_bytes(format_document({**manifest, "retired": []}))
    assert says(folder, f"{FIRST} was retired by a release, and manifest.json does not name it any more")


# ---- The ledger itself -----------------------------------------------------------------------------------------------


def _release_changed(folder: Path, change: Change) -> None:
    ledger = json.loads((folder / LEDGER).read_text("utf-8"))
    change(ledger)
    (folder / LEDGER).write_bytes(format_document(ledger))


@pytest.mark.parametrize(
    ("change", "printed"),
    [
        (lambda ledger: ledger["releases"][0].update(manifest="0" * 64), "was released with the manifest 0000"),
        (lambda ledger: ledger["releases"][0].update(version="1.0.5"), "version 1.0.5 was released with"),
        (
            lambda ledger: ledger["releases"][0].update(previous="0" * 64),
            "release 1.0.0 is the first, so its previous must be empty",
        ),
        (lambda ledger: ledger["releases"][0].update(previous="x"), "released.json: releases/0/previous"),
        (lambda ledger: ledger["releases"][0].update(more=1), "released.json: releases/0"),
        (lambda ledger: ledger.pop("releases"), "'releases' is a required property"),
        (
            lambda ledger: ledger["releases"][0]["tests"]["sds-2026-01"].update({FIRST: "0" * 64}),
            "differs from its released form",
        ),
        (lambda ledger: ledger["releases"].append(ledger["releases"][0]), "1.0.0 does not come after 1.0.0"),
    ],
)
def test_a_ledger_that_was_changed_is_found(folder: Path, change: Change, printed: str) -> None:
    _release_changed(folder, change)
    assert says(folder, printed)


def test_without_a_ledger_nothing_is_in_order(folder: Path) -> None:
    (folder / LEDGER).unlink()
    assert says(folder, "released.json")
    with pytest.raises(VectorsError, match="released"):
        _wanted(folder)


def test_the_changelog_keeps_what_was_released(folder: Path) -> None:
    changelog = folder / CHANGELOG
    kept = changelog.read_text("utf-8")
    changelog.write_text(kept.replace("## 1.0.0", "## 0.9.0"), "utf-8")
    assert says(folder, "1.0.0 is released, and 0.9.0 comes before it", "the changelog is at 0.9.0")
    changelog.write_text(f"{kept}\n## 1.0.0\n", "utf-8")
    assert says(folder, "names a version twice")
    changelog.write_text(f"{kept}\n## 1.2.0\n", "utf-8")
    assert says(folder, "1.0.0 is above 1.2.0")


# ---- generate and release --------------------------------------------------------------------------------------------


@pytest.mark.exhaustive
def test_releasing_and_then_generating(tmp_path: Path) -> None:
    folder = copy_of_vectors(tmp_path)
    version = changelog_versions(folder)[0][0]
    result = typed("vectors", "release", "7.7.7", "--out", folder)
    assert (result.exit_code, "and not of 7.7.7" in words(result.stderr)) == (2, True)
    assert typed("vectors", "release", version, "--out", folder).exit_code == 0
    assert "is released already" in words(typed("vectors", "release", version, "--out", folder).stderr)
    assert typed("vectors", "generate", "--check", "--out", folder).exit_code == 0
    edit(folder, "lamport", lambda data: data["tests"].append({**data["tests"][0], "id": "lamport/of-old"}))
    begin(folder, "1000.0.0")
    release(folder)
    edit(folder, "lamport", lambda data: data["tests"].pop(), honest=False)
    before = (folder / "sds" / "lamport.json").read_bytes()
    for command in ("generate", "format"):
        result = typed("vectors", command, "--out", folder)
        assert result.exit_code == 1
        assert "1000.0.0 is released, so its files are fixed: begin a new version" in result.stderr
        assert (folder / "sds" / "lamport.json").read_bytes() == before
    begin(folder, "1001.0.0")
    assert typed("vectors", "generate", "--out", folder).exit_code == 0
    assert json.loads((folder / MANIFEST).read_text("utf-8"))["retired"] == ["lamport/of-old"]
    assert "`Retired: `lamport/of-old`` in version 1001.0.0" in typed("vectors", "lint", folder).stderr


@pytest.mark.exhaustive
def test_what_is_not_in_order_is_not_released(tmp_path: Path) -> None:
    folder = copy_of_vectors(tmp_path)
    edit(folder, "lamport", _another_outcome)
    edit(folder, "hash-sha256-be64", lambda data: data["tests"][0]["outcomes"][0].update(hash="5"))
    before = (folder / LEDGER).read_bytes()
    result = typed("vectors", "release", changelog_versions(folder)[0][0], "--out", folder)
    assert result.exit_code == 1
    assert "sds/hash-sha256-be64.json differs from the generated file" in result.stderr
    assert f"sds/lamport.json: {FIRST}: outcomes: expected local '5'" in words(result.stderr)
    assert (folder / LEDGER).read_bytes() == before


@pytest.mark.exhaustive
def test_a_new_version_gets_its_digest(tmp_path: Path) -> None:
    folder = copy_of_vectors(tmp_path)
    changelog = folder / CHANGELOG
    version, _ = changelog_versions(folder)[0]
    text = changelog.read_text("utf-8").replace(f"## {version}", f"## 1234.0.0\n\nMore.\n\n## {version}")
    changelog.write_text(text, "utf-8")
    wanted = _wanted(folder)
    gap = changelog_gap(folder, wanted[MANIFEST])
    assert gap.startswith("CHANGELOG.md: version 1234.0.0 lacks the digest of its manifest: add the line Manifest: `")
    assert write(folder, wanted) == [MANIFEST, CHANGELOG]
    line = gap.partition("its line: ")[2]
    assert changelog.read_text("utf-8") == text.replace("More.", f"{line}\n\nMore.")
    assert lint(VECTOR_SET, folder) == []
    assert "differ from those of version" in changelog_gap(folder, wanted[MANIFEST] + b" ")
    changelog.write_text("# Nothing\n", "utf-8")
    assert any("names no version" in sentence for sentence in lint(VECTOR_SET, folder))


# ---- The ledger of this repository -----------------------------------------------------------------------------------


def _git(*arguments: str) -> str:
    done = subprocess.run(["git", *arguments], cwd=REPOSITORY, capture_output=True, text=True, check=False)
    if done.returncode:
        pytest.skip(f"git says: {done.stderr.strip()[:200]}")
    return done.stdout


def test_the_ledger_only_ever_grew() -> None:
    """Every state that it had in the history is the beginning of what it is now."""
    if shutil.which("git") is None or not (REPOSITORY / ".git").exists():
        pytest.skip("this is not a clone: the history is not here")
    path = f"vectors/{LEDGER}"
    now = list(read_ledger(VECTORS).releases)
    for commit in _git("log", "--format=%H", "--diff-filter=AM", "--", path).split():
        then = json.loads(_git("show", f"{commit}:{path}"))["releases"]
        assert now[: len(then)] == then, f"released.json was different in {commit}"

"""Added and replaced vectors: in canonical form, in order, in agreement with the reference, or refused."""

from __future__ import annotations

import json
import re
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from sds_conformance.vectors.agreement import disagreements
from sds_conformance.vectors.changelog import changelog_named, changelog_versions
from sds_conformance.vectors.documents import documents
from sds_conformance.vectors.folder import LEDGER, load_all
from sds_conformance.vectors.ledger import add_release
from sds_conformance.vectors.lint import lint
from suite_terminal import typed, words
from vector_folders import VECTOR_SET, VECTORS, copy_of_vectors, edit, seal

NEW: dict[str, Any] = {
    "comment": "A day after the last message.",
    "flags": ["Running"],
    "requirements": ["SDS-SEND-01"],
    "operation": "send",
    "local": "1799913600000",
    "now_ms": "1800000000000",
    "outcomes": [{"local": "1800000000000", "sent": "1800000000000"}],
}
WRONG = [{"local": "1800000000000", "sent": "1800000000001"}]
FIRST = "lamport/send-clock-far-ahead"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Some files of written vectors, and one that is computed in part, as if nothing had been released."""
    out = copy_of_vectors(tmp_path)
    for path in (*out.glob("sds/*.json"), *out.glob("clearskies/*.json")):
        if path.name not in ("lamport.json", "lamport-forum-2024.json", "t-req.json", "framing-written.json"):
            path.unlink()
    seal(out)
    return out


def _fragment(folder: Path, **changes: object) -> Path:
    path = folder.parent / "new.json"
    path.write_text(json.dumps({name: value for name, value in (NEW | changes).items() if value is not None}), "utf-8")
    return path


def _bytes(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def _tests(folder: Path, name: str) -> list[dict[str, Any]]:
    data = json.loads((folder / "sds" / f"{name}.json").read_text("utf-8"))
    tests: list[dict[str, Any]] = data["tests"]
    return tests


def _release(folder: Path) -> None:
    version = changelog_versions(folder)[0][0]
    (folder / LEDGER).write_bytes(add_release(folder, version, load_all(VECTOR_SET, folder)))


# ---- add -------------------------------------------------------------------------------------------------------------


def test_a_fragment_becomes_a_vector_in_order(folder: Path) -> None:
    typed_in = ("vectors", "add", "lamport", _fragment(folder), "--out", folder)
    assert typed(*typed_in).exit_code == 0
    assert _tests(folder, "lamport")[-1] == {"id": "lamport/1", "result": "valid", **NEW}
    assert list(_tests(folder, "lamport")[-1])[:5] == ["id", "comment", "result", "flags", "requirements"]
    assert changelog_named(folder, changelog_versions(folder)[0][0], "Added") == {"lamport/1"}
    assert lint(VECTOR_SET, folder) == []
    assert "lamport/2 is in sds/lamport.json" in typed(*typed_in).stdout


def test_the_readme_shows_how(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its commands are typed word for word, in a clone."""
    text = (VECTORS / "README.md").read_text("utf-8").partition("## Add a vector")[2]
    fragment, command = (re.search(rf"```{kind}\n(.*?)```", text, re.DOTALL) for kind in ("json", "sh"))
    assert fragment is not None
    assert command is not None
    copy = copy_of_vectors(tmp_path)
    for path in copy.glob("sds/transcripts*.json"):  # they take their time
        path.unlink()
    seal(copy)
    monkeypatch.setattr(import_module("sds_conformance.cli.vectors"), "writable_folder", lambda: copy)
    monkeypatch.chdir(tmp_path)
    Path("new.json").write_text(fragment[1], "utf-8")
    program, *arguments = command[1].split()
    assert program == "sds-conformance"
    result = typed(*arguments)
    assert result.exit_code == 0, result.stderr
    assert "`lamport/1`" in text
    assert {**_tests(copy, "lamport")[-1], **json.loads(fragment[1])} == _tests(copy, "lamport")[-1]
    assert lint(VECTOR_SET, copy) == []


@pytest.mark.parametrize(
    ("changes", "output"),
    [
        ({"now_ms": None}, "new.json: sds/lamport.json: lamport/1: 'now_ms' is a required property"),
        ({"local": 5}, "lamport/1: local: 5 is not of type 'string'"),
        ({"outcomes": [{"local": "x"}]}, "lamport/1: outcomes/0/local: 'x' does not match"),
        ({"surplus": 1}, "('surplus' was unexpected)"),
        ({"flags": ["Walking"]}, "lamport/1: flags: the flag Walking is not explained: use one of Running, Frozen"),
        ({"requirements": ["SDS-SEND-99"]}, "requirements: requirement SDS-SEND-99 does not exist"),
        (
            {"outcomes": WRONG},
            "outcomes: expected local '1800000000000', sent '1800000000001', and the reference gives",
        ),
    ],
)
def test_what_is_wrong_with_a_fragment_is_said_and_nothing_is_written(
    folder: Path, changes: dict[str, object], output: str
) -> None:
    before = _bytes(folder)
    result = typed("vectors", "add", "lamport", _fragment(folder, **changes), "--out", folder)
    assert result.exit_code == 2
    assert output in words(result.stderr)
    assert "correct the" in words(result.stderr)
    assert _bytes(folder) == before


# ---- replace ---------------------------------------------------------------------------------------------------------


def test_what_is_released_stays_unless_it_was_wrong(folder: Path) -> None:
    _release(folder)
    before = _bytes(folder)
    output = ("vectors", "replace", FIRST, _fragment(folder), "--out", folder)
    result = typed(*output)
    assert result.exit_code == 2
    assert f"{FIRST} is released, so its inputs and outcomes are fixed" in words(result.stderr)
    assert _bytes(folder) == before
    assert typed(*output, "--corrected", "The time was wrong.").exit_code == 0
    version = changelog_versions(folder)[0][0]
    assert (version, changelog_named(folder, version, "Corrected")) == ("1.1.1", {FIRST})
    assert lint(VECTOR_SET, folder) == []


# ---- generate and format ---------------------------------------------------------------------------------------------


def test_format_completes_what_was_edited_by_hand(folder: Path) -> None:
    path = folder / "sds" / "lamport.json"
    data = json.loads(path.read_text("utf-8"))
    data["tests"].append({**NEW, "id": "lamport/by-hand", "warned": "?"})
    del data["digest"]
    path.write_text(json.dumps(data), "utf-8")
    assert typed("vectors", "format", "--out", folder).exit_code == 0
    assert lint(VECTOR_SET, folder) == []
    del data["tests"][-1]["comment"]
    path.write_text(json.dumps(data), "utf-8")
    result = typed("vectors", "format", "--out", folder)
    assert result.exit_code == 2
    assert "sds/lamport.json: lamport/by-hand: 'comment' is a required property" in words(result.stderr)
    assert "type `sds-conformance vectors format`" in words(result.stderr)


def _only(monkeypatch: pytest.MonkeyPatch, group: str) -> None:
    """Let one group be computed alone, the others being those of the folder."""
    sds = VECTOR_SET.materials[0]
    monkeypatch.setitem(vars(sds), "computed", {group: sds.computed[group]})
    monkeypatch.setitem(vars(VECTOR_SET.materials[1]), "computed", {})


def test_a_wrong_expectation_is_found(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _only(monkeypatch, "t-req")
    edit(folder, "lamport", lambda data: data["tests"][0].update(outcomes=WRONG))
    assert lint(VECTOR_SET, folder) == []
    result = typed("vectors", "generate", "--check", "--out", folder)
    assert result.exit_code == 1
    assert f"sds/lamport.json: {FIRST}: outcomes: expected" in words(result.stderr)
    assert "vectors replace ID FRAGMENT" in words(result.stderr)


@pytest.mark.exhaustive
def test_the_reference_agrees_under_each_profile() -> None:
    """The hash of nothing cannot be asked for; transcripts are asked elsewhere, and are computed as a whole."""
    every = documents(VECTOR_SET, VECTORS, compute=False)
    asked = [document for document in every if not document.content["group"].startswith(("hash-", "transcripts"))]
    assert list(disagreements(VECTOR_SET, asked)) == []

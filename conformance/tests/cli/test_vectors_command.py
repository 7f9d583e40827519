"""``sds-conformance vectors`` as it is typed: what it prints, what it writes, its exit codes."""

from __future__ import annotations

import json
import shlex
import sys
from hashlib import sha256
from pathlib import Path

import pytest

from run_helpers import reference_command
from sds_conformance.protocols.sds.catalogue import CURRENT
from sds_conformance.vectors.folder import PROSE
from sds_conformance.vectors.lint import lint
from sds_reference import REVISIONS
from suite_terminal import too_wide, typed, words
from vector_folders import VECTOR_SET, VECTORS, copy_of_vectors, edit, files

pytestmark = pytest.mark.exhaustive

SMALL = ["--group", "lamport"]


def _of_the_current_revision(group: str) -> int:
    return sum(f["numberOfTests"] for f in files() if f["group"] == group and CURRENT in f["revisions"])


def test_1_a_mutant_is_reported_with_its_requirement_and_how_to_ask_again() -> None:
    mutant = reference_command("--mutant", "sets-clock-back-on-delivery")
    result = typed("vectors", "run", "--", *mutant)
    assert result.exit_code == 1
    for output in (
        "FAIL  SDS-DELIVER-02  8 vectors",
        "  Vector    lamport/deliver-smaller",
        "  Expected  local '1800000000000'",
        "wrong answer to",
        "ACCEPTABLE  AMB-01  13 vectors\n  Vector    response-groups/undecided-0",
        "  Seen      member False\n  Preferred member True",
    ):
        assert output in result.stdout
    again = next(line for line in result.stdout.splitlines() if "Next  " in line).split("Next")[1].strip()
    assert shlex.split(again)[-len(mutant) :] == mutant
    assert typed(*shlex.split(again)[1:]).exit_code == 1


def test_json_has_every_vector() -> None:
    mutant = reference_command("--mutant", "sets-clock-back-on-delivery")
    result = typed("vectors", "run", *SMALL, "--json", "--", *mutant)
    data = json.loads(result.stdout)
    assert (result.exit_code, data["exitCode"]) == (1, 1)
    assert data["implementation"]["name"] == "sds_reference mutant sets-clock-back-on-delivery"
    rows = {row["id"]: row for row in data["vectors"]}
    assert len(rows) == sum(data["counts"].values()) == _of_the_current_revision("lamport")
    row = {"id": "lamport/send-clock-equal", "group": "lamport", "result": "valid", "status": "pass"}
    assert rows["lamport/send-clock-equal"] == {**row, "comment": "In the same millisecond."}
    assert data["set"]["manifest"] == sha256((VECTORS / "manifest.json").read_bytes()).hexdigest()
    assert rows["lamport/deliver-smaller"]["requirements"] == ["SDS-DELIVER-01", "SDS-DELIVER-02"]


def test_4_nothing_could_be_asked() -> None:
    command = reference_command("--without", "message-codec")
    result = typed("vectors", "run", "--group", "wire-decoding", "--", *command)
    assert result.exit_code == 4
    assert "needs the capability message-codec" in result.stdout
    assert "has no verdict:" in result.stdout


def test_another_protocol_is_asked_in_its_own_language(tmp_path: Path) -> None:
    mutant = [sys.executable, "-m", "clearskies_reference", "--mutant", "deletion-wins"]
    result = typed("vectors", "run", "--revision", "clearskies-database", "--vectors", VECTORS, "--", *mutant)
    assert result.exit_code == 1
    assert "  Vector    conflicts/deleted-before-the-edit\n" in result.stdout
    again = next(line for line in result.stdout.splitlines() if line.startswith("  Next"))
    assert f"--group conflicts --revision clearskies-database --vectors {VECTORS} -- " in again
    wrong = typed("vectors", "run", "--revision", "clearskies-database", "--group", "lamport", "--", *mutant)
    assert wrong.exit_code == 2
    assert "no group of clearskies-database matches lamport" in wrong.stderr


def test_generate_writes_what_check_then_finds_current(tmp_path: Path) -> None:
    folder = copy_of_vectors(tmp_path)
    (folder / "sds" / "hash-sha256-be64.json").unlink()
    edit(folder, "t-req", lambda data: data["tests"].pop(0))
    result = typed("vectors", "generate", "--check", "--out", folder)
    assert result.exit_code == 1
    assert "sds/hash-sha256-be64.json is missing" in result.stderr
    assert "sds/t-req.json differs from the generated file" in result.stderr
    assert "vectors generate" in result.stderr
    assert typed("vectors", "generate", "--out", folder).exit_code == 0
    for path in VECTORS.glob("*/*.json"):
        assert (folder / path.relative_to(VECTORS)).read_bytes() == path.read_bytes()
    assert typed("vectors", "generate", "--check", "--out", folder).exit_code == 0


def test_lint_says_what_is_wrong(tmp_path: Path) -> None:
    folder = copy_of_vectors(tmp_path)
    assert typed("vectors", "lint", folder).exit_code == 0
    edit(folder, "hash-sha256-be64", lambda data: [test.update(flags=["Nowhere"]) for test in data["tests"]])
    result = typed("vectors", "lint", folder)
    assert result.exit_code == 1
    (once,) = (line for line in result.stderr.splitlines() if "Nowhere is not explained" in line)
    assert "/one-empty and " in once


def test_list_names_groups_and_vectors() -> None:
    result = typed("vectors", "list")
    assert too_wide(result.stdout) == []
    text, _ = result.stdout.split("\n\n")
    shown = {line.split()[0]: line.split()[2:] for line in text.splitlines()[2:]}
    assert set(shown) == {file["group"] for file in files()} | {"All"}
    assert shown["log-order"] == ["21", "21", "26"]
    assert shown["t-req"][2] == "·"
    totals = [str(sum(f["numberOfTests"] for f in files() if name in f["revisions"])) for name in REVISIONS]
    assert text.splitlines()[-1].split() == ["All", *totals]
    rows = json.loads(typed("vectors", "list", "--json").stdout)
    assert {row["group"] for row in rows} > {file["group"] for file in files()}
    for row in rows:
        data = json.loads((VECTORS / row["file"]).read_text("utf-8"))
        assert (data["shape"], data["revisions"]) == (row["shape"], row["revisions"])


def test_export_is_a_whole_folder_and_overwrites_nothing_unasked(tmp_path: Path) -> None:
    target = tmp_path / "out"
    assert typed("vectors", "export", target).exit_code == 0
    assert lint(VECTOR_SET, target) == []
    names = {path.relative_to(target).as_posix() for path in target.rglob("*") if path.is_file()}
    assert {"manifest.json", "released.json", *PROSE} <= names
    assert not any("consumers" in name for name in names)
    first = {name: (target / name).read_bytes() for name in names}
    assert typed("vectors", "export", target).exit_code == 2
    (target / "sds" / "old.json").write_text("{}", "utf-8")
    assert typed("vectors", "export", "--overwrite", target).exit_code == 0
    assert {name: (target / name).read_bytes() for name in first} == first
    assert (target / "sds" / "old.json").exists(), "no manifest names it"
    other = tmp_path / "other"
    other.mkdir()
    (other / "precious.txt").write_text("x", "utf-8")
    assert typed("vectors", "export", "--overwrite", other).exit_code == 2
    assert (other / "precious.txt").exists()


def bytes_of(folder: Path) -> dict[str, bytes]:
    """Everything in a folder of vectors but who consumes them."""
    paths = (path for path in folder.rglob("*") if path.is_file() and "consumers" not in path.parts)
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in paths}


def test_a_folder_of_something_else_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").touch()
    result = typed("vectors", "generate", "--out", tmp_path)
    assert result.exit_code == 2
    assert "has no CHANGELOG.md, and is not empty: name an empty or a new folder" in words(result.stderr)
    assert set(bytes_of(tmp_path)) == {"thesis.tex"}

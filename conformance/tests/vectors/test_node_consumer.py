"""The golden vectors in another language: a consumer that has only the files, and finds each fault in them."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from run_helpers import REPOSITORY

pytestmark = pytest.mark.exhaustive

VECTORS = REPOSITORY / "vectors"
CONSUMER = VECTORS / "consumers" / "node"
OPEN = re.compile(r"^  not confirmed: ([^:]+): ", re.MULTILINE)
PLACES = ("clearskies", "sds")
NOT_COMPUTED = {"transcript"}
"""Shapes that the consumer does not compute: of these it says what holds together."""


@pytest.fixture(scope="module")
def node() -> str:
    found = shutil.which("node")
    if found is None:
        pytest.skip("node is not installed: install Node 20 or newer, then `npm ci` in vectors/consumers/node")
    if not (CONSUMER / "node_modules").is_dir():
        pytest.skip("the consumer's libraries are not installed: type `npm ci --prefix vectors/consumers/node`")
    return found


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """A copy of the vectors, without the consumer."""
    return Path(shutil.copytree(VECTORS, tmp_path / "vectors", ignore=shutil.ignore_patterns("consumers")))


def check(node: str, folder: Path) -> subprocess.CompletedProcess[str]:
    command = [node, str(CONSUMER / "check.mjs"), str(folder)]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)


def failures(done: subprocess.CompletedProcess[str]) -> list[str]:
    return [line for line in done.stdout.splitlines() if line.startswith("FAIL ")]


def documents(folder: Path) -> dict[str, Any]:
    return {
        path.relative_to(folder).as_posix(): json.loads(path.read_bytes())
        for place in PLACES
        for path in sorted((folder / place).glob("*.json"))
    }


def rewrite(folder: Path, change: Callable[[dict[str, Any]], object]) -> None:
    """Change every document, and set right all that is computed from it: only the change itself is to be seen."""
    manifest = json.loads((folder / "manifest.json").read_bytes())
    for name, document in documents(folder).items():
        change(document)
        compact = json.dumps(document["tests"], sort_keys=True, separators=(",", ":"))
        document["digest"] = sha256(compact.encode()).hexdigest()
        content = (json.dumps(document, indent=2) + "\n").encode()
        (folder / name).write_bytes(content)
        manifest["files"][name] = sha256(content).hexdigest()
    (folder / "manifest.json").write_text(json.dumps(manifest, indent=2) + "\n")


# ---- As they are -----------------------------------------------------------------------------------------------------


def test_every_vector_is_confirmed_but_for_what_no_library_computes(node: str) -> None:
    done = check(node, VECTORS)
    assert failures(done) == []
    assert (done.returncode, done.stderr) == (0, "")
    still_open = OPEN.findall(done.stdout)
    assert len(still_open) < 10
    assert all(test_id.startswith("bloom-") for test_id in still_open)
    shapes = {document["shape"] for document in documents(VECTORS).values()}
    computed = sum(len(d["tests"]) for d in documents(VECTORS).values() if d["shape"] not in NOT_COMPUTED)
    assert f", {computed - len(still_open)} tests confirmed, 0 failures" in done.stdout
    assert len(shapes - NOT_COMPUTED) >= 20


# ---- Mutations -------------------------------------------------------------------------------------------------------


def another(value: Any) -> Any:
    """Another value of the same kind."""
    match value:
        case bool():
            return not value
        case int():
            return value + 1_000_000_000
        case str() if re.fullmatch(r"[0-9]+", value):
            return str(int(value) + 1)
        case str() if re.fullmatch(r"[0-9a-f]+", value):
            return value[:-1] + ("0" if value[-1] != "0" else "1")
        case str():
            return f"{value}!"
        case [first, *rest]:
            return [another(first), *rest]
        case []:
            return ["stranger"]
        case dict() if not value:
            return {"stranger": "stranger"}
        case dict():
            key = max(value, key=lambda name: value[name] not in ([], {}))
            return {**value, key: another(value[key])}
    raise AssertionError(value)


def falsified(outcome: dict[str, Any]) -> dict[str, Any]:
    """The outcome with each of its values changed."""
    if outcome.get("rejected") and set(outcome) <= {"rejected", "position"}:
        return {"never": True}
    if outcome.get("accepted"):
        return {"never": True}
    kept = ("position", "warned", "except")
    return {key: value if key in kept else another(value) for key, value in _compared(outcome).items()}


def _compared(outcome: dict[str, Any]) -> dict[str, Any]:
    """The outcome without those fields of a message that it leaves open."""
    if "except" not in outcome:
        return outcome
    said = {key: value for key, value in outcome["message"].items() if key not in outcome["except"]}
    return {**outcome, "message": said}


def test_a_changed_outcome_of_any_vector_is_seen(node: str, copy: Path) -> None:
    def change(document: dict[str, Any]) -> None:
        for test in document["tests"]:
            if "Undecided" in test["flags"]:
                undecided.add(test["id"])  # all that there is to answer is legal
                continue
            for holder in (test, *test.get("steps", ())):
                if "outcomes" in holder:
                    holder["outcomes"] = [falsified(outcome) for outcome in holder["outcomes"]]

    undecided: set[str] = set()
    before = check(node, copy)
    rewrite(copy, change)
    done = check(node, copy)
    assert done.returncode == 1
    seen = {line.split(": ")[1] for line in failures(done)}
    known = {t["id"] for d in documents(copy).values() if d["shape"] not in NOT_COMPUTED for t in d["tests"]}
    assert known - seen == set(OPEN.findall(before.stdout)) | undecided


# ---- Nothing to read -------------------------------------------------------------------------------------------------


def test_without_files_it_says_what_is_missing(node: str, copy: Path, tmp_path: Path) -> None:
    nothing = check(node, tmp_path)
    assert (nothing.returncode, nothing.stdout) == (2, "")
    assert nothing.stderr.startswith("manifest.json cannot be read: ")
    (copy / "sds" / "lamport.json").unlink()
    gone = check(node, copy)
    assert gone.returncode == 2
    assert gone.stderr.startswith("sds/lamport.json cannot be read: ")
    (copy / "manifest.json").write_text("{")
    broken = check(node, copy)
    assert broken.returncode == 2
    assert broken.stderr.startswith("manifest.json is not JSON: ")

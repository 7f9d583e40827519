"""The golden vectors of the repository: current, in order, the same everywhere, and about what they should be about."""

from __future__ import annotations

import os
import re
import subprocess
import sys

import pytest
from jsonschema import Draft202012Validator

from sds_conformance.protocols.sds.catalogue import load_catalogue
from sds_conformance.vectors.folder import MANIFEST, default_folder, read_json
from sds_conformance.vectors.lint import lint
from sds_conformance.vectors.schemas import schema
from vector_folders import VECTOR_SET, VECTORS, every_test

DECIDED = ("MSG", "CONFLICT", "ACK", "R-TREQ", "R-TRESP", "R-GROUP")
"""The sections whose requirements an input and an outcome decide."""


def test_they_are_in_order() -> None:
    assert lint(VECTOR_SET, VECTORS) == []
    # Installed, the suite has a copy of its own.
    assert (default_folder() / MANIFEST).read_bytes() == (VECTORS / MANIFEST).read_bytes()


@pytest.mark.exhaustive
@pytest.mark.parametrize("seed", ["0", "4711"])
def test_the_same_bytes_are_generated_whatever_the_process(seed: str) -> None:
    variables = {**os.environ, "PYTHONHASHSEED": seed, "LC_ALL": "C", "TZ": "Asia/Kathmandu"}
    command = [sys.executable, "-m", "sds_conformance", "vectors", "generate", "--check", "--out", str(VECTORS)]
    done = subprocess.run(command, env=variables, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("shape", VECTOR_SET.shapes)
def test_every_schema_is_one_and_strict(shape: str) -> None:
    data = read_json(VECTORS / "schema" / f"{shape}.schema.json")
    assert data == schema(shape, VECTOR_SET.shapes[shape])
    Draft202012Validator.check_schema(data)
    open_objects = [
        part for part in _objects(data) if "properties" in part and part.get("additionalProperties") is not False
    ]
    assert open_objects == []


def _objects(value: object) -> list[dict[str, object]]:
    inner = list(value.values()) if isinstance(value, dict) else value if isinstance(value, list) else []
    return [*([value] if isinstance(value, dict) else []), *(part for item in inner for part in _objects(item))]


@pytest.mark.parametrize("texts", ["sections that functions decide", "the proposal"])
def test_few_testable_requirements_have_no_vector(texts: str) -> None:
    named = {requirement for test in every_test() for requirement in test["requirements"]}
    testable = [r for r in load_catalogue().requirements.values() if not r.untestable and not r.experimental]
    decided = {
        r.id for r in testable if (r.section in DECIDED if "sections" in texts else r.is_stated_in("forum-2024"))
    }
    assert len(decided - named) < len(decided) / 10, "add vectors"


def test_the_readme_lists_the_mistakes_of_each_group() -> None:
    """By flag, with the groups of all profiles in one row."""
    text = (VECTORS / "README.md").read_text("utf-8")
    text = text.partition("## Mistakes that the vectors catch")[2].partition("\n## ")[0]
    listed = {
        name: set(flags.split(", ")) for name, flags in re.findall(r"^\| `(.*?)` \| (.*) \|$", text, re.MULTILINE)
    }
    wanted: dict[str, set[str]] = {}
    for path in (path for material in VECTOR_SET.materials for path in (VECTORS / material.folder).glob("*.json")):
        data = read_json(path)
        name = re.sub(r"^(bloom-build|bloom-query|hash|signatures|signing)-.*", r"\1-<profile>", data["group"])
        wanted.setdefault(name, set()).update(data["notes"])
    assert listed == wanted

"""The golden vectors of the repository: current, in order, the same everywhere, and about what they should be about."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from sds_conformance.protocols.sds.catalogue import CURRENT, load_catalogue
from sds_conformance.protocols.sds.vectors.material import MATERIAL
from sds_conformance.protocols.sds.vectors.register import EVERY, SDS
from sds_conformance.vectors.canonical import format_document
from sds_conformance.vectors.documents import computed_documents
from sds_conformance.vectors.folder import MANIFEST, default_folder, read_json
from sds_conformance.vectors.lint import lint
from sds_conformance.vectors.model import ACCEPTABLE, INVALID, VALID, VectorSet, result_of
from sds_conformance.vectors.schemas import schema
from sds_reference import HASH_PROFILES, PROFILES, REVISIONS
from sds_reference.errors import MalformedMessageError
from vector_folders import VECTOR_SET, VECTORS, every_test, files

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


def test_every_revision_has_every_group_that_it_differs_in() -> None:
    for name, entry in MATERIAL.computed.items():
        assert {r for file in files() if file["group"] == name for r in file["revisions"]} == set(entry.builders)
    assert set(REVISIONS) <= {revision for file in files() for revision in file["revisions"]}
    apart = {
        file["group"] for file in files() if not set(SDS) <= set(file["revisions"]) and CURRENT in file["revisions"]
    }
    assert apart == {"repair-buffers", "transcripts"}
    of_the_proposal = {file["group"] for file in files() if file["revisions"] == ["forum-2024"]}
    assert of_the_proposal == {
        "wire-decoding",
        "wire-encoding",
        "message-kinds",
        "lamport",
        "log-order",
        "causal-history",
        "ack-reviews",
        "transcripts",
    }
    together = {file["group"] for file in files() if set(file["revisions"]) == set(EVERY)}
    filters = {f"bloom-{what}-{profile}" for what in ("build", "query") for profile in PROFILES}
    assert together == {"log-order", "causal-history", "ack-reviews", *filters}


def test_the_readme_lists_the_mistakes_of_each_group() -> None:
    """By flag, with the groups of all profiles in one row."""
    text = (VECTORS / "README.md").read_text("utf-8").partition("## Mistakes that they catch")[2].partition("\n## ")[0]
    listed = {
        name: set(flags.split(", ")) for name, flags in re.findall(r"^\| `(.*?)` \| (.*) \|$", text, re.MULTILINE)
    }
    wanted: dict[str, set[str]] = {}
    for path in (path for material in VECTOR_SET.materials for path in (VECTORS / material.folder).glob("*.json")):
        data = read_json(path)
        name = re.sub(r"^(bloom-build|bloom-query|hash|signatures|signing)-.*", r"\1-<profile>", data["group"])
        wanted.setdefault(name, set()).update(data["notes"])
    assert listed == wanted


def test_there_is_a_group_for_every_filter_and_every_hash() -> None:
    names = {file["group"] for file in files()}
    for profile in PROFILES:
        assert {f"bloom-build-{profile}", f"bloom-query-{profile}"} <= names
    assert {f"hash-{profile}" for profile in HASH_PROFILES} <= names


@pytest.mark.parametrize("kind", ["folder", "revision", "group", "shape"])
def test_no_two_protocols_have_files_schemas_or_ids_of_one_name(kind: str) -> None:
    first, second, *_ = VECTOR_SET.materials
    changes: dict[str, Any] = {
        "folder": {"folder": first.folder},
        "revision": {"revisions": first.revisions},
        "group": {"computed": {**second.computed, "t-req": first.computed["t-req"]}},
        "shape": {"shapes": {**second.shapes, "lamport": first.shapes["lamport"]}},
    }
    with pytest.raises(ValueError, match=f"two protocols have a {kind} of vectors called"):
        VectorSet((first, replace(second, **changes[kind])))


def test_no_test_tells_the_time_it_was_made() -> None:
    texts = [path.read_text("utf-8") for path in (VECTORS / "sds").glob("*.json")]
    assert all(
        '"generated' not in text.replace('"generatorVersion"', "") and "2026-0" not in _bare(text) for text in texts
    )


def _bare(text: str) -> str:
    for revision in REVISIONS:
        text = text.replace(revision, "")
    return text


def test_the_wire_vectors_are_what_the_model_reads() -> None:
    seen = {True: 0, False: 0}
    decoding = [file for file in files() if file["shape"] == "decode"]
    assert len(decoding) == 2
    for revision, test in ((file["revisions"][0], test) for file in decoding for test in file["tests"]):
        try:
            REVISIONS[revision].wire.decode(bytes.fromhex(test["wire"]))
            refused = False
        except MalformedMessageError:
            refused = True
        seen[refused] += 1
        allowed = {bool(outcome.get("rejected")) for outcome in test["outcomes"]}
        assert refused in allowed, test["id"]
    assert min(seen.values()) > 20


# ---- form ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("value", [1.5, None, [None], {"a": 0.1}])
def test_what_languages_print_differently_has_no_place(value: object) -> None:
    with pytest.raises(ValueError, match="no place"):
        format_document(value)


@pytest.mark.parametrize(
    ("outcomes", "result"),
    [
        ([{"kind": "sync"}], VALID),
        ([{"rejected": True}], INVALID),
        ([{"kind": "sync"}, {"rejected": True}], ACCEPTABLE),
    ],
)
def test_the_result_follows_from_the_outcomes(outcomes: list[dict[str, object]], result: str) -> None:
    assert result_of(outcomes) == result


@pytest.mark.exhaustive
def test_what_is_computed_stands_in_the_folder() -> None:
    computed = {
        document.path: document for material in VECTOR_SET.materials for document in computed_documents(material)
    }
    for path, document in computed.items():
        there = {test["id"] for test in read_json(VECTORS / path)["tests"]}
        assert document.computed <= there
    assert {"sds/hash-sha256-be64.json", "sds/transcripts.json", "clearskies/signing-rsa-pkcs1-sha256.json"} <= set(
        computed
    )


def test_the_files_have_no_key_twice(tmp_path: Path) -> None:
    (tmp_path / "x.json").write_text('{"a": 1, "a": 2}', "utf-8")
    with pytest.raises(Exception, match="duplicate key"):
        read_json(tmp_path / "x.json")
    assert json.loads((VECTORS / "manifest.json").read_text("utf-8"))["version"]

"""Adds written vectors to a file, or replaces them.

A JSON fragment becomes a vector: it gets an ID and derived fields, and is checked by its schema, by ``lint`` and by the
reference model. Only then are the file, the manifest and the changelog written.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from sds_harness.declaration import printable
from sds_harness.suggestions import did_you_mean

from .agreement import disagreements
from .changelog import CORRECTED, DISAGREES, add_paragraphs, begin_version, changelog_versions
from .documents import Document, complete_document, computed_documents, documents
from .folder import VectorsError, load_manifest, read_json, refuse_links
from .generation import wanted_files, write
from .ledger import content_digest, read_ledger
from .lint import faults
from .model import Material, Vector, VectorSet


@dataclass(frozen=True)
class Edit:
    """A file with a new or changed vector."""

    document: Document
    test: Vector
    is_new: bool
    """Does the vector have a new ID, so that it replaces no other vector?"""
    paragraphs: tuple[str, ...] = ()
    """Paragraphs for the changelog."""


def add_vector(vector_set: VectorSet, folder: Path, name: str, fragment: Path) -> Edit:
    """Add the vector of a fragment to the end of the file ``name``. Raises VectorsError."""
    material, path = _file_called(vector_set, folder, name)
    data, new_test = read_json(folder / path), _read_fragment(fragment)
    used = {
        test["id"] for document in documents(vector_set, folder, compute=False) for test in document.content["tests"]
    }
    used |= read_ledger(folder).ids | set(load_manifest(vector_set, folder).retired)
    _, mark, revision = data["tests"][0]["id"].partition("@")
    test_id = _id(data["group"], new_test.get("id"), mark + revision, used)
    edit = _make_edit(material, path, data, [*data["tests"], {**new_test, "id": test_id}], test_id, fragment)
    return replace(edit, is_new=True)


def replace_vector(vector_set: VectorSet, folder: Path, test_id: str, fragment: Path, corrected: str) -> Edit:
    """Replace a vector by the vector in a fragment. Raises VectorsError.

    If the vector is released and its meaning changes, ``corrected`` must say what was wrong.
    """
    found = [
        d for d in documents(vector_set, folder, compute=False) if any(t["id"] == test_id for t in d.content["tests"])
    ]
    if not found:
        group = printable(test_id.partition("/")[0], 100)
        every = [test["id"] for d in documents(vector_set, folder, compute=False) for test in d.content["tests"]]
        raise VectorsError(
            f"no vector {printable(test_id)}: `sds-conformance vectors list --group {group}` lists the IDs."
            f"{did_you_mean(test_id, every)}"
        )
    path, data = found[0].path, found[0].content
    material = vector_set.material_of(data["revisions"][0])
    new_test = _read_fragment(fragment)
    if new_test.get("id", test_id) != test_id:
        given = printable(str(new_test["id"]))
        raise VectorsError(f"{fragment}: id: it must be {test_id}, the vector to replace, and not {given}")
    _refuse_computed(material, data["group"], test_id)
    tests = [{**new_test, "id": test_id} if test["id"] == test_id else test for test in data["tests"]]
    edit = _make_edit(material, path, data, tests, test_id, fragment)
    ledger = read_ledger(folder)
    was = {tests[test_id] for tests in ledger.current_tests.values() if test_id in tests}
    if was <= {content_digest(edit.test)}:
        return edit
    if not corrected:
        raise VectorsError(
            f"{path}: {test_id} is released, so its inputs and outcomes are fixed: add another vector with "
            "`sds-conformance vectors add`, or describe the error with --corrected"
        )
    return replace(edit, paragraphs=(f"{CORRECTED}: `{test_id}`: {corrected}",))


def hold_to_reference(vector_set: VectorSet, edit: Edit, against: str) -> Edit:
    """Return the edit if the reference model agrees, or if ``against`` gives the reason why it does not. Raises
    VectorsError.
    """
    alone = replace(edit.document, content={**edit.document.content, "tests": [edit.test]})
    found = [sentence for _, sentence in disagreements(vector_set, [alone])]
    if found and not against:
        raise VectorsError(
            f"{found[0]}: correct the vector, or explain the error of the model with --against-reference"
        )
    if against and not found:
        raise VectorsError(f"the reference model agrees with {edit.test['id']}: leave out --against-reference")
    paragraphs = (f"{DISAGREES}: `{edit.test['id']}`: {against}",) if against else ()
    return replace(edit, paragraphs=(*edit.paragraphs, *paragraphs))


def save(vector_set: VectorSet, folder: Path, edit: Edit) -> str:
    """Write an edit, and return its version: the newest version in the changelog or, if that is released, a new
    version. Raises VectorsError.
    """
    every = [
        edit.document if document.path == edit.document.path else document
        for document in documents(vector_set, folder, compute=False)
    ]
    refuse_links(vector_set, folder, [document.path for document in every])
    version = changelog_versions(folder)[0][0]
    if read_ledger(folder).release(version) is not None:
        first, middle, last = map(int, version.split("."))
        version = f"{first}.{middle + 1}.0" if edit.is_new else f"{first}.{middle}.{last + 1}"
        begin_version(folder, version)
    paragraphs = (f"Added: `{edit.test['id']}`.",) if edit.is_new else ()
    add_paragraphs(folder, [*paragraphs, *edit.paragraphs])
    write(folder, wanted_files(vector_set, folder, every))
    return version


def _file_called(vector_set: VectorSet, folder: Path, name: str) -> tuple[Material, str]:
    """Find a file by its path in the folder, or by its name with or without its ending."""
    known = {
        f"{material.folder}/{path.name}": material
        for material in vector_set.materials
        for path in sorted((folder / material.folder).glob("*.json"))
    }
    for path, material in known.items():
        if name.removesuffix(".json") in (path.removesuffix(".json"), Path(path).stem):
            return material, path
    meant = did_you_mean(name, [*known, *(Path(path).stem for path in known)])
    raise VectorsError(
        f"no file of vectors {printable(name)}: `sds-conformance vectors list --files` lists all files.{meant}"
    )


def _read_fragment(path: Path) -> dict[str, Any]:
    data = read_json(path)
    if not isinstance(data, dict):
        raise VectorsError(
            f"{path}: the file must be one vector: an object with comment, flags, requirements and other fields"
        )
    return data


def _id(group: str, wanted_id: object, suffix: str, used: Iterable[str]) -> str:
    """Return the ID of a vector: ``wanted_id``, which may omit the group, or else the next number."""
    taken = set(used)
    if wanted_id is None:
        numbers = [int(found[1]) for each in taken if (found := re.match(rf"{re.escape(group)}/([0-9]+)(@|$)", each))]
        return f"{group}/{max(numbers, default=0) + 1}{suffix}"
    test_id = f"{group}/{str(wanted_id).removeprefix(f'{group}/').removesuffix(suffix)}{suffix}"
    if test_id in taken:
        raise VectorsError(
            f"id: {printable(test_id)} is or was in use: give another ID, or omit the ID to get the next number"
        )
    return test_id


def _make_edit(
    material: Material, path: str, data: dict[str, Any], tests: list[Vector], test_id: str, fragment: Path
) -> Edit:
    """Return the edit that gives a file these tests. Raises VectorsError with the fragment, the vector and the wrong
    field.
    """
    try:
        document = complete_document(material, Document(path, {**data, "tests": tests}))
        wrong = next(faults(material, Path(path).stem, document.content), None)
    except VectorsError as error:
        wrong = str(error)
    if wrong is not None:
        shape = data["shape"]
        raise VectorsError(f"{fragment}: {wrong}: correct the fragment (schema/{shape}.schema.json has its fields)")
    test = next(test for test in document.content["tests"] if test["id"] == test_id)
    return Edit(document, test, is_new=False)


def _refuse_computed(material: Material, group: str, test_id: str) -> None:
    entry = material.computed.get(group)
    if entry is None:
        return
    alone = replace(material, computed={group: entry})
    if any(test_id in document.computed for document in computed_documents(alone)):
        module = next(iter(entry.builders.values())).__module__
        raise VectorsError(
            f"{test_id} is computed by {module}: change this module, and type `sds-conformance vectors generate`"
        )

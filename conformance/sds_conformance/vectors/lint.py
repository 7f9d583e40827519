"""Checks a folder of vectors by the rules of its README."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

from sds_harness.declaration import printable

from .canonical import digest, file_digest, format_document
from .folder import (
    MANIFEST,
    PROSE,
    WINDOWS_LINE_ENDS,
    VectorManifest,
    VectorsError,
    files_in,
    has_windows_line_ends,
    load_manifest,
    read_bytes,
    read_json,
    violations,
)
from .generation import changelog_gap
from .ledger import find_breaches, first_of
from .model import GENERATOR_VERSION, Material, VectorSet, result_of
from .schemas import schema


def lint(vector_set: VectorSet, folder: Path) -> list[str]:
    """Return every error in the vectors in ``folder``, one sentence each."""
    try:
        manifest = load_manifest(vector_set, folder)
    except VectorsError as error:
        return [str(error)]
    if manifest.generator_version != GENERATOR_VERSION:
        return [f"{MANIFEST}: generatorVersion is not {GENERATOR_VERSION}, the version that this suite reads"]
    if windows := _with_windows_line_ends(vector_set, folder, manifest):
        more = f" and {len(windows) - 1} more files" if len(windows) > 1 else ""
        return [f"{windows[0]}{more}: {WINDOWS_LINE_ENDS}"]  # CRLF line ends alone can cause all other errors
    out = list(_files(vector_set, folder, manifest))
    out += [f"{name} is missing" for name in PROSE if not (folder / name).is_file()]
    ids: Counter[str] = Counter()
    documents = []
    paths = [(each, path) for each in vector_set.materials for path in sorted((folder / each.folder).glob("*.json"))]
    for material, path in paths:
        name = f"{material.folder}/{printable(path.name)}"
        try:
            data = read_json(path)
        except VectorsError as error:
            out.append(str(error))
            continue
        found = violations(material, data)
        if found:
            out += [f"{name}: {sentence}" for sentence in found]
            continue
        if read_bytes(path) != format_document(data):
            out.append(f"{name}: not in canonical form: {FORMAT}")
        out += [f"{name}: {sentence}" for sentence in faults(material, path.stem, data)]
        ids.update(test["id"] for test in data["tests"])
        documents.append(data)
    out += [f"two vectors are called {test_id}" for test_id, times in ids.items() if times > 1]
    out += [f"{i} is in use, although it is retired: IDs are never used again" for i in manifest.retired if i in ids]
    if len(documents) == len(paths):  # otherwise the vectors of the unread files would seem missing
        out += find_breaches(folder, manifest, documents)
    gap = changelog_gap(folder, read_bytes(folder / MANIFEST))
    return list(dict.fromkeys([*out, gap] if gap else out))


def _with_windows_line_ends(vector_set: VectorSet, folder: Path, manifest: VectorManifest) -> list[str]:
    out = []
    for name, path in files_in(vector_set, folder).items():
        with suppress(VectorsError):  # `_files` reports this error
            if has_windows_line_ends(read_bytes(path), manifest.files.get(name, "")):
                out.append(name)
    return out


def _files(vector_set: VectorSet, folder: Path, manifest: VectorManifest) -> Iterator[str]:
    """Check that exactly the files of the manifest exist."""
    there = files_in(vector_set, folder)
    for name in sorted(set(there) - set(manifest.files)):
        yield f"{printable(name)} is not in the manifest"
    for name, entry in manifest.files.items():
        if name not in there:
            yield f"{name} is in the manifest, and is missing"
            continue
        try:
            if file_digest(read_bytes(there[name])) != entry:
                yield f"{name}: its SHA-256 differs from that in the manifest"
        except VectorsError as error:
            yield str(error)
    for name, shape in vector_set.shapes.items():
        path = folder / "schema" / f"{name}.schema.json"
        if f"schema/{path.name}" not in there:
            yield f"schema/{path.name} is missing"
            continue
        with suppress(VectorsError):  # the loop above reports this error
            if read_bytes(path) != format_document(schema(name, shape)):
                yield f"schema/{path.name} is not the schema of version {GENERATOR_VERSION}"


FORMAT = "type `sds-conformance vectors format`"


def faults(material: Material, stem: str, data: dict[str, Any]) -> Iterator[str]:
    """Yield the errors in a file that a schema cannot find. ``stem`` is the name of the file without the suffix."""
    if stem != data["group"] and not stem.startswith(f"{data['group']}-"):
        yield f"its name does not begin with its group, {data['group']}"
    if data["numberOfTests"] != len(data["tests"]):
        yield f"numberOfTests is {data['numberOfTests']}, but the file has {len(data['tests'])} tests: {FORMAT}"
    if data["digest"] != digest(data["tests"]):
        yield f"its digest does not match its tests: {FORMAT}"
    if data["generatorVersion"] != GENERATOR_VERSION:
        yield f"generatorVersion is not {GENERATOR_VERSION}"
    unknown = [name for name in data["revisions"] if name not in material.revisions]
    if unknown:
        yield f"unknown revision {', '.join(unknown)}"
    used = {flag for test in data["tests"] for flag in test["flags"]}
    for flag in sorted(set(data["notes"]) - used):
        yield f"notes: the flag {flag} is explained, but no vector has this flag: {FORMAT}"
    known = {*material.requirements, *material.positions}
    for flag, note in data["notes"].items():
        for name in note["ids"]:
            if name not in known:
                yield f"notes: the note {flag} names {name}, which does not exist"
    wrong: dict[str, list[str]] = {}
    for test in data["tests"]:
        for sentence in _test(material, data, test):
            wrong.setdefault(sentence, []).append(test["id"])
    yield from (f"{first_of(ids)}: {sentence}" for sentence, ids in wrong.items())


def _test(material: Material, data: dict[str, Any], test: dict[str, Any]) -> Iterator[str]:
    if not test["id"].startswith(f"{data['group']}/"):
        yield f"id: its ID does not begin with {data['group']}/"
    for flag in test["flags"]:
        if flag not in data["notes"]:
            named = ", ".join(data["notes"])
            yield f"flags: the flag {flag} is not explained: use one of {named}, or explain it in the notes of the file"
    requirements = material.requirements
    for name in test["requirements"]:
        if name not in requirements:
            yield f"requirements: requirement {name} does not exist: `sds-conformance requirements` lists them"
        elif not any(requirements[name].is_stated_in(revision) for revision in data["revisions"]):
            yield f"requirements: {name} is not stated in {', '.join(data['revisions'])}"
    known = [requirements[name] for name in test["requirements"] if name in requirements]
    for revision in data["revisions"] if known else ():
        if revision in material.revisions and not any(requirement.is_stated_in(revision) for requirement in known):
            yield f"requirements: the vector names no requirement of {revision}"
    parts = [test] if "outcomes" in test else test["steps"]
    for outcome in (outcome for part in parts for outcome in part["outcomes"]):
        position = outcome.get("position")
        if position is not None and position not in material.positions:
            yield f"outcomes: position {position} does not exist"
    if test["result"] != (wanted := result_of(test)):
        yield f"result: its result is {test['result']}, but its outcomes require {wanted}: {FORMAT}"
    if test.get("warned", False) != material.soft(test["requirements"]):
        yield f"warned: the field must be true if, and only if, no requirement makes a wrong answer a failure: {FORMAT}"

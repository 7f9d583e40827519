"""The files of vectors as documents: computed vectors, written vectors, and the manifest of all files.

A vector is computed if a builder of its group returns a vector with its ID. Every other vector is written by hand, and
its file is its only source. A file can contain both kinds: computed vectors are in the order of the builder, and each
written vector stays behind the vector that precedes it in the file. Derived data such as results, counts and digests
are filled in for both kinds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from sds_harness.declaration import printable

from .canonical import digest, file_digest, format_document
from .folder import MANIFEST, VectorsError, read_json, violations
from .model import GENERATOR_VERSION, VALID, Group, Material, Vector, VectorSet, result_of
from .schemas import schema, schema_path

_FIRST_FIELDS = ("id", "comment", "result", "flags", "requirements", "warned")
"""The first fields of every vector."""
_LAST = ("outcomes", "steps")


@dataclass(frozen=True)
class Document:
    """One file of vectors."""

    path: str
    """Path, relative to the folder of vectors."""
    content: dict[str, Any]
    computed: frozenset[str] = frozenset()
    """The IDs of the computed vectors."""

    @property
    def written_vectors(self) -> list[Vector]:
        """The vectors that are written by hand, so that the file is their only source."""
        return [test for test in self.content["tests"] if test["id"] not in self.computed]


# ---- Computed --------------------------------------------------------------------------------------------------------


def computed_documents(material: Material, computed: Callable[[], None] = lambda: None) -> Iterator[Document]:
    """Yield the files of a protocol with computed vectors, without their written vectors, in the order of the groups.

    Vectors that several revisions share are in one file that lists the revisions. Other vectors are in a file for each
    revision, and their IDs end in the name of the revision. ``computed`` is called when a builder has returned.
    """
    for entry in material.computed.values():
        shared: dict[str, list[str]] = {}
        kept: dict[str, Vector] = {}
        for name, revision in material.revisions.items():
            for vector in entry.builders[name](revision) if name in entry.builders else []:
                key = digest(vector)
                shared.setdefault(key, []).append(name)
                kept[key] = vector
            computed()
        parts: dict[tuple[str, ...], list[Vector]] = {}
        for key, names in shared.items():
            parts.setdefault(tuple(names), []).append(kept[key])
        # The file without a suffix is for the largest set of revisions, which includes the current one.
        unmarked = max(parts, key=lambda names: (material.current in names, len(names)), default=())
        for revisions, vectors in parts.items():
            mark = "" if revisions == unmarked else material.together.get(revisions, "-and-".join(revisions))
            yield _make_document(material, entry, revisions, mark, vectors)


def _make_document(
    material: Material, entry: Group, revisions: tuple[str, ...], mark: str, vectors: list[Vector]
) -> Document:
    suffix = f"@{mark}" if mark else ""
    tests = [{**vector, "id": f"{entry.name}/{vector['id']}{suffix}"} for vector in vectors]
    notes = {
        flag: {"description": note.description, "ids": material.select_stated(note.ids, revisions)}
        for flag, note in entry.notes[revisions[0]].items()
    }
    content = {
        "group": entry.name,
        "shape": entry.shape,
        "title": entry.title,
        "revisions": list(revisions),
        "notes": notes,
        "tests": tests,
    }
    name = f"{entry.name}-{mark}" if mark else entry.name
    return Document(f"{material.folder}/{name}.json", content, frozenset(test["id"] for test in tests))


def _with_written(computed: Document, there: Any) -> Document:
    """Add the written vectors of the existing file (``there``) to its computed vectors."""
    if not isinstance(there, dict) or not isinstance(there.get("tests"), list):
        raise VectorsError(f"{computed.path}: it has no list of tests: delete the file, and generate it again")
    tests: list[Any] = list(computed.content["tests"])
    before: Any = None
    for test in there["tests"]:
        if _id(test) not in computed.computed:
            tests.insert(next((n for n, other in enumerate(tests, 1) if _id(other) == before), 0), test)
        before = _id(test)
    notes = computed.content["notes"]
    if len(tests) > len(computed.computed) and isinstance(there.get("notes"), dict):
        notes = {**there["notes"], **notes}
    return replace(computed, content={**computed.content, "notes": notes, "tests": tests})


def _id(test: Any) -> Any:
    return test.get("id") if isinstance(test, dict) else None


# ---- Completed -------------------------------------------------------------------------------------------------------


def complete_document(material: Material, document: Document) -> Document:
    """Return a document in canonical order, with all derived fields.

    Raises VectorsError with file, vector and field if a written vector violates its schema.
    """
    data = _draft_document(material, document)
    if not document.computed or any(_id(test) not in document.computed for test in data["tests"]):
        problem = next(iter(violations(material, data)), None)
        if problem is not None:
            raise VectorsError(f"{printable(document.path)}: {problem}")
    shape = data["shape"]
    tests = [_complete_vector(material, test) for test in data["tests"]]
    used = {flag for test in tests for flag in test["flags"]}
    content = {
        "$schema": schema_path(shape),
        "group": data["group"],
        "shape": shape,
        "title": data["title"],
        "revisions": data["revisions"],
        "generatorVersion": GENERATOR_VERSION,
        "numberOfTests": len(tests),
        "digest": digest(tests),
        "notes": {flag: note for flag, note in data["notes"].items() if flag in used},
        **_head(material, data),
        "tests": tests,
    }
    return replace(document, content=content)


def _draft_document(material: Material, document: Document) -> dict[str, Any]:
    """Return a document with placeholders for derived fields, so that the schema can validate the other fields."""
    data = document.content
    if not isinstance(data, dict) or not isinstance(data.get("tests"), list):
        raise VectorsError(f"{printable(document.path)}: the file must be an object with a list of tests")
    tests = [
        {**{name: value for name, value in test.items() if name != "warned"}, "result": VALID}
        if isinstance(test, dict)
        else test
        for test in data["tests"]
    ]
    return {
        **data,
        "$schema": schema_path(str(data.get("shape"))),
        "generatorVersion": GENERATOR_VERSION,
        "numberOfTests": len(tests),
        "digest": "0" * 64,
        **_head(material, data),
        "tests": tests,
    }


def _head(material: Material, data: dict[str, Any]) -> dict[str, Any]:
    """Return the fields of a file that depend on its shape and first revision; empty if the shape or the revision is
    unknown.
    """
    shape, revisions = data.get("shape"), data.get("revisions")
    first = revisions[0] if isinstance(revisions, list) and revisions else None
    if not isinstance(shape, str) or shape not in material.shapes or first not in list(material.revisions):
        return {}
    return material.shapes[shape].head(first)


def _complete_vector(material: Material, test: Vector) -> Vector:
    """Return a vector in canonical order, with its result, and with ``warned`` if a wrong answer is only a warning."""
    out = {**test, "result": result_of(test)}
    if material.soft(test["requirements"]):
        out["warned"] = True
    asked = [name for name in out if name not in (*_FIRST_FIELDS, *_LAST)]
    return {name: out[name] for name in (*_FIRST_FIELDS, *asked, *_LAST) if name in out}


# ---- All files -------------------------------------------------------------------------------------------------------


def documents(
    vector_set: VectorSet,
    folder: Path,
    *,
    compute: bool = True,
    computed: Callable[[], None] = lambda: None,
) -> list[Document]:
    """Return every file of vectors, as it should be in ``folder``. Raises VectorsError.

    Without ``compute`` no builder is called, and computed vectors are read from the files. ``computed`` is called
    when a builder has returned: once for each group and revision of a protocol.
    """
    out = []
    for material in vector_set.materials:
        paths = sorted((folder / material.folder).glob("*.json"))
        there = {f"{material.folder}/{path.name}": read_json(path) for path in paths}
        known = {path: Document(path, data) for path, data in there.items()}
        for document in computed_documents(material, computed) if compute else ():
            path = document.path
            known[path] = _with_written(document, there[path]) if path in there else document
        try:
            out += [_canonical(complete_document(material, document)) for document in known.values()]
        except VectorsError as error:
            raise VectorsError(f"{error}: correct the file, and type `sds-conformance vectors format`") from None
    return out


def _canonical(document: Document) -> Document:
    """Return the document unchanged. Raises VectorsError if it has no canonical form."""
    try:
        format_document(document.content)
    except ValueError as error:
        raise VectorsError(f"{printable(document.path)}: {error}") from None
    return document


def files_of(vector_set: VectorSet, every: list[Document], version: str, retired: list[str]) -> dict[str, bytes]:
    """Map paths to the contents of all generated files: vectors, schemas, and the manifest over both."""
    out = {
        f"schema/{name}.schema.json": format_document(schema(name, shape)) for name, shape in vector_set.shapes.items()
    }
    out |= {document.path: format_document(document.content) for document in every}
    out[MANIFEST] = format_document(manifest(out, version, retired))
    return out


def manifest(files: Mapping[str, bytes], version: str, retired: list[str]) -> dict[str, Any]:
    """Return the manifest: the version of the set, the SHA-256 of each file, and the IDs that are no longer in use."""
    return {
        "version": version,
        "generatorVersion": GENERATOR_VERSION,
        "files": {path: file_digest(files[path]) for path in sorted(files)},
        "retired": sorted(retired),
    }

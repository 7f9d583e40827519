"""The files as documents: which vectors stand in which, for which revisions, and the manifest over them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from .canonical import digest, file_digest, formatted
from .model import GENERATOR_VERSION, Group, Material, Vector, VectorSet
from .schemas import schema, schema_path

MANIFEST = "manifest.json"


@dataclass(frozen=True)
class Document:
    """One file of vectors."""

    path: str
    """Relative to the folder of vectors."""
    content: dict[str, Any]


def documents(material: Material) -> Iterator[Document]:
    """Every file of vectors of a protocol, in the order of the groups.

    What several revisions share stands once, in the file that names them; what differs stands in a file for each, under
    an ID that ends in the revision.
    """
    for entry in material.groups.values():
        shared: dict[str, list[str]] = {}
        kept: dict[str, Vector] = {}
        for name, revision in material.revisions.items():
            for vector in entry.builders[name](revision) if name in entry.builders else []:
                key = digest(vector)
                shared.setdefault(key, []).append(name)
                kept[key] = vector
        parts: dict[tuple[str, ...], list[Vector]] = {}
        for key, names in shared.items():
            parts.setdefault(tuple(names), []).append(kept[key])
        # The file without a suffix is of those that share the most, the current revision among them.
        unmarked = max(parts, key=lambda names: (material.current in names, len(names)), default=())
        for revisions, vectors in parts.items():
            mark = "" if revisions == unmarked else material.together.get(revisions, "-and-".join(revisions))
            name = f"{entry.name}-{mark}" if mark else entry.name
            yield Document(f"{material.folder}/{name}.json", _document(material, entry, revisions, mark, vectors))


def _document(
    material: Material, entry: Group, revisions: tuple[str, ...], mark: str, vectors: list[Vector]
) -> dict[str, Any]:
    suffix = f"@{mark}" if mark else ""
    tests = [_weighed(material, {**v, "id": f"{entry.name}/{v['id']}{suffix}"}) for v in vectors]
    used = {flag for test in tests for flag in test["flags"]}
    return {
        "$schema": schema_path(entry.shape),
        "group": entry.name,
        "shape": entry.shape,
        "title": entry.title,
        "revisions": list(revisions),
        "generatorVersion": GENERATOR_VERSION,
        "numberOfTests": len(tests),
        "digest": digest(tests),
        "notes": {
            flag: {"description": note.description, "ids": material.stated(note.ids, revisions)}
            for flag, note in entry.notes[revisions[0]].items()
            if flag in used
        },
        **material.shapes[entry.shape].head(revisions[0]),
        "tests": tests,
    }


def _weighed(material: Material, vector: Vector) -> Vector:
    """A vector that says, behind its requirements, what answers are that are none of its outcomes, if no failure."""
    if not material.soft(vector["requirements"]):
        return vector
    out: Vector = {}
    for key, value in vector.items():
        out[key] = value
        if key == "requirements":
            out["warned"] = True
    return out


def generated_files(vector_set: VectorSet, version: str, retired: list[str]) -> dict[str, bytes]:
    """Every generated file by its path: vectors, schemas and the manifest over both."""
    out = {f"schema/{name}.schema.json": formatted(schema(name, shape)) for name, shape in vector_set.shapes.items()}
    for material in vector_set.materials:
        for document in documents(material):
            out[document.path] = formatted(document.content)
    out[MANIFEST] = formatted(manifest(out, version, retired))
    return out


def manifest(files: dict[str, bytes], version: str, retired: list[str]) -> dict[str, Any]:
    """The manifest: the version of the set, the SHA-256 of each file, and the IDs that are no longer in use."""
    return {
        "version": version,
        "generatorVersion": GENERATOR_VERSION,
        "files": {path: file_digest(files[path]) for path in sorted(files)},
        "retired": sorted(retired),
    }

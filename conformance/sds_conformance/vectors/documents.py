"""The files as documents: which vectors stand in which, for which revisions, and the manifest over them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from ..protocols.sds import vectors as _groups
from ..protocols.sds.catalogue import load_catalogue
from .canonical import digest, file_digest, formatted
from .model import GENERATOR_VERSION, GROUPS, SDS, Group, Vector, known_revisions
from .schemas import SHAPES, schema, schema_path
from .transcripts.recording import start_ms

REGISTERED = _groups
"""The package whose import fills the register."""

MANIFEST = "manifest.json"


@dataclass(frozen=True)
class Document:
    """One file of vectors."""

    path: str
    """Relative to the folder of vectors."""
    content: dict[str, Any]


def documents() -> Iterator[Document]:
    """Every file of vectors, in the order of the groups.

    What several revisions share stands once, in the file that names them; what differs stands in a file for each, under
    an ID that ends in the revision.
    """
    for entry in GROUPS.values():
        yield from _documents_of(entry)


def _documents_of(entry: Group) -> Iterator[Document]:
    built = {revision.name: entry.build(revision) for revision in known_revisions()}
    spoken = [name for name, vectors in built.items() if vectors]
    shared: dict[str, list[str]] = {}
    kept: dict[str, Vector] = {}
    for name in spoken:
        for vector in built[name]:
            key = digest(vector)
            shared.setdefault(key, []).append(name)
            kept[key] = vector
    together = _largest([tuple(names) for names in shared.values()])
    parts: dict[tuple[str, ...], list[Vector]] = {}
    for key, names in shared.items():
        parts.setdefault(tuple(names), []).append(kept[key])
    for revisions, vectors in parts.items():
        mark = "" if revisions == together else _together(revisions)
        name = f"{entry.name}-{mark}" if mark else entry.name
        yield Document(f"sds/{name}.json", _document(entry, revisions, mark, vectors))


def _largest(sets: list[tuple[str, ...]]) -> tuple[str, ...]:
    """The revisions of the file without a suffix: those that share the most, the current one among them."""
    current = known_revisions()[0].name
    return max(sets, key=lambda names: (current in names, len(names)), default=())


def _together(revisions: tuple[str, ...]) -> str:
    """What revisions are called together, in names of files and at the end of IDs."""
    return "sds" if revisions == SDS else "-and-".join(revisions)


def _document(entry: Group, revisions: tuple[str, ...], mark: str, vectors: list[Vector]) -> dict[str, Any]:
    suffix = f"@{mark}" if mark else ""
    tests = [{**vector, "id": f"{entry.name}/{vector['id']}{suffix}"} for vector in vectors]
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
            flag: {"description": note.description, "ids": _of(note.ids, revisions)}
            for flag, note in entry.notes[revisions[0]].items()
            if flag in used
        },
        **({"base_ms": str(start_ms(revisions[0]))} if entry.shape == "transcript" else {}),
        "tests": tests,
    }


def _of(ids: tuple[str, ...], revisions: tuple[str, ...]) -> list[str]:
    """Positions, and of the requirements those that one of the revisions states."""
    known = load_catalogue().requirements
    return [i for i in ids if i not in known or any(known[i].stated_in(revision) for revision in revisions)]


def generated_files(version: str, retired: list[str]) -> dict[str, bytes]:
    """Every generated file by its path: vectors, schemas and the manifest over both."""
    out = {f"schema/{shape}.schema.json": formatted(schema(shape)) for shape in SHAPES}
    for document in documents():
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

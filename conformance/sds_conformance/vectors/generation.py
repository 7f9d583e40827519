"""Writes the folder of vectors, or compares it with the expected content."""

from __future__ import annotations

from pathlib import Path

from sds_harness.files import write_whole

from .canonical import file_digest, format_document
from .changelog import changelog_versions, manifest_line, name_manifest
from .documents import Document, files_of
from .folder import CHANGELOG, LEDGER, MANIFEST, PROSE, WINDOWS_LINE_ENDS, VectorsError, files_in, read_bytes
from .ledger import Ledger, read_ledger
from .model import VectorSet


def wanted_files(vector_set: VectorSet, folder: Path, every: list[Document]) -> dict[str, bytes]:
    """Return the expected content of each generated file in ``folder``, given all documents (``every``).

    The version is that of the folder's changelog. Released IDs that are no longer used become retired; unreleased IDs
    are removed without a trace.
    """
    version = changelog_versions(folder)[0][0]
    ledger = Ledger(()) if _is_new(folder) else read_ledger(folder)
    now = {test["id"] for document in every for test in document.content["tests"]}
    return files_of(vector_set, every, version, sorted(ledger.retired_ids | (ledger.ids - now)))


def begin(vector_set: VectorSet, folder: Path, source: Path) -> None:
    """Copy the written and released files of ``source`` to a new or empty folder.

    A folder with a changelog stays unchanged. Raises VectorsError if the folder has files and no changelog.
    """
    if (folder / CHANGELOG).exists():
        return
    if folder.exists() and any(folder.iterdir()):
        raise VectorsError(f"{folder} has no {CHANGELOG}, and is not empty: name an empty or a new folder")
    vectors = [f"{m.folder}/{path.name}" for m in vector_set.materials for path in (source / m.folder).glob("*.json")]
    contents = {name: read_bytes(source / name) for name in (*PROSE, LEDGER, *vectors)}
    for name, content in contents.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        write_whole(folder / name, content)


def _is_new(folder: Path) -> bool:
    """Is the folder new? A folder with a manifest but no ledger is not new: its ledger was deleted."""
    return not any((folder / name).is_file() for name in (MANIFEST, LEDGER))


def differences(vector_set: VectorSet, folder: Path, expected: dict[str, bytes]) -> list[str]:
    """Return the differences between ``folder`` and the expected content, one sentence each."""
    out = []
    for path, content in expected.items():
        file = folder / path
        if not file.is_file():
            out.append(f"{path} is missing")
        elif (present := file.read_bytes()) != content:
            windows = present.replace(b"\r\n", b"\n") == content
            out.append(f"{path}: {WINDOWS_LINE_ENDS}" if windows else f"{path} differs from the generated file")
    return out + [
        f"{path} is not generated: delete it" for path in files_in(vector_set, folder) if path not in expected
    ]


def write(folder: Path, expected: dict[str, bytes]) -> list[str]:
    """Write the expected files and the changelog; return the paths that changed.

    A new folder gets an empty ledger.
    """
    changed = []
    if _is_new(folder):
        expected = {**expected, LEDGER: format_document({"releases": []})}
    for path, content in expected.items():
        file = folder / path
        if not file.is_file() or file.read_bytes() != content:
            file.parent.mkdir(parents=True, exist_ok=True)
            write_whole(file, content)
            changed.append(path)
    if changelog_gap(folder, expected[MANIFEST]):
        name_manifest(folder, file_digest(expected[MANIFEST]))
        changed.append(CHANGELOG)
    return changed


def changelog_gap(folder: Path, manifest: bytes) -> str:
    """Return a sentence about what the changelog lacks for this manifest; "" if it is complete.

    Every version must have the digest of its manifest. For a released version, the ledger has this digest as well.
    """
    try:
        version, text = changelog_versions(folder)[0]
        otherwise = has_other_release(folder, manifest)
    except VectorsError as error:
        return str(error)
    digest = file_digest(manifest)
    if text == digest and not otherwise:
        return ""
    if otherwise:
        return f"{CHANGELOG}: {version} is released, so its files are fixed: begin a new version"
    line = manifest_line(digest)
    if not text:
        return f"{CHANGELOG}: version {version} lacks the digest of its manifest: add the line {line}"
    return (
        f"{CHANGELOG}: the files differ from those of version {version}, which "
        f"is not released yet: describe the change, and correct the line of the version: {line}"
    )


def has_other_release(folder: Path, manifest: bytes) -> bool:
    """Was the newest version of the changelog released with another manifest?"""
    if not (folder / LEDGER).is_file():
        return False
    entry = read_ledger(folder).release(changelog_versions(folder)[0][0])
    return entry is not None and entry["manifest"] != file_digest(manifest)

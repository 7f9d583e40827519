"""Writes the folder of vectors, or compares it with what would be written."""

from __future__ import annotations

import json
from pathlib import Path

from sds_harness.files import write_whole

from .canonical import file_digest, formatted
from .documents import MANIFEST, generated_files
from .folder import (
    CHANGELOG,
    LEDGER,
    PROSE,
    WINDOWS_LINE_ENDS,
    VectorsError,
    changelog_versions,
    files_in,
    read_bytes,
)
from .model import VectorSet
from .released import Ledger, read_ledger


def wanted_files(vector_set: VectorSet, folder: Path) -> dict[str, bytes]:
    """Every generated file as it should stand in ``folder``.

    The version is that of the folder's changelog. IDs that were released and are no longer in use are retired; those
    that were never released are just gone.
    """
    version = changelog_versions(folder)[0][0]
    ledger = Ledger(()) if _is_new(folder) else read_ledger(folder)
    retired = sorted(ledger.retired)
    files = generated_files(vector_set, version, retired)
    folders = tuple(f"{material.folder}/" for material in vector_set.materials)
    vectors = [content for path, content in files.items() if path.startswith(folders)]
    now = {test["id"] for content in vectors for test in json.loads(content)["tests"]}
    lost = sorted(ledger.retired | (ledger.ids - now))
    return generated_files(vector_set, version, lost) if lost != retired else files


def begin(folder: Path, source: Path) -> None:
    """Let a folder that is empty, or not there yet, begin with what people wrote and released: that of ``source``.

    Raises VectorsError where there is something, and no changelog in it to say which version to generate.
    """
    if (folder / CHANGELOG).exists():
        return
    if folder.exists() and any(folder.iterdir()):
        raise VectorsError(f"{folder} has no {CHANGELOG}, and is not empty: name a folder that is, or a new one")
    contents = {name: read_bytes(source / name) for name in (*PROSE, LEDGER)}
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in contents.items():
        write_whole(folder / name, content)


def _is_new(folder: Path) -> bool:
    """Was nothing ever generated there? Where there is a manifest, a ledger that lacks was taken away."""
    return not any((folder / name).is_file() for name in (MANIFEST, LEDGER))


def differences(vector_set: VectorSet, folder: Path, wanted: dict[str, bytes]) -> list[str]:
    """What stands in ``folder`` other than it should, one sentence each."""
    out = []
    for path, content in wanted.items():
        file = folder / path
        if not file.is_file():
            out.append(f"{path} is missing")
        elif (there := file.read_bytes()) != content:
            windows = there.replace(b"\r\n", b"\n") == content
            out.append(f"{path}: {WINDOWS_LINE_ENDS}" if windows else f"{path} is not what is generated")
    return out + [
        f"{path} is not generated any more" for path in sorted(files_in(vector_set, folder)) if path not in wanted
    ]


def write(vector_set: VectorSet, folder: Path, wanted: dict[str, bytes]) -> list[str]:
    """Make ``folder`` hold what it should; the paths that changed. One that is new begins with an empty ledger."""
    changed = []
    if _is_new(folder):
        wanted = {**wanted, LEDGER: formatted({"releases": []})}
    for path, content in wanted.items():
        file = folder / path
        if not file.is_file() or file.read_bytes() != content:
            file.parent.mkdir(parents=True, exist_ok=True)
            write_whole(file, content)
            changed.append(path)
    for path, file in sorted(files_in(vector_set, folder, "*.json").items()):
        if path not in wanted:
            file.unlink()
            changed.append(path)
    return changed


def changelog_gap(folder: Path, manifest: bytes) -> str:
    """What the changelog lacks for this manifest, as a sentence; "" if nothing.

    Every version names the digest of its manifest; of one that is released the ledger has it as well.
    """
    try:
        version, told = changelog_versions(folder)[0]
        otherwise = released_otherwise(folder, manifest)
    except VectorsError as error:
        return str(error)
    digest = file_digest(manifest)
    if told == digest and not otherwise:
        return ""
    if otherwise:
        return f"{CHANGELOG}: {version} is released, and its files stay as they are: begin a new version"
    line = f"Manifest: `{digest}`"
    if not told:
        return f"{CHANGELOG}: version {version} lacks its line: {line}"
    return (
        f"{CHANGELOG}: the files are not those that version {version} names. It is not released yet: say what changed, "
        f"and correct its line: {line}"
    )


def released_otherwise(folder: Path, manifest: bytes) -> bool:
    """Is the version of the changelog released, with another manifest than this?"""
    if not (folder / LEDGER).is_file():
        return False
    entry = read_ledger(folder).release(changelog_versions(folder)[0][0])
    return entry is not None and entry["manifest"] != file_digest(manifest)

"""Writes the folder of vectors, or compares it with what would be written."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path

from .canonical import file_digest
from .documents import MANIFEST, generated_files
from .folder import CHANGELOG, VectorsError, changelog_versions, read_json


def wanted_files(folder: Path) -> dict[str, bytes]:
    """Every generated file as it should stand in ``folder``.

    The version is that of the folder's changelog. The IDs that are no longer in use are kept from its manifest, with
    those that have gone from the files since.
    """
    version = changelog_versions(folder)[0][0]
    retired, stood = _memory(folder)
    files = generated_files(version, retired)
    now = set(_ids(files))
    lost = sorted(set(retired) | (stood - now))
    return generated_files(version, lost) if lost != retired else files


def _memory(folder: Path) -> tuple[list[str], set[str]]:
    """IDs that were retired, and those that stand in the files now."""
    path = folder / MANIFEST
    if not path.is_file():
        return [], set()
    manifest = read_json(path)
    retired = manifest.get("retired", []) if isinstance(manifest, dict) else []
    stood: set[str] = set()
    for file in sorted((folder / "sds").glob("*.json")):
        data = read_json(file)
        tests = data.get("tests", []) if isinstance(data, dict) else []
        stood |= {str(test.get("id", "")) for test in tests if isinstance(test, dict)}
    return [str(item) for item in retired], stood


def _ids(files: dict[str, bytes]) -> Iterable[str]:
    for path, content in files.items():
        if path.startswith("sds/"):
            yield from (test["id"] for test in json.loads(content)["tests"])


def differences(folder: Path, wanted: dict[str, bytes]) -> list[str]:
    """What stands in ``folder`` other than it should, one sentence each."""
    out = []
    for path, content in wanted.items():
        file = folder / path
        if not file.is_file():
            out.append(f"{path} is missing")
        elif file.read_bytes() != content:
            out.append(f"{path} is not what is generated")
    for file in sorted([*(folder / "sds").glob("*"), *(folder / "schema").glob("*")]):
        path = file.relative_to(folder).as_posix()
        if path not in wanted:
            out.append(f"{path} is not generated any more")
    return out


def write(folder: Path, wanted: dict[str, bytes]) -> list[str]:
    """Make ``folder`` hold what it should; the paths that changed."""
    changed = []
    for path, content in wanted.items():
        file = folder / path
        if not file.is_file() or file.read_bytes() != content:
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(content)
            changed.append(path)
    for file in sorted([*(folder / "sds").glob("*.json"), *(folder / "schema").glob("*.json")]):
        path = file.relative_to(folder).as_posix()
        if path not in wanted:
            file.unlink()
            changed.append(path)
    return changed


def changelog_gap(folder: Path, manifest: bytes) -> str:
    """What the changelog lacks for this manifest, as a sentence; "" if nothing.

    Every version names the digest of its manifest, so bytes that change without a version of their own show.
    """
    try:
        version, told = changelog_versions(folder)[0]
    except VectorsError as error:
        return str(error)
    digest = file_digest(manifest)
    if told == digest:
        return ""
    line = f"Manifest: `{digest}`"
    if not told:
        return f"{CHANGELOG}: version {version} lacks its line: {line}"
    return (
        f"{CHANGELOG}: the files are not those of version {version} any more. Begin a new version that says what "
        f"changed, generate again, and give it the line that is then shown. Before {version} is released, correct its "
        f"line: {line}"
    )

"""The folder of vectors: finds it, reads its files, and tests whether it can be replaced.

The files are not trusted: their size is limited. Only files that the manifest of a folder lists are replaced, so a
wrong folder name cannot destroy other files.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from sds_harness.declaration import printable
from sds_harness.files import FileError, parse_json
from sds_harness.files import read_bytes as read_bounded

from .canonical import file_digest
from .model import GENERATOR_VERSION, Material, VectorSet
from .schemas import TEXT, schema

LARGEST_FILE = 32 << 20
"""Maximum size of a file, in bytes."""
MANIFEST = "manifest.json"
CHANGELOG = "CHANGELOG.md"
README = "README.md"
LEDGER = "released.json"
"""The ledger of releases; entries are only ever added."""
PROSE = (README, CHANGELOG)
"""The files that are written by hand."""

_CHECKOUT = Path(__file__).parents[3] / "vectors"
_INSTALLED = Path(__file__).parents[1] / "documents" / "vectors"


class VectorsError(Exception):
    """The files are invalid; the message has the reason."""


def default_folder() -> Path:
    """Return the folder of vectors of this suite: in the checkout, or else in the installed package. Raises
    VectorsError.
    """
    for folder in (_CHECKOUT, _INSTALLED):
        if (folder / MANIFEST).is_file():
            return folder
    raise VectorsError("no vectors are installed with this suite, and this is not a checkout: name a folder of vectors")


def writable_folder() -> Path:
    """The folder of vectors in a checkout. Raises VectorsError outside of a checkout."""
    if (_CHECKOUT.parent / "pyproject.toml").is_file():
        return _CHECKOUT
    raise VectorsError(
        "the suite is not installed from a checkout: type `pip install -e .` there, or give the folder with --out"
    )


def read_bytes(path: Path) -> bytes:
    """Read a regular file. Raises VectorsError if the file is missing, too large, or not a regular file."""
    try:
        return read_bounded(path, LARGEST_FILE)
    except FileError as error:
        raise VectorsError(f"{printable(path.name)} {error}") from None


def has_windows_line_ends(content: bytes, digest: str) -> bool:
    """Would a file match this digest if its lines ended with LF instead of CRLF?"""
    return b"\r\n" in content and file_digest(content.replace(b"\r\n", b"\n")) == digest


def read_json(path: Path) -> Any:
    """Read a JSON file. Raises VectorsError if it is too large, missing or not JSON."""
    return _json(path.name, read_bytes(path))


def _json(name: str, content: bytes) -> Any:
    try:
        return parse_json(content)
    except FileError as error:
        raise VectorsError(f"{printable(name)} {error}") from None


@dataclass(frozen=True)
class VectorManifest:
    """The manifest of a folder of vectors."""

    version: str
    generator_version: str
    files: dict[str, str]
    """The SHA-256 of each file."""
    retired: tuple[str, ...]
    digest: str
    """The SHA-256 of the manifest."""


def generated_folders(vector_set: VectorSet) -> tuple[str, ...]:
    """Return the subfolders that have generated files."""
    return *(material.folder for material in vector_set.materials), "schema"


def files_in(vector_set: VectorSet, folder: Path, pattern: str = "*") -> dict[str, Path]:
    """Map relative paths to the files in the subfolders of generated files."""
    return {
        path.relative_to(folder).as_posix(): path
        for place in generated_folders(vector_set)
        for path in sorted((folder / place).glob(pattern))
    }


def load_manifest(vector_set: VectorSet, folder: Path) -> VectorManifest:
    """Load the manifest of a folder, of any version. Raises VectorsError."""
    content = read_bytes(folder / MANIFEST)
    data = _json(MANIFEST, content)
    if not isinstance(data, dict) or set(data) != {"version", "generatorVersion", "files", "retired"}:
        raise VectorsError(f"{MANIFEST}: its fields must be version, generatorVersion, files and retired")
    files, retired = data["files"], data["retired"]
    if not isinstance(data["version"], str) or not isinstance(data["generatorVersion"], str):
        raise VectorsError(f"{MANIFEST}: version and generatorVersion must be strings")
    if not isinstance(files, dict) or not all(isinstance(value, str) for value in files.values()):
        raise VectorsError(f"{MANIFEST}: files must be an object of paths and digests")
    known = generated_folders(vector_set)
    for path in files:
        if not re.fullmatch(rf"({'|'.join(known)})/[A-Za-z0-9][A-Za-z0-9._-]*\.json", path):
            raise VectorsError(
                f"{MANIFEST}: {printable(path)} is not a file in {'/, '.join(known[:-1])}/ or {known[-1]}/"
            )
    if not isinstance(retired, list) or not all(isinstance(item, str) for item in retired):
        raise VectorsError(f"{MANIFEST}: retired must be a list of IDs")
    return VectorManifest(data["version"], data["generatorVersion"], files, tuple(retired), file_digest(content))


def load_all(vector_set: VectorSet, folder: Path) -> list[dict[str, Any]]:
    """Load every file of vectors in a folder, ordered by protocol, then by name. Raises VectorsError."""
    return [data for material in vector_set.materials for data in load_of(vector_set, material, folder)]


def load_of(vector_set: VectorSet, material: Material, folder: Path) -> list[dict[str, Any]]:
    """Load the files of one protocol, ordered by name. Raises VectorsError.

    Each file must match the digest in the manifest, so that modified vectors are never used.
    """
    paths = sorted((folder / material.folder).glob("*.json"))
    if not paths:
        raise VectorsError(f"no vectors of {material.current} in {folder}")
    manifest = load_manifest(vector_set, folder)
    if manifest.generator_version != GENERATOR_VERSION:
        raise VectorsError(
            f"{MANIFEST}: its generatorVersion is {printable(manifest.generator_version, 20)}, and this suite reads  "
            f"{GENERATOR_VERSION}: use the version of the suite for these vectors, or omit the folder"
        )
    names = {f"{material.folder}/{path.name}" for path in paths}
    missing = sorted(name for name in manifest.files if name.startswith(f"{material.folder}/") and name not in names)
    if missing:
        raise VectorsError(f"{missing[0]} is in the manifest, and is missing: {ANEW}")
    out = [_load_file(material, path, manifest) for path in paths]
    for test_id, times in Counter(test["id"] for data in out for test in data["tests"]).items():
        if times > 1:
            raise VectorsError(f"two vectors are called {printable(test_id)}: {ANEW}")
    return out


def refuse_overlap(source: Path, target: Path) -> None:
    """Raise VectorsError if one folder contains the other: the copy would overwrite its source."""
    one, other = source.resolve(), target.resolve()
    if one == other or one in other.parents or other in one.parents:
        raise VectorsError(f"{target} and the vectors that are copied, {source}, overlap: name a separate folder")


def refuse_links(vector_set: VectorSet, folder: Path, paths: Iterable[str]) -> None:
    """Raise VectorsError for links: writing would change a file elsewhere."""
    for name in (*generated_folders(vector_set), *paths):
        if (folder / name).is_symlink():
            raise VectorsError(
                f"{folder / printable(name)} is a symbolic link, whose target is not replaced: remove it, or name "
                "another folder"
            )


def files_to_replace(vector_set: VectorSet, folder: Path) -> list[str]:
    """Return the paths in the manifest of a folder. Raises VectorsError if the folder has no valid manifest, or if a
    path in it is a symbolic link.
    """
    try:
        manifest = load_manifest(vector_set, folder)
    except VectorsError as error:
        raise VectorsError(f"{folder} holds no vectors, and is not replaced ({error}): give another folder") from None
    refuse_links(vector_set, folder, manifest.files)
    return sorted(manifest.files)


ANEW = "get these files again, or type `sds-conformance vectors lint DIR` to see all of their errors"
WINDOWS_LINE_ENDS = (
    "its lines end with CRLF, and those of the published file with LF: type `git config core.autocrlf false` in the "
    "clone and check the files out again"
)


def _load_file(material: Material, path: Path, manifest: VectorManifest) -> dict[str, Any]:
    """Load one file, and check its digest and schema. Raises VectorsError."""
    name, content = f"{material.folder}/{path.name}", read_bytes(path)
    data = _json(path.name, content)
    problem = next(iter(violations(material, data)), None)
    if problem is not None:
        raise VectorsError(f"{printable(path.name)}: {problem}")
    if name not in manifest.files:
        raise VectorsError(f"{printable(name)} is not in the manifest: {ANEW}")
    if has_windows_line_ends(content, manifest.files[name]):
        raise VectorsError(f"{printable(name)}: {WINDOWS_LINE_ENDS}")
    if manifest.files[name] != file_digest(content):
        raise VectorsError(f"{printable(name)}: its SHA-256 differs from that in the manifest: {ANEW}")
    assert isinstance(data, dict)
    return data


MOST_SHOWN = 5
"""Maximum number of errors that are reported per file."""


def violations(material: Material, data: Any) -> list[str]:
    """Return the first few places where a file of vectors violates its schema."""
    from jsonschema import Draft202012Validator  # imported here, because `run` needs no schemas
    from jsonschema.exceptions import best_match

    shape = data.get("shape") if isinstance(data, dict) else None
    if not isinstance(shape, str) or shape not in material.shapes:
        return [f"its shape is unknown; shapes are {', '.join(material.shapes)}"]
    out: list[str] = []
    wanted = schema(shape, material.shapes[shape])
    for each in () if _is_valid(wanted, data) else Draft202012Validator(wanted).iter_errors(data):
        error = best_match([each]) or each
        out.append(f"{_describe_position(data, list(error.absolute_path))}: {error.message}")
        if len(out) == MOST_SHOWN:
            break
    tests = data["tests"] if not out else []
    senseless = (f"{test['id']}: {problem}" for test in tests for problem in material.shapes[shape].senseless(test))
    return [printable(sentence, 300) for sentence in [*out, *islice(senseless, MOST_SHOWN)]]


def _is_valid(wanted: dict[str, Any], data: Any) -> bool:
    """Does a fast validator accept the data? It takes 1/10 of the time of the validator that can describe errors, and
    refuses some valid data.
    """
    from jsonschema_rs import validator_for

    try:
        return validator_for(_without_surrogates(wanted)).is_valid(data)
    except UnicodeEncodeError:  # The validator refuses a string that contains a surrogate.
        return False


def _without_surrogates(part: Any) -> Any:
    """Return the schema without the pattern that forbids surrogates. The quick validator accepts neither patterns nor
    strings that contain surrogates.
    """
    if isinstance(part, dict):
        return {key: _without_surrogates(value) for key, value in part.items() if value != TEXT["pattern"]}
    return [*map(_without_surrogates, part)] if isinstance(part, list | tuple) else part


def _describe_position(data: Any, path: list[str | int]) -> str:
    """Describe a position in a file: the ID of the vector and its field, or the field of the file."""
    if path[:1] == ["tests"] and len(path) > 1:
        test = data["tests"][path[1]]
        named = test.get("id") if isinstance(test, dict) else None
        field = "/".join(map(str, path[2:]))
        return f"{named if isinstance(named, str) else f'tests/{path[1]}'}{f': {field}' if field else ''}"
    return "/".join(map(str, path)) or "the file"

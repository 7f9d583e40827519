"""The folder of vectors: where it is, and how its files are read. They can be anybody's: bounded and checked."""

from __future__ import annotations

import json
import re
from functools import cache
from pathlib import Path
from typing import Any

from jsonschema import Draft202012Validator

from sds_harness.declaration import printable

from .documents import MANIFEST
from .schemas import SHAPES, schema

LARGEST_FILE = 32 << 20
"""Bytes of one file."""
CHANGELOG = "CHANGELOG.md"
README = "README.md"
LEDGER = "released.json"
"""What was released; it only ever grows."""
PROSE = (README, CHANGELOG)
"""The files that people write."""

_CHECKOUT = Path(__file__).parents[3] / "vectors"
_INSTALLED = Path(__file__).parent / "data"


class VectorsError(Exception):
    """Something about the files is wrong; the sentence says what."""


def default_folder() -> Path:
    """The vectors that belong to this suite: of the checkout, else those that are installed with it."""
    for folder in (_CHECKOUT, _INSTALLED):
        if (folder / MANIFEST).is_file():
            return folder
    raise VectorsError("no vectors are installed with this suite, and this is no checkout: give the folder of some")


def writable_folder() -> Path:
    """Where a checkout keeps its vectors."""
    if (_CHECKOUT.parent / "pyproject.toml").is_file():
        return _CHECKOUT
    raise VectorsError("this is no checkout: give the folder to write to with --out")


def read_json(path: Path) -> Any:
    """The JSON of a file. Raises VectorsError if it is too large, missing or none."""
    try:
        if path.stat().st_size > LARGEST_FILE:
            raise VectorsError(f"{path.name}: larger than {LARGEST_FILE >> 20} MiB")
        return json.loads(path.read_text("utf-8"), object_pairs_hook=_once)
    except (OSError, ValueError, RecursionError) as error:
        raise VectorsError(f"{path.name}: {printable(str(error))}") from None


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    out = dict(pairs)
    if len(out) != len(pairs):
        raise ValueError("a key stands twice in one object")
    return out


def load(path: Path) -> dict[str, Any]:
    """A file of vectors that is what its schema says. Raises VectorsError."""
    data = read_json(path)
    problem = next(iter(violations(data)), None)
    if problem is not None:
        raise VectorsError(f"{path.name}: {problem}")
    assert isinstance(data, dict)
    return data


def load_all(folder: Path) -> list[dict[str, Any]]:
    """Every file of vectors in a folder, by name. Raises VectorsError."""
    paths = sorted((folder / "sds").glob("*.json"))
    if not paths:
        raise VectorsError(f"no vectors in {folder}")
    return [load(path) for path in paths]


def violations(data: Any) -> list[str]:
    """Where a file of vectors is not what its schema says, the first few."""
    shape = data.get("shape") if isinstance(data, dict) else None
    if not isinstance(shape, str) or shape not in SHAPES:
        return [f"its shape is none of {', '.join(SHAPES)}"]
    out = []
    for error in _validator(shape).iter_errors(data):
        where = "/".join(str(part) for part in error.absolute_path) or "the file"
        out.append(printable(f"{where}: {error.message}", 300))
        if len(out) == 5:
            break
    return out


@cache
def _validator(shape: str) -> Draft202012Validator:
    return Draft202012Validator(schema(shape))


_VERSION = re.compile(r"^## ([0-9]+\.[0-9]+\.[0-9]+)$", re.MULTILINE)
_DIGEST = re.compile(r"^Manifest: `([0-9a-f]{64})`$", re.MULTILINE)


def changelog_versions(folder: Path) -> list[tuple[str, str]]:
    """(version, digest of its manifest or "") of the changelog, the newest first. Raises VectorsError."""
    out = []
    for version, body in _changelog(folder).items():
        found = _DIGEST.search(body)
        out.append((version, found.group(1) if found else ""))
    return out


def changelog_named(folder: Path, version: str, word: str) -> set[str]:
    """The IDs, in backticks, of the paragraphs of a version that begin with ``word`` and a colon."""
    paragraphs = re.split(r"\n\s*\n", _changelog(folder).get(version, ""))
    told = [text.strip() for text in paragraphs if text.strip().startswith(f"{word}:")]
    return {name for text in told for name in re.findall(r"`([^`\s]+)`", text)}


def _changelog(folder: Path) -> dict[str, str]:
    """The text of the changelog by version."""
    try:
        text = (folder / CHANGELOG).read_text("utf-8")
    except (OSError, ValueError) as error:
        raise VectorsError(f"{CHANGELOG}: {printable(str(error))}") from None
    parts = _VERSION.split(text)[1:]
    if not parts:
        raise VectorsError(f"{CHANGELOG} names no version: a heading is `## 1.0.0`")
    if len(set(parts[::2])) != len(parts[::2]):
        raise VectorsError(f"{CHANGELOG} has a version twice")
    return dict(zip(parts[::2], parts[1::2], strict=True))

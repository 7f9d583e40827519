"""Reads and edits the changelog of a folder of vectors. The versions come newest first, and paragraphs name the vectors
that they are about.

A version is a heading, ``## 1.1.0``, with a line that has the SHA-256 of its manifest. A paragraph that begins with a
word and a colon, such as ``Retired:``, applies to the vectors whose IDs it lists in backticks.
"""

from __future__ import annotations

import re
from pathlib import Path

from sds_harness.declaration import printable
from sds_harness.files import write_whole

from .folder import CHANGELOG, VectorsError, read_bytes

CORRECTED, RETIRED, DISAGREES = "Corrected", "Retired", "Reference disagrees"
"""The first words of paragraphs: about vectors that were wrong, that were removed, and that the reference model
fails.
"""

_VERSION = re.compile(r"^## ([0-9]+\.[0-9]+\.[0-9]+)$", re.MULTILINE)
_DIGEST = re.compile(r"^Manifest: `([0-9a-f]{64})`$", re.MULTILINE)


def changelog_versions(folder: Path) -> list[tuple[str, str]]:
    """Return (version, digest of its manifest or "") for each version, the newest first. Raises VectorsError."""
    out = []
    for version, body in _bodies(_text(folder)).items():
        found = _DIGEST.search(body)
        out.append((version, found.group(1) if found else ""))
    return out


def changelog_named(folder: Path, version: str, word: str) -> set[str]:
    """Return the IDs in backticks in those paragraphs of a version that begin with ``word`` and a colon."""
    paragraphs = re.split(r"\n\s*\n", _bodies(_text(folder)).get(version, ""))
    matching = [text.strip() for text in paragraphs if text.strip().startswith(f"{word}:")]
    return {name for text in matching for name in re.findall(r"`([^`\s]+)`", text)}


def manifest_line(digest: str) -> str:
    """Return the changelog line that states the SHA-256 of a version's manifest."""
    return f"Manifest: `{digest}`"


def begin_version(folder: Path, version: str) -> None:
    """Add a new version, without paragraphs, at the top of the changelog."""
    text = _text(folder)
    newest = _VERSION.search(text)
    assert newest is not None
    write_whole(folder / CHANGELOG, f"{text[: newest.start()]}## {version}\n\n{text[newest.start() :]}")


def add_paragraphs(folder: Path, paragraphs: list[str]) -> None:
    """Add paragraphs to the end of the newest version."""
    text = _text(folder)
    _, *older = _VERSION.finditer(text)
    end = older[0].start() if older else len(text)
    added = "".join(f"\n{paragraph}\n" for paragraph in paragraphs)
    write_whole(folder / CHANGELOG, f"{text[:end].rstrip()}\n{added}{chr(10) if older else ''}{text[end:]}")


def name_manifest(folder: Path, digest: str) -> None:
    """Store the SHA-256 of the manifest in the newest version."""
    text = _text(folder)
    newest = _VERSION.search(text)
    assert newest is not None
    body, line = next(iter(_bodies(text).values())), manifest_line(digest)
    named = (
        _DIGEST.sub(line, body, count=1) if _DIGEST.search(body) else f"\n\n{line}\n\n{body.strip()}".rstrip() + "\n"
    )
    if named != body:
        after = text[newest.end() + len(body) :]
        gap = "\n" if after and not named.endswith("\n\n") else ""
        write_whole(folder / CHANGELOG, f"{text[: newest.end()]}{named}{gap}{after}")


def _text(folder: Path) -> str:
    try:
        return read_bytes(folder / CHANGELOG).decode("utf-8")
    except ValueError as error:
        raise VectorsError(f"{CHANGELOG}: {printable(str(error))}") from None


def _bodies(text: str) -> dict[str, str]:
    """The text below the heading of each version."""
    parts = _VERSION.split(text)[1:]
    if not parts:
        raise VectorsError(f"{CHANGELOG} names no version: a heading is `## 1.0.0`")
    if len(set(parts[::2])) != len(parts[::2]):
        raise VectorsError(f"{CHANGELOG} names a version twice: keep one heading for each version")
    return dict(zip(parts[::2], parts[1::2], strict=True))

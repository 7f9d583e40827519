"""Safeguards for replacing a folder of vectors: only files that its manifest lists are replaced.

So a wrong folder name cannot destroy other files.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from sds_harness.declaration import printable

from .folder import VectorsError, generated_folders, load_manifest
from .model import VectorSet


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

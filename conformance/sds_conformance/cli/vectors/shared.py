"""Whose vectors the commands are about."""

from __future__ import annotations

from pathlib import Path

import click

from ...protocols import default
from ...vectors.model import Material


def _material() -> Material:
    material = default().vectors
    assert material is not None, "the protocol that comes first has vectors"
    return material


MATERIAL = _material()
VECTORS = click.Path(path_type=Path, file_okay=False, exists=True)
"""A folder of vectors."""
LONGEST = 1000
"""Characters of a sentence, which can quote names that strangers gave to files."""

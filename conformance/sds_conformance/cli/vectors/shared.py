"""Whose vectors the commands are about."""

from __future__ import annotations

from pathlib import Path

import click

from ...protocols import all_vectors

VECTOR_SET = all_vectors()
VECTORS = click.Path(path_type=Path, file_okay=False, exists=True)
"""A folder of vectors."""
LONGEST = 1000
"""Characters of a sentence, which can quote names that strangers gave to files."""

"""Whose vectors the commands are about."""

from __future__ import annotations

from ...protocols import all_vectors

VECTOR_SET = all_vectors()
LONGEST = 1000
"""Characters of a sentence, which can quote names that strangers gave to files."""

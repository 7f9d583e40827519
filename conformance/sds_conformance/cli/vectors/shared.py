"""The selection of vectors for the commands."""

from __future__ import annotations

from ...protocols import all_vectors

VECTOR_SET = all_vectors()
LONGEST = 1000
"""Maximum number of characters of a sentence, which can quote file names chosen by others."""

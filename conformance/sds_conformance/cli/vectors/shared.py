"""The golden vectors of the suite, and a limit of texts, for the commands of `vectors`."""

from __future__ import annotations

from ...protocols import all_vectors

VECTOR_SET = all_vectors()
LONGEST = 1000
"""Maximum number of characters of a sentence, which can quote file names chosen by others."""

"""Whose vectors the commands are about."""

from __future__ import annotations

from ...protocols.sds.vectors.material import MATERIAL

__all__ = ["LONGEST", "MATERIAL"]

LONGEST = 1000
"""Characters of a sentence, which can quote names that strangers gave to files."""

"""The catalogue of SDS in three revisions, including the proposal of 2024."""

from __future__ import annotations

from functools import cache

from ....judging.catalogue import Catalogue, read_catalogue

CURRENT = "sds-2026-01"
"""The default revision."""


@cache
def load_catalogue() -> Catalogue:
    """Load the requirements of each revision, and the positions on its open questions."""
    return read_catalogue(__name__, (f"{CURRENT}.json", "forum-2024.json"))

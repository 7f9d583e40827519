"""The catalogue of SDS in three revisions, the proposal of 2024 among them."""

from __future__ import annotations

from functools import cache

from ....judging.catalogue import Catalogue, read_catalogue

CURRENT = "sds-2026-01"
"""The revision that is judged unless another is asked for."""


@cache
def load_catalogue() -> Catalogue:
    """The statements of each text, and the positions on its open questions."""
    return read_catalogue(__name__, (f"{CURRENT}.json", "forum-2024.json"))

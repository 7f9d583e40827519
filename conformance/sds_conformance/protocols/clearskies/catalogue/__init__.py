"""The catalogue of the ClearSkies database extension."""

from __future__ import annotations

from functools import cache

from ....judging.catalogue import Catalogue, read_catalogue


@cache
def load_catalogue() -> Catalogue:
    """The statements of the text, and the positions on what it leaves open."""
    return read_catalogue(__name__, ("clearskies-database.json",))

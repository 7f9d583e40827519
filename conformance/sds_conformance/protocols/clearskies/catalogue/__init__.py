"""The catalogue of the ClearSkies database extension."""

from __future__ import annotations

from functools import cache

from ....judging.catalogue import Catalogue, read_catalogue


@cache
def load_catalogue() -> Catalogue:
    """Load the requirements of the specification, and the positions on points that it leaves open."""
    return read_catalogue(__name__, ("clearskies-database.json",))

"""The catalogue of the ClearSkies database extension."""

from __future__ import annotations

from functools import cache

from ....judging.catalogue import Catalogue, read_catalogue

UNTESTABLE: dict[str, str] = {
    "CSDB-04": "a permission to have peers of any level in any number: no club that the suite makes is against it",
    "CSDB-57": "advice to whoever connects peers: the suite itself is who connects them",
    "CSDB-58": "an issue that the text knows and leaves open: nothing says what a peer should do about it",
}
"""Requirements without a check, each with the reason."""


@cache
def load_catalogue() -> Catalogue:
    """The statements of the text, and the positions on what it leaves open."""
    return read_catalogue(__name__, ("clearskies-database.json",))

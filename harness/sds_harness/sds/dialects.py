"""Which wire dialect is meant: of those that ship, or one that the user describes in a file."""

from __future__ import annotations

from functools import partial

from sds_reference.testee.dialect import Dialect, load_dialect

from ..files import read_text

LARGEST = 1 << 20
"""Bytes of the file. One that names all fields takes some hundred."""


def asked_dialect(name: str) -> Dialect:
    """The dialect that the user asks for: its name, or the path of a JSON file. Raises ConfigurationError."""
    return load_dialect(name, partial(read_text, largest=LARGEST))

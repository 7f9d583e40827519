"""Finds the wire dialect that the user asks for: a built-in one, or one described in a file."""

from __future__ import annotations

from functools import partial

from sds_reference.testee.dialect import Dialect, load_dialect

from ..files import read_text

LARGEST = 1 << 20
"""Maximum size of the file in bytes. A file that names all fields has a few hundred bytes."""


def load_named_dialect(name: str) -> Dialect:
    """The built-in dialect ``name``, or the dialect in the JSON file with the path ``name``. Raises
    ConfigurationError."""
    return load_dialect(name, partial(read_text, largest=LARGEST))

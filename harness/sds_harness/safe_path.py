"""Keeps the modules of the current folder out of the Python processes of the suite.

An interpreter started with `-c` or `-m` imports from the current folder first, and the user's folder may contain a
`random.py`. PYTHONSAFEPATH prevents that. The suite does not pass its value of the variable to implementations: they
may rely on their folder.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

VARIABLE = "PYTHONSAFEPATH"
OURS = "sds-conformance"
"""The value of PYTHONSAFEPATH that the suite sets. Python reads every text except "" as true."""


@contextmanager
def safe_path() -> Iterator[None]:
    """Interpreters started in this block import nothing from the current folder."""
    if os.environ.get(VARIABLE):
        yield
        return
    os.environ[VARIABLE] = OURS
    try:
        yield
    finally:
        del os.environ[VARIABLE]


def variables_for_implementations() -> dict[str, str]:
    """The environment of this process without the variable that is meant only for processes of the suite."""
    return {name: value for name, value in os.environ.items() if (name, value) != (VARIABLE, OURS)}

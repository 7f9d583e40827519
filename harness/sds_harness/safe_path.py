"""Keeps the modules of the current folder out of the Python processes that work for the suite.

An interpreter that is started with `-c` or `-m` imports from the current folder first, and the folder of a user may
hold a `random.py`. PYTHONSAFEPATH prevents that. Implementations never get the variable from here: they may rely on
their folder.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

VARIABLE = "PYTHONSAFEPATH"
OURS = "sds-conformance"
"""Its value where the suite has set it; any text switches it on."""


@contextmanager
def safe_path() -> Iterator[None]:
    """Interpreters that are started in this block import nothing from the current folder."""
    if os.environ.get(VARIABLE):
        yield
        return
    os.environ[VARIABLE] = OURS
    try:
        yield
    finally:
        del os.environ[VARIABLE]


def variables_for_implementations() -> dict[str, str]:
    """The environment of this process, without what is meant for processes of the suite."""
    return {name: value for name, value in os.environ.items() if (name, value) != (VARIABLE, OURS)}

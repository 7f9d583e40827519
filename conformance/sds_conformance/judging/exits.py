"""How commands end."""

from __future__ import annotations

from enum import IntEnum


class Exit(IntEnum):
    """Exit codes, the same for all commands."""

    CONFORMANT = 0
    NON_CONFORMANT = 1
    USAGE = 2
    NOT_DRIVEN = 3
    NOTHING_EXERCISED = 4
    INTERRUPTED = 130

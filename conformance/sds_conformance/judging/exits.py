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
    OURS = 70
    """Something of this suite failed, or what it has to say could not be written."""
    INTERRUPTED = 130
    """By Ctrl-C or, until it is known by which signal, by any that asks for the end."""
    HUNG_UP = 129
    TERMINATED = 143
    CLOSED_PIPE = 141
    """Whoever read what is printed went away before its end, as `head` does."""

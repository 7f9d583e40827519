"""Exit codes of the commands."""

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
    """The suite failed, or its output could not be written."""
    INTERRUPTED = 130
    """Interrupted by Ctrl-C. The ``exit_code`` of a result is this code after any signal, because results do not record
    the signal.
    """
    HUNG_UP = 129
    TERMINATED = 143
    CLOSED_PIPE = 141
    """stdout was closed early (EPIPE), as `head` does."""

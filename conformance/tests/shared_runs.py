"""How the processes of a shared run get their implementations; a module that they all can import."""

from __future__ import annotations

import os
import signal
from collections.abc import Mapping, Sequence
from pathlib import Path

from sds_harness.link import Limits, Link, StdioLink
from sds_testee.framing import Framing


def started(command: Sequence[str], folder: Path | None, variables: Mapping[str, str]) -> Link:
    """One process more; the number of ours that asked for it is the name of a file in the folder."""
    if folder is not None:
        (folder / str(os.getpid())).touch()
    return StdioLink(command, Framing.BINARY, Limits(), variables)


def only_here(command: Sequence[str], here: int, variables: Mapping[str, str]) -> Link:
    """One process gets an implementation; the others end as if killed."""
    if os.getpid() != here:
        os.kill(os.getpid(), signal.SIGKILL)
    return started(command, None, variables)


def without_room(command: Sequence[str], here: int, variables: Mapping[str, str]) -> Link:
    """One process gets an implementation; for the others the machine has no room for another thread."""
    if os.getpid() != here:
        raise RuntimeError("can't start new thread")
    return started(command, None, variables)

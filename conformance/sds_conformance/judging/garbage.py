"""When to look for garbage: what is played and read is many objects that live and die together."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

PIECES = 500
"""After so many pieces of work all is looked through, for some of it may have lived on for a while."""


@contextmanager
def garbage_waits() -> Iterator[None]:
    """While a trace is read, or code: to look among what is made of it finds nothing, and takes a sixth of the time."""
    looked_for = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if looked_for:
            gc.enable()


@contextmanager
def garbage_at_the_end() -> Iterator[None]:
    """While one piece of work is done of which nothing but its outcome is left: what is played and read hangs together
    in circles, and is looked through once, when nobody needs it any more."""
    with garbage_waits():
        yield
        gc.collect(2 if gc.get_count()[2] >= PIECES else 1)


@contextmanager
def rarely_collecting() -> Iterator[None]:
    """For as long as much is played: looking through it again and again takes a fifth of the time."""
    before = gc.get_threshold()
    gc.freeze()
    gc.set_threshold(100_000, 20, 20)
    try:
        yield
    finally:
        gc.set_threshold(*before)
        gc.unfreeze()

"""Decides when the cyclic garbage collector runs. Frequent collections waste time: the many objects that playing and
reading create are freed together at the end.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

PIECES = 500
"""Number of partial collections after which a full collection runs. A full collection frees objects that survived
partial collections.
"""


@contextmanager
def garbage_collection_paused() -> Iterator[None]:
    """Disable the collector while a trace or code is read: it would find no garbage and take a sixth of the time."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


@contextmanager
def garbage_collected_at_end() -> Iterator[None]:
    """Collect garbage once after a piece of work, when only the result of the work is kept.

    Traces are full of reference cycles, which can be freed only when the work is done.
    """
    with garbage_collection_paused():
        yield
        gc.collect(2 if gc.get_count()[2] >= PIECES else 1)


def make_garbage_collection_rare() -> None:
    """Collect rarely from now on: in a process that plays many runs, frequent collections take a fifth of the time."""
    gc.set_threshold(100_000, 20, 20)


@contextmanager
def rare_garbage_collection() -> Iterator[None]:
    """Collect rarely while many runs are played."""
    before = gc.get_threshold()
    gc.freeze()
    make_garbage_collection_rare()
    try:
        yield
    finally:
        gc.set_threshold(*before)
        gc.unfreeze()

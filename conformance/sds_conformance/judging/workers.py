"""Processes of ours that work for this one: begun afresh, ended with it, and what they report comes here."""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from multiprocessing.process import BaseProcess
from queue import Empty
from typing import Any

from sds_harness.family import adopt
from sds_harness.signals import follow_parent

PATIENCE_S = 5.0
FAREWELL_S = 0.5
"""So long a worker may take to end its implementation before it is killed, and the guardian has to do it."""
_AT_ONCE_S = 0.2


class Workers:
    """Some processes, and the queue of what they report."""

    # A fresh interpreter for each: a fork of this one would share its pipes and its threads.
    context = multiprocessing.get_context("spawn")

    def __init__(self) -> None:
        self.reports = self.context.Queue()
        self._processes: list[BaseProcess] = []

    def start(self, work: Callable[..., None], *given: Any) -> None:
        """One more, which does ``work`` with the queue of reports and what is given, all of it picklable."""
        worker = self.context.Process(target=_begin, args=(work, self.reports, *given))
        worker.start()
        self._processes.append(worker)

    def report(self, *, wait: bool = True) -> Any:
        """The next report; None if there is none, after a moment if it is worth to ``wait``."""
        try:
            return self.reports.get(timeout=_AT_ONCE_S) if wait else self.reports.get_nowait()
        except Empty:
            return None

    @property
    def alive(self) -> int:
        return sum(worker.is_alive() for worker in self._processes)

    def lost(self) -> list[int]:
        """The exit codes of those that did not end as they should; all get a moment to end."""
        for worker in self._processes:
            worker.join(PATIENCE_S)
        return [worker.exitcode for worker in self._processes if worker.exitcode]

    def end(self) -> None:
        """End all that have not ended by themselves, and their implementations with them."""
        for worker in self._processes:
            worker.terminate()
        for worker in self._processes:
            worker.join(FAREWELL_S)
            if worker.is_alive():
                worker.kill()
                worker.join()
        self.reports.cancel_join_thread()


@contextmanager
def workers() -> Iterator[Workers]:
    """Workers that are ended at the end of the block, however it ends."""
    out = Workers()
    try:
        yield out
    finally:
        out.end()


def _begin(work: Callable[..., None], reports: Any, *given: Any) -> None:
    follow_parent(unwinding=True)
    adopt()
    try:
        work(reports, *given)
    except SystemExit:
        reports.cancel_join_thread()  # nobody reads them any more
        raise

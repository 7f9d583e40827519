"""Processes of ours that work for this one: ended with it, and what they report comes here."""

from __future__ import annotations

import multiprocessing
import os
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, nullcontext, suppress
from multiprocessing import resource_tracker
from multiprocessing.process import BaseProcess
from multiprocessing.util import get_temp_dir
from queue import Empty
from types import SimpleNamespace
from typing import Any

from sds_harness.family import adopt, dismiss
from sds_harness.resources import ResourceMissing, explain, in_socket_folder, why_alone
from sds_harness.safe_path import safe_path
from sds_harness.signals import follow_parent
from sds_harness.watchdog import watch_worker

PATIENCE_S = 5.0
FAREWELL_S = 0.5
"""So long a worker may take to end its implementation before it is killed, and the guardian has to do it."""
_AT_ONCE_S = 0.2
_NO_ROOM = 75
"""The exit code of a worker that lacks a resource of the machine: EX_TEMPFAIL."""
_FORKED_BY_NOBODY = 255
"""The exit code that multiprocessing reports when the process that forks workers has ended: it could not fork."""


class Workers:
    """Some processes, and the queue of what they report."""

    # A fork of this process would share its pipes and its threads. They are forks of one that has neither, and has
    # imported what this one has: a fresh interpreter for each takes longer to do that than many a schedule.
    context = multiprocessing.get_context("forkserver")

    def __init__(self) -> None:
        self._reports: Any = None
        self._processes: list[BaseProcess] = []
        with safe_path(), suppress(OSError):  # the first lock would start it, wherever that is made
            resource_tracker.ensure_running()

    def start(self, work: Callable[..., None], *given: Any) -> None:
        """One more, which does ``work`` with the queue of reports and what is given, all of it picklable. Raises
        ResourceMissing."""
        environment = dict(os.environ)
        with safe_path():  # locks bring a process that cleans up after them
            if self._reports is None:
                prepare()
                self._reports = self.context.Queue()
            self.context.set_forkserver_preload(["__main__", *_ours()])
            worker = self.context.Process(target=_begin, args=(environment, work, self._reports, *given))
            try:
                worker.start()
            except (EOFError, OSError) as error:
                forked = "it could not be forked" if isinstance(error, EOFError) else f"{type(error).__name__}: {error}"
                said = explain(error) or forked
                raise ResourceMissing(f"a process of the suite did not start. {said}") from error
        self._processes.append(worker)

    def report(self, *, wait: bool = True) -> Any:
        """The next report; None if there is none, after a moment if it is worth to ``wait``."""
        if self._reports is None:
            return None
        try:
            return self._reports.get(timeout=_AT_ONCE_S) if wait else self._reports.get_nowait()
        except Empty:
            return None

    def counter(self, *, shared: bool) -> Any:
        """A number from 0 on with a lock; one that is not ``shared`` with others needs nothing of the machine."""
        return self.context.Value("q", 0) if shared else SimpleNamespace(value=0, get_lock=nullcontext)

    @property
    def alive(self) -> int:
        return sum(worker.is_alive() for worker in self._processes)

    def lost(self) -> list[int]:
        """The exit codes of those that did not end as they should; all get a moment to end.

        Workers for which the machine had no room are not among them: the work that they left has to be done here.
        """
        for worker in self._processes:
            worker.join(PATIENCE_S)
        codes = [worker.exitcode for worker in self._processes if worker.exitcode]
        return [code for code in codes if code not in (_NO_ROOM, _FORKED_BY_NOBODY)]

    def end(self) -> None:
        """End all that have not ended by themselves, and their implementations with them."""
        for worker in self._processes:
            worker.terminate()
        for worker in self._processes:
            worker.join(FAREWELL_S)
            if worker.is_alive():
                worker.kill()
                worker.join()
        if self._reports is not None:
            self._reports.cancel_join_thread()


def prepare() -> None:
    """Make sure that processes of ours can be started, in whatever environment. Raises ResourceMissing."""
    if why := why_alone():
        raise ResourceMissing(why)
    with in_socket_folder():
        get_temp_dir()  # which multiprocessing keeps, with its sockets


@contextmanager
def workers() -> Iterator[Workers]:
    """Workers that are ended at the end of the block, however it ends."""
    out = Workers()
    try:
        yield out
    finally:
        out.end()


def _ours() -> list[str]:
    """The modules of this suite that were imported, in that order."""
    suite = __name__.partition(".")[0]
    return [name for name in sys.modules if name.partition(".")[0] == suite]


def _begin(environment: Mapping[str, str], work: Callable[..., None], reports: Any, *given: Any) -> None:
    try:
        follow_parent(unwinding=True)
        adopt()
        watch_worker()
        os.environ.clear()  # what is forked has the one of long ago
        os.environ.update(environment)
        work(reports, *given)
    except SystemExit:
        reports.cancel_join_thread()  # nobody reads them any more
        raise
    except Exception as error:
        if not explain(error):
            raise
        sys.exit(_NO_ROOM)
    finally:
        dismiss()  # a fork ends without what is to be done at the exit

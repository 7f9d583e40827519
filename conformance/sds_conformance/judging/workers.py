"""Worker processes of the suite: they end with this process and report to it."""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from multiprocessing import resource_tracker
from multiprocessing.process import BaseProcess
from multiprocessing.util import get_temp_dir
from queue import Empty
from typing import Any

from sds_harness.family import adopt, dismiss
from sds_harness.resources import MissingResourceError, explain, in_socket_folder, why_alone
from sds_harness.safe_path import safe_path
from sds_harness.signals import defer_signals, follow_parent
from sds_harness.watchdog import watch_worker

PATIENCE_S = 5.0
ENDING_S = 0.5
"""Seconds that a worker has to end its implementation. After that the worker is killed, and the guardian process ends
the implementation.
"""
_AT_ONCE_S = 0.2
_NO_ROOM = 75
"""The exit code of a worker that lacks a resource of the machine: EX_TEMPFAIL."""
_FORK_SERVER_ENDED = 255
"""The exit code that multiprocessing reports if the fork server has ended because it could not fork."""


class Workers:
    """Some worker processes, and the queue of their reports."""

    # Forks of this process would share its pipes and threads. Workers are forks of a server that has no pipes or
    # threads and has imported the same modules. Starting a new interpreter for each worker would take longer than
    # playing some schedules.
    context = multiprocessing.get_context("forkserver")

    def __init__(self) -> None:
        self._reports: Any = None
        self._processes: list[BaseProcess] = []
        # Start the resource tracker of multiprocessing here: a lock would start the tracker with an unsafe path.
        with safe_path(), suppress(OSError):
            resource_tracker.ensure_running()

    def start(self, work: Callable[..., None], *arguments: Any) -> None:
        """Start a worker that calls ``work`` with the queue of reports and the given arguments, which must be
        picklable. Raises MissingResourceError.
        """
        environment = dict(os.environ)
        with safe_path():  # the lock of the queue starts the resource tracker, if it does not run
            if self._reports is None:
                prepare()
                self._reports = self.context.Queue()
            self.context.set_forkserver_preload(["__main__", *_find_suite_modules()])
            worker = self.context.Process(target=_run_worker, args=(environment, work, self._reports, *arguments))
            try:
                # An interrupt here would leave a worker running after the command has ended.
                with defer_signals(), _interrupts_blocked():
                    worker.start()
                    self._processes.append(worker)
            except (EOFError, OSError) as error:
                forked = (
                    "The process could not be forked"
                    if isinstance(error, EOFError)
                    else f"{type(error).__name__}: {error}"
                )
                reason = explain(error) or forked
                raise MissingResourceError(f"a process of the suite did not start. {reason}") from error

    def report(self, *, wait: bool = True) -> Any:
        """Return the next report; None if there is none. With ``wait``, wait up to 0.2 s."""
        if self._reports is None:
            return None
        try:
            return self._reports.get(timeout=_AT_ONCE_S) if wait else self._reports.get_nowait()
        except Empty:
            return None

    @property
    def alive_count(self) -> int:
        return sum(worker.is_alive() for worker in self._processes)

    def wait_for_failures(self) -> list[int]:
        """Wait for all workers, up to `PATIENCE_S` seconds each, and return the exit codes of those that failed.

        Workers that lacked a system resource are not included: this process does their remaining work.
        """
        for worker in self._processes:
            worker.join(PATIENCE_S)
        codes = [worker.exitcode for worker in self._processes if worker.exitcode]
        return [code for code in codes if code not in (_NO_ROOM, _FORK_SERVER_ENDED)]

    def end(self) -> None:
        """End all running workers, and their implementations with them."""
        for worker in self._processes:
            worker.terminate()
        for worker in self._processes:
            worker.join(ENDING_S)
            if worker.is_alive():
                worker.kill()
                worker.join()
        if self._reports is not None:
            self._reports.cancel_join_thread()


@contextmanager
def _interrupts_blocked() -> Iterator[None]:
    """Block SIGINT while the first worker starts the fork server, which inherits the signal mask.

    An interrupt would reach the fork server while it imports modules, and it would print a traceback.
    """
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def prepare() -> None:
    """Check that worker processes can be started in this environment. Raises MissingResourceError."""
    if why := why_alone():
        raise MissingResourceError(why)
    with in_socket_folder():
        get_temp_dir()  # multiprocessing stores this folder and puts its sockets there


@contextmanager
def workers() -> Iterator[Workers]:
    """Provide workers, and end them when the block ends."""
    out = Workers()
    try:
        yield out
    finally:
        out.end()


def _find_suite_modules() -> list[str]:
    """The imported modules of this suite, in the order of import."""
    suite = __name__.partition(".")[0]
    return [name for name in sys.modules if name.partition(".")[0] == suite]


def _run_worker(environment: Mapping[str, str], work: Callable[..., None], reports: Any, *arguments: Any) -> None:
    try:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})  # see _interrupts_blocked
        follow_parent(unwinding=True)
        adopt()
        watch_worker()
        os.environ.clear()  # a fork has the environment of the fork server
        os.environ.update(environment)
        work(reports, *arguments)
    except SystemExit:
        reports.cancel_join_thread()  # nothing reads the reports any more
        raise
    except Exception as error:
        if not explain(error):
            raise
        sys.exit(_NO_ROOM)
    finally:
        dismiss()  # exit handlers do not run in a fork

"""Ends this program cleanly on Ctrl-C, SIGTERM and SIGHUP, which are handled in the same way.

The entry point of the program wraps its work in ``with handle_signals() as ending:``. Then the first signal

- calls the hooks, each in its own thread (see below),
- raises KeyboardInterrupt in the main thread, so that finished work is judged, reported and stored,
- kills all child processes and ends the program GRACE_S seconds later, however busy it is.

A second signal does the last step at once. Signals within AGAIN_S of the first one are ignored: `timeout`, terminals
and package runners send each signal twice.

**To add a hook**, for work that waits where no exception reaches it::

    from sds_harness import signals

    with signals.call_on_signal(spark.sparkContext.cancelAllJobs):
        ...  # KeyboardInterrupt is raised here, while the hook runs in another thread

Python drops an exception that is raised in a destructor or in a callback of the garbage collector. If Python drops the
KeyboardInterrupt, this module raises it again.

A hook has GRACE_S seconds; exceptions that it raises are ignored. To keep an interrupt out of a section, for example
while results are being written, use ``with signals.defer_signals():``, or ``signals.hold_interrupts()`` for the rest of
the command.
"""

from __future__ import annotations

import _thread
import contextlib
import os
import signal
import stat
import sys
import threading
import time
from collections.abc import Callable, Iterator
from types import FrameType
from typing import NoReturn

import psutil

GRACE_S = 4.0
"""Seconds after the first signal at which the program kills its child processes and ends."""
AGAIN_S = 1.0
_SOON_S = 0.02
"""Seconds after which a destructor or a callback has surely returned."""
HEEDED = tuple(signal.Signals[name] for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name))

Hook = Callable[[], object]
_hooks: list[Hook] = []
_endings: list[EndRequest] = []
_holding = 0


class EndRequest:
    """Records whether a signal has requested the end of this program, and which signal."""

    def __init__(self) -> None:
        self.number = 0
        """The number of the first signal; 0 if there was none."""
        self._came = 0.0
        self._dropped = False
        """Whether Python dropped the KeyboardInterrupt, so that it must be raised again."""
        self._process = os.getpid()

    @property
    def exit_code(self) -> int:
        """The exit code that shells expect from a program that a signal has ended: 128 plus the number of the
        signal."""
        return 128 + self.number

    @property
    def by_others(self) -> bool:
        """Whether the signal came from another program, not from Ctrl-C."""
        return self.number not in (0, signal.SIGINT)

    @property
    def name(self) -> str:
        return signal.Signals(self.number).name

    def handle(self, number: int, frame: FrameType | None = None) -> None:
        """The signal handler. Raises KeyboardInterrupt at the first signal, unless interrupts are held back."""
        if os.getpid() != self._process:
            os._exit(128 + number)  # a fork that has no handlers of its own yet
        if self.number:
            if self._dropped and not _holding:
                self._dropped = False
                raise KeyboardInterrupt
            if time.monotonic() - self._came >= AGAIN_S:
                end_now(self.exit_code)
            return
        self.number, self._came = number, time.monotonic()
        _leave_dead_terminals()
        for hook in _hooks:
            threading.Thread(target=_run_suppressing_errors, args=(hook,), daemon=True).start()
        threading.Thread(target=self._end_later, args=(GRACE_S,), daemon=True).start()
        if not _holding:
            raise KeyboardInterrupt

    def raise_again(self) -> None:
        """Raise KeyboardInterrupt in the main thread again in a moment, because Python dropped it."""
        self._dropped = True
        timer = threading.Timer(_SOON_S, _signal_main_thread, (self.number,))
        timer.daemon = True
        timer.start()

    def _end_later(self, seconds: float) -> None:
        time.sleep(seconds)
        end_now(self.exit_code)


@contextlib.contextmanager
def handle_signals() -> Iterator[EndRequest]:
    """Handle signals until the end of the block. Outside the main thread this changes nothing.

    Signals that were ignored before stay ignored: `nohup` and the background jobs of shells rely on that.
    """
    global _holding
    ending, before, holding, hook = EndRequest(), {}, _holding, sys.unraisablehook

    def dropped(unraisable: sys.UnraisableHookArgs) -> None:
        if isinstance(unraisable.exc_value, KeyboardInterrupt) and ending.number:
            ending.raise_again()
        else:
            hook(unraisable)

    _endings.append(ending)
    if threading.current_thread() is threading.main_thread():
        before = {number: handler for number in HEEDED if (handler := signal.getsignal(number)) != signal.SIG_IGN}
        for number in before:
            signal.signal(number, ending.handle)
        sys.unraisablehook = dropped
    try:
        yield ending
    finally:
        _holding = holding
        _endings.remove(ending)
        if sys.unraisablehook is dropped:
            sys.unraisablehook = hook
        # After a signal, keep the handlers: the shutdown of Python itself may block.
        if not ending.number:
            for number, handler in before.items():
                signal.signal(number, handler)


def end_was_requested() -> bool:
    """Has a signal requested the end of this program? If so, later failures may be a result of the signal."""
    return any(ending.number for ending in _endings)


@contextlib.contextmanager
def call_on_signal(hook: Hook) -> Iterator[None]:
    """If a signal arrives during the block, ``hook`` is called in another thread."""
    _hooks.append(hook)
    try:
        yield
    finally:
        _hooks.remove(hook)


@contextlib.contextmanager
def defer_signals() -> Iterator[None]:
    """A signal that arrives during the block does not interrupt the block. Its grace period of GRACE_S still starts."""
    global _holding
    _holding += 1
    try:
        yield
    finally:
        _holding -= 1


def hold_interrupts() -> None:
    """Do not raise KeyboardInterrupt until the end of ``handle_signals``. For commands that only have to report their
    results."""
    global _holding
    _holding += 1


def follow_parent(*, unwinding: bool = False) -> None:
    """Ignore signals in a worker process, because the parent process handles them and ends its workers.

    If the parent has ended for any reason, this process ends as well. With ``unwinding``, ``finally`` blocks run on
    SIGTERM.
    """
    for number in HEEDED:
        # Not SIG_IGN: processes that are started from here would inherit it.
        signal.signal(number, _leave_it)
    signal.signal(signal.SIGTERM, _exit_on_signal if unwinding else signal.SIG_DFL)
    threading.Thread(target=_end_with_parent, daemon=True).start()


def end_now(code: int) -> NoReturn:
    """Kill all descendants of this process and end it without any output."""
    with contextlib.suppress(psutil.Error, OSError, LookupError, RuntimeError, ValueError):
        for child in psutil.Process().children(recursive=True):
            with contextlib.suppress(psutil.Error):
                child.kill()
    os._exit(code)


def _end_with_parent() -> None:
    import multiprocessing

    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        end_now(128 + signal.SIGKILL)


def _leave_it(number: int, frame: FrameType | None) -> None:
    """Ignore a signal in a worker process, because the parent process ends its workers."""


def _exit_on_signal(number: int, frame: FrameType | None) -> None:
    sys.exit(128 + number)


def _signal_main_thread(number: int) -> None:
    main = threading.main_thread().ident
    if hasattr(signal, "pthread_kill") and main is not None:
        signal.pthread_kill(main, number)  # the signal also ends a blocking wait
    else:
        _thread.interrupt_main(signal.Signals(number))


def _run_suppressing_errors(hook: Hook) -> None:
    with contextlib.suppress(Exception):
        hook()


def _leave_dead_terminals() -> None:
    """Replace closed terminals by /dev/null after a hangup, so that reports can still be written."""
    for number in (1, 2):
        with contextlib.suppress(OSError):
            if stat.S_ISCHR(os.fstat(number).st_mode) and not os.isatty(number):
                nowhere = os.open(os.devnull, os.O_WRONLY)
                os.dup2(nowhere, number)
                os.close(nowhere)

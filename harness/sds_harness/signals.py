"""What ends this program from outside: Ctrl-C, SIGTERM and SIGHUP, all three in the same way.

The program's entry says once ``with heeded() as ending:``. From then on the first signal

- calls the hooks, in a thread of their own (see below),
- raises KeyboardInterrupt in the main thread, as Ctrl-C always did: what was played is judged, told and kept,
- and GRACE_S seconds later kills whatever this program has started and ends it, however busy it is.

A second signal does the latter at once. Those that come within AGAIN_S of the first are the first: `timeout`, terminals
and package runners send it twice.

**To add a hook**, for work that no exception reaches because it waits elsewhere::

    from sds_harness import signals

    with signals.calling(spark.sparkContext.cancelAllJobs):
        ...  # KeyboardInterrupt comes here, while the hook runs in another thread

A hook has GRACE_S seconds, and what it raises is nobody's. Where an interrupt must not come in between, because what
was played is just being told, say ``with signals.held():`` or, for all that is left to do, ``signals.hold()``.
"""

from __future__ import annotations

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
"""From the first signal to the end, whatever happens: what is then killed needs a moment, too."""
AGAIN_S = 1.0
HEEDED = tuple(signal.Signals[name] for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name))

Hook = Callable[[], object]
_hooks: list[Hook] = []
_endings: list[Ending] = []
_holding = 0


class Ending:
    """Whether this program was asked to end, and by what."""

    def __init__(self) -> None:
        self.number = 0
        """Of the first signal, 0 if there was none."""
        self._came = 0.0
        self._process = os.getpid()

    @property
    def exit_code(self) -> int:
        """What shells expect of a program that a signal has ended."""
        return 128 + self.number

    @property
    def by_others(self) -> bool:
        """It was not somebody at the keyboard."""
        return self.number not in (0, signal.SIGINT)

    @property
    def name(self) -> str:
        return signal.Signals(self.number).name

    def heed(self, number: int, frame: FrameType | None = None) -> None:
        """The handler. Raises KeyboardInterrupt at the first signal, unless that is held back."""
        if os.getpid() != self._process:
            os._exit(128 + number)  # a fork that has no handlers of its own yet
        if self.number:
            if time.monotonic() - self._came >= AGAIN_S:
                end_now(self.exit_code)
            return
        self.number, self._came = number, time.monotonic()
        _leave_dead_terminals()
        for hook in _hooks:
            threading.Thread(target=_quietly, args=(hook,), daemon=True).start()
        threading.Thread(target=self._end_later, args=(GRACE_S,), daemon=True).start()
        if not _holding:
            raise KeyboardInterrupt

    def _end_later(self, seconds: float) -> None:
        time.sleep(seconds)
        end_now(self.exit_code)


@contextlib.contextmanager
def heeded() -> Iterator[Ending]:
    """Until the end of the block, signals end this program in order. Outside the main thread nothing changes.

    What was ignored before stays so: that is how `nohup` and the background jobs of shells ask for it.
    """
    global _holding
    ending, before, holding = Ending(), {}, _holding
    _endings.append(ending)
    if threading.current_thread() is threading.main_thread():
        before = {number: handler for number in HEEDED if (handler := signal.getsignal(number)) != signal.SIG_IGN}
        for number in before:
            signal.signal(number, ending.heed)
    try:
        yield ending
    finally:
        _holding = holding
        _endings.remove(ending)
        # Who was asked to end may still be held up, by what Python does at its own end.
        if not ending.number:
            for number, handler in before.items():
                signal.signal(number, handler)


def asked() -> bool:
    """Was this program asked to end? Whatever fails from then on may fail because of that."""
    return any(ending.number for ending in _endings)


@contextlib.contextmanager
def calling(hook: Hook) -> Iterator[None]:
    """A signal that comes within the block calls ``hook``, in another thread."""
    _hooks.append(hook)
    try:
        yield
    finally:
        _hooks.remove(hook)


@contextlib.contextmanager
def held() -> Iterator[None]:
    """A signal that comes within the block interrupts nothing in it; the grace begins all the same."""
    global _holding
    _holding += 1
    try:
        yield
    finally:
        _holding -= 1


def hold() -> None:
    """The same until the end of ``heeded``: for commands that have done all there is to do, and tell it now."""
    global _holding
    _holding += 1


def follow_parent(*, unwinding: bool = False) -> None:
    """For a process that works for another one of ours: it is that one which is asked to stop, and which ends us.

    If it is gone, however that came, this process ends as well. When it is ended by SIGTERM, ``finally`` blocks run
    if it is ``unwinding``.
    """
    for number in HEEDED:
        # Not SIG_IGN: that would be inherited by what is started from here.
        signal.signal(number, _leave_it)
    signal.signal(signal.SIGTERM, _unwind if unwinding else signal.SIG_DFL)
    threading.Thread(target=_end_with_parent, daemon=True).start()


def end_now(code: int) -> NoReturn:
    """End this process and all that come of it, without another word."""
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
    """Nothing: the parent says what becomes of it."""


def _unwind(number: int, frame: FrameType | None) -> None:
    sys.exit(128 + number)


def _quietly(hook: Hook) -> None:
    with contextlib.suppress(Exception):
        hook()


def _leave_dead_terminals() -> None:
    """After a hangup the terminal takes nothing any more: what is told, and kept beside it, must not fail by that."""
    for number in (1, 2):
        with contextlib.suppress(OSError):
            if stat.S_ISCHR(os.fstat(number).st_mode) and not os.isatty(number):
                nowhere = os.open(os.devnull, os.O_WRONLY)
                os.dup2(nowhere, number)
                os.close(nowhere)

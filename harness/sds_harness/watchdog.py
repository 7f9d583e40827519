"""Ends calls that block without end while an implementation is tested, if the deadlines of links do not end them.

Every link enforces its own deadlines: it kills a process that does not answer, and cancels a call. But a call can block
where no deadline of a link applies: in a library, in a system call, in the end of a process. So a session makes all
calls to its link within ``limit_time(seconds)``. A thread watches these deadlines.

1. GRACE_S seconds after a deadline, the thread interrupts the main thread with a signal. The handler raises
   OverdueError in the block. The session turns it into a breakdown, and the finished steps are judged and reported.
2. LAST_S seconds later, if the block still has not ended, the program reports that and ends.

``run_watchdog`` switches the watchdog on. Only programs of the suite do so. In other programs, and outside the main
thread, ``limit_time`` does nothing.
"""

from __future__ import annotations

import math
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import NoReturn

from . import signals

GRACE_S = 10.0
"""Seconds from a deadline to the first interrupt. A link needs some of them to kill a process, to read its last lines
of stderr, and to read a large reply on a busy machine."""
LAST_S = 10.0
"""Seconds from the first interrupt to the end of the program, if the block has not ended by then."""
_AGAIN_S = 3.0
"""Seconds between two interrupts: the cleanup after the first one needs some time."""
_LOOK_EVERY_S = 0.25
_SIGNAL = getattr(signal, "SIGALRM", None)

_deadlines: list[float] = []
"""The deadlines of the nested ``limit_time`` blocks in which the main thread is; the innermost block is last."""
_on = False


class OverdueError(BaseException):
    """A block did not end in time. This is not a subclass of Exception, because a library might catch every
    Exception."""


@contextmanager
def limit_time(seconds: float) -> Iterator[None]:
    """Raise OverdueError in the block if the block has not ended after ``seconds`` plus GRACE_S seconds."""
    if not _on or threading.current_thread() is not threading.main_thread():
        yield
        return
    _deadlines.append(time.monotonic() + seconds)
    try:
        yield
    finally:
        _deadlines.pop()


@contextmanager
def run_watchdog(give_up: Callable[[], NoReturn]) -> Iterator[None]:
    """Switch the watchdog on until the end of the block. ``give_up`` is called in another thread and must end the
    program."""
    global _on
    if _on or _SIGNAL is None or threading.current_thread() is not threading.main_thread():
        yield
        return
    ended = threading.Event()
    before = signal.signal(_SIGNAL, _interrupt)
    thread = threading.Thread(target=_watch, args=(ended, give_up), daemon=True)
    thread.start()
    _on = True
    try:
        yield
    finally:
        _on = False
        ended.set()
        thread.join()  # no signal may arrive after the handler is removed
        signal.signal(_SIGNAL, before)


def watch_worker() -> None:
    """Switch the watchdog on permanently, in a worker process."""
    global _on
    if _SIGNAL is not None:
        signal.signal(_SIGNAL, _interrupt)
        give_up = lambda: signals.end_now(128 + signal.SIGALRM)  # noqa: E731
        threading.Thread(target=_watch, args=(threading.Event(), give_up), daemon=True).start()
        _on = True


def _deadline() -> float:
    return min(tuple(_deadlines), default=math.inf)


def _interrupt(number: int, frame: FrameType | None) -> None:
    # The block may have ended just before the signal arrived.
    if time.monotonic() >= _deadline() + GRACE_S:
        raise OverdueError


def _watch(ended: threading.Event, give_up: Callable[[], NoReturn]) -> None:
    assert _SIGNAL is not None
    main = threading.main_thread().ident
    assert main is not None
    about, first, last = math.inf, 0.0, 0.0
    while not ended.wait(_LOOK_EVERY_S):
        deadline, now = _deadline(), time.monotonic()
        if now < deadline + GRACE_S:
            continue
        if deadline != about:
            about, first, last = deadline, now, -math.inf
        if now - first >= LAST_S:
            give_up()
        if now - last >= _AGAIN_S:
            last = now
            signal.pthread_kill(main, _SIGNAL)

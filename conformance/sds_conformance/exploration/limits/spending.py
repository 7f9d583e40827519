"""How much of the processors an implementation has had: what it takes by the clock hangs on who else is there."""

from __future__ import annotations

import contextlib
import time

import psutil


def spent_s(pid: int | None) -> float:
    """Seconds of processors that a process and its children have had so far; of this process where none was started
    for the implementation, which may then be in it."""
    if pid is None:
        return time.process_time()
    total = 0.0
    with contextlib.suppress(psutil.Error):
        process = psutil.Process(pid)
        for one in (process, *process.children(recursive=True)):
            with contextlib.suppress(psutil.Error):
                times = one.cpu_times()
                total += times.user + times.system
    return total

"""CPU time of an implementation: wall time would depend on other processes."""

from __future__ import annotations

import contextlib
import time

import psutil


def spent_s(pid: int | None) -> float:
    """CPU seconds that process ``pid`` and its children have used; None means this process."""
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

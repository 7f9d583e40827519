"""Points in time by the monotonic clock of the machine, which cannot be set. All deadlines are reckoned from them.

Processes of one machine share that clock (CLOCK_MONOTONIC), so a moment stays the same in a worker process. On another
machine, an executor of Spark for example, the clock has another origin: there a moment is as many seconds ago as it was
when it was pickled.
"""

from __future__ import annotations

import platform
import time
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

_BOOT_ID = Path("/proc/sys/kernel/random/boot_id")


@dataclass(frozen=True)
class Moment:
    """A point in time; the present without arguments."""

    at_s: float = field(default_factory=time.monotonic)

    @property
    def ago_s(self) -> float:
        """Seconds since then; negative for a moment to come."""
        return time.monotonic() - self.at_s

    def __reduce__(self) -> tuple[object, ...]:
        return _unpickled, (_machine(), self.at_s, self.ago_s)


def after(seconds: float) -> Moment:
    """The moment in so many seconds."""
    return Moment(time.monotonic() + seconds)


def _unpickled(machine: str, at_s: float, ago_s: float) -> Moment:
    return Moment(at_s if machine == _machine() else time.monotonic() - ago_s)


@cache
def _machine() -> str:
    """Names the machine since it was booted."""
    try:
        return _BOOT_ID.read_text("ascii").strip()
    except OSError:
        return platform.node()

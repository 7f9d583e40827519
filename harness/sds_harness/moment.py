"""Points in time on the monotonic clock of the machine, which cannot be set. All deadlines are computed from them.

Processes of one machine share that clock (CLOCK_MONOTONIC), so a moment means the same in a worker process. On another
machine, such as an executor of Spark, the clock has another origin. There a moment lies as many seconds in the past as
it did when it was pickled.
"""

from __future__ import annotations

import platform
import time
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

_BOOT_ID = Path("/proc/sys/kernel/random/boot_id")


@dataclass(frozen=True)
class Instant:
    """A point in time; without arguments, the present."""

    at_s: float = field(default_factory=time.monotonic)

    @property
    def ago_s(self) -> float:
        """Seconds since the moment; negative if it is in the future."""
        return time.monotonic() - self.at_s

    def __reduce__(self) -> tuple[object, ...]:
        return _restore, (_machine(), self.at_s, self.ago_s)


def after(seconds: float) -> Instant:
    """The moment that is ``seconds`` from now."""
    return Instant(time.monotonic() + seconds)


def _restore(machine: str, at_s: float, ago_s: float) -> Instant:
    return Instant(at_s if machine == _machine() else time.monotonic() - ago_s)


@cache
def _machine() -> str:
    """An ID of the machine that is stable until the next boot."""
    try:
        return _BOOT_ID.read_text("ascii").strip()
    except OSError:
        return platform.node()

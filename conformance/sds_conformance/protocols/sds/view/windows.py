"""Time windows: unknown times with known bounds."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from sds_harness.sds.trace import Trace
from sds_proto.testee.v1 import testee_pb2 as pb

DAY_MS = 24 * 3_600_000
CLOCK_ERROR_MS = 1_800_000
"""Half an hour in milliseconds. The clock of an implementation may be wrong by this time, and a run may take as
long.
"""


@dataclass(frozen=True, slots=True)
class Window:
    """Two bounds of a time, both inclusive, in milliseconds: offsets from a step, or epoch times."""

    low: int
    high: int

    @property
    def exact(self) -> bool:
        return self.low == self.high

    def after(self, since_ms: int) -> Window:
        """Convert offsets to epoch times, by adding the epoch time ``since_ms``."""
        return Window(since_ms + self.low, since_ms + self.high)

    def __contains__(self, time_ms: int) -> bool:
        return self.low <= time_ms <= self.high

    def overlaps(self, other: Window, slack_ms: int = 0) -> bool:
        """Can the two windows contain the same time, if one is widened by ``slack_ms`` at both ends?"""
        return self.low <= other.high + slack_ms and other.low <= self.high + slack_ms


def clock_at(trace: Trace, now_ms: int) -> Window:
    """The times that the clock of an implementation can show at a step with the time ``now_ms``.

    A clock that is not virtual shows about the real time, which the schedule cannot change. An implementation may also
    use the given time without declaring it.
    """
    if trace.declaration.can(pb.CAPABILITY_VIRTUAL_CLOCK) or not trace.revision.lamport_follows_clock:
        return _exactly(now_ms)
    return Window(min(trace.start_ms - CLOCK_ERROR_MS, now_ms), max(trace.start_ms + CLOCK_ERROR_MS, now_ms))


def earliest_clock(trace: Trace, now_ms: int) -> int:
    """The earliest time, in epoch milliseconds, that the clock can show at a step. Declared bounds of timestamps count
    from this time.

    An implementation that declares such a bound and uses its own clock keeps the clock right within a quarter of the
    bound (AMB-107). Otherwise an error of half an hour would put every timestamp beyond the bound.
    """
    bound, low = trace.declaration.limit("lamport_ahead_ms"), clock_at(trace, now_ms).low
    if bound is None or low == now_ms:
        return low
    return max(low, min(now_ms, trace.start_ms) - bound // 4)


@lru_cache(1_024)
def _exactly(time_ms: int) -> Window:
    """Create a window of one time. Cached, because all participants are asked about the same times."""
    return Window(time_ms, time_ms)

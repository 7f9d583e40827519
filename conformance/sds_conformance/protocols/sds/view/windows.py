"""Times that are known to lie between two bounds."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from sds_harness.sds.trace import Trace
from sds_proto.testee.v1 import testee_pb2 as pb

ASTRAY_MS = 1_800_000
"""Half an hour: by so much a clock that nobody sets may be wrong, and as long may a run take."""


@dataclass(frozen=True, slots=True)
class Window:
    """Bounds of a time, both inclusive: offsets from a step, or epoch times, in milliseconds."""

    low: int
    high: int

    @property
    def exact(self) -> bool:
        return self.low == self.high

    def after(self, since_ms: int) -> Window:
        """The epoch times that these offsets are from ``since_ms`` on."""
        return Window(since_ms + self.low, since_ms + self.high)

    def __contains__(self, time_ms: int) -> bool:
        return self.low <= time_ms <= self.high

    def meets(self, other: Window, slack_ms: int = 0) -> bool:
        """Can they be one and the same time, if each may be off by so much?"""
        return self.low <= other.high + slack_ms and other.low <= self.high + slack_ms


def clock_at(trace: Trace, now_ms: int) -> Window:
    """What the clock of an implementation can show at a step, of which the schedule says that it is ``now_ms``.

    That of one without a virtual clock shows something near the real time, which the schedule cannot move; unless it
    takes what it is told, and does not say so.
    """
    if trace.declaration.can(pb.CAPABILITY_VIRTUAL_CLOCK) or not trace.revision.lamport_follows_clock:
        return _exactly(now_ms)
    return Window(min(trace.start_ms - ASTRAY_MS, now_ms), max(trace.start_ms + ASTRAY_MS, now_ms))


def least_clock(trace: Trace, now_ms: int) -> int:
    """The least that the clock can show at a step, in epoch milliseconds, for who bounds timestamps by it.

    Who declares such a bound and goes by a clock of its own keeps that right: to a quarter of the bound (AMB-107).
    Otherwise half an hour astray would make everything too far ahead.
    """
    bound, low = trace.declaration.limit("lamport_ahead_ms"), clock_at(trace, now_ms).low
    if bound is None or low == now_ms:
        return low
    return max(low, min(now_ms, trace.start_ms) - bound // 4)


@lru_cache(1_024)
def _exactly(time_ms: int) -> Window:
    """Everybody is asked about the same times."""
    return Window(time_ms, time_ms)

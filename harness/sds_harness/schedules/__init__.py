"""Schedules: test cases as data, the simulated network on which they are played, and the resulting performances.

``Schedule`` and its operations are frozen and serialisable. Each protocol adds its own operations, a player that
carries them out, and a generator.
"""

from typing import Any

from . import performance
from .files import Notation, ScheduleFileError, dumps
from .operations import Member, Operation, Route, Schedule

# Aliases for code that does not depend on a protocol.
Packet = performance.Packet[Any]
Loss = performance.Loss[Any]
Act = performance.Act[Any, Any, Any]
Performance = performance.Performance[Any, Any, Any]

__all__ = [
    "Act",
    "Loss",
    "Member",
    "Notation",
    "Operation",
    "Packet",
    "Performance",
    "Route",
    "Schedule",
    "ScheduleFileError",
    "dumps",
]

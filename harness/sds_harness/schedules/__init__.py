"""Schedules: what to do, as data; the simulated network they are played on; and what comes of it.

``Schedule`` and its operations are frozen and serialisable. Each protocol adds operations of its own, a player that
knows what they mean, and a generator.
"""

from typing import Any

from . import performance
from .files import Notation, ScheduleFileError, dumps
from .operations import Member, Operation, Route, Schedule

# Of any protocol.
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

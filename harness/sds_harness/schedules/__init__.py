"""Schedules: test cases as data, the simulated network on which they are played, and the resulting group traces.

``Schedule`` and its operations are frozen and serialisable. Each protocol adds its own operations, a player that
carries them out, and a generator.
"""

from typing import Any

from . import group_trace
from .files import Notation, ScheduleFileError, dumps
from .operations import Member, Operation, Route, Schedule

# Aliases for code that does not depend on a protocol.
Packet = group_trace.Packet[Any]
Loss = group_trace.Loss[Any]
Act = group_trace.Act[Any, Any, Any]
GroupTrace = group_trace.GroupTrace[Any, Any, Any]

__all__ = [
    "Act",
    "GroupTrace",
    "Loss",
    "Member",
    "Notation",
    "Operation",
    "Packet",
    "Route",
    "Schedule",
    "ScheduleFileError",
    "dumps",
]

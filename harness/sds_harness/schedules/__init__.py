"""Schedules: what to do, as data; the simulated network they are played on; and how they are generated.

``Schedule`` and its operations are frozen and serialisable, ``play`` is a function of the schedule and the
implementations, and ``strategies`` has the Hypothesis strategies for tests of your own.
"""

from ..sds.player import play
from .files import ScheduleFileError, dumps, load, loads
from .operations import Member, Operation, Route, Schedule
from .performance import Act, Loss, Packet, Performance

__all__ = [
    "Act",
    "Loss",
    "Member",
    "Operation",
    "Packet",
    "Performance",
    "Route",
    "Schedule",
    "ScheduleFileError",
    "dumps",
    "load",
    "loads",
    "play",
]

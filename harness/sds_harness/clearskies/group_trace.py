"""The result of playing a schedule of ClearSkies: the classes of ``schedules.group_trace`` with the types of
ClearSkies."""

from __future__ import annotations

from dataclasses import dataclass, field

from ..schedules import group_trace
from .clubs import Club
from .streams import Message
from .trace import Step, Trace


@dataclass(frozen=True)
class Wire:
    """The bytes that a peer wrote to a link at once: usually one message, but a link is a stream."""

    link: int
    raw: bytes
    messages: tuple[Message, ...] = ()
    """The messages that end in these bytes."""
    club: Club = field(default_factory=Club, compare=False, repr=False)
    """The names of peers by ID."""


Packet = group_trace.Packet[Wire]
Loss = group_trace.Loss[Wire]
Act = group_trace.Act[Step, Trace, Wire]
GroupTrace = group_trace.GroupTrace[Step, Trace, Wire]

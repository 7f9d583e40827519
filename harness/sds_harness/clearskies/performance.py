"""The result of playing a schedule of ClearSkies: the classes of ``schedules.performance`` with the types of
ClearSkies."""

from __future__ import annotations

from dataclasses import dataclass, field

from ..schedules import performance
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


Packet = performance.Packet[Wire]
Loss = performance.Loss[Wire]
Act = performance.Act[Step, Trace, Wire]
Performance = performance.Performance[Step, Trace, Wire]

"""What came of a schedule of ClearSkies: the steps, traces and wires of its performances are those of ClearSkies."""

from __future__ import annotations

from dataclasses import dataclass, field

from ..schedules import performance
from .clubs import Club
from .streams import Message
from .trace import Step, Trace


@dataclass(frozen=True)
class Wire:
    """What somebody wrote to a link at once: mostly a message, but a link is a stream."""

    link: int
    raw: bytes
    messages: tuple[Message, ...] = ()
    """Those of which it has the end."""
    club: Club = field(default_factory=Club, compare=False, repr=False)
    """Whose IDs are whose."""


Packet = performance.Packet[Wire]
Loss = performance.Loss[Wire]
Act = performance.Act[Step, Trace, Wire]
Performance = performance.Performance[Step, Trace, Wire]

"""What came of a schedule: the steps of all participants in one order, and what the network carried and lost.

Steps, traces and what goes over the wire are of the protocol that was played: each gives its own names to these classes
with the types that it has. Whoever knows no protocol takes the names of this package.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Generic, Protocol, TypeVar

from ..faults import Breakdown
from ..trace import Party, Step, Trace
from .operations import Schedule

NEVER = "never-"
"""How the ID begins that stands for a label whose message nobody ever sent."""


class Wire(Protocol):
    """What goes over the network."""

    @property
    def raw(self) -> bytes:
        """The bytes themselves."""
        ...


W = TypeVar("W", bound=Wire)
S = TypeVar("S", bound=Step)
T = TypeVar("T", bound=Trace[Any])

# Packets and acts do not change, but nothing sees to it: they are made at each step, in half the time.


@dataclass(unsafe_hash=True)
class Packet(Generic[W]):
    """One broadcast, or what a scripted peer says."""

    number: int
    """Counts packets from 1."""
    sender: str
    """The participant, or scripted peer, whose line the message leaves."""
    wire: W
    at_ms: int
    """When, in milliseconds since the start."""
    act: int
    """The act that broadcast it; 0 if a scripted peer said it."""
    operation: int
    """Index of the operation it belongs to."""
    label: str = ""
    """Its label in the schedule, "" if it has none."""


@dataclass(frozen=True)
class Loss(Generic[W]):
    """A copy that did not arrive."""

    packet: Packet[W]
    listener: str
    at_ms: int
    why: str
    """``lost``, ``cut``, ``crashed`` or ``absent``."""


@dataclass
class Act(Generic[S, T, W]):
    """One step, among the steps of all participants."""

    number: int
    """Counts acts from 1."""
    who: str
    step: S
    trace: T = field(repr=False)
    """The trace it is a step of: that of the implementation the participant is made of."""
    at_ms: int
    """When, in milliseconds since the start, by no clock of any participant."""
    operation: int
    """Index of the operation it belongs to."""
    packet: Packet[W] | None = None
    """What arrived."""
    source: str = "network"
    """Where it came from: ``network``, ``again`` (a copy out of the blue) or ``store``."""


@dataclass
class Performance(Generic[S, T, W]):
    """One run of one schedule on a cast."""

    schedule: Schedule
    traces: list[T] = field(repr=False)
    """One for each implementation of the cast."""
    cast: dict[str, T] = field(repr=False)
    """The trace of each participant."""
    acts: list[Act[S, T, W]] = field(default_factory=list)
    packets: list[Packet[W]] = field(default_factory=list)
    losses: list[Loss[W]] = field(default_factory=list)
    labels: dict[str, Packet[W]] = field(default_factory=dict)
    """The first copy of each labelled message that was sent."""
    began: dict[int, int] = field(default_factory=dict)
    """When each operation began that was played, in milliseconds since the start."""
    left_out: dict[int, str] = field(default_factory=dict)
    """Operations that could not be played, with the reason: a capability, or a refusal."""
    crashed: dict[str, int] = field(default_factory=dict)
    """Participants that stopped, with the operation."""
    calm_rounds: int = 0
    """Calm rounds that were played."""
    settled: bool = False
    """The last of them ended because nothing happened any more."""
    storm: bool = False
    """It was broken off because there was no end of messages."""
    breakdown: Breakdown | None = None
    """The conversation with an implementation broke."""
    broken: str = ""
    """The participant with which it broke."""

    @property
    def parties(self) -> dict[str, Party]:
        """The participants that were opened, by their name in the schedule."""
        return {name: trace.parties[name] for name, trace in self.cast.items() if name in trace.parties}

    @property
    def steps(self) -> int:
        return len(self.acts)

    def act_of(self, trace: T, step: int) -> Act[S, T, W] | None:
        """The act that is a step of a trace, by the step's index."""
        if self._by_step is None or len(self._by_step) != len(self.acts):
            self._by_step = {(id(act.trace), act.step.index): act for act in self.acts}
        return self._by_step.get((id(trace), step))

    _by_step: dict[tuple[int, int], Act[S, T, W]] | None = field(default=None, repr=False)

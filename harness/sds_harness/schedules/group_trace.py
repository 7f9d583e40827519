"""The result of playing a schedule: the steps of all participants in one order, and what the network carried and lost.

The types of steps, traces and wire messages depend on the protocol. Each protocol defines names for these classes with
its own types. Code that does not depend on a protocol uses the names of this package.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Generic, Protocol, TypeVar

from ..faults import Breakdown
from ..trace import Party, Step, Trace
from .operations import Schedule

NEVER = "never-"
"""The prefix of IDs that are used for labels whose messages were never sent."""


class Wire(Protocol):
    """A message on the network."""

    @property
    def raw(self) -> bytes:
        """The bytes of the message."""
        ...


W = TypeVar("W", bound=Wire)
S = TypeVar("S", bound=Step)
T = TypeVar("T", bound=Trace[Any])

# Packets and acts are never changed. They are not frozen, because one is created at each step and that takes half the
# time.


@dataclass(unsafe_hash=True)
class Packet(Generic[W]):
    """One broadcast, or one message of a scripted peer."""

    number: int
    """Number of the packet, from 1."""
    sender: str
    """The participant or scripted peer that sends the message."""
    wire: W
    at_ms: int
    """Time in milliseconds since the start."""
    act: int
    """Number of the act that broadcast it; 0 for a scripted peer."""
    operation: int
    """Index of the operation it belongs to."""
    label: str = ""
    """The label of the packet in the schedule; "" if it has none."""


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
    """One step among the steps of all participants."""

    number: int
    """Number of the act, from 1."""
    who: str
    step: S
    trace: T = field(repr=False)
    """The trace of the step: that of the implementation that plays the participant."""
    at_ms: int
    """Time in milliseconds since the start, independent of the participants' clocks."""
    operation: int
    """Index of the operation it belongs to."""
    packet: Packet[W] | None = None
    """The packet that arrived."""
    source: str = "network"
    """The source of the packet: ``network``, ``again`` (an unexpected copy) or ``store``."""


@dataclass
class GroupTrace(Generic[S, T, W]):
    """One run of one schedule on a cast."""

    schedule: Schedule
    traces: list[T] = field(repr=False)
    """One trace per implementation of the cast."""
    cast: dict[str, T] = field(repr=False)
    """The trace of each participant."""
    acts: list[Act[S, T, W]] = field(default_factory=list)
    packets: list[Packet[W]] = field(default_factory=list)
    losses: list[Loss[W]] = field(default_factory=list)
    labels: dict[str, Packet[W]] = field(default_factory=dict)
    """The first packet of each labelled message that was sent."""
    began: dict[int, int] = field(default_factory=dict)
    """The start of each played operation, in milliseconds since the start of the schedule."""
    left_out: dict[int, str] = field(default_factory=dict)
    """Operations that could not be played, with the reason: a missing capability or a refusal."""
    ended: str = ""
    """Why the schedule ended early: what the implementation does not have; "" if it did not end early."""
    crashed: dict[str, int] = field(default_factory=dict)
    """Participants that crashed, with the index of the operation."""
    calm_rounds: int = 0
    """Calm rounds that were played."""
    settled: bool = False
    """Whether the last calm rounds ended because nothing changed any more."""
    storm: bool = False
    """Whether the run was stopped because participants sent messages without end."""
    breakdown: Breakdown | None = None
    """The breakdown of the conversation with an implementation; None if none broke down."""
    broken: str = ""
    """The participant whose conversation broke; "" for none."""

    @property
    def parties(self) -> dict[str, Party]:
        """The participants that were opened, by their names in the schedule."""
        return {name: trace.parties[name] for name, trace in self.cast.items() if name in trace.parties}

    @property
    def steps(self) -> int:
        return len(self.acts)

    def act_of(self, trace: T, step: int) -> Act[S, T, W] | None:
        """The act for a step of a trace, by the index of the step."""
        if self._by_step is None or len(self._by_step) != len(self.acts):
            self._by_step = {(id(act.trace), act.step.index): act for act in self.acts}
        return self._by_step.get((id(trace), step))

    _by_step: dict[tuple[int, int], Act[S, T, W]] | None = field(default=None, repr=False)

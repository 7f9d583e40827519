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
"""The prefix of a message ID that is made from a label, because no message with this label was sent."""


class Wire(Protocol):
    """A message on the network."""

    @property
    def raw(self) -> bytes:
        """The bytes of the message."""
        ...


W = TypeVar("W", bound=Wire)
S = TypeVar("S", bound=Step)
T = TypeVar("T", bound=Trace[Any])

# Packets and acts are never changed. Their classes are not frozen, because creating frozen objects takes twice as long,
# and each step creates some.


@dataclass(unsafe_hash=True)
class Packet(Generic[W]):
    """A message that a participant broadcasts or that a scripted peer sends."""

    number: int
    """Number of the packet, from 1."""
    sender: str
    """The participant or scripted peer that sends the message."""
    wire: W
    at_ms: int
    """Virtual time at which the message was sent, in milliseconds since the start of the schedule."""
    act: int
    """Number of the act in which the participant broadcast the message; 0 for a scripted peer."""
    operation: int
    """Index of the operation of the schedule during which the message was sent."""
    label: str = ""
    """The label of the packet in the schedule; "" if it has none."""


@dataclass(frozen=True)
class Loss(Generic[W]):
    """A packet that did not arrive at one listener, with the reason."""

    packet: Packet[W]
    listener: str
    at_ms: int
    why: str
    """``lost``: by chance or by the route of the operation. ``cut``: by a cut of the network. ``crashed`` or
    ``absent``: the state of the listener."""


@dataclass
class Act(Generic[S, T, W]):
    """A step of a participant, with its place in the order of the steps of all participants."""

    number: int
    """Number of the act, from 1."""
    who: str
    step: S
    trace: T = field(repr=False)
    """The trace that contains the step. All participants that one process plays share a trace."""
    at_ms: int
    """Virtual time of the step, in milliseconds since the start of the schedule. Offsets of clocks are not added."""
    operation: int
    """Index of the operation of the schedule during which the step happened."""
    packet: Packet[W] | None = None
    """The packet that arrived with this step, a `receive`; None for other steps."""
    source: str = "network"
    """Where the packet came from: ``network``, ``again`` (the schedule delivers it a second time) or ``store``."""


@dataclass
class GroupTrace(Generic[S, T, W]):
    """The result of one play of one schedule on a cast."""

    schedule: Schedule
    traces: list[T] = field(repr=False)
    """One trace per process of the cast. Participants that one process plays share its trace."""
    cast: dict[str, T] = field(repr=False)
    """The trace of each participant."""
    acts: list[Act[S, T, W]] = field(default_factory=list)
    packets: list[Packet[W]] = field(default_factory=list)
    losses: list[Loss[W]] = field(default_factory=list)
    labels: dict[str, Packet[W]] = field(default_factory=dict)
    """Maps the label of each message that was sent to the first packet with the message."""
    began: dict[int, int] = field(default_factory=dict)
    """Maps the index of each played operation to its start, in milliseconds since the start of the schedule."""
    left_out: dict[int, str] = field(default_factory=dict)
    """Maps the index of each operation that could not be played to the reason, such as a missing capability."""
    ended: str = ""
    """The reason why a `require` operation ended the schedule early; "" if none did."""
    crashed: dict[str, int] = field(default_factory=dict)
    """Maps each participant that a `crash` operation stopped to the index of the operation."""
    calm_rounds: int = 0
    """The number of rounds that all `calm` operations played."""
    settled: bool = False
    """Whether the last `calm` operation ended because nothing changed, not because its rounds were used up."""
    storm: bool = False
    """Whether the run was stopped because participants sent messages without end."""
    breakdown: Breakdown | None = None
    """The breakdown of the conversation with an implementation; None if no conversation broke."""
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
        """The act whose step has the index ``step`` in ``trace``; None if no act has it."""
        if self._by_step is None or len(self._by_step) != len(self.acts):
            self._by_step = {(id(act.trace), act.step.index): act for act in self.acts}
        return self._by_step.get((id(trace), step))

    _by_step: dict[tuple[int, int], Act[S, T, W]] | None = field(default=None, repr=False)

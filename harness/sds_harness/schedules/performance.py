"""What came of a schedule: the steps of all participants in one order, and what the network carried and lost."""

from __future__ import annotations

from dataclasses import dataclass, field

from ..faults import Breakdown
from ..sds.trace import Step, Trace, Wire
from ..trace import Party
from .operations import Schedule


@dataclass(frozen=True, slots=True)
class Packet:
    """One broadcast, or what a scripted peer says."""

    number: int
    """Counts packets from 1."""
    sender: str
    """The participant, or scripted peer, whose line the message leaves."""
    wire: Wire
    at_ms: int
    """When, in milliseconds since the start."""
    act: int
    """The act that broadcast it; 0 if a scripted peer said it."""
    operation: int
    """Index of the operation it belongs to."""
    label: str = ""
    """Its label in the schedule, "" if it has none."""


@dataclass(frozen=True, slots=True)
class Loss:
    """A copy that did not arrive."""

    packet: Packet
    listener: str
    at_ms: int
    why: str
    """``lost``, ``cut``, ``crashed`` or ``absent``."""


@dataclass(frozen=True, slots=True)
class Act:
    """One step, among the steps of all participants."""

    number: int
    """Counts acts from 1."""
    who: str
    step: Step
    trace: Trace = field(repr=False)
    """The trace it is a step of: that of the implementation the participant is made of."""
    at_ms: int
    """When, in milliseconds since the start, by no clock of any participant."""
    operation: int
    """Index of the operation it belongs to."""
    packet: Packet | None = None
    """What arrived."""
    source: str = "network"
    """Where it came from: ``network``, ``again`` (a copy out of the blue) or ``store``."""


@dataclass
class Performance:
    """One run of one schedule on a cast."""

    schedule: Schedule
    traces: list[Trace] = field(repr=False)
    """One for each implementation of the cast."""
    cast: dict[str, Trace] = field(repr=False)
    """The trace of each participant."""
    acts: list[Act] = field(default_factory=list)
    packets: list[Packet] = field(default_factory=list)
    losses: list[Loss] = field(default_factory=list)
    labels: dict[str, Packet] = field(default_factory=dict)
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

    def act_of(self, trace: Trace, step: int) -> Act | None:
        """The act that is a step of a trace, by the step's index."""
        if self._by_step is None or len(self._by_step) != len(self.acts):
            self._by_step = {(id(act.trace), act.step.index): act for act in self.acts}
        return self._by_step.get((id(trace), step))

    _by_step: dict[tuple[int, int], Act] | None = field(default=None, repr=False)

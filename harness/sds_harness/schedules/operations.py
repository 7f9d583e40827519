"""What can happen in a schedule whatever the protocol: one frozen class for each operation.

Names of participants and labels of messages tie operations together. A label whose message was never sent stands for
a message that nobody has, so a schedule from which an operation is taken away still means something.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

EVERYBODY = ""
"""Instead of a name: all participants that are there."""


@dataclass(frozen=True, slots=True)
class Route:
    """How the network carries what one operation broadcasts, where it is not as the links say."""

    lost: tuple[str, ...] = ()
    """Listeners that never get it."""
    late: tuple[tuple[str, int], ...] = ()
    """Listeners that get it so many milliseconds after it was sent."""
    twice: tuple[str, ...] = ()
    """Listeners that get two copies."""

    def __bool__(self) -> bool:
        return bool(self.lost or self.late or self.twice)


STRAIGHT = Route()


@dataclass(frozen=True, slots=True)
class Operation:
    """Something that happens in a schedule."""

    op: ClassVar[str]
    """Its name in a schedule file."""
    command: ClassVar[str] = ""
    """The command of the step that whoever does it makes of it, "" if nobody does."""
    names: ClassVar[tuple[str, ...]] = ("who", "to", "sender", "listener", "senders", "listeners")
    """Its fields that name participants are among these."""
    labels: ClassVar[tuple[str, ...]] = ("label",)
    """And those that name messages among these."""

    def __init_subclass__(cls, op: str = "", command: str = "") -> None:
        """``class Tick(Operation, op="tick", command="tick")``."""
        if op:  # a class with slots is made a second time, without these words and with what they have set
            cls.op, cls.command = op, command

    def changed(self, **values: Any) -> Self:
        """The same, with other values in some of its fields."""
        return replace(self, **values)


@dataclass(frozen=True, slots=True)
class Tick(Operation, op="tick", command="tick"):
    """Periodic work that is due runs."""

    who: str = EVERYBODY
    route: Route = STRAIGHT


@dataclass(frozen=True, slots=True)
class Wait(Operation, op="wait"):
    """Virtual time passes, and what is under way arrives when it is due."""

    ms: int


@dataclass(frozen=True, slots=True)
class Look(Operation, op="look", command="observe"):
    """A participant shows its state, if it can."""

    who: str = EVERYBODY


@dataclass(frozen=True, slots=True)
class Join(Operation, op="join", command="open"):
    """A participant that was announced as late joins."""

    who: str


@dataclass(frozen=True, slots=True)
class Crash(Operation, op="crash"):
    """A participant stops for good: it sends, hears and does nothing any more."""

    who: str


@dataclass(frozen=True, slots=True)
class StepClock(Operation, op="step_clock"):
    """The clock of a participant is set; negative is back."""

    who: str
    ms: int


@dataclass(frozen=True, slots=True)
class Links(Operation, op="links"):
    """From now on the links are like this. The fate of each copy follows from the schedule's seed."""

    loss_percent: int = 0
    duplicate_percent: int = 0
    delay_ms: tuple[int, int] = (0, 0)
    """Least and greatest."""
    sender: str = EVERYBODY
    """The links from this participant only."""
    listener: str = EVERYBODY
    """The links to this participant only."""


@dataclass(frozen=True, slots=True)
class Cut(Operation, op="cut"):
    """The network is cut: what ``senders`` broadcast does not reach ``listeners``.

    ``both`` cuts the other direction, too; a partition into two halves is one of these.
    """

    senders: tuple[str, ...]
    listeners: tuple[str, ...]
    both: bool = True


@dataclass(frozen=True, slots=True)
class Heal(Operation, op="heal"):
    """All cuts are mended and all links are perfect."""


@dataclass(frozen=True, slots=True)
class Calm(Operation, op="calm"):
    """The network heals; then, so many times, a period passes and everybody runs its periodic work and tells the others
    what it has, in the way of its protocol. It ends early when two rounds bring nothing new; while somebody lacks a
    message, two more than fill the longest period in which it may still come."""

    rounds: int = 20
    period_ms: int = 60_000
    store: bool = False
    """What is missing is fetched from a store in every round."""


@dataclass(frozen=True, slots=True)
class Member:
    """A participant of a schedule."""

    name: str
    late: bool = False
    """It is not there before it joins."""
    clock_ms: int = 0
    """How far its clock is off."""


@dataclass(frozen=True, slots=True)
class Schedule:
    """What to do, in order: everything but the implementations."""

    members: tuple[Member, ...]
    operations: tuple[Operation, ...] = ()
    channels: tuple[str, ...] = ("c1",)
    """None: the application names no channel."""
    configuration: tuple[tuple[str, int | float | bool], ...] = ()
    """What the participants are asked to configure, by the names in its message of the testee protocol."""
    seed: int = 0
    """From it follows what the links do by chance."""
    name: str = ""
    notes: tuple[tuple[str, str], ...] = ()
    """What whoever found it wants to be known: which cast, which revision, what it shows."""

    @property
    def names(self) -> tuple[str, ...]:
        """The participants, in order."""
        return tuple(member.name for member in self.members)

    @property
    def peers(self) -> set[str]:
        """The scripted peers that say something in it, who are no participants."""
        return {operation.peer for operation in self.operations if hasattr(operation, "peer")}

"""The operations of schedules of all protocols: one frozen class per operation.

Names of participants and labels of messages connect operations. A label whose message was never sent names a message
that does not exist. So a schedule keeps a meaning when shrinking removes an operation.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Annotated, Any, ClassVar, Self

from .shapes import Bounds, Channel, Expression, Ms, Name, OptionalName, Percent, ShortText, SignedMs

Names = Annotated[tuple[Name, ...], Bounds(minItems=1, maxItems=64)]
Delays = Annotated[
    tuple[tuple[str, int], ...], Bounds(type="object", additionalProperties={"$ref": "#/$defs/ms"}, maxProperties=32)
]
"""Maps participants to milliseconds. In a schedule file, this is a JSON object."""
Settings = Annotated[tuple[tuple[str, int | float | bool], ...], Bounds("configuration")]
"""Maps field names of the configuration in the testee protocol to values. In a schedule file, this is a JSON object."""

EVERYBODY = ""
"""Used in place of a name: all participants that are present."""


@dataclass(frozen=True, slots=True)
class Route:
    """How the network carries the broadcasts of one operation. It has priority over the settings of the links."""

    lost: Names = ()
    """Listeners that never receive the broadcasts of the operation."""
    late: Delays = ()
    """Listeners that receive the broadcasts of the operation late, with the delay in milliseconds."""
    twice: Names = ()
    """Listeners that receive the broadcasts of the operation twice."""

    def __bool__(self) -> bool:
        return bool(self.lost or self.late or self.twice)


STRAIGHT = Route()


@dataclass(frozen=True, slots=True)
class Operation:
    """An operation of a schedule. Each kind of operation is a subclass."""

    op: ClassVar[str]
    """The name of the operation in a schedule file."""
    command: ClassVar[str] = ""
    """The command of the resulting step; "" if the operation sends no command."""
    names: ClassVar[tuple[str, ...]] = ("who", "to", "sender", "listener", "senders", "listeners")
    """The names of the fields of operations whose values are names of participants."""
    labels: ClassVar[tuple[str, ...]] = ("label",)
    """The names of the fields of operations whose values are labels of messages."""

    when: Expression = field(default="", kw_only=True)
    """A comparison of expressions (see ``expressions``), such as ``max_lamport > 4294967295``. The operation is played
    only if the comparison holds; with "", it is played always."""

    def __init_subclass__(cls, op: str = "", command: str = "") -> None:
        """Set the class variables: ``class Tick(Operation, op="tick", command="tick")``."""
        if op:  # dataclass(slots=True) creates the class again, without these arguments
            cls.op, cls.command = op, command

    def with_values(self, **values: Any) -> Self:
        """A copy of the operation in which the fields named by the keywords have other values."""
        return replace(self, **values)


@dataclass(frozen=True, slots=True)
class Tick(Operation, op="tick", command="tick"):
    """Let a participant run the periodic work that is due."""

    who: OptionalName = EVERYBODY
    route: Route = STRAIGHT


@dataclass(frozen=True, slots=True)
class Wait(Operation, op="wait"):
    """Let virtual time pass. Messages under way arrive when they are due."""

    ms: SignedMs = 0
    period: Expression = ""
    """An expression over the configuration in force (see ``expressions``), such as ``t_max_ms // 2``. Its value in
    milliseconds is added to the time; "" adds nothing."""


@dataclass(frozen=True, slots=True)
class Require(Operation, op="require"):
    """End the schedule here unless all implementations declare these capabilities and a condition holds. At the start
    of a schedule, a ``require`` without a condition is checked before any participant is opened."""

    capabilities: Annotated[tuple[OptionalName, ...], Bounds(maxItems=20)] = ()
    """Names of capabilities, as in the declaration."""
    condition: Expression = ""
    """A comparison of expressions (see ``expressions``) that must hold, too, such as ``t_max_ms <= 3600000``; "" for
    none."""
    reason: ShortText = ""
    """The reason that is reported if the schedule ends here."""


def is_about_declarations(operation: Operation) -> bool:
    """Is the operation a `require` without a condition? It is checked before participants are opened."""
    return isinstance(operation, Require) and not operation.condition and not operation.when


@dataclass(frozen=True, slots=True)
class Look(Operation, op="look", command="observe"):
    """Ask a participant for its state, if the implementation can show states."""

    labels: ClassVar[tuple[str, ...]] = ("filter",)
    who: OptionalName = EVERYBODY
    channel: Channel | None = None
    """The only channel whose state is requested; None for all channels."""
    filter: Annotated[tuple[Any, ...], Bounds("references")] | None = None
    """The messages to look up in the bloom filter of the participant, by label or as entries. None for the last 20
    messages that the participant has in the channel."""


@dataclass(frozen=True, slots=True)
class Join(Operation, op="join", command="open"):
    """Open a participant that was declared as late."""

    who: Name


@dataclass(frozen=True, slots=True)
class Crash(Operation, op="crash"):
    """Stop a participant permanently: it no longer sends, receives or does anything."""

    who: Name


@dataclass(frozen=True, slots=True)
class StepClock(Operation, op="step_clock"):
    """Step the clock of a participant; a negative value steps it back."""

    who: Name
    ms: SignedMs


@dataclass(frozen=True, slots=True)
class Links(Operation, op="links"):
    """Change the links from now on. The seed of the schedule decides which messages are lost, duplicated or delayed."""

    loss_percent: Percent = 0
    duplicate_percent: Percent = 0
    delay_ms: tuple[Ms, Ms] = (0, 0)
    """Minimum and maximum delay of a message on a link, in milliseconds."""
    sender: OptionalName = EVERYBODY
    """Change only the links from this participant; "" for all participants."""
    listener: OptionalName = EVERYBODY
    """Change only the links to this participant; "" for all participants."""


@dataclass(frozen=True, slots=True)
class Cut(Operation, op="cut"):
    """Cut the network: broadcasts of ``senders`` do not reach ``listeners``.

    ``both`` cuts the other direction as well. One such operation partitions the network into two halves.
    """

    senders: Names
    listeners: Names
    both: bool = True


@dataclass(frozen=True, slots=True)
class Heal(Operation, op="heal"):
    """Remove all cuts and make all links perfect."""


@dataclass(frozen=True, slots=True)
class Calm(Operation, op="calm"):
    """Heal the network and then play up to ``rounds`` rounds. In each round a period passes, and all participants run
    their periodic work and exchange their state in the way of their protocol. The rounds end early after two successive
    rounds that change nothing. While a participant misses a message, the rounds end early only after the longest time
    that the message may still take to arrive."""

    rounds: Annotated[int, Bounds(minimum=1, maximum=200)] = 20
    period_ms: Annotated[int, Bounds(minimum=1, maximum=10**9)] = 60_000
    store: bool = False
    """Fetch missing messages from a store in every round."""


@dataclass(frozen=True, slots=True)
class Repeat(Operation, op="repeat"):
    """Play the next operations several times. In each round, the labels in these operations denote the messages of that
    round, and the numbered messages of scripted peers have new numbers.
    """

    operations: Annotated[int, Bounds(minimum=1, maximum=200)]
    """The number of operations after this one that are repeated. They must not contain another `repeat`."""
    most: Annotated[int, Bounds(minimum=1, maximum=2_000)]
    """Maximum number of rounds."""
    rounds: Expression = ""
    """An expression over the configuration in force (see ``expressions``), whose value limits the number of rounds as
    ``most`` does; "" for no such limit."""
    until: Expression = ""
    """A comparison of expressions (see ``expressions``). If it holds after a round, no other round is played."""


@dataclass(frozen=True, slots=True)
class Member:
    """A participant of a schedule."""

    name: Name
    late: bool = False
    """Whether the participant is absent until a `join` opens it."""
    clock_ms: SignedMs = 0
    """Milliseconds by which the participant's clock is ahead of virtual time; negative if the clock is behind."""
    may_be_refused: bool = False
    """Whether the implementation may refuse to open the participant. The schedule then continues without the
    participant."""


@dataclass(frozen=True, slots=True)
class Expectation:
    """Something that a participant must do when a schedule is played, such as deliver certain messages."""

    who: str
    what: str
    """The kind of behaviour, such as ``delivers``. The JSON Schema of a protocol lists the kinds."""
    labels: tuple[str, ...]
    """The labels of the messages that the behaviour must concern."""


@dataclass(frozen=True, slots=True)
class Schedule:
    """A test case: everything except the implementations."""

    members: tuple[Member, ...]
    operations: tuple[Operation, ...] = ()
    channels: tuple[str, ...] = ("c1",)
    """Names of the channels. If the list is empty, requests name no channel."""
    configuration: Settings = ()
    """The configuration that the participants are asked to use, by the field names of the testee protocol."""
    seed: int = 0
    """The seed of the random numbers that decide how links behave, for example which messages are lost."""
    name: str = ""
    notes: tuple[tuple[str, str], ...] = ()
    """Notes from the command that found the schedule, such as the cast, the revision, and what the schedule shows."""
    description: str = ""
    """The purpose of the schedule, for people."""
    requirements: tuple[str, ...] = ()
    """IDs of the requirements that the schedule was written for."""
    expect: tuple[Expectation, ...] = ()
    parameter: str = ""
    """The number that `limits` raises, see ``parameter``; "" for none."""

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the participants, in order."""
        return tuple(member.name for member in self.members)

    @property
    def peers(self) -> set[str]:
        """The scripted peers that send something. They are not participants."""
        return {operation.peer for operation in self.operations if hasattr(operation, "peer")}

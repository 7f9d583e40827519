"""What can happen in a schedule: one frozen class for each operation.

Names of participants and labels of messages tie operations together. A label whose message was never sent stands for
a message that nobody has, so a schedule from which an operation is taken away still means something.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, get_args

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
class Send:
    """A participant sends a content message (section "Sending a message")."""

    op: ClassVar[str] = "send"
    who: str
    label: str
    channel: int = 0
    content: str | None = None
    """What it says, by default something that no other message says."""
    raw: str = ""
    """Hexadecimal digits of what it says, instead."""
    hint: bool = False
    """The application supplies a retrieval hint."""
    times: int = 1
    """So many messages at once; the label is that of the last, those before it have it with ".1", ".2", ..."""
    route: Route = STRAIGHT


@dataclass(frozen=True, slots=True)
class Sync:
    """A participant sends a sync message (section "Periodic Sync Message")."""

    op: ClassVar[str] = "sync"
    who: str
    channel: int = 0
    route: Route = STRAIGHT


@dataclass(frozen=True, slots=True)
class Ephemeral:
    """A participant sends an ephemeral message (section "Ephemeral Messages")."""

    op: ClassVar[str] = "ephemeral"
    who: str
    channel: int = 0
    raw: str = ""
    """Hexadecimal digits of what it says, by default "typing"."""
    route: Route = STRAIGHT


@dataclass(frozen=True, slots=True)
class Tick:
    """Periodic work that is due runs: sweeps, resends, automatic syncs."""

    op: ClassVar[str] = "tick"
    who: str = EVERYBODY
    route: Route = STRAIGHT


@dataclass(frozen=True, slots=True)
class Wait:
    """Virtual time passes, and what is under way arrives when it is due."""

    op: ClassVar[str] = "wait"
    ms: int


@dataclass(frozen=True, slots=True)
class Look:
    """A participant shows its state, if it can."""

    op: ClassVar[str] = "look"
    who: str = EVERYBODY


@dataclass(frozen=True, slots=True)
class Join:
    """A participant that was announced as late joins."""

    op: ClassVar[str] = "join"
    who: str


@dataclass(frozen=True, slots=True)
class Crash:
    """A participant stops for good: it sends, hears and does nothing any more."""

    op: ClassVar[str] = "crash"
    who: str


@dataclass(frozen=True, slots=True)
class StepClock:
    """The clock of a participant is set; negative is back."""

    op: ClassVar[str] = "step_clock"
    who: str
    ms: int


@dataclass(frozen=True, slots=True)
class Links:
    """From now on the links are like this. The fate of each copy follows from the schedule's seed."""

    op: ClassVar[str] = "links"
    loss_percent: int = 0
    duplicate_percent: int = 0
    delay_ms: tuple[int, int] = (0, 0)
    """Least and greatest."""
    sender: str = EVERYBODY
    """The links from this participant only."""
    listener: str = EVERYBODY
    """The links to this participant only."""


@dataclass(frozen=True, slots=True)
class Cut:
    """The network is cut: what ``senders`` broadcast does not reach ``listeners``.

    ``both`` cuts the other direction, too; a partition into two halves is one of these.
    """

    op: ClassVar[str] = "cut"
    senders: tuple[str, ...]
    listeners: tuple[str, ...]
    both: bool = True


@dataclass(frozen=True, slots=True)
class Heal:
    """All cuts are mended and all links are perfect."""

    op: ClassVar[str] = "heal"


@dataclass(frozen=True, slots=True)
class Lookup:
    """A participant fetches from a store every message it knows to miss, through all dependencies."""

    op: ClassVar[str] = "lookup"
    who: str = EVERYBODY


@dataclass(frozen=True, slots=True)
class Again:
    """The network brings a copy of a message that was sent before."""

    op: ClassVar[str] = "again"
    label: str
    to: str
    asks: tuple[str, ...] = ()
    """What the copy asks for, if anything (a copy may carry a repair request of its own)."""


@dataclass(frozen=True, slots=True)
class Say:
    """A scripted peer, who is no participant of the schedule, says whatever it likes."""

    op: ClassVar[str] = "say"
    peer: str
    label: str
    lamport_ms: int | None = 0
    """Lamport timestamp relative to virtual time; None is unset."""
    after: tuple[str, ...] = ()
    """Labels in its causal history."""
    content: str | None = "usual"
    """"usual" is something that no other message says; None is unset, as in a sync message."""
    raw: str = ""
    """Hexadecimal digits of what it says, instead."""
    filter: tuple[str, ...] | None = None
    """Labels in its bloom filter; None for no filter at all."""
    raw_filter: str = ""
    """Hexadecimal digits of a filter that is none, instead."""
    asks: tuple[str, ...] = ()
    """Labels in its repair request."""
    senders_named: bool = False
    """Its causal history names the senders, as with SDS-R."""
    hint: bool = False
    """Its causal history has retrieval hints."""
    id_of: str = ""
    """It has the message ID of another message: that of this label."""
    poses_as: str = ""
    """It gives this participant as its sender."""
    encoding: str = "usual"
    """How it is written: ``usual``, ``reversed`` fields, with ``unknown`` fields, or ``overlong`` varints."""
    channel: int = 0
    to: str = EVERYBODY
    """It reaches this participant only."""
    route: Route = STRAIGHT


@dataclass(frozen=True, slots=True)
class Garble:
    """Bytes arrive that are no SDS message, or hardly one."""

    op: ClassVar[str] = "garble"
    to: str
    wire: str
    """Hexadecimal digits."""


@dataclass(frozen=True, slots=True)
class Calm:
    """The network heals; then, so many times, a period passes and everybody runs its periodic work and sends a sync
    message. It ends early when two rounds bring nothing new; while somebody lacks a message, two more than fill the
    longest period in which it may be resent, asked for or answered."""

    op: ClassVar[str] = "calm"
    rounds: int = 20
    period_ms: int = 60_000
    store: bool = False
    """What is missing is fetched from a store in every round."""


Operation = (
    Send
    | Sync
    | Ephemeral
    | Tick
    | Wait
    | Look
    | Join
    | Crash
    | StepClock
    | Links
    | Cut
    | Heal
    | Lookup
    | Again
    | Say
    | Garble
    | Calm
)

OPERATIONS: dict[str, type[Operation]] = {kind.op: kind for kind in get_args(Operation)}
"""By the name that stands in a schedule file."""


@dataclass(frozen=True, slots=True)
class Member:
    """A participant of a schedule."""

    name: str
    late: bool = False
    """It is not there before it joins."""
    clock_ms: int = 0
    """How far its clock is off."""
    sds_r: bool | None = None
    """Whether it uses SDS-R, where that is not as for the others."""


@dataclass(frozen=True, slots=True)
class Schedule:
    """What to do, in order: everything but the implementations."""

    members: tuple[Member, ...]
    operations: tuple[Operation, ...] = ()
    channels: tuple[str, ...] = ("c1",)
    """None: the application names no channel."""
    configuration: tuple[tuple[str, int | float | bool], ...] = ()
    """What the participants are asked to configure, by the names in ``Configuration`` of testee.proto."""
    seed: int = 0
    """From it follows what the links do by chance."""
    name: str = ""
    notes: tuple[tuple[str, str], ...] = ()
    """What whoever found it wants to be known: which cast, which revision, what it shows."""

    @property
    def names(self) -> tuple[str, ...]:
        """The participants, in order."""
        return tuple(member.name for member in self.members)

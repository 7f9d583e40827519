"""The facts of one participant in one channel of a performance, for properties of the whole group."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from sds_harness.declaration import Declaration
from sds_harness.sds.operations import Calm
from sds_harness.sds.performance import Act, Packet
from sds_harness.trace import Party
from sds_proto.testee.v1 import testee_pb2 as pb
from sds_reference import Message

from ..view.repair_terms import RepairTerms, repair_terms

Key = tuple[str, str]
"""Channel and message ID: two channels may use the same IDs."""


@dataclass(frozen=True, slots=True)
class Origin:
    """The first that was ever seen of a content message."""

    message: Message
    packet: Packet
    act: Act | None
    """Where a participant sent it, None if it was a scripted peer or is a copy without an original."""


@dataclass(frozen=True, slots=True)
class Arrival:
    """A content or sync message that a participant got."""

    act: Act
    message: Message
    packet: Packet
    taken: bool
    """Neither refused nor from somebody of the participant's own name; or refused without a reason."""


@dataclass(frozen=True, slots=True)
class Delivery:
    act: Act
    message_id: str


@dataclass(slots=True, eq=False)
class Side:
    """One participant in one channel."""

    who: str
    channel_id: str
    party: Party
    declared: Declaration
    opened: Act
    sent: dict[str, Act] = field(default_factory=dict)
    """Own content messages."""
    outgoing: list[tuple[Act, Message]] = field(default_factory=list)
    """Content and sync messages, without copies."""
    received: list[Arrival] = field(default_factory=list)
    """Content and sync messages, all copies, in order."""
    arrivals: dict[str, Arrival] = field(default_factory=dict)
    """The first arrival of each content message that counts."""
    heard: dict[str, Arrival] = field(default_factory=dict)
    """The first arrival of each content or sync message that counts, where both are logged."""
    synced: set[str] = field(default_factory=set)
    """IDs of own sync messages."""
    copies: dict[str, int] = field(default_factory=dict)
    """How many copies of it came, the first included."""
    ephemerals: dict[str, int] = field(default_factory=dict)
    """How many copies of each ephemeral message came."""
    hybrids: int = 0
    """Messages without a timestamp that may acknowledge all the same (AMB-37)."""
    deliveries: list[Delivery] = field(default_factory=list)
    logged: dict[str, int] = field(default_factory=dict)
    """Content in its log, by its own claims, with the act since which it is."""
    acks: dict[str, Act] = field(default_factory=dict)
    possibly: dict[str, Act] = field(default_factory=dict)
    named: dict[str, Act] = field(default_factory=dict)
    """IDs in causal histories it was given, with the first act."""
    requested: dict[str, list[Arrival]] = field(default_factory=dict)
    """What others asked for, with the messages that asked."""
    looks: list[tuple[Act, pb.State]] = field(default_factory=list)
    gives_up: bool = False
    """It may call dependencies lost: then logs may differ (AMB-92)."""
    terms: RepairTerms = field(init=False)
    """SDS-R as it is in force."""

    def __post_init__(self) -> None:
        self.terms = repair_terms(self.declared, self.party)

    def can(self, capability: int) -> bool:
        return self.declared.can(capability)

    @property
    def timed(self) -> bool:
        """Time passes for it as the schedule has it, so that what is due is due."""
        return self.can(pb.CAPABILITY_VIRTUAL_CLOCK)

    @property
    def shows_log(self) -> bool:
        return any(state.HasField("log") for _, state in self.looks)

    @property
    def id(self) -> str:
        return self.party.participant_id


@dataclass(frozen=True, slots=True)
class Ending:
    """The last calm phase: the network is perfect, everybody does its periodic work and sends sync messages."""

    operation: int
    calm: Calm
    first: int
    """Number of its first act."""
    last: int
    at_ms: int
    """When it began."""


def dependencies(message: Message) -> Iterator[str]:
    """What it depends on; itself is a matter of its own (AMB-44)."""
    return (entry.message_id for entry in message.causal_history)

"""The facts of one participant in one channel of a group trace, for global properties."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from sds_harness.declaration import Declaration
from sds_harness.sds.group_trace import Act, Packet
from sds_harness.sds.operations import Calm
from sds_harness.trace import Party
from sds_proto.testee.v1 import testee_pb2 as pb
from sds_reference import Message

from ..view.repair_terms import RepairTerms, repair_terms

Key = tuple[str, str]
"""Channel and message ID. Two channels may use the same IDs."""


@dataclass(frozen=True, slots=True)
class Origin:
    """The first version of a content message in the group trace."""

    message: Message
    packet: Packet
    act: Act | None
    """The act that sent it; None if a scripted peer sent it, or if it is a copy without an original."""


@dataclass(frozen=True, slots=True)
class Arrival:
    """A content or sync message that arrived at a participant."""

    act: Act
    message: Message
    packet: Packet
    taken: bool
    """It was accepted or wrongly refused, and its sender ID is not the participant's own."""


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
    """The first arrival of each content or sync message that counts, if the text logs both."""
    synced: set[str] = field(default_factory=set)
    """IDs of own sync messages."""
    copies: dict[str, int] = field(default_factory=dict)
    """The number of arrivals of each message, including the first."""
    ephemerals: dict[str, int] = field(default_factory=dict)
    """The number of arrivals of each ephemeral message."""
    hybrids: int = 0
    """The number of messages without a timestamp that may acknowledge others (AMB-37)."""
    deliveries: list[Delivery] = field(default_factory=list)
    logged: dict[str, int] = field(default_factory=dict)
    """The content in its log, by its own claims, with the act that added it."""
    acks: dict[str, Act] = field(default_factory=dict)
    possibly: dict[str, Act] = field(default_factory=dict)
    named: dict[str, Act] = field(default_factory=dict)
    """The IDs in received causal histories, with the first act."""
    requested: dict[str, list[Arrival]] = field(default_factory=dict)
    """The IDs that others requested, with the requests."""
    looks: list[tuple[Act, pb.State]] = field(default_factory=list)
    gives_up: bool = False
    """It may report dependencies as lost; then logs may differ (AMB-92)."""
    terms: RepairTerms = field(init=False)
    """The SDS-R settings in use."""

    def __post_init__(self) -> None:
        self.terms = repair_terms(self.declared, self.party)

    def can(self, capability: int) -> bool:
        return self.declared.can(capability)

    @property
    def timed(self) -> bool:
        """Does its time pass as in the schedule, so that due times can be judged?"""
        return self.can(pb.CAPABILITY_VIRTUAL_CLOCK)

    @property
    def shows_log(self) -> bool:
        return any(state.HasField("log") for _, state in self.looks)

    @property
    def id(self) -> str:
        return self.party.participant_id


@dataclass(frozen=True, slots=True)
class Ending:
    """The last calm phase: the network is perfect, and all participants do their periodic work and send sync
    messages.
    """

    operation: int
    calm: Calm
    first: int
    """The number of its first act."""
    last: int
    at_ms: int
    """The time at which it began, in milliseconds."""


def dependencies(message: Message) -> Iterator[str]:
    """Yield its dependencies, without the message itself (AMB-44)."""
    return (entry.message_id for entry in message.causal_history)

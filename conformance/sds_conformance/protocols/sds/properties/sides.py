"""The messages, signals and states of one participant in one channel of a group trace, for global properties."""

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
"""A key of a message: (channel ID, message ID), because two channels may use the same message IDs. Also a key of a
side: (participant, channel ID).
"""


@dataclass(frozen=True, slots=True)
class Origin:
    """The first version of a content message in the group trace."""

    message: Message
    packet: Packet
    act: Act | None
    """The step that sent the message; None if a scripted peer sent it, or if the message is a copy without an original.
    """


@dataclass(frozen=True, slots=True)
class MessageArrival:
    """A content or sync message that arrived at a participant."""

    act: Act
    message: Message
    packet: Packet
    taken: bool
    """Was the message accepted or wrongly refused, and is its sender ID not the participant's own?"""


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
    """By ID of a content message that the participant sent: the step that sent it."""
    outgoing: list[tuple[Act, Message]] = field(default_factory=list)
    """The content and sync messages that the participant sent, without copies."""
    received: list[MessageArrival] = field(default_factory=list)
    """The arrivals of content and sync messages, with all copies, in order."""
    arrivals: dict[str, MessageArrival] = field(default_factory=dict)
    """By ID of a content message: its first arrival that is ``taken``."""
    first_arrivals: dict[str, MessageArrival] = field(default_factory=dict)
    """By ID of a content or sync message: its first arrival that is ``taken``. Empty unless the revision logs both."""
    synced: set[str] = field(default_factory=set)
    """IDs of the sync messages that the participant sent."""
    copies: dict[str, int] = field(default_factory=dict)
    """By ID of a content message: the number of its arrivals, including the first."""
    ephemerals: dict[str, int] = field(default_factory=dict)
    """By ID of an ephemeral message: the number of its arrivals."""
    hybrids: int = 0
    """The number of received messages without a timestamp that may acknowledge own messages (AMB-37)."""
    deliveries: list[Delivery] = field(default_factory=list)
    logged: dict[str, int] = field(default_factory=dict)
    """By ID of a message in the log, which the participant shows or signals: the number of the first step that shows
    it.
    """
    acks: dict[str, Act] = field(default_factory=dict)
    """By ID of an own message: the first step that signals its acknowledgement."""
    possibly: dict[str, Act] = field(default_factory=dict)
    """By ID of an own message: the first step that signals its possible acknowledgement."""
    named: dict[str, Act] = field(default_factory=dict)
    """By message ID: the first step in which a causal history with this ID arrived."""
    requested: dict[str, list[MessageArrival]] = field(default_factory=dict)
    """By message ID: the arrivals of messages that request it."""
    shown_states: list[tuple[Act, pb.State]] = field(default_factory=list)
    gives_up: bool = False
    """May the participant give up dependencies as lost? Then its log may differ from others (AMB-92)."""
    terms: RepairTerms = field(init=False)
    """The SDS-R settings in force."""

    def __post_init__(self) -> None:
        self.terms = repair_terms(self.declared, self.party)

    def can(self, capability: int) -> bool:
        return self.declared.can(capability)

    @property
    def timed(self) -> bool:
        """Does the implementation use the virtual time of the requests, so that due times can be judged?"""
        return self.can(pb.CAPABILITY_VIRTUAL_CLOCK)

    @property
    def shows_log(self) -> bool:
        return any(state.HasField("log") for _, state in self.shown_states)

    @property
    def id(self) -> str:
        return self.party.participant_id


@dataclass(frozen=True, slots=True)
class Ending:
    """The last calm phase of a schedule.

    In this phase the network loses nothing, and all participants do their periodic work and send sync messages.
    """

    operation: int
    """The index in the schedule of the operation that is the calm phase."""
    calm: Calm
    first: int
    """The number of the first step of the calm phase."""
    last: int
    """The number of the last step of the calm phase."""


def dependencies(message: Message) -> Iterator[str]:
    """Yield the IDs of the dependencies of a message."""
    return (entry.message_id for entry in message.causal_history)

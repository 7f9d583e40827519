"""The facts of one channel that checks judge: what a participant sent, received, delivered and showed, and what the
text says its state must have been at that moment."""

from __future__ import annotations

from dataclasses import dataclass, field

from sds_harness.sds.trace import Step, Wire
from sds_proto.testee.v1 import testee_pb2 as pb
from sds_reference import Kind, Message

from .windows import Window


@dataclass(frozen=True, slots=True, order=True)
class LogItem:
    """A place in the expected log; the order of these is the order of the log."""

    lamport: int
    key: bytes
    """Message ID as UTF-8."""
    message_id: str = field(compare=False)
    own: bool = field(compare=False)
    arrival: int = field(compare=False)
    """Counts insertions: 0 is what entered the log first."""
    unseen: bool = field(default=False, compare=False)
    """Nothing tells whether it is there: it is a sync message, where these are logged, or came in the own name."""

    @classmethod
    def of(cls, message_id: str, lamport: int, *, own: bool, arrival: int, unseen: bool = False) -> LogItem:
        """The place of a message."""
        return cls(lamport, message_id.encode("utf-8", "surrogatepass"), message_id, own, arrival, unseen)


ENDS = (2**63 - 1, 2**64 - 1)
"""Where integers of 64 bits end, with a sign and without: a timestamp may stay there (AMB-14)."""


@dataclass(slots=True)
class LamportExpectation:
    """What a message sent now has to carry, by the letter, and how far positions tolerate otherwise.

    It does not change; to be frozen would take longer to make than all its values.
    """

    low: int
    high: int
    """By the letter ``low <= L <= high``; they differ only before the first use of a channel (AMB-12, AMB-111)."""
    source: str
    """Where the clock's value came from: ``open``, ``send``, ``sync`` or ``delivery``."""
    previous: int
    """Least value the local timestamp can have had before."""
    buffered_high: int
    """Upper end if received but undelivered content moved the clock (AMB-15)."""
    sync_high: int
    """Upper end if received sync messages moved it (AMB-17)."""
    sync_low: int
    """Lower end if sending a sync message did not move it (AMB-18)."""
    claimed_high: int
    """Upper end if messages in the participant's own name moved it, which "SHOULD" be ignored."""
    late_delivery: bool
    """Something with a timestamp not above the clock was delivered since the last own message."""
    rebroadcast: bool
    """A copy of an own message went out since the last own message, as a rebroadcast."""
    answered: bool
    """One went out that somebody had asked for, so that it may be the answer to that."""
    ephemeral: bool
    """An ephemeral message was sent or received since the last own message."""
    clock_stepped_back: bool
    """Virtual time is before that of the last own message."""
    now: Window
    """What the clock can show."""
    follows_clock: bool = True
    """Lamport timestamps go by the time; otherwise they count from 0, and any increase is one."""
    heard: int = 0
    """Receptions and deliveries since the last own message."""

    @property
    def counts_on(self) -> bool:
        """Is the local timestamp ahead of the clock, whatever that shows, so that the next is one more than it?"""
        return self.low > self.now.high

    def moved_elsewhere(self, lamport: int) -> bool:
        """Is it too far on, after something with a rule of its own: SDS-EPHEMERAL-07 or SDS-R-SWEEP-05?"""
        return (self.ephemeral or self.answered) and not self.tolerates(lamport) and lamport > self.low

    def tolerates(self, lamport: int) -> bool:
        """Is ``lamport`` within all that the letter or a position allows?"""
        heard = min(self.low, self.sync_low) <= lamport <= max(self.as_it_was_heard, self.claimed_high)
        return heard or self.stays(lamport)

    def counts_messages(self, lamport: int) -> bool:
        """Is it too far on by no more than one for each message that was received or delivered since the last own one?

        Then these are what moved the timestamp.
        """
        heard = max(self.as_it_was_heard, self.claimed_high)
        return not self.tolerates(lamport) and heard < lamport <= heard + self.heard

    def stays(self, lamport: int) -> bool:
        """Is it where integers end, and what was to follow is beyond?"""
        return lamport in ENDS and self.low > lamport

    @property
    def as_it_was_heard(self) -> int:
        """Upper end for who follows everything but its own name."""
        return max(self.high, self.buffered_high, self.sync_high)


@dataclass(slots=True)
class Sent:
    """The first broadcast of an own message."""

    step: Step
    wire: Wire
    message: Message
    tail: tuple[LogItem, ...]
    """End of the expected log before the message, ascending; at least as long as its causal history."""
    log_size: int
    """Entries that were surely in the log."""
    log_most: int
    """Entries with those sync messages of which nothing tells that they were."""
    lamport: LamportExpectation
    certain: bool
    """False if the step also changed the log, so that "before" is not known."""
    repeat: bool = False
    """Its ID was used before."""
    sync: bool = False
    """It was asked for, or sent by itself, as a sync message, whatever it looks like."""
    history: tuple[str, ...] = field(init=False)
    """Message IDs of its causal history."""

    def __post_init__(self) -> None:
        self.history = tuple([entry.message_id for entry in self.message.causal_history])

    @property
    def before(self) -> list[LogItem]:
        """``tail`` without sync messages of which nothing tells that they are in the log."""
        return [item for item in self.tail if not item.unseen or item.message_id in self.history]


@dataclass(slots=True)
class Copy:
    """A later broadcast of an own message."""

    step: Step
    message: Message
    original: Sent
    previous: Step
    """Where it was last broadcast before."""


@dataclass(slots=True)
class Received:
    """A message that arrived in the channel."""

    step: Step
    message: Message
    kind: Kind
    own: bool
    """Its sender ID is the participant's own."""
    duplicate: bool
    """A regular message whose ID is in the log or buffered already."""
    unmet: frozenset[str]
    """IDs of its causal history that are not in the expected log."""
    unmet_buffered: frozenset[str]
    """Those of ``unmet`` that have arrived and wait in the incoming buffer."""
    odd: str
    """Why a conforming sender would not have sent it, "" if it could have."""
    foreign_filter: bool = False
    """It has a bloom filter that is not of the implementation's own kind."""
    delivered: list[Delivered] = field(default_factory=list)
    # Every other check asks for these, of every message.
    rejected: bool = field(init=False)
    acceptable: bool = field(init=False)
    """Ordinary content of somebody else that is not known yet."""
    plain: bool = field(init=False)
    """Acceptable in every respect: nothing about it is unusual."""

    def __post_init__(self) -> None:
        self.rejected = self.step.answer == "rejected"
        self.acceptable = self.kind is Kind.CONTENT and not (self.own or self.duplicate or self.odd)
        self.plain = self.acceptable and not self.foreign_filter

    @property
    def refusal(self) -> str:
        """How the implementation refused it, in words."""
        reason = self.step.reply.rejected.reason[:100] if self.step.reply is not None else ""
        return f"a refusal ({reason or 'no reason given'})"

    @property
    def valid(self) -> bool:
        """A message of somebody else that nobody may refuse."""
        return self.kind in (Kind.CONTENT, Kind.SYNC) and not self.odd and not self.own

    @property
    def binding(self) -> bool:
        """One that nobody may refuse, that was not refused, and whose repair request nobody may ignore (AMB-84)."""
        return self.kind in (Kind.CONTENT, Kind.SYNC) and not self.odd and not self.rejected

    @property
    def delivered_at_once(self) -> bool:
        return bool(self.delivered) and any(delivery.step is self.step for delivery in self.delivered)


@dataclass(slots=True)
class Delivered:
    """A delivery event."""

    step: Step
    message_id: str
    content: bytes
    received: Received | None
    """The arrival it belongs to, None if there was none."""
    unmet: frozenset[str]
    """IDs of the causal history that are not in the expected log now."""
    unmet_buffered: frozenset[str]
    again: bool
    """The ID was delivered or sent before."""
    maybe_dropped: bool
    """A log of the declared size may have dropped the ID since then, so that it is new again (AMB-96)."""


@dataclass(slots=True)
class AckEvent:
    """An acknowledgement signal."""

    step: Step
    message_id: str
    possibly: bool
    outstanding: bool
    """It names an own message that was not acknowledged before."""


@dataclass(slots=True)
class Mention:
    """A received message says something about an own message that is outstanding."""

    received: Received
    message_id: str
    certain: bool
    """In the causal history; otherwise in the bloom filter only."""
    hits: int
    """In how many filters it was up to now, this one included."""


@dataclass(slots=True)
class Unmentioned:
    """A received message says nothing about an own message that is outstanding, and its filter can be read."""

    received: Received
    message_id: str


@dataclass(slots=True)
class Observed:
    """State as the implementation showed it."""

    step: Step
    state: pb.State
    log: tuple[LogItem, ...]
    """The expected log."""
    outstanding: dict[str, bool]
    """Own messages without certain acknowledgement: does any filter or event speak for them?"""
    buffered: frozenset[str]
    """Content that has arrived and waits for dependencies."""
    lamport: LamportExpectation
    """For the next message; the state's own value is one less at most."""


def same(one: Message, other: Message) -> bool:
    """Are they the same message in all that never changes (AMB-65)?"""
    return _lasting(one) == _lasting(other)


def _lasting(message: Message) -> tuple[object, ...]:
    ids = tuple(entry.message_id for entry in message.causal_history)
    where = (message.channel_id, message.sender_id, message.message_id, message.lamport_timestamp)
    return (*where, ids, message.content or b"")

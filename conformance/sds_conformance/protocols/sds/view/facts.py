"""The facts of one channel that checks judge: messages that a participant sent, received and delivered, states that it
showed, and the state that the text demands at that moment.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from sds_harness.sds.trace import Step, Wire
from sds_proto.testee.v1 import testee_pb2 as pb
from sds_reference import Kind, Message

from .windows import Window


@dataclass(frozen=True, slots=True, order=True)
class LogItem:
    """A place in the expected log. Items sort in the order of the log."""

    lamport: int
    key: bytes
    """The message ID as UTF-8."""
    message_id: str = field(compare=False)
    own: bool = field(compare=False)
    arrival: int = field(compare=False)
    """The number of earlier insertions: 0 for the first entry."""
    uncertain: bool = field(default=False, compare=False)
    """The presence of the message is uncertain: it is a sync message, or arrived under the participant's own ID."""

    @classmethod
    def of(cls, message_id: str, lamport: int, *, own: bool, arrival: int, uncertain: bool = False) -> LogItem:
        """Create the place of a message."""
        return cls(lamport, message_id.encode("utf-8", "surrogatepass"), message_id, own, arrival, uncertain)


ENDS = (2**63 - 1, 2**64 - 1)
"""The largest signed and unsigned integers of 64 bits: a timestamp may stay there (AMB-14)."""


@dataclass(slots=True)
class LamportExpectation:
    """The timestamp that the next message must have, by the letter, and the deviations that positions tolerate.

    Treat it as immutable. It is not frozen because the creation of a frozen dataclass is slower.
    """

    low: int
    high: int
    """The letter demands ``low <= L <= high``. The two differ only before the first use of a channel (AMB-12,
    AMB-111).
    """
    source: str
    """The origin of the clock's value: ``open``, ``send``, ``sync`` or ``delivery``."""
    previous: int
    """The smallest possible value of the local timestamp before."""
    buffered_high: int
    """The upper end if received but undelivered content moved the clock (AMB-15)."""
    sync_high: int
    """The upper end if received sync messages moved it (AMB-17)."""
    sync_low: int
    """The lower end if sending a sync message did not move it (AMB-18)."""
    own_sender_high: int
    """The upper end if messages with the participant's own sender ID moved it, which "SHOULD" be ignored."""
    late_delivery: bool
    """A message with a timestamp not above the clock was delivered since the last own message."""
    rebroadcast: bool
    """A copy of an own message was sent since the last own message, as a rebroadcast."""
    answered: bool
    """A copy that a peer had requested was sent, so it may be an answer."""
    ephemeral: bool
    """An ephemeral message was sent or received since the last own message."""
    clock_stepped_back: bool
    """Virtual time is before that of the last own message."""
    now: Window
    """The times that the clock can show."""
    follows_clock: bool = True
    """Lamport timestamps follow the time; otherwise they count from 0, and any increase is one."""
    received_count: int = 0
    """Receptions and deliveries since the last own message."""

    @property
    def is_ahead_of_clock(self) -> bool:
        """Is the local timestamp ahead of every time that the clock can show, so that the next one is one more?"""
        return self.low > self.now.high

    def is_high_after_ephemeral_or_answer(self, lamport: int) -> bool:
        """Is it too high after an event that another rule judges: SDS-EPHEMERAL-07 or SDS-R-SWEEP-05?"""
        return (self.ephemeral or self.answered) and not self.tolerates(lamport) and lamport > self.low

    def tolerates(self, lamport: int) -> bool:
        """Does the letter or a position allow ``lamport``?"""
        heard = min(self.low, self.sync_low) <= lamport <= max(self.high_if_all_followed, self.own_sender_high)
        return heard or self.stays_at_maximum(lamport)

    def counts_messages(self, lamport: int) -> bool:
        """Is ``lamport`` too high by at most one for each message that was received or delivered since the last own
        one?

        Then these messages moved the timestamp.
        """
        heard = max(self.high_if_all_followed, self.own_sender_high)
        return not self.tolerates(lamport) and heard < lamport <= heard + self.received_count

    def stays_at_maximum(self, lamport: int) -> bool:
        """Is ``lamport`` the largest integer, although the expected value is beyond?"""
        return lamport in ENDS and self.low > lamport

    @property
    def high_if_all_followed(self) -> int:
        """The upper end if all received messages move the timestamp, except those with the participant's own sender
        ID.
        """
        return max(self.high, self.buffered_high, self.sync_high)


@dataclass(slots=True)
class Sent:
    """The first broadcast of an own message."""

    step: Step
    wire: Wire
    message: Message
    tail: tuple[LogItem, ...]
    """The end of the expected log before the message, ascending; at least as long as its causal history."""
    log_size: int
    """The number of entries that were certainly in the log."""
    log_most: int
    """The number of entries, including sync messages that may not be in the log."""
    lamport: LamportExpectation
    log_is_known: bool
    """False if the step also changed the log, so that the state before the message is unknown."""
    repeat: bool = False
    """The ID of the message was used before."""
    sync: bool = False
    """The message was requested or sent by the participant as a sync message, with any fields."""
    history: tuple[str, ...] = field(init=False)
    """The message IDs of its causal history."""

    def __post_init__(self) -> None:
        self.history = tuple([entry.message_id for entry in self.message.causal_history])

    @property
    def before(self) -> list[LogItem]:
        """``tail`` without sync messages that may not be in the log."""
        return [item for item in self.tail if not item.uncertain or item.message_id in self.history]


@dataclass(slots=True)
class Copy:
    """A later broadcast of an own message."""

    step: Step
    message: Message
    original: Sent
    previous: Step
    """Its previous broadcast."""


@dataclass(slots=True)
class Received:
    """A message that arrived in the channel."""

    step: Step
    message: Message
    kind: Kind
    own: bool
    """Its sender ID is the participant's own."""
    duplicate: bool
    """A regular message whose ID is in the log or the buffer already."""
    unmet: frozenset[str]
    """The IDs of its causal history that are not in the expected log."""
    unmet_buffered: frozenset[str]
    """The IDs of ``unmet`` that have arrived and wait in the incoming buffer."""
    oddity: str
    """Why a conforming sender would not send it; "" if it would."""
    foreign_filter: bool = False
    """It has a bloom filter of another encoding than the implementation's."""
    delivered: list[Delivered] = field(default_factory=list)
    delivered_silently: Step | None = None
    """The step after which it is in the log although no event delivered it, see ``view.silent_deliveries``."""
    # Computed once: nearly every check reads these for every message.
    rejected: bool = field(init=False)
    acceptable: bool = field(init=False)
    """Ordinary content of another participant that is not known yet."""
    plain: bool = field(init=False)
    """Acceptable, and unusual in no respect."""

    def __post_init__(self) -> None:
        self.rejected = self.step.answer == "rejected"
        self.acceptable = self.kind is Kind.CONTENT and not (self.own or self.duplicate or self.oddity)
        self.plain = self.acceptable and not self.foreign_filter

    @property
    def refusal(self) -> str:
        """How the implementation refused it, as a phrase."""
        reason = self.step.reply.rejected.reason[:100] if self.step.reply is not None else ""
        return f"refused ({reason or 'no reason given'})"

    @property
    def valid(self) -> bool:
        """A message of another participant that must be accepted."""
        return self.kind in (Kind.CONTENT, Kind.SYNC) and not self.oddity and not self.own

    @property
    def request_is_binding(self) -> bool:
        """A valid message that was accepted, so that its repair request must be honoured (AMB-84)."""
        return self.kind in (Kind.CONTENT, Kind.SYNC) and not self.oddity and not self.rejected

    def is_delivered_before(self, index: int) -> bool:
        """Was it delivered in a step before this one, with or without an event?"""
        silently = self.delivered_silently is not None and self.delivered_silently.index < index
        return silently or any(delivery.step.index < index for delivery in self.delivered)

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
    """The arrival that it belongs to; None if there was none."""
    unmet: frozenset[str]
    """The IDs of the causal history that are not in the expected log now."""
    unmet_buffered: frozenset[str]
    repeated: bool
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
    """The mention names an own message that was not acknowledged before."""


@dataclass(slots=True)
class Mention:
    """A received message is evidence for an outstanding own message."""

    received: Received
    message_id: str
    in_history: bool
    """The own message is in the causal history; otherwise only in the bloom filter."""
    hits: int
    """The number of filters that held it so far, including this one."""


@dataclass(slots=True)
class Unmentioned:
    """A received message with a readable filter lacks an outstanding own message."""

    received: Received
    message_id: str


@dataclass(slots=True)
class Observed:
    """A state that the implementation showed."""

    step: Step
    state: pb.State
    log: tuple[LogItem, ...]
    """The expected log."""
    outstanding: dict[str, bool]
    """The own messages without certain acknowledgement, each with whether a filter or an event is evidence for one."""
    buffered: frozenset[str]
    """The content that has arrived and waits for dependencies."""
    lamport: LamportExpectation
    """The expectation for the next message; the value in the state is smaller by at least one."""


def is_same_message(one: Message, other: Message) -> bool:
    """Are all immutable fields equal (AMB-65)?"""
    return _immutable_fields(one) == _immutable_fields(other)


def _immutable_fields(message: Message) -> tuple[object, ...]:
    ids = tuple(entry.message_id for entry in message.causal_history)
    where = (message.channel_id, message.sender_id, message.message_id, message.lamport_timestamp)
    return (*where, ids, message.content or b"")

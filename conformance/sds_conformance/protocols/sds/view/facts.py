"""The items of a trace that checks judge: messages that a participant sent, received and delivered, and states that it
showed. Each item comes with the state that the specification demands at that moment.

An "own" message is one that the participant sent itself.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from sds_harness.sds.trace import Step, Wire
from sds_proto.testee.v1 import testee_pb2 as pb
from sds_reference import Kind, Message

from .windows import Window


@dataclass(frozen=True, slots=True, order=True)
class LogItem:
    """An entry of the expected log. Items sort in the order of the log."""

    lamport: int
    key: bytes
    """The message ID as UTF-8."""
    message_id: str = field(compare=False)
    own: bool = field(compare=False)
    arrival: int = field(compare=False)
    """The number of messages that entered the log before this one."""
    uncertain: bool = field(default=False, compare=False)
    """Is it unknown whether the message is in the log? This is so for sync messages and for messages with the
    participant's own sender ID that the participant did not send.
    """


ENDS = (2**63 - 1, 2**64 - 1)
"""The largest signed and unsigned integers of 64 bits. A Lamport timestamp may stay at these values (AMB-14)."""


@dataclass(slots=True)
class LamportExpectation:
    """The Lamport timestamp that the next own message must have, and the deviations that positions tolerate.

    Treat it as immutable. It is not frozen because the creation of a frozen dataclass is slower.
    """

    low: int
    high: int
    """The specification, read literally, demands a timestamp from ``low`` to ``high``. These values differ only before
    the first use of a channel, or if the clock is known only approximately (AMB-12, AMB-111).
    """
    source: str
    """The event that last set the local timestamp: ``open``, ``send``, ``sync`` or ``delivery``."""
    previous: int
    """The smallest possible value of the local timestamp before the message."""
    buffered_high: int
    """The largest legal timestamp if received but undelivered content changed the local timestamp (AMB-15)."""
    sync_high: int
    """The largest legal timestamp if received sync messages changed the local timestamp (AMB-17)."""
    sync_low: int
    """The smallest legal timestamp if sending a sync message did not change the local timestamp (AMB-18)."""
    own_sender_high: int
    """The largest legal timestamp if received messages with the participant's own sender ID, which SHOULD be ignored,
    changed the local timestamp.
    """
    late_delivery: bool
    """Was a message whose timestamp is not above the local timestamp delivered since the last own message?"""
    rebroadcast: bool
    """Was a copy of an own message sent since the last own message, without a repair request for it?"""
    answered: bool
    """Was a copy of a requested message, which may be a response, sent since the last own message?"""
    ephemeral: bool
    """Was an ephemeral message sent or received since the last own message?"""
    clock_stepped_back: bool
    """Is the virtual time before the time of the last own message?"""
    now: Window
    """The times, in epoch milliseconds, that the clock can show when the next own message is sent."""
    follows_clock: bool = True
    """Do Lamport timestamps follow the clock? If not, they count from 0, and any increase is allowed."""
    received_count: int = 0
    """The number of receptions and deliveries since the last own message."""
    monotonic: Window | None = None
    """The legal timestamps if the implementation reads a clock that never goes back, which the specification allows
    (AMB-13). None if the virtual time did not go back.
    """

    @property
    def is_ahead_of_clock(self) -> bool:
        """Is the local timestamp ahead of every time that the clock can show, so that the next timestamp is one
        more?
        """
        return self.low > self.now.high

    def is_high_after_ephemeral_or_answer(self, lamport: int) -> bool:
        """Is ``lamport`` too high after an event that SDS-EPHEMERAL-07 or SDS-R-SWEEP-05 judges?"""
        return (self.ephemeral or self.answered) and not self.tolerates(lamport) and lamport > self.low

    def tolerates(self, lamport: int) -> bool:
        """Does the specification or a position allow ``lamport``?"""
        within = min(self.low, self.sync_low) <= lamport <= max(self.high_if_all_followed, self.own_sender_high)
        monotonic = self.monotonic is not None and lamport in self.monotonic
        return within or monotonic or self.stays_at_maximum(lamport)

    def counts_messages(self, lamport: int) -> bool:
        """Is ``lamport`` too high by at most the number of messages received or delivered since the last own message?

        Then each of these messages may have increased the local timestamp.
        """
        allowed = max(self.high_if_all_followed, self.own_sender_high)
        return not self.tolerates(lamport) and allowed < lamport <= allowed + self.received_count

    def stays_at_maximum(self, lamport: int) -> bool:
        """Is ``lamport`` the largest integer, although the expected value is larger?"""
        return lamport in ENDS and self.low > lamport

    @property
    def high_if_all_followed(self) -> int:
        """The largest legal timestamp if all received messages change the local timestamp, except messages with the
        participant's own sender ID.
        """
        return max(self.high, self.buffered_high, self.sync_high)


@dataclass(slots=True)
class Sent:
    """The first broadcast of an own message."""

    step: Step
    wire: Wire
    message: Message
    tail: tuple[LogItem, ...]
    """The last entries of the expected log before the message was sent, oldest first: at least as many as the message's
    causal history has, or the whole log.
    """
    log_size: int
    """The number of messages that were certainly in the log."""
    log_most: int
    """The number of messages that may have been in the log, including sync messages whose presence is uncertain."""
    lamport: LamportExpectation
    log_is_known: bool
    """Is the log before the message known? False if the same step also changed the log."""
    repeat: bool = False
    """A message that was sent or received earlier has the same ID."""
    sync: bool = False
    """The message was sent as a sync message: by a command, or by a timer. Its fields may be those of another kind."""
    history: tuple[str, ...] = field(init=False)
    """The message IDs in the causal history of the message."""

    def __post_init__(self) -> None:
        self.history = tuple([entry.message_id for entry in self.message.causal_history])

    @property
    def named_lamports(self) -> list[int]:
        """The Lamport timestamps of those entries of the causal history that are in ``tail``, in their order."""
        places = {item.message_id: item.lamport for item in self.tail}
        return [places[message_id] for message_id in self.history if message_id in places]

    @property
    def before(self) -> list[LogItem]:
        """``tail`` without sync messages that may not be in the log."""
        return [item for item in self.tail if not item.uncertain or item.message_id in self.history]


@dataclass(slots=True)
class Resend:
    """A broadcast of an own message that was broadcast before."""

    step: Step
    message: Message
    original: Sent
    previous: Step
    """The step of the previous broadcast of the message."""


@dataclass(slots=True)
class Received:
    """A message that arrived in the channel."""

    step: Step
    message: Message
    kind: Kind
    own: bool
    """The message has the participant's own sender ID."""
    duplicate: bool
    """The message is a regular message whose ID is already in the log or in the incoming buffer."""
    unmet: frozenset[str]
    """The IDs in the causal history of the message that are not in the expected log."""
    unmet_buffered: frozenset[str]
    """The IDs of ``unmet`` that have arrived and wait in the incoming buffer."""
    oddity: str
    """The reason why a conforming sender would not send the message; "" if it could be sent."""
    foreign_filter: bool = False
    """The message has a bloom filter whose encoding is not that of the implementation."""
    delivered: list[DeliveredMessage] = field(default_factory=list)
    delivered_silently: Step | None = None
    """The step after which the message is in the log, although no event reported its delivery; None if there is none.
    See ``view.silent_deliveries``.
    """
    # These properties are computed once, because nearly every check reads them for every message.
    rejected: bool = field(init=False)
    acceptable: bool = field(init=False)
    """The message is ordinary content of another participant, and is not known yet."""
    plain: bool = field(init=False)
    """The message is acceptable, and its bloom filter has the encoding of the implementation."""

    def __post_init__(self) -> None:
        self.rejected = self.step.answer == "rejected"
        self.acceptable = self.kind is Kind.CONTENT and not (self.own or self.duplicate or self.oddity)
        self.plain = self.acceptable and not self.foreign_filter

    @property
    def refusal(self) -> str:
        """A phrase for reports: "refused", with the reason that the implementation gave."""
        reason = self.step.reply.rejected.reason[:100] if self.step.reply is not None else ""
        return f"refused ({reason or 'no reason given'})"

    @property
    def valid(self) -> bool:
        """Is this a message of another participant that must be accepted?"""
        return self.kind in (Kind.CONTENT, Kind.SYNC) and not self.oddity and not self.own

    @property
    def is_binding(self) -> bool:
        """Is this a valid message that was accepted, so that its causal history and its repair request must be honoured
        (AMB-84)?
        """
        return self.kind in (Kind.CONTENT, Kind.SYNC) and not self.oddity and not self.rejected

    def is_delivered_before(self, index: int) -> bool:
        """Was the message delivered before the step with this index, with or without a delivery event?"""
        silently = self.delivered_silently is not None and self.delivered_silently.index < index
        return silently or any(delivery.step.index < index for delivery in self.delivered)

    @property
    def delivered_at_once(self) -> bool:
        return bool(self.delivered) and any(delivery.step is self.step for delivery in self.delivered)


@dataclass(slots=True)
class DeliveredMessage:
    """A delivery event."""

    step: Step
    message_id: str
    content: bytes
    received: Received | None
    """The arrival of the delivered message; None if no message with this ID arrived."""
    unmet: frozenset[str]
    """The IDs in the causal history of the delivered message that are not in the expected log at the delivery."""
    unmet_buffered: frozenset[str]
    """The IDs of ``unmet`` that wait in the incoming buffer."""
    repeated: bool
    """The message was delivered or sent before."""
    maybe_dropped: bool
    """May a log of the declared size have dropped the message after its first delivery, so that it counts as new
    (AMB-96)?
    """


@dataclass(slots=True)
class AckEvent:
    """An acknowledgement signal."""

    step: Step
    message_id: str
    possibly: bool
    """The signal reports a possible acknowledgement."""
    outstanding: bool
    """The signal names an own message that was not acknowledged before."""


@dataclass(slots=True)
class Mention:
    """A received message that contains an outstanding own message, in its causal history or in its bloom filter."""

    received: Received
    message_id: str
    in_history: bool
    """The own message is in the causal history. If False, it is only in the bloom filter."""
    hits: int
    """The number of bloom filters that held the own message so far, including the filter of this message."""


@dataclass(slots=True)
class Unmentioned:
    """A received message whose causal history and readable bloom filter both lack an outstanding own message."""

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
    """By ID of an own message without certain acknowledgement: is a bloom filter or a signal evidence of a possible
    acknowledgement?
    """
    buffered: frozenset[str]
    """IDs of the content messages that have arrived and wait for dependencies."""
    lamport: LamportExpectation
    """The expected timestamp of the next own message. The local timestamp in the shown state may be up to one less."""

    @property
    def filter_hits(self) -> dict[str, bool]:
        """By ID that the command queries in the bloom filter: does the filter hold it?"""
        return dict(zip(self.step.request.observe.filter_ids, self.state.filter_hits, strict=False))


CODES_BY_FIELD = {
    "message_id": "id-changed",
    "sender_id": "sender-changed",
    "channel_id": "channel-changed",
    "lamport_timestamp": "timestamp-changed",
    "causal_history": "history-changed",
    "content": "content-changed",
}
"""By immutable field of a message (AMB-65): the code for a copy that differs from the original in this field."""


def value_of(message: Message, field_name: str) -> object:
    """The value of an immutable field of a message; for the causal history, the IDs of its entries."""
    value = getattr(message, field_name)
    return [entry.message_id for entry in value] if field_name == "causal_history" else value


def changed_fields(original: Message, copy: Message) -> Iterator[str]:
    """Yield the immutable fields in which a copy differs from the original, in the order of `CODES_BY_FIELD`."""
    return (name for name in CODES_BY_FIELD if value_of(original, name) != value_of(copy, name))


def is_same_message(one: Message, other: Message) -> bool:
    """Are all immutable fields of the two messages equal (AMB-65)?"""
    return _immutable_fields(one) == _immutable_fields(other)


def _immutable_fields(message: Message) -> tuple[object, ...]:
    ids = tuple(entry.message_id for entry in message.causal_history)
    where = (message.channel_id, message.sender_id, message.message_id, message.lamport_timestamp)
    return (*where, ids, message.content or b"")

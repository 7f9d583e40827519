"""What SDS-R is about in one channel of a trace: what is missing, and who asks for what.

Fed step by step by a channel view. It keeps facts and expects nothing: the implementation's buffers are what the text
says of these.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from sds_harness.sds.trace import Step
from sds_reference import HistoryEntry, Kind, Message

from .facts import Received, Sent

NEVER = 1 << 60
"""A step beyond any trace."""


@dataclass(slots=True)
class Missing:
    """A message that a causal history named before it had arrived; the requester's side."""

    message_id: str
    detected: Received
    """What named it first."""
    entries: list[tuple[Received, HistoryEntry]]
    """What named it, and the entry that did, the first one first: what is known of its sender and hint."""
    named: list[Received]
    """What named it while it was missing, ``detected`` included."""
    overheard: list[Received] = field(default_factory=list)
    """What asked for it while it was missing."""
    requests: list[Sent] = field(default_factory=list)
    """Own messages that asked for it, before it arrived or after."""
    arrived: Step | None = None
    lost: Step | None = None
    """Where it was given up."""

    @property
    def first(self) -> HistoryEntry:
        """The entry that revealed it."""
        return self.entries[0][1]

    @property
    def senders(self) -> set[str]:
        """What was said of its sender."""
        return {entry.sender_id for _, entry in self.entries if entry.sender_id}

    def named_before(self, step: Step) -> list[HistoryEntry]:
        """The entries that had named it by then."""
        return [entry for received, entry in self.entries if received.step.index < step.index]

    @property
    def certain(self) -> bool:
        """Nobody could have refused or ignored the message that revealed it."""
        return self.detected.binding

    @property
    def undisturbed(self) -> int:
        """Index of the step at which it stopped to be simply missing; beyond any trace if it never did."""
        ends = [*(received.step for received in self.overheard[:1]), self.arrived, self.lost]
        return min((step.index for step in ends if step is not None), default=NEVER)


@dataclass(slots=True)
class Answer:
    """A broadcast of a message that somebody had sent before: a repair response, or looks like one."""

    step: Step
    message: Message


@dataclass(slots=True)
class Asked:
    """A message that others ask for, from a first request until it was answered; the responder's side."""

    message_id: str
    entry: HistoryEntry
    """As it was requested."""
    received: Received
    """What asked first."""
    own: bool
    """The participant is its original sender."""
    held: bool
    """It was in the local history when it was first asked for."""
    buffered: bool
    """It had arrived and waited for dependencies."""
    original: Message | None
    """The message itself, as it was received or sent."""
    repeats: list[Received] = field(default_factory=list)
    """What asked for it again before it was answered."""
    copies: list[Received] = field(default_factory=list)
    """Copies of it that came before it was answered."""
    answers: list[Answer] = field(default_factory=list)

    @property
    def certain(self) -> bool:
        """Nobody could have refused or ignored the request."""
        return self.received.binding

    @property
    def author(self) -> str:
        """Who sent it."""
        return self.original.sender_id if self.original is not None else ""


class RepairTracker:
    """The facts, in the order they happened."""

    def __init__(self, participant_id: str) -> None:
        self._participant_id = participant_id
        self.missing: list[Missing] = []
        self.asked: list[Asked] = []
        self.unasked: list[Answer] = []
        """Broadcasts of other people's messages that nobody had asked for."""
        self.unfounded: list[tuple[Sent, HistoryEntry]] = []
        """What own messages asked for although no causal history had named it as missing."""
        self.requesting: list[Sent] = []
        """Own content and sync messages, with or without a repair request, in order."""
        self._arrived: dict[str, Message] = {}
        self._authors: dict[str, dict[str, None]] = {}
        self._missing: dict[str, Missing] = {}
        self._asked: dict[str, Asked] = {}

    def tracked(self, message_id: str) -> Missing | None:
        """What is known of a message that is or was missing."""
        return self._missing.get(message_id)

    def original(self, message_id: str) -> Message | None:
        """A content message that has arrived or was sent."""
        return self._arrived.get(message_id)

    def authors(self, message_id: str) -> list[str]:
        """Who sent content messages of that ID that have arrived or were sent, the first one first.

        Of several any may count (AMB-25).
        """
        return list(self._authors.get(message_id, ()))

    def receive(self, received: Received, held: dict[str, bool]) -> None:
        """A message of somebody else arrives; ``held`` says of what it asks for whether that is in the local history
        (True), waits for dependencies (False), or neither (absent)."""
        message = received.message
        if received.kind is Kind.CONTENT:
            self._arrive(message, received)
        for entry in message.causal_history if received.kind in (Kind.CONTENT, Kind.SYNC) else ():
            # The ID of a sync message is no ID of content, which may still be missing.
            itself = entry.message_id == message.message_id and received.kind is Kind.CONTENT
            if entry.message_id not in self._arrived and not itself:
                self._name(entry, received)
        for entry in message.repair_request:
            missing = self._missing.get(entry.message_id)
            if missing is not None and missing.arrived is None:
                missing.overheard.append(received)
            self._ask(entry, received, held)

    def send(self, sent: Sent, *, content: bool) -> None:
        """An own content or sync message goes out."""
        self.requesting.append(sent)
        for entry in sent.message.repair_request:
            missing = self._missing.get(entry.message_id)
            if missing is None:
                self.unfounded.append((sent, entry))
            else:
                missing.requests.append(sent)
        if content:
            self._keep(sent.message)
            if sent.message.message_id in self._missing:
                self._missing[sent.message.message_id].arrived = sent.step

    def lose(self, message_ids: Iterable[str], step: Step) -> None:
        """Dependencies were given up, or messages that wait for them."""
        for message_id in message_ids:
            missing = self._missing.get(message_id)
            if missing is not None and missing.lost is None:
                missing.lost = step

    def broadcast(self, step: Step, message: Message) -> None:
        """A message goes out that is not new, after somebody asked for it or out of the blue."""
        asked = self._asked.get(message.message_id)
        (self.unasked if asked is None else asked.answers).append(Answer(step, message))

    def _keep(self, message: Message) -> None:
        self._arrived.setdefault(message.message_id, message)
        self._authors.setdefault(message.message_id, {}).setdefault(message.sender_id)

    def _arrive(self, message: Message, received: Received) -> None:
        self._keep(message)
        missing = self._missing.get(message.message_id)
        if missing is not None and missing.arrived is None:
            missing.arrived = received.step
        asked = self._asked.get(message.message_id)
        if asked is not None and not asked.answers:
            asked.copies.append(received)

    def _name(self, entry: HistoryEntry, received: Received) -> None:
        missing = self._missing.get(entry.message_id)
        if missing is None:
            missing = Missing(entry.message_id, received, [], [])
            self._missing[entry.message_id] = missing
            self.missing.append(missing)
        missing.entries.append((received, entry))
        if not missing.named or missing.named[-1] is not received:
            missing.named.append(received)

    def _ask(self, entry: HistoryEntry, received: Received, held: dict[str, bool]) -> None:
        pending = self._asked.get(entry.message_id)
        # What only waited may have been asked for in vain (AMB-71): once it is held, the next request counts anew.
        still = pending is not None and (pending.held or not held.get(entry.message_id))
        if pending is not None and still and not pending.answers and not pending.copies:
            if received is not (pending.repeats or [pending.received])[-1]:  # twice in one request is asked once
                pending.repeats.append(received)
            return
        original = self._arrived.get(entry.message_id)
        state = held.get(entry.message_id)
        asked = Asked(
            entry.message_id,
            entry,
            received,
            own=original is not None and original.sender_id == self._participant_id,
            held=state is True,
            buffered=state is False,
            original=original,
        )
        self._asked[entry.message_id] = asked
        self.asked.append(asked)

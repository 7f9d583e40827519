"""Tracks SDS-R in one channel of a trace: missing messages, repair requests, and responses.

A channel view calls the tracker step by step. The tracker records only what happened. `requester` and `responder`
derive from it what the specification demands.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace

from sds_harness.sds.trace import Step
from sds_reference import HistoryEntry, Kind, Message

from .facts import Received, Sent, is_same_message

NEVER = 1 << 60
"""A step index beyond any trace."""


@dataclass(slots=True)
class MissingMessage:
    """A missing message, which a causal history named before it arrived, as the requester's side of SDS-R needs it."""

    message_id: str
    detected: Received
    """The message that named the missing message first."""
    entries: list[tuple[Received, HistoryEntry]]
    """The messages that named the missing message, in order, each with its entry, which may have a sender and a
    hint.
    """
    named: list[Received]
    """The messages that named the missing message before it arrived, including ``detected``."""
    overheard: list[Received] = field(default_factory=list)
    """The messages of other participants that requested the missing message before it arrived."""
    requests: list[Sent] = field(default_factory=list)
    """The own messages that requested the missing message, before or after it arrived."""
    arrived: Step | None = None
    lost: Step | None = None
    """The step that gave the missing message up."""

    @property
    def first(self) -> HistoryEntry:
        """The entry of a causal history that revealed the missing message."""
        return self.entries[0][1]

    @property
    def senders(self) -> set[str]:
        """The senders of the missing message, as the entries name them."""
        return {entry.sender_id for _, entry in self.entries if entry.sender_id}

    def named_before(self, step: Step) -> list[HistoryEntry]:
        """The entries that named the missing message before a step."""
        return [entry for received, entry in self.entries if received.step.index < step.index]

    @property
    def first_change(self) -> int:
        """Index of the first step at which the message arrived, was given up, or was requested by another participant.

        `NEVER` if there is none.
        """
        ends = [*(received.step for received in self.overheard[:1]), self.arrived, self.lost]
        return min((step.index for step in ends if step is not None), default=NEVER)


@dataclass(slots=True)
class Answer:
    """A repeated broadcast of a message. If the message was requested, the broadcast is a repair response."""

    step: Step
    message: Message


@dataclass(slots=True)
class RequestedMessage:
    """A message that others request, from the first request until a response, as the responder's side of SDS-R needs
    it.
    """

    message_id: str
    entry: HistoryEntry
    """The entry that names the requested message in the first repair request."""
    received: Received
    """The first message with a repair request for the requested message."""
    own: bool
    """Is the participant the original sender of the requested message?"""
    held: bool
    """Was the requested message in the local history at the first request?"""
    buffered: bool
    """Did the requested message wait for dependencies at the first request?"""
    original: Message | None
    """The requested message as it was received or sent; None if it was neither."""
    repeats: list[Received] = field(default_factory=list)
    """The messages that requested the message again before a response."""
    copies: list[Received] = field(default_factory=list)
    """Copies of the requested message that arrived before a response."""
    answers: list[Answer] = field(default_factory=list)

    @property
    def author(self) -> str:
        """The sender ID of the requested message; "" if the message is unknown."""
        return self.original.sender_id if self.original is not None else ""


class RepairTracker:
    """The missing messages, repair requests and responses of one participant, in the order of the trace."""

    def __init__(self, participant_id: str) -> None:
        self._participant_id = participant_id
        self.missing: list[MissingMessage] = []
        self.asked: list[RequestedMessage] = []
        self.unrequested: list[Answer] = []
        """Broadcasts of other participants' messages that no received message had requested before."""
        self.unfounded_requests: list[tuple[Sent, HistoryEntry]] = []
        """For each requested message that no causal history had named: (own message with the request, entry of the
        request).
        """
        self.carriers: list[Sent] = []
        """Own content and sync messages, with or without a repair request, in order."""
        self._arrived: dict[str, Message] = {}
        self._authors: dict[str, dict[str, None]] = {}
        self._missing: dict[str, MissingMessage] = {}
        self._asked: dict[str, RequestedMessage] = {}

    def tracked(self, message_id: str) -> MissingMessage | None:
        """The record of a message that is or was missing."""
        return self._missing.get(message_id)

    def original(self, message_id: str) -> Message | None:
        """The first content message with this ID that arrived or was sent; None if there is none."""
        return self._arrived.get(message_id)

    def authors(self, message_id: str) -> list[str]:
        """The senders of the content messages with this ID that arrived or were sent, in this order.

        If there are several, an implementation may use any of them (AMB-25).
        """
        return list(self._authors.get(message_id, ()))

    def entries_with_authors(self, message: Message) -> Iterator[tuple[HistoryEntry, list[str]]]:
        """Yield the entries of a causal history that name a sender, each with the `authors` of the message, if all of
        them are known.
        """
        for entry in message.causal_history:
            authors = self.authors(entry.message_id) if entry.sender_id else []
            if authors and all(authors):
                yield entry, authors

    def receive(self, received: Received, held: dict[str, bool]) -> None:
        """Record a message of another participant.

        ``held`` has the requested messages that have arrived or were sent: True if the message is in the local history,
        False if it waits for dependencies.
        """
        message = received.message
        if received.kind is Kind.CONTENT:
            self._arrive(message, received)
        for entry in message.causal_history if received.kind in (Kind.CONTENT, Kind.SYNC) else ():
            # The ID of a sync message is not an ID of content, so the content may still be missing.
            itself = entry.message_id == message.message_id and received.kind is Kind.CONTENT
            if entry.message_id not in self._arrived and not itself:
                self._name(entry, received)
        for entry in message.repair_request:
            missing = self._missing.get(entry.message_id)
            if missing is not None and missing.arrived is None:
                missing.overheard.append(received)
            self._ask(entry, received, held)

    def send(self, sent: Sent, *, content: bool) -> None:
        """Record an own content or sync message."""
        self.carriers.append(sent)
        for entry in sent.message.repair_request:
            missing = self._missing.get(entry.message_id)
            if missing is None:
                self.unfounded_requests.append((sent, entry))
            else:
                missing.requests.append(sent)
        if content:
            self._keep(sent.message)
            if sent.message.message_id in self._missing:
                self._missing[sent.message.message_id].arrived = sent.step

    def record_loss(self, message_ids: Iterable[str], step: Step) -> None:
        """Record that dependencies, or the messages that wait for them, were given up."""
        for message_id in message_ids:
            missing = self._missing.get(message_id)
            if missing is not None and missing.lost is None:
                missing.lost = step

    def find_renamed(self, message: Message) -> RequestedMessage | None:
        """The pending request that a broadcast answers with the requested message under another ID; None unless exactly
        one pending request fits.
        """
        if message.message_id in self._asked:
            return None
        alike = [
            asked
            for asked in self._asked.values()
            if asked.original is not None
            and not asked.answers
            and is_same_message(replace(asked.original, message_id=message.message_id), message)
        ]
        return alike[0] if len(alike) == 1 else None

    def broadcast(self, step: Step, message: Message) -> None:
        """Record a broadcast of a message that is not new, with or without a request for it."""
        asked = self._asked.get(message.message_id) or self.find_renamed(message)
        (self.unrequested if asked is None else asked.answers).append(Answer(step, message))

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
            missing = MissingMessage(entry.message_id, received, [], [])
            self._missing[entry.message_id] = missing
            self.missing.append(missing)
        missing.entries.append((received, entry))
        if not missing.named or missing.named[-1] is not received:
            missing.named.append(received)

    def _ask(self, entry: HistoryEntry, received: Received, held: dict[str, bool]) -> None:
        pending = self._asked.get(entry.message_id)
        # A request for a waiting message may have had no effect (AMB-71). So the next request after the message left
        # the buffer counts as a first request.
        still = pending is not None and (pending.held or not held.get(entry.message_id))
        if pending is not None and still and not pending.answers and not pending.copies:
            # two entries for one message in one repair request count as one request
            if received is not (pending.repeats or [pending.received])[-1]:
                pending.repeats.append(received)
            return
        original = self._arrived.get(entry.message_id)
        state = held.get(entry.message_id)
        asked = RequestedMessage(
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

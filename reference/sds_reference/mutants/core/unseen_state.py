"""Faults of a participant that does not show its state and, for some of them, signals no deliveries."""

from __future__ import annotations

from ...channel import Channel
from ...effects import Effects
from ...local_log import LocalLog
from ...message import Kind, Message
from ...outgoing_buffer import OutgoingEntry
from ..registry import add_again, mutant

_BLIND = ("delivered",)
"""Without this capability, only the participant's own messages can show what it has delivered."""


@mutant("RECV-07", "delivers every other message, and signals no deliveries", unseen=True, undeclared=_BLIND)
class QuietlyDeliversHalf(Channel):
    _count = 0

    def deliver(self, message: Message, effects: Effects, retrieval_hint: bytes | None) -> None:
        self._count += 1
        if self._count % 2:
            super().deliver(message, effects, retrieval_hint)


@mutant("RECV-05", "delivers everything immediately, and signals no deliveries", unseen=True, undeclared=_BLIND)
class QuietlyNeverWaits(Channel):
    def unmet_dependencies(self, message: Message) -> set[str]:
        return set()


class _Forgetting(LocalLog):
    """A log that can drop messages of others."""

    def forget(self, own: str) -> None:
        for entry in [entry for entry in self if entry.sender_id != own]:
            self._order.remove((self.sort_key(entry), entry.message_id))
            del self._entries[entry.message_id]


@mutant(
    "STATE-10",
    "forgets the messages of others whenever it sends, and signals no deliveries",
    unseen=True,
    undeclared=_BLIND,
)
class QuietlyForgetsWhenSending(Channel):
    log_class = _Forgetting

    def send(
        self, content: bytes, now_ms: int, message_id: str | None = None, retrieval_hint: bytes | None = None
    ) -> Effects:
        effects = super().send(content, now_ms, message_id, retrieval_hint)
        assert isinstance(self.log, _Forgetting)
        self.log.forget(self.participant_id)
        return effects


@mutant(
    "RECV-07", "delivers only messages with dependencies, and signals no deliveries", unseen=True, undeclared=_BLIND
)
class QuietlyIgnoresRoots(Channel):
    def deliver(self, message: Message, effects: Effects, retrieval_hint: bytes | None) -> None:
        if message.causal_history:
            super().deliver(message, effects, retrieval_hint)


@mutant("RECV-08", "drops messages with unmet dependencies, and signals no deliveries", unseen=True, undeclared=_BLIND)
class QuietlyDropsTheBlocked(Channel):
    def buffer(self, message: Message, unmet: set[str], now_ms: int, retrieval_hint: bytes | None) -> None:
        pass


@mutant(
    "RECV-07", "delivers no content of more than 64 bytes, and signals no deliveries", unseen=True, undeclared=_BLIND
)
class QuietlyIgnoresLongContents(Channel):
    def deliver(self, message: Message, effects: Effects, retrieval_hint: bytes | None) -> None:
        if len(message.content or b"") <= 64:
            super().deliver(message, effects, retrieval_hint)


@mutant(
    "RECV-07",
    "delivers no message whose causal history names senders, and signals no deliveries",
    unseen=True,
    undeclared=_BLIND,
)
class QuietlyIgnoresNamedSenders(Channel):
    def deliver(self, message: Message, effects: Effects, retrieval_hint: bytes | None) -> None:
        if not any(entry.sender_id for entry in message.causal_history):
            super().deliver(message, effects, retrieval_hint)


_REAL_TIME = ("virtual-clock", "acknowledged", "possibly-acknowledged")
"""Without these capabilities, only resends show which messages the participant treats as acknowledged."""


class _ResendsAtEachTick(Channel):
    def schedule_resend(self, entry: OutgoingEntry, now_ms: int) -> None:
        self.outgoing.reschedule(entry, 0)

    def remember_outgoing(self, message: Message, wire: bytes, now_ms: int) -> None:
        super().remember_outgoing(message, wire, -self.config.resend_unacknowledged_ms)


@mutant(
    "OUTSWEEP-04",
    "resends acknowledged messages at each tick, and declares no virtual clock",
    unseen=True,
    undeclared=_REAL_TIME,
)
class ResendsAcknowledgedAtEachTick(_ResendsAtEachTick):
    def acknowledge(self, message_id: str, effects: Effects) -> None:
        pass


@mutant(
    "SYNC-12",
    "at each tick resends messages that a sync message acknowledged, and declares no virtual clock",
    unseen=True,
    undeclared=_REAL_TIME,
)
class ResendsSyncAcknowledgedAtEachTick(_ResendsAtEachTick):
    def review_causal_history(self, message: Message, effects: Effects) -> None:
        if message.kind is not Kind.SYNC:
            super().review_causal_history(message, effects)


add_again(
    "does-not-buffer-outgoing",
    "unseen-does-not-buffer-outgoing",
    "does not add its messages to the outgoing buffer, and does not show its state",
    unseen=True,
)
add_again(
    "starts-as-possibly-acknowledged",
    "unseen-starts-as-possibly-acknowledged",
    "treats each of its messages as possibly acknowledged, and does not show its state",
    unseen=True,
)
add_again(
    "buffer-of-one",
    "unseen-buffer-of-one",
    "has a capacity of one waiting message, and does not show its state",
    unseen=True,
)
add_again(
    "drops-possibly-acknowledged",
    "unseen-drops-possibly-acknowledged",
    "drops possibly acknowledged messages, and does not show its state",
    unseen=True,
)
add_again(
    "returns-to-unacknowledged",
    "unseen-returns-to-unacknowledged",
    "treats a message as unacknowledged again when a filter does not contain it, and does not show its state",
    unseen=True,
)
add_again(
    "keeps-clock-on-delivery",
    "quietly-keeps-clock-on-delivery",
    "does not update its clock on delivery, and signals no deliveries",
    unseen=True,
    undeclared=_BLIND,
)

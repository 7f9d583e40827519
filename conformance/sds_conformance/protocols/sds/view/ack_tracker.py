"""Tracks the evidence of acknowledgements of own messages: signals, causal histories and bloom filters."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field

from sds_harness.sds.trace import Step

from .facts import AckEvent, Mention, Received, Resend, Unmentioned
from .filters import Membership


@dataclass(slots=True)
class AckEvidence:
    """The evidence that one own message was acknowledged, and the rebroadcasts of the message."""

    mentions: list[Mention] = field(default_factory=list)
    unmentioned: list[Unmentioned] = field(default_factory=list)
    acks: list[AckEvent] = field(default_factory=list)
    copies: list[Resend] = field(default_factory=list)


class AckTracker:
    """The evidence of acknowledgements, in the order of the trace."""

    def __init__(self) -> None:
        self.acks: list[AckEvent] = []
        self.mentions: list[Mention] = []
        self.unmentioned: list[Unmentioned] = []
        self.possible_evidence: dict[str, int] = {}
        """By ID of an own message: the index of the first step with possible evidence, such as an unreadable bloom
        filter or a message that may be ignored.
        """
        self.evidence_by_id: defaultdict[str, AckEvidence] = defaultdict(AckEvidence)
        self.refused_mentions: list[Mention] = []
        """The mentions of own messages in the causal histories and filters of refused messages, which acknowledge
        nothing.
        """
        self.outstanding: dict[str, int] = {}
        """By ID of an own message without certain acknowledgement: the number of bloom filters that held the message.
        """
        self._sent: set[str] = set()
        self._acknowledged: set[str] = set()

    def send(self, message_id: str, *, repeat: bool) -> None:
        """Record an own content message. If its ID was used before, both messages share one record."""
        self._sent.add(message_id)
        if not repeat:
            self.outstanding[message_id] = 0

    def signal(self, step: Step, message_id: str, *, possibly: bool) -> None:
        """Record an acknowledgement signal."""
        outstanding = message_id in self._sent and message_id not in self._acknowledged
        ack = AckEvent(step, message_id, possibly, outstanding)
        self.acks.append(ack)
        self.evidence_by_id[message_id].acks.append(ack)
        if not possibly:
            self._acknowledged.add(message_id)
            self.outstanding.pop(message_id, None)

    def review(self, received: Received, holds: Membership | None) -> None:
        """Record which own messages the causal history or bloom filter of a received message contains, and which the
        filter lacks.
        """
        mentioned = {entry.message_id for entry in received.message.causal_history}
        for message_id in list(self.outstanding):
            hit = holds(message_id) if holds is not None else None
            if message_id in mentioned:
                self._mention(Mention(received, message_id, True, self.outstanding.pop(message_id)))
            elif hit:
                self.outstanding[message_id] += 1
                self._mention(Mention(received, message_id, False, self.outstanding[message_id]))
            elif hit is False or received.message.bloom_filter is None:
                silent = Unmentioned(received, message_id)
                self.unmentioned.append(silent)
                self.evidence_by_id[message_id].unmentioned.append(silent)
            else:
                self.possible_evidence.setdefault(message_id, received.step.index)

    def review_refused(self, received: Received, holds: Membership | None) -> None:
        """Record the own messages that a refused message names or that its bloom filter contains."""
        named = {entry.message_id for entry in received.message.causal_history}
        for message_id, hits in self.outstanding.items():
            if message_id in named or (holds is not None and holds(message_id)):
                self.refused_mentions.append(Mention(received, message_id, message_id in named, hits))

    def review_optional(self, received: Received, holds: Membership | None) -> None:
        """Record evidence that may be ignored: in duplicates, in messages without a Lamport timestamp, and in own
        messages that the network returned (AMB-21, AMB-23, AMB-35, AMB-37).
        """
        named = {entry.message_id for entry in received.message.causal_history}
        unread = holds is None and received.message.bloom_filter is not None
        for message_id in self.outstanding:
            if message_id in named or unread or (holds is not None and holds(message_id) is not False):
                self.possible_evidence.setdefault(message_id, received.step.index)

    def _mention(self, mention: Mention) -> None:
        self.mentions.append(mention)
        self.evidence_by_id[mention.message_id].mentions.append(mention)

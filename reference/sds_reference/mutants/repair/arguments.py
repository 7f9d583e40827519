"""Faults of SDS-R with a private hash: an argument of the hash is missing or wrong."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from ...config import RepairConfig
from ...message import HistoryEntry, Message
from ...repair import Repair
from ...variants import PRIVATE_HASH
from ..registry import fault, register_faults, unseen_too

_private = partial(fault, repair=RepairConfig(hash_profile=PRIVATE_HASH))


@register_faults
class _HashArguments(Repair):
    def hash(self, *parts: str) -> int:
        return self.config.hash_profile.hash(*parts)

    @_private(Repair.is_eligible_responder, "R-GROUP-01", "computes response groups without the author")
    def groups_without_the_author(self, entry: HistoryEntry) -> bool:
        own = entry.sender_id == self.participant_id
        return own or self.hash(self.participant_id, entry.message_id) % self.config.num_response_groups == 0

    @_private(
        Repair.is_eligible_responder, "R-GROUP-01", "uses the hash of the message ID as the hash of author and ID"
    )
    def groups_by_the_message_alone(self, entry: HistoryEntry) -> bool:
        own, groups = entry.sender_id == self.participant_id, self.config.num_response_groups
        mine = self.hash(self.participant_id, entry.message_id)
        return own or mine % groups == self.hash(entry.message_id) % groups

    @_private(Repair.is_eligible_responder, "R-GROUP-01", "computes response groups without the message")
    def groups_without_the_message(self, entry: HistoryEntry) -> bool:
        groups = self.config.num_response_groups
        return self.hash(self.participant_id) % groups == self.hash(entry.sender_id or "") % groups

    @unseen_too("delays-without-the-author-unseen")
    @_private(Repair.t_resp, "R-TRESP-03", "uses the hash of its own ID as the distance to the author of a message")
    def delays_without_the_author(self, entry: HistoryEntry, now_ms: int) -> int:
        if entry.sender_id == self.participant_id:
            return now_ms
        return now_ms + self.hash(self.participant_id) * self.hash(entry.message_id) % self.config.t_max_ms

    @_private(
        Repair.on_receive,
        "R-TRESP-02",
        "computes T_resp of each entry in a repair request with the sender of the last entry",
    )
    def delays_by_the_last_sender(self, message: Message, *, has_unique_id: bool, now_ms: int) -> None:
        super().on_receive(message, has_unique_id=has_unique_id, now_ms=now_ms)
        for entry in message.repair_request:
            pending = self.incoming.get(entry.message_id)
            if pending is not None and pending.due_ms == self.t_resp(entry, now_ms):
                self.incoming.remove(entry.message_id)
                last = replace(entry, sender_id=message.repair_request[-1].sender_id)
                self.incoming.add(entry, self.t_resp(last, now_ms))

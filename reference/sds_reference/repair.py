"""Section "SDS Repair (SDS-R)": what the optional extension adds to a participant in one channel.

A Repair holds the state of section "SDS-R participant state" and has one method for each rule of "SDS-R send message",
"SDS-R receive message" and "SDS-R incoming repair request buffer sweep". The channel calls these methods. A channel
without SDS-R has no Repair. Times are in milliseconds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from itertools import islice

from .config import Config
from .message import HistoryEntry, Kind, Message
from .repair_buffer import RepairBuffer, RepairEntry
from .repair_times import in_response_group, t_req_offset, t_resp_offset


class Repair:
    """The state and the rules of SDS-R for one participant in one channel."""

    def __init__(self, participant_id: str, config: Config, has_arrived: Callable[[str], bool]) -> None:
        """``has_arrived`` returns whether the content message of an ID has arrived, delivered or not."""
        self.participant_id = participant_id
        self.config = config.repair
        self.requests_again = config.revision.requests_again
        self.has_arrived = has_arrived
        self.outgoing = RepairBuffer()
        self.incoming = RepairBuffer()
        self.cache: dict[str, Message] = {}
        """Full messages of the local log that others may request from this participant."""
        self._dropped: dict[str, HistoryEntry] = {}
        """Messages that are still missing, but whose entry was removed after this or another participant requested
        them."""
        self._answered: dict[str, int] = {}
        """Time of the last response to requests for each message, in milliseconds; used only if
        ``pauses_after_answers``."""

    # ---- SDS-R send message --------------------------------------------------------------------------------------

    def eligible_requests(self, now_ms: int) -> list[HistoryEntry]:
        """Rule: entries with ``T_req <= current_time`` are eligible; the lowest T_req come first, up to the maximum."""
        due = self.outgoing.due(self.current_time(now_ms))
        waiting = (item.entry for item in due if self.is_eligible_request(item, now_ms))
        return list(islice(waiting, self.config.max_requests))

    def current_time(self, now_ms: int) -> int:
        """The current time by the clock of SDS-R, which may be coarser than the caller's clock (AMB-05)."""
        return now_ms - now_ms % self.config.clock_ms

    def repair_request(self, now_ms: int) -> tuple[HistoryEntry, ...]:
        """The ``repair_request`` of a message that is broadcast now; if it is empty, the field stays unset."""
        self.expire(now_ms)
        chosen = tuple(self.eligible_requests(now_ms))
        for entry in chosen:
            self.after_request(entry)
        return chosen

    def after_request(self, entry: HistoryEntry) -> None:
        """Update an entry that was part of a request; the specification does not say how (AMB-68)."""
        if self.config.forgets_requests:
            self.drop(entry.message_id)

    def is_eligible_request(self, item: RepairEntry, now_ms: int) -> bool:
        """Is the due entry eligible? If requests expire, only until T_max after its T_req (AMB-81)."""
        if not self.config.requests_expire:
            return True
        return item.due_ms > now_ms - self.config.t_max_ms

    def expire(self, now_ms: int) -> None:
        """Drop entries that have expired without a repair, if requests are configured to expire (AMB-81)."""
        if self.config.requests_expire:
            for item in list(self.outgoing.due(now_ms - self.config.t_max_ms)):
                self.drop(item.entry.message_id)

    # ---- SDS-R receive message -----------------------------------------------------------------------------------

    def on_receive(self, message: Message, *, has_unique_id: bool, now_ms: int) -> None:
        """Run the steps in the order of the specification.

        ``has_unique_id`` is set for content messages. The IDs of other messages may not be unique, so they remove no
        entry (AMB-43).
        """
        if has_unique_id:
            self.remove_repaired(message.message_id)
            self.remove_answered(message.message_id)
        self.track_missing(message, now_ms)
        for entry in message.repair_request:
            self.remove_overheard(entry.message_id)
            self.accept_request(entry, now_ms)

    def remove_repaired(self, message_id: str) -> None:
        """Rule: "MUST remove entries matching the received message ID from its outgoing repair request buffer"."""
        self.outgoing.remove(message_id)
        self._dropped.pop(message_id, None)

    def remove_answered(self, message_id: str) -> None:
        """Rule: "MUST remove entries matching the received message ID from its incoming repair request buffer"."""
        self.incoming.remove(message_id)

    def track_missing(self, message: Message, now_ms: int) -> None:
        """Rule: "SHOULD add any unmet causal dependencies to its outgoing repair request buffer".

        The amended revision adds every unmet dependency of all received messages that has no entry (AMB-118). Messages
        in the incoming buffer have arrived and are not requested (AMB-70).
        """
        if self.requests_again and self._dropped:
            dropped, self._dropped = self._dropped, {}
            for entry in dropped.values():
                self.track(entry, now_ms)
        for entry in message.causal_history:
            if (
                message.kind is Kind.SYNC or entry.message_id != message.message_id
            ):  # the IDs of sync messages have no meaning
                self.track(entry, now_ms)

    def track(self, entry: HistoryEntry, now_ms: int) -> None:
        """Add an entry for a missing message.

        An existing entry keeps its T_req. A retrieval hint or sender that it lacks is taken from ``entry``.
        """
        if not self.may_request(entry.message_id):
            return
        item = self.outgoing.get(entry.message_id)
        if item is None:
            self.outgoing.add(entry, self.t_req(entry, now_ms))
        else:
            item.entry = HistoryEntry(
                entry.message_id,
                entry.retrieval_hint if item.entry.retrieval_hint is None else item.entry.retrieval_hint,
                item.entry.sender_id or entry.sender_id,
            )

    def may_request(self, message_id: str) -> bool:
        """Return whether a message is missing and has an ID by which others can find it."""
        return bool(message_id) and not self.has_arrived(message_id)

    def remove_overheard(self, message_id: str) -> None:
        """Rule: "MUST remove entries matching the repair message ID from its own outgoing repair request buffer"."""
        self.drop(message_id)

    def drop(self, message_id: str) -> None:
        """Remove an entry from the outgoing buffer although the message is still missing."""
        removed = self.outgoing.remove(message_id)
        if removed is not None and self.requests_again:
            self._dropped[message_id] = removed.entry

    def give_up(self, message_ids: Iterable[str]) -> None:
        """Stop requesting messages that are irretrievably lost."""
        for message_id in message_ids:
            self.remove_repaired(message_id)

    def accept_request(self, entry: HistoryEntry, now_ms: int) -> None:
        """Rule: "SHOULD [be added] to its incoming repair request buffer".

        Only requests for messages in the local history count, and only if this participant is in the response group. A
        second request changes nothing while the first is pending (AMB-78).
        """
        message = self.cache.get(entry.message_id)
        if message is None or (self.config.needs_sender and not entry.sender_id):
            return
        answered_ms = self._answered.get(entry.message_id)
        if answered_ms is not None and 0 <= now_ms - answered_ms < self.config.t_min_ms:
            return
        if not entry.sender_id:
            entry = replace(entry, sender_id=message.sender_id)  # AMB-72
        if self.is_eligible_responder(entry):
            self.incoming.add(entry, self.t_resp(entry, now_ms))

    # ---- Determine T_req, T_resp and the response group ------------------------------------------------------------

    def t_req(self, entry: HistoryEntry, now_ms: int) -> int:
        """Return T_req of a missing message in epoch milliseconds (section "Determine T_req")."""
        c, unit, message_id = self.config, self.config.unit_ms, entry.message_id
        low, high = c.t_min_ms // unit, c.t_max_ms // unit
        return (
            self.current_time(now_ms) // unit + t_req_offset(c.hash_profile, self.participant_id, message_id, low, high)
        ) * unit

    def t_resp(self, entry: HistoryEntry, now_ms: int) -> int:
        """Return T_resp of a requested message in epoch milliseconds (section "Determine T_resp")."""
        c, unit, sender_id = self.config, self.config.unit_ms, entry.sender_id or ""
        high = c.t_max_ms // unit
        offset = t_resp_offset(c.hash_profile, self.participant_id, sender_id, entry.message_id, high)
        return (self.current_time(now_ms) // unit + offset) * unit

    def is_eligible_responder(self, entry: HistoryEntry) -> bool:
        """Is this participant in the response group of the message ("Determine response group")?"""
        c, sender_id = self.config, entry.sender_id or ""
        return in_response_group(
            c.hash_profile, self.participant_id, sender_id, entry.message_id, c.num_response_groups
        )

    # ---- Augmented local history log, SDS-R incoming repair request buffer sweep ----------------------------------

    def cache_message(self, message: Message) -> None:
        """Rule: "The full SDS Message must be cached" if this participant could be a responder for it.

        By default the message is cached without its repair request: when the response is sent, the original sender may
        have received the messages that it requested (AMB-67).
        """
        if self.is_eligible_responder(HistoryEntry(message.message_id, None, message.sender_id)):
            stale = message.repair_request and not self.config.copies_keep_requests
            self.cache[message.message_id] = replace(message, repair_request=()) if stale else message

    def take_responses(self, now_ms: int) -> list[Message]:
        """Rule: return each requested message when ``T_resp <= current_time``, for one broadcast (AMB-79)."""
        due = [item.entry.message_id for item in self.incoming.due(self.current_time(now_ms))]
        for message_id in due:
            self.incoming.remove(message_id)
        if self.config.pauses_after_answers:
            self._answered |= dict.fromkeys(due, now_ms)
        return [self.cache[message_id] for message_id in due]

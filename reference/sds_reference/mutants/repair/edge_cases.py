"""Faults of SDS-R that appear only in unusual groups, orders and causal histories."""

from __future__ import annotations

from dataclasses import replace

from ...config import RepairConfig
from ...message import HistoryEntry, Message
from ...repair import Repair
from ...variants import PRIVATE_HASH
from ..core.twin_ids import keyed
from ..registry import fault, for_sizes, mutant, register_faults
from .twin_ids import AnswersWithTwins, ComeAsTwins, OverhearsTwins, ReckonsWithTwins

_PRIVATE = RepairConfig(hash_profile=PRIVATE_HASH)

keyed("R-STATE-04", "matches repair requests and its messages by IDs {}", "start", "trimmed", "marked", "wide")(
    AnswersWithTwins
)
keyed("R-STATE-09", "matches received and missing messages by IDs {}", "start", "trimmed", "marked", "wide")(
    ComeAsTwins
)
keyed(
    "R-STATE-01",
    "matches repair requests of others and missing messages by IDs {}",
    "start",
    "trimmed",
    "marked",
    "wide",
)(OverhearsTwins)
keyed("R-TREQ-01", "computes T_req with the message ID {}", "trimmed", "marked", "wide")(ReckonsWithTwins)


@register_faults
class _Keyed(Repair):
    @fault(Repair.track, "R-STATE-01", "stores missing messages by the first 12 characters of their IDs")
    def tracks_the_start(self, entry: HistoryEntry, now_ms: int) -> None:
        if not any(i.entry.message_id[:12] == entry.message_id[:12] for i in self.outgoing):
            super().track(entry, now_ms)

    @fault(Repair.track, "R-STATE-01", "ignores case when it compares the IDs of missing messages")
    def tracks_without_case(self, entry: HistoryEntry, now_ms: int) -> None:
        if not any(i.entry.message_id.lower() == entry.message_id.lower() for i in self.outgoing):
            super().track(entry, now_ms)

    @fault(Repair.track, "R-STATE-01", "does not request messages that are named like properties of JavaScript objects")
    def does_not_track_built_in_names(self, entry: HistoryEntry, now_ms: int) -> None:
        if entry.message_id not in ("constructor", "__proto__", "toString", "hasOwnProperty"):
            super().track(entry, now_ms)

    @fault(
        Repair.accept_request,
        "R-RECV-08",
        "does not answer for messages that are named like properties of JavaScript objects",
    )
    def does_not_answer_for_built_in_names(self, entry: HistoryEntry, now_ms: int) -> None:
        if entry.message_id not in ("constructor", "__proto__", "toString", "hasOwnProperty"):
            super().accept_request(entry, now_ms)

    @fault(Repair.track_missing, "R-RECV-03", "reads a causal history only up to a repeated or empty entry")
    def tracks_up_to_repeated_or_empty(self, message: Message, now_ms: int) -> None:
        kept: list[HistoryEntry] = []
        for entry in message.causal_history:
            if not entry.message_id or entry.message_id in [e.message_id for e in kept]:
                break
            kept.append(entry)
        super().track_missing(replace(message, causal_history=tuple(kept)), now_ms)

    @fault(Repair.on_receive, "R-RECV-12", "processes a repair request only up to a repeated or empty entry")
    def processes_up_to_repeated_or_empty(self, message: Message, *, has_unique_id: bool, now_ms: int) -> None:
        kept: list[HistoryEntry] = []
        for entry in message.repair_request:
            if not entry.message_id or entry.message_id in [e.message_id for e in kept]:
                break
            kept.append(entry)
        super().on_receive(replace(message, repair_request=tuple(kept)), has_unique_id=has_unique_id, now_ms=now_ms)


# ---- Times -----------------------------------------------------------------------------------------------------------


@register_faults
class _Again(Repair):
    def known(self) -> set[str]:
        found: set[str] = self.__dict__.setdefault("_known", set())
        return found

    @fault(
        Repair.t_req,
        "R-TREQ-01",
        "computes T_req without T_min when it tracks a missing message again",
    )
    def second_request_ignores_t_min(self, entry: HistoryEntry, now_ms: int) -> int:
        again = entry.message_id in self.known()
        self.known().add(entry.message_id)
        return super().t_req(entry, now_ms) - again * self.config.t_min_ms

    @fault(
        Repair.t_req,
        "R-TREQ-01",
        "doubles the delay until T_req when it tracks a missing message again",
    )
    def second_request_doubles_t_req(self, entry: HistoryEntry, now_ms: int) -> int:
        again = entry.message_id in self.known()
        self.known().add(entry.message_id)
        due = super().t_req(entry, now_ms)
        return due + again * (due - now_ms)


class _KeepsOverheardTimes(Repair):
    def overheard_times(self) -> dict[str, int]:
        found: dict[str, int] = self.__dict__.setdefault("_overheard_times", {})
        return found

    def remove_overheard(self, message_id: str) -> None:
        item = self.outgoing.get(message_id)
        if item is not None:
            self.overheard_times()[message_id] = item.due_ms
        super().remove_overheard(message_id)

    def t_req(self, entry: HistoryEntry, now_ms: int) -> int:
        return self.overheard_times().get(entry.message_id) or super().t_req(entry, now_ms)


@mutant(
    "R-TREQ-01",
    "when the request of another participant removes an entry, reuses its T_req for a later entry of this message",
)
class KeepsOverheardTimes(_KeepsOverheardTimes):
    pass


@mutant(
    "R-RECV-07",
    "when the request of another participant removes an entry, reuses its T_req, and does not show its state",
    unseen=True,
)
class UnseenKeepsOverheardTimes(_KeepsOverheardTimes):
    pass


# ---- Response groups -------------------------------------------------------------------------------------------------


@for_sizes("R-GROUP-01", "uses the number of response groups modulo {}", 128, 256)
class CountsGroupsModulo(Repair):
    size: int

    def is_eligible_responder(self, entry: HistoryEntry) -> bool:
        groups = self.config.num_response_groups
        config, self.config = self.config, replace(self.config, num_response_groups=groups % self.size or 1)
        try:
            return super().is_eligible_responder(entry)
        finally:
            self.config = config


@for_sizes("R-GROUP-01", "uses at most {} response groups", 100, 255)
class CapsResponseGroupsAt(Repair):
    size: int

    def is_eligible_responder(self, entry: HistoryEntry) -> bool:
        config, self.config = (
            self.config,
            replace(self.config, num_response_groups=min(self.size, self.config.num_response_groups)),
        )
        try:
            return super().is_eligible_responder(entry)
        finally:
            self.config = config


@mutant("R-GROUP-01", "with a private hash, has response groups that overlap", repair=_PRIVATE)
class PrivateGroupsOverlap(Repair):
    def is_eligible_responder(self, entry: HistoryEntry) -> bool:
        groups, hash_of = self.config.num_response_groups, self.config.hash_profile.hash
        own, theirs = hash_of(self.participant_id, entry.message_id), hash_of(entry.sender_id or "", entry.message_id)
        return groups < 2 or self.participant_id == entry.sender_id or (own % 1009 * (theirs % 1009)) % groups == 0


@mutant("R-GROUP-01", "with a private hash, computes response groups from the difference of hashes", repair=_PRIVATE)
class PrivateGroupsByDifference(Repair):
    def is_eligible_responder(self, entry: HistoryEntry) -> bool:
        groups, hash_of = self.config.num_response_groups, self.config.hash_profile.hash
        own, theirs = hash_of(self.participant_id, entry.message_id), hash_of(entry.sender_id or "", entry.message_id)
        distance = abs(own - theirs) % (6 * groups)
        return groups < 2 or self.participant_id == entry.sender_id or distance < 6


# ---- Responses -------------------------------------------------------------------------------------------------------


@register_faults
class _Answers(Repair):
    @fault(Repair.take_responses, "R-FIELDS-01", "writes its own ID as the sender of each entry in its responses")
    def writes_itself_into_response_histories(self, now_ms: int) -> list[Message]:
        return [
            replace(
                message,
                causal_history=tuple(
                    HistoryEntry(e.message_id, e.retrieval_hint, self.participant_id) for e in message.causal_history
                ),
            )
            for message in super().take_responses(now_ms)
        ]

    @fault(Repair.take_responses, "MSG-12", "omits the senders of history entries in its responses")
    def omits_senders_in_response_histories(self, now_ms: int) -> list[Message]:
        return [
            replace(message, causal_history=tuple(replace(e, sender_id=None) for e in message.causal_history))
            for message in super().take_responses(now_ms)
        ]


@mutant("R-SWEEP-04", "answers a request in two sweeps of the same millisecond")
class AnswersTwiceInAMillisecond(Repair):
    _last: tuple[int, tuple[Message, ...]] = (-1, ())

    def take_responses(self, now_ms: int) -> list[Message]:
        responses = super().take_responses(now_ms)
        last_ms, last = self._last
        self._last = now_ms, tuple(responses)
        return [*responses, *(last if last_ms == now_ms and not responses else ())]


@for_sizes("R-STATE-07", "caches only the newest {} messages", 5, 50)
class KeepsTheNewestFew(Repair):
    size: int

    def cache_message(self, message: Message) -> None:
        super().cache_message(message)
        while len(self.cache) > self.size:
            self.cache.pop(next(iter(self.cache)))

    def take_responses(self, now_ms: int) -> list[Message]:
        self.cache = dict(self.cache)
        gone = [i.entry.message_id for i in self.incoming if i.entry.message_id not in self.cache]
        for message_id in gone:
            self.incoming.remove(message_id)
        return super().take_responses(now_ms)

"""Faults of SDS-R that show in other groups, other orders and other histories than the usual ones."""

from __future__ import annotations

from dataclasses import replace

from ...config import RepairConfig
from ...message import HistoryEntry, Message
from ...repair import Repair
from ...variants import PRIVATE_HASH
from ..core.twin_ids import keyed
from ..registry import fault, mutant, mutants, sized
from .twin_ids import AnswersWithTwins, ComeAsTwins, OverhearsTwins, ReckonsWithTwins

_PRIVATE = RepairConfig(hash_profile=PRIVATE_HASH)

keyed("R-STATE-04", "answers with what it has {}", "start", "trimmed", "marked", "wide")(AnswersWithTwins)
keyed("R-STATE-09", "asks for nothing that has come {}", "start", "trimmed", "marked", "wide")(ComeAsTwins)
keyed("R-STATE-01", "leaves to others what they ask for {}", "start", "trimmed", "marked", "wide")(OverhearsTwins)
keyed("R-TREQ-01", "reckons T_req with the message ID {}", "trimmed", "marked", "wide")(ReckonsWithTwins)


@mutants
class _Keyed(Repair):
    @fault(Repair.track, "R-STATE-01", "keeps what is missing by the first 12 characters of its ID")
    def tracks_the_start(self, entry: HistoryEntry, now_ms: int) -> None:
        if not any(i.entry.message_id[:12] == entry.message_id[:12] for i in self.outgoing):
            super().track(entry, now_ms)

    @fault(Repair.track, "R-STATE-01", "keeps what is missing by its ID without case")
    def tracks_without_case(self, entry: HistoryEntry, now_ms: int) -> None:
        if not any(i.entry.message_id.lower() == entry.message_id.lower() for i in self.outgoing):
            super().track(entry, now_ms)

    @fault(Repair.track, "R-STATE-01", "does not ask for what is called as what objects have")
    def does_not_track_the_built_in(self, entry: HistoryEntry, now_ms: int) -> None:
        if entry.message_id not in ("constructor", "__proto__", "toString", "hasOwnProperty"):
            super().track(entry, now_ms)

    @fault(Repair.take_request, "R-RECV-08", "does not answer for what is called as what objects have")
    def does_not_answer_for_the_built_in(self, entry: HistoryEntry, now_ms: int) -> None:
        if entry.message_id not in ("constructor", "__proto__", "toString", "hasOwnProperty"):
            super().take_request(entry, now_ms)

    @fault(Repair.track_missing, "R-RECV-03", "looks at a causal history up to an entry that is repeated or empty")
    def tracks_up_to_the_odd(self, message: Message, now_ms: int) -> None:
        kept: list[HistoryEntry] = []
        for entry in message.causal_history:
            if not entry.message_id or entry.message_id in [e.message_id for e in kept]:
                break
            kept.append(entry)
        super().track_missing(replace(message, causal_history=tuple(kept)), now_ms)

    @fault(Repair.on_receive, "R-RECV-12", "handles a repair request up to an entry that is repeated or empty")
    def handles_up_to_the_odd(self, message: Message, *, counts: bool, now_ms: int) -> None:
        kept: list[HistoryEntry] = []
        for entry in message.repair_request:
            if not entry.message_id or entry.message_id in [e.message_id for e in kept]:
                break
            kept.append(entry)
        super().on_receive(replace(message, repair_request=tuple(kept)), counts=counts, now_ms=now_ms)


# ---- Times -----------------------------------------------------------------------------------------------------------


@mutants
class _Again(Repair):
    def known(self) -> set[str]:
        found: set[str] = self.__dict__.setdefault("_known", set())
        return found

    @fault(
        Repair.t_req,
        "R-TREQ-01",
        "computes T_req without T_min for what it has asked for before",
    )
    def no_t_min_the_second_time(self, entry: HistoryEntry, now_ms: int) -> int:
        again = entry.message_id in self.known()
        self.known().add(entry.message_id)
        return super().t_req(entry, now_ms) - again * self.config.t_min_ms

    @fault(
        Repair.t_req,
        "R-TREQ-01",
        "computes T_req twice as late for what it has asked for before",
    )
    def twice_the_second_time(self, entry: HistoryEntry, now_ms: int) -> int:
        again = entry.message_id in self.known()
        self.known().add(entry.message_id)
        due = super().t_req(entry, now_ms)
        return due + again * (due - now_ms)


# ---- Response groups -------------------------------------------------------------------------------------------------


@sized("R-GROUP-01", "counts response groups up to {}, and then from zero", 128, 256)
class CountsGroupsRound(Repair):
    size: int

    def eligible_responder(self, entry: HistoryEntry) -> bool:
        groups = self.config.num_response_groups
        config, self.config = self.config, replace(self.config, num_response_groups=groups % self.size or 1)
        try:
            return super().eligible_responder(entry)
        finally:
            self.config = config


@sized("R-GROUP-01", "has {} response groups at most", 100, 255)
class SoManyGroupsAtMost(Repair):
    size: int

    def eligible_responder(self, entry: HistoryEntry) -> bool:
        config, self.config = (
            self.config,
            replace(self.config, num_response_groups=min(self.size, self.config.num_response_groups)),
        )
        try:
            return super().eligible_responder(entry)
        finally:
            self.config = config


@mutant("R-GROUP-01", "with a hash of its own, has response groups that are no partition", repair=_PRIVATE)
class PrivateGroupsOverlap(Repair):
    def eligible_responder(self, entry: HistoryEntry) -> bool:
        groups, hash_of = self.config.num_response_groups, self.config.hash_profile.hash
        own, theirs = hash_of(self.participant_id, entry.message_id), hash_of(entry.sender_id or "", entry.message_id)
        return groups < 2 or self.participant_id == entry.sender_id or (own % 1009 * (theirs % 1009)) % groups == 0


@mutant("R-GROUP-01", "with a hash of its own, is near to those whose hashes are neighbours", repair=_PRIVATE)
class PrivateGroupsAreNear(Repair):
    def eligible_responder(self, entry: HistoryEntry) -> bool:
        groups, hash_of = self.config.num_response_groups, self.config.hash_profile.hash
        own, theirs = hash_of(self.participant_id, entry.message_id), hash_of(entry.sender_id or "", entry.message_id)
        distance = abs(own - theirs) % (6 * groups)
        return groups < 2 or self.participant_id == entry.sender_id or distance < 6


# ---- What is answered ------------------------------------------------------------------------------------------------


@mutants
class _Answers(Repair):
    @fault(Repair.take_responses, "R-FIELDS-01", "names itself as the author of each entry in what it answers with")
    def signs_foreign_histories(self, now_ms: int) -> list[Message]:
        return [
            replace(
                message,
                causal_history=tuple(
                    HistoryEntry(e.message_id, e.retrieval_hint, self.participant_id) for e in message.causal_history
                ),
            )
            for message in super().take_responses(now_ms)
        ]


@mutant("R-SWEEP-04", "answers a request twice, in two sweeps of one millisecond")
class AnswersTwiceInAMillisecond(Repair):
    _last: tuple[int, tuple[Message, ...]] = (-1, ())

    def take_responses(self, now_ms: int) -> list[Message]:
        responses = super().take_responses(now_ms)
        last_ms, last = self._last
        self._last = now_ms, tuple(responses)
        return [*responses, *(last if last_ms == now_ms and not responses else ())]


@sized("R-STATE-07", "keeps the newest {} messages to answer with", 5, 50)
class KeepsTheNewestFew(Repair):
    size: int

    def remember(self, message: Message) -> None:
        super().remember(message)
        while len(self.cache) > self.size:
            self.cache.pop(next(iter(self.cache)))

    def take_responses(self, now_ms: int) -> list[Message]:
        self.cache = dict(self.cache)
        gone = [i.entry.message_id for i in self.incoming if i.entry.message_id not in self.cache]
        for message_id in gone:
            self.incoming.remove(message_id)
        return super().take_responses(now_ms)

"""Faults of SDS-R on the responder's side: the times and the senders of responses."""

from __future__ import annotations

from functools import partial

from ...channel import Channel
from ...config import RepairConfig
from ...effects import Effects
from ...message import HistoryEntry, Message
from ...repair import Repair
from ...variants import PRIVATE_HASH
from ..registry import add_configured, fault, mutant, register_faults, unseen_too

_PRIVATE = RepairConfig(hash_profile=PRIVATE_HASH)
"""With a private hash, only properties that hold for every hash can reveal a fault."""
_unseen = partial(fault, unseen=True, repair=_PRIVATE)
"""Marks a fault of a participant that uses a private hash and does not show its state."""
_SHARE = "with a private hash, only the share of answered requests, over dozens of senders, shows the fault"
_SPREAD = "with a private hash, only the times of dozens of responses show the fault"


# ---- Sweep -----------------------------------------------------------------------------------------------------------


@register_faults
class _LateResponses(Repair):
    @fault(Repair.t_resp, "R-GLOBAL-10", "answers up to twice T_max after the request")
    def twice_t_max(self, entry: HistoryEntry, now_ms: int) -> int:
        return now_ms + 2 * (super().t_resp(entry, now_ms) - now_ms)

    @_unseen(Repair.t_resp, "R-GLOBAL-10", "answers up to three times T_max after the request, with a private hash")
    def thrice_t_max(self, entry: HistoryEntry, now_ms: int) -> int:
        return now_ms + 3 * (super().t_resp(entry, now_ms) - now_ms)


@unseen_too("sweeps-on-traffic-unseen")
@mutant("R-SWEEP-01", "sends responses only at a tick after a message has arrived")
class SweepsOnTraffic(Channel):
    heard = False

    def receive(self, message: Message, now_ms: int, retrieval_hint: bytes | None = None) -> Effects:
        self.heard = True
        return super().receive(message, now_ms, retrieval_hint)

    def sweep_repair_requests(self, now_ms: int, effects: Effects) -> None:
        if self.heard:
            super().sweep_repair_requests(now_ms, effects)
        self.heard = False


@mutant("R-SWEEP-01", "sweeps the requests only once an hour")
class SweepsOnceInAnHour(Channel):
    swept_ms = 0

    def sweep_repair_requests(self, now_ms: int, effects: Effects) -> None:
        if now_ms - self.swept_ms >= 3_600_000:
            self.swept_ms = now_ms
            super().sweep_repair_requests(now_ms, effects)


@register_faults
class _Sweeping(Repair):
    @fault(Repair.take_responses, "R-SWEEP-02", "sends only one response in a sweep")
    def one_answer_a_sweep(self, now_ms: int) -> list[Message]:
        later = list(self.incoming.due(now_ms))[1:]
        for item in later:
            self.incoming.remove(item.entry.message_id)
        responses = super().take_responses(now_ms)
        for item in later:
            self.incoming.add(item.entry, item.due_ms)
        return responses

    @fault(Repair.take_responses, "R-SWEEP-03", "sends responses up to ten seconds early")
    def answers_early(self, now_ms: int) -> list[Message]:
        return super().take_responses(now_ms + 10_000)

    @fault(
        Repair.take_responses,
        "R-SWEEP-03",
        "answers immediately, whatever T_resp is, and does not show its state",
        unseen=True,
    )
    def answers_immediately(self, now_ms: int) -> list[Message]:
        return super().take_responses(now_ms + self.config.t_max_ms)

    @fault(
        Repair.take_responses,
        "R-SWEEP-03",
        "answers only after T_resp: a sweep at T_resp misses the response",
        out_of_reach="the fault shows only if responses are due in two different milliseconds, several in one of them",
    )
    def answers_strictly_after(self, now_ms: int) -> list[Message]:
        return super().take_responses(now_ms - 1)

    @fault(Repair.take_responses, "R-SWEEP-04", "answers a request at every sweep")
    def answers_for_ever(self, now_ms: int) -> list[Message]:
        return [self.cache[item.entry.message_id] for item in self.incoming.due(now_ms)]


@mutant("R-SWEEP-04", "answers each request twice, in two sweeps", unseen=True)
class AnswersTwice(Repair):
    _again: tuple[Message, ...] = ()

    def take_responses(self, now_ms: int) -> list[Message]:
        again, self._again = self._again, tuple(super().take_responses(now_ms))
        return [*again, *self._again]


@mutant("R-SWEEP-04", "reads the repair request of a waiting message again when it delivers the message")
class ReadsRequestsAgainOnDelivery(Channel):
    def deliver_ready(self, effects: Effects) -> None:
        while (entry := self.incoming.take_ready()) is not None:
            if entry.regular:
                self.deliver(entry.message, effects, entry.retrieval_hint)
            if entry.regular and self.repair is not None:
                for requested in entry.message.repair_request:
                    self.repair.accept_request(requested, entry.received_ms)


@mutant("R-SWEEP-04", "answers no request for a message after it has sent a response for it")
class AnswersEachMessageOnceForEver(Repair):
    _done: frozenset[str] = frozenset()

    def accept_request(self, entry: HistoryEntry, now_ms: int) -> None:
        if entry.message_id not in self._done:
            super().accept_request(entry, now_ms)

    def take_responses(self, now_ms: int) -> list[Message]:
        responses = super().take_responses(now_ms)
        self._done |= {message.message_id for message in responses}
        return responses


# ---- Determine T_resp ------------------------------------------------------------------------------------------------


@register_faults
class _Delays(Repair):
    """Computes T_resp from ``delay``, which faults replace; own messages have no delay."""

    def delay(self, entry: HistoryEntry, now_ms: int) -> int:
        raise NotImplementedError

    def t_resp(self, entry: HistoryEntry, now_ms: int) -> int:
        return now_ms + (0 if entry.sender_id == self.participant_id else self.delay(entry, now_ms))

    def distance(self, entry: HistoryEntry) -> int:
        return self.config.hash_profile.distance(self.participant_id, entry.sender_id or "")

    def hash(self, *parts: str) -> int:
        return self.config.hash_profile.hash(*parts)

    @unseen_too("t-resp-within-the-window-unseen")
    @fault(delay, "R-TRESP-01", "computes T_resp modulo T_max - T_min")
    def t_resp_within_the_window(self, entry: HistoryEntry, now_ms: int) -> int:
        return self.distance(entry) * self.hash(entry.message_id) % (self.config.t_max_ms - self.config.t_min_ms)

    @fault(delay, "R-TRESP-01", "adds distance and hash instead of multiplying them")
    def t_resp_adds_distance_and_hash(self, entry: HistoryEntry, now_ms: int) -> int:
        return (self.distance(entry) + self.hash(entry.message_id)) % self.config.t_max_ms

    @fault(delay, "R-TRESP-01", "applies the modulo to the hash only, not to the product", repair=_PRIVATE)
    def t_resp_reduces_the_hash_alone(self, entry: HistoryEntry, now_ms: int) -> int:
        return self.distance(entry) % 1000 * (self.hash(entry.message_id) % self.config.t_max_ms)


@unseen_too(
    "unseen-author-delays-response", summary="delays responses for its own messages, and does not show its state"
)
@mutant("R-TRESP-02", "delays responses for its own messages")
class AuthorDelaysResponse(Repair):
    def t_resp(self, entry: HistoryEntry, now_ms: int) -> int:
        if entry.sender_id == self.participant_id:
            return now_ms + self.config.hash_profile.hash(entry.message_id) % self.config.t_max_ms
        return super().t_resp(entry, now_ms)


class _Asker(Repair):
    """Stores the sender of the latest received message in ``asker``."""

    asker = ""

    def on_receive(self, message: Message, *, has_unique_id: bool, now_ms: int) -> None:
        self.asker = message.sender_id
        super().on_receive(message, has_unique_id=has_unique_id, now_ms=now_ms)


@unseen_too("distance-to-the-asker-unseen")
@mutant("R-TRESP-03", "computes the distance to the requester", repair=_PRIVATE)
class DistanceToTheAsker(_Asker, _Delays):
    def distance(self, entry: HistoryEntry) -> int:
        return self.config.hash_profile.distance(self.participant_id, self.asker)

    def delay(self, entry: HistoryEntry, now_ms: int) -> int:
        return self.distance(entry) * self.hash(entry.message_id) % self.config.t_max_ms


@register_faults
class _OtherDelays(_Delays):
    @unseen_too(
        "distance-without-itself-unseen",
        out_of_reach="only a group in which many participants have many messages shows the fault",
    )
    @fault(_Delays.delay, "R-TRESP-04", "uses the hash of the author's ID as the distance", repair=_PRIVATE)
    def distance_without_itself(self, entry: HistoryEntry, now_ms: int) -> int:
        return self.hash(entry.sender_id or "") * self.hash(entry.message_id) % self.config.t_max_ms

    @fault(
        _Delays.delay, "R-TRESP-05", "answers within the first third of T_max", repair=_PRIVATE, out_of_reach=_SPREAD
    )
    def answers_in_the_first_third(self, entry: HistoryEntry, now_ms: int) -> int:
        return self.distance(entry) * self.hash(entry.message_id) % (self.config.t_max_ms // 3)

    @fault(_Delays.delay, "R-TRESP-05", "computes T_resp modulo T_max - T_min", repair=_PRIVATE, out_of_reach=_SPREAD)
    def t_resp_modulo_the_range_of_t_req(self, entry: HistoryEntry, now_ms: int) -> int:
        c = self.config
        return self.distance(entry) * self.hash(entry.message_id) % (c.t_max_ms - c.t_min_ms)

    @_unseen(
        _Delays.delay,
        "R-TRESP-05",
        "answers immediately half of the time, and does not show its state",
        out_of_reach=_SPREAD,
    )
    def answers_half_immediately(self, entry: HistoryEntry, now_ms: int) -> int:
        product = self.distance(entry) * self.hash(entry.message_id)
        return product % self.config.t_max_ms if self.hash(entry.message_id, "?") % 2 else 0

    @unseen_too("t-resp-without-the-message-unseen")
    @fault(_Delays.delay, "R-TRESP-06", "computes T_resp without the message", repair=_PRIVATE, out_of_reach=_SPREAD)
    def t_resp_without_the_message(self, entry: HistoryEntry, now_ms: int) -> int:
        return self.distance(entry) % self.config.t_max_ms

    @unseen_too("t-resp-by-the-time-unseen")
    @fault(
        _Delays.delay,
        "R-RECV-10",
        "computes T_resp with a hash of the message ID and the current time",
        repair=_PRIVATE,
    )
    def t_resp_by_the_time(self, entry: HistoryEntry, now_ms: int) -> int:
        return self.distance(entry) * self.hash(entry.message_id, str(now_ms)) % self.config.t_max_ms


# ---- Determine response group ----------------------------------------------------------------------------------------


@register_faults
class _Groups(Repair):
    """Decides membership in response groups with ``member``, which faults replace. It caches all messages, so that a
    missing message never prevents a response.
    """

    def member(self, entry: HistoryEntry) -> bool:
        raise NotImplementedError

    def is_eligible_responder(self, entry: HistoryEntry) -> bool:
        return entry.sender_id == self.participant_id or self.member(entry)

    def cache_message(self, message: Message) -> None:
        super().cache_message(message)
        self.cache.setdefault(message.message_id, message)

    def group(self, participant_id: str, message_id: str, groups: int | None = None) -> int:
        return self.config.hash_profile.hash(participant_id, message_id) % (groups or self.config.num_response_groups)

    def with_author(self, entry: HistoryEntry, groups: int | None = None) -> bool:
        own, author = self.participant_id, entry.sender_id or ""
        return self.group(own, entry.message_id, groups) == self.group(author, entry.message_id, groups)

    @fault(member, "R-RECV-11", "does not check its response group", repair=_PRIVATE, out_of_reach=_SHARE)
    def no_group_test(self, entry: HistoryEntry) -> bool:
        return True

    @_unseen(member, "R-RECV-11", "uses two response groups, however many are configured", out_of_reach=_SHARE)
    def two_groups_always(self, entry: HistoryEntry) -> bool:
        return self.with_author(entry, min(2, self.config.num_response_groups))

    @_unseen(member, "R-RECV-11", "uses eight times as many response groups as configured", out_of_reach=_SHARE)
    def eight_times_the_groups(self, entry: HistoryEntry) -> bool:
        groups = self.config.num_response_groups
        return self.with_author(entry, 8 * groups if groups > 1 else 1)

    @fault(
        member,
        "R-GLOBAL-05",
        "with more than three response groups, also answers for the next group",
        out_of_reach=_SHARE,
    )
    def answers_for_the_neighbours(self, entry: HistoryEntry) -> bool:
        own, author = (self.group(name, entry.message_id) for name in (self.participant_id, entry.sender_id or ""))
        return (own - author) % self.config.num_response_groups <= (self.config.num_response_groups > 3)


@mutant("R-GLOBAL-05", "uses the response group of the requester", repair=_PRIVATE)
class GroupOfTheAsker(_Groups, _Asker):
    def member(self, entry: HistoryEntry) -> bool:
        return self.group(self.asker, entry.message_id) == self.group(self.participant_id, entry.message_id)


@register_faults
class _OtherGroups(_Groups):
    @fault(_Groups.member, "R-GROUP-01", "computes response groups from the participants' IDs, without the message ID")
    def group_without_the_message(self, entry: HistoryEntry) -> bool:
        return self.group(self.participant_id, "") == self.group(entry.sender_id or "", "")

    @fault(_Groups.member, "R-GROUP-01", "with two or three response groups, answers for only half of its group")
    def half_a_group(self, entry: HistoryEntry) -> bool:
        groups = 2 if 1 < self.config.num_response_groups < 4 else 1
        return self.with_author(entry) and self.group(entry.message_id, "?", groups) == 0

    @_unseen(
        _Groups.member,
        "R-GROUP-01",
        "with several response groups, answers only for its own messages",
        out_of_reach=_SHARE,
    )
    def group_of_one(self, entry: HistoryEntry) -> bool:
        return self.config.num_response_groups == 1

    @fault(_Groups.is_eligible_responder, "R-GROUP-02", "is not always in the response group of its own messages")
    def outside_its_own_group(self, entry: HistoryEntry) -> bool:
        if entry.sender_id == self.participant_id and self.config.num_response_groups > 1:
            return self.group(self.participant_id, entry.message_id) == self.group("", entry.message_id)
        return Repair.is_eligible_responder(self, entry)

    @fault(_Groups.member, "R-GROUP-04", "uses two response groups if one is configured")
    def one_group_more(self, entry: HistoryEntry) -> bool:
        return self.with_author(entry, max(2, self.config.num_response_groups))


_FROM_128 = RepairConfig(derive_groups=lambda participants: max(1, participants // 128))
_FROM_100 = RepairConfig(derive_groups=lambda participants: participants // 128 + 1 + (100 <= participants < 128))
_SHORT = "divides the number of participants by 128 for the number of response groups, without adding 1"
add_configured("groups-without-one-more", "R-GLOBAL-06", _SHORT, repair=_FROM_128)
_EARLY = "uses two response groups for a hundred participants"
add_configured("groups-of-a-hundred", "R-GLOBAL-07", _EARLY, repair=_FROM_100)
_NONE = RepairConfig(derive_groups=lambda participants: participants // 128)
add_configured(
    "no-group-for-few", "R-GLOBAL-06", f"{_SHORT}, so that small groups have no response group", repair=_NONE
)
_MANY = RepairConfig(derive_groups=lambda participants: 1 if participants < 128 else 99)
add_configured(
    "ninety-nine-groups", "R-GLOBAL-06", "uses 99 response groups with 128 participants or more", repair=_MANY
)


# ---- Lost responses --------------------------------------------------------------------------------------------------


class _ForgetsResponses(Repair):
    """Removes some due responses from its buffer without sending them."""

    def is_forgotten(self, message: Message) -> bool:
        raise NotImplementedError

    def take_responses(self, now_ms: int) -> list[Message]:
        return [message for message in super().take_responses(now_ms) if not self.is_forgotten(message)]


@mutant("R-SWEEP-01", "forgets due responses with messages that have more than twenty dependencies")
class ForgetsResponsesWithLongHistories(_ForgetsResponses):
    def is_forgotten(self, message: Message) -> bool:
        return len(message.causal_history) > 20


@mutant("R-SWEEP-01", "forgets due responses with messages that have IDs of more than 64 characters")
class ForgetsResponsesWithLongIds(_ForgetsResponses):
    def is_forgotten(self, message: Message) -> bool:
        return len(message.message_id) > 64


@mutant("R-SWEEP-01", "forgets due responses with messages that have no dependencies")
class ForgetsResponsesWithoutHistories(_ForgetsResponses):
    def is_forgotten(self, message: Message) -> bool:
        return not message.causal_history

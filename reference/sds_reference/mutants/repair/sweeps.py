"""Faults of SDS-R on the responder's side: when answers go out, and who gives them."""

from __future__ import annotations

from collections.abc import Callable

from ...channel import Channel
from ...config import Config, RepairConfig
from ...effects import Effects
from ...message import HistoryEntry, Message
from ...repair import Repair
from ...variants import PRIVATE_HASH
from ..registry import mutant, repair_mutant

HasArrived = Callable[[str], bool]
_PRIVATE = RepairConfig(hash_profile=PRIVATE_HASH)
"""With it only what holds for any hash gives a fault away."""


# ---- The sweep -------------------------------------------------------------------------------------------------------


@repair_mutant("SDS-R-GLOBAL-10", "answers up to twice T_max after the request")
class TwiceTMax(Repair):
    def t_resp(self, entry: HistoryEntry, now_ms: int) -> int:
        return now_ms + 2 * (super().t_resp(entry, now_ms) - now_ms)


@repair_mutant(
    "SDS-R-GLOBAL-10", "takes three times T_max, with a hash that nobody knows", unseen=True, repair=_PRIVATE
)
class ThriceTMax(Repair):
    def t_resp(self, entry: HistoryEntry, now_ms: int) -> int:
        return now_ms + 3 * (super().t_resp(entry, now_ms) - now_ms)


@mutant("SDS-R-SWEEP-01", "sends answers only when a message arrives")
class SweepsOnTraffic(Channel):
    heard = False

    def receive(self, message: Message, now_ms: int, retrieval_hint: bytes | None = None) -> Effects:
        self.heard = True
        return super().receive(message, now_ms, retrieval_hint)

    def sweep_repair_requests(self, now_ms: int, effects: Effects) -> None:
        if self.heard:
            super().sweep_repair_requests(now_ms, effects)
        self.heard = False


@mutant("SDS-R-SWEEP-01", "sends answers only when a message arrives, and shows nothing", unseen=True)
class SweepsOnTrafficUnseen(SweepsOnTraffic):
    pass


@mutant("SDS-R-SWEEP-01", "looks for answers once in an hour")
class SweepsOnceInAnHour(Channel):
    swept_ms = 0

    def sweep_repair_requests(self, now_ms: int, effects: Effects) -> None:
        if now_ms - self.swept_ms >= 3_600_000:
            self.swept_ms = now_ms
            super().sweep_repair_requests(now_ms, effects)


@repair_mutant("SDS-R-SWEEP-02", "sends one answer in a sweep, whatever else is due")
class OneAnswerASweep(Repair):
    def take_responses(self, now_ms: int) -> list[Message]:
        later = list(self.incoming.due(now_ms))[1:]
        for item in later:
            self.incoming.remove(item.entry.message_id)
        responses = super().take_responses(now_ms)
        for item in later:
            self.incoming.add(item.entry, item.due_ms)
        return responses


@repair_mutant("SDS-R-SWEEP-03", "sends answers up to ten seconds too early")
class AnswersEarly(Repair):
    def take_responses(self, now_ms: int) -> list[Message]:
        return super().take_responses(now_ms + 10_000)


@repair_mutant("SDS-R-SWEEP-03", "answers on the request, whatever its time, and shows nothing", unseen=True)
class AnswersOnTheSpot(Repair):
    def take_responses(self, now_ms: int) -> list[Message]:
        return super().take_responses(now_ms + self.config.t_max_ms)


@repair_mutant("SDS-R-SWEEP-03", "answers strictly after T_resp: the sweep at that time misses it")
class AnswersStrictlyAfter(Repair):
    def take_responses(self, now_ms: int) -> list[Message]:
        return super().take_responses(now_ms - 1)


@repair_mutant("SDS-R-SWEEP-04", "answers a request for ever")
class AnswersForEver(Repair):
    def take_responses(self, now_ms: int) -> list[Message]:
        return [self.cache[item.entry.message_id] for item in self.incoming.due(now_ms)]


@repair_mutant("SDS-R-SWEEP-04", "answers twice, in two sweeps", unseen=True)
class AnswersTwice(Repair):
    def __init__(self, participant_id: str, config: Config, has_arrived: HasArrived) -> None:
        super().__init__(participant_id, config, has_arrived)
        self._again: list[Message] = []

    def take_responses(self, now_ms: int) -> list[Message]:
        again, self._again = self._again, super().take_responses(now_ms)
        return again + self._again


@repair_mutant("SDS-R-SWEEP-04", "answers for each message once in its life")
class AnswersOnceInALife(Repair):
    def __init__(self, participant_id: str, config: Config, has_arrived: HasArrived) -> None:
        super().__init__(participant_id, config, has_arrived)
        self._done: set[str] = set()

    def take_request(self, entry: HistoryEntry, now_ms: int) -> None:
        if entry.message_id not in self._done:
            super().take_request(entry, now_ms)

    def take_responses(self, now_ms: int) -> list[Message]:
        responses = super().take_responses(now_ms)
        self._done |= {message.message_id for message in responses}
        return responses


# ---- Determine T_resp ------------------------------------------------------------------------------------------------


class _Delays(Repair):
    """Computes T_resp in another way."""

    def delay(self, entry: HistoryEntry, now_ms: int) -> int:
        raise NotImplementedError

    def t_resp(self, entry: HistoryEntry, now_ms: int) -> int:
        return now_ms + (0 if entry.sender_id == self.participant_id else self.delay(entry, now_ms))

    def distance(self, entry: HistoryEntry) -> int:
        return self.config.hash_profile.distance(self.participant_id, entry.sender_id or "")

    def hash(self, *parts: str) -> int:
        return self.config.hash_profile.hash(*parts)


@repair_mutant("SDS-R-TRESP-01", "computes T_resp within T_max - T_min")
class TRespWithinTheWindow(_Delays):
    def delay(self, entry: HistoryEntry, now_ms: int) -> int:
        return self.distance(entry) * self.hash(entry.message_id) % (self.config.t_max_ms - self.config.t_min_ms)


@repair_mutant("SDS-R-TRESP-01", "computes T_resp within T_max - T_min, and shows nothing", unseen=True)
class TRespWithinTheWindowUnseen(TRespWithinTheWindow):
    pass


@repair_mutant("SDS-R-TRESP-01", "adds distance and hash instead of multiplying them")
class TRespAdds(_Delays):
    def delay(self, entry: HistoryEntry, now_ms: int) -> int:
        return (self.distance(entry) + self.hash(entry.message_id)) % self.config.t_max_ms


@repair_mutant("SDS-R-TRESP-01", "reduces the hash alone, not the product", repair=_PRIVATE)
class TRespReducesTheHashAlone(_Delays):
    def delay(self, entry: HistoryEntry, now_ms: int) -> int:
        return self.distance(entry) % 1000 * (self.hash(entry.message_id) % self.config.t_max_ms)


@repair_mutant("SDS-R-TRESP-02", "waits like any other with the answer for its own messages")
class AuthorWaits(Repair):
    def t_resp(self, entry: HistoryEntry, now_ms: int) -> int:
        if entry.sender_id == self.participant_id:
            return now_ms + self.config.hash_profile.hash(entry.message_id) % self.config.t_max_ms
        return super().t_resp(entry, now_ms)


@repair_mutant("SDS-R-TRESP-02", "waits with the answer for its own messages, and shows nothing", unseen=True)
class AuthorWaitsUnseen(AuthorWaits):
    pass


class _Asker(Repair):
    """Knows who asks."""

    asker = ""

    def on_receive(self, message: Message, *, counts: bool, now_ms: int) -> None:
        self.asker = message.sender_id
        super().on_receive(message, counts=counts, now_ms=now_ms)


@repair_mutant("SDS-R-TRESP-03", "measures the distance to who asks", repair=_PRIVATE)
class DistanceToTheAsker(_Asker, _Delays):
    def distance(self, entry: HistoryEntry) -> int:
        return self.config.hash_profile.distance(self.participant_id, self.asker)

    def delay(self, entry: HistoryEntry, now_ms: int) -> int:
        return self.distance(entry) * self.hash(entry.message_id) % self.config.t_max_ms


@repair_mutant("SDS-R-TRESP-03", "measures the distance to who asks, and shows nothing", unseen=True, repair=_PRIVATE)
class DistanceToTheAskerUnseen(DistanceToTheAsker):
    pass


@repair_mutant("SDS-R-TRESP-04", "takes the hash of the author for the distance", repair=_PRIVATE)
class DistanceWithoutItself(_Delays):
    def delay(self, entry: HistoryEntry, now_ms: int) -> int:
        return self.hash(entry.sender_id or "") * self.hash(entry.message_id) % self.config.t_max_ms


@repair_mutant(
    "SDS-R-TRESP-04", "takes the hash of the author for the distance, and shows nothing", unseen=True, repair=_PRIVATE
)
class DistanceWithoutItselfUnseen(DistanceWithoutItself):
    pass


@repair_mutant("SDS-R-TRESP-05", "answers within the first third of T_max", repair=_PRIVATE)
class AnswersInTheFirstThird(_Delays):
    def delay(self, entry: HistoryEntry, now_ms: int) -> int:
        return self.distance(entry) * self.hash(entry.message_id) % (self.config.t_max_ms // 3)


@repair_mutant(
    "SDS-R-TRESP-05", "lets half of its answers go out at once, and shows nothing", unseen=True, repair=_PRIVATE
)
class HalfAtOnce(_Delays):
    def delay(self, entry: HistoryEntry, now_ms: int) -> int:
        product = self.distance(entry) * self.hash(entry.message_id)
        return product % self.config.t_max_ms if self.hash(entry.message_id, "?") % 2 else 0


@repair_mutant("SDS-R-TRESP-06", "computes T_resp without the message", repair=_PRIVATE)
class TRespWithoutTheMessage(_Delays):
    def delay(self, entry: HistoryEntry, now_ms: int) -> int:
        return self.distance(entry) % self.config.t_max_ms


@repair_mutant("SDS-R-TRESP-06", "computes T_resp without the message, and shows nothing", unseen=True, repair=_PRIVATE)
class TRespWithoutTheMessageUnseen(TRespWithoutTheMessage):
    pass


@repair_mutant("SDS-R-RECV-10", "computes T_resp from the time of day", repair=_PRIVATE)
class TRespByTheTime(_Delays):
    def delay(self, entry: HistoryEntry, now_ms: int) -> int:
        return self.distance(entry) * self.hash(entry.message_id, str(now_ms)) % self.config.t_max_ms


@repair_mutant("SDS-R-RECV-10", "computes T_resp from the time of day, and shows nothing", unseen=True, repair=_PRIVATE)
class TRespByTheTimeUnseen(TRespByTheTime):
    pass


# ---- Determine response group ----------------------------------------------------------------------------------------


class _Groups(Repair):
    """Decides in another way who may answer; remembers everything, so that this alone decides."""

    def member(self, entry: HistoryEntry) -> bool:
        raise NotImplementedError

    def eligible_responder(self, entry: HistoryEntry) -> bool:
        return entry.sender_id == self.participant_id or self.member(entry)

    def remember(self, message: Message) -> None:
        super().remember(message)
        self.cache.setdefault(message.message_id, message)

    def group(self, participant_id: str, message_id: str, groups: int | None = None) -> int:
        return self.config.hash_profile.hash(participant_id, message_id) % (groups or self.config.num_response_groups)


@repair_mutant("SDS-R-RECV-11", "does not test for the response group", repair=_PRIVATE)
class NoGroupTest(_Groups):
    def member(self, entry: HistoryEntry) -> bool:
        return True


@repair_mutant("SDS-R-RECV-11", "knows two response groups, however many are configured", unseen=True, repair=_PRIVATE)
class TwoGroupsAlways(_Groups):
    def member(self, entry: HistoryEntry) -> bool:
        groups = min(2, self.config.num_response_groups)
        own, author = (
            self.group(name, entry.message_id, groups) for name in (self.participant_id, entry.sender_id or "")
        )
        return own == author


@repair_mutant("SDS-R-GLOBAL-05", "answers for a neighbouring response group as well")
class AnswersForTheNeighbours(_Groups):
    def member(self, entry: HistoryEntry) -> bool:
        own, author = (self.group(name, entry.message_id) for name in (self.participant_id, entry.sender_id or ""))
        return (own - author) % self.config.num_response_groups <= (self.config.num_response_groups > 3)


@repair_mutant("SDS-R-GLOBAL-05", "takes the response group of who asks", repair=_PRIVATE)
class GroupOfTheAsker(_Groups, _Asker):
    def member(self, entry: HistoryEntry) -> bool:
        return self.group(self.asker, entry.message_id) == self.group(self.participant_id, entry.message_id)


@repair_mutant("SDS-R-GROUP-01", "hashes the participants without the message for the response group")
class GroupWithoutTheMessage(_Groups):
    def member(self, entry: HistoryEntry) -> bool:
        return self.group(self.participant_id, "") == self.group(entry.sender_id or "", "")


@repair_mutant("SDS-R-GROUP-01", "with two or three response groups, answers for only half of its group")
class HalfAGroup(_Groups):
    def member(self, entry: HistoryEntry) -> bool:
        whole = self.group(self.participant_id, entry.message_id) == self.group(entry.sender_id or "", entry.message_id)
        groups = 2 if 1 < self.config.num_response_groups < 4 else 1
        return whole and self.group(entry.message_id, "?", groups) == 0


@repair_mutant("SDS-R-GROUP-01", "with several response groups, answers for nobody else", unseen=True, repair=_PRIVATE)
class GroupOfOne(_Groups):
    def member(self, entry: HistoryEntry) -> bool:
        return self.config.num_response_groups == 1


@repair_mutant("SDS-R-GROUP-02", "is not always in the response group of its own messages")
class OutsideItsOwnGroup(_Groups):
    def eligible_responder(self, entry: HistoryEntry) -> bool:
        if entry.sender_id == self.participant_id and self.config.num_response_groups > 1:
            return self.group(self.participant_id, entry.message_id) == self.group("", entry.message_id)
        return Repair.eligible_responder(self, entry)


@repair_mutant("SDS-R-GROUP-04", "has one response group more than is configured")
class OneGroupMore(_Groups):
    def member(self, entry: HistoryEntry) -> bool:
        groups = 2 if self.config.num_response_groups == 1 else self.config.num_response_groups
        own, author = (
            self.group(name, entry.message_id, groups) for name in (self.participant_id, entry.sender_id or "")
        )
        return own == author


@repair_mutant(
    "SDS-R-GLOBAL-06",
    "divides the participants by 128 and forgets to add one",
    repair=RepairConfig(derive_groups=lambda participants: max(1, participants // 128)),
)
class GroupsWithoutOneMore(Repair):
    pass


@repair_mutant(
    "SDS-R-GLOBAL-07",
    "makes two response groups of a hundred participants",
    repair=RepairConfig(derive_groups=lambda participants: participants // 128 + 1 + (100 <= participants < 128)),
)
class GroupsOfAHundred(Repair):
    pass

"""Faults of SDS-R: channels share state, or T_req and T_resp are computed again or with default settings."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...channel import Channel
from ...config import Config, RepairConfig
from ...effects import Effects
from ...message import HistoryEntry, Kind, Message
from ...participant import Participant
from ...repair import Repair
from ...variants import PRIVATE_HASH
from ..registry import fault, mutant, register_faults, unseen_too


class _Sharing(Participant):
    """A participant whose channels share some state."""

    def shared(self, one: Repair, other: Repair) -> None:
        raise NotImplementedError

    def join(self, channel_id: str, now_ms: int) -> None:
        super().join(channel_id, now_ms)
        first, here = next(iter(self.channels.values())).repair, self.channels[channel_id].repair
        if first is not None and here is not None and here is not first:
            self.shared(first, here)


@unseen_too("unseen-shares-missing-buffer-between-channels")
@mutant("STATE-16", "uses one buffer of missing messages for all channels")
class SharesMissingBufferBetweenChannels(_Sharing):
    def shared(self, one: Repair, other: Repair) -> None:
        other.outgoing = one.outgoing


@unseen_too("unseen-shares-request-buffer-between-channels")
@mutant("STATE-16", "uses one buffer of requests of others for all channels")
class SharesRequestBufferBetweenChannels(_Sharing):
    def shared(self, one: Repair, other: Repair) -> None:
        other.incoming, other.cache = one.incoming, one.cache


class _SharesResponses(Repair):
    def __init__(self, participant_id: str, config: Config, has_arrived: Callable[[str], bool]) -> None:
        super().__init__(participant_id, config, has_arrived)
        self.responses: dict[str, Message] = {}

    def take_responses(self, now_ms: int) -> list[Message]:
        due = super().take_responses(now_ms)
        return [self.responses.setdefault(message.message_id, message) for message in due]


class _SharesResponsesChannel(Channel):
    repair_class = _SharesResponses


@mutant("R-SWEEP-04", "answers a request in the way in which it first answered a request for that ID in any channel")
class RepeatsTheFirstResponseForAnId(_Sharing):
    channel_class = _SharesResponsesChannel

    def shared(self, one: Repair, other: Repair) -> None:
        vars(other)["responses"] = vars(one)["responses"]


@unseen_too("unseen-same-id-in-other-channel-repairs")
@mutant("STATE-16", "treats a message of another channel as the missing message with the same ID")
class SameIdInOtherChannelRepairs(Participant):
    def receive(self, wire: bytes, now_ms: int, retrieval_hint: bytes | None = None) -> Effects:
        message = self.config.revision.wire.decode(wire)
        for channel in self.channels.values():
            if channel.repair is not None and message.kind is Kind.CONTENT:
                channel.repair.remove_repaired(message.message_id)
        return super().receive(wire, now_ms, retrieval_hint)


@mutant("R-TREQ-01", "uses the old T_req for an entry that was removed and is added again")
class RemembersRequestTimes(Repair):
    def t_req(self, entry: HistoryEntry, now_ms: int) -> int:
        known: dict[str, int] = self.__dict__.setdefault("_known_times", {})
        return known.setdefault(entry.message_id, super().t_req(entry, now_ms))


@mutant(
    "R-TREQ-01",
    "removes an entry when it requests the message, and uses the old T_req when it adds the entry again",
    repair=RepairConfig(forgets_requests=True),
)
class RemembersTimesOfItsRequests(Repair):
    def after_request(self, entry: HistoryEntry) -> None:
        item = self.outgoing.get(entry.message_id)
        if item is not None:
            self.__dict__.setdefault("_known_times", {})[entry.message_id] = item.due_ms
        super().after_request(entry)

    def t_req(self, entry: HistoryEntry, now_ms: int) -> int:
        known: dict[str, int] = self.__dict__.get("_known_times", {})
        return known.get(entry.message_id, super().t_req(entry, now_ms))


@register_faults
class _Restarting(Repair):
    @unseen_too("unseen-t-req-restarted-by-copies")
    @fault(
        Repair.on_receive,
        "R-STATE-02",
        "recomputes T_req with every copy of the message whose causal history names the missing message",
    )
    def t_req_restarted_by_copies(self, message: Message, *, has_unique_id: bool, now_ms: int) -> None:
        if has_unique_id and self.has_arrived(message.message_id):
            for entry in message.causal_history:
                if self.outgoing.remove(entry.message_id) is not None:
                    self.outgoing.add(entry, self.t_req(entry, now_ms))
        super().on_receive(message, has_unique_id=has_unique_id, now_ms=now_ms)

    @unseen_too("unseen-t-req-restarted-by-syncs")
    @fault(Repair.on_receive, "R-STATE-02", "recomputes T_req with every sync message that names the missing message")
    def t_req_restarted_by_syncs(self, message: Message, *, has_unique_id: bool, now_ms: int) -> None:
        if not has_unique_id:
            for entry in message.causal_history:
                self.outgoing.remove(entry.message_id)
        super().on_receive(message, has_unique_id=has_unique_id, now_ms=now_ms)


class _KnowsTheAsker(Repair):
    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        self._askers: dict[str, str] = {}
        self._asker = ""

    def on_receive(self, message: Message, *, has_unique_id: bool, now_ms: int) -> None:
        self._asker = message.sender_id
        super().on_receive(message, has_unique_id=has_unique_id, now_ms=now_ms)


@unseen_too("unseen-same-requester-postpones")
@mutant("R-STATE-06", "recomputes T_resp when the same requester requests again")
class SameRequesterPostpones(_KnowsTheAsker):
    def accept_request(self, entry: HistoryEntry, now_ms: int) -> None:
        if entry.message_id in self.incoming and self._askers.get(entry.message_id) == self._asker:
            self.incoming.remove(entry.message_id)
        super().accept_request(entry, now_ms)
        self._askers.setdefault(entry.message_id, self._asker)


@unseen_too("unseen-another-requester-postpones")
@mutant("R-STATE-06", "recomputes T_resp when another requester requests")
class AnotherRequesterPostpones(_KnowsTheAsker):
    def accept_request(self, entry: HistoryEntry, now_ms: int) -> None:
        if entry.message_id in self.incoming and self._askers.get(entry.message_id) != self._asker:
            self.incoming.remove(entry.message_id)
        super().accept_request(entry, now_ms)
        self._askers[entry.message_id] = self._asker


@unseen_too("copies-of-requests-postpone-unseen")
@mutant("R-STATE-06", "recomputes T_resp with every copy of the requesting message")
class CopiesOfRequestsPostpone(Repair):
    def on_receive(self, message: Message, *, has_unique_id: bool, now_ms: int) -> None:
        if has_unique_id and self.has_arrived(message.message_id):
            for entry in message.repair_request:
                self.incoming.remove(entry.message_id)
        super().on_receive(message, has_unique_id=has_unique_id, now_ms=now_ms)


_DEFAULTS = RepairConfig()
_PRIVATE = RepairConfig(hash_profile=PRIVATE_HASH)


@register_faults
class _Defaults(Repair):
    @fault(
        Repair.t_req, "R-GLOBAL-09", "uses the default of T_min, whatever is configured", unseen=True, repair=_PRIVATE
    )
    def unseen_t_min_by_default(self, entry: HistoryEntry, now_ms: int) -> int:
        return super().t_req(entry, now_ms) - self.config.t_min_ms + _DEFAULTS.t_min_ms

    @fault(
        Repair.t_req, "R-GLOBAL-10", "uses the default of T_max, whatever is configured", unseen=True, repair=_PRIVATE
    )
    def unseen_t_max_by_default(self, entry: HistoryEntry, now_ms: int) -> int:
        span = _DEFAULTS.t_max_ms - self.config.t_min_ms
        hashed = self.config.hash_profile.hash(self.participant_id, entry.message_id)
        return now_ms + hashed % span + self.config.t_min_ms

    @unseen_too("unseen-t-req-by-the-defaults")
    @fault(Repair.t_req, "R-TREQ-01", "computes T_req with the defaults of T_min and T_max, whatever is configured")
    def t_req_by_the_defaults(self, entry: HistoryEntry, now_ms: int) -> int:
        span = _DEFAULTS.t_max_ms - _DEFAULTS.t_min_ms
        return now_ms + self.config.hash_profile.hash(self.participant_id, entry.message_id) % span + _DEFAULTS.t_min_ms

    @unseen_too("unseen-t-min-of-zero-by-default")
    @fault(Repair.t_req, "R-TREQ-01", "computes T_req with the default of T_min if T_min is 0")
    def t_min_of_zero_by_default(self, entry: HistoryEntry, now_ms: int) -> int:
        low = self.config.t_min_ms or _DEFAULTS.t_min_ms
        span = max(1, self.config.t_max_ms - low)
        return now_ms + self.config.hash_profile.hash(self.participant_id, entry.message_id) % span + low

    @unseen_too("unseen-t-req-wrong-with-the-defaults")
    @fault(Repair.t_req, "R-TREQ-01", "swaps the arguments of the hash in T_req if T_min and T_max have their defaults")
    def t_req_wrong_with_the_defaults(self, entry: HistoryEntry, now_ms: int) -> int:
        if (self.config.t_min_ms, self.config.t_max_ms) != (_DEFAULTS.t_min_ms, _DEFAULTS.t_max_ms):
            return super().t_req(entry, now_ms)
        span = _DEFAULTS.t_max_ms - _DEFAULTS.t_min_ms
        return now_ms + self.config.hash_profile.hash(entry.message_id, self.participant_id) % span + _DEFAULTS.t_min_ms

    @unseen_too("t-resp-by-the-defaults-unseen")
    @fault(Repair.t_resp, "R-TRESP-01", "computes T_resp with the default of T_max, whatever is configured")
    def t_resp_by_the_defaults(self, entry: HistoryEntry, now_ms: int) -> int:
        distance = self.config.hash_profile.distance(self.participant_id, entry.sender_id or "")
        return now_ms + distance * self.config.hash_profile.hash(entry.message_id) % _DEFAULTS.t_max_ms

"""Faults of SDS-R on the requester's side: when it requests, which messages, and when it stops."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import islice

from ...channel import Channel
from ...config import Config, RepairConfig
from ...effects import Effects
from ...message import HistoryEntry, Kind, Message
from ...repair import Repair
from ...repair_buffer import RepairEntry
from ..registry import add_again, add_configured, fault, mutant, register_faults, unseen_too

# ---- R-STATE and R-GLOBAL --------------------------------------------------------------------------------------------


@register_faults
class _Missing(Repair):
    @fault(Repair.track, "R-STATE-01", "has a capacity of one missing message")
    def tracks_one_only(self, entry: HistoryEntry, now_ms: int) -> None:
        super().track(entry, now_ms)
        for item in list(self.outgoing)[1:]:
            self.outgoing.remove(item.entry.message_id)

    @unseen_too("unseen-forgets-when-sending")
    @fault(Repair.repair_request, "R-STATE-01", "forgets all missing messages when it sends a message")
    def forgets_when_sending(self, now_ms: int) -> tuple[HistoryEntry, ...]:
        chosen = super().repair_request(now_ms)
        for item in list(self.outgoing):
            self.outgoing.remove(item.entry.message_id)
        return chosen

    @fault(Repair.track, "R-STATE-01", "requests messages that are in its incoming buffer")
    def asks_for_what_waits(self, entry: HistoryEntry, now_ms: int) -> None:
        if entry.message_id not in self.cache and entry.message_id not in self.outgoing:
            self.outgoing.add(entry, self.t_req(entry, now_ms))

    @unseen_too("unseen-t-req-restarted-by-each-message")
    @fault(Repair.track, "R-STATE-02", "recomputes T_req with every causal history that names the missing message")
    def t_req_restarted_by_each_message(self, entry: HistoryEntry, now_ms: int) -> None:
        self.outgoing.remove(entry.message_id)
        super().track(entry, now_ms)

    @fault(Repair.eligible_requests, "R-STATE-09", "tracks missing messages and never requests them")
    def never_requests(self, now_ms: int) -> list[HistoryEntry]:
        return []


# Only the state shows whether missing messages are tracked. Never requesting them violates only a SHOULD.
add_again(
    "never-requests",
    "unseen-never-requests",
    "never requests missing messages",
    requirement="SDS-R-SEND-01",
    unseen=True,
)


@mutant("R-SEND-01", "drops requests that are due at a tick, if more than three messages are missing")
class TicksDropDueRequests(Channel):
    def tick(self, now_ms: int) -> Effects:
        effects = super().tick(now_ms)
        if self.repair is not None and len(self.repair.outgoing) > 3:
            for item in list(self.repair.outgoing.due(now_ms)):
                self.repair.outgoing.remove(item.entry.message_id)
        return effects


class _RemembersRequests(Repair):
    def __init__(self, participant_id: str, config: Config, has_arrived: Callable[[str], bool]) -> None:
        super().__init__(participant_id, config, has_arrived)
        self.requested: set[str] = set()

    def after_request(self, entry: HistoryEntry) -> None:
        self.requested.add(entry.message_id)


@mutant("STATE-14", "ignores acknowledgements in a message that it requested")
class IgnoresAcknowledgementsInRepairs(Channel):
    repair_class = _RemembersRequests
    _is_repair = False

    def receive(self, message: Message, now_ms: int, retrieval_hint: bytes | None = None) -> Effects:
        repair = self.repair
        self._is_repair = (
            isinstance(repair, _RemembersRequests)
            and message.message_id in repair.requested
            and message.message_id in repair.outgoing
        )
        return super().receive(message, now_ms, retrieval_hint)

    def review_ack_status(self, message: Message, effects: Effects, now_ms: int) -> None:
        if not self._is_repair:
            super().review_ack_status(message, effects, now_ms)


@unseen_too("unseen-requests-its-own-message")
@mutant("R-SEND-07", "requests a message again after it has sent that message itself")
class RequestsItsOwnMessage(Channel):
    def send(
        self, content: bytes, now_ms: int, message_id: str | None = None, retrieval_hint: bytes | None = None
    ) -> Effects:
        missed = self.repair.outgoing.get(message_id or "") if self.repair is not None else None
        effects = super().send(content, now_ms, message_id, retrieval_hint)
        if missed is not None and self.repair is not None:
            self.repair.outgoing.add(missed.entry, missed.due_ms)
        return effects


add_configured("short-t-min", "R-GLOBAL-02", "T_min is 5 seconds by default", repair=RepairConfig(t_min_ms=5_000))
add_configured("short-t-max", "R-GLOBAL-03", "T_max is a minute by default", repair=RepairConfig(t_max_ms=60_000))
add_configured("long-t-max", "R-GLOBAL-03", "T_max is 20 minutes by default", repair=RepairConfig(t_max_ms=1_200_000))


@register_faults
class _Times(Repair):
    @unseen_too("unseen-no-t-min")
    @fault(Repair.t_req, "R-GLOBAL-09", "ignores T_min")
    def no_t_min(self, entry: HistoryEntry, now_ms: int) -> int:
        return super().t_req(entry, now_ms) - self.config.t_min_ms

    @fault(Repair.t_req, "R-GLOBAL-10", "computes T_req between T_min and T_min + T_max after the gap is found")
    def t_req_reduced_by_t_max(self, entry: HistoryEntry, now_ms: int) -> int:
        c = self.config
        return now_ms + c.hash_profile.hash(self.participant_id, entry.message_id) % c.t_max_ms + c.t_min_ms

    @fault(Repair.t_req, "R-GLOBAL-10", "adds T_max to T_req", unseen=True)
    def unseen_late_requests(self, entry: HistoryEntry, now_ms: int) -> int:
        return super().t_req(entry, now_ms) + self.config.t_max_ms


# ---- R-SEND ----------------------------------------------------------------------------------------------------------


@register_faults
class _Asking(Channel):
    @fault(Channel.with_repair_request, "R-SEND-01", "requests in content messages only")
    def asks_in_content_only(self, message: Message, now_ms: int) -> Message:
        return super().with_repair_request(message, now_ms) if message.kind is Kind.CONTENT else message

    @unseen_too("unseen-asks-in-syncs-only")
    @fault(Channel.with_repair_request, "R-SEND-01", "requests in sync messages only")
    def asks_in_syncs_only(self, message: Message, now_ms: int) -> Message:
        return super().with_repair_request(message, now_ms) if message.kind is Kind.SYNC else message


@register_faults
class _Eligible(Repair):
    @fault(Repair.eligible_requests, "R-SEND-02", "requests up to a second early")
    def asks_a_second_early(self, now_ms: int) -> list[HistoryEntry]:
        return super().eligible_requests(now_ms + 1_000)

    @fault(Repair.eligible_requests, "R-SEND-02", "requests only from the millisecond after T_req")
    def asks_a_millisecond_late(self, now_ms: int) -> list[HistoryEntry]:
        return super().eligible_requests(now_ms - 1)

    @fault(Repair.eligible_requests, "R-SEND-03", "requests one entry more than the maximum")
    def asks_for_one_too_many(self, now_ms: int) -> list[HistoryEntry]:
        return list(islice((item.entry for item in self.outgoing.due(now_ms)), self.config.max_requests + 1))

    @fault(Repair.eligible_requests, "R-SEND-04", "requests the entries with the highest T_req first")
    def latest_first(self, now_ms: int) -> list[HistoryEntry]:
        due = [item.entry for item in self.outgoing.due(now_ms)]
        return due[::-1][: self.config.max_requests]


add_configured(
    "asks-for-five", "R-SEND-05", "requests up to five entries at once by default", repair=RepairConfig(max_requests=5)
)


@mutant("R-SEND-06", "sends an empty entry in field 13 when no request is due")
class EmptyRequest(Channel):
    def with_repair_request(self, message: Message, now_ms: int) -> Message:
        asking = super().with_repair_request(message, now_ms)
        if self.repair is None or asking.repair_request:
            return asking
        return replace(asking, repair_request=(HistoryEntry(""),))


@mutant(
    "R-SEND-07",
    "also requests messages that were due before the last message arrived, even if that message repaired them",
)
class StaleRequest(Repair):
    _prepared: tuple[HistoryEntry, ...] = ()

    def on_receive(self, message: Message, *, has_unique_id: bool, now_ms: int) -> None:
        self._prepared = tuple(super().eligible_requests(now_ms))
        super().on_receive(message, has_unique_id=has_unique_id, now_ms=now_ms)

    def eligible_requests(self, now_ms: int) -> list[HistoryEntry]:
        fresh = [entry for entry in super().eligible_requests(now_ms) if entry not in self._prepared]
        return [*self._prepared, *fresh][: self.config.max_requests]

    def repair_request(self, now_ms: int) -> tuple[HistoryEntry, ...]:
        chosen = super().repair_request(now_ms)
        self._prepared = ()
        return chosen


# ---- R-RECV ----------------------------------------------------------------------------------------------------------


@register_faults
class _Arrivals(Repair):
    @unseen_too("unseen-keeps-the-arrived")
    @fault(Repair.remove_repaired, "R-RECV-01", "requests messages again after they have arrived")
    def keeps_the_arrived(self, message_id: str) -> None:
        pass

    @unseen_too("unseen-requests-until-the-named-sender")
    @fault(
        Repair.on_receive,
        "R-RECV-01",
        "keeps requesting a message that arrived, if its sender differs from the sender that a causal history named",
    )
    def requests_until_the_named_sender(self, message: Message, *, has_unique_id: bool, now_ms: int) -> None:
        item = self.outgoing.get(message.message_id)
        super().on_receive(message, has_unique_id=has_unique_id, now_ms=now_ms)
        if item is not None and item.entry.sender_id and item.entry.sender_id != message.sender_id:
            self.outgoing.add(item.entry, item.due_ms)

    @unseen_too("unseen-keeps-the-blocked")
    @fault(Repair.on_receive, "R-RECV-01", "adds the entry of a missing message again when the message arrives")
    def keeps_the_blocked(self, message: Message, *, has_unique_id: bool, now_ms: int) -> None:
        entry = self.outgoing.get(message.message_id)
        super().on_receive(message, has_unique_id=has_unique_id, now_ms=now_ms)
        if entry is not None and has_unique_id:
            self.outgoing.add(entry.entry, entry.due_ms)

    @unseen_too("unseen-tracks-only-the-first-missing")
    @fault(Repair.track_missing, "R-RECV-03", "tracks only the first entry of a causal history")
    def tracks_only_the_first_missing(self, message: Message, now_ms: int) -> None:
        super().track_missing(replace(message, causal_history=message.causal_history[:1]), now_ms)

    @unseen_too("unseen-never-requests-after-others")
    @fault(Repair.drop, "R-RECV-04", "never again requests a message that others have requested")
    def never_requests_after_others(self, message_id: str) -> None:
        self.outgoing.remove(message_id)

    @fault(Repair.track_missing, "R-RECV-04", "requests a message again only if a causal history names it again")
    def requests_again_only_if_named_again(self, message: Message, now_ms: int) -> None:
        self._dropped = {}
        super().track_missing(message, now_ms)


@mutant("R-RECV-04", "requests each message only once")
class AsksOnce(_RemembersRequests):
    def is_eligible_request(self, item: RepairEntry, now_ms: int) -> bool:
        return item.entry.message_id not in self.requested and super().is_eligible_request(item, now_ms)


add_again(
    "asks-once",
    "requests-each-message-once-for-ever",
    "requests each message only once, even if messages name it again",
    requirement="SDS-R-RECV-03",
)


@unseen_too("unseen-restores-previous-t-req")
@mutant("R-RECV-05", "restores the previous T_req when a missing message is tracked again")
class RestoresPreviousTReq(Repair):
    def __init__(self, participant_id: str, config: Config, has_arrived: Callable[[str], bool]) -> None:
        super().__init__(participant_id, config, has_arrived)
        self._times: dict[str, int] = {}

    def t_req(self, entry: HistoryEntry, now_ms: int) -> int:
        return self._times.setdefault(entry.message_id, super().t_req(entry, now_ms))


@mutant("R-RECV-07", "ignores the requests of others for messages that it has requested")
class IgnoresOthersAfterItsOwnRequest(_RemembersRequests):
    def remove_overheard(self, message_id: str) -> None:
        if message_id not in self.requested:
            super().remove_overheard(message_id)


@register_faults
class _Overhearing(Repair):
    @unseen_too("unseen-ignores-requests-of-others")
    @fault(Repair.remove_overheard, "R-RECV-07", "ignores the requests of others")
    def ignores_requests_of_others(self, message_id: str) -> None:
        pass

    @fault(
        Repair.on_receive,
        "R-RECV-07",
        "ignores the requests of others for messages whose T_req is in the future",
    )
    def others_cancel_only_due_requests(self, message: Message, *, has_unique_id: bool, now_ms: int) -> None:
        early = [item for item in self.outgoing if item.due_ms > now_ms]
        super().on_receive(message, has_unique_id=has_unique_id, now_ms=now_ms)
        for item in early:
            if any(entry.message_id == item.entry.message_id for entry in message.repair_request):
                self.outgoing.add(item.entry, item.due_ms)

    @fault(Repair.on_receive, "R-RECV-12", "processes only the first entry of a repair request")
    def processes_first_request_entry(self, message: Message, *, has_unique_id: bool, now_ms: int) -> None:
        super().on_receive(
            replace(message, repair_request=message.repair_request[:1]), has_unique_id=has_unique_id, now_ms=now_ms
        )

    @fault(Repair.on_receive, "R-RECV-12", "processes a repair request only up to the first entry without a sender")
    def stops_at_entry_without_sender(self, message: Message, *, has_unique_id: bool, now_ms: int) -> None:
        unsigned = next((n for n, e in enumerate(message.repair_request) if not e.sender_id), None)
        super().on_receive(
            replace(message, repair_request=message.repair_request[:unsigned]),
            has_unique_id=has_unique_id,
            now_ms=now_ms,
        )

    @fault(Repair.on_receive, "R-RECV-12", "ignores entries of a repair request beyond its own maximum for requests")
    def processes_up_to_own_maximum(self, message: Message, *, has_unique_id: bool, now_ms: int) -> None:
        few = message.repair_request[: self.config.max_requests]
        super().on_receive(replace(message, repair_request=few), has_unique_id=has_unique_id, now_ms=now_ms)

    @unseen_too("unseen-ignores-gaps-of-syncs")
    @fault(Repair.track_missing, "R-RECV-13", "ignores missing dependencies of sync messages")
    def ignores_gaps_of_syncs(self, message: Message, now_ms: int) -> None:
        if message.kind is Kind.CONTENT:
            super().track_missing(message, now_ms)

    @fault(Repair.on_receive, "R-RECV-13", "ignores repair requests in messages that have to wait")
    def ignores_requests_in_blocked_messages(self, message: Message, *, has_unique_id: bool, now_ms: int) -> None:
        blocked = has_unique_id and any(entry.message_id not in self.cache for entry in message.causal_history)
        heard = replace(message, repair_request=()) if blocked else message
        super().on_receive(heard, has_unique_id=has_unique_id, now_ms=now_ms)

    @fault(Repair.on_receive, "R-RECV-13", "ignores repair requests in copies of known messages")
    def ignores_requests_in_copies(self, message: Message, *, has_unique_id: bool, now_ms: int) -> None:
        known = has_unique_id and self.has_arrived(message.message_id)
        heard = replace(message, repair_request=()) if known else message
        super().on_receive(heard, has_unique_id=has_unique_id, now_ms=now_ms)


@mutant("R-RECV-03", "never requests a message that another participant has requested, even if it is named again")
class LeavesRequestsToOthers(Repair):
    def __init__(self, participant_id: str, config: Config, has_arrived: Callable[[str], bool]) -> None:
        super().__init__(participant_id, config, has_arrived)
        self._requested_by_others: set[str] = set()

    def remove_overheard(self, message_id: str) -> None:
        super().remove_overheard(message_id)
        self._requested_by_others.add(message_id)

    def may_request(self, message_id: str) -> bool:
        return message_id not in self._requested_by_others and super().may_request(message_id)


@mutant("R-RECV-13", "ignores missing dependencies of a sync message whose ID it knows from another message")
class IgnoresGapsOfKnownSyncs(Repair):
    def __init__(self, participant_id: str, config: Config, has_arrived: Callable[[str], bool]) -> None:
        super().__init__(participant_id, config, has_arrived)
        self._ids: set[str] = set()

    def track_missing(self, message: Message, now_ms: int) -> None:
        known = message.message_id in self._ids
        self._ids.add(message.message_id)
        if message.kind is not Kind.SYNC or not known:
            super().track_missing(message, now_ms)


# ---- R-SYNC ----------------------------------------------------------------------------------------------------------


@register_faults
class _Syncing(Channel):
    @fault(
        Channel.sync_is_due,
        "R-SYNC-01",
        "skips a sync message after messages of others, although requests are due",
        sync_only_when_quiet=True,
    )
    def skips_sync_after_others(self, now_ms: int) -> bool:
        period = (self.config.sync_interval_ms or 0) + self.config.sync_backoff_ms
        return period > 0 and now_ms - self._quiet_since_ms >= period

    @fault(Channel.sync_is_due, "R-SYNC-02", "sends no periodic sync message while requests are due")
    def no_sync_with_requests(self, now_ms: int) -> bool:
        return super().sync_is_due(now_ms) and not self.has_requests(now_ms)

    @fault(Channel.sweep_outgoing, "R-SYNC-02", "postpones sync messages when it resends, although requests are due")
    def resends_silence_requests(self, now_ms: int, effects: Effects) -> None:
        before = len(effects.broadcasts)
        super().sweep_outgoing(now_ms, effects)
        if len(effects.broadcasts) > before:
            self.broadcast_at(now_ms)

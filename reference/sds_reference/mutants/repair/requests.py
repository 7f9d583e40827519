"""Faults of SDS-R on the requester's side: when it asks, for what, and what makes it stop."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import islice

from ...channel import Channel
from ...config import AfterRequest, Config, RepairConfig
from ...message import HistoryEntry, Kind, Message
from ...repair import Repair
from ..registry import mutant, repair_mutant

# ---- R-STATE and R-GLOBAL --------------------------------------------------------------------------------------------


@repair_mutant("SDS-R-STATE-01", "has room for one missing message only")
class TracksOneOnly(Repair):
    def track(self, entry: HistoryEntry, now_ms: int) -> None:
        super().track(entry, now_ms)
        for item in list(self.outgoing)[1:]:
            self.outgoing.remove(item.entry.message_id)


@repair_mutant("SDS-R-STATE-01", "forgets what is missing with every message it sends")
class ForgetsWhenSending(Repair):
    def repair_request(self, now_ms: int) -> tuple[HistoryEntry, ...]:
        chosen = super().repair_request(now_ms)
        for item in list(self.outgoing):
            self.outgoing.remove(item.entry.message_id)
        return chosen


@repair_mutant("SDS-R-STATE-01", "forgets what is missing with every message it sends, unseen", unseen=True)
class UnseenForgetsWhenSending(ForgetsWhenSending):
    pass


@repair_mutant("SDS-R-STATE-01", "asks for what has arrived and waits")
class AsksForWhatWaits(Repair):
    def track(self, entry: HistoryEntry, now_ms: int) -> None:
        if entry.message_id not in self.cache and entry.message_id not in self.outgoing:
            self.outgoing.add(entry, self.t_req(entry, now_ms))


@repair_mutant("SDS-R-STATE-02", "counts T_req anew with every message that names the missing one")
class RestartedByEachMessage(Repair):
    def track(self, entry: HistoryEntry, now_ms: int) -> None:
        self.outgoing.remove(entry.message_id)
        super().track(entry, now_ms)


@repair_mutant("SDS-R-STATE-02", "counts T_req anew with every message that names the missing one, unseen", unseen=True)
class UnseenRestartedByEachMessage(RestartedByEachMessage):
    pass


@repair_mutant("SDS-R-STATE-09", "keeps book of what is missing and never asks")
class NeverAsks(Repair):
    def eligible(self, now_ms: int) -> list[HistoryEntry]:
        return []


@repair_mutant("SDS-R-STATE-09", "keeps book of what is missing and never asks, unseen", unseen=True)
class UnseenNeverAsks(NeverAsks):
    pass


@repair_mutant("SDS-R-GLOBAL-02", "T_min is 5 seconds by default", repair=RepairConfig(t_min_ms=5_000))
class ShortTMin(Repair):
    pass


@repair_mutant("SDS-R-GLOBAL-03", "T_max is 20 minutes by default", repair=RepairConfig(t_max_ms=1_200_000))
class LongTMax(Repair):
    pass


@repair_mutant("SDS-R-GLOBAL-09", "takes no notice of T_min")
class NoTMin(Repair):
    def t_req(self, entry: HistoryEntry, now_ms: int) -> int:
        return super().t_req(entry, now_ms) - self.config.t_min_ms


@repair_mutant("SDS-R-GLOBAL-09", "takes no notice of T_min, unseen", unseen=True)
class UnseenNoTMin(NoTMin):
    pass


@repair_mutant("SDS-R-GLOBAL-10", "waits for T_min after a time of up to T_max")
class ReducedByTMax(Repair):
    def t_req(self, entry: HistoryEntry, now_ms: int) -> int:
        c = self.config
        return now_ms + c.hash_profile.hash(self.participant_id, entry.message_id) % c.t_max_ms + c.t_min_ms


@repair_mutant("SDS-R-GLOBAL-10", "waits for T_max and then for T_req", unseen=True)
class UnseenLateRequests(Repair):
    def t_req(self, entry: HistoryEntry, now_ms: int) -> int:
        return super().t_req(entry, now_ms) + self.config.t_max_ms


# ---- R-SEND ----------------------------------------------------------------------------------------------------------


@mutant("SDS-R-SEND-01", "asks in content messages only")
class AsksInContentOnly(Channel):
    def with_repair_request(self, message: Message, now_ms: int) -> Message:
        return super().with_repair_request(message, now_ms) if message.kind is Kind.CONTENT else message


@mutant("SDS-R-SEND-01", "asks in sync messages only")
class AsksInSyncsOnly(Channel):
    def with_repair_request(self, message: Message, now_ms: int) -> Message:
        return super().with_repair_request(message, now_ms) if message.kind is Kind.SYNC else message


@mutant("SDS-R-SEND-01", "asks in sync messages only, unseen", unseen=True)
class UnseenAsksInSyncsOnly(AsksInSyncsOnly):
    pass


@repair_mutant("SDS-R-SEND-02", "asks up to a second early")
class AsksASecondEarly(Repair):
    def eligible(self, now_ms: int) -> list[HistoryEntry]:
        return super().eligible(now_ms + 1_000)


@repair_mutant("SDS-R-SEND-02", "asks from the millisecond after T_req on")
class AsksAMillisecondLate(Repair):
    def eligible(self, now_ms: int) -> list[HistoryEntry]:
        return super().eligible(now_ms - 1)


@repair_mutant("SDS-R-SEND-03", "asks for one more than the cap allows")
class AsksForOneTooMany(Repair):
    def eligible(self, now_ms: int) -> list[HistoryEntry]:
        return list(islice((item.entry for item in self.outgoing.due(now_ms)), self.config.max_requests + 1))


@repair_mutant("SDS-R-SEND-04", "asks for what was due last first")
class LatestFirst(Repair):
    def eligible(self, now_ms: int) -> list[HistoryEntry]:
        due = [item.entry for item in self.outgoing.due(now_ms)]
        return due[::-1][: self.config.max_requests]


@repair_mutant("SDS-R-SEND-05", "asks for up to five at once by default", repair=RepairConfig(max_requests=5))
class AsksForFive(Repair):
    pass


@mutant("SDS-R-SEND-06", "sets field 13 to an empty entry when nothing is due")
class EmptyRequest(Channel):
    def with_repair_request(self, message: Message, now_ms: int) -> Message:
        asking = super().with_repair_request(message, now_ms)
        if self.repair is None or asking.repair_request:
            return asking
        return replace(asking, repair_request=(HistoryEntry(""),))


@repair_mutant("SDS-R-SEND-07", "makes up its request when the first is due, not when it sends")
class StaleRequest(Repair):
    def __init__(self, participant_id: str, config: Config, has_arrived: Callable[[str], bool]) -> None:
        super().__init__(participant_id, config, has_arrived)
        self._prepared: list[HistoryEntry] = []

    def on_receive(self, message: Message, *, counts: bool, now_ms: int) -> None:
        self._prepared = super().eligible(now_ms)
        super().on_receive(message, counts=counts, now_ms=now_ms)

    def eligible(self, now_ms: int) -> list[HistoryEntry]:
        fresh = [entry for entry in super().eligible(now_ms) if entry not in self._prepared]
        return (self._prepared + fresh)[: self.config.max_requests]

    def repair_request(self, now_ms: int) -> tuple[HistoryEntry, ...]:
        chosen = super().repair_request(now_ms)
        self._prepared = []
        return chosen


# ---- R-RECV ----------------------------------------------------------------------------------------------------------


@repair_mutant("SDS-R-RECV-01", "goes on asking for what has arrived")
class KeepsTheArrived(Repair):
    def remove_repaired(self, message_id: str) -> None:
        pass


@repair_mutant("SDS-R-RECV-01", "goes on asking for what has arrived, unseen", unseen=True)
class UnseenKeepsTheArrived(KeepsTheArrived):
    pass


@repair_mutant("SDS-R-RECV-01", "goes on asking for what has arrived and waits")
class KeepsTheBlocked(Repair):
    def on_receive(self, message: Message, *, counts: bool, now_ms: int) -> None:
        entry = self.outgoing.get(message.message_id)
        super().on_receive(message, counts=counts, now_ms=now_ms)
        if entry is not None and counts:
            self.outgoing.add(entry.entry, entry.due_ms)  # until it is delivered


@repair_mutant("SDS-R-RECV-01", "goes on asking for what has arrived and waits, unseen", unseen=True)
class UnseenKeepsTheBlocked(KeepsTheBlocked):
    pass


@repair_mutant("SDS-R-RECV-03", "notes only the first dependency that is missing")
class NotesTheFirst(Repair):
    def track_missing(self, message: Message, now_ms: int) -> None:
        super().track_missing(replace(message, causal_history=message.causal_history[:1]), now_ms)


@repair_mutant("SDS-R-RECV-03", "notes only the first dependency that is missing, unseen", unseen=True)
class UnseenNotesTheFirst(NotesTheFirst):
    pass


@repair_mutant("SDS-R-RECV-04", "what others asked for is never asked for again")
class LeavesItToOthers(Repair):
    def drop(self, message_id: str) -> None:
        self.outgoing.remove(message_id)


@repair_mutant("SDS-R-RECV-04", "what others asked for is never asked for again, unseen", unseen=True)
class UnseenLeavesItToOthers(LeavesItToOthers):
    pass


@repair_mutant("SDS-R-RECV-04", "asks again only for what is named again")
class LooksAtTheMessageOnly(Repair):
    def track_missing(self, message: Message, now_ms: int) -> None:
        self._dropped = {}
        super().track_missing(message, now_ms)


@repair_mutant(
    "SDS-R-RECV-04", "asks once and never again", repair=RepairConfig(after_request=AfterRequest.NEVER_AGAIN)
)
class AsksOnce(Repair):
    pass


@repair_mutant(
    "SDS-R-RECV-03",
    "asks once and never again, whoever names it once more",
    repair=RepairConfig(after_request=AfterRequest.NEVER_AGAIN),
)
class AsksOnceInALife(Repair):
    pass


@repair_mutant("SDS-R-RECV-05", "an entry that comes back has the T_req that it had")
class ComesBackWithItsOldTime(Repair):
    def __init__(self, participant_id: str, config: Config, has_arrived: Callable[[str], bool]) -> None:
        super().__init__(participant_id, config, has_arrived)
        self._times: dict[str, int] = {}

    def t_req(self, entry: HistoryEntry, now_ms: int) -> int:
        return self._times.setdefault(entry.message_id, super().t_req(entry, now_ms))


@repair_mutant("SDS-R-RECV-05", "an entry that comes back has the T_req that it had, unseen", unseen=True)
class UnseenComesBackWithItsOldTime(ComesBackWithItsOldTime):
    pass


@repair_mutant("SDS-R-RECV-07", "takes no notice of what others ask for")
class KeepsTheOverheard(Repair):
    def remove_overheard(self, message_id: str) -> None:
        pass


@repair_mutant("SDS-R-RECV-07", "takes no notice of what others ask for, unseen", unseen=True)
class UnseenKeepsTheOverheard(KeepsTheOverheard):
    pass


@repair_mutant("SDS-R-RECV-07", "leaves to others only what is due already")
class LeavesWhatIsDue(Repair):
    def on_receive(self, message: Message, *, counts: bool, now_ms: int) -> None:
        early = [item for item in self.outgoing if item.due_ms > now_ms]
        super().on_receive(message, counts=counts, now_ms=now_ms)
        for item in early:
            if any(entry.message_id == item.entry.message_id for entry in message.repair_request):
                self.outgoing.add(item.entry, item.due_ms)


@repair_mutant("SDS-R-RECV-12", "handles only the first entry of a repair request")
class HandlesTheFirst(Repair):
    def on_receive(self, message: Message, *, counts: bool, now_ms: int) -> None:
        super().on_receive(replace(message, repair_request=message.repair_request[:1]), counts=counts, now_ms=now_ms)


@repair_mutant("SDS-R-RECV-12", "stops at the first entry of a repair request that names no sender")
class StopsAtTheUnsigned(Repair):
    def on_receive(self, message: Message, *, counts: bool, now_ms: int) -> None:
        unsigned = next((n for n, e in enumerate(message.repair_request) if not e.sender_id), None)
        super().on_receive(
            replace(message, repair_request=message.repair_request[:unsigned]), counts=counts, now_ms=now_ms
        )


@repair_mutant("SDS-R-RECV-12", "handles no more entries of a repair request than it would ask for itself")
class HandlesItsOwnCap(Repair):
    def on_receive(self, message: Message, *, counts: bool, now_ms: int) -> None:
        few = message.repair_request[: self.config.max_requests]
        super().on_receive(replace(message, repair_request=few), counts=counts, now_ms=now_ms)


@repair_mutant("SDS-R-RECV-13", "does not see in sync messages what is missing")
class BlindForSyncs(Repair):
    def track_missing(self, message: Message, now_ms: int) -> None:
        if message.kind is Kind.CONTENT:
            super().track_missing(message, now_ms)


@repair_mutant("SDS-R-RECV-13", "does not see in sync messages what is missing, unseen", unseen=True)
class UnseenBlindForSyncs(BlindForSyncs):
    pass


@repair_mutant("SDS-R-RECV-13", "overhears nothing in messages that have to wait")
class DeafForTheBlocked(Repair):
    def on_receive(self, message: Message, *, counts: bool, now_ms: int) -> None:
        blocked = counts and any(entry.message_id not in self.cache for entry in message.causal_history)
        heard = replace(message, repair_request=()) if blocked else message
        super().on_receive(heard, counts=counts, now_ms=now_ms)


@repair_mutant("SDS-R-RECV-13", "overhears nothing in copies of known messages")
class DeafForCopies(Repair):
    def on_receive(self, message: Message, *, counts: bool, now_ms: int) -> None:
        known = counts and self.has_arrived(message.message_id)
        heard = replace(message, repair_request=()) if known else message
        super().on_receive(heard, counts=counts, now_ms=now_ms)


# ---- R-SYNC ----------------------------------------------------------------------------------------------------------


@mutant("SDS-R-SYNC-01", "is silenced by others although requests are due", sync_only_when_quiet=True)
class SilencedByOthers(Channel):
    def sync_is_due(self, now_ms: int) -> bool:
        period = (self.config.sync_interval_ms or 0) + self.config.sync_backoff_ms
        return period > 0 and now_ms - self._quiet_since_ms >= period


@mutant("SDS-R-SYNC-02", "sends no scheduled sync message while requests are due")
class NoSyncWithRequests(Channel):
    def sync_is_due(self, now_ms: int) -> bool:
        return super().sync_is_due(now_ms) and not self.has_requests(now_ms)

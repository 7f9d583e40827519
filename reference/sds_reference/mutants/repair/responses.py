"""Faults of SDS-R on the responder's side: what is kept, queued and sent."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from ...channel import Channel
from ...config import Config
from ...effects import Effects
from ...message import HistoryEntry, Kind, Message, encode
from ...repair import Repair
from ..registry import mutant, repair_mutant

HasArrived = Callable[[str], bool]


# ---- What is kept ----------------------------------------------------------------------------------------------------


@repair_mutant("SDS-R-STATE-07", "keeps messages without their content")
class KeepsNoContent(Repair):
    def take_responses(self, now_ms: int) -> list[Message]:
        return [replace(message, content=None) for message in super().take_responses(now_ms)]


@repair_mutant("SDS-R-STATE-07", "keeps messages without their causal history")
class KeepsNoHistory(Repair):
    def remember(self, message: Message) -> None:
        super().remember(replace(message, causal_history=()))


@repair_mutant("SDS-R-STATE-07", "answers with messages that have no Lamport timestamp", unseen=True)
class KeepsNoTimestamp(Repair):
    def take_responses(self, now_ms: int) -> list[Message]:
        return [replace(message, lamport_timestamp=None) for message in super().take_responses(now_ms)]


@repair_mutant("SDS-R-STATE-08", "keeps no messages of its own")
class KeepsNoOwn(Repair):
    def remember(self, message: Message) -> None:
        if message.sender_id != self.participant_id:
            super().remember(message)


@mutant("SDS-R-STATE-08", "keeps only what it could deliver on arrival")
class KeepsOnlyWhatCameInOrder(Channel):
    def deliver_ready(self, effects: Effects) -> None:
        kept = dict(self.repair.cache) if self.repair is not None else {}
        super().deliver_ready(effects)
        if self.repair is not None:
            self.repair.cache = kept


@repair_mutant("SDS-R-STATE-08", "keeps no message that it had to ask for", unseen=True)
class KeepsNoRepairs(Repair):
    def __init__(self, participant_id: str, config: Config, has_arrived: HasArrived) -> None:
        super().__init__(participant_id, config, has_arrived)
        self._wanted: set[str] = set()

    def after_request(self, entry: HistoryEntry) -> None:
        super().after_request(entry)
        self._wanted.add(entry.message_id)

    def remember(self, message: Message) -> None:
        if message.message_id not in self._wanted:
            super().remember(message)


# ---- What is queued --------------------------------------------------------------------------------------------------


@repair_mutant("SDS-R-STATE-04", "queues requests for what it has never seen, and answers none of these")
class QueuesTheUnknown(Repair):
    def take_request(self, entry: HistoryEntry, now_ms: int) -> None:
        super().take_request(entry, now_ms)
        if not self.has_arrived(entry.message_id):
            self.incoming.add(entry, now_ms + self.config.t_max_ms)

    def remove_answered(self, message_id: str) -> None:
        self.incoming.remove(message_id)

    def take_responses(self, now_ms: int) -> list[Message]:
        for item in list(self.incoming.due(now_ms)):
            if item.entry.message_id not in self.cache:
                self.incoming.remove(item.entry.message_id)
        return super().take_responses(now_ms)


@mutant("SDS-R-STATE-04", "repeats every message of others after two minutes, asked or not")
class RepeatsUnasked(Channel):
    def __init__(self, participant_id: str, channel_id: str, config: Config, now_ms: int) -> None:
        super().__init__(participant_id, channel_id, config, now_ms)
        self._heard: list[tuple[int, Message]] = []

    def receive(self, message: Message, now_ms: int, retrieval_hint: bytes | None = None) -> Effects:
        plain = message.kind is Kind.CONTENT and not message.repair_request and not self.is_own(message)
        if self.repair is not None and plain and not self.has_arrived(message.message_id):
            self._heard.append((now_ms, message))
        return super().receive(message, now_ms, retrieval_hint)

    def sweep_repair_requests(self, now_ms: int, effects: Effects) -> None:
        super().sweep_repair_requests(now_ms, effects)
        late = [(heard_ms, message) for heard_ms, message in self._heard if now_ms - heard_ms >= 120_000]
        self._heard = [pair for pair in self._heard if pair not in late]
        asked = self.repair.asked_for if isinstance(self.repair, _Remembering) else set()
        effects.broadcasts.extend(encode(message) for _, message in late if message.message_id not in asked)


class _Remembering(Repair):
    """Remembers what it was asked for."""

    def __init__(self, participant_id: str, config: Config, has_arrived: HasArrived) -> None:
        super().__init__(participant_id, config, has_arrived)
        self.asked_for: set[str] = set()

    def take_request(self, entry: HistoryEntry, now_ms: int) -> None:
        self.asked_for.add(entry.message_id)
        super().take_request(entry, now_ms)


RepeatsUnasked.repair_class = _Remembering


@repair_mutant("SDS-R-STATE-06", "a further request moves the answer to a later time")
class RequestsPostpone(Repair):
    def take_request(self, entry: HistoryEntry, now_ms: int) -> None:
        self.incoming.remove(entry.message_id)
        super().take_request(entry, now_ms)


@repair_mutant("SDS-R-STATE-06", "a further request postpones the answer, which is not shown", unseen=True)
class RequestsPostponeUnseen(RequestsPostpone):
    pass


@repair_mutant("SDS-R-STATE-06", "a further request makes the answer due at once")
class RequestsHasten(Repair):
    def take_request(self, entry: HistoryEntry, now_ms: int) -> None:
        if self.incoming.remove(entry.message_id) is not None:
            self.incoming.add(entry, now_ms)
        else:
            super().take_request(entry, now_ms)


@repair_mutant("SDS-R-STATE-06", "answers each of several requests")
class AnswersEachRequest(Repair):
    def __init__(self, participant_id: str, config: Config, has_arrived: HasArrived) -> None:
        super().__init__(participant_id, config, has_arrived)
        self._more: dict[str, int] = {}

    def take_request(self, entry: HistoryEntry, now_ms: int) -> None:
        if entry.message_id in self.incoming:
            self._more[entry.message_id] = self._more.get(entry.message_id, 0) + 1
        super().take_request(entry, now_ms)

    def take_responses(self, now_ms: int) -> list[Message]:
        responses = super().take_responses(now_ms)
        return [message for message in responses for _ in range(1 + self._more.pop(message.message_id, 0))]


@repair_mutant("SDS-R-RECV-02", "copies do not end a request")
class CopiesDoNotCancel(Repair):
    def remove_answered(self, message_id: str) -> None:
        pass


@repair_mutant("SDS-R-RECV-02", "copies do not end a request, which is not shown", unseen=True)
class CopiesDoNotCancelUnseen(CopiesDoNotCancel):
    pass


@repair_mutant("SDS-R-STATE-05", "a copy takes a request out of the buffer, and the answer goes out all the same")
class AnswersAfterCopies(Repair):
    def __init__(self, participant_id: str, config: Config, has_arrived: HasArrived) -> None:
        super().__init__(participant_id, config, has_arrived)
        self._planned: dict[str, int] = {}

    def remove_answered(self, message_id: str) -> None:
        removed = self.incoming.remove(message_id)
        if removed is not None:
            self._planned[message_id] = removed.due_ms

    def take_responses(self, now_ms: int) -> list[Message]:
        due = [message_id for message_id, due_ms in self._planned.items() if due_ms <= now_ms]
        for message_id in due:
            del self._planned[message_id]
        return super().take_responses(now_ms) + [self.cache[message_id] for message_id in due]


# ---- Which requests are answered -------------------------------------------------------------------------------------


@repair_mutant("SDS-R-RECV-08", "answers only for its own messages")
class AnswersOnlyForItsOwn(Repair):
    def take_request(self, entry: HistoryEntry, now_ms: int) -> None:
        message = self.cache.get(entry.message_id)
        if message is not None and message.sender_id == self.participant_id:
            super().take_request(entry, now_ms)


@repair_mutant("SDS-R-RECV-08", "never answers")
class NeverAnswers(Repair):
    def take_request(self, entry: HistoryEntry, now_ms: int) -> None:
        pass


@repair_mutant("SDS-R-RECV-09", "answers an old request when the message arrives at last")
class AnswersOldRequests(Repair):
    def __init__(self, participant_id: str, config: Config, has_arrived: HasArrived) -> None:
        super().__init__(participant_id, config, has_arrived)
        self._unknown: dict[str, HistoryEntry] = {}
        self._now_ms = 0

    def on_receive(self, message: Message, *, counts: bool, now_ms: int) -> None:
        self._now_ms = now_ms
        super().on_receive(message, counts=counts, now_ms=now_ms)

    def take_request(self, entry: HistoryEntry, now_ms: int) -> None:
        if not self.has_arrived(entry.message_id) and entry.sender_id:
            self._unknown[entry.message_id] = entry
        super().take_request(entry, now_ms)

    def remember(self, message: Message) -> None:
        super().remember(message)
        if message.message_id in self._unknown:
            self.take_request(self._unknown.pop(message.message_id), self._now_ms)


class _LeavesItems(Repair):
    """Overhears all items of a repair request, and answers some of them only."""

    def __init__(self, participant_id: str, config: Config, has_arrived: HasArrived) -> None:
        super().__init__(participant_id, config, has_arrived)
        self._selected: frozenset[str] = frozenset()

    def selected(self, message: Message) -> tuple[HistoryEntry, ...]:
        raise NotImplementedError

    def on_receive(self, message: Message, *, counts: bool, now_ms: int) -> None:
        self._selected = frozenset(entry.message_id for entry in self.selected(message))
        super().on_receive(message, counts=counts, now_ms=now_ms)

    def take_request(self, entry: HistoryEntry, now_ms: int) -> None:
        if entry.message_id in self._selected:
            super().take_request(entry, now_ms)


@repair_mutant("SDS-R-RECV-12", "answers for the first item of a repair request only")
class AnswersTheFirstItem(_LeavesItems):
    def selected(self, message: Message) -> tuple[HistoryEntry, ...]:
        return message.repair_request[:1]


@repair_mutant("SDS-R-RECV-12", "answers for the items of a repair request up to one that it does not know")
class StopsAtTheUnknown(_LeavesItems):
    def selected(self, message: Message) -> tuple[HistoryEntry, ...]:
        known = [self.has_arrived(entry.message_id) for entry in message.repair_request]
        return message.repair_request[: known.index(False)] if False in known else message.repair_request


@repair_mutant("SDS-R-RECV-12", "answers a repair request only if all its items name an author", unseen=True)
class StopsAtTheNameless(_LeavesItems):
    def selected(self, message: Message) -> tuple[HistoryEntry, ...]:
        return message.repair_request if all(entry.sender_id for entry in message.repair_request) else ()


@repair_mutant("SDS-R-RECV-13", "answers no repair requests in sync messages")
class LeavesSyncsUnanswered(_LeavesItems):
    def selected(self, message: Message) -> tuple[HistoryEntry, ...]:
        return () if message.kind is Kind.SYNC else message.repair_request


@repair_mutant("SDS-R-RECV-13", "answers no repair requests in copies of known messages", unseen=True)
class LeavesCopiesUnanswered(_LeavesItems):
    def selected(self, message: Message) -> tuple[HistoryEntry, ...]:
        return () if self.has_arrived(message.message_id) else message.repair_request


@repair_mutant("SDS-R-RECV-13", "answers no repair requests in messages that have to wait")
class LeavesTheBlockedUnanswered(_LeavesItems):
    def selected(self, message: Message) -> tuple[HistoryEntry, ...]:
        blocked = any(entry.message_id not in self.cache for entry in message.causal_history)
        return () if blocked and message.kind is Kind.CONTENT else message.repair_request


@mutant("SDS-R-RECV-13", "answers the requests in its own messages when they come back")
class AnswersItself(Channel):
    def receive(self, message: Message, now_ms: int, retrieval_hint: bytes | None = None) -> Effects:
        if self.is_own(message) and self.repair is not None:
            for entry in message.repair_request:
                self.repair.take_request(entry, now_ms)
        return super().receive(message, now_ms, retrieval_hint)


# ---- What is sent ----------------------------------------------------------------------------------------------------


class _Alters(Repair):
    """Answers with something else than the original."""

    def altered(self, message: Message) -> Message:
        raise NotImplementedError

    def take_responses(self, now_ms: int) -> list[Message]:
        return [self.altered(message) for message in super().take_responses(now_ms)]


@repair_mutant("SDS-R-SWEEP-05", "answers in its own name")
class AnswersInItsOwnName(_Alters):
    def altered(self, message: Message) -> Message:
        return replace(message, sender_id=self.participant_id)


@repair_mutant("SDS-R-SWEEP-05", "answers with another Lamport timestamp", unseen=True)
class AnswersWithANewTimestamp(_Alters):
    def altered(self, message: Message) -> Message:
        return replace(message, lamport_timestamp=(message.lamport_timestamp or 0) + 1)


@repair_mutant("SDS-R-SWEEP-05", "turns the causal history around when it answers")
class AnswersWithTheHistoryReversed(_Alters):
    def altered(self, message: Message) -> Message:
        return replace(message, causal_history=message.causal_history[::-1])


@repair_mutant("SDS-R-SWEEP-05", "answers in another channel")
class AnswersInAnotherChannel(_Alters):
    def altered(self, message: Message) -> Message:
        return replace(message, channel_id=f"{message.channel_id}-repairs")


@repair_mutant("SDS-R-SWEEP-05", "cuts the content when it answers")
class AnswersWithLessContent(_Alters):
    def altered(self, message: Message) -> Message:
        return replace(message, content=(message.content or b"")[:-1] or b"?")


@mutant("SDS-R-SWEEP-05", "sets its Lamport timestamp forward when it answers")
class AnsweringMovesTheClock(Channel):
    def sweep_repair_requests(self, now_ms: int, effects: Effects) -> None:
        before = len(effects.broadcasts)
        super().sweep_repair_requests(now_ms, effects)
        for _ in effects.broadcasts[before:]:
            self.next_lamport(now_ms)


@mutant("SDS-R-SWEEP-05", "sets its Lamport timestamp forward when it answers, and shows nothing", unseen=True)
class AnsweringMovesTheClockUnseen(AnsweringMovesTheClock):
    pass


@mutant("SDS-R-SWEEP-05", "puts the messages of others that it answers with into its outgoing buffer")
class AnswersAreSendings(Channel):
    def sweep_repair_requests(self, now_ms: int, effects: Effects) -> None:
        before = len(effects.broadcasts)
        super().sweep_repair_requests(now_ms, effects)
        if self.repair is None:
            return
        wires = set(effects.broadcasts[before:])
        for message in self.repair.cache.values():
            if message.sender_id != self.participant_id and encode(message) in wires:
                self.remember_outgoing(message, encode(message), now_ms)

"""Faults of SDS-R on the responder's side: messages that it caches, schedules and sends."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from ...channel import Channel
from ...config import Config
from ...effects import Effects
from ...local_log import LogEntry
from ...message import HistoryEntry, Kind, Message, encode
from ...repair import Repair
from ..registry import fault, mutant, omit, register_faults, unseen_too

HasArrived = Callable[[str], bool]


# ---- Cached messages -------------------------------------------------------------------------------------------------


@mutant("R-SWEEP-05", "caches a message that waited with only the dependencies that were missing on its arrival")
class CachesMissingDependenciesOnly(Channel):
    def buffer(self, message: Message, unmet: set[str], now_ms: int, retrieval_hint: bytes | None) -> None:
        missing = tuple(entry for entry in message.causal_history if entry.message_id in unmet)
        super().buffer(replace(message, causal_history=missing), unmet, now_ms, retrieval_hint)


@mutant("R-RECV-08", "drops the full messages of others an hour after their delivery")
class DropsMessagesAfterAnHour(Repair):
    def on_receive(self, message: Message, *, has_unique_id: bool, now_ms: int) -> None:
        known: dict[str, int] = self.__dict__.setdefault("_known_since_ms", {})
        for message_id, cached in list(self.cache.items()):
            is_free = cached.sender_id != self.participant_id and message_id not in self.incoming
            if now_ms - known.setdefault(message_id, now_ms) > 3_600_000 and is_free:
                del self.cache[message_id]
        super().on_receive(message, has_unique_id=has_unique_id, now_ms=now_ms)


@register_faults
class _Keeping(Repair):
    @fault(Repair.take_responses, "R-STATE-07", "caches messages without their content")
    def keeps_no_content(self, now_ms: int) -> list[Message]:
        return [replace(message, content=None) for message in super().take_responses(now_ms)]

    @fault(Repair.cache_message, "R-STATE-07", "caches messages without their causal history")
    def keeps_no_history(self, message: Message) -> None:
        super().cache_message(replace(message, causal_history=()))

    @fault(
        Repair.take_responses, "R-STATE-07", "omits the Lamport timestamp of the messages in its responses", unseen=True
    )
    def keeps_no_timestamp(self, now_ms: int) -> list[Message]:
        return [replace(message, lamport_timestamp=None) for message in super().take_responses(now_ms)]

    @fault(Repair.take_responses, "R-STATE-07", "omits the sender of the messages in its responses")
    def keeps_no_sender(self, now_ms: int) -> list[Message]:
        return [replace(message, sender_id="") for message in super().take_responses(now_ms)]

    @fault(Repair.cache_message, "R-STATE-08", "does not cache its own messages")
    def keeps_no_own(self, message: Message) -> None:
        if message.sender_id != self.participant_id:
            super().cache_message(message)


@mutant("R-STATE-08", "caches only messages whose dependencies were met when they arrived")
class KeepsOnlyWhatCameInOrder(Channel):
    def deliver_ready(self, effects: Effects) -> None:
        kept = dict(self.repair.cache) if self.repair is not None else {}
        super().deliver_ready(effects)
        if self.repair is not None:
            self.repair.cache = kept


@mutant("R-STATE-08", "does not cache messages that it had to request", unseen=True)
class KeepsNoRepairs(Repair):
    _wanted: frozenset[str] = frozenset()

    def after_request(self, entry: HistoryEntry) -> None:
        super().after_request(entry)
        self._wanted |= {entry.message_id}

    def cache_message(self, message: Message) -> None:
        if message.message_id not in self._wanted:
            super().cache_message(message)


# ---- Scheduled responses ---------------------------------------------------------------------------------------------


@mutant(
    "R-STATE-04", "adds requests for unknown messages to its incoming repair request buffer, and never answers them"
)
class QueuesTheUnknown(Repair):
    def accept_request(self, entry: HistoryEntry, now_ms: int) -> None:
        super().accept_request(entry, now_ms)
        if not self.has_arrived(entry.message_id):
            self.incoming.add(entry, now_ms + self.config.t_max_ms)

    def take_responses(self, now_ms: int) -> list[Message]:
        for item in list(self.incoming.due(now_ms)):
            if item.entry.message_id not in self.cache:
                self.incoming.remove(item.entry.message_id)
        return super().take_responses(now_ms)


class _Remembering(Repair):
    """Stores the IDs of all messages that others requested, in ``asked_for``."""

    asked_for: frozenset[str] = frozenset()

    def accept_request(self, entry: HistoryEntry, now_ms: int) -> None:
        self.asked_for |= {entry.message_id}
        super().accept_request(entry, now_ms)


@mutant("R-STATE-04", "broadcasts every message of others again after two minutes if nobody requested it")
class RepeatsUnasked(Channel):
    repair_class = _Remembering
    _heard: tuple[tuple[int, Message], ...] = ()

    def receive(self, message: Message, now_ms: int, retrieval_hint: bytes | None = None) -> Effects:
        plain = message.kind is Kind.CONTENT and not message.repair_request and not self.is_own(message)
        if self.repair is not None and plain and not self.has_arrived(message.message_id):
            self._heard += ((now_ms, message),)
        return super().receive(message, now_ms, retrieval_hint)

    def sweep_repair_requests(self, now_ms: int, effects: Effects) -> None:
        super().sweep_repair_requests(now_ms, effects)
        late = [(heard_ms, message) for heard_ms, message in self._heard if now_ms - heard_ms >= 120_000]
        self._heard = tuple(pair for pair in self._heard if pair not in late)
        asked = self.repair.asked_for if isinstance(self.repair, _Remembering) else frozenset()
        effects.broadcasts.extend(encode(message) for _, message in late if message.message_id not in asked)


@register_faults
class _Queueing(Repair):
    @unseen_too(
        "requests-postpone-unseen", summary="postpones the response at a further request, and does not show its state"
    )
    @fault(Repair.accept_request, "R-STATE-06", "postpones the response at a further request")
    def requests_postpone(self, entry: HistoryEntry, now_ms: int) -> None:
        self.incoming.remove(entry.message_id)
        super().accept_request(entry, now_ms)

    @fault(Repair.accept_request, "R-STATE-06", "makes the response due immediately at a further request")
    def requests_hasten(self, entry: HistoryEntry, now_ms: int) -> None:
        if self.incoming.remove(entry.message_id) is not None:
            self.incoming.add(entry, now_ms)
        else:
            super().accept_request(entry, now_ms)


@mutant("R-STATE-06", "sends a response for each request, even if several requests are for the same message")
class AnswersEachOfSeveralRequests(Repair):
    def __init__(self, participant_id: str, config: Config, has_arrived: HasArrived) -> None:
        super().__init__(participant_id, config, has_arrived)
        self._more: dict[str, int] = {}

    def accept_request(self, entry: HistoryEntry, now_ms: int) -> None:
        if entry.message_id in self.incoming:
            self._more[entry.message_id] = self._more.get(entry.message_id, 0) + 1
        super().accept_request(entry, now_ms)

    def take_responses(self, now_ms: int) -> list[Message]:
        responses = super().take_responses(now_ms)
        return [message for message in responses for _ in range(1 + self._more.pop(message.message_id, 0))]


@unseen_too("copies-do-not-cancel-unseen")
@mutant("R-RECV-02", "does not cancel a response when the requested message arrives from another participant")
class CopiesDoNotCancel(Repair):
    def remove_answered(self, message_id: str) -> None:
        pass


@mutant("R-STATE-05", "removes a request when the requested message arrives, but still sends the response")
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


# ---- Requests that are answered --------------------------------------------------------------------------------------


@register_faults
class _Choosing(Repair):
    @fault(Repair.accept_request, "R-RECV-08", "answers only for its own messages")
    def answers_only_for_its_own(self, entry: HistoryEntry, now_ms: int) -> None:
        message = self.cache.get(entry.message_id)
        if message is not None and message.sender_id == self.participant_id:
            super().accept_request(entry, now_ms)

    never_answers = omit(Repair.accept_request, "R-RECV-08", "never answers requests")

    @unseen_too("unseen-history-entries-cancel-responses")
    @fault(
        Repair.track_missing, "R-RECV-08", "drops a request of others when a causal history names the requested message"
    )
    def history_entries_cancel_responses(self, message: Message, now_ms: int) -> None:
        for entry in message.causal_history:
            self.incoming.remove(entry.message_id)
        super().track_missing(message, now_ms)


@mutant("R-RECV-09", "answers a request for an unknown message when the message arrives later")
class AnswersOldRequests(Repair):
    def __init__(self, participant_id: str, config: Config, has_arrived: HasArrived) -> None:
        super().__init__(participant_id, config, has_arrived)
        self._unknown: dict[str, HistoryEntry] = {}
        self._now_ms = 0

    def on_receive(self, message: Message, *, has_unique_id: bool, now_ms: int) -> None:
        self._now_ms = now_ms
        super().on_receive(message, has_unique_id=has_unique_id, now_ms=now_ms)

    def accept_request(self, entry: HistoryEntry, now_ms: int) -> None:
        if not self.has_arrived(entry.message_id) and entry.sender_id:
            self._unknown[entry.message_id] = entry
        super().accept_request(entry, now_ms)

    def cache_message(self, message: Message) -> None:
        super().cache_message(message)
        if message.message_id in self._unknown:
            self.accept_request(self._unknown.pop(message.message_id), self._now_ms)


@register_faults
class _LeavesItems(Repair):
    """Processes all entries of a repair request, but answers only some of them."""

    _selected: frozenset[str] = frozenset()

    def selected(self, message: Message) -> tuple[HistoryEntry, ...]:
        raise NotImplementedError

    def on_receive(self, message: Message, *, has_unique_id: bool, now_ms: int) -> None:
        self._selected = frozenset(entry.message_id for entry in self.selected(message))
        super().on_receive(message, has_unique_id=has_unique_id, now_ms=now_ms)

    def accept_request(self, entry: HistoryEntry, now_ms: int) -> None:
        if entry.message_id in self._selected:
            super().accept_request(entry, now_ms)

    @fault(selected, "R-RECV-12", "answers only the first entry of a repair request")
    def answers_the_first_item(self, message: Message) -> tuple[HistoryEntry, ...]:
        return message.repair_request[:1]

    @fault(selected, "R-RECV-12", "answers a repair request only up to the first unknown entry")
    def stops_at_unknown_request_entry(self, message: Message) -> tuple[HistoryEntry, ...]:
        known = [self.has_arrived(entry.message_id) for entry in message.repair_request]
        return message.repair_request[: known.index(False)] if False in known else message.repair_request

    @fault(selected, "R-RECV-12", "answers a repair request only if all its entries name an author", unseen=True)
    def refuses_requests_with_nameless_entry(self, message: Message) -> tuple[HistoryEntry, ...]:
        return message.repair_request if all(entry.sender_id for entry in message.repair_request) else ()

    @fault(selected, "R-RECV-13", "answers no repair requests in sync messages")
    def leaves_syncs_unanswered(self, message: Message) -> tuple[HistoryEntry, ...]:
        return () if message.kind is Kind.SYNC else message.repair_request

    @fault(selected, "R-RECV-13", "answers no repair requests in copies of known messages", unseen=True)
    def leaves_copies_unanswered(self, message: Message) -> tuple[HistoryEntry, ...]:
        return () if self.has_arrived(message.message_id) else message.repair_request

    @fault(selected, "R-RECV-13", "answers no repair requests in messages that have to wait")
    def leaves_the_blocked_unanswered(self, message: Message) -> tuple[HistoryEntry, ...]:
        blocked = any(entry.message_id not in self.cache for entry in message.causal_history)
        return () if blocked and message.kind is Kind.CONTENT else message.repair_request


@mutant("R-RECV-13", "answers the requests in its own messages when the network sends them back")
class AnswersItself(Channel):
    def receive(self, message: Message, now_ms: int, retrieval_hint: bytes | None = None) -> Effects:
        if self.is_own(message) and self.repair is not None:
            for entry in message.repair_request:
                self.repair.accept_request(entry, now_ms)
        return super().receive(message, now_ms, retrieval_hint)


# ---- Responses on the wire -------------------------------------------------------------------------------------------


@register_faults
class _AltersResponses(Repair):
    def altered(self, message: Message) -> Message:
        raise NotImplementedError

    def take_responses(self, now_ms: int) -> list[Message]:
        return [self.altered(message) for message in super().take_responses(now_ms)]

    @fault(altered, "R-SWEEP-05", "names itself as the sender of the messages in its responses")
    def answers_as_the_sender(self, message: Message) -> Message:
        return replace(message, sender_id=self.participant_id)

    @fault(altered, "R-SWEEP-05", "adds 1 to the Lamport timestamp of the messages in its responses", unseen=True)
    def answers_with_a_new_timestamp(self, message: Message) -> Message:
        return replace(message, lamport_timestamp=(message.lamport_timestamp or 0) + 1)

    @fault(altered, "R-SWEEP-05", "reverses the causal history in responses")
    def answers_with_the_history_reversed(self, message: Message) -> Message:
        return replace(message, causal_history=message.causal_history[::-1])

    @fault(altered, "R-SWEEP-05", "answers with a new ID")
    def answers_with_a_new_id(self, message: Message) -> Message:
        return replace(message, message_id=f"{message.message_id}-again")

    @fault(altered, "R-SWEEP-05", "converts the ID in responses to lower case")
    def answers_in_lower_case(self, message: Message) -> Message:
        return replace(message, message_id=message.message_id.lower())

    @fault(altered, "R-SWEEP-05", "answers in another channel")
    def answers_in_another_channel(self, message: Message) -> Message:
        return replace(message, channel_id=f"{message.channel_id}-repairs")

    @fault(altered, "R-SWEEP-05", "truncates the content in responses")
    def answers_with_less_content(self, message: Message) -> Message:
        return replace(message, content=(message.content or b"")[:-1] or b"?")


@register_faults
class _Waiting(Channel):
    @fault(Channel.buffer, "R-SWEEP-05", "keeps only two entries of the causal history of a message that waits")
    def shortens_the_histories_of_the_waiting(
        self, message: Message, unmet: set[str], now_ms: int, retrieval_hint: bytes | None
    ) -> None:
        kept = replace(message, causal_history=message.causal_history[:2])
        super().buffer(kept, unmet, now_ms, retrieval_hint)


@register_faults
class _SideEffects(Channel):
    @unseen_too("answering-moves-the-clock-unseen")
    @fault(Channel.sweep_repair_requests, "R-SWEEP-05", "advances its Lamport timestamp when it answers")
    def answering_moves_the_clock(self, now_ms: int, effects: Effects) -> None:
        before = len(effects.broadcasts)
        super().sweep_repair_requests(now_ms, effects)
        for _ in effects.broadcasts[before:]:
            self.next_lamport(now_ms)

    @fault(
        Channel.sweep_repair_requests,
        "R-SWEEP-05",
        "logs each message that it sends as a response again, under a new ID",
    )
    def answers_are_logged(self, now_ms: int, effects: Effects) -> None:
        before = len(effects.broadcasts)
        super().sweep_repair_requests(now_ms, effects)
        for wire in effects.broadcasts[before:]:
            answer = self.revision.wire.decode(wire)
            self.log.insert(LogEntry(f"{answer.message_id}-answer", 0, answer.sender_id))

    @fault(
        Channel.sweep_repair_requests,
        "R-SWEEP-05",
        "adds the messages of others in its responses to its outgoing buffer",
    )
    def answers_enter_the_outgoing_buffer(self, now_ms: int, effects: Effects) -> None:
        before = len(effects.broadcasts)
        super().sweep_repair_requests(now_ms, effects)
        if self.repair is None:
            return
        wires = set(effects.broadcasts[before:])
        for message in self.repair.cache.values():
            if message.sender_id != self.participant_id and encode(message) in wires:
                self.remember_outgoing(message, encode(message), now_ms)


# ---- Several requests in one message, and what happens until the response --------------------------------------------


@register_faults
class _GroupedEntries(Repair):
    @fault(
        Repair.on_receive,
        "R-RECV-12",
        "ignores the entries of a repair request after the first entry for which another response group is responsible",
    )
    def stops_at_another_group(self, message: Message, *, has_unique_id: bool, now_ms: int) -> None:
        mine: list[HistoryEntry] = []
        for entry in message.repair_request:
            mine.append(entry)
            if self.has_arrived(entry.message_id) and not self.is_eligible_responder(entry):
                break
        super().on_receive(replace(message, repair_request=tuple(mine)), has_unique_id=has_unique_id, now_ms=now_ms)

    @fault(
        Repair.on_receive,
        "R-STATE-05",
        "does not cancel a response if the requested message arrives with differences from the cached message",
    )
    def only_equal_copies_answer(self, message: Message, *, has_unique_id: bool, now_ms: int) -> None:
        cached = self.cache.get(message.message_id)
        equal = cached is None or encode(cached) == encode(message)
        super().on_receive(message, has_unique_id=has_unique_id and equal, now_ms=now_ms)


@mutant("R-STATE-08", "does not answer for a message that was acknowledged after the request")
class AcknowledgedIsAnswered(Channel):
    def acknowledge(self, message_id: str, effects: Effects) -> None:
        if self.repair is not None and message_id in self.outgoing:
            self.repair.remove_answered(message_id)
        super().acknowledge(message_id, effects)

"""Faults that appear only with some messages or in some situations, such as a resend while other messages wait."""

from __future__ import annotations

from dataclasses import replace

from ...channel import Channel
from ...effects import Delivered, Effects, Lost
from ...message import HistoryEntry, Kind, Message
from ...outgoing_buffer import AckState, OutgoingEntry
from ...participant import Participant
from ...repair import Repair
from ..registry import fault, mutant, register_faults
from .giving_up import CountsCopies

# ---- Lamport timestamps ----------------------------------------------------------------------------------------------


@register_faults
class _FollowingTheTime(Channel):
    @fault(Channel.receive, "EPHEMERAL-07", "sets its timestamp to the present time when an ephemeral message arrives")
    def ephemerals_set_the_timestamp(
        self, message: Message, now_ms: int, retrieval_hint: bytes | None = None
    ) -> Effects:
        if message.kind is Kind.EPHEMERAL:
            self.clock.witness(now_ms)
        return super().receive(message, now_ms, retrieval_hint)

    @fault(Channel.receive, "SEND-01", "sets its timestamp to the present time when a message arrives")
    def arrivals_set_the_timestamp(self, message: Message, now_ms: int, retrieval_hint: bytes | None = None) -> Effects:
        self.clock.witness(now_ms)
        return super().receive(message, now_ms, retrieval_hint)

    @fault(Channel.tick, "SEND-01", "sets its timestamp to the present time at each tick")
    def ticks_set_the_timestamp(self, now_ms: int) -> Effects:
        self.clock.witness(now_ms)
        return super().tick(now_ms)


@mutant("DELIVER-01", "does not update its clock when it delivers messages whose dependencies it has given up")
class KeepsItsClockAfterALoss(Channel):
    def give_up_lost(self, received_ms: int, effects: Effects) -> None:
        before = self.clock.value
        super().give_up_lost(received_ms, effects)
        self.clock.value = before


@mutant("STATE-02", "starts the Lamport timestamps of all channels but the first at 0")
class StartsFurtherChannelsAtZero(Participant):
    def join(self, channel_id: str, now_ms: int) -> None:
        is_new = bool(self.channels) and channel_id not in self.channels
        super().join(channel_id, now_ms)
        if is_new:
            self.channels[channel_id].clock.value = 0


@mutant("OUTSWEEP-01", "restarts the resend period of an own message when it receives this message")
class RestartsResendsOnItsOwnCopies(Channel):
    def receive(self, message: Message, now_ms: int, retrieval_hint: bytes | None = None) -> Effects:
        for entry in self.outgoing if self.is_own(message) else ():
            if entry.message_id == message.message_id:
                self.schedule_resend(entry, now_ms)
        return super().receive(message, now_ms, retrieval_hint)


# ---- Waiting messages ------------------------------------------------------------------------------------------------


@register_faults
class _Buffering(Channel):
    @fault(Channel.buffer, "RECV-08", "drops messages over an hour old if they have missing dependencies")
    def buffers_no_old_messages(
        self, message: Message, unmet: set[str], now_ms: int, retrieval_hint: bytes | None
    ) -> None:
        if (message.lamport_timestamp or 0) >= now_ms - 3_600_000:
            super().buffer(message, unmet, now_ms, retrieval_hint)

    @fault(Channel.buffer, "RECV-08", "drops messages with the Lamport timestamp 0 if they have missing dependencies")
    def buffers_no_timestamp_zero(
        self, message: Message, unmet: set[str], now_ms: int, retrieval_hint: bytes | None
    ) -> None:
        if message.lamport_timestamp:
            super().buffer(message, unmet, now_ms, retrieval_hint)

    @fault(Channel.unmet_dependencies, "RECV-07", "treats dependencies whose IDs are numbers as unmet")
    def waits_for_numbers(self, message: Message) -> set[str]:
        return super().unmet_dependencies(message) | {
            entry.message_id for entry in message.causal_history if entry.message_id.isdecimal()
        }

    @fault(
        Channel.deliver_ready,
        "RECV-08",
        "drops a waiting message if it delivers a message with the same content at the same time",
    )
    def releases_no_content_twice(self, effects: Effects) -> None:
        told = {event.content for event in effects.events if isinstance(event, Delivered)}
        while (entry := self.incoming.take_ready()) is not None:
            if entry.regular and entry.message.content not in told:
                told.add(entry.message.content or b"")
                self.deliver(entry.message, effects, entry.retrieval_hint)

    @fault(Channel.deliver_ready, "RECV-08", "never delivers waiting messages that have a repair request")
    def releases_no_requests(self, effects: Effects) -> None:
        while (entry := self.incoming.take_ready()) is not None:
            if entry.regular and not entry.message.repair_request:
                self.deliver(entry.message, effects, entry.retrieval_hint)


# ---- Resends ---------------------------------------------------------------------------------------------------------


class _SkipsResends(Channel):
    def is_skipped(self, entry: OutgoingEntry) -> bool:
        raise NotImplementedError

    def sweep_outgoing(self, now_ms: int, effects: Effects) -> None:
        for entry in self.outgoing.take_due(now_ms):
            if not self.is_skipped(entry):
                effects.broadcasts.append(self.rebroadcast(entry))
            self.schedule_resend(entry, now_ms)


@mutant("OUTSWEEP-01", "does not resend messages while a received message waits for a dependency")
class ResendsNothingWhileOthersWait(_SkipsResends):
    def is_skipped(self, entry: OutgoingEntry) -> bool:
        return len(self.incoming) > 0


@mutant("OUTSWEEP-01", "does not resend contents of fewer than four bytes")
class ResendsNoShortContents(_SkipsResends):
    def is_skipped(self, entry: OutgoingEntry) -> bool:
        return len(self.revision.wire.decode(entry.wire).content or b"") < 4


@mutant("OUTSWEEP-01", "does not resend contents of more than a thousand bytes")
class ResendsNoLongContents(_SkipsResends):
    def is_skipped(self, entry: OutgoingEntry) -> bool:
        return len(self.revision.wire.decode(entry.wire).content or b"") > 1_000


@mutant("OUTSWEEP-01", "does not resend messages whose retrieval hint it knows")
class ResendsNothingWithAHint(_SkipsResends):
    def is_skipped(self, entry: OutgoingEntry) -> bool:
        return any(e.message_id == entry.message_id and e.retrieval_hint is not None for e in self.log)


@mutant("OUTSWEEP-01", "does not resend messages while its outgoing repair request buffer has entries")
class ResendsNothingWhileOthersAreMissing(_SkipsResends):
    def is_skipped(self, entry: OutgoingEntry) -> bool:
        return self.repair is not None and len(self.repair.outgoing) > 0


@mutant("OUTSWEEP-01", "does not resend messages with repair requests")
class ResendsNoRequests(_SkipsResends):
    def is_skipped(self, entry: OutgoingEntry) -> bool:
        return bool(self.revision.wire.decode(entry.wire).repair_request)


@mutant("OUTSWEEP-01", "does not resend messages after it has given up a dependency")
class ResendsNothingAfterALoss(_SkipsResends):
    has_lost = False

    def give_up_lost(self, received_ms: int, effects: Effects) -> None:
        super().give_up_lost(received_ms, effects)
        self.has_lost |= any(isinstance(event, Lost) for event in effects.events)

    def is_skipped(self, entry: OutgoingEntry) -> bool:
        return self.has_lost


@mutant("OUTSWEEP-02", "does not resend possibly acknowledged messages that it has resent exactly once")
class ResendsNoMessagesWithOneCopy(_SkipsResends, CountsCopies):
    def is_skipped(self, entry: OutgoingEntry) -> bool:
        return entry.state is AckState.POSSIBLY_ACKNOWLEDGED and self.copies[entry.message_id] == 1


@mutant("OUTSWEEP-02", "does not resend possibly acknowledged messages that it has resent before")
class ResendsOnceAtMost(_SkipsResends, CountsCopies):
    def is_skipped(self, entry: OutgoingEntry) -> bool:
        return entry.state is AckState.POSSIBLY_ACKNOWLEDGED and self.copies[entry.message_id] > 0


@register_faults
class _Resending(Channel):
    def restart_after(self, kind: Kind, message: Message, now_ms: int) -> Effects:
        for entry in self.outgoing if message.kind is kind else ():
            self.schedule_resend(entry, now_ms)
        return super().receive(message, now_ms)

    @fault(
        Channel.sweep_repair_requests,
        "OUTSWEEP-01",
        "restarts the resend periods of its messages whenever it sends a response",
    )
    def responding_restarts_the_timers(self, now_ms: int, effects: Effects) -> None:
        before = len(effects.broadcasts)
        super().sweep_repair_requests(now_ms, effects)
        for entry in self.outgoing if len(effects.broadcasts) > before else ():
            self.schedule_resend(entry, now_ms)

    @fault(Channel.receive, "OUTSWEEP-01", "restarts the resend periods of its messages when a sync message arrives")
    def received_syncs_restart_the_timers(
        self, message: Message, now_ms: int, retrieval_hint: bytes | None = None
    ) -> Effects:
        return self.restart_after(Kind.SYNC, message, now_ms)

    @fault(
        Channel.receive, "OUTSWEEP-01", "restarts the resend periods of its messages when an ephemeral message arrives"
    )
    def received_ephemerals_restart_the_timers(
        self, message: Message, now_ms: int, retrieval_hint: bytes | None = None
    ) -> Effects:
        return self.restart_after(Kind.EPHEMERAL, message, now_ms)

    @fault(
        Channel.review_ack_status,
        "OUTSWEEP-01",
        "restarts the resend periods of its messages whenever one becomes acknowledged or possibly acknowledged",
    )
    def acknowledgements_restart_the_timers(self, message: Message, effects: Effects, now_ms: int) -> None:
        before = len(effects.events)
        super().review_ack_status(message, effects, now_ms)
        for entry in self.outgoing if len(effects.events) > before else ():
            self.schedule_resend(entry, now_ms)


# ---- Acknowledgements ------------------------------------------------------------------------------------------------


@mutant("ACK-02", "ignores filter hits of messages that it has resent")
class IgnoresHitsOfTheResent(CountsCopies):
    def count_filter_hit(self, entry: OutgoingEntry, effects: Effects, now_ms: int) -> None:
        if not self.copies[entry.message_id]:
            super().count_filter_hit(entry, effects, now_ms)


@mutant("ACK-01", "does not acknowledge messages whose sending time is in the future, because its clock stepped back")
class AcknowledgesNothingFromLater(Channel):
    _now_ms = 0

    def receive(self, message: Message, now_ms: int, retrieval_hint: bytes | None = None) -> Effects:
        self._now_ms = now_ms
        return super().receive(message, now_ms, retrieval_hint)

    def acknowledge(self, message_id: str, effects: Effects) -> None:
        sent_ms = {e.message_id: e.due_ms - self.config.resend_unacknowledged_ms for e in self.outgoing}
        if sent_ms.get(message_id, 0) <= self._now_ms:
            super().acknowledge(message_id, effects)


@register_faults
class _Busy(Channel):
    """Faults that appear only while messages are missing, unacknowledged or possibly acknowledged."""

    @fault(Channel.acknowledge, "ACK-01", "acknowledges nothing while its outgoing repair request buffer has entries")
    def acknowledges_nothing_while_others_are_missing(self, message_id: str, effects: Effects) -> None:
        if self.repair is None or not len(self.repair.outgoing):
            super().acknowledge(message_id, effects)

    @fault(Channel.with_repair_request, "R-SEND-01", "requests nothing while a message is possibly acknowledged")
    def requests_nothing_while_possibly_acknowledged(self, message: Message, now_ms: int) -> Message:
        possibly = any(entry.state is AckState.POSSIBLY_ACKNOWLEDGED for entry in self.outgoing)
        return message if possibly else super().with_repair_request(message, now_ms)

    @fault(Channel.receive, "R-RECV-03", "requests no dependency of a message that names an unacknowledged own message")
    def requests_nothing_named_beside_own_messages(
        self, message: Message, now_ms: int, retrieval_hint: bytes | None = None
    ) -> Effects:
        names_own = any(entry.message_id in self.outgoing for entry in message.causal_history)
        if self.repair is None or not names_own:
            return super().receive(message, now_ms, retrieval_hint)
        requests = self.repair.outgoing
        before = {item.entry.message_id for item in requests}
        effects = super().receive(message, now_ms, retrieval_hint)
        for message_id in {item.entry.message_id for item in requests} - before:
            requests.remove(message_id)
        return effects

    @fault(Channel.receive, "R-STATE-08", "ignores requests for own messages that are possibly acknowledged")
    def responds_with_nothing_possibly_acknowledged(
        self, message: Message, now_ms: int, retrieval_hint: bytes | None = None
    ) -> Effects:
        possibly = {e.message_id for e in self.outgoing if e.state is AckState.POSSIBLY_ACKNOWLEDGED}
        heeded = tuple(entry for entry in message.repair_request if entry.message_id not in possibly)
        return super().receive(replace(message, repair_request=heeded), now_ms, retrieval_hint)


# ---- Periodic sync messages ------------------------------------------------------------------------------------------


@register_faults
class _Syncing(Channel):
    @fault(Channel.sync_is_due, "SYNC-01", "sends no periodic sync message while its outgoing buffer has messages")
    def syncs_only_without_unacknowledged(self, now_ms: int) -> bool:
        return not len(self.outgoing) and super().sync_is_due(now_ms)

    @fault(Channel.sync_is_due, "SYNC-01", "sends no periodic sync message while a response is pending")
    def syncs_only_without_pending_responses(self, now_ms: int) -> bool:
        pending = self.repair is not None and len(self.repair.incoming) > 0
        return not pending and super().sync_is_due(now_ms)

    @fault(Channel.sync_is_due, "SYNC-01", "sends no periodic sync message while a message waits for dependencies")
    def syncs_only_without_waiting(self, now_ms: int) -> bool:
        return not len(self.incoming) and super().sync_is_due(now_ms)


# ---- Repairs ---------------------------------------------------------------------------------------------------------


@mutant("R-FIELDS-02", "requests messages with the retrieval hint of the message that arrived last")
class RequestsWithTheLatestHint(Channel):
    _latest: bytes | None = None

    def receive(self, message: Message, now_ms: int, retrieval_hint: bytes | None = None) -> Effects:
        self._latest = retrieval_hint or self._latest
        return super().receive(message, now_ms, retrieval_hint)

    def with_repair_request(self, message: Message, now_ms: int) -> Message:
        asking = super().with_repair_request(message, now_ms)
        hinted = [replace(e, retrieval_hint=self._latest or e.retrieval_hint) for e in asking.repair_request]
        return replace(asking, repair_request=tuple(hinted))


@register_faults
class _Answering(Repair):
    _largest_ms = 0
    _stepped_back = False

    @fault(Repair.accept_request, "R-RECV-08", "ignores requests for messages with the Lamport timestamp 0")
    def answers_no_request_for_timestamp_zero(self, entry: HistoryEntry, now_ms: int) -> None:
        message = self.cache.get(entry.message_id)
        if message is None or message.lamport_timestamp:
            super().accept_request(entry, now_ms)

    @fault(Repair.accept_request, "R-RECV-08", "ignores all repair requests after its clock has stepped back")
    def answers_nothing_after_a_step_back(self, entry: HistoryEntry, now_ms: int) -> None:
        self._stepped_back |= now_ms < self._largest_ms
        self._largest_ms = max(self._largest_ms, now_ms)
        if not self._stepped_back:
            super().accept_request(entry, now_ms)

    @fault(Repair.on_receive, "R-RECV-08", "ignores the repair requests in messages that were missing")
    def answers_nothing_that_was_missing(self, message: Message, *, has_unique_id: bool, now_ms: int) -> None:
        if has_unique_id and self.outgoing.get(message.message_id) is not None:
            message = replace(message, repair_request=())
        super().on_receive(message, has_unique_id=has_unique_id, now_ms=now_ms)

    @fault(Repair.track, "R-RECV-03", "requests no messages of known senders for which it is not in the response group")
    def requests_only_of_its_group(self, entry: HistoryEntry, now_ms: int) -> None:
        if not entry.sender_id or self.is_eligible_responder(entry):
            super().track(entry, now_ms)

    @fault(
        Repair.take_responses,
        "R-SWEEP-05",
        "removes dependencies that it has not received from the causal histories of its responses",
    )
    def responds_without_lost_dependencies(self, now_ms: int) -> list[Message]:
        def has_arrived(entry: HistoryEntry) -> bool:
            return self.has_arrived(entry.message_id)

        responses = super().take_responses(now_ms)
        return [replace(m, causal_history=tuple(filter(has_arrived, m.causal_history))) for m in responses]


# ---- Shapes of messages ----------------------------------------------------------------------------------------------


def _is_old(message: Message, now_ms: int) -> bool:
    return (message.lamport_timestamp or 0) < now_ms - 3_600_000


@register_faults
class _OfSomeShapes(Channel):
    @fault(Channel.review_ack_status, "ACK-01", "takes no acknowledgements from messages that are over an hour old")
    def old_messages_acknowledge_nothing(self, message: Message, effects: Effects, now_ms: int) -> None:
        if not _is_old(message, now_ms):
            super().review_ack_status(message, effects, now_ms)

    @fault(
        Channel.review_ack_status,
        "ACK-01",
        "takes no acknowledgements from messages with over a thousand bytes of content",
    )
    def long_messages_acknowledge_nothing(self, message: Message, effects: Effects, now_ms: int) -> None:
        if len(message.content or b"") <= 1_000:
            super().review_ack_status(message, effects, now_ms)

    @fault(Channel.receive, "SYNC-12", "ignores sync messages that are more than a minute ahead of its clock")
    def ignores_syncs_ahead(self, message: Message, now_ms: int, retrieval_hint: bytes | None = None) -> Effects:
        if message.kind is Kind.SYNC and (message.lamport_timestamp or 0) > now_ms + 60_000:
            return Effects()
        return super().receive(message, now_ms, retrieval_hint)

    @fault(Channel.receive, "SYNC-12", "ignores sync messages that are more than an hour old")
    def ignores_old_syncs(self, message: Message, now_ms: int, retrieval_hint: bytes | None = None) -> Effects:
        if message.kind is Kind.SYNC and _is_old(message, now_ms):
            return Effects()
        return super().receive(message, now_ms, retrieval_hint)

    @fault(Channel.receive, "SYNC-12", "ignores sync messages with more than eight entries in the causal history")
    def ignores_syncs_with_long_histories(
        self, message: Message, now_ms: int, retrieval_hint: bytes | None = None
    ) -> Effects:
        if message.kind is Kind.SYNC and len(message.causal_history) > 8:
            return Effects()
        return super().receive(message, now_ms, retrieval_hint)

    @fault(Channel.receive_ephemeral, "EPHEMERAL-04", "ignores ephemeral messages with more than 512 bytes of content")
    def ignores_long_ephemerals(self, message: Message, effects: Effects) -> None:
        if len(message.content or b"") <= 512:
            super().receive_ephemeral(message, effects)

    @fault(Channel.count_filter_hit, "ACK-02", "does not treat messages over an hour old as possibly acknowledged")
    def old_messages_are_never_possibly_acknowledged(self, entry: OutgoingEntry, effects: Effects, now_ms: int) -> None:
        if not _is_old(self.revision.wire.decode(entry.wire), now_ms):
            super().count_filter_hit(entry, effects, now_ms)

    @fault(
        Channel.review_causal_history,
        "ACK-01",
        "once its log has five messages, ignores causal histories of senders of which it has logged no message",
    )
    def newcomers_acknowledge_nothing(self, message: Message, effects: Effects) -> None:
        if len(self.log) < 5 or any(entry.sender_id == message.sender_id for entry in self.log):
            super().review_causal_history(message, effects)


@mutant(
    "ACK-02",
    "after a filter hit that acknowledges a message, ignores the next hit of the same filter",
    possible_ack_threshold=2,
)
class SkipsTheNextFilterHit(Channel):
    _skips = False

    def review_bloom_filter(self, message: Message, effects: Effects, now_ms: int) -> None:
        self._skips = False
        super().review_bloom_filter(message, effects, now_ms)

    def count_filter_hit(self, entry: OutgoingEntry, effects: Effects, now_ms: int) -> None:
        if self._skips:
            self._skips = False
            return
        super().count_filter_hit(entry, effects, now_ms)
        self._skips = entry.message_id not in self.outgoing


@register_faults
class _RepairsOfSomeShapes(Repair):
    @fault(
        Repair.on_receive,
        "R-RECV-08",
        "if it has cached messages, ignores repair requests of senders of which it has cached no message",
    )
    def answers_no_newcomers(self, message: Message, *, has_unique_id: bool, now_ms: int) -> None:
        known = {cached.sender_id for cached in self.cache.values()}
        if known and message.sender_id not in known:
            message = replace(message, repair_request=())
        super().on_receive(message, has_unique_id=has_unique_id, now_ms=now_ms)

    @fault(
        Repair.on_receive,
        "R-RECV-13",
        "ignores the repair requests of a sync message whose causal history names a message of the participant",
    )
    def answers_no_syncs_that_acknowledge(self, message: Message, *, has_unique_id: bool, now_ms: int) -> None:
        own = (self.cache.get(entry.message_id) for entry in message.causal_history)
        if message.kind is Kind.SYNC and any(one and one.sender_id == self.participant_id for one in own):
            message = replace(message, repair_request=())
        super().on_receive(message, has_unique_id=has_unique_id, now_ms=now_ms)

    @fault(Repair.track_missing, "R-RECV-03", "requests no dependencies of messages that are over an hour old")
    def requests_nothing_that_old_messages_name(self, message: Message, now_ms: int) -> None:
        if not _is_old(message, now_ms):
            super().track_missing(message, now_ms)

    @fault(
        Repair.track_missing, "R-RECV-03", "requests no dependencies of messages with fewer than four bytes of content"
    )
    def requests_nothing_that_short_messages_name(self, message: Message, now_ms: int) -> None:
        if message.kind is Kind.SYNC or len(message.content or b"") >= 4:
            super().track_missing(message, now_ms)

    @fault(Repair.on_receive, "R-RECV-08", "ignores the repair requests in messages that are over an hour old")
    def answers_no_old_messages(self, message: Message, *, has_unique_id: bool, now_ms: int) -> None:
        if _is_old(message, now_ms):
            message = replace(message, repair_request=())
        super().on_receive(message, has_unique_id=has_unique_id, now_ms=now_ms)

    @fault(
        Repair.on_receive, "R-RECV-08", "ignores the repair requests of messages with over a thousand bytes of content"
    )
    def answers_no_long_messages(self, message: Message, *, has_unique_id: bool, now_ms: int) -> None:
        if len(message.content or b"") > 1_000:
            message = replace(message, repair_request=())
        super().on_receive(message, has_unique_id=has_unique_id, now_ms=now_ms)

    @fault(Repair.accept_request, "R-RECV-08", "ignores requests for messages with fewer than four bytes of content")
    def answers_no_request_for_short_messages(self, entry: HistoryEntry, now_ms: int) -> None:
        message = self.cache.get(entry.message_id)
        if message is None or len(message.content or b"") >= 4:
            super().accept_request(entry, now_ms)

"""Faults in handling messages that wait for dependencies: in the middle of a chain, with duplicates, and after
delivery."""

from __future__ import annotations

from ...channel import Channel
from ...effects import Acknowledged, Effects
from ...message import Kind, Message
from ..registry import fault, register_faults


@register_faults
class _WaitingMessages(Channel):
    @fault(
        Channel.receive,
        "INSWEEP-04",
        "when a duplicate of a waiting message arrives, treats all dependencies of the message as unmet",
    )
    def copies_reset_met_dependencies(
        self, message: Message, now_ms: int, retrieval_hint: bytes | None = None
    ) -> Effects:
        if not self.is_own(message) and message.message_id in self.incoming:
            for entry in self.incoming:
                if entry.message.message_id == message.message_id:
                    entry.unmet.update(named.message_id for named in message.causal_history)
        return super().receive(message, now_ms, retrieval_hint)

    @fault(
        Channel.receive,
        "RECV-05",
        "when a message that met a dependency arrives again, treats another dependency as met",
    )
    def copies_count_as_dependencies(
        self, message: Message, now_ms: int, retrieval_hint: bytes | None = None
    ) -> Effects:
        if not self.is_own(message) and message.kind is Kind.CONTENT and message.message_id in self.log:
            for entry in list(self.incoming):
                if entry.unmet and any(
                    named.message_id == message.message_id for named in entry.message.causal_history
                ):
                    self.incoming.mark_met(min(entry.unmet))
        effects = super().receive(message, now_ms, retrieval_hint)
        self.deliver_ready(effects)
        return effects

    @fault(Channel.receive, "RECV-08", "drops a waiting message when a duplicate of it arrives")
    def copies_drop_the_waiting(self, message: Message, now_ms: int, retrieval_hint: bytes | None = None) -> Effects:
        if not self.is_own(message) and message.kind is Kind.CONTENT and message.message_id in self.incoming:
            self.incoming._entries.pop(message.message_id)
            return Effects()
        return super().receive(message, now_ms, retrieval_hint)

    @fault(Channel.receive, "RECV-08", "drops a waiting message when a sync message with its ID arrives")
    def syncs_drop_the_waiting(self, message: Message, now_ms: int, retrieval_hint: bytes | None = None) -> Effects:
        if message.kind is Kind.SYNC:
            self.incoming._entries.pop(message.message_id, None)
        return super().receive(message, now_ms, retrieval_hint)

    @fault(
        Channel.deliver_ready,
        "INSWEEP-04",
        "delivers messages that wait for an arriving message, but drops messages that wait for the delivered messages",
    )
    def never_delivers_the_second_level(self, effects: Effects) -> None:
        ready = []
        while (entry := self.incoming.take_ready()) is not None:
            ready.append(entry)
        for entry in ready:
            if entry.regular:
                self.deliver(entry.message, effects, entry.retrieval_hint)
        while self.incoming.take_ready() is not None:
            pass

    @fault(Channel.deliver_ready, "INSWEEP-04", "delivers only one waiting message at each arrival and in each sweep")
    def delivers_one_a_sweep(self, effects: Effects) -> None:
        if (entry := self.incoming.take_ready()) is not None and entry.regular:
            self.deliver(entry.message, effects, entry.retrieval_hint)

    @fault(
        Channel.deliver_ready,
        "INSWEEP-04",
        "delivers two levels of a chain of waiting messages, and drops the later levels",
    )
    def drops_the_third_level(self, effects: Effects) -> None:
        level = {entry.message.message_id for entry in self.incoming if not entry.unmet}
        delivered = 0
        while (entry := self.incoming.take_ready()) is not None:
            delivered += 1
            if entry.regular and (delivered < 3 or entry.message.message_id in level):
                self.deliver(entry.message, effects, entry.retrieval_hint)

    @fault(Channel.send, "RECV-08", "forgets waiting messages when it sends while two own messages are unacknowledged")
    def sending_empties_the_incoming_buffer(
        self, content: bytes, now_ms: int, message_id: str | None = None, retrieval_hint: bytes | None = None
    ) -> Effects:
        effects = super().send(content, now_ms, message_id, retrieval_hint)
        if len(self.outgoing) > 2:
            self.incoming.take_older(now_ms - 1)
        return effects

    @fault(
        Channel.deliver_ready,
        "ACK-05",
        "signals the acknowledgements in a waiting message again when it delivers the message",
    )
    def reviews_again_on_delivery(self, effects: Effects) -> None:
        while (entry := self.incoming.take_ready()) is not None:
            if entry.regular:
                self.deliver(entry.message, effects, entry.retrieval_hint)
                own = [e for e in entry.message.causal_history if e.message_id in self.log]
                for named in own:
                    if any(x.message_id == named.message_id and x.sender_id == self.participant_id for x in self.log):
                        effects.events.append(Acknowledged(self.channel_id, named.message_id))

    @fault(
        Channel.insert_into_log,
        "MSG-11",
        "gives a message that arrived without a retrieval hint the hint of one of its dependencies",
    )
    def hints_of_dependencies(self, message: Message, retrieval_hint: bytes | None) -> None:
        hints = (entry.retrieval_hint for entry in message.causal_history)
        found = next((hint for hint in hints if hint is not None), None)
        super().insert_into_log(message, found if retrieval_hint is None else retrieval_hint)

"""Faults that reject or silently drop valid messages, and so violate the requirements that these messages test."""

from __future__ import annotations

from dataclasses import replace

from ...channel import Channel
from ...effects import Effects
from ...errors import MalformedMessageError
from ...message import Kind, Message
from ...participant import Participant
from ...wire_fields import join, split
from ..registry import add_again, fault, mutant, register_faults

_LONG = 20
"""Length of a causal history that every implementation must accept."""


_PRIVATE = {1: 7, 2: 1, 3: 4, 10: 2, 11: 3, 12: 6, 13: 13, 20: 5}
"""Field numbers of nim-sds, by field numbers of the specification."""


@register_faults
class _Refusing(Channel):
    def refuse_if(self, message: Message, now_ms: int, retrieval_hint: bytes | None, refused: bool) -> Effects:
        if refused and not self.is_own(message):
            raise MalformedMessageError(f"this {message.kind.value} message is not accepted")
        return super().receive(message, now_ms, retrieval_hint)

    def drop_if(self, message: Message, now_ms: int, retrieval_hint: bytes | None, dropped: bool) -> Effects:
        return Effects() if dropped else super().receive(message, now_ms, retrieval_hint)

    @fault(Channel.receive, "SYNC-12", "rejects every sync message")
    def refuses_syncs(self, message: Message, now_ms: int, retrieval_hint: bytes | None = None) -> Effects:
        return self.refuse_if(message, now_ms, retrieval_hint, message.kind is Kind.SYNC)

    @fault(Channel.receive, "SYNC-12", "drops every sync message")
    def drops_syncs(self, message: Message, now_ms: int, retrieval_hint: bytes | None = None) -> Effects:
        return self.drop_if(message, now_ms, retrieval_hint, message.kind is Kind.SYNC)

    @fault(Channel.receive, "SYNC-12", "rejects sync messages whose bloom filter it cannot read")
    def refuses_syncs_of_others(self, message: Message, now_ms: int, retrieval_hint: bytes | None = None) -> Effects:
        foreign = message.bloom_filter is not None and self.read_filter(message) is None
        return self.refuse_if(message, now_ms, retrieval_hint, message.kind is Kind.SYNC and foreign)

    @fault(Channel.receive, "ACK-07", "rejects sync messages with unmet dependencies")
    def refuses_syncs_with_gaps(self, message: Message, now_ms: int, retrieval_hint: bytes | None = None) -> Effects:
        gap = message.kind is Kind.SYNC and bool(self.unmet_dependencies(message))
        return self.refuse_if(message, now_ms, retrieval_hint, gap)

    @fault(Channel.receive, "SYNC-12", "if it supports SDS-R, rejects sync messages with unmet dependencies")
    def refuses_what_would_be_asked_for(
        self, message: Message, now_ms: int, retrieval_hint: bytes | None = None
    ) -> Effects:
        gap = message.kind is Kind.SYNC and self.repair is not None and bool(self.unmet_dependencies(message))
        return self.refuse_if(message, now_ms, retrieval_hint, gap)

    @fault(Channel.receive, "RECV-08", "rejects messages with unmet dependencies")
    def refuses_the_unmet(self, message: Message, now_ms: int, retrieval_hint: bytes | None = None) -> Effects:
        unmet = message.kind is Kind.CONTENT and bool(self.unmet_dependencies(message))
        return self.refuse_if(message, now_ms, retrieval_hint, unmet)

    @fault(Channel.receive, "RECV-08", "drops messages with unmet dependencies before it processes them")
    def drops_the_unmet_unprocessed(
        self, message: Message, now_ms: int, retrieval_hint: bytes | None = None
    ) -> Effects:
        unmet = message.kind is Kind.CONTENT and bool(self.unmet_dependencies(message))
        return self.drop_if(message, now_ms, retrieval_hint, unmet)

    @fault(Channel.receive, "EPHEMERAL-04", "drops every ephemeral message")
    def drops_all_ephemerals(self, message: Message, now_ms: int, retrieval_hint: bytes | None = None) -> Effects:
        return self.drop_if(message, now_ms, retrieval_hint, message.kind is Kind.EPHEMERAL)

    @fault(Channel.receive, "RECV-07", "rejects causal histories of more than twenty entries")
    def refuses_long_histories(self, message: Message, now_ms: int, retrieval_hint: bytes | None = None) -> Effects:
        return self.refuse_if(message, now_ms, retrieval_hint, len(message.causal_history) > _LONG)

    @fault(Channel.receive, "RECV-07", "drops messages with causal histories of more than twenty entries")
    def drops_long_histories(self, message: Message, now_ms: int, retrieval_hint: bytes | None = None) -> Effects:
        return self.drop_if(message, now_ms, retrieval_hint, len(message.causal_history) > _LONG)

    @fault(Channel.receive, "RECV-07", "rejects messages without a bloom filter")
    def refuses_the_filterless(self, message: Message, now_ms: int, retrieval_hint: bytes | None = None) -> Effects:
        filterless = message.kind is Kind.CONTENT and message.bloom_filter is None
        return self.refuse_if(message, now_ms, retrieval_hint, filterless)

    @fault(Channel.receive, "R-STATE-05", "rejects duplicates of logged or waiting messages before it processes them")
    def refuses_copies(self, message: Message, now_ms: int, retrieval_hint: bytes | None = None) -> Effects:
        known = message.kind is Kind.CONTENT and self.is_duplicate(message)
        return self.refuse_if(message, now_ms, retrieval_hint, known)

    @fault(Channel.receive, "R-STATE-05", "drops duplicates of logged or waiting messages before it processes them")
    def drops_copies(self, message: Message, now_ms: int, retrieval_hint: bytes | None = None) -> Effects:
        known = message.kind is Kind.CONTENT and self.is_duplicate(message)
        return self.drop_if(message, now_ms, retrieval_hint, known)

    @fault(Channel.receive, "R-RECV-13", "rejects sync messages with a repair request")
    def refuses_asking_syncs(self, message: Message, now_ms: int, retrieval_hint: bytes | None = None) -> Effects:
        asks = message.kind is Kind.SYNC and bool(message.repair_request)
        return self.refuse_if(message, now_ms, retrieval_hint, asks)

    @fault(Channel.receive, "R-RECV-13", "rejects messages with a repair request")
    def refuses_all_requests(self, message: Message, now_ms: int, retrieval_hint: bytes | None = None) -> Effects:
        return self.refuse_if(message, now_ms, retrieval_hint, bool(message.repair_request))

    @fault(Channel.receive, "R-RECV-08", "drops messages with a repair request")
    def drops_requests(self, message: Message, now_ms: int, retrieval_hint: bytes | None = None) -> Effects:
        return self.drop_if(message, now_ms, retrieval_hint, bool(message.repair_request))


@mutant("RECV-07", "rejects all messages of others")
class RefusesEverything(Participant):
    def receive(self, wire: bytes, now_ms: int, retrieval_hint: bytes | None = None) -> Effects:
        raise MalformedMessageError("this participant rejects all messages of others")


@mutant("RECV-07", "drops all messages of others")
class DropsEverything(Participant):
    def receive(self, wire: bytes, now_ms: int, retrieval_hint: bytes | None = None) -> Effects:
        return Effects()


def _renumbered(wire: bytes, numbers: dict[int, int]) -> bytes:
    return join(replace(field, number=numbers.get(field.number, field.number)) for field in split(wire))


class _PrivateLayout(Channel):
    def encode(self, message: Message) -> bytes:
        return _renumbered(super().encode(message), _PRIVATE)


@mutant("MSG-01", "uses a private wire layout and declares no dialect")
class UndeclaredLayout(Participant):
    channel_class = _PrivateLayout

    def receive(self, wire: bytes, now_ms: int, retrieval_hint: bytes | None = None) -> Effects:
        text = _renumbered(wire, {private: number for number, private in _PRIVATE.items()})
        return super().receive(text, now_ms, retrieval_hint)


add_again(
    "refuses-ephemerals", "refuses-all-ephemerals", "rejects every ephemeral message", requirement="SDS-EPHEMERAL-04"
)

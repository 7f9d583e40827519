"""Faults with empty fields: IDs and retrieval hints of dependencies, and the sender of a message."""

from __future__ import annotations

from dataclasses import replace

from ...channel import Channel
from ...effects import Effects
from ...errors import MalformedMessageError
from ...message import Kind, Message
from ..registry import fault, register_faults


def _without_empty_hints(message: Message) -> Message:
    """Return the message without the entries that have an empty retrieval hint."""
    return replace(message, causal_history=tuple(e for e in message.causal_history if e.retrieval_hint != b""))


@register_faults
class _Hints(Channel):
    @fault(Channel.unmet_dependencies, "RECV-05", "overlooks dependencies with an empty ID")
    def empty_dependencies_are_met(self, message: Message) -> set[str]:
        return super().unmet_dependencies(message) - {""}

    @fault(Channel.unmet_dependencies, "RECV-05", "overlooks dependencies with an empty retrieval hint")
    def empty_hints_depend_on_nothing(self, message: Message) -> set[str]:
        return super().unmet_dependencies(_without_empty_hints(message))

    @fault(
        Channel.review_causal_history,
        "ACK-01",
        "does not accept acknowledgements from entries with an empty retrieval hint",
    )
    def empty_hints_do_not_acknowledge(self, message: Message, effects: Effects) -> None:
        super().review_causal_history(_without_empty_hints(message), effects)

    @fault(
        Channel.refuse_unusable,
        "RECV-07",
        "rejects content messages that name a dependency with an empty retrieval hint",
    )
    def refuses_empty_hints(self, message: Message, kind: Kind, now_ms: int) -> None:
        super().refuse_unusable(message, kind, now_ms)
        if kind is Kind.CONTENT and _without_empty_hints(message) != message:
            raise MalformedMessageError("a retrieval hint is empty")

    @fault(Channel.insert_into_log, "MSG-11", "keeps only the first 64 bytes of a retrieval hint")
    def cuts_hints(self, message: Message, retrieval_hint: bytes | None) -> None:
        super().insert_into_log(message, retrieval_hint[:64] if retrieval_hint is not None else None)

    @fault(
        Channel.insert_into_log,
        "SEND-08",
        "replaces an empty retrieval hint with the last retrieval hint that it received",
    )
    def repeats_the_last_hint(self, message: Message, retrieval_hint: bytes | None) -> None:
        if retrieval_hint:
            self._hint = retrieval_hint
        super().insert_into_log(message, self._hint if retrieval_hint == b"" else retrieval_hint)

    _hint: bytes | None = None

    @fault(Channel.receive, "RECV-07", "rejects messages that arrive with an empty retrieval hint")
    def refuses_hints_from_the_transport(
        self, message: Message, now_ms: int, retrieval_hint: bytes | None = None
    ) -> Effects:
        if retrieval_hint == b"":
            raise MalformedMessageError("a retrieval hint is empty")
        return super().receive(message, now_ms, retrieval_hint)


@register_faults
class _Senders(Channel):
    @fault(Channel.is_own, "RECV-07", "treats a message without a sender as its own")
    def treats_no_sender_as_itself(self, message: Message) -> bool:
        return not message.sender_id or super().is_own(message)

    @fault(Channel.is_duplicate, "RECV-07", "treats all messages without a sender as duplicates of one message")
    def treats_all_without_sender_as_copies(self, message: Message) -> bool:
        again = not message.sender_id and any(not entry.sender_id for entry in self.log)
        return again or super().is_duplicate(message)

    @fault(Channel.insert_into_log, "STATE-10", "does not log messages without a sender")
    def does_not_log_without_sender(self, message: Message, retrieval_hint: bytes | None) -> None:
        if message.sender_id:
            super().insert_into_log(message, retrieval_hint)

    @fault(Channel.unmet_dependencies, "RECV-07", "keeps waiting for a message that arrived without a sender")
    def without_sender_meets_no_dependency(self, message: Message) -> set[str]:
        nobody = {entry.message_id for entry in self.log if not entry.sender_id}
        named = {entry.message_id for entry in message.causal_history}
        return super().unmet_dependencies(message) | (nobody & named)

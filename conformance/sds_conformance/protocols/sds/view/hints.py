"""Every retrieval hint that a participant was given, by message ID."""

from __future__ import annotations

from sds_harness.sds.trace import Step
from sds_reference import Message

Hints = dict[str, set[bytes]]


def note_own(hints: Hints, step: Step) -> None:
    """The hint that a message of its own was sent with."""
    if step.command == "send" and step.request.send.HasField("retrieval_hint") and step.answer == "effects":
        message_id = step.reply.effects.message_id if step.reply else ""
        message_id = message_id or (step.new.message_id if step.new is not None else "")
        hints.setdefault(message_id, set()).add(step.request.send.retrieval_hint)


def note_received(hints: Hints, step: Step, message: Message) -> None:
    """The hint that a message came with, and those in it."""
    if step.request.receive.HasField("retrieval_hint"):
        hints.setdefault(message.message_id, set()).add(step.request.receive.retrieval_hint)
    for entry in message.causal_history:
        if entry.retrieval_hint is not None:
            hints.setdefault(entry.message_id, set()).add(entry.retrieval_hint)

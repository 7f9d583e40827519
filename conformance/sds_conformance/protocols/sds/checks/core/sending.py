"""Sending: ordinary content is accepted and broadcast."""

from __future__ import annotations

from collections.abc import Iterator

from sds_harness.sds.trace import Step

from .....judging.judgement import Observation, judged, violated
from .....judging.once import once
from ...register import check
from ...view.channel_view import ChannelView
from ...view.declared_limits import limit_in_force
from ...view.odd_messages import LARGEST_CONTENT, LARGEST_ID, LARGEST_LAMPORT, ROOM_AFTER


@check("SDS-SEND-10")
def ordinary_sends_are_broadcast(view: ChannelView) -> Iterator[Observation]:
    """Ordinary content is taken and broadcast, under an ordinary ID where one is given."""
    for step in ordinary_sends(view, "send"):
        if step.answer == "rejected" and _hardly_anything_follows(view, step):
            continue  # to refuse is legal after a timestamp beyond 2^53+10, or near the end of the range (AMB-14)
        yield taken(step)


def ordinary_sends(view: ChannelView, command: str) -> Iterator[Step]:
    """Where content is to be sent that nobody has reason to refuse."""
    declared = limit_in_force(view.trace, "content_bytes")
    largest = LARGEST_CONTENT if declared is None else min(declared, LARGEST_CONTENT)
    for step in view.trace.of(view.party.name):
        if step.command == command and step.channel_id == view.channel_id and step.reply is not None:
            request = getattr(step.request, command)
            if 0 < len(request.content) <= largest and _may_be_used(view, request.message_id, step):
                yield step


def taken(step: Step) -> Observation:
    """Is what is to be sent taken and broadcast?"""
    if step.answer == "rejected":
        assert step.reply is not None
        return violated(step, "refused", "ordinary content to be sent", f"a refusal: {step.reply.rejected.reason[:80]}")
    return judged(step, "not-broadcast", bool(step.broadcasts), "ordinary content to be broadcast", "no broadcast")


def _may_be_used(view: ChannelView, message_id: str, step: Step) -> bool:
    """Is it an ID that nobody has used or named, of characters that nobody minds, or none at all?"""
    if not message_id:
        return True
    plain = message_id.isascii() and message_id.isprintable() and len(message_id) <= LARGEST_ID
    return plain and _known_since(view).get(message_id, step.index) >= step.index


@once
def _known_since(view: ChannelView) -> dict[str, int]:
    """By ID: the index of the first step in which a message has or names it."""
    since: dict[str, int] = {}
    said = [(sent.step.index, sent.message) for sent in view.sent]
    said += [(received.step.index, received.message) for received in view.received]
    for index, message in said:
        for message_id in (message.message_id, *(entry.message_id for entry in message.causal_history)):
            since[message_id] = min(index, since.get(message_id, index))
    return since


def _hardly_anything_follows(view: ChannelView, step: Step) -> bool:
    """Had the participant received a timestamp which many cannot count on from?"""
    before = (r for r in view.received if r.step.index < step.index)
    most = min(LARGEST_LAMPORT, view.revision.wire.max_lamport - ROOM_AFTER)
    return any((r.message.lamport_timestamp or 0) > most for r in before)

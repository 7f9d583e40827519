"""Positions on acknowledgements: which messages are evidence that an own message was received."""

from __future__ import annotations

from collections.abc import Iterator

from sds_harness.sds.trace import Step
from sds_proto.testee.v1 import testee_pb2 as pb

from ..register import shows
from ..view.channel_view import ChannelView
from ..view.responder import response_periods

FEW = 4
"""Number of filters with the same own message after which a missing acknowledgement shows the way "not-by-four"."""


@shows("AMB-21", pb.CAPABILITY_ACKNOWLEDGED, of="own-came")
def own_messages_that_come_back(view: ChannelView) -> Iterator[tuple[Step, str]]:
    """Show whether the causal history of an own message that the network returned acknowledges other own messages."""
    for received in view.received + view.refused:
        if not received.own:
            continue
        acks = [ack for ack in view.acks if ack.step is received.step] if received.step.events else []
        if acks:
            yield received.step, "possibly" if all(ack.possibly for ack in acks) else "acknowledged"
            continue
        named = (entry.message_id for entry in received.message.causal_history)
        if any(
            view.own(i) and all(a.step.index > received.step.index for a in view.ack_evidence(i).acks) for i in named
        ):
            yield received.step, "ignores"


@shows("AMB-23", of="again-came received")
def copies_of_the_known(view: ChannelView) -> Iterator[tuple[Step, str]]:
    """Show whether a copy of a known message has effects: acknowledgement signals, or answers to its repair requests.

    Only the first repair request for a stored message is a proof. It is answered, or not answered within the time
    limits.
    """
    for received in view.received:
        known = received.duplicate and not received.own and received.step.events
        if known and any(ack.step is received.step for ack in view.acks):
            yield received.step, "acknowledgements"
    for period in response_periods(view):
        if period.request.duplicate and period.due and period.answer is not None and period.is_no_resend:
            yield period.answer, "requests"
        elif period.request.duplicate and period.due and period.is_never_answered:
            yield period.since, "no-requests"


@shows("AMB-57", pb.CAPABILITY_ACKNOWLEDGED, of="sent")
def filters_that_acknowledge(view: ChannelView) -> Iterator[tuple[Step, str]]:
    """Show how many bloom filters acknowledge an own message that no causal history names.

    The way "not-by-four" is shown if four filters did not acknowledge the message. A participant whose scenario
    configures the number of filters shows nothing.
    """
    configured = view.party.asked.HasField("possible_ack_threshold")
    for sent in view.sent if not configured else ():
        message_id = sent.message.message_id
        evidence = view.ack_evidence(message_id)
        if sent.repeat or message_id in view.possible_evidence or not evidence.mentions:
            continue
        sure = {ack.step.index for ack in evidence.acks if not ack.possibly}
        for mention in evidence.mentions:
            if mention.in_history:
                break
            step = mention.received.step
            if step.index in sure:
                if mention.hits > 1:
                    yield step, {2: "two", 3: "three"}.get(mention.hits, "more")
                break
            if mention.hits == FEW and not any(index < step.index for index in sure):
                yield step, "not-by-four"
                break


@shows("AMB-C15", of="acks outgoing-shown")
def what_is_acknowledged(view: ChannelView) -> Iterator[tuple[Step, str]]:
    """Show whether an acknowledged message stays in the outgoing buffer, marked as acknowledged, or is removed."""
    states = view.states_showing("outgoing")
    seen: set[str] = set()
    for ack in view.acks if states else ():
        if ack.possibly or not ack.outstanding or ack.message_id in seen:
            continue
        seen.add(ack.message_id)
        shown = next((observed for observed in states if observed.step.index > ack.step.index), None)
        if shown is None:
            continue
        entry = next((e for e in shown.state.outgoing.entries if e.message_id == ack.message_id), None)
        if entry is None:
            yield shown.step, "gone"
        elif entry.state == pb.ACK_STATE_ACKNOWLEDGED:
            yield shown.step, "marked"

"""Section EPHEMERAL: "Ephemeral Messages"."""

from __future__ import annotations

from collections.abc import Iterator

from sds_proto.testee.v1 import testee_pb2 as pb
from sds_reference import Kind

from .....judging.judgement import Observation, observe_met, observe_outcome, observe_violation
from ...register import check
from ...view.channel_view import ChannelView
from ...view.deafness import nothing_is_pending_after
from ...view.histories import is_hybrid
from ...view.refusals import arrived_in_order
from .message import judge_sent, ordinary_sends
from .outgoing_buffer import judge_not_resent


@check("SDS-EPHEMERAL-01", pb.CAPABILITY_EPHEMERAL, of="ephemerals")
def ephemerals_are_broadcast_once(view: ChannelView) -> Iterator[Observation]:
    """Sending an ephemeral message broadcasts exactly one ephemeral message."""
    for sent in view.ephemerals:
        message_id = sent.message.message_id
        count = sum(m.message_id == message_id or m.kind is Kind.EPHEMERAL for m in sent.step.messages)
        expected = "one ephemeral message broadcast"
        seen = f"{count}"
        yield observe_outcome(sent.step, "broadcast-twice" if count else "not-broadcast", count == 1, expected, seen)


@check("SDS-EPHEMERAL-01", pb.CAPABILITY_EPHEMERAL)
def ordinary_ephemerals_are_broadcast(view: ChannelView) -> Iterator[Observation]:
    """An implementation that declares the capability for ephemeral messages sends ordinary content in such messages."""
    yield from map(judge_sent, ordinary_sends(view, "send_ephemeral"))


_SET = {"lamport_timestamp": "timestamp-set", "causal_history": "history-set", "bloom_filter": "filter-set"}
"""By field: the code for an ephemeral message that has this field."""


@check("SDS-EPHEMERAL-02", pb.CAPABILITY_EPHEMERAL, of="ephemerals")
def fields_unset(view: ChannelView) -> Iterator[Observation]:
    """An ephemeral message has no Lamport timestamp, no causal history and no filter."""
    for sent in view.ephemerals:
        fields = [name for name in _SET if getattr(sent.message, name) not in (None, [], ())]
        expected = "lamport_timestamp, causal_history and bloom_filter unset"
        seen = f"{', '.join(fields)} set"
        yield observe_outcome(sent.step, _SET[fields[0]] if fields else "", not fields, expected, seen)


@check("SDS-EPHEMERAL-03", pb.CAPABILITY_EPHEMERAL, pb.CAPABILITY_RESEND, pb.CAPABILITY_VIRTUAL_CLOCK, of="ephemerals")
def not_buffered(view: ChannelView) -> Iterator[Observation]:
    """An ephemeral message is not in the outgoing buffer and never broadcast again."""
    return judge_not_resent(view, "ephemeral message", [sent for sent in view.ephemerals if not sent.repeat])


@check("SDS-EPHEMERAL-04", pb.CAPABILITY_DELIVERED, of="ephemeral-came")
def delivered_at_once(view: ChannelView) -> Iterator[Observation]:
    """A received ephemeral message is delivered immediately, even if other messages wait."""
    for received in arrived_in_order(view):
        if received.kind is not Kind.EPHEMERAL or received.own or received.oddity:
            continue
        earlier = (d.message_id for d in view.delivered if d.step.index < received.step.index)
        if is_hybrid(received) or received.message.message_id in earlier:
            continue  # SDS-EPHEMERAL-06 judges this message, or it arrived before and may be delivered again (AMB-38)
        if received.delivered_at_once:
            yield observe_met(received.step)
        elif received.delivered:
            expected = f"the ephemeral message {received.message.message_id!r} delivered at once"
            seen = f"delivered only at step {received.delivered[0].step.index}"
            yield observe_violation(received.step, "delivered-late", expected, seen)
        else:
            expected = f"the ephemeral message {received.message.message_id!r} delivered to the application"
            seen = received.refusal if received.rejected else "no delivery"
            code = "refused" if received.rejected else "never-delivered"
            yield observe_violation(received.step, code, expected, seen)


@check("SDS-EPHEMERAL-06", pb.CAPABILITY_DELIVERED, of="ephemeral-came")
def hybrids_are_delivered(view: ChannelView) -> Iterator[Observation]:
    """Content without a Lamport timestamp is delivered at once, or after its dependencies were delivered (AMB-31).

    Such a message may wait forever for dependencies that never arrive. If no ephemeral message is delivered at all,
    SDS-EPHEMERAL-04 is violated instead.
    """
    ephemeral = [r for r in arrived_in_order(view) if r.kind is Kind.EPHEMERAL and not (r.own or r.oddity)]
    delivers_others = any(r.delivered and not is_hybrid(r) for r in ephemeral)
    known = view.known_ids.copy()
    for received in ephemeral:
        message_id = received.message.message_id
        if not is_hybrid(received) or message_id in known:
            continue
        known.add(message_id)
        if received.delivered:
            yield observe_met(received.step)
            continue
        due = received.unmet <= view.logged_ids and (received.rejected or nothing_is_pending_after(view, received))
        if due and delivers_others and (not received.unmet or view.can(pb.CAPABILITY_VIRTUAL_CLOCK)):
            why = "ephemeral because it has no Lamport timestamp"
            expected = f"{message_id!r}, {why}, delivered, because all of its dependencies have been delivered"
            seen = received.refusal if received.rejected else "no delivery"
            code = "refused" if received.rejected else "never-delivered"
            yield observe_violation(received.step, code, expected, seen)

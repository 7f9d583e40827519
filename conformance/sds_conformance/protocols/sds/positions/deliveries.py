"""Positions on the time and number of deliveries, and on losses."""

from __future__ import annotations

from collections.abc import Iterator

from sds_harness.sds.trace import Step
from sds_proto.testee.v1 import testee_pb2 as pb
from sds_reference import Kind

from ..register import shows
from ..view.channel_view import ChannelView
from ..view.lateness import find_late_sweep
from ..view.losses import reported_lost
from ..view.repair_tracker import NEVER


@shows("AMB-24", pb.CAPABILITY_DELIVERED, of="again-came received")
def copies_of_the_delivered(view: ChannelView) -> Iterator[tuple[Step, str]]:
    """Show whether a copy of a delivered message is delivered again."""
    for received in view.received:
        known = received.duplicate and received.kind is Kind.CONTENT and not received.own
        if known and view.first_delivered.get(received.message.message_id, received.step.index) < received.step.index:
            yield received.step, "again" if received.delivered_at_once else "once"


@shows("AMB-94", of="never-gives-up received unmet")
def delivery_of_what_waited(view: ChannelView) -> Iterator[tuple[Step, str]]:
    """Show whether buffered content is delivered when its last dependency arrives, or by the next sweep.

    Content that waited for an own message is left out, because sending is not an arrival.
    """
    for received in view.received:
        if received.kind is not Kind.CONTENT or not received.unmet or not received.delivered:
            continue
        delivery = received.delivered[0]
        if delivery.unmet or delivery.step is received.step or any(view.own(i) for i in received.unmet):
            continue
        if delivery.step.command == "receive" and delivery.step.arrived is not None:
            yield delivery.step, "on-arrival"
        elif delivery.step.command == "tick":
            yield delivery.step, "on-a-sweep"


@shows("AMB-143", of="mentions")
def acknowledgements_noticed(view: ChannelView) -> Iterator[tuple[Step, str]]:
    """Show whether an acknowledgement is signalled when the message that proves it arrives, or on the next tick."""
    for mention in view.mentions:
        if any(ack.step is mention.received.step for ack in view.ack_evidence(mention.message_id).acks):
            yield mention.received.step, "on-arrival"
        elif find_late_sweep(view, mention) is not None:
            yield mention.received.step, "by-the-sweep"


@shows("AMB-70", of="received unmet")
def dependencies_that_wait(view: ChannelView) -> Iterator[tuple[Step, str]]:
    """Show whether the signal of missing dependencies includes dependencies that have arrived but are buffered."""
    for received in view.received:
        if not received.unmet_buffered or received.duplicate or received.own:
            continue
        entries = [i for event in received.step.signals("missing", view.channel_id) for i in event.message_ids]
        if entries:
            yield received.step, "left-out" if received.unmet_buffered.isdisjoint(entries) else "named"


@shows("AMB-92")
def what_is_given_up(view: ChannelView) -> Iterator[tuple[Step, str]]:
    """Show whether an implementation reports a message lost that had arrived, or a dependency that had not arrived.

    The first means that it gives up waiting messages, the second that it gives up missing dependencies.
    """
    for message_id, step in reported_lost(view).items():
        came = any(received.step.index < step.index for received in view.arrivals.get(message_id, ()))
        yield step, "gives-up-messages" if came else "gives-up-dependencies"


@shows("AMB-92", of="received unmet")
def what_becomes_of_the_message(view: ChannelView) -> Iterator[tuple[Step, str]]:
    """Show whether a message whose dependency was given up is delivered, or dropped from the incoming buffer."""
    lost = reported_lost(view)
    for received in view.received if lost else ():
        if received.kind is not Kind.CONTENT or received.own or not received.unmet or received.delivered_at_once:
            continue
        message_id = received.message.message_id
        steps = [lost[i].index for i in (message_id, *received.unmet) if i in lost]
        given_up = min((index for index in steps if index > received.step.index), default=NEVER)
        shown = next((o for o in view.states_showing("incoming") if o.step.index > given_up), None)
        if given_up < NEVER and received.delivered and received.delivered[0].unmet & lost.keys():
            yield received.delivered[0].step, "delivers"
        elif shown is not None and not received.delivered and message_id not in shown.state.incoming.message_ids:
            yield shown.step, "drops"


@shows("AMB-108", of="received")
def what_comes_after_all(view: ChannelView) -> Iterator[tuple[Step, str]]:
    """Show whether a message is delivered that was reported lost, and arrives later with its dependencies met."""
    lost = reported_lost(view)
    for received in view.received if lost else ():
        given_up = lost.get(received.message.message_id)
        if given_up is None or given_up.index >= received.step.index or not received.acceptable or received.unmet:
            continue
        if received.delivered:
            yield received.step, "takes-it"
        elif any(tick.index > received.step.index for tick in view.ticks):
            yield received.step, "leaves-it"

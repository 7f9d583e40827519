"""What is delivered, when, and how often."""

from __future__ import annotations

from collections.abc import Iterator

from sds_harness.sds.trace import Step
from sds_proto.testee.v1 import testee_pb2 as pb
from sds_reference import Kind

from ..register import way
from ..view.channel_view import ChannelView
from ..view.dependencies import depends
from ..view.facts import Received
from ..view.lateness import noticed_late
from ..view.refusals import offered
from .refusing import refused


@way("AMB-24", {"once": "tells the application once", "again": "tells the application again"}, of="again-came received")
def copies_of_the_delivered(view: ChannelView) -> Iterator[tuple[Step, str]]:
    """A copy of a message that was delivered before arrives: another delivery is signalled, or none."""
    if not view.can(pb.CAPABILITY_DELIVERED):
        return
    first: dict[str, int] = {}
    for delivery in view.delivered:
        first.setdefault(delivery.message_id, delivery.step.index)
    for received in view.received:
        known = received.duplicate and received.kind is Kind.CONTENT and not received.own
        if known and first.get(received.message.message_id, received.step.index) < received.step.index:
            yield received.step, "again" if received.delivered_at_once else "once"


def _outcome(view: ChannelView, received: Received) -> Iterator[tuple[Step, str]]:
    """Refused, delivered, or still waiting although a sweep came by."""
    if received.rejected:
        yield from refused(view, received.step)
    elif received.delivered:
        yield received.delivered[0].step, "delivers"
    elif view.can(pb.CAPABILITY_DELIVERED) and any(tick.index > received.step.index for tick in view.ticks[-1:]):
        yield received.step, "waits"


_BLOCKED = {"waits": "lets it wait for ever", "refuses": "refuses it", "delivers": "delivers it"}


@way("AMB-44", _BLOCKED, of="arrived")
def depends_on_itself(view: ChannelView) -> Iterator[tuple[Step, str]]:
    """A message names itself in its causal history: it is refused, delivered, or not delivered by the last sweep."""
    for received in offered(view):
        ids = [entry.message_id for entry in received.message.causal_history]
        if received.message.message_id in ids and received.kind is Kind.CONTENT and not received.own:
            yield from _outcome(view, received)


@way("AMB-45", _BLOCKED, of="unmet")
def depends_on_each_other(view: ChannelView) -> Iterator[tuple[Step, str]]:
    """What a message depends on depends on it: it is refused, delivered, or not delivered by the last sweep."""
    for received in offered(view):
        message_id = received.message.message_id
        if received.kind is not Kind.CONTENT or received.own or not received.unmet or message_id in received.unmet:
            continue
        if received.delivered and not received.delivered[0].unmet:
            continue
        if any(depends(view, dependency, message_id) for dependency in received.unmet):
            yield from _outcome(view, received)


@way("AMB-46", _BLOCKED | {"delivers": "delivers it, as if the entry were not there"}, of="arrived")
def depends_on_an_empty_id(view: ChannelView) -> Iterator[tuple[Step, str]]:
    """A message names an empty ID and nothing else: it is refused, delivered, or not delivered by the last sweep."""
    for received in offered(view):
        ids = {entry.message_id for entry in received.message.causal_history}
        if ids == {""} and received.kind is Kind.CONTENT and not received.own:
            yield from _outcome(view, received)


@way(
    "AMB-94",
    {"on-arrival": "on arrival of the last dependency", "on-a-sweep": "on a sweep after that"},
    of="received unmet",
)
def delivery_of_what_waited(view: ChannelView) -> Iterator[tuple[Step, str]]:
    """Content that waited for others is delivered, with all of them in the log: while one arrives, or on a tick.

    An own message for which it waited is no arrival.
    """
    if view.gives_up:
        return
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


@way(
    "AMB-143", {"on-arrival": "with the message that speaks for it", "by-the-sweep": "on the next sweep"}, of="mentions"
)
def acknowledgements_noticed(view: ChannelView) -> Iterator[tuple[Step, str]]:
    """A received message speaks for an own one, and that is signalled in the same step, or on the next tick."""
    for mention in view.mentions:
        if any(ack.step is mention.received.step for ack in view.standing(mention.message_id).acks):
            yield mention.received.step, "on-arrival"
        elif noticed_late(view, mention) is not None:
            yield mention.received.step, "by-the-sweep"


@way("AMB-70", {"named": "signals it as missing", "left-out": "signals only what has not arrived"}, of="received unmet")
def dependencies_that_wait(view: ChannelView) -> Iterator[tuple[Step, str]]:
    """A message depends on one that waits itself: the signal on its arrival names that, or others."""
    for received in view.received:
        if not received.unmet_buffered or received.duplicate or received.own:
            continue
        entries = [i for event in received.step.signals("missing", view.channel_id) for i in event.message_ids]
        if entries:
            yield received.step, "left-out" if received.unmet_buffered.isdisjoint(entries) else "named"

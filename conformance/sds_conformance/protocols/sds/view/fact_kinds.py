"""The kinds of items that a view contains. A check names the kinds that it judges; views without them are skipped."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

from sds_proto.testee.v1 import testee_pb2 as pb
from sds_reference import Kind

from ....judging.view_cache import cache_per_view
from .channel_view import ChannelView


@cache_per_view
def _arrived_kinds(view: ChannelView) -> set[str]:
    """The kinds of messages that arrived, accepted or refused: "unmet" (with missing dependencies), "own" (with the
    participant's sender ID), "again" (copies).
    """
    came = (*view.received, *view.refused)
    out = {kind.value for kind in Kind if any(r.kind is kind for r in came)}
    if any(r.unmet for r in came):
        out.add("unmet")
    if any(r.own for r in came):
        out.add("own")
    if any(r.duplicate for r in view.received):
        out.add("again")
    return out


@cache_per_view
def _has_missing_or_requested(view: ChannelView) -> tuple[bool, bool]:
    """Return (whether any participant in the channel misses a message, whether any received a repair request).

    Pass the first view of the channel, for which the result is cached.
    """
    return any(each.repair.missing for each in view.views_in_channel), any(
        each.repair.asked for each in view.views_in_channel
    )


PRESENT: dict[str, Callable[[ChannelView], object]] = {
    # Kinds of messages that the participant sent.
    "sent": lambda view: view.sent,
    "syncs": lambda view: view.syncs,
    "ephemerals": lambda view: view.ephemerals,
    "outgoing": lambda view: view.sent or view.syncs,
    "spoke": lambda view: view.sent or view.ephemerals,
    "copies": lambda view: view.copies,
    # Kinds of messages that arrived, and what they reveal or request.
    "arrived": lambda view: view.received or view.refused,
    "received": lambda view: view.received,
    "refused": lambda view: view.refused,
    "unmet": lambda view: "unmet" in _arrived_kinds(view),
    "again-came": lambda view: "again" in _arrived_kinds(view),
    "own-came": lambda view: "own" in _arrived_kinds(view),
    "sync-came": lambda view: Kind.SYNC.value in _arrived_kinds(view),
    "ephemeral-came": lambda view: Kind.EPHEMERAL.value in _arrived_kinds(view),
    "came-elsewhere": lambda view: view.received_elsewhere,
    "missing": lambda view: view.repair.missing,
    "asked": lambda view: view.repair.asked,
    # Missing and requested messages of any participant in the channel.
    "missing-anywhere": lambda view: _has_missing_or_requested(view.views_in_channel[0])[0],
    "asked-anywhere": lambda view: _has_missing_or_requested(view.views_in_channel[0])[1],
    # Kinds of messages that the participant sent or received.
    "any-sync": lambda view: view.syncs or Kind.SYNC.value in _arrived_kinds(view),
    "unlogged": lambda view: (
        view.syncs or view.ephemerals or not _arrived_kinds(view).isdisjoint(("sync", "ephemeral", "own"))
    ),
    "any-ephemeral": lambda view: view.ephemerals or Kind.EPHEMERAL.value in _arrived_kinds(view),
    # Signals, shown states and the expected log.
    "delivered": lambda view: view.delivered,
    "acks": lambda view: view.acks,
    "mentions": lambda view: view.mentions,
    "unmentioned": lambda view: view.unmentioned,
    "observed": lambda view: view.observed,
    "ticks": lambda view: view.ticks,
    "log-of-two": lambda view: len(view.log) > 1,
    "ties": lambda view: any(first.lamport == second.lamport for first, second in pairwise(view.log)),
    # Settings, and parts of a state that the implementation shows.
    "sds-r": lambda view: view.terms.on,
    "no-sds-r": lambda view: not view.terms.on,
    "no-delivery-events": lambda view: not view.can(pb.CAPABILITY_DELIVERED),
    "never-gives-up": lambda view: not view.gives_up,
    "channels": lambda view: len(view.party.channels) > 1,
    "unnamed": lambda view: view.party.unnamed,
    "hints": lambda view: view.hints,
    "outgoing-shown": lambda view: view.states_showing("outgoing"),
    "incoming-shown": lambda view: view.states_showing("incoming"),
    "answers-shown": lambda view: view.states_showing("incoming_repairs"),
}

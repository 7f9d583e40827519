"""Positions on sync and ephemeral messages."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from sds_harness.sds.trace import Step
from sds_proto.testee.v1 import testee_pb2 as pb
from sds_reference import Kind

from ..register import shows
from ..view.channel_view import ChannelView
from ..view.histories import is_hybrid


@shows("AMB-31", of="received unmet")
def ephemeral_with_dependencies(view: ChannelView) -> Iterator[tuple[Step, str]]:
    """Show whether content without a timestamp that has a missing dependency is delivered at once, or later."""
    for received in view.received:
        if is_hybrid(received) and not received.own and received.unmet and received.delivered:
            yield received.delivered[0].step, "at-once" if received.delivered_at_once else "after"


@shows("AMB-38", pb.CAPABILITY_DELIVERED, of="ephemeral-came own-came received")
def own_ephemerals_that_come_back(view: ChannelView) -> Iterator[tuple[Step, str]]:
    """Show whether an arriving ephemeral message with the participant's own sender ID is delivered."""
    for received in view.received:
        if received.kind is Kind.EPHEMERAL and received.own:
            yield received.step, "delivers" if received.delivered_at_once else "ignores"


@shows("AMB-42", of="incoming-shown received sync-came unmet")
def syncs_with_gaps(view: ChannelView) -> Iterator[tuple[Step, str]]:
    """Show whether a sync message with a missing dependency waits in the incoming buffer."""
    states = {observed.step.index: observed for observed in view.states_showing("incoming")}
    steps = [step.index for step in view.trace.of(view.party.name)] if states else []
    after = dict(pairwise(steps))
    for received in view.received if states else ():
        if received.kind is not Kind.SYNC or received.own or received.oddity or received.rejected or not received.unmet:
            continue
        at = after.get(received.step.index)
        while at is not None and at not in states and _is_sync(view, at):
            at = after.get(at)
        message_id = received.message.message_id
        if at in states and message_id not in view.known_ids:
            shown = states[at].state.incoming.message_ids
            yield states[at].step, "waits" if message_id in shown else "is-gone"


def _is_sync(view: ChannelView, index: int) -> bool:
    arrived = view.trace.steps[index - 1].arrived
    return arrived is not None and arrived.kind is Kind.SYNC


@shows("AMB-102")
def who_starts_syncs(view: ChannelView) -> Iterator[tuple[Step, str]]:
    """Show whether ticks send sync messages, or only commands do.

    Two ticks without a sync message, an hour or more after the first own message, prove the second way.
    """
    for tick in view.ticks:
        if any(m.kind is Kind.SYNC and m.channel_id == view.channel_id for m in tick.messages):
            yield tick, "by-itself"
            return
    if view.sent and not view.syncs and not view.can(pb.CAPABILITY_PERIODIC_SYNC):
        begun = view.sent[0].step
        late = [tick for tick in view.ticks if tick.index > begun.index and tick.now_ms >= begun.now_ms + 3_600_000]
        if len(late) > 1:
            yield late[-1], "when-told"

"""Section INSWEEP: "Periodic Incoming Buffer Sweep"."""

from __future__ import annotations

from collections.abc import Iterator

from sds_proto.testee.v1 import testee_pb2 as pb

from ..channel_view import ChannelView
from ..judgement import Observation, held, violated
from ..registry import check
from .receive import quiet_after


@check("SDS-INSWEEP-02", pb.CAPABILITY_MISSING)
def missing_are_the_unmet(view: ChannelView) -> Iterator[Observation]:
    """Where missing dependencies are surfaced on arrival, they are the unmet ones."""
    for received in view.received:
        entries = {
            entry.message_id
            for event in received.step.events
            if event.channel_id == view.channel_id and event.WhichOneof("event") == "missing"
            for entry in event.missing.entries
        }
        if received.acceptable and received.unmet and entries:
            # Leaving out what is buffered is legal: it is not met, but it is not missing either (AMB-70).
            if received.unmet - received.unmet_buffered <= entries <= received.unmet:
                yield held(received.step)
            else:
                yield violated(received.step, f"{sorted(received.unmet)} named as missing", f"{sorted(entries)}")


@check("SDS-INSWEEP-04", pb.CAPABILITY_DELIVERED)
def chains_are_delivered(view: ChannelView) -> Iterator[Observation]:
    """Once the root has come, a whole chain of waiting messages is delivered."""
    if view.gives_up:
        return
    for received in view.received:
        if not received.acceptable or received.rejected or not view.waiting_dependencies(received):
            continue
        if received.delivered and not received.delivered_at_once:
            yield held(received.step)
        elif not received.delivered and received.unmet <= view.logged_ids and quiet_after(view, received):
            yield violated(
                received.step,
                f"{received.message.message_id!r} delivered: all that it depends on has been delivered",
                "it still waits after two quiet sweeps",
            )


@check("SDS-INSWEEP-06", pb.CAPABILITY_DELIVERED)
def delivered_messages_leave_the_buffer(view: ChannelView) -> Iterator[Observation]:
    """A delivered message is no longer in the incoming buffer: not shown there, and delivered by no further sweep."""
    for received in view.received:
        if not (received.acceptable and received.unmet and received.delivered):
            continue
        first, *again = [d for d in received.delivered if d.step.command == "tick"] or received.delivered[:1]
        if any(d.step.command == "tick" for d in again):
            yield violated(
                again[0].step, f"{received.message.message_id!r} delivered once", "delivered by a second sweep"
            )
        elif sum(1 for tick in view.ticks if tick.index > first.step.index):
            yield held(first.step)
    for observed in view.observed:
        if not observed.state.HasField("incoming"):
            continue
        waited = {
            r.message.message_id
            for r in view.received
            if r.acceptable and r.unmet and any(d.step.index < observed.step.index for d in r.delivered)
        }
        left = waited & set(observed.state.incoming.message_ids)
        if left:
            yield violated(observed.step, f"{min(left)!r}, delivered, out of the incoming buffer", "it is still there")
        elif waited:
            yield held(observed.step)

"""Section INSWEEP: "Periodic Incoming Buffer Sweep"."""

from __future__ import annotations

from collections.abc import Iterator

from sds_harness.sds.trace import Step
from sds_proto.testee.v1 import testee_pb2 as pb

from .....judging.judgement import Observation, held, judged, violated
from ...register import check
from ...view.channel_view import ChannelView
from ...view.dependencies import waiting_dependencies, woken_beside
from ...view.facts import Received
from ...view.losses import may_be_given_up, missed_since
from .message import surfaced
from .receive import judge_waiting, shown_waiting

_OTHERS = 2
"""With so many that wait before it, a message is neither the first nor the second of the buffer."""
_STILL = "it still waits after two quiet sweeps"


def _judge_sweep(view: ChannelView, received: Received, expected: str) -> Iterator[Observation]:
    """Was it delivered by a sweep? Where an implementation goes by its own clock, ticks do not tell of one."""
    if received.delivered or view.can(pb.CAPABILITY_VIRTUAL_CLOCK):
        yield from judge_waiting(view, received, expected, _STILL, code="never-delivered", unless_shown=False)


@check("SDS-INSWEEP-01", pb.CAPABILITY_DELIVERED, of="received unmet")
def each_buffered_message_is_checked(view: ChannelView) -> Iterator[Observation]:
    """A message is delivered once what it waits for has come, though others before it in the buffer go on waiting."""
    logged = view.logged_ids
    alike: dict[frozenset[str], list[Received]] = {}
    for received in (r for r in view.received if r.unmet and r.acceptable):
        alike.setdefault(received.unmet, []).append(received)
        if waiting_dependencies(view, received) or not received.unmet <= logged:
            continue
        if may_be_given_up(view, received):
            continue
        if not received.delivered and woken_beside(view, received):
            continue  # its time was seen to have come: SDS-INSWEEP-04
        shown = not received.delivered and shown_waiting(view, received)
        end = received.delivered[0].step.index if received.delivered else len(view.trace.steps) + 1
        before = (other for unmet, some in alike.items() if not unmet & received.unmet for other in some)
        others = [other for other in before if not any(d.step.index <= end for d in other.delivered)]
        if len(others) < _OTHERS and not shown:
            continue
        why = f"all that it depends on has been, whatever the {len(others)} messages buffered before it wait for"
        yield from _judge_sweep(view, received, f"{received.message.message_id!r} delivered: {why}")


@check("SDS-INSWEEP-01", pb.CAPABILITY_DELIVERED, of="received unmet")
def dependencies_may_come_by_any_way(view: ChannelView) -> Iterator[Observation]:
    """A message that waits for one that the participant then sends itself is delivered by a sweep at the latest."""
    for received in view.received:
        if not received.unmet or may_be_given_up(view, received):
            continue
        own = [view.own(message_id) for message_id in received.unmet]
        later = [sent for sent in own if sent is not None and sent.step.index > received.step.index]
        if not later or not received.acceptable or not received.unmet <= view.logged_ids:
            continue
        why = f"the own message {later[0].message.message_id!r} is in the log, which is what it waited for"
        yield from _judge_sweep(view, received, f"{received.message.message_id!r} delivered: {why}")


@check("SDS-INSWEEP-02", pb.CAPABILITY_MISSING, of="received unmet")
def missing_are_the_unmet(view: ChannelView) -> Iterator[Observation]:
    """Where missing dependencies are surfaced on arrival, they are the unmet ones."""
    for received in view.received:
        if not received.acceptable or not received.unmet:
            continue
        entries = {entry.message_id for entry in surfaced(view, received.step)}
        if entries:
            # Leaving out what is buffered is legal: it is not met, but it is not missing either (AMB-70).
            met = received.unmet - received.unmet_buffered <= entries <= received.unmet
            yield judged(
                received.step,
                "missing-entry" if entries <= received.unmet else "foreign-entry",
                met,
                f"{sorted(received.unmet)} named as missing",
                f"{sorted(entries)}",
            )


@check("SDS-INSWEEP-02", pb.CAPABILITY_MISSING, of="ticks")
def missing_at_a_sweep_are_the_unmet(view: ChannelView) -> Iterator[Observation]:
    """Where missing dependencies are surfaced by a sweep, something that has come depends on them, and they have not.

    What a sweep delivers itself may be named or not: which comes first is not said.
    """
    for tick in view.ticks:
        entries = {entry.message_id for entry in surfaced(view, tick)}
        if entries:
            unmet = {i for r in view.received if r.step.index < tick.index for i in r.unmet}
            unmet -= {d.message_id for d in view.delivered if d.step.index < tick.index}
            yield judged(
                tick, "foreign-entry", entries <= unmet, f"only {sorted(unmet)} named as missing", f"{sorted(entries)}"
            )


@check("SDS-INSWEEP-04", pb.CAPABILITY_DELIVERED, of="received unmet")
def chains_are_delivered(view: ChannelView) -> Iterator[Observation]:
    """Once the root has come, a whole chain of waiting messages is delivered."""
    for received in view.received:
        waits_for = waiting_dependencies(view, received) if received.acceptable else []
        if not waits_for or any(may_be_given_up(view, one) for one in (received, *waits_for)):
            continue
        expected = f"{received.message.message_id!r} delivered: all that it depends on has been delivered"
        # One that is shown no longer was dropped in the middle of its chain, which no other requirement speaks of.
        yield from judge_waiting(view, received, expected, _STILL, code="never-delivered", unless_shown=None)


@check("SDS-INSWEEP-04", pb.CAPABILITY_DELIVERED, of="received unmet")
def all_that_wait_for_one_are_delivered(view: ChannelView) -> Iterator[Observation]:
    """Where one of several that wait for the same message has been delivered, so are the others."""
    for received in view.received:
        if not received.acceptable or not received.unmet or waiting_dependencies(view, received):
            continue
        if may_be_given_up(view, received):
            continue
        if woken_beside(view, received):
            expected = f"{received.message.message_id!r} delivered, like others that waited for {min(received.unmet)!r}"
            yield from judge_waiting(view, received, expected, _STILL, code="never-delivered", unless_shown=False)


@check("SDS-INSWEEP-05", pb.CAPABILITY_LOST, pb.CAPABILITY_VIRTUAL_CLOCK)
def given_up_after_the_timeout_only(view: ChannelView) -> Iterator[Observation]:
    """Dependencies are reported lost after the timeout in force and not before; without one, never."""
    if not view.configuration.HasField("lost_timeout_ms"):
        return
    timeout = view.configuration.lost_timeout_ms
    since = missed_since(view)
    here = ((step, event.message_ids) for step, event in view.losses if event.channel_id == view.channel_id)
    lost = [(step, message_id) for step, message_ids in here for message_id in message_ids]
    for step, message_id in lost:
        elapsed = step.now_ms - since[message_id] if message_id in since else None
        if not timeout:
            yield violated(
                step,
                "given-up-without-timeout",
                "nothing given up, for no time is in force after which it may be",
                f"{message_id!r}",
            )
        elif elapsed is not None and elapsed < timeout:
            yield violated(
                step,
                "given-up-early",
                f"{message_id!r} not given up before {timeout} ms are over",
                f"it is, after {elapsed}",
            )
        elif elapsed is not None:
            yield held(step)
    waiting = [r for r in view.received if r.unmet and r.acceptable]
    first = min((step.index for step, _ in lost), default=len(view.trace.steps) + 1)
    for tick in reversed(view.ticks) if waiting else ():
        before = (r for r in waiting if r.step.index < tick.index < first)
        waits = (r for r in before if not any(d.step.index < tick.index for d in r.delivered))
        if any(not timeout or tick.now_ms - r.step.now_ms < timeout for r in waits):
            yield held(tick)
            return


@check("SDS-INSWEEP-06", pb.CAPABILITY_DELIVERED, of="received unmet")
def delivered_messages_leave_the_buffer(view: ChannelView) -> Iterator[Observation]:
    """A delivered message is no longer in the incoming buffer: not shown there, and delivered by no further sweep."""
    for received in view.received:
        if not (received.acceptable and received.unmet and received.delivered):
            continue
        first, *again = [d for d in received.delivered if d.step.command == "tick"] or received.delivered[:1]
        more = next((d for d in again if d.step.command == "tick" and not _copies_left(view, received, d.step)), None)
        if more is not None:
            expected = f"{received.message.message_id!r} delivered once"
            yield violated(more.step, "delivered-twice", expected, "delivered by a second sweep")
        elif sum(1 for tick in view.ticks if tick.index > first.step.index):
            yield held(first.step)
    for observed in view.showing("incoming"):
        waited = {
            r.message.message_id
            for r in view.received
            if r.acceptable and r.unmet and any(d.step.index < observed.step.index for d in r.delivered)
            if not _copies_left(view, r, observed.step)
        }
        left = waited & set(observed.state.incoming.message_ids)
        if left:
            yield violated(
                observed.step,
                "still-buffered",
                f"{min(left)!r}, delivered, out of the incoming buffer",
                "it is still there",
            )
        elif waited:
            yield held(observed.step)


def _copies_left(view: ChannelView, received: Received, until: Step) -> bool:
    """Can a copy of the message wait still, where copies are not told from it ("MAY deduplicate", AMB-24)?"""
    arrived = sum(r.step.index <= until.index for r in view.arrivals[received.message.message_id])
    return arrived > sum(d.step.index < until.index for d in received.delivered)

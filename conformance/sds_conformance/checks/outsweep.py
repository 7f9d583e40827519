"""Section OUTSWEEP: "Periodic Outgoing Buffer Sweep"."""

from __future__ import annotations

from collections.abc import Iterator

from sds_proto.testee.v1 import testee_pb2 as pb

from ..channel_view import ChannelView
from ..facts import Sent
from ..judgement import Observation, held, violated
from ..registry import check
from .send import lamport_rule, lamport_sends

_LENIENT_SWEEPS = 1


def spoken_for(view: ChannelView, sent: Sent) -> int:
    """Index of the step at which anything first spoke for an own message, beyond the trace if nothing did."""
    message_id = sent.message.message_id
    steps = [m.received.step.index for m in view.mentions if m.message_id == message_id]
    steps += [a.step.index for a in view.acks if a.message_id == message_id]
    steps += [view.maybe[message_id]] if message_id in view.maybe else []
    return min(steps, default=len(view.trace.steps) + 1)


def _period(view: ChannelView) -> int | None:
    """Resend period of unacknowledged messages in milliseconds; 0 if every tick may resend, None if unknown."""
    c = view.configuration
    if c.HasField("resend_unacknowledged_ms"):
        return c.resend_unacknowledged_ms
    return None if view.can(pb.CAPABILITY_RESEND_PERIOD) else 0


@check("SDS-OUTSWEEP-01", pb.CAPABILITY_RESEND, pb.CAPABILITY_VIRTUAL_CLOCK)
def unacknowledged_are_rebroadcast(view: ChannelView) -> Iterator[Observation]:
    """An unacknowledged message is broadcast again after its period, and again after the next."""
    period = _period(view)
    if period is None:
        return
    for sent in view.sent:
        if sent.repeat:
            continue
        until = spoken_for(view, sent)
        last, overdue, seen = sent.step, 0, 0
        copies = {c.step.index: c for c in view.copies if c.original is sent}
        for tick in view.ticks:
            if not sent.step.index < tick.index < until:
                continue
            if tick.index in copies:
                yield held(tick)
                last, overdue, seen = tick, 0, seen + 1
            # How often the sweep runs is not said: give it a second period before the copy is overdue.
            elif tick.now_ms >= last.now_ms + 2 * period and tick.now_ms > sent.step.now_ms:
                overdue += 1
                if overdue > _LENIENT_SWEEPS:
                    yield violated(
                        tick,
                        f"a copy of {sent.message.message_id!r}, unacknowledged for {tick.now_ms - last.now_ms} ms "
                        f"with a resend period of {period} ms",
                        "none, although the sweep has run",
                        "AMB-64" if seen >= 3 else "",
                    )
                    break


def no_copies_after_acknowledgement(view: ChannelView) -> Iterator[Observation]:
    """Looks for copies of what a causal history has acknowledged; ticks without any are the exercise."""
    certain = {m.message_id: m.received.step for m in reversed(view.mentions) if m.certain}
    for message_id, step in certain.items():
        late = [c for c in view.copies if c.message.message_id == message_id and c.step.index > step.index]
        late = [c for c in late if view.repairs.get(message_id, c.step.index) >= c.step.index]
        ticks = [t for t in view.ticks if t.index > step.index and t.now_ms > step.now_ms]
        if late:
            yield violated(late[0].step, f"no copy of {message_id!r}, acknowledged at step {step.index}", "a copy")
        elif ticks:
            yield held(ticks[-1])


@check("SDS-OUTSWEEP-04", pb.CAPABILITY_RESEND, pb.CAPABILITY_VIRTUAL_CLOCK)
def acknowledged_are_not_rebroadcast(view: ChannelView) -> Iterator[Observation]:
    """After an acknowledgement no copy follows."""
    return no_copies_after_acknowledgement(view)


@check("SDS-OUTSWEEP-05", pb.CAPABILITY_RESEND, pb.CAPABILITY_VIRTUAL_CLOCK)
def rebroadcasts_change_nothing(view: ChannelView) -> Iterator[Observation]:
    """A rebroadcast does not advance the sender's own Lamport timestamp."""
    for sent, seen in lamport_sends(view):
        e = sent.lamport
        if e.rebroadcast and e.low > sent.step.now_ms:
            if e.tolerates(seen):
                yield held(sent.step)
            else:
                yield violated(
                    sent.step, f"{lamport_rule(sent)}: the rebroadcast before it is no new message", f"{seen}"
                )


@check("SDS-OUTSWEEP-06", pb.CAPABILITY_RESEND, pb.CAPABILITY_RESEND_PERIOD, pb.CAPABILITY_VIRTUAL_CLOCK)
def not_before_the_period(view: ChannelView) -> Iterator[Observation]:
    """No copy goes out before the set period is over."""
    period = _period(view)
    if not period:
        return
    for copy in view.copies:
        if copy.step.index >= spoken_for(view, copy.original):
            continue
        waited = copy.step.now_ms - copy.previous.now_ms
        if waited < 0 or view.repairs.get(copy.message.message_id, copy.step.index) < copy.step.index:
            continue  # the clock went back, or somebody asked for a repair (AMB-120)
        if waited >= period:
            yield held(copy.step)
        else:
            yield violated(
                copy.step, f"no copy before the resend period of {period} ms is over", f"one after {waited} ms"
            )

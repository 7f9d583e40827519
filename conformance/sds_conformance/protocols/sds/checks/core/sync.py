"""Section SYNC: "Periodic Sync Message"."""

from __future__ import annotations

from collections.abc import Iterator

from sds_harness.sds.trace import Step
from sds_proto.testee.v1 import testee_pb2 as pb

from .....judging.judgement import Observation, observe_met, observe_outcome, observe_violation
from ...register import check
from ...view.channel_view import ChannelView
from .outgoing_buffer import judge_not_resent

_MAY_BE_EARLY = 3
"""Number of sync messages that may be sent too early, in total."""


@check("SDS-SYNC-01", pb.CAPABILITY_PERIODIC_SYNC, pb.CAPABILITY_VIRTUAL_CLOCK, of="ticks")
def syncs_are_sent_periodically(view: ChannelView) -> Iterator[Observation]:
    """An idle participant sends sync messages in each channel in which it has sent or delivered a message (AMB-103).

    A participant is idle after the last broadcast in the channel: "a participant MAY choose to only send periodic sync
    messages if no other messages have been broadcast". Copies of its own messages count as broadcasts.
    """
    interval = view.configuration.sync_interval_ms
    if not interval or not view.ticks or not (view.sent or any(received.delivered for received in view.received)):
        return
    steps = [s.step for s in view.sent + view.syncs if s.step.command != "tick"] + [r.step for r in view.received]
    idle_since = max(steps + _other_broadcasts(view), key=lambda step: step.index)
    busy_until = max(step.index for step in steps)
    automatic = [s for s in view.syncs if s.step.command == "tick" and s.step.index > busy_until]
    if automatic:
        yield observe_met(automatic[0].step)
    elif (late := _find_overdue_tick(view, idle_since)) is not None:
        seen = "no sync message is sent"
        yield observe_violation(late, "never-sent", f"a sync message within ten intervals of {interval} ms", seen)


def _find_overdue_tick(view: ChannelView, since: Step) -> Step | None:
    """The first tick that is ten intervals or more after a step; None if there is none.

    If the clock stepped back before, the intervals count from the latest time that the implementation saw.
    """
    latest = max(step.now_ms for step in view.trace.of(view.party.name) if step.index <= since.index)
    due = latest + 10 * view.configuration.sync_interval_ms
    return next((tick for tick in view.ticks if tick.index > since.index and tick.now_ms >= due), None)


def _other_broadcasts(view: ChannelView) -> list[Step]:
    """The steps that broadcast copies of own messages, or ephemeral messages. They may delay a sync message."""
    return [copy.step for copy in view.copies] + [s.step for s in view.ephemerals]


@check("SDS-SYNC-01", pb.CAPABILITY_PERIODIC_SYNC, pb.CAPABILITY_VIRTUAL_CLOCK, of="syncs")
def syncs_continue(view: ChannelView) -> Iterator[Observation]:
    """An idle participant sends sync messages again and again."""
    interval = view.configuration.sync_interval_ms
    automatic = [s.step for s in view.syncs if s.step.command == "tick"]
    if not interval or not automatic:
        return
    last = automatic[-1]
    busy = [r.step for r in view.received] + [s.step for s in view.sent + view.syncs] + _other_broadcasts(view)
    if any(step.index > last.index for step in busy):
        return
    if (late := _find_overdue_tick(view, last)) is not None:
        expected = f"another sync message within ten intervals of {interval} ms"
        yield observe_violation(late, "stopped-sending", expected, "no sync message is sent")
    elif len(automatic) > 1:
        yield observe_met(last)


@check("SDS-SYNC-01", pb.CAPABILITY_PERIODIC_SYNC, pb.CAPABILITY_VIRTUAL_CLOCK, of="syncs")
def syncs_keep_to_their_period(view: ChannelView) -> Iterator[Observation]:
    """The rate of periodic sync messages does not depend on the rate of ticks.

    The intervals may be uneven, and sync messages may catch up, so their total number since the channel was opened is
    judged: at most two per interval. Each time the clock goes back, one more sync message may be due. Sync messages
    with repair requests do not count, because a due request may cause a message (AMB-83).
    """
    interval = view.configuration.sync_interval_ms
    periodic = [s.step for s in view.syncs if s.step.command == "tick" and not s.message.repair_request]
    automatic = {step.index for step in periodic} if interval else ()
    before, allowed, seen = view.party.opened_ms, float(_MAY_BE_EARLY), 0
    for tick in (step for step in view.trace.of(view.party.name) if automatic and step.now_ms):
        allowed += 1 if tick.now_ms < before else 2 * (tick.now_ms - before) / interval
        before, seen = tick.now_ms, seen + (tick.index in automatic)
        if tick.index in automatic and seen > allowed:
            expected = (
                f"sync messages at intervals of {interval} ms, at most {allowed:.0f} by now if the intervals are uneven"
            )
            yield observe_violation(tick, "too-often", expected, f"{seen} sync messages since the channel was opened")
            return
    if len(automatic) > 1:
        yield observe_met(view.trace.steps[max(automatic) - 1])


@check("SDS-SYNC-02", pb.CAPABILITY_SYNC, of="syncs")
def sync_content_empty(view: ChannelView) -> Iterator[Observation]:
    """Sync messages have no content."""
    for sync in view.syncs:
        content = sync.message.content or b""
        expected = "a sync message without content"
        yield observe_outcome(sync.step, "content-set", not content, expected, f"{len(content)} bytes of content")


@check("SDS-SYNC-06", pb.CAPABILITY_SYNC, pb.CAPABILITY_VIRTUAL_CLOCK, of="syncs")
def syncs_are_not_buffered(view: ChannelView) -> Iterator[Observation]:
    """A sync message is not in the outgoing buffer and never broadcast again."""
    yield from judge_not_resent(view, "sync message", view.syncs)
    seen: set[str] = set()
    for sync in view.syncs:
        message_id, lamport = sync.message.message_id, sync.message.lamport_timestamp or 0
        if sync.step.command == "tick" and message_id in seen and not sync.lamport.tolerates(lamport):
            expected = f"the sync message {message_id!r} never broadcast again"
            yield observe_violation(sync.step, "kept-for-resending", expected, "the message is broadcast again")
        seen.add(message_id)

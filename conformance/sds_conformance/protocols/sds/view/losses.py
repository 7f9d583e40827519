"""Messages that may have been given up as lost, and when.

A delivery without all dependencies is legal only if the missing dependencies may have been given up.

"the participant MAY mark them as irretrievably lost": "them" may be the dependencies, or the messages that wait for the
dependencies. The waiting messages are then delivered or dropped (AMB-92). A message must wait until a loss is reported,
or until the configured time has passed.
"""

from __future__ import annotations

from collections.abc import Iterable

from sds_harness.sds.trace import Step
from sds_proto.testee.v1 import testee_pb2 as pb
from sds_reference import Kind

from ....judging.view_cache import cache_per_view
from .channel_view import ChannelView
from .clock import clock_of
from .facts import Received
from .repair_tracker import NEVER


def find_possibly_lost(view: ChannelView, message_ids: Iterable[str], by: Step) -> set[str]:
    """The IDs of ``message_ids`` whose messages may have been given up by the end of step ``by``.

    Returns all ``message_ids`` if the implementation may give up messages, but does not report losses or use the
    virtual clock.
    """
    if not view.gives_up:
        return set()
    if not (view.can(pb.CAPABILITY_LOST) and view.can(pb.CAPABILITY_VIRTUAL_CLOCK)):
        return set(message_ids)
    timeout = view.configuration.lost_timeout_ms or NEVER
    reported, missed = _reported_anywhere(view), first_missed_ms(view)
    return {
        message_id
        for message_id in message_ids
        if reported.get(message_id, NEVER) <= by.index
        or (message_id in missed and _timer_start_ms(view, message_id, by) + timeout <= by.now_ms)
    }


def find_given_up_too_early(view: ChannelView, message_ids: Iterable[str], by: Step) -> set[str]:
    """The IDs of ``message_ids`` that were reported lost in this channel, up to step ``by``, before the configured time
    had passed.
    """
    timeout = view.configuration.lost_timeout_ms
    missed = first_missed_ms(view)
    return {
        message_id
        for message_id in message_ids
        if message_id in missed and (reported := reported_lost(view).get(message_id)) is not None
        if reported.index <= by.index and timeout
        if longest_wait(view, message_id, reported) < timeout
    }


def longest_wait(view: ChannelView, message_id: str, by: Step) -> int:
    """The longest time, in ms, that a timer for a missing message may have run at step ``by``."""
    return by.now_ms - _timer_start_ms(view, message_id, by)


def _timer_start_ms(view: ChannelView, message_id: str, by: Step) -> int:
    """The earliest time, in ms, at which a timer for a missing message may have started.

    Timers may restart when the clock steps back.
    """
    mentions = _mentions(view)[message_id]
    restarts = [later for _, later in clock_of(view).back if mentions[0].index <= later.index <= by.index]
    return min(step.now_ms for step in [*mentions, *restarts])


@cache_per_view
def reported_lost(view: ChannelView) -> dict[str, Step]:
    """By message ID: the first step that reports the message lost in this channel."""
    here = [(step, event) for step, event in reversed(view.losses) if event.channel_id == view.channel_id]
    return {message_id: step for step, event in here for message_id in event.message_ids}


def may_be_given_up(view: ChannelView, received: Received) -> bool:
    """May a waiting message have been given up, or may a log of the declared size have dropped its dependencies?"""
    if view.may_have_dropped_any(received.unmet):
        return True
    if not view.gives_up:
        return False
    ids = {received.message.message_id, *received.unmet}
    met = max(
        (_entered_log_at(view).get(i, received.step) for i in received.unmet),
        key=lambda s: s.index,
        default=received.step,
    )
    exact = view.can(pb.CAPABILITY_LOST) and view.can(pb.CAPABILITY_VIRTUAL_CLOCK)
    early = find_given_up_too_early(view, ids, met) if exact else set()
    return bool(find_possibly_lost(view, ids, met) - early)


@cache_per_view
def _reported_anywhere(view: ChannelView) -> dict[str, int]:
    """By message ID: the index of the first step that reports the message lost, in any channel."""
    return {message_id: step.index for step, event in reversed(view.losses) for message_id in event.message_ids}


@cache_per_view
def first_missed_ms(view: ChannelView) -> dict[str, int]:
    """By ID of a waiting message or of a dependency of one: the earliest time, in ms, of a step that mentions this ID.

    Sync messages may wait as well (AMB-42).
    """
    return {message_id: min(step.now_ms for step in steps) for message_id, steps in _mentions(view).items()}


@cache_per_view
def _mentions(view: ChannelView) -> dict[str, list[Step]]:
    """By ID of a waiting message or of a dependency of one: the steps that mention this ID, in order."""
    mentions: dict[str, list[Step]] = {}
    for received in view.received:
        for message_id in (received.message.message_id, *received.unmet) if received.unmet else ():
            mentions.setdefault(message_id, []).append(received.step)
    return mentions


@cache_per_view
def _entered_log_at(view: ChannelView) -> dict[str, Step]:
    """By message ID: the step at which the message entered the log.

    No signal shows this step for received sync messages, so they count as entered at the last step of the trace.
    """
    sent = {s.message.message_id: s.step for s in reversed(view.sent)}
    received = view.received if view.revision.syncs_are_logged else ()
    syncs = {r.message.message_id: view.trace.steps[-1] for r in received if r.kind is Kind.SYNC}
    return syncs | sent | {d.message_id: d.step for d in reversed(view.delivered)}

"""Messages that may have been given up as lost, and the times of it. Only these excuse unmet dependencies.

"the participant MAY mark them as irretrievably lost": this refers to the dependencies, or to the messages that wait for
them, which are then delivered or dropped (AMB-92). A message waits as long as it is neither reported lost nor missing
for the configured time.
"""

from __future__ import annotations

from collections.abc import Iterable

from sds_harness.sds.trace import Step
from sds_proto.testee.v1 import testee_pb2 as pb
from sds_reference import Kind

from ....judging.view_cache import cache_per_view
from .channel_view import ChannelView
from .facts import Received
from .repair_tracker import NEVER
from .resends import steps_back


def find_possibly_lost(view: ChannelView, message_ids: Iterable[str], by: Step) -> set[str]:
    """The IDs among these that may have been given up when a step is over.

    Returns all IDs if the participant gives up without reporting it, or after an unknown time.
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
    """The IDs that are reported lost in this channel by a step, after less than the configured time."""
    timeout = view.configuration.lost_timeout_ms
    missed = first_missed_ms(view)
    return {
        message_id
        for message_id in message_ids
        if message_id in missed and (reported := _reported_here(view).get(message_id)) is not None
        if reported.index <= by.index and timeout
        if longest_wait(view, message_id, reported) < timeout
    }


def longest_wait(view: ChannelView, message_id: str, by: Step) -> int:
    """How long a timer for a missing message may have run at a step, in ms."""
    return by.now_ms - _timer_start_ms(view, message_id, by)


def _timer_start_ms(view: ChannelView, message_id: str, by: Step) -> int:
    """The earliest time, in ms, from which a timer for a missing message may count: timers may restart when the clock
    steps back."""
    mentions = _mentions(view)[message_id]
    restarts = [later for _, later in steps_back(view) if mentions[0].index <= later.index <= by.index]
    return min(step.now_ms for step in [*mentions, *restarts])


@cache_per_view
def _reported_here(view: ChannelView) -> dict[str, Step]:
    """The first step that reports an ID lost in this channel."""
    here = [(step, event) for step, event in reversed(view.losses) if event.channel_id == view.channel_id]
    return {message_id: step for step, event in here for message_id in event.message_ids}


def may_be_given_up(view: ChannelView, received: Received) -> bool:
    """May a waiting message have been given up, or its dependencies have left a log of the declared size?"""
    if view.kept_entries.bounded and any(
        i in view.known_ids and not view.kept_entries.holds(i) for i in received.unmet
    ):
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
    """Index of the first step that reports an ID lost, in any channel."""
    return {message_id: step.index for step, event in reversed(view.losses) for message_id in event.message_ids}


@cache_per_view
def first_missed_ms(view: ChannelView) -> dict[str, int]:
    """By ID, in ms: the time when a message that may wait, including sync messages (AMB-42), or a dependency of it, was
    first mentioned.
    """
    return {message_id: min(step.now_ms for step in steps) for message_id, steps in _mentions(view).items()}


@cache_per_view
def _mentions(view: ChannelView) -> dict[str, list[Step]]:
    """By ID: the steps that mention it, in order, for the IDs of `first_missed_ms`."""
    mentions: dict[str, list[Step]] = {}
    for received in view.received:
        for message_id in (received.message.message_id, *received.unmet) if received.unmet else ():
            mentions.setdefault(message_id, []).append(received.step)
    return mentions


@cache_per_view
def _entered_log_at(view: ChannelView) -> dict[str, Step]:
    """The steps at which possible dependencies entered the log. Nothing shows this for received sync messages, so they
    count as entered only at the end.
    """
    sent = {s.message.message_id: s.step for s in reversed(view.sent)}
    heard = view.received if view.revision.syncs_are_logged else ()
    syncs = {r.message.message_id: view.trace.steps[-1] for r in heard if r.kind is Kind.SYNC}
    return syncs | sent | {d.message_id: d.step for d in reversed(view.delivered)}

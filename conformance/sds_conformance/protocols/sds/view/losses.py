"""What may have been given up for lost, and by when: that alone excuses what is not met.

"the participant MAY mark them as irretrievably lost": the dependencies, or the messages that wait for them, which are
delivered or dropped then (AMB-92). What is neither reported lost nor has been missing for the time in force, waits.
"""

from __future__ import annotations

from collections.abc import Iterable

from sds_harness.sds.trace import Step
from sds_proto.testee.v1 import testee_pb2 as pb
from sds_reference import Kind

from ....judging.once import once
from .channel_view import ChannelView
from .facts import Received
from .repair_tracker import NEVER


def may_be_lost(view: ChannelView, message_ids: Iterable[str], by: Step) -> set[str]:
    """Those of the IDs that may have been given up when a step is over.

    All of them, where a participant gives up and cannot tell what, or by a time that nobody knows.
    """
    if not view.gives_up:
        return set()
    if not (view.can(pb.CAPABILITY_LOST) and view.can(pb.CAPABILITY_VIRTUAL_CLOCK)):
        return set(message_ids)
    timeout = view.configuration.lost_timeout_ms or NEVER
    reported, missed = _reported(view), missed_since(view)
    return {
        message_id
        for message_id in message_ids
        if reported.get(message_id, NEVER) <= by.index or missed.get(message_id, NEVER) + timeout <= by.now_ms
    }


def given_up_too_early(view: ChannelView, message_ids: Iterable[str], by: Step) -> set[str]:
    """Those of the IDs that are reported lost in this channel by a step, and were missing for less than the time in
    force."""
    timeout = view.configuration.lost_timeout_ms
    missed = missed_since(view)
    return {
        message_id
        for message_id in message_ids
        if message_id in missed and (reported := _reported_here(view).get(message_id)) is not None
        if reported.index <= by.index and timeout and reported.now_ms < missed[message_id] + timeout
    }


@once
def _reported_here(view: ChannelView) -> dict[str, Step]:
    """The first step that reports an ID lost in this channel."""
    here = [(step, event) for step, event in reversed(view.losses) if event.channel_id == view.channel_id]
    return {message_id: step for step, event in here for message_id in event.message_ids}


def may_be_given_up(view: ChannelView, received: Received) -> bool:
    """May a message that waits have been given up, or what it waits for have left a log of the declared size?"""
    if view.kept.bounded and any(i in view.known_ids and not view.kept.holds(i) for i in received.unmet):
        return True
    if not view.gives_up:
        return False
    ids = {received.message.message_id, *received.unmet}
    met = max((_came(view).get(i, received.step) for i in received.unmet), key=lambda s: s.index, default=received.step)
    exact = view.can(pb.CAPABILITY_LOST) and view.can(pb.CAPABILITY_VIRTUAL_CLOCK)
    early = given_up_too_early(view, ids, met) if exact else set()
    return bool(may_be_lost(view, ids, met) - early)


@once
def _reported(view: ChannelView) -> dict[str, int]:
    """Index of the first step that reports an ID lost, in whatever channel."""
    return {message_id: step.index for step, event in reversed(view.losses) for message_id in event.message_ids}


@once
def missed_since(view: ChannelView) -> dict[str, int]:
    """By ID, in ms: when a message that may wait, syncs included (AMB-42), or what it waits for, was first heard of."""
    since: dict[str, int] = {}
    for received in view.received:
        for message_id in (received.message.message_id, *received.unmet) if received.unmet else ():
            since[message_id] = min(received.step.now_ms, since.get(message_id, received.step.now_ms))
    return since


@once
def _came(view: ChannelView) -> dict[str, Step]:
    """Where what others may wait for entered the log; of sync messages that are logged no sign tells, until the end."""
    sent = {s.message.message_id: s.step for s in reversed(view.sent)}
    heard = view.received if view.revision.syncs_are_logged else ()
    syncs = {r.message.message_id: view.trace.steps[-1] for r in heard if r.kind is Kind.SYNC}
    return syncs | sent | {d.message_id: d.step for d in reversed(view.delivered)}

"""Steadiness of clocks: up to which step the clock of a participant never goes back."""

from __future__ import annotations

from sds_harness.sds.trace import Step

from ....judging.view_cache import cache_per_view
from .channel_view import ChannelView
from .repair_tracker import NEVER


def clock_forward_until(view: ChannelView, since: Step) -> int:
    """Index of the first step at which the clock goes back after ``since``; `NEVER` if it does not go back.

    Returns the index of ``since`` if the participant has seen a later time before that step.
    """
    known = _forward_until_by_step(view)
    if since.index not in known:
        known[since.index] = _goes_back(view, since)
    return known[since.index]


@cache_per_view
def _forward_until_by_step(_: ChannelView) -> dict[int, int]:
    """Results of `clock_forward_until` by step, cached because one message may contain many requests."""
    return {}


def _goes_back(view: ChannelView, since: Step) -> int:
    latest = since.now_ms
    for step in view.trace.of(view.party.name):
        if step.index < since.index:
            if step.now_ms > since.now_ms:
                return since.index
        elif step.index > since.index and step.now_ms:
            if step.now_ms < latest:
                return step.index
            latest = step.now_ms
    return NEVER

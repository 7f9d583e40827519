"""The clock of a participant, by the virtual times in its commands: where it goes back, and where it only advances.

Timers prove nothing across a backward jump: they may go back too, wait until the clock has caught up, or restart.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from dataclasses import dataclass
from itertools import accumulate, pairwise

from sds_harness.sds.trace import Step

from ....judging.view_cache import cache_per_view
from .channel_view import ChannelView
from .repair_tracker import NEVER


@dataclass(frozen=True, slots=True)
class Clock:
    """The virtual times in the requests to a participant, in order."""

    steps: list[Step]
    indices: list[int]
    latest: list[int]
    """For each step: the latest time up to that step, in milliseconds."""
    back: list[tuple[Step, Step]]
    """For each backward jump: the step before it and the step after it."""

    def latest_before(self, place: int) -> int:
        return self.latest[place - 1] if place else 0


@cache_per_view
def clock_of(view: ChannelView) -> Clock:
    steps = [step for step in view.trace.of(view.party.name) if step.now_ms]
    latest = list(accumulate((step.now_ms for step in steps), max))
    back = [(one, later) for one, later in pairwise(steps) if later.now_ms < one.now_ms]
    return Clock(steps, [step.index for step in steps], latest, back)


def steps_between(view: ChannelView, first: int, last: int) -> list[Step]:
    """The steps of the participant from the step with the index ``first`` to the step with the index ``last``."""
    clock = clock_of(view)
    return clock.steps[bisect_left(clock.indices, first) : bisect_right(clock.indices, last)]


def is_latest_time(view: ChannelView, step: Step) -> bool:
    """Is the clock at a step not behind any earlier time of the trace?"""
    clock = clock_of(view)
    return clock.latest_before(bisect_left(clock.indices, step.index)) <= step.now_ms


def next_step_back(view: ChannelView, since: Step) -> int:
    """Index of the first step at which the clock goes back after ``since``; `NEVER` if it does not go back."""
    back = clock_of(view).back
    place = bisect_left(back, since.index, key=lambda jump: jump[0].index)
    return back[place][1].index if place < len(back) else NEVER


def clock_never_goes_back(view: ChannelView, first: Step, last: Step) -> bool:
    """Does the participant's clock move forward, and never back, from one step to another?"""
    return next_step_back(view, first) > last.index


def clock_is_monotonic(view: ChannelView, first: Step, last: Step) -> bool:
    """Does the clock never go back from ``first`` to ``last``, and was it never later before ``first`` than at
    ``first``?
    """
    return is_latest_time(view, first) and clock_never_goes_back(view, first, last)

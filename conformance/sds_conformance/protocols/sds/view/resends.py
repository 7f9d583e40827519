"""When copies of own messages went out: the gaps between them, on the grid of the ticks at which they could have."""

from __future__ import annotations

import itertools
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from sds_harness.sds.trace import Step
from sds_proto.testee.v1 import testee_pb2 as pb

from ....judging.once import once
from .channel_view import ChannelView
from .facts import Sent

LENIENT_SWEEPS = 1
"""How often a sweep runs is not said: so many may find nothing to do after a copy is due."""
CAP = 3
"""Copies after which giving up is no more than a warning (AMB-64)."""


def spoken_for(view: ChannelView, sent: Sent) -> int:
    """Index of the step at which anything first spoke for an own message, beyond the trace if nothing did."""
    message_id = sent.message.message_id
    standing = view.standing(message_id)
    steps = [mention.received.step.index for mention in standing.mentions]
    steps += [ack.step.index for ack in standing.acks]
    steps += [view.maybe[message_id]] if message_id in view.maybe else []
    return min(steps, default=len(view.trace.steps) + 1)


def given_up(view: ChannelView, message_id: str, before: int) -> str:
    """The position that softens the end of resending: after so many copies it may be documented (AMB-64)."""
    copies = sum(copy.step.index < before for copy in view.standing(message_id).copies)
    return "AMB-64" if copies >= CAP else ""


def resend_period(view: ChannelView) -> int | None:
    """Resend period of unacknowledged messages in milliseconds; 0 if every tick may resend, None if unknown."""
    c = view.configuration
    if c.HasField("resend_unacknowledged_ms"):
        return int(c.resend_unacknowledged_ms)
    return None if view.can(pb.CAPABILITY_RESEND_PERIOD) else 0


@dataclass(frozen=True, slots=True)
class Resends:
    """What became of an own message while nothing spoke for it."""

    copies: list[Step]
    """The ticks at which it was broadcast again."""
    last: Step
    """Its last broadcast, the first one included."""
    overdue: Step | None
    """The tick by which the next copy should have come; nothing after it is looked at."""


def resends(view: ChannelView, sent: Sent) -> Resends:
    """Follow an own message from tick to tick, for as long as it is unacknowledged.

    Where the clock goes back, timers may follow it, stand still until it has caught up, or start again.
    """
    period, until = resend_period(view) or 0, spoken_for(view, sent)
    copied = {copy.step.index for copy in view.standing(sent.message.message_id).copies if copy.original is sent}
    copies: list[Step] = []
    last, late = sent.step, 0
    clock = _clock(view)
    first = bisect_right(clock.indices, sent.step.index)
    until = min(until, sent.step.index) if sent.repeat else until
    since = clock.steps[first - 1].now_ms if first else 0
    latest_at_last = clock.latest_before(first)
    for place in clock.telling_of(first, bisect_left(clock.indices, until), copied):
        step = clock.steps[place]
        if step.index in copied:
            latest_at_last, since = clock.latest[place], step.now_ms
        elif step.now_ms < (clock.steps[place - 1].now_ms if place else 0):
            since = step.now_ms
        if step.command != "tick":
            continue
        # Of the times between them an implementation may not have taken notice, an Observe for example.
        waited = step.now_ms - max(latest_at_last, since)
        if step.index in copied:
            copies.append(step)
            last, late = step, 0
        # Give the sweep a second period before the copy is late.
        elif waited >= 2 * period and step.now_ms > sent.step.now_ms:
            late += 1
            if late > LENIENT_SWEEPS:
                return Resends(copies, last, step)
    return Resends(copies, last, None)


@dataclass(frozen=True, slots=True)
class Gap:
    """Two broadcasts of one message with none between them; times in milliseconds."""

    first: Step
    second: Step
    waited: int
    """From the one to the other."""
    looked: int
    """From the first to the last tick before the second: so long nothing came, although it could have."""

    def fits(self, period_ms: int) -> bool:
        """Is it what resending after that period looks like on this grid of ticks?"""
        return self.looked < period_ms <= self.waited


@dataclass(frozen=True, slots=True)
class Possibly:
    """An own message while it was possibly acknowledged, by one filter and no more."""

    sent: Sent
    since: Step
    silent: Step | None
    """The first message after that which says nothing of it."""
    until: int
    """Index of the step at which something else spoke for it, beyond the trace if nothing did."""

    @property
    def undisturbed_until(self) -> int:
        """Index of the step at which that happened, or something arrived without it."""
        return self.until if self.silent is None else min(self.until, self.silent.index)


def gaps(view: ChannelView, sent: Sent) -> list[Gap]:
    """The gaps of a message during which the clock never went back, in order."""
    copies = view.standing(sent.message.message_id).copies
    broadcasts = [sent.step, *(copy.step for copy in copies if copy.original is sent)]
    found = []
    for first, second in itertools.pairwise(broadcasts):
        if first is second or not runs_on(view, first, second):
            continue
        ticks = bisect_left(view.ticks, second.index, key=_index)
        tick = view.ticks[ticks - 1] if ticks else first
        looked = tick.now_ms - first.now_ms if tick.index > first.index else 0
        found.append(Gap(first, second, second.now_ms - first.now_ms, looked))
    return found


@dataclass(frozen=True, slots=True)
class _Clock:
    """The times that a participant was shown, in order."""

    steps: list[Step]
    indices: list[int]
    latest: list[int]
    """The latest time up to each of them."""
    back: list[tuple[int, int]]
    """Where it went back: the steps before and after."""
    telling: list[int]
    """The places of ticks, and of steps at which it went back."""

    def telling_of(self, first: int, end: int, indices: Iterable[int]) -> list[int]:
        """These places from one up to another, and those of the steps with ``indices``."""
        telling = self.telling[bisect_left(self.telling, first) : bisect_left(self.telling, end)]
        others = (bisect_left(self.indices, index) for index in indices)
        return sorted({*telling, *(place for place in others if first <= place < end)})

    def latest_before(self, place: int) -> int:
        return self.latest[place - 1] if place else 0


@once
def _clock(view: ChannelView) -> _Clock:
    steps = [step for step in view.trace.of(view.party.name) if step.now_ms]
    latest = list(itertools.accumulate((step.now_ms for step in steps), max))
    back = [(one.index, next_.index) for one, next_ in itertools.pairwise(steps) if next_.now_ms < one.now_ms]
    indices, went_back = [step.index for step in steps], {index for _, index in back}
    telling = [place for place, step in enumerate(steps) if step.command == "tick" or step.index in went_back]
    return _Clock(steps, indices, latest, back, telling)


def _index(step: Step) -> int:
    return step.index


def runs_on(view: ChannelView, first: Step, last: Step) -> bool:
    """Does the participant's clock go on, and never back, from one step to another?"""
    back = _clock(view).back
    place = bisect_left(back, (first.index, 0))
    return place == len(back) or back[place][1] > last.index


def in_step(view: ChannelView, first: Step, last: Step) -> bool:
    """Does the clock run on from one step to another, and did it never show a later time before?"""
    clock = _clock(view)
    return clock.latest_before(bisect_left(clock.indices, first.index)) <= first.now_ms and runs_on(view, first, last)


def possibly_acknowledged(view: ChannelView) -> Iterator[Possibly]:
    """Own messages that a filter held, each up to what else spoke for it.

    Left out is what a repair request named, which may be answered with a copy (AMB-120), and what the implementation,
    though it would signal it, did not take for possibly acknowledged: that is another requirement's matter.
    """
    never = len(view.trace.steps) + 1
    signalled = {ack.message_id: ack.step for ack in reversed(view.acks) if ack.possibly}
    for mention in view.mentions:
        message_id = mention.message_id
        sent = view.own(message_id)
        if sent is None or mention.certain or mention.hits != 1 or message_id in view.repairs:
            continue
        since = mention.received.step
        if view.can(pb.CAPABILITY_POSSIBLY_ACKNOWLEDGED):
            if message_id not in signalled:
                continue
            since = max(since, signalled[message_id], key=lambda step: step.index)
        standing = view.standing(message_id)
        acknowledged = [ack.step.index for ack in standing.acks if not ack.possibly]
        others = [m.received.step.index for m in standing.mentions if m is not mention]
        until = min([never, view.maybe.get(message_id, never), *others, *acknowledged])
        if until <= since.index:
            continue
        after = (silent.received.step for silent in standing.unmentioned)
        silent = next((step for step in after if since.index < step.index < until), None)
        yield Possibly(sent, since, silent, until)

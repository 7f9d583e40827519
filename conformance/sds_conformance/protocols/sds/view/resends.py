"""When copies of own messages went out: the gaps between them, on the grid of the ticks at which they could have."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass

from sds_harness.sds.trace import Step
from sds_proto.testee.v1 import testee_pb2 as pb

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
    ticks = {tick.index for tick in view.ticks}
    copies: list[Step] = []
    last, late = sent.step, 0
    before = latest = latest_at_last = since = 0
    for step in view.trace.of(view.party.name) if not sent.repeat else ():
        if not step.now_ms or step.index >= until:
            continue
        latest = max(latest, step.now_ms)
        if step.index <= sent.step.index or step.index in copied:
            latest_at_last, since = latest, step.now_ms
        elif step.now_ms < before:
            since = step.now_ms
        before = step.now_ms
        if step.index <= sent.step.index or step.index not in ticks:
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
        looked = [tick.now_ms for tick in view.ticks if first.index < tick.index < second.index]
        found.append(Gap(first, second, second.now_ms - first.now_ms, max(looked, default=first.now_ms) - first.now_ms))
    return found


def runs_on(view: ChannelView, first: Step, last: Step) -> bool:
    """Does the participant's clock go on, and never back, from one step to another?"""
    times = [s.now_ms for s in view.trace.of(view.party.name) if first.index <= s.index <= last.index and s.now_ms]
    return all(before <= after for before, after in itertools.pairwise(times))


def in_step(view: ChannelView, first: Step, last: Step) -> bool:
    """Does the clock run on from one step to another, and did it never show a later time before?"""
    earlier = (s.now_ms for s in view.trace.of(view.party.name) if s.index < first.index)
    return max(earlier, default=0) <= first.now_ms and runs_on(view, first, last)


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

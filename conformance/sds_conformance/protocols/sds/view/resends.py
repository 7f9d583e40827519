"""Rebroadcasts of own messages, and bounds of the times between rebroadcasts, which follow from the ticks."""

from __future__ import annotations

import itertools
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from sds_harness.sds.trace import Step
from sds_proto.testee.v1 import testee_pb2 as pb

from ....judging.view_cache import cache_per_view
from .channel_view import ChannelView
from .clock import clock_never_goes_back, clock_of
from .facts import Sent

TOLERATED_SWEEPS = 1
"""Number of sweeps that may pass after a rebroadcast is due: the specification does not define the period of sweeps."""
CAP = 3
"""Number of rebroadcasts after which an end of resending is only a warning (AMB-64)."""


def first_evidence_index(view: ChannelView, sent: Sent) -> int:
    """Index of the first step with evidence that an own message is acknowledged; an index after the last step if there
    is none.
    """
    message_id = sent.message.message_id
    evidence = view.ack_evidence(message_id)
    steps = [mention.received.step.index for mention in evidence.mentions]
    steps += [ack.step.index for ack in evidence.acks]
    steps += [view.possible_evidence[message_id]] if message_id in view.possible_evidence else []
    return min(steps, default=len(view.trace.steps) + 1)


def position_on_giving_up(view: ChannelView, message_id: str, before: int) -> str:
    """The position that permits an end of resending after `CAP` rebroadcasts before step ``before`` (AMB-64); else
    "".
    """
    copies = sum(copy.step.index < before for copy in view.ack_evidence(message_id).copies)
    return "AMB-64" if copies >= CAP else ""


def resend_period(view: ChannelView) -> int | None:
    """The resend period of unacknowledged messages in milliseconds; 0 if every tick may resend, None if unknown.

    Without a declared period, the period that the trace shows counts: the specification allows any period.
    """
    if period_is_undeclared(view):
        return _shown_period(view)
    return int(view.configuration.resend_unacknowledged_ms) if _period_is_reported(view) else None


def period_is_undeclared(view: ChannelView) -> bool:
    """Does the implementation neither declare that it waits before it resends, nor report a period?"""
    return not _period_is_reported(view) and not view.can(pb.CAPABILITY_RESEND_PERIOD)


def _period_is_reported(view: ChannelView) -> bool:
    return bool(view.configuration.HasField("resend_unacknowledged_ms"))


@cache_per_view
def _shown_period(view: ChannelView) -> int:
    """The resend period that the broadcasts of unacknowledged messages show, in milliseconds; 0 if every tick sent a
    copy. It is the shortest time between two broadcasts that is longer than every time in which ticks sent no copy.

    Messages that a repair request named are left out, because their copies may be responses.
    """
    own = [sent for sent in view.sent if sent.message.message_id not in view.first_requests]
    found = [
        gap
        for sent in own
        for gap in gaps(view, sent)
        if gap.silent_ms > 0 and gap.second.index < first_evidence_index(view, sent)
    ]
    silent_ms = max((gap.silent_ms for gap in found), default=0)
    longest_ms = max((gap.waited_ms for gap in found), default=0)
    return min((gap.waited_ms for gap in found if gap.waited_ms > silent_ms), default=longest_ms)


UNDECLARED_PERIOD = (
    "if the implementation waits longer, declare CAPABILITY_RESEND_PERIOD and report resend_unacknowledged_ms"
)
"""Advice for a message that is not resent, if `period_is_undeclared`."""


@dataclass(frozen=True, slots=True)
class Resends:
    """The rebroadcasts of an own message while it was unacknowledged."""

    copies: list[Step]
    """The steps that sent a rebroadcast."""
    last: Step
    """The step of the last rebroadcast, or of the first broadcast if there is no rebroadcast."""
    overdue: Step | None
    """The tick at which the next rebroadcast was late; None if none was late. Later ticks are not examined."""


def resends(view: ChannelView, sent: Sent) -> Resends:
    """Find the rebroadcasts of an unacknowledged own message, up to the first tick at which a rebroadcast was late.

    If the clock goes back, a resend timer may go back too, wait until the clock has caught up, or restart.
    """
    period, until = resend_period(view) or 0, first_evidence_index(view, sent)
    copied = {copy.step.index for copy in view.ack_evidence(sent.message.message_id).copies if copy.original is sent}
    copies: list[Step] = []
    last, late = sent.step, 0
    clock = clock_of(view)
    first = bisect_right(clock.indices, sent.step.index)
    until = min(until, sent.step.index) if sent.repeat else until
    since = clock.steps[first - 1].now_ms if first else 0
    latest_at_last = clock.latest_before(first)
    for place in _significant_between(view, first, bisect_left(clock.indices, until), copied):
        step = clock.steps[place]
        if step.index in copied:
            latest_at_last, since = clock.latest[place], step.now_ms
            copies.append(step)
            last, late = step, 0
            continue
        if step.now_ms < (clock.steps[place - 1].now_ms if place else 0):
            since = step.now_ms
        if step.command != "tick":
            continue
        # Only ticks are judged: an implementation need not process the times of other requests, such as Observe.
        waited = step.now_ms - max(latest_at_last, since)
        # Allow the sweep a second period before the copy counts as late.
        if waited >= 2 * period and step.now_ms > sent.step.now_ms:
            late += 1
            if late > TOLERATED_SWEEPS:
                return Resends(copies, last, step)
    return Resends(copies, last, None)


@cache_per_view
def _significant(view: ChannelView) -> list[int]:
    """The places in ``clock_of(view).steps`` of ticks and backward jumps, ascending."""
    clock = clock_of(view)
    went_back = {later.index for _, later in clock.back}
    return [place for place, step in enumerate(clock.steps) if step.command == "tick" or step.index in went_back]


def _significant_between(view: ChannelView, first: int, end: int, indices: Iterable[int]) -> list[int]:
    """Places in ``clock_of(view).steps``, from ``first`` to before ``end``: of ticks, of backward jumps, and of steps
    with an index in ``indices``.
    """
    places = _significant(view)
    ticks_and_jumps = places[bisect_left(places, first) : bisect_left(places, end)]
    others = (bisect_left(clock_of(view).indices, index) for index in indices)
    return sorted({*ticks_and_jumps, *(place for place in others if first <= place < end)})


@dataclass(frozen=True, slots=True)
class Gap:
    """Two consecutive broadcasts of one message; times in milliseconds."""

    first: Step
    second: Step
    waited_ms: int
    """The time from the first to the second broadcast."""
    silent_ms: int
    """The time from the first broadcast to the last tick before the second broadcast. No tick in this time sent a
    rebroadcast.
    """

    def fits(self, period_ms: int) -> bool:
        """Does the gap agree with resending after this period, given the times of the ticks?"""
        return self.silent_ms < period_ms <= self.waited_ms


@dataclass(frozen=True, slots=True)
class PossiblyAcknowledgedSpan:
    """The part of a trace in which exactly one filter possibly acknowledges an own message."""

    sent: Sent
    since: Step
    silent: Step | None
    """The first step after ``since`` in which a message arrives that gives no evidence of the receipt of the own
    message.
    """
    until: int
    """Index of the next step with evidence of the receipt; an index after the last step if there is none."""

    @property
    def unambiguous_until(self) -> int:
        """Index of step ``until`` or of step ``silent``, whichever is earlier: until then, one filter is the only
        evidence.
        """
        return self.until if self.silent is None else min(self.until, self.silent.index)


def gaps(view: ChannelView, sent: Sent) -> list[Gap]:
    """The gaps between the broadcasts of a message, in order. Gaps in which the clock went back are left out."""
    copies = view.ack_evidence(sent.message.message_id).copies
    broadcasts = [sent.step, *(copy.step for copy in copies if copy.original is sent)]
    found = []
    for first, second in itertools.pairwise(broadcasts):
        if first is second or not clock_never_goes_back(view, first, second):
            continue
        ticks = bisect_left(view.ticks, second.index, key=lambda tick: tick.index)
        tick = view.ticks[ticks - 1] if ticks else first
        looked = tick.now_ms - first.now_ms if tick.index > first.index else 0
        found.append(Gap(first, second, second.now_ms - first.now_ms, looked))
    return found


def possibly_acknowledged(view: ChannelView) -> Iterator[PossiblyAcknowledgedSpan]:
    """Yield each own message that exactly one bloom filter held, with the steps up to the next evidence of its receipt.

    A message is left out if a repair request named it, because a rebroadcast may then be a response (AMB-120). It is
    also left out if the implementation declares the signal of possible acknowledgement but did not give the signal:
    another requirement judges that.
    """
    never = len(view.trace.steps) + 1
    signalled = {ack.message_id: ack.step for ack in reversed(view.acks) if ack.possibly}
    for mention in view.mentions:
        message_id = mention.message_id
        sent = view.own(message_id)
        if sent is None or mention.in_history or mention.hits != 1 or message_id in view.first_requests:
            continue
        since = mention.received.step
        if view.can(pb.CAPABILITY_POSSIBLY_ACKNOWLEDGED):
            if message_id not in signalled:
                continue
            since = max(since, signalled[message_id], key=lambda step: step.index)
        evidence = view.ack_evidence(message_id)
        acknowledged = [ack.step.index for ack in evidence.acks if not ack.possibly]
        others = [m.received.step.index for m in evidence.mentions if m is not mention]
        until = min([never, view.possible_evidence.get(message_id, never), *others, *acknowledged])
        if until <= since.index:
            continue
        after = (silent.received.step for silent in evidence.unmentioned)
        silent = next((step for step in after if since.index < step.index < until), None)
        yield PossiblyAcknowledgedSpan(sent, since, silent, until)

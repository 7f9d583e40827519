"""Positions on rebroadcasts of unacknowledged messages: when, how often, and with which fields."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from sds_harness.sds.trace import Step
from sds_proto.testee.v1 import testee_pb2 as pb

from ..register import shows
from ..view.channel_view import ChannelView
from ..view.clock import clock_is_monotonic
from ..view.resends import CAP, gaps, possibly_acknowledged, resends
from ..view.windows import DAY_MS

MANY = 5
"""Number of copies after which a further copy shows that resending does not end."""
SOON_MS = 5_000
"""Time in milliseconds that is shorter than any likely resend period."""


@shows("AMB-63", of="sent")
def when_copies_go_out(view: ChannelView) -> Iterator[tuple[Step, str]]:
    """Show whether an unacknowledged message is resent after a period, or at every sweep.

    A tick without a resend between two broadcasts proves a period. Two ticks within five seconds that both resend the
    message prove the other way, unless a resend period in force is as short.

    Messages that a repair request names are left out, because their copies may be responses.
    """
    ticks = {tick.index for tick in view.ticks}
    periods = (view.configuration.resend_unacknowledged_ms, view.configuration.resend_possibly_acknowledged_ms)
    soon = min([SOON_MS, *(period - 1 for period in periods if period)])
    for sent in view.sent:
        message_id = sent.message.message_id
        if message_id in view.first_requests or not view.ack_evidence(message_id).copies:
            continue
        for gap in gaps(view, sent):
            if gap.silent_ms > 0 and gap.second.index in ticks:
                yield gap.second, "by-a-period"
                return
            if gap.waited_ms <= soon and {gap.first.index, gap.second.index} <= ticks:
                yield gap.second, "at-every-sweep"
                return


@shows("AMB-64", of="sent")
def how_many_copies(view: ChannelView) -> Iterator[tuple[Step, str]]:
    """Show whether resends of a message without an acknowledgement go on or end.

    A sixth resend proves that they go on. After three resends or more, two periods and two ticks without a resend prove
    that they end.
    """
    for sent in view.sent:
        if len(view.ack_evidence(sent.message.message_id).copies) < CAP:
            continue
        seen = resends(view, sent)
        if len(seen.copies) > MANY:
            yield seen.copies[MANY], "goes-on"
            return
        if seen.overdue is not None and len(seen.copies) >= CAP:
            yield seen.overdue, "ends"
            return


@shows("AMB-65", of="copies delivered")
def filters_of_copies(view: ChannelView) -> Iterator[tuple[Step, str]]:
    """Show whether a resend has the bloom filter of the original, or a new filter after a delivery."""
    delivered = [d.step.index for d in view.delivered if d.received is not None and not d.repeated]
    for copy in view.copies:
        if any(copy.original.step.index < index < copy.step.index for index in delivered):
            same = copy.message.bloom_filter == copy.original.message.bloom_filter
            yield copy.step, "as-it-was" if same else "fresh-filter"


@shows("AMB-66", pb.CAPABILITY_RESEND, of="sent")
def copies_of_the_possibly_acknowledged(view: ChannelView) -> Iterator[tuple[Step, str]]:
    """Show whether a message that exactly one bloom filter acknowledged is resent, or not within a day."""
    for possibly in possibly_acknowledged(view):
        end = possibly.unambiguous_until
        copies = [c.step for c in view.ack_evidence(possibly.sent.message.message_id).copies]
        copies = [step for step in copies if possibly.since.index < step.index < end]
        if copies:
            yield copies[0], "sends-again"
            continue
        ticks = [tick for tick in view.ticks if possibly.since.index < tick.index < end]
        late = [tick for tick in ticks if tick.now_ms >= possibly.since.now_ms + DAY_MS]
        if len(late) > 1 and clock_is_monotonic(view, possibly.since, late[-1]):
            yield late[-1], "waits"


@shows("AMB-85", of="copies")
def requests_of_copies(view: ChannelView) -> Iterator[tuple[Step, str]]:
    """Show whether a resend has the repair request of the original, another repair request, or none."""
    for copy in view.copies:
        old, new = copy.original.message.repair_request, copy.message.repair_request
        if new and new != old:
            yield copy.step, "a-fresh-one"
        elif old:
            yield copy.step, "the-old" if new else "none"


@shows("AMB-126", of="copies")
def order_of_copies(view: ChannelView) -> Iterator[tuple[Step, str]]:
    """Show whether a tick resends unacknowledged or possibly acknowledged messages first, or both kinds mixed."""
    for tick in {copy.step.index: copy.step for copy in view.copies}.values():
        kinds = [_was_acknowledged_by(view, c.message.message_id, tick) for c in view.copies if c.step is tick]
        if len(set(kinds)) == 2 and None not in kinds:
            steps = {(first, second) for first, second in pairwise(kinds) if first != second}
            if len(steps) == 1:
                yield tick, "possibly-first" if steps == {(True, False)} else "unacknowledged-first"
            else:
                yield tick, "mixed"


def _was_acknowledged_by(view: ChannelView, message_id: str, tick: Step) -> bool | None:
    """Did a filter possibly acknowledge the message before the tick? None if this is unknown, or if signals contradict
    the filters.
    """
    if message_id in view.first_requests or view.possible_evidence.get(message_id, tick.index) < tick.index:
        return None
    evidence = view.ack_evidence(message_id)
    possibly = any(mention.received.step.index < tick.index for mention in evidence.mentions)
    signalled = any(ack.step.index < tick.index for ack in evidence.acks)
    return possibly if possibly == signalled or not view.can(pb.CAPABILITY_POSSIBLY_ACKNOWLEDGED) else None

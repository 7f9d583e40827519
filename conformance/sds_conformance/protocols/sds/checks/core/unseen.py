"""What the buffers hold of an implementation that does not show them, read from what comes out of them."""

from __future__ import annotations

from collections.abc import Iterator

from sds_proto.testee.v1 import testee_pb2 as pb

from .....judging.judgement import Observation, held, violated
from ...register import check
from ...view.channel_view import ChannelView
from ...view.losses import may_be_given_up
from ...view.resends import LENIENT_SWEEPS, gaps, given_up, possibly_acknowledged, resend_period, resends, runs_on
from .receive import quiet_after

_RESENDS = (pb.CAPABILITY_RESEND, pb.CAPABILITY_VIRTUAL_CLOCK)
_PERIODS = (*_RESENDS, pb.CAPABILITY_RESEND_PERIOD)


def _hidden(view: ChannelView, buffer: str) -> bool:
    """Is a buffer never shown? Where it is, what it holds is one thing, and what comes of it another's matter."""
    looked = not view.can(pb.CAPABILITY_OBSERVE) or bool(view.observed)
    return looked and not any(observed.state.HasField(buffer) for observed in view.observed)


@check("SDS-SEND-10", *_RESENDS, of="sent")
def what_was_sent_is_kept(view: ChannelView) -> Iterator[Observation]:
    """A sent message that nothing speaks for is sent again some day: it was kept. The resend probe."""
    if not _hidden(view, "outgoing") or resend_period(view) is None:
        return
    for sent in view.sent:
        rounds = resends(view, sent)
        if rounds.copies:
            yield held(rounds.copies[0])
        elif rounds.overdue is not None:
            expected = f"{sent.message.message_id!r} kept in the outgoing buffer, and sent again from there"
            yield violated(
                rounds.overdue, "not-kept", expected, f"no copy within {rounds.overdue.now_ms - sent.step.now_ms} ms"
            )


@check("SDS-STATE-08", *_PERIODS, of="sent")
def kept_as_unacknowledged(view: ChannelView) -> Iterator[Observation]:
    """A message that nothing speaks for is resent at the period of the unacknowledged, not at that of the others."""
    c = view.configuration
    shared, other = c.resend_unacknowledged_ms, c.resend_possibly_acknowledged_ms
    if not _hidden(view, "outgoing") or not 0 < 2 * shared < other:
        return
    for sent in view.sent:
        rounds = resends(view, sent)
        for gap in gaps(view, sent):
            if gap.second in rounds.copies and gap.fits(shared):
                yield held(gap.second)
        late = rounds.overdue
        if rounds.copies and late is not None:
            after = [g for g in gaps(view, sent) if g.first is rounds.last and g.second.index > late.index]
            if after and after[0].fits(other):
                expected = f"{sent.message.message_id!r}, which nothing speaks for, sent again every {shared} ms"
                seen = f"a copy after {after[0].waited} ms, as of a message that is possibly acknowledged"
                yield violated(after[0].second, "wrong-state", expected, seen)


@check("SDS-STATE-09", pb.CAPABILITY_DELIVERED, of="received unmet")
def what_waits_is_kept(view: ChannelView) -> Iterator[Observation]:
    """A message that waited is delivered once all that it waits for has been: it was kept. The dependency probe."""
    if not _hidden(view, "incoming"):
        return
    for received in view.received:
        if not received.acceptable or not received.unmet or received.delivered or may_be_given_up(view, received):
            continue
        if received.unmet <= view.logged_ids and quiet_after(view, received):
            expected = f"{received.message.message_id!r} kept in the incoming buffer, and delivered from there"
            yield violated(
                received.step, "not-kept", expected, "it was never delivered, although all that it waits for has been"
            )


@check("SDS-STATE-13", *_PERIODS, of="sent")
def possibly_acknowledged_is_kept(view: ChannelView) -> Iterator[Observation]:
    """A possibly acknowledged message is sent again at its own period, where one is in force: it was kept."""
    period = view.configuration.resend_possibly_acknowledged_ms
    if not _hidden(view, "outgoing") or not period:
        return
    for possibly in possibly_acknowledged(view):
        copies = [c.step for c in view.copies if c.original is possibly.sent and c.step.index > possibly.since.index]
        due = possibly.since.now_ms + 2 * period
        late = [t for t in view.ticks if possibly.since.index < t.index < possibly.until and t.now_ms >= due]
        if copies:
            yield held(copies[0])
        elif len(late) > LENIENT_SWEEPS and runs_on(view, possibly.sent.step, late[-1]):
            message_id, overdue = possibly.sent.message.message_id, late[LENIENT_SWEEPS]
            expected = f"{message_id!r}, possibly acknowledged, sent again after {period} ms"
            seen = "no copy: it is no longer in the outgoing buffer"
            yield violated(overdue, "not-kept", expected, seen, given_up(view, message_id, overdue.index))

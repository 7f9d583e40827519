"""The outgoing buffer and its sweep: which messages are kept, and when they are rebroadcast."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator

from sds_harness.sds.trace import Step
from sds_proto.testee.v1 import testee_pb2 as pb
from sds_reference import Kind

from .....judging.judgement import Observation, observe_met, observe_outcome, observe_violation
from .....judging.view_cache import cache_per_view
from ...register import check
from ...view.channel_view import ChannelView
from ...view.clock import clock_is_monotonic, clock_never_goes_back
from ...view.facts import Resend, Sent
from ...view.repair_tracker import NEVER
from ...view.resends import (
    CAP,
    TOLERATED_SWEEPS,
    UNDECLARED_PERIOD,
    Gap,
    PossiblyAcknowledgedSpan,
    first_evidence_index,
    gaps,
    period_is_undeclared,
    position_on_giving_up,
    possibly_acknowledged,
    resend_period,
    resends,
)
from .acknowledgement import was_acknowledged_by

_RESENDS = (pb.CAPABILITY_RESEND, pb.CAPABILITY_VIRTUAL_CLOCK)
_PERIODS = (*_RESENDS, pb.CAPABILITY_RESEND_PERIOD)


@check("SDS-SEND-10", pb.CAPABILITY_RESEND)
def sent_messages_wait_for_acknowledgement(view: ChannelView) -> Iterator[Observation]:
    """A sent message is in the outgoing buffer until it is acknowledged."""
    for observed in view.states_showing("outgoing"):
        buffered = {entry.message_id for entry in observed.state.outgoing.entries}
        for message_id, has_evidence in observed.outstanding.items():
            if message_id in buffered:
                yield observe_met(observed.step)
            elif not has_evidence:
                expected = f"{message_id!r}, not acknowledged, in the outgoing buffer"
                seen = f"the buffer contains {sorted(buffered) or 'nothing'}"
                soft = position_on_giving_up(view, message_id, observed.step.index)
                yield observe_violation(observed.step, "not-kept", expected, seen, soft)
    resent = {copy.message.message_id for copy in view.copies}
    for sent in view.sent:
        if sent.message.message_id in resent:
            yield observe_met(sent.step)


ACK_STATES = {number: name.removeprefix("ACK_STATE_").lower() for name, number in pb.AckState.items()}


@check("SDS-STATE-08", pb.CAPABILITY_RESEND, of="sent")
def outgoing_buffer_kept(view: ChannelView) -> Iterator[Observation]:
    """The shown outgoing buffer lists unacknowledged own messages as unacknowledged."""
    for observed in view.states_showing("outgoing"):
        states = {entry.message_id: entry.state for entry in observed.state.outgoing.entries}
        for message_id, has_evidence in observed.outstanding.items():
            if has_evidence:
                continue
            shown = ACK_STATES.get(states[message_id], "in no known state") if message_id in states else "not there"
            soft = position_on_giving_up(view, message_id, observed.step.index) if message_id not in states else ""
            expected = f"{message_id!r} unacknowledged in the outgoing buffer"
            met = states.get(message_id) == pb.ACK_STATE_UNACKNOWLEDGED
            code = "wrong-state" if message_id in states else "not-kept"
            yield observe_outcome(observed.step, code, met, expected, shown, soft)
    for copy in view.copies:
        if copy.step.index < first_evidence_index(view, copy.original):
            yield observe_met(copy.step)


@check("SDS-STATE-15", pb.CAPABILITY_RESEND, of="mentions")
def acknowledged_leaves_the_buffer(view: ChannelView) -> Iterator[Observation]:
    """An acknowledged message is not resent, and not in the outgoing buffer unless marked as acknowledged."""
    if view.can(pb.CAPABILITY_VIRTUAL_CLOCK):
        yield from no_copies_after_acknowledgement(view)
    acknowledged = acknowledged_at(view)
    for observed in view.observed:
        certain = {message_id for message_id, step in acknowledged.items() if step.index < observed.step.index}
        if not certain or not observed.state.HasField("outgoing"):
            continue
        entries = observed.state.outgoing.entries
        waiting = (e.message_id for e in entries if e.state != pb.ACK_STATE_ACKNOWLEDGED)
        left = next((message_id for message_id in waiting if message_id in certain), None)
        expected = f"{left!r}, which was acknowledged, not in the outgoing buffer"
        seen = "the outgoing buffer still contains the message"
        yield observe_outcome(observed.step, "still-buffered", left is None, expected, seen)


_PERIODS_OF_WAITING = 5
"""Number of resend periods after which a possibly acknowledged message counts as never resent, if no separate period
for such messages is in force.
"""


@check("SDS-OUTSWEEP-01", *_RESENDS, of="sent")
def unacknowledged_are_rebroadcast(view: ChannelView) -> Iterator[Observation]:
    """An unacknowledged message is broadcast again after each resend period."""
    period, undeclared = resend_period(view), period_is_undeclared(view)
    for sent in view.sent if period is not None else ():
        rounds = resends(view, sent)
        yield from map(observe_met, rounds.copies)
        if rounds.overdue is not None:
            waited = rounds.overdue.now_ms - rounds.last.now_ms
            which = f"{sent.message.message_id!r}, unacknowledged and last broadcast at step {rounds.last.index}"
            expected = f"a copy of {which}, {waited} ms ago, with "
            expected += "no declared resend period" if undeclared else f"a resend period of {period} ms"
            soft = "AMB-64" if len(rounds.copies) >= CAP else ""
            code = "stopped-resending" if rounds.copies else "never-resent"
            seen = "no copy, although the sweep has run" + (f"; {UNDECLARED_PERIOD}" if undeclared else "")
            yield observe_violation(rounds.overdue, code, expected, seen, soft)


@cache_per_view
def acknowledged_at(view: ChannelView) -> dict[str, Step]:
    """By ID of an own message that a causal history names: the step that acknowledges it.

    Acknowledgement signals decide, or the shown states if there are no signals. SDS-ACK-01 judges missing
    acknowledgements.
    """
    found: dict[str, Step] = {}
    for mention in view.mentions:
        named = mention.received.step
        acked_steps = (ack.step for ack in view.ack_evidence(mention.message_id).acks if not ack.possibly)
        step = next((step for step in acked_steps if step.index >= named.index), None)
        if not view.can(pb.CAPABILITY_ACKNOWLEDGED):
            step = named if was_acknowledged_by(view, mention.received, mention.message_id) is not False else None
        if mention.in_history and step is not None:
            found.setdefault(mention.message_id, step)
    return found


def no_copies_after_acknowledgement(view: ChannelView) -> Iterator[Observation]:
    """Judge whether messages are resent after a causal history has acknowledged them.

    The rule is exercised if a tick after the acknowledgement does not resend the message.
    """
    for message_id, step in acknowledged_at(view).items():
        late = [copy for copy in view.ack_evidence(message_id).copies if copy.step.index > step.index]
        late = [c for c in late if view.first_requests.get(message_id, NEVER) > c.step.index]
        ticks = [t for t in view.ticks if t.index > step.index and t.now_ms > step.now_ms]
        if late:
            expected = f"no copy of {message_id!r}, acknowledged at step {step.index}"
            yield observe_violation(late[0].step, "resent", expected, "a copy is sent")
        elif ticks:
            yield observe_met(ticks[-1])


@check("SDS-OUTSWEEP-04", *_RESENDS, of="mentions")
def acknowledged_are_not_rebroadcast(view: ChannelView) -> Iterator[Observation]:
    """An acknowledged message is not resent."""
    return no_copies_after_acknowledgement(view)


def _find_copies_after_mention(view: ChannelView, kind: Kind, code: str) -> Iterator[Observation]:
    """Judge whether own messages are resent after a message of the kind ``kind`` named them in its causal history.

    Judged only for implementations without a virtual clock. Resends up to the first tick after the naming message are
    not judged, because they may have been scheduled before.
    """
    if view.can(pb.CAPABILITY_VIRTUAL_CLOCK):
        return
    for mention in view.mentions:
        message_id, named = mention.message_id, mention.received
        if not mention.in_history or named.kind is not kind or named.oddity:
            continue
        if was_acknowledged_by(view, named, message_id) is False:
            continue
        copies = [copy.step for copy in view.ack_evidence(message_id).copies if message_id not in view.first_requests]
        ticks = [tick for tick in view.ticks if tick.index > named.step.index]
        late = [step for step in copies if ticks and step.index > ticks[0].index]
        if late:
            expected = f"no copy of {message_id!r}, which a causal history named at step {named.step.index}"
            yield observe_violation(late[0], code, expected, "a copy is sent")
        elif copies and len(ticks) > TOLERATED_SWEEPS:
            yield observe_met(ticks[-1])


@check("SDS-OUTSWEEP-04", pb.CAPABILITY_RESEND, of="mentions")
def named_messages_are_not_rebroadcast(view: ChannelView) -> Iterator[Observation]:
    """A message is not resent after a content message has named it.

    Judged only for implementations without a virtual clock.
    """
    return _find_copies_after_mention(view, Kind.CONTENT, code="resent")


@check("SDS-SYNC-12", pb.CAPABILITY_RESEND, of="mentions")
def named_in_syncs_are_not_rebroadcast(view: ChannelView) -> Iterator[Observation]:
    """A message is not resent after a sync message has named it.

    Judged only for implementations without a virtual clock.
    """
    return _find_copies_after_mention(view, Kind.SYNC, code="not-acknowledged")


@check("SDS-OUTSWEEP-06", *_PERIODS, of="copies")
def not_before_the_period(view: ChannelView) -> Iterator[Observation]:
    """No message is resent before the resend period in force has passed.

    The period may count from the previous resend or from the first broadcast. If it counts from the first broadcast, a
    late resend does not delay the next resend.
    """
    period = resend_period(view)
    if not period:
        return
    for copy in view.copies:
        if copy.step.index >= first_evidence_index(view, copy.original):
            continue
        waited = copy.step.now_ms - copy.previous.now_ms
        if view.first_requests.get(copy.message.message_id, NEVER) <= copy.step.index:
            continue  # a repair was requested (AMB-120)
        if waited < period and not clock_is_monotonic(view, copy.previous, copy.step):
            continue  # after the clock went back, timers may continue, or all of them may be due
        first = copy.original.step.now_ms
        met = waited >= period or (copy.step.now_ms - first) // period > (copy.previous.now_ms - first) // period > 0
        expected = f"no copy before the resend period of {period} ms is over"
        yield observe_outcome(copy.step, "resent-early", met, expected, f"a copy is sent after {waited} ms")


def _is_gap_while_possibly(possibly: PossiblyAcknowledgedSpan, gap: Gap) -> bool:
    """Did the gap between two broadcasts of an own message begin and end while the message was possibly acknowledged,
    before a message arrived that does not mention the own message?
    """
    return possibly.since.index < gap.first.index and gap.second.index < possibly.unambiguous_until


@check("SDS-OUTSWEEP-02", *_PERIODS, of="mentions sent")
def possibly_acknowledged_have_their_own_period(view: ChannelView) -> Iterator[Observation]:
    """Possibly acknowledged messages are sent again, and not at the period of unacknowledged messages.

    If the scenario asks for equal periods, an implementation that uses them is right.
    """
    c, asked = view.configuration, view.party.asked
    if not (c.resend_unacknowledged_ms and c.HasField("resend_possibly_acknowledged_ms")):
        return
    shared, own = c.resend_unacknowledged_ms, c.resend_possibly_acknowledged_ms
    equal = shared == own == asked.resend_unacknowledged_ms == asked.resend_possibly_acknowledged_ms
    for possibly in possibly_acknowledged(view):
        message_id = possibly.sent.message.message_id
        between = [gap for gap in gaps(view, possibly.sent) if _is_gap_while_possibly(possibly, gap)]
        at_shared = between and all(gap.fits(shared) and (shared == own or not gap.fits(own)) for gap in between)
        if at_shared and not equal:
            other = f"other than the {shared} ms of unacknowledged messages"
            expected = f"a resend period for {message_id!r}, possibly acknowledged, {other}"
            seen = f"copies are sent only at the shared period, such as after {between[0].waited_ms} ms"
            yield observe_violation(between[0].second, "same-period", expected, seen)
        yield from (observe_met(gap.second) for gap in between if not gap.fits(shared))
        if (
            not between
            and (tick := _find_overdue_resend(view, possibly, own or _PERIODS_OF_WAITING * shared)) is not None
        ):
            expected = f"{message_id!r}, possibly acknowledged, to be resent at a separate period"
            seen = f"no copy is sent for {tick.now_ms - possibly.since.now_ms} ms"
            yield observe_violation(tick, "never-resent", expected, seen, "AMB-66")


def _find_overdue_resend(view: ChannelView, possibly: PossiblyAcknowledgedSpan, period: int) -> Step | None:
    """The tick by which the message should have been resent; None if it was resent, or if its resend is not overdue."""
    since = possibly.since
    copies = view.ack_evidence(possibly.sent.message.message_id).copies
    if any(c.original is possibly.sent and c.step.index > since.index for c in copies):
        return None
    ticks = [tick for tick in view.ticks if since.index < tick.index < possibly.unambiguous_until]
    late = [tick for tick in ticks if tick.now_ms >= since.now_ms + 2 * period]
    overdue = late[TOLERATED_SWEEPS] if len(late) > TOLERATED_SWEEPS else None
    # A timer may stop until a clock that went back has caught up.
    return overdue if overdue is not None and clock_never_goes_back(view, view.trace.steps[0], overdue) else None


@check("SDS-OUTSWEEP-03", *_PERIODS, of="mentions sent")
def unacknowledged_come_sooner(view: ChannelView) -> Iterator[Observation]:
    """Unacknowledged messages are sent again at shorter periods than possibly acknowledged messages."""
    rare = [
        (gap, p.sent)
        for p in possibly_acknowledged(view)
        for gap in gaps(view, p.sent)
        if _is_gap_while_possibly(p, gap)
    ]
    if not rare:
        return
    often = [
        gap
        for sent in view.sent
        if not sent.repeat and sent.message.message_id not in view.first_requests
        for gap in gaps(view, sent)
        if gap.second.index < first_evidence_index(view, sent)
    ]
    if not often:
        return
    # A resend period is at most the shortest time between two broadcasts, and longer than any time without a copy.
    silent_ms = [gap.silent_ms for gap in often if gap.silent_ms]
    soonest, sent = min(rare, key=lambda pair: pair[0].waited_ms)
    if silent_ms and soonest.waited_ms <= min(silent_ms):
        often_enough = f"less often than unacknowledged messages, which wait for more than {min(silent_ms)} ms"
        expected = f"{sent.message.message_id!r}, possibly acknowledged, resent {often_enough}"
        seen = f"a copy {soonest.waited_ms} ms after the broadcast of step {soonest.first.index}"
        yield observe_violation(soonest.second, "not-less-often", expected, seen)
    elif min(gap.waited_ms for gap in often) <= max(gap.silent_ms for gap, _ in rare):
        yield observe_met(rare[-1][0].second)


@check("SDS-OUTSWEEP-03", *_PERIODS, of="sent")
def unacknowledged_go_first(view: ChannelView) -> Iterator[Observation]:
    """If the periods give unacknowledged messages no priority, their copies are sent first in a tick.

    "use distinct resend periods [...], prioritizing unacknowledged messages": if the period of possibly acknowledged
    messages is longer, it gives this priority, and any order within a tick is legal.
    """
    c = view.configuration
    if not c.HasField("resend_possibly_acknowledged_ms") or not c.resend_unacknowledged_ms:
        return
    if c.resend_possibly_acknowledged_ms > c.resend_unacknowledged_ms:
        return
    states = {possibly.sent.message.message_id: possibly for possibly in possibly_acknowledged(view)}
    if not states:
        return
    # A copy of a requested message may be a response, which is sent when it is due.
    resent = [copy for copy in view.copies if copy.message.message_id not in view.first_requests]
    for _, together in itertools.groupby(resent, key=lambda copy: copy.step.index):
        copies = list(together)
        kinds = [_was_possibly_acknowledged(view, copy, states.get(copy.message.message_id)) for copy in copies]
        if True not in kinds or False not in kinds:
            continue
        early = copies[kinds.index(True)].message.message_id
        expected = "copies of unacknowledged messages before copies of possibly acknowledged messages"
        seen = f"a copy of {early!r}, possibly acknowledged, before a copy of an unacknowledged message"
        met = kinds.index(True) >= len(kinds) - 1 - kinds[::-1].index(False)
        yield observe_outcome(copies[0].step, "wrong-order", met, expected, seen)


def _was_possibly_acknowledged(
    view: ChannelView, copy: Resend, possibly: PossiblyAcknowledgedSpan | None
) -> bool | None:
    """Was the resent message possibly acknowledged (True) or unacknowledged (False)? None if unknown, or if neither."""
    if possibly is not None and possibly.since.index < copy.step.index < possibly.until:
        return True
    return False if copy.step.index < first_evidence_index(view, copy.original) else None


def is_never_shown(view: ChannelView, buffer: str) -> bool:
    """Does no state show a buffer? Then checks judge the effects of its entries, such as resends, and not the entries.

    False if the implementation can show states, but the trace has none.
    """
    is_known = not view.can(pb.CAPABILITY_OBSERVE) or bool(view.observed)
    return is_known and not view.states_showing(buffer)


@check("SDS-SEND-10", *_RESENDS, of="sent")
def sent_messages_are_resent(view: ChannelView) -> Iterator[Observation]:
    """A message without evidence of an acknowledgement is sent again."""
    if not is_never_shown(view, "outgoing") or resend_period(view) is None:
        return
    for sent in view.sent:
        rounds = resends(view, sent)
        if rounds.copies:
            yield observe_met(rounds.copies[0])
        elif rounds.overdue is not None:
            expected = f"{sent.message.message_id!r} kept in the outgoing buffer, and sent again from there"
            seen = f"no copy is sent within {rounds.overdue.now_ms - sent.step.now_ms} ms"
            seen += f"; {UNDECLARED_PERIOD}" if period_is_undeclared(view) else ""
            yield observe_violation(rounds.overdue, "not-kept", expected, seen)


@check("SDS-STATE-08", *_PERIODS, of="sent")
def kept_as_unacknowledged(view: ChannelView) -> Iterator[Observation]:
    """A message without evidence of an acknowledgement is resent at the period for unacknowledged messages."""
    c = view.configuration
    shared, other = c.resend_unacknowledged_ms, c.resend_possibly_acknowledged_ms
    if not is_never_shown(view, "outgoing") or not 0 < 2 * shared < other:
        return
    for sent in view.sent:
        rounds = resends(view, sent)
        for gap in gaps(view, sent):
            if gap.second in rounds.copies and gap.fits(shared):
                yield observe_met(gap.second)
        late = rounds.overdue
        if rounds.copies and late is not None:
            after = [g for g in gaps(view, sent) if g.first is rounds.last and g.second.index > late.index]
            if after and after[0].fits(other):
                which = f"{sent.message.message_id!r}, without evidence of an acknowledgement"
                expected = f"{which}, sent again every {shared} ms"
                seen = f"resent after {after[0].waited_ms} ms, like a possibly acknowledged message"
                yield observe_violation(after[0].second, "wrong-state", expected, seen)


@check("SDS-STATE-13", *_PERIODS, of="sent")
def possibly_acknowledged_is_kept(view: ChannelView) -> Iterator[Observation]:
    """A possibly acknowledged message is kept: it is sent again at its own period, if such a period is in force."""
    period = view.configuration.resend_possibly_acknowledged_ms
    if not is_never_shown(view, "outgoing") or not period:
        return
    for possibly in possibly_acknowledged(view):
        copies = [c.step for c in view.copies if c.original is possibly.sent and c.step.index > possibly.since.index]
        due = possibly.since.now_ms + 2 * period
        late = [t for t in view.ticks if possibly.since.index < t.index < possibly.until and t.now_ms >= due]
        if copies:
            yield observe_met(copies[0])
        elif len(late) > TOLERATED_SWEEPS and clock_never_goes_back(view, possibly.sent.step, late[-1]):
            message_id, overdue = possibly.sent.message.message_id, late[TOLERATED_SWEEPS]
            expected = f"{message_id!r}, possibly acknowledged, sent again after {period} ms"
            seen = "no copy is sent: the message is no longer in the outgoing buffer"
            yield observe_violation(
                overdue, "not-kept", expected, seen, position_on_giving_up(view, message_id, overdue.index)
            )


def judge_not_resent(view: ChannelView, what: str, sent: Iterable[Sent]) -> Iterator[Observation]:
    """Judge messages of the kind ``what``, which must be broadcast only once: they are neither in the outgoing buffer
    nor resent.
    """
    first = {one.message.message_id: one.step for one in reversed([*sent])}
    copies = [(step, wire.message) for step, wire in view.strays if wire.message is not None]
    once_only = first.keys() - view.known_ids
    again = [
        (step, m.message_id) for step, m in copies if m.channel_id == view.channel_id and m.message_id in once_only
    ]
    for step, message_id in again:
        expected = f"the {what} {message_id!r} never broadcast again"
        yield observe_violation(step, "kept-for-resending", expected, "a copy is sent")
    for observed in view.states_showing("outgoing"):
        earlier = {message_id for message_id, step in first.items() if step.index < observed.step.index}
        buffered = {entry.message_id for entry in observed.state.outgoing.entries}
        kept = min(earlier & once_only & buffered, default=None)
        if earlier:
            expected = f"no {what} in the outgoing buffer"
            seen = f"{kept!r} in the outgoing buffer"
            yield observe_outcome(observed.step, "kept-for-resending", kept is None, expected, seen)
    for tick in view.ticks if not again else ():
        if any(step.index < tick.index and step.now_ms < tick.now_ms for step in first.values()):
            yield observe_met(tick)

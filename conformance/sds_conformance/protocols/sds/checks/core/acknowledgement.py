"""Acknowledgements: section ACK, and the rules of other sections on the three acknowledgement states of an own
message.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from sds_harness.sds.trace import Step
from sds_proto.testee.v1 import testee_pb2 as pb
from sds_reference import Kind

from .....judging.judgement import Observation, observe_met, observe_note, observe_outcome, observe_violation
from .....judging.table import RuleRow
from .....judging.view_cache import cache_per_view
from ...register import check, table
from ...view.channel_view import ChannelView
from ...view.facts import AckEvent, Mention, Received
from ...view.lateness import find_late_sweep, first_mention, was_noticed
from ...view.repair_tracker import NEVER
from ...view.resends import Gap, first_evidence_index, gaps, position_on_giving_up, possibly_acknowledged, resend_period
from .filters import is_in_next_filter


def was_acknowledged_by(view: ChannelView, received: Received, message_id: str) -> bool | None:
    """Was an own message acknowledged by the step of an arrival, or before?

    If the participant signals acknowledgements, the signals decide; otherwise the state that the next step shows. None
    if unknown.
    """
    if view.can(pb.CAPABILITY_ACKNOWLEDGED):
        acks = view.ack_evidence(message_id).acks
        return any(not ack.possibly and ack.step.index <= received.step.index for ack in acks)
    for observed in view.observed:
        if observed.step.index == received.step.index + 1 and observed.state.HasField("outgoing"):
            waiting = {e.message_id for e in observed.state.outgoing.entries if e.state != pb.ACK_STATE_ACKNOWLEDGED}
            return message_id not in waiting
    return None


@check("SDS-RECV-11", of="received")
def effects_in_order(view: ChannelView) -> Iterator[Observation]:
    """An arriving own message is ignored; causal history and filter are reviewed before a message is buffered."""
    for received in view.received:
        if not received.own:
            continue
        acks = [a for a in view.acks if a.step is received.step]
        mentions_own = any(view.own(entry.message_id) for entry in received.message.causal_history)
        if acks:
            expected = "no acknowledgement by an own message, which does not prove that others received anything"
            seen = f"{acks[0].message_id!r} {'possibly ' if acks[0].possibly else ''}acknowledged"
            soft = "AMB-21" if all(ack.possibly for ack in acks) else ""
            yield observe_violation(received.step, "acknowledged-by-own", expected, seen, soft)
        elif mentions_own:
            yield observe_met(received.step)
    for mention in view.mentions:
        if (sweep := find_late_sweep(view, mention)) is not None:
            expected = f"{mention.message_id!r} acknowledged on arrival of the message that mentions it"
            seen = f"acknowledged only by the sweep of step {sweep.index}"
            yield observe_violation(mention.received.step, "acknowledged-late", expected, seen, "AMB-143")
        elif mention.in_history and mention.received.unmet and mention.received.acceptable:
            reviewed = was_acknowledged_by(view, mention.received, mention.message_id)
            filtered = is_in_next_filter(view, mention.received)
            if reviewed and filtered:  # SDS-RECV-03 and SDS-RECV-04 judge the other cases
                yield observe_met(mention.received.step)


@check("SDS-STATE-12", pb.CAPABILITY_ACKNOWLEDGED, of="unmentioned")
def unmentioned_stay_unacknowledged(view: ChannelView) -> Iterator[Observation]:
    """An own message stays unacknowledged when a message arrives that does not mention it."""
    for silent in view.unmentioned:
        step, evidence = silent.received.step, view.ack_evidence(silent.message_id)
        events = [ack for ack in evidence.acks if ack.step is step]
        before = any(mention.received.step.index < step.index for mention in evidence.mentions)
        if events and not before:
            expected = f"{silent.message_id!r} unacknowledged: neither history nor filter contains it"
            seen = f"{'possibly ' if events[0].possibly else ''}acknowledged"
            yield observe_violation(step, "acknowledged-by-nothing", expected, seen)
        elif not before:
            yield observe_met(step)


@check("SDS-STATE-12", pb.CAPABILITY_ACKNOWLEDGED, of="acks")
def no_acknowledgement_without_evidence(view: ChannelView) -> Iterator[Observation]:
    """An own message stays unacknowledged as long as no received message mentions it."""
    for ack in view.acks:
        if view.own(ack.message_id) is None:
            continue
        evident = [mention.received.step.index for mention in view.ack_evidence(ack.message_id).mentions]
        evident += [view.possible_evidence[ack.message_id]] if ack.message_id in view.possible_evidence else []
        evident += [early] if (early := first_mention(view, ack.message_id)) is not None else []
        expected = f"{ack.message_id!r} unacknowledged: no received message mentions it"
        seen = f"{'possibly ' if ack.possibly else ''}acknowledged in answer to {ack.step.command}"
        met = any(index <= ack.step.index for index in evident)
        yield observe_outcome(ack.step, "acknowledged-by-nothing", met, expected, seen)


@check("SDS-STATE-13", pb.CAPABILITY_POSSIBLY_ACKNOWLEDGED, of="mentions")
def possibly_acknowledged_stays_buffered(view: ChannelView) -> Iterator[Observation]:
    """A possibly acknowledged message stays in the outgoing buffer."""
    once_in_a_filter = [mention for mention in view.mentions if mention.hits == 1 and not mention.in_history]
    for observed in view.states_showing("outgoing"):
        buffered = {entry.message_id for entry in observed.state.outgoing.entries}
        for mention in once_in_a_filter:
            if view.possible_evidence.get(mention.message_id, observed.step.index) < observed.step.index:
                continue
            once = mention.received.step.index < observed.step.index
            mentions = view.ack_evidence(mention.message_id).mentions if once else ()
            acks = (ack for ack in view.ack_evidence(mention.message_id).acks if not ack.possibly)
            if any(ack.step.index < observed.step.index for ack in acks):
                continue  # a wrong acknowledgement violates SDS-ACK-04 or SDS-STATE-12
            if once and not any(m is not mention and m.received.step.index < observed.step.index for m in mentions):
                met = mention.message_id in buffered
                expected = f"{mention.message_id!r}, possibly acknowledged, in the outgoing buffer"
                soft = position_on_giving_up(view, mention.message_id, observed.step.index)
                yield observe_outcome(observed.step, "not-kept", met, expected, "the buffer lacks the message", soft)
    for mention in once_in_a_filter:
        later = (copy.step for copy in view.ack_evidence(mention.message_id).copies)
        yield from (observe_met(step) for step in later if step.index > mention.received.step.index)


@check("SDS-STATE-16", pb.CAPABILITY_CHANNELS, pb.CAPABILITY_ACKNOWLEDGED, of="came-elsewhere sent")
def channels_are_isolated(view: ChannelView) -> Iterator[Observation]:
    """A message of one channel acknowledges nothing in another channel."""
    for step in view.trace.of(view.party.name):
        message = step.arrived
        if message is None or message.channel_id == view.channel_id or message.sender_id == view.party.participant_id:
            continue
        # Messages of the other channel may have the same IDs as messages of this channel, and may become acknowledged.
        acked = {event.message_id for event in step.signals("acknowledged", view.channel_id)}
        judged = [(entry.message_id, entry.message_id in acked, "acknowledged") for entry in message.causal_history]
        possibly = step.signals("possibly_acknowledged", view.channel_id)
        judged += [(event.message_id, True, "possibly acknowledged") for event in possibly]
        for own_id, wrong, seen in judged:
            sent = view.own(own_id)
            if sent is not None and first_evidence_index(view, sent) >= step.index:
                whose = f"of channel {view.channel_id!r} not acknowledged by a message of {message.channel_id!r}"
                yield observe_outcome(step, "acknowledged-elsewhere", not wrong, f"{own_id!r} {whose}", seen)


_RANKS = {pb.ACK_STATE_UNACKNOWLEDGED: 0, pb.ACK_STATE_POSSIBLY_ACKNOWLEDGED: 1, pb.ACK_STATE_ACKNOWLEDGED: 2}
_NAMES = ("unacknowledged", "possibly acknowledged", "acknowledged")


@check("SDS-STATE-14", of="mentions")
def one_of_several_participants_acknowledges(view: ChannelView) -> Iterator[Observation]:
    """If several participants are known, the causal history of one participant is enough to acknowledge a message."""
    met: dict[str, int] = {}
    for received in view.received:
        if not received.own and not received.rejected:
            met.setdefault(received.message.sender_id, received.step.index)
    for mention in view.mentions:
        named_by = mention.received.message.sender_id
        known = {who for who, index in met.items() if index < mention.received.step.index}
        if not mention.in_history or not known - {named_by}:
            continue
        result = _was_acknowledged_by_mention(view, mention)
        if result is True:
            yield observe_met(mention.received.step)
        elif result is False:
            by = f"the message of {named_by!r} that names it: one participant is enough"
            expected = f"{mention.message_id!r} acknowledged by {by}"
            others = ", ".join(map(repr, sorted(known - {named_by})))
            seen = f"not acknowledged before another message names it; also known: {others}"
            soft = position_on_giving_up(view, mention.message_id, mention.received.step.index)
            yield observe_violation(mention.received.step, "not-acknowledged", expected, seen, soft)


def _was_acknowledged_by_mention(view: ChannelView, mention: Mention) -> bool | None:
    """Did the causal history of ``mention`` acknowledge the own message?

    Steps after another causal history names the message do not count. If the participant signals acknowledgements, the
    signals decide; otherwise the last shown state, or, without one, whether resending stopped. None if unknown.
    """
    message_id, index = mention.message_id, mention.received.step.index
    named_again = (
        r.step.index
        for r in view.received
        if r.step.index > index and message_id in {entry.message_id for entry in r.message.causal_history}
    )
    until = min(named_again, default=len(view.trace.steps) + 1)
    if view.can(pb.CAPABILITY_ACKNOWLEDGED):
        if any(not ack.possibly and ack.step.index < until for ack in view.ack_evidence(message_id).acks):
            return True
        # A sweep may give the signal, so the absence of a signal proves nothing before the next tick.
        return False if any(index < tick.index < until for tick in view.ticks) else None
    shown = [o for o in view.observed if index < o.step.index < until and o.state.HasField("outgoing")]
    if shown:
        entries = shown[-1].state.outgoing.entries
        return message_id not in {e.message_id for e in entries if e.state != pb.ACK_STATE_ACKNOWLEDGED}
    return _copies_stopped(view, mention, until)


def _copies_stopped(view: ChannelView, mention: Mention, until: int) -> bool | None:
    """Did the participant stop resending an own message after the mention, up to the step with the index ``until``?

    None if no resend was due before that step, or if a repair request may cause resends.
    """
    message_id, since = mention.message_id, mention.received.step
    period = resend_period(view)
    timed = view.can(pb.CAPABILITY_RESEND) and view.can(pb.CAPABILITY_VIRTUAL_CLOCK)
    if not timed or period is None or message_id in view.first_requests:
        return None
    copies = [copy.step for copy in view.ack_evidence(message_id).copies]
    if any(since.index < step.index < until for step in copies):
        return False
    last = max(copies, key=lambda step: step.index, default=since)
    due = max(last.now_ms, since.now_ms) + 2 * period
    ticks = [tick for tick in view.ticks if since.index < tick.index < until and tick.now_ms > since.now_ms]
    return True if last is not since and ticks and ticks[-1].now_ms >= due else None


def _ids_used_once(view: ChannelView) -> set[str]:
    """IDs that only one own message has: a second message with the same ID would start as unacknowledged again."""
    return {s.message.message_id for s in view.sent} - {s.message.message_id for s in view.sent if s.repeat}


@check("SDS-STATE-17", pb.CAPABILITY_ACKNOWLEDGED, of="acks")
def signals_go_forward(view: ChannelView) -> Iterator[Observation]:
    """After a message is acknowledged, no later step signals it as possibly acknowledged."""
    own = _ids_used_once(view)
    acknowledged: dict[str, int] = {}
    for ack in view.acks:
        if ack.message_id not in own:
            continue
        at = acknowledged.get(ack.message_id)
        met = not (ack.possibly and at is not None and at < ack.step.index)
        expected = f"{ack.message_id!r} still acknowledged, as it has been since step {at}"
        yield observe_outcome(ack.step, "moved-back", met, expected, "possibly acknowledged again")
        if not ack.possibly:
            acknowledged.setdefault(ack.message_id, ack.step.index)


@check("SDS-STATE-17", of="outgoing-shown sent")
def shown_states_go_forward(view: ChannelView) -> Iterator[Observation]:
    """A shown buffer has one acknowledgement state for each own message, and no state moves back."""
    own = _ids_used_once(view)
    reached: dict[str, int] = {}
    for observed in view.states_showing("outgoing"):
        states: dict[str, set[int]] = {}
        for entry in observed.state.outgoing.entries:  # rank -1: an unknown state
            states.setdefault(entry.message_id, set()).add(_RANKS.get(entry.state, -1))
        # An acknowledged message leaves the buffer, or stays in it as acknowledged (AMB-C15).
        states |= {message_id: {2} for message_id in reached if message_id not in states}
        for message_id in [message_id for message_id in states if message_id in own]:
            ranks = states[message_id]
            if len(ranks) > 1 or not ranks <= {0, 1, 2}:
                seen = [_NAMES[rank] if rank in (0, 1, 2) else "in no known state" for rank in sorted(ranks)]
                expected = f"{message_id!r} in one of the three acknowledgement states"
                yield observe_violation(observed.step, "no-single-state", expected, " and ".join(seen))
                continue
            (rank,) = ranks
            before = reached.setdefault(message_id, rank)
            if rank < before:
                expected = f"{message_id!r} {_NAMES[before]} as before, or in a later state"
                yield observe_violation(observed.step, "moved-back", expected, _NAMES[rank])
            elif rank:
                yield observe_met(observed.step)
            reached[message_id] = max(rank, before)


def _shown_state(view: ChannelView, mention: Mention) -> int | None:
    """The acknowledgement state in the step after the mention; None if this step does not show the outgoing buffer."""
    states = _shown_states(view).get(mention.received.step.index + 1)
    return states.get(mention.message_id, pb.ACK_STATE_ACKNOWLEDGED) if states is not None else None


@cache_per_view
def _shown_states(view: ChannelView) -> dict[int, dict[str, int]]:
    """By index of a step that shows the outgoing buffer: the acknowledgement states by message ID."""
    return {
        observed.step.index: {entry.message_id: entry.state for entry in observed.state.outgoing.entries}
        for observed in view.states_showing("outgoing")
    }


def _was_acknowledged_on_mention(view: ChannelView, mention: Mention) -> bool:
    acks = view.ack_evidence(mention.message_id).acks
    return any(ack.step is mention.received.step and not ack.possibly for ack in acks)


@check("SDS-ACK-03", pb.CAPABILITY_ACKNOWLEDGED, of="mentions")
def filters_may_acknowledge(view: ChannelView) -> Iterator[Observation]:
    """Several filters may acknowledge a message. Their number is noted, unless the configuration sets it."""
    asked = view.party.asked.HasField("possible_ack_threshold")
    for mention in view.mentions:
        if not mention.in_history and mention.hits >= 2:
            if not asked and _was_acknowledged_on_mention(view, mention):
                yield observe_note(mention.received.step, f"acknowledged after {mention.hits} filters")
            else:
                yield observe_met(mention.received.step)


@check("SDS-ACK-04", pb.CAPABILITY_ACKNOWLEDGED, of="mentions")
def one_filter_is_not_enough(view: ChannelView) -> Iterator[Observation]:
    """A single filter never acknowledges a message: the message stays in the outgoing buffer."""
    for mention in view.mentions:
        if mention.in_history or mention.hits != 1:
            continue
        acked = _was_acknowledged_on_mention(view, mention)
        met = not acked and _shown_state(view, mention) != pb.ACK_STATE_ACKNOWLEDGED
        expected = f"{mention.message_id!r} at most possibly acknowledged by one filter"
        soft = "" if acked else position_on_giving_up(view, mention.message_id, mention.received.step.index)
        yield observe_outcome(mention.received.step, "acknowledged-by-one-filter", met, expected, "acknowledged", soft)


@check("SDS-ACK-04", pb.CAPABILITY_ACKNOWLEDGED, of="acks")
def one_filter_stays_one(view: ChannelView) -> Iterator[Observation]:
    """A single filter does not acknowledge a message at a later step either.

    The delivery of the message with the filter does not count as a second filter.
    """
    for ack in view.acks:
        before = [m for m in view.ack_evidence(ack.message_id).mentions if m.received.step.index <= ack.step.index]
        alone = len(before) == 1 and not before[0].in_history and before[0].received.step is not ack.step
        unread = view.possible_evidence.get(ack.message_id, NEVER) <= ack.step.index
        if alone and ack.outstanding and not ack.possibly and not unread:
            since = before[0].received.step.index
            expected = f"{ack.message_id!r} at most possibly acknowledged: only the filter of step {since} holds it"
            seen = f"acknowledged in answer to {ack.step.command}"
            yield observe_violation(ack.step, "acknowledged-later", expected, seen)


@check("SDS-ACK-05", pb.CAPABILITY_ACKNOWLEDGED, of="received")
def only_own_outstanding_messages(view: ChannelView) -> Iterator[Observation]:
    """Only own messages that are not acknowledged yet become acknowledged, and no message of another participant does.

    If the revision logs sync messages, own sync messages may be acknowledged as well.
    """
    syncs = {sent.message.message_id for sent in view.syncs} if view.revision.syncs_are_logged else set()
    wrong: dict[int, list[AckEvent]] = {}
    for ack in view.acks:
        if not ack.outstanding and ack.message_id not in syncs:
            wrong.setdefault(ack.step.index, []).append(ack)
    for received in view.received:
        if received.own or received.rejected:
            continue
        signalled = wrong.get(received.step.index, [])
        foreign = [e.message_id for e in received.message.causal_history if view.own(e.message_id) is None]
        if signalled or foreign:
            expected = "only own outstanding messages acknowledged"
            seen = f"{signalled[0].message_id!r} is acknowledged" if signalled else ""
            twice = signalled and view.own(signalled[0].message_id)
            code = "acknowledged-twice" if twice else "foreign-acknowledged"
            yield observe_outcome(received.step, code, not signalled, expected, seen)


@check("SDS-ACK-06", of="observed")
def no_fall_back_to_unacknowledged(view: ChannelView) -> Iterator[Observation]:
    """A possibly acknowledged message does not fall back to unacknowledged."""
    possibly: set[str] = set()
    for observed in view.observed:
        for entry in observed.state.outgoing.entries:
            if entry.state == pb.ACK_STATE_POSSIBLY_ACKNOWLEDGED:
                possibly.add(entry.message_id)
            if entry.message_id not in possibly:
                continue
            silent = view.ack_evidence(entry.message_id).unmentioned
            passed = any(unmentioned.received.step.index < observed.step.index for unmentioned in silent)
            if entry.state == pb.ACK_STATE_UNACKNOWLEDGED:
                expected = f"{entry.message_id!r} still possibly acknowledged"
                yield observe_violation(observed.step, "unacknowledged-again", expected, "unacknowledged again")
            elif passed:
                yield observe_met(observed.step)


@check("SDS-ACK-06", pb.CAPABILITY_RESEND, pb.CAPABILITY_RESEND_PERIOD, pb.CAPABILITY_VIRTUAL_CLOCK, of="mentions sent")
def no_fall_back_to_the_shorter_period(view: ChannelView) -> Iterator[Observation]:
    """A possibly acknowledged message keeps the longer resend period when a filter without the message arrives.

    The times between resends show the acknowledgement state. Judged only if the trace shows the longer period as well,
    in another message or in an earlier gap. Otherwise the two periods are equal, which is another fault.
    """
    c = view.configuration
    shorter, longer = c.resend_unacknowledged_ms, c.resend_possibly_acknowledged_ms
    if not 0 < shorter < longer:
        return
    kept = False
    after: list[tuple[str, Gap]] = []
    for possibly in possibly_acknowledged(view):
        for gap in gaps(view, possibly.sent):
            if not possibly.since.index < gap.first.index < gap.second.index < possibly.until:
                continue
            if possibly.silent is not None and possibly.silent.index < gap.first.index:
                after.append((possibly.sent.message.message_id, gap))
            elif possibly.silent is None or gap.second.index < possibly.silent.index:
                kept |= gap.silent_ms >= shorter
    for message_id, gap in after:
        if gap.silent_ms >= shorter or (kept and gap.fits(shorter) and gap.waited_ms < longer):
            expected = f"{message_id!r} still possibly acknowledged, and resent every {longer} ms"
            seen = f"resent after {gap.waited_ms} ms, like an unacknowledged message ({shorter} ms)"
            yield observe_outcome(gap.second, "unacknowledged-again", gap.silent_ms >= shorter, expected, seen)


@check("SDS-SYNC-12", of="refused")
def gaps_in_syncs_are_noticed(view: ChannelView) -> Iterator[Observation]:
    """A sync message that names missing messages is not refused, because it must cause repair requests."""
    for received in view.refused if view.terms.on else ():
        missing = [i for i in received.unmet if view.repair.original(i) is None]
        if received.kind is Kind.SYNC and received.valid and missing:
            expected = f"{min(missing)!r} noticed as missing, because the sync message names it"
            yield observe_violation(received.step, "refused", expected, received.refusal)


class _Review(NamedTuple):
    """A message that mentions an own message, and whether the mention had an effect."""

    view: ChannelView
    mention: Mention
    noticed: bool
    """The own message was acknowledged, or possibly acknowledged, as required."""
    reuses_id: bool
    """The received message is a sync message with the ID of an earlier sync message."""

    @property
    def step(self) -> Step:
        return self.mention.received.step

    @property
    def sync(self) -> bool:
        return self.mention.received.kind is Kind.SYNC


def reviews(view: ChannelView) -> Iterator[_Review]:
    """Own messages become acknowledged if a causal history names them, and possibly acknowledged if a filter holds
    them.

    Mentions are left out if it is unknown whether they had an effect. Refused messages are left out unless they are
    sync messages.
    """
    syncs = (r for r in reversed(view.received) if r.kind is Kind.SYNC and not r.own)
    first = {received.message.message_id: received.step.index for received in syncs}
    for mention in view.mentions + [refused for refused in view.refused_mentions if refused.received.kind is Kind.SYNC]:
        received = mention.received
        noticed = (
            was_acknowledged_by(view, received, mention.message_id)
            if mention.in_history
            else _was_possibly_acknowledged(view, mention)
        )
        noticed = False if received.rejected else was_noticed(view, mention, noticed)
        if noticed is not None:
            again = first.get(received.message.message_id, received.step.index) < received.step.index
            yield _Review(view, mention, noticed, again)


def _was_possibly_acknowledged(view: ChannelView, mention: Mention) -> bool | None:
    """Was an own message acknowledged or possibly acknowledged after a filter with its ID arrived? None if unknown."""
    index = mention.received.step.index
    signalled = any(ack.step.index <= index for ack in view.ack_evidence(mention.message_id).acks)
    state = _shown_state(view, mention)
    marked = signalled or state in (pb.ACK_STATE_POSSIBLY_ACKNOWLEDGED, pb.ACK_STATE_ACKNOWLEDGED)
    is_known = marked or view.can(pb.CAPABILITY_POSSIBLY_ACKNOWLEDGED) or state is not None
    return marked if is_known else None


def _describe_review(review: _Review, row: RuleRow[_Review]) -> tuple[str, str]:
    received = review.mention.received
    seen = (
        "the message is not acknowledged" if review.mention.in_history else "the message is not possibly acknowledged"
    )
    return f"{review.mention.message_id!r} {row.why}", received.refusal if received.rejected else seen


def _named_at_once(review: _Review) -> bool:
    return review.mention.in_history and not review.sync and not review.mention.received.unmet


def _named_while_waiting(review: _Review) -> bool:
    return review.mention.in_history and not review.sync and bool(review.mention.received.unmet)


def _named_by_another(review: _Review) -> bool:
    return review.mention.in_history and (review.sync or bool(review.mention.received.unmet))


def _named_by_sync(review: _Review) -> bool:
    return review.mention.in_history and review.sync


def _named_by_sync_again(review: _Review) -> bool:
    return review.mention.in_history and review.reuses_id and not review.mention.received.rejected


def _in_filter(review: _Review) -> bool:
    return not review.mention.in_history and not review.mention.received.rejected


def _in_filter_of_sync(review: _Review) -> bool:
    return not review.mention.in_history and review.sync


def _was_refused(review: _Review) -> bool:
    return review.mention.received.rejected


def _was_not_noticed(review: _Review) -> bool:
    return not review.noticed


def _giving_up_position(review: _Review) -> str:
    return position_on_giving_up(review.view, review.mention.message_id, review.step.index)


_NAMED = "acknowledged, because the received causal history names the message"
_WAITING = "acknowledged at once, although the naming message must wait"
_AGAIN = "acknowledged by a sync message whose ID was used before"
_BY_SYNC, _MAYBE_BY_SYNC = "acknowledged by the sync message", "possibly acknowledged by the sync message"
_HELD = "possibly acknowledged, because the received bloom filter holds the ID"

table(
    reviews,
    _describe_review,
    [
        # the columns: requirement, applies, wrong, code, why, position
        RuleRow(
            "SDS-RECV-03", _named_while_waiting, _was_not_noticed, "not-acknowledged", _WAITING, _giving_up_position
        ),
        RuleRow("SDS-ACK-01", _named_at_once, _was_not_noticed, "not-acknowledged", _NAMED, _giving_up_position),
        RuleRow("SDS-ACK-02", _in_filter, _was_not_noticed, "not-possibly-acknowledged", _HELD, _giving_up_position),
        RuleRow("SDS-ACK-07", _named_by_another, _was_refused, "refused", _NAMED),
        RuleRow("SDS-ACK-07", _named_by_another, _was_not_noticed, "not-acknowledged", _NAMED, _giving_up_position),
        RuleRow("SDS-SYNC-10", _named_by_sync_again, _was_not_noticed, "not-acknowledged", _AGAIN, _giving_up_position),
        RuleRow("SDS-SYNC-12", _named_by_sync, _was_refused, "refused", _BY_SYNC, _giving_up_position),
        RuleRow("SDS-SYNC-12", _named_by_sync, _was_not_noticed, "not-acknowledged", _BY_SYNC, _giving_up_position),
        RuleRow("SDS-SYNC-12", _in_filter_of_sync, _was_refused, "refused", _MAYBE_BY_SYNC, _giving_up_position),
        RuleRow(
            "SDS-SYNC-12",
            _in_filter_of_sync,
            _was_not_noticed,
            "not-possibly-acknowledged",
            _MAYBE_BY_SYNC,
            _giving_up_position,
        ),
    ],
    of="arrived",
    apart=True,
)

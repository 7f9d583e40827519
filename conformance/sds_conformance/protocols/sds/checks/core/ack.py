"""Section ACK: "Review ACK Status"."""

from __future__ import annotations

from collections.abc import Iterator

from sds_proto.testee.v1 import testee_pb2 as pb
from sds_reference import Kind

from .....judging.judgement import Observation, held, judged, noted, violated
from .....judging.once import once
from ...register import check
from ...view.channel_view import ChannelView
from ...view.facts import AckEvent, Mention
from ...view.lateness import settled
from ...view.repair_tracker import NEVER
from ...view.resends import Gap, gaps, given_up, possibly_acknowledged
from .receive import judge_mention


@check("SDS-ACK-01", of="mentions")
def history_acknowledges(view: ChannelView) -> Iterator[Observation]:
    """An own message named in a received causal history is acknowledged."""
    for mention in view.mentions:
        if mention.certain and not mention.received.unmet and mention.received.kind is Kind.CONTENT:
            yield from judge_mention(view, mention, "acknowledged: the causal history received names it")


def _shown_state(view: ChannelView, mention: Mention) -> int | None:
    """Its state by an Observe right after the mention; None if there is none."""
    states = _shown_states(view).get(mention.received.step.index + 1)
    return states.get(mention.message_id, pb.ACK_STATE_ACKNOWLEDGED) if states is not None else None


@once
def _shown_states(view: ChannelView) -> dict[int, dict[str, int]]:
    """By step: the states of own messages that are shown there."""
    return {
        observed.step.index: {entry.message_id: entry.state for entry in observed.state.outgoing.entries}
        for observed in view.showing("outgoing")
    }


@check("SDS-ACK-02", of="mentions")
def filter_possibly_acknowledges(view: ChannelView) -> Iterator[Observation]:
    """An own message found in a received filter is possibly acknowledged."""
    for mention in view.mentions:
        if mention.certain:
            continue
        index = mention.received.step.index
        said = [ack for ack in view.standing(mention.message_id).acks if ack.step.index <= index]
        state = _shown_state(view, mention)
        marked = bool(said) or state in (pb.ACK_STATE_POSSIBLY_ACKNOWLEDGED, pb.ACK_STATE_ACKNOWLEDGED)
        told = marked or view.can(pb.CAPABILITY_POSSIBLY_ACKNOWLEDGED) or state is not None
        result = settled(view, mention, marked if told else None)
        if result:
            yield held(mention.received.step)
        elif result is False:
            expected = f"{mention.message_id!r} possibly acknowledged: it is in the bloom filter received"
            yield violated(
                mention.received.step,
                "not-possibly-acknowledged",
                expected,
                "no sign of it",
                given_up(view, mention.message_id, index),
            )


def _acked_with(view: ChannelView, mention: Mention) -> bool:
    """Was the message acknowledged in answer to what speaks for it?"""
    acks = view.standing(mention.message_id).acks
    return any(ack.step is mention.received.step and not ack.possibly for ack in acks)


@check("SDS-ACK-03", pb.CAPABILITY_ACKNOWLEDGED, of="mentions")
def filters_may_acknowledge(view: ChannelView) -> Iterator[Observation]:
    """Several filters may acknowledge; after how many is told, not judged."""
    for mention in view.mentions:
        if not mention.certain and mention.hits >= 2:
            if _acked_with(view, mention):
                yield noted(mention.received.step, f"acknowledged after {mention.hits} filters")
            else:
                yield held(mention.received.step)


@check("SDS-ACK-04", pb.CAPABILITY_ACKNOWLEDGED, of="mentions")
def one_filter_is_not_enough(view: ChannelView) -> Iterator[Observation]:
    """A single filter never acknowledges: the message stays in the buffer."""
    for mention in view.mentions:
        if mention.certain or mention.hits != 1:
            continue
        acked = _acked_with(view, mention)
        met = not acked and _shown_state(view, mention) != pb.ACK_STATE_ACKNOWLEDGED
        expected = f"{mention.message_id!r} at most possibly acknowledged by one filter"
        soft = "" if acked else given_up(view, mention.message_id, mention.received.step.index)
        yield judged(mention.received.step, "acknowledged-by-one-filter", met, expected, "acknowledged", soft)


@check("SDS-ACK-04", pb.CAPABILITY_ACKNOWLEDGED, of="acks")
def one_filter_stays_one(view: ChannelView) -> Iterator[Observation]:
    """A single filter acknowledges later no more than at once: it is the same one when its message is delivered."""
    for ack in view.acks:
        said = [m for m in view.standing(ack.message_id).mentions if m.received.step.index <= ack.step.index]
        alone = len(said) == 1 and not said[0].certain and said[0].received.step is not ack.step
        unread = view.maybe.get(ack.message_id, NEVER) <= ack.step.index
        if alone and ack.outstanding and not ack.possibly and not unread:
            since = said[0].received.step.index
            expected = f"{ack.message_id!r} at most possibly acknowledged: only the filter of step {since} holds it"
            yield violated(ack.step, "acknowledged-later", expected, f"acknowledged in answer to {ack.step.command}")


@check("SDS-ACK-05", pb.CAPABILITY_ACKNOWLEDGED, of="received")
def only_own_outstanding_messages(view: ChannelView) -> Iterator[Observation]:
    """IDs of others, unknown IDs and IDs acknowledged before raise no acknowledgement.

    Where sync messages are logged like all others, nothing says that own ones are not outstanding.
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
        strangers = [e.message_id for e in received.message.causal_history if view.own(e.message_id) is None]
        if signalled or strangers:
            expected = "acknowledgements of own outstanding messages only"
            seen = f"an acknowledgement of {signalled[0].message_id!r}" if signalled else ""
            yield judged(
                received.step,
                "acknowledged-twice" if signalled and view.own(signalled[0].message_id) else "foreign-acknowledged",
                not signalled,
                expected,
                seen,
            )


@check("SDS-ACK-06", of="observed")
def no_way_back(view: ChannelView) -> Iterator[Observation]:
    """A possibly acknowledged message does not fall back to unacknowledged."""
    possibly: set[str] = set()
    for observed in view.observed:
        for entry in observed.state.outgoing.entries:
            if entry.state == pb.ACK_STATE_POSSIBLY_ACKNOWLEDGED:
                possibly.add(entry.message_id)
            if entry.message_id not in possibly:
                continue
            silent = view.standing(entry.message_id).unmentioned
            passed = any(unmentioned.received.step.index < observed.step.index for unmentioned in silent)
            if entry.state == pb.ACK_STATE_UNACKNOWLEDGED:
                expected = f"{entry.message_id!r} still possibly acknowledged"
                yield violated(observed.step, "unacknowledged-again", expected, "unacknowledged again")
            elif passed:
                yield held(observed.step)


@check("SDS-ACK-06", pb.CAPABILITY_RESEND, pb.CAPABILITY_RESEND_PERIOD, pb.CAPABILITY_VIRTUAL_CLOCK, of="mentions sent")
def no_way_back_to_the_shorter_period(view: ChannelView) -> Iterator[Observation]:
    """After a filter without it, a possibly acknowledged message is not resent at the unacknowledged period again.

    The state shows in the gaps between copies. That the longer period is kept at all must show beside it, in a message
    that nothing arrived without, or before; else the two periods are the same, which is another fault.
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
                kept |= gap.looked >= shorter
    for message_id, gap in after:
        if gap.looked >= shorter or (kept and gap.fits(shorter) and gap.waited < longer):
            expected = f"{message_id!r} still possibly acknowledged, and resent every {longer} ms"
            seen = f"a copy after {gap.waited} ms, as of an unacknowledged message ({shorter} ms)"
            yield judged(gap.second, "unacknowledged-again", gap.looked >= shorter, expected, seen)


@check("SDS-ACK-07", of="arrived")
def any_message_acknowledges(view: ChannelView) -> Iterator[Observation]:
    """Sync messages and messages that must wait acknowledge as well."""
    refused = [mention for mention in view.unheard if mention.received.kind is Kind.SYNC]
    for mention in view.mentions + refused:
        if mention.certain and (mention.received.kind is Kind.SYNC or mention.received.unmet):
            yield from judge_mention(view, mention, "acknowledged: the causal history received names it")

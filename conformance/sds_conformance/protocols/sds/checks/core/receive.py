"""Section RECV: "Receive Message"."""

from __future__ import annotations

import itertools
from bisect import bisect_right
from collections.abc import Iterator

from sds_harness.sds.trace import Step
from sds_proto.testee.v1 import testee_pb2 as pb
from sds_reference import Kind

from .....judging.judgement import Observation, held, judged, noted, violated
from .....judging.once import once
from ...register import check
from ...view.channel_view import ChannelView
from ...view.deafness import freed_probes, tail_probes
from ...view.dependencies import depends, waiting_dependencies, woken_beside
from ...view.elsewhere import met_elsewhere
from ...view.facts import Delivered, Mention, Received, Sent
from ...view.filters import ENOUGH, Membership
from ...view.histories import foreign_ids, outsiders, waiting_ids
from ...view.lateness import may_be_delivered_late, noticed_late, settled
from ...view.losses import given_up_too_early, may_be_given_up, may_be_lost
from ...view.odd_messages import NAMELESS
from ...view.refusals import excuse
from ...view.repair_tracker import NEVER
from ...view.resends import given_up
from .send import received_before


@check("SDS-RECV-02", pb.CAPABILITY_DELIVERED, of="again-came received")
def duplicates(view: ChannelView) -> Iterator[Observation]:
    """A copy of known content may be recognised; whether it is delivered again is told, not judged."""
    for received in view.received:
        if received.duplicate and not received.own and received.step.reply is not None:
            if received.rejected:
                yield noted(received.step, f"refused {received.message.message_id!r} on its second arrival")
            elif received.delivered_at_once:
                yield noted(received.step, f"delivered {received.message.message_id!r} again on its second arrival")
            else:
                yield held(received.step)


_FEW = 20
"""So few messages leave most bits of any filter unset."""


def acknowledged_by(view: ChannelView, received: Received, message_id: str) -> bool | None:
    """Was the own message acknowledged with that arrival? By its event, else by the state; None if neither can tell."""
    if view.can(pb.CAPABILITY_ACKNOWLEDGED):
        acks = view.standing(message_id).acks
        return any(not ack.possibly and ack.step.index <= received.step.index for ack in acks)
    for observed in view.observed:
        if observed.step.index == received.step.index + 1 and observed.state.HasField("outgoing"):
            waiting = {e.message_id for e in observed.state.outgoing.entries if e.state != pb.ACK_STATE_ACKNOWLEDGED}
            return message_id not in waiting
    return None


def judge_mention(view: ChannelView, mention: Mention, expected: str) -> Iterator[Observation]:
    """Was an own message that a causal history names acknowledged? Nothing is said where nothing can tell."""
    result = settled(view, mention, acknowledged_by(view, mention.received, mention.message_id))
    if mention.received.rejected:
        yield violated(mention.received.step, "refused", f"{mention.message_id!r} {expected}", mention.received.refusal)
    elif result is True:
        yield held(mention.received.step)
    elif result is False:
        soft = given_up(view, mention.message_id, mention.received.step.index)
        yield violated(
            mention.received.step, "not-acknowledged", f"{mention.message_id!r} {expected}", "no acknowledgement", soft
        )


@check("SDS-RECV-03", of="mentions unmet")
def buffered_messages_are_reviewed(view: ChannelView) -> Iterator[Observation]:
    """The ACK status is reviewed with a message even if that message has to wait."""
    for mention in view.mentions:
        if not mention.certain or not mention.received.unmet or mention.received.kind is not Kind.CONTENT:
            continue
        yield from judge_mention(view, mention, "acknowledged at once, although the message that names it must wait")


def _filters_after(view: ChannelView, received: Received) -> Iterator[tuple[Sent, bool | None]]:
    """Own messages after an arrival whose filters can be read, and whether they hold its ID."""
    message_id, filters = received.message.message_id, _filters(view)
    for sent, holds, kept in filters[bisect_right(filters, received.step.index, key=_sent_at) :]:
        if message_id in kept:
            yield sent, holds(message_id)


@once
def _filters(view: ChannelView) -> list[tuple[Sent, Membership, set[str]]]:
    """Own messages whose filters can be read, with these and with what every roll-over keeps in them."""
    asked = [sent for sent in view.outgoing if sent.message.bloom_filter is not None and not sent.repeat]
    read = [(sent, view.filter_of(sent.message.bloom_filter)) for sent in asked]
    return [
        (sent, holds, set(received_before(view, sent, delivered=False))) for sent, holds in read if holds is not None
    ]


def _sent_at(entry: tuple[Sent, Membership, set[str]]) -> int:
    return entry[0].step.index


@check("SDS-RECV-04", of="received")
def received_ids_enter_the_filter(view: ChannelView) -> Iterator[Observation]:
    """Received content enters the local filter, delivered or not."""
    for received in view.received:
        if not received.acceptable:
            continue
        for sent, hit in _filters_after(view, received):
            if hit:
                yield held(sent.step)
                continue
            waits = received.unmet and not any(d.step.index < sent.step.index for d in received.delivered)
            if waits and hit is False:
                which = f"{received.message.message_id!r}, come at step {received.step.index} and waiting"
                yield violated(sent.step, "not-in-filter", f"{which}, in the filter", "it is not in it")


@check("SDS-RECV-04", of="outgoing received")
def filters_change_by_what_is_received(view: ChannelView) -> Iterator[Observation]:
    """A filter is not the same bytes before and after several messages have come: the bloom delta.

    That one new ID changes no bit is a false positive; that none of four does, while the filter is all but empty, is no
    chance. A change proves nothing, for encodings may differ each time.
    """
    with_filters = [sent for sent in view.outgoing if sent.message.bloom_filter is not None and not sent.repeat]
    for before, after in itertools.pairwise(with_filters):
        if before.message.bloom_filter != after.message.bloom_filter:
            continue
        received = [r for r in view.received if r.step.index < after.step.index]
        fresh = [r for r in received if r.step.index > before.step.index and r.acceptable]
        if len(fresh) >= ENOUGH and len(received) <= _FEW:
            expected = f"another bloom filter than at step {before.step.index}: {len(fresh)} messages came in between"
            yield violated(
                after.step, "not-in-filter", expected, f"the same {len(after.message.bloom_filter or b'')} bytes"
            )


@check("SDS-RECV-04", pb.CAPABILITY_OBSERVE, of="observed received")
def the_newest_is_shown_in_the_filter(view: ChannelView) -> Iterator[Observation]:
    """Where the filter itself is asked, it holds what came last, whatever its encoding, its size and a roll-over.

    Own messages may enter the filter too (AMB-19), and a roll-over may leave out all that came before them.
    """
    capacity = view.configuration.bloom_capacity
    came = [received for received in view.received if received.acceptable and not received.duplicate]
    own = [sent.step.index for sent in view.sent]
    for observed in view.observed:
        asked = observed.step.request.observe.filter_ids
        at = bisect_right(came, observed.step.index, key=lambda received: received.step.index)
        newest = came[at - 1] if at else None
        sent = bisect_right(own, observed.step.index)
        aged = newest is not None and sent > bisect_right(own, newest.step.index)
        if newest is None or (aged and at + sent > capacity):
            continue
        message_id, hits = newest.message.message_id, dict(zip(asked, observed.state.filter_hits, strict=False))
        if message_id in hits:
            expected = f"{message_id!r}, the last that came, in the filter"
            yield judged(observed.step, "not-in-filter", hits[message_id], expected, "it is not in it")


@check("SDS-RECV-05", pb.CAPABILITY_DELIVERED, of="delivered unmet")
def dependencies_verified(view: ChannelView) -> Iterator[Observation]:
    """A message with a dependency that is not in the log, nor waits for its place in it, is not delivered.

    What is in no log for another reason, for a sync message, say, has a requirement that says so. What may have been
    given up for lost does not count (AMB-92).
    """
    for received in view.received if view.delivered else ():
        never = received.unmet - received.unmet_buffered
        if received.acceptable and never and not received.delivered_at_once:
            yield held(received.step)
    for delivery in view.delivered:
        if delivery.received is None or delivery.received.kind is not Kind.CONTENT:
            continue
        never = delivery.unmet - delivery.unmet_buffered - {delivery.message_id}
        never -= _known_elsewhere(view, delivery)
        if not view.revision.syncs_are_logged:  # elsewhere nothing else is said of what meets a dependency
            never -= outsiders(view, never, delivery.step.index)
        never -= {i for i in never if view.own(i) is not None}  # in the log, if anywhere for want of a timestamp
        never -= _delivered_in(view).get(delivery.step.index, _NOTHING)
        if never and (never := never - _given_up(view, delivery)):
            expected = f"{delivery.message_id!r} to wait for {_what_became_of(view, min(never), delivery.step)}"
            yield violated(delivery.step, "delivered-early", expected, "its delivery")


def _known_elsewhere(view: ChannelView, delivery: Delivered) -> set[str]:
    """Unmet dependencies of a delivered message that another channel has: SDS-RECV-06's matter."""
    elsewhere = met_elsewhere(view)
    return {i for i in delivery.unmet if elsewhere.get(i, NEVER) <= delivery.step.index and i not in foreign_ids(view)}


def _given_up(view: ChannelView, delivery: Delivered) -> set[str]:
    """Of what a message is delivered without, that which may have been given up: by itself, or with the message."""
    itself = may_be_lost(view, [delivery.message_id], delivery.step)
    return set(delivery.unmet) if itself else may_be_lost(view, delivery.unmet, delivery.step)


def _what_became_of(view: ChannelView, message_id: str, until: Step) -> str:
    """A dependency that is neither in the log nor waits, in words."""
    come = [r.step for r in view.arrivals.get(message_id, ()) if r.step.index <= until.index]
    refused = [r.step for r in view.refused if r.message.message_id == message_id and r.step.index <= until.index]
    if come:
        return f"{message_id!r}, which arrived at step {come[-1].index} and is not in the log"
    return f"{message_id!r}, which {f'was refused at step {refused[-1].index}' if refused else 'has not arrived'}"


@once
def _delivered_in(view: ChannelView) -> dict[int, set[str]]:
    """What each step delivers, in whatever order: that is another requirement's matter."""
    found: dict[int, set[str]] = {}
    for delivery in view.delivered:
        found.setdefault(delivery.step.index, set()).add(delivery.message_id)
    return found


_NOTHING: frozenset[str] = frozenset()


@check("SDS-RECV-05", pb.CAPABILITY_DELIVERED, of="delivered")
def nothing_from_nowhere(view: ChannelView) -> Iterator[Observation]:
    """What is delivered has arrived or was sent."""
    sent = {s.message.message_id for s in view.sent + view.ephemerals}
    for delivery in view.delivered:
        if _of_no_channel(view, delivery):
            continue  # of a channel that the participant is no member of: SDS-STATE-16
        seen = f"a delivery of {delivery.message_id!r}, which did not"
        expected = "deliveries of messages that arrived in the channel"
        yield judged(
            delivery.step,
            "delivered-unreceived",
            delivery.received is not None or delivery.message_id in sent,
            expected,
            seen,
        )


def _of_no_channel(view: ChannelView, delivery: Delivered) -> bool:
    """Was a message delivered that is of a channel which the participant has not joined?"""
    message = delivery.step.arrived
    return (
        delivery.received is None
        and message is not None
        and message.message_id == delivery.message_id
        and message.channel_id not in view.party.channels
    )


@check("SDS-RECV-05", of="outgoing unmet")
def named_messages_have_their_dependencies(view: ChannelView) -> Iterator[Observation]:
    """No causal history names a message of which a dependency has never arrived: only what is delivered is in the log.

    This is for who gives no delivery events (AMB-27).
    """
    if view.can(pb.CAPABILITY_DELIVERED) or view.gives_up:
        return
    own = {sent.message.message_id for sent in view.sent}
    first = {message_id: came[0].step.index for message_id, came in view.arrivals.items()}
    for refused in view.refused:
        first.setdefault(refused.message.message_id, refused.step.index)
    for sent in view.outgoing:
        for message_id, came in view.arrivals.items():
            before = [received for received in came if received.step.index < sent.step.index]
            missing = [_never_came(received, own, first, sent.step) for received in before if received.acceptable]
            if missing and all(missing) and len(before) == len(missing):
                expected = (
                    f"{message_id!r} to wait for {missing[0]!r}, which has not arrived, and not in causal_history"
                )
                seen = f"it is in causal_history: {list(sent.history)}"
                yield judged(sent.step, "delivered-early", message_id not in sent.history, expected, seen)


def _never_came(received: Received, own: set[str], first: dict[str, int], by: Step) -> str:
    """A dependency of a message that has not arrived by a step, in whatever way, and is no own one; "" if none."""
    named = (entry.message_id for entry in received.message.causal_history)
    return next((i for i in named if i not in own and first.get(i, by.index) >= by.index), "")


@check("SDS-RECV-06", pb.CAPABILITY_DELIVERED, of="unmet")
def buffered_is_not_met(view: ChannelView) -> Iterator[Observation]:
    """A dependency that is only buffered does not count as met."""
    for received in view.received:
        waiting_too = waiting_dependencies(view, received) if received.acceptable else []
        if waiting_too and not any(d.unmet_buffered for d in received.delivered):
            yield held(max(received.step, waiting_too[0].step, key=lambda step: step.index))
    for delivery in view.delivered:
        waiting = delivery.unmet_buffered - {delivery.message_id}
        if delivery.received is None or delivery.received.kind is not Kind.CONTENT:
            continue
        waiting -= _delivered_in(view).get(delivery.step.index, _NOTHING)
        if waiting and (waiting := waiting - _given_up(view, delivery)):
            expected = (
                f"{delivery.message_id!r} to wait for {min(waiting)!r}, which is itself waiting and not in the log"
            )
            soft = "AMB-45" if any(depends(view, other, delivery.message_id) for other in waiting) else ""
            yield violated(delivery.step, "delivered-early", expected, "its delivery", soft)
        elif delivery.message_id in delivery.unmet and delivery.message_id not in _given_up(view, delivery):
            expected = f"{delivery.message_id!r} to wait for ever: it depends on itself"
            yield violated(delivery.step, "met-by-itself", expected, "its delivery", "AMB-44")


@check("SDS-RECV-06", pb.CAPABILITY_DELIVERED, pb.CAPABILITY_CHANNELS, of="channels received")
def another_channel_meets_nothing(view: ChannelView) -> Iterator[Observation]:
    """A dependency that only another channel of the participant has does not count as met.

    An own message of another channel is left to SDS-MSG-15 where causal histories name such messages.
    """
    mixed = any(i in foreign_ids(view) for sent in view.outgoing for i in sent.history)
    for received in view.received if met_elsewhere(view) else ():
        known = {i for i in received.unmet if met_elsewhere(view).get(i, NEVER) <= received.step.index}
        if received.acceptable and known and not received.delivered_at_once:
            yield held(received.step)
    for delivery in view.delivered:
        if delivery.received is None or delivery.received.kind is not Kind.CONTENT:
            continue
        known = {i for i in delivery.unmet if met_elsewhere(view).get(i, NEVER) <= delivery.step.index}
        known -= _delivered_in(view).get(delivery.step.index, _NOTHING)
        known -= foreign_ids(view) if mixed else set()
        if known and (known := known - delivery.unmet_buffered - _given_up(view, delivery)):
            expected = f"{delivery.message_id!r} to wait for {min(known)!r}, which only another channel has"
            yield violated(delivery.step, "met-by-another-channel", expected, "its delivery")


@check("SDS-RECV-07", pb.CAPABILITY_DELIVERED, of="received")
def met_messages_are_delivered(view: ChannelView) -> Iterator[Observation]:
    """Content whose dependencies are met is delivered, without waiting for a sweep."""
    for received in view.received:
        if not received.acceptable or received.unmet or received.step.reply is None:
            continue
        if received.delivered_at_once:
            yield held(received.step)
            continue
        expected = f"{received.message.message_id!r}, all of whose dependencies are met, to be delivered"
        if received.delivered:
            later = received.delivered[0].step.index
            yield violated(
                received.step, "delivered-late", f"{expected} at once", f"its delivery at step {later}", "AMB-94"
            )
        elif received.foreign_filter:
            because = "; an unreadable bloom filter must not cost the content (AMB-53)"
            # What delivers nothing at all has another fault.
            code = "unreadable-filter" if view.delivered else "never-delivered"
            yield violated(received.step, code, expected + because, "nothing")
        elif not may_be_delivered_late(view, received):
            yield violated(received.step, "never-delivered", expected, "nothing")


@check("SDS-RECV-07", of="outgoing received")
def met_messages_are_in_the_next_history(view: ChannelView) -> Iterator[Observation]:
    """Content whose dependencies are met is in the log, and so at the end of the next causal history: the tail probe.

    This is for who gives no delivery events. A message that may be delivered by the next sweep is not asked for before
    one, unless others were delivered without (AMB-94).
    """
    if view.can(pb.CAPABILITY_DELIVERED):
        return
    asked: set[str] = set()
    probes = []
    for sent, received in tail_probes(view):
        message_id = received.message.message_id
        if message_id not in asked:
            swept = any(received.step.index < tick.index < sent.step.index for tick in view.ticks)
            probes.append((sent, received, swept))
            asked.add(message_id)
    at_once = any(received.message.message_id in sent.history for sent, received, swept in probes if not swept)
    for sent, received, swept in probes:
        message_id = received.message.message_id
        if message_id in sent.history or swept or at_once:
            expected = (
                f"{message_id!r}, which came at step {received.step.index} with all dependencies met, in its history"
            )
            yield judged(sent.step, "never-delivered", message_id in sent.history, expected, f"{list(sent.history)}")


@check("SDS-RECV-07", of="refused")
def met_messages_are_not_refused(view: ChannelView) -> Iterator[Observation]:
    """Content whose dependencies are met is not refused, unless a declared limit or a position lets it be."""
    for received in view.refused:
        message_id, why = received.message.message_id, excuse(view, received)
        if received.acceptable and not received.unmet and not why:
            because = "; an unreadable bloom filter must not cost the content (AMB-53)"
            expected = f"{message_id!r}, all of whose dependencies are met, to be delivered"
            yield violated(
                received.step,
                "unreadable-filter" if received.foreign_filter and view.received else "refused",
                expected + because * received.foreign_filter,
                received.refusal,
            )
        elif message_id and received.kind is Kind.CONTENT and not received.own and why and view.delivered:
            yield noted(received.step, f"refused {message_id!r}, as it may: {why}")


@check("SDS-RECV-07", pb.CAPABILITY_DELIVERED, of="delivered received")
def nameless_messages_are_of_others(view: ChannelView) -> Iterator[Observation]:
    """Content without a sender ID is somebody else's, who speaks an older revision: refused, or delivered as any."""
    for received in view.received if view.delivered else ():
        if received.odd == NAMELESS and received.kind is Kind.CONTENT and not (received.unmet or received.duplicate):
            expected = f"{received.message.message_id!r}, which names no sender, to be delivered, unless it is refused"
            yield judged(
                received.step, "nameless-never-delivered", bool(received.delivered), expected, "nothing", "AMB-50"
            )


def quiet_after(view: ChannelView, received: Received) -> bool:
    """Did the schedule tick after the last delivery, so that whatever was going to come has come?

    Where an implementation goes by its own clock, ticks tell only if each of them sweeps.
    """
    last = max((d.step.index for d in view.delivered), default=0)
    settled = max(last, received.step.index)
    c = view.configuration
    period = c.incoming_sweep_ms if c.HasField("incoming_sweep_ms") else 60_000
    if period and not view.can(pb.CAPABILITY_VIRTUAL_CLOCK):
        return False
    since = view.trace.steps[settled - 1].now_ms
    sweeps = 0
    for tick in view.ticks:
        if tick.index > settled:
            if not period or tick.now_ms >= since + period:
                sweeps, since = sweeps + 1, tick.now_ms
            since = min(since, tick.now_ms)
    return sweeps >= 2


def judge_waiting(
    view: ChannelView, received: Received, expected: str, seen: str, *, code: str, unless_shown: bool | None
) -> Iterator[Observation]:
    """Was a message that had to wait delivered later? Violated if it never was, although what it waits for has been.

    It is not where the state, as it is last shown, has it in the incoming buffer or not, as ``unless_shown`` says: if
    it is there, it was kept and is not delivered, and if it is not, it was not kept. None stands for either.
    """
    if received.delivered and not received.delivered_at_once:
        yield held(received.step)
        return
    due = not received.delivered and received.unmet <= view.logged_ids and quiet_after(view, received)
    if due and (unless_shown is None or shown_waiting(view, received) is not unless_shown):
        yield violated(received.step, code, expected, seen)


def shown_waiting(view: ChannelView, received: Received) -> bool | None:
    """Is it in the incoming buffer, as that is last shown? None if it is not shown after the message came."""
    shown = [observed for observed in view.showing("incoming") if observed.step.index > received.step.index]
    return received.message.message_id in shown[-1].state.incoming.message_ids if shown else None


@check("SDS-RECV-08", pb.CAPABILITY_DELIVERED, of="received unmet")
def unmet_messages_are_kept(view: ChannelView) -> Iterator[Observation]:
    """A message with an unmet dependency is kept, and delivered once the dependency has come, without being resent."""
    for received in view.received:
        if not received.acceptable or not received.unmet or waiting_dependencies(view, received):
            continue
        if may_be_given_up(view, received):
            continue
        if shown_waiting(view, received) is None and woken_beside(view, received):
            continue  # who keeps what waits and does not wake all of it shows the same: SDS-INSWEEP-04
        expected = f"{received.message.message_id!r} to be kept, and delivered when {min(received.unmet)!r} had come"
        yield from judge_waiting(view, received, expected, "it was never delivered", code="not-kept", unless_shown=True)


@check("SDS-RECV-08", pb.CAPABILITY_VIRTUAL_CLOCK, of="outgoing unmet")
def unmet_messages_are_in_a_later_history(view: ChannelView) -> Iterator[Observation]:
    """A message that had to wait is at the end of a causal history when its dependencies have come: it was kept.

    This is for who gives no delivery events.
    """
    asked: set[str] = set()
    for sent, received, since in freed_probes(view) if not view.can(pb.CAPABILITY_DELIVERED) else ():
        message_id = received.message.message_id
        if message_id not in asked:
            asked.add(message_id)
            kept = f"{message_id!r}, which waited, kept until step {since.index} brought all that it depends on"
            yield judged(
                sent.step,
                "not-kept",
                message_id in sent.history,
                f"{kept}, and in causal_history",
                f"{list(sent.history)}",
            )


@check("SDS-RECV-08", of="refused unmet")
def unmet_messages_are_not_refused(view: ChannelView) -> Iterator[Observation]:
    """That a dependency is unmet is no reason to refuse a message."""
    for received in view.refused:
        if received.acceptable and received.unmet and not excuse(view, received):
            expected = f"{received.message.message_id!r} to be kept until {min(received.unmet)!r} has come"
            yield violated(received.step, "refused", expected, received.refusal)


@check("SDS-RECV-09", pb.CAPABILITY_DELIVERED)
def waiting_messages_stay_invisible(view: ChannelView) -> Iterator[Observation]:
    """A message that waits is not in the log and in no causal history."""
    for sent in view.outgoing:
        waiting = waiting_ids(view, sent.step.index)
        if not waiting or not sent.certain:
            continue
        shown = next((message_id for message_id in sent.history if message_id in waiting), None)
        expected = f"{shown!r}, which still waits, in no causal history"
        yield judged(sent.step, "logged", shown is None, expected, f"{list(sent.history)}")
    for observed in view.observed:
        waiting = set(observed.buffered)
        if not waiting or not observed.state.HasField("log"):
            continue
        shown = next((i for i in observed.step.shown_log if i in waiting), None)
        yield judged(
            observed.step, "logged", shown is None, f"{shown!r}, which still waits, not in the log", "it is in the log"
        )


@check("SDS-RECV-09", pb.CAPABILITY_DELIVERED, pb.CAPABILITY_LOST, pb.CAPABILITY_VIRTUAL_CLOCK, of="delivered unmet")
def waiting_messages_are_not_given_up_early(view: ChannelView) -> Iterator[Observation]:
    """Before the time in force is over, no message is delivered because what it waits for was given up.

    That it is reported as lost too early is no excuse: giving up is a MAY "after a predetermined amount of time".
    """
    for delivery in view.delivered if view.gives_up else ():
        early = given_up_too_early(view, delivery.unmet - delivery.unmet_buffered, delivery.step)
        if early and delivery.received is not None and delivery.received.acceptable:
            timeout = view.configuration.lost_timeout_ms
            expected = f"{delivery.message_id!r} to wait for {min(early)!r} until {timeout} ms are over"
            yield violated(delivery.step, "given-up-early", expected, "its delivery")
        elif delivery.received is not None and delivery.unmet - delivery.unmet_buffered:
            yield held(delivery.step)


@check("SDS-RECV-10", pb.CAPABILITY_DELIVERED, of="received sync-came")
def contentless_messages_leave_no_trace(view: ChannelView) -> Iterator[Observation]:
    """A message without content is neither delivered nor logged, whether content is unset or of zero length."""
    logs = [(o, set(o.step.shown_log)) for o in view.showing("log")]
    for received in view.received:
        if received.kind is not Kind.SYNC or received.own or received.unmet or received.step.reply is None:
            continue
        message_id = received.message.message_id
        delivered = [event.message_id for event in received.step.events if event.kind == "delivered"]
        later = (o for o, log in logs if message_id in log and o.step.index > received.step.index)
        logged = next(later, None)
        if message_id in delivered:
            yield violated(
                received.step, "delivered", "no delivery of a message without content", f"a delivery of {message_id!r}"
            )
        elif logged is not None and message_id not in view.known_ids:
            expected = f"{message_id!r}, a message without content, not in the log"
            yield violated(logged.step, "logged", expected, "it is in the log")
        else:
            yield held(received.step)


@check("SDS-RECV-10", pb.CAPABILITY_DELIVERED, of="received")
def nothing_of_no_kind_is_delivered(view: ChannelView) -> Iterator[Observation]:
    """A message with neither content nor timestamp is not delivered either."""
    for received in view.received:
        if received.kind is Kind.UNDEFINED and not received.own:
            expected = "no delivery of a message without content"
            yield judged(received.step, "delivered", not received.delivered_at_once, expected, "a delivery")


@check("SDS-RECV-11", of="received")
def effects_in_order(view: ChannelView) -> Iterator[Observation]:
    """The own-sender rule comes before everything, and review and filter before the message is put aside."""
    for received in view.received:
        if not received.own:
            continue
        acks = [a for a in view.acks if a.step is received.step]
        mentions_own = any(view.own(entry.message_id) for entry in received.message.causal_history)
        if acks:
            expected = "no acknowledgement from the participant's own message: its own copy is no receipt"
            seen = f"{acks[0].message_id!r} {'possibly ' if acks[0].possibly else ''}acknowledged"
            yield violated(
                received.step,
                "acknowledged-by-own",
                expected,
                seen,
                "AMB-21" if all(ack.possibly for ack in acks) else "",
            )
        elif mentions_own:
            yield held(received.step)
    for mention in view.mentions:
        if (sweep := noticed_late(view, mention)) is not None:
            expected = f"{mention.message_id!r} acknowledged with the message that speaks for it"
            yield violated(
                mention.received.step,
                "acknowledged-late",
                expected,
                f"it is by the sweep of step {sweep.index}",
                "AMB-143",
            )
        elif mention.certain and mention.received.unmet and mention.received.acceptable:
            reviewed = acknowledged_by(view, mention.received, mention.message_id)
            filtered = next((hit for _, hit in _filters_after(view, mention.received)), None)
            if reviewed and filtered:  # where it is not so, SDS-RECV-03 and SDS-RECV-04 say it
                yield held(mention.received.step)

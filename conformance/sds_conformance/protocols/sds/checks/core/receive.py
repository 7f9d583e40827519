"""Receiving and delivering: sections RECV and INSWEEP, the incoming buffer, and the separation of channels."""

from __future__ import annotations

from bisect import bisect_right, insort
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass

from sds_harness.sds.trace import Step
from sds_proto.testee.v1 import testee_pb2 as pb
from sds_reference import Kind, MalformedMessageError
from sds_reference.wire_fields import count_missing_bytes

from .....judging.judgement import Observation, observe_met, observe_note, observe_outcome, observe_violation
from .....judging.table import RuleRow
from .....judging.view_cache import cache_per_view
from ...register import check, table
from ...view.channel_view import ChannelView
from ...view.deafness import nothing_is_pending_after
from ...view.dependencies import depends_on, other_dependent_was_delivered, waiting_dependencies
from ...view.facts import DeliveredMessage, Received
from ...view.histories import ids_barred_from_log, own_ids_of_other_channels, sync_ids
from ...view.lateness import may_be_delivered_late
from ...view.losses import find_given_up_too_early, find_possibly_lost, first_missed_ms, longest_wait, may_be_given_up
from ...view.odd_messages import NAMELESS, in_another_layout
from ...view.other_channels import met_elsewhere
from ...view.refusals import arrived_in_order, excuse_refusal
from ...view.repair_tracker import NEVER
from .filters import _only_refused
from .history import missing_signals
from .outgoing_buffer import is_never_shown


@check("SDS-SEND-06", pb.CAPABILITY_DELIVERED, of="arrived")
def histories_of_any_length_accepted(view: ChannelView) -> Iterator[Observation]:
    """Messages with 0 to 200 entries in their causal history are accepted."""
    for received in arrived_in_order(view):
        if received.plain and not received.unmet:
            expected = f"a message with {len(received.message.causal_history)} dependencies, all met, to be delivered"
            code = "refused" if received.rejected else "never-delivered"
            yield observe_outcome(received.step, code, bool(received.delivered), expected, "no delivery")


@check("SDS-RECV-02", pb.CAPABILITY_DELIVERED, of="again-came received")
def duplicates(view: ChannelView) -> Iterator[Observation]:
    """Duplicates of known content may be recognised. A second delivery is noted, not judged."""
    for received in view.received:
        if received.duplicate and not received.own and received.step.reply is not None:
            if received.rejected:
                yield observe_note(received.step, f"refused {received.message.message_id!r} on its second arrival")
            elif received.delivered_at_once:
                yield observe_note(
                    received.step, f"delivered {received.message.message_id!r} again on its second arrival"
                )
            else:
                yield observe_met(received.step)


@check("SDS-RECV-05", pb.CAPABILITY_DELIVERED, of="delivered unmet")
def dependencies_verified(view: ChannelView) -> Iterator[Observation]:
    """A message with a dependency that is neither in the log nor buffered is not delivered.

    Other requirements judge dependencies that are never in a log, such as sync messages. Dependencies that may have
    been given up as lost do not count (AMB-92).
    """
    for received in view.received:
        never = received.unmet - received.unmet_buffered
        if received.acceptable and never and not received.delivered_at_once:
            yield observe_met(received.step)
    for delivery, unmet in _deliveries_with_unmet(view):
        # SDS-RECV-06 judges dependencies that another channel has.
        elsewhere = _find_known_elsewhere(view, unmet, delivery.step) - own_ids_of_other_channels(view)
        never = unmet - delivery.unmet_buffered - {delivery.message_id} - elsewhere
        # Other requirements judge dependencies on sync messages, unless the revision logs sync messages.
        if not view.revision.syncs_are_logged:
            empty = {""} if "" in never and _is_empty_entry(view, delivery) else set()
            never -= ids_barred_from_log(view, never, delivery.step.index) - empty
        # Own messages are in the log, unless they have no timestamp.
        never -= {i for i in never if view.own(i) is not None}
        if never and (never := never - _find_given_up(view, delivery)):
            expected = f"{delivery.message_id!r} to wait for {_describe_unmet(view, min(never), delivery.step)}"
            seen = f"delivered at step {delivery.step.index}"
            yield observe_violation(delivery.step, "delivered-early", expected, seen)


def _is_empty_entry(view: ChannelView, delivery: DeliveredMessage) -> bool:
    """Did a scripted peer name the empty ID as a dependency, although no message has it?

    Such a dependency is never met (AMB-46)."""
    received = delivery.received
    participants = {party.participant_id for party in view.trace.parties.values()}
    scripted = received is not None and received.message.sender_id not in participants
    return scripted and "" not in view.arrivals and "" not in sync_ids(view)


def _find_known_elsewhere(view: ChannelView, message_ids: Iterable[str], by: Step) -> set[str]:
    """The IDs of ``message_ids`` whose content arrived or was sent in another channel by the end of a step."""
    return {message_id for message_id in message_ids if met_elsewhere(view).get(message_id, NEVER) <= by.index}


def _find_given_up(view: ChannelView, delivery: DeliveredMessage) -> set[str]:
    """The dependencies that were unmet at a delivery and may have been given up, alone or together with the message."""
    itself = find_possibly_lost(view, [delivery.message_id], delivery.step)
    return set(delivery.unmet) if itself else find_possibly_lost(view, delivery.unmet, delivery.step)


def _describe_unmet(view: ChannelView, message_id: str, until: Step) -> str:
    """Describe a dependency that is neither in the log nor buffered."""
    come = [r.step for r in view.arrivals.get(message_id, ()) if r.step.index <= until.index]
    refused = [r.step for r in view.refused if r.message.message_id == message_id and r.step.index <= until.index]
    if come:
        return f"{message_id!r}, which arrived at step {come[-1].index} and is not in the log"
    return f"{message_id!r}, which {f'was refused at step {refused[-1].index}' if refused else 'has not arrived'}"


@cache_per_view
def _deliveries_with_unmet(view: ChannelView) -> list[tuple[DeliveredMessage, frozenset[str]]]:
    """Deliveries of content, each with its unmet dependencies that are not delivered in the same step.

    Other requirements judge the order within a step, and messages that are delivered again.
    """
    together: dict[int, set[str]] = {}
    for delivery in view.delivered:
        together.setdefault(delivery.step.index, set()).add(delivery.message_id)
    return [
        (delivery, delivery.unmet - together[delivery.step.index])
        for delivery in view.delivered
        if delivery.received is not None and delivery.received.kind is Kind.CONTENT and not delivery.repeated
    ]


@check("SDS-RECV-05", pb.CAPABILITY_DELIVERED, of="delivered")
def delivered_messages_have_arrived(view: ChannelView) -> Iterator[Observation]:
    """Every delivered message has arrived or was sent before."""
    sent = {s.message.message_id for s in view.sent + view.ephemerals}
    for delivery in view.delivered:
        if _is_of_unjoined_channel(view, delivery):
            continue  # SDS-STATE-16 judges messages of a channel that was not joined
        seen = f"{delivery.message_id!r} is delivered, although it did not arrive"
        expected = "only delivery of messages that arrived in the channel"
        met = delivery.received is not None or delivery.message_id in sent
        yield observe_outcome(delivery.step, "delivered-unreceived", met, expected, seen)
    for step, message_id, missing in _truncated_deliveries(view):
        expected = f"{message_id!r} refused: its last {missing} bytes did not arrive"
        yield observe_violation(step, "delivered-unreceived", expected, f"delivered at step {step.index}")


def _truncated_deliveries(view: ChannelView) -> Iterator[tuple[Step, str, int]]:
    """Yield (step, message ID, number of missing bytes) for each delivery of a truncated message of a scripted peer."""
    for step in view.trace.of(view.party.name):
        events = step.signals("delivered", view.channel_id) if step.command == "receive" else ()
        if not events or step.arrived is not None:
            continue
        wire = step.received.text
        missing = count_missing_bytes(wire)
        if not 0 < missing < len(wire) or step.received.raw in _broadcast_bytes(view):
            continue
        with suppress(MalformedMessageError):
            whole = step.layout.decode(wire + bytes(missing))
            if whole.channel_id == view.channel_id and any(event.message_id == whole.message_id for event in events):
                yield step, whole.message_id, missing


@cache_per_view
def _broadcast_bytes(view: ChannelView) -> set[bytes]:
    """The bytes of all broadcasts of participants under test. In a private layout, they may look truncated."""
    return {wire.raw for step in view.trace.steps for wire in step.broadcasts}


def _is_of_unjoined_channel(view: ChannelView, delivery: DeliveredMessage) -> bool:
    """Does a delivered message belong to a channel that the participant has not joined?"""
    message = delivery.step.arrived
    return (
        delivery.received is None
        and message is not None
        and message.message_id == delivery.message_id
        and message.channel_id not in view.party.channels
    )


@check("SDS-RECV-06", pb.CAPABILITY_DELIVERED, of="unmet")
def buffered_is_not_met(view: ChannelView) -> Iterator[Observation]:
    """A dependency that waits in the incoming buffer does not count as met."""
    for received in view.received:
        waiting_too = waiting_dependencies(view, received) if received.acceptable else []
        if waiting_too and not any(d.unmet_buffered for d in received.delivered):
            yield observe_met(max(received.step, waiting_too[0].step, key=lambda step: step.index))
    for delivery, unmet in _deliveries_with_unmet(view):
        waiting = unmet & delivery.unmet_buffered - {delivery.message_id}
        if waiting and (waiting := waiting - _find_given_up(view, delivery)):
            which = f"{min(waiting)!r}, which is itself waiting and not in the log"
            expected = f"{delivery.message_id!r} to wait for {which}"
            soft = "AMB-45" if any(depends_on(view, other, delivery.message_id) for other in waiting) else ""
            seen = f"delivered at step {delivery.step.index}"
            yield observe_violation(delivery.step, "delivered-early", expected, seen, soft)
        elif delivery.message_id in delivery.unmet and delivery.message_id not in _find_given_up(view, delivery):
            expected = f"{delivery.message_id!r} to wait forever: it depends on itself"
            seen = f"delivered at step {delivery.step.index}"
            yield observe_violation(delivery.step, "met-by-itself", expected, seen, "AMB-44")


@check("SDS-RECV-06", pb.CAPABILITY_DELIVERED, pb.CAPABILITY_CHANNELS, of="channels received")
def another_channel_meets_nothing(view: ChannelView) -> Iterator[Observation]:
    """A dependency that the participant has only in another channel does not count as met.

    If causal histories name own messages of another channel, SDS-MSG-15 judges these dependencies.
    """
    mixed = any(i in own_ids_of_other_channels(view) for sent in view.outgoing for i in sent.history)
    for received in view.received if met_elsewhere(view) else ():
        known = _find_known_elsewhere(view, received.unmet, received.step)
        if received.acceptable and known and not received.delivered_at_once:
            yield observe_met(received.step)
    for delivery, unmet in _deliveries_with_unmet(view):
        known = _find_known_elsewhere(view, unmet, delivery.step)
        known -= own_ids_of_other_channels(view) if mixed else set()
        if known and (known := known - delivery.unmet_buffered - _find_given_up(view, delivery)):
            expected = f"{delivery.message_id!r} to wait for {min(known)!r}, which only another channel has"
            seen = f"delivered at step {delivery.step.index}"
            yield observe_violation(delivery.step, "met-by-another-channel", expected, seen)


@check("SDS-RECV-07", pb.CAPABILITY_DELIVERED, of="received")
def met_messages_are_delivered(view: ChannelView) -> Iterator[Observation]:
    """Content whose dependencies are met is delivered, without waiting for a sweep."""
    for received in view.received:
        if received.acceptable and received.delivered_silently is not None and not received.delivered:
            shown = "which is in the log or in a causal history afterwards"
            expected = f"an event that delivers {received.message.message_id!r}, {shown}"
            yield observe_violation(received.step, "not-signalled", expected, "no such event")
            continue
        if not received.acceptable or received.unmet or received.step.reply is None:
            continue
        if received.delivered_at_once:
            yield observe_met(received.step)
            continue
        expected = f"{received.message.message_id!r}, all of whose dependencies are met, to be delivered"
        if received.delivered:
            later = received.delivered[0].step.index
            expected = f"{expected} at once"
            yield observe_violation(received.step, "delivered-late", expected, f"delivered at step {later}", "AMB-94")
        elif may_be_delivered_late(view, received):
            continue
        elif received.foreign_filter:
            because = "; an unreadable bloom filter must not prevent the delivery (AMB-53)"
            # An implementation that delivers nothing at all has another fault.
            code = "unreadable-filter" if view.delivered else "never-delivered"
            yield observe_violation(received.step, code, expected + because, "no delivery")
        else:
            yield observe_violation(received.step, "never-delivered", expected, "no delivery")


@check("SDS-RECV-07", of="refused")
def met_messages_are_not_refused(view: ChannelView) -> Iterator[Observation]:
    """Content whose dependencies are met is not refused, unless a declared limit or a position allows it."""
    for received in view.refused:
        message_id, why = received.message.message_id, excuse_refusal(view, received)
        if received.acceptable and not received.unmet and not why:
            because = "; an unreadable bloom filter must not prevent the delivery (AMB-53)"
            expected = f"{message_id!r}, all of whose dependencies are met, to be delivered"
            code = "unreadable-filter" if received.foreign_filter and view.received else "refused"
            expected = expected + because * received.foreign_filter
            yield observe_violation(received.step, code, expected, received.refusal)
        elif message_id and received.kind is Kind.CONTENT and not received.own and why and view.delivered:
            yield observe_note(received.step, f"refused {message_id!r}, as it may: {why}")


@check("SDS-RECV-07", pb.CAPABILITY_DELIVERED, of="delivered received")
def messages_without_sender_are_delivered(view: ChannelView) -> Iterator[Observation]:
    """Content without a sender ID, as in an older revision, is refused, or delivered like other content."""
    for received in view.received:
        if received.oddity == NAMELESS and received.kind is Kind.CONTENT and not (received.unmet or received.duplicate):
            expected = f"{received.message.message_id!r}, which names no sender, to be delivered, unless it is refused"
            seen = "no delivery"
            met = bool(received.delivered)
            yield observe_outcome(received.step, "nameless-never-delivered", met, expected, seen, "AMB-50")


@check("SDS-RECV-08", of="refused unmet")
def unmet_messages_are_not_refused(view: ChannelView) -> Iterator[Observation]:
    """A message is not refused because of an unmet dependency."""
    for received in view.refused:
        if received.acceptable and received.unmet and not excuse_refusal(view, received):
            expected = f"{received.message.message_id!r} to be kept until {min(received.unmet)!r} has arrived"
            yield observe_violation(received.step, "refused", expected, received.refusal)


@check("SDS-RECV-09", pb.CAPABILITY_DELIVERED, pb.CAPABILITY_LOST, pb.CAPABILITY_VIRTUAL_CLOCK, of="delivered unmet")
def waiting_messages_are_not_given_up_early(view: ChannelView) -> Iterator[Observation]:
    """No waiting message is delivered because a dependency was given up before the configured time had passed.

    An early report of the loss does not excuse the delivery: giving up is a MAY "after a predetermined amount of time".
    """
    for delivery in view.delivered if view.gives_up else ():
        early = find_given_up_too_early(view, delivery.unmet - delivery.unmet_buffered, delivery.step)
        if early and delivery.received is not None and delivery.received.acceptable:
            timeout = view.configuration.lost_timeout_ms
            expected = f"{delivery.message_id!r} to wait for {min(early)!r} until {timeout} ms are over"
            seen = f"delivered at step {delivery.step.index}"
            yield observe_violation(delivery.step, "given-up-early", expected, seen)
        elif delivery.received is not None and delivery.unmet - delivery.unmet_buffered:
            yield observe_met(delivery.step)


@check("SDS-RECV-10", pb.CAPABILITY_DELIVERED, of="received")
def undefined_messages_are_not_delivered(view: ChannelView) -> Iterator[Observation]:
    """A message with neither content nor a timestamp is not delivered."""
    for received in view.received:
        if received.kind is Kind.UNDEFINED and not received.own:
            expected = "a message without content not to be delivered"
            seen = f"delivered at step {received.step.index}"
            yield observe_outcome(received.step, "delivered", not received.delivered_at_once, expected, seen)


@check("SDS-RECV-01", pb.CAPABILITY_DELIVERED, of="own-came")
def own_messages_ignored(view: ChannelView) -> Iterator[Observation]:
    """A message with the participant's own sender ID is ignored, or refused."""
    for received in arrived_in_order(view):
        if received.own and (view.delivered or not received.rejected):
            seen = f"{received.message.message_id!r} is delivered"
            expected = "a message with the participant's own sender ID to be ignored"
            yield observe_outcome(received.step, "delivered", not received.delivered, expected, seen)


@check("SDS-STATE-09", pb.CAPABILITY_DELIVERED, of="received")
def incoming_buffer_kept(view: ChannelView) -> Iterator[Observation]:
    """Messages with unmet dependencies are kept: the incoming buffer shows them, or they are delivered later."""
    for received in view.received:
        if received.acceptable and received.unmet and received.delivered and not received.delivered_at_once:
            yield observe_met(received.step)
    for observed in view.observed:
        if observed.state.HasField("incoming"):
            kept = set(observed.state.incoming.message_ids)
            seen = f"the buffer contains {sorted(kept)}" if observed.buffered - kept else ""
            for message_id in sorted(observed.buffered):
                if message_id in kept or _certainly_waits(view, message_id, observed.step):
                    expected = f"{message_id!r}, which waits, in the incoming buffer"
                    yield observe_outcome(observed.step, "not-kept", message_id in kept, expected, seen)


@check("SDS-STATE-09", pb.CAPABILITY_DELIVERED, of="refused incoming-shown")
def refused_messages_do_not_wait(view: ChannelView) -> Iterator[Observation]:
    """A message that was refused is not in the incoming buffer."""
    for observed in view.states_showing("incoming"):
        came = {r.message.message_id for r in view.refused if r.step.index < observed.step.index}
        refused = came & _only_refused(view)
        left = min(refused & set(observed.state.incoming.message_ids), default="")
        if refused:
            expected = f"{left!r}, which was refused, not in the incoming buffer"
            seen = "the incoming buffer contains the message"
            yield observe_outcome(observed.step, "refused-kept", not left, expected, seen)


def _certainly_waits(view: ChannelView, message_id: str, now: Step) -> bool:
    """Does a message wait for a dependency that was not delivered before and cannot have been given up?"""
    done = view.first_delivered
    arrivals = [r for r in view.arrivals.get(message_id, ()) if r.acceptable and r.step.index < now.index]
    waiting = (r for r in arrivals if not r.rejected and any(done.get(i, NEVER) >= now.index for i in r.unmet))
    return any(not find_possibly_lost(view, {message_id, *r.unmet}, now) for r in waiting)


@check("SDS-STATE-16", pb.CAPABILITY_DELIVERED, of="came-elsewhere")
def channels_not_joined_deliver_nothing(view: ChannelView) -> Iterator[Observation]:
    """A message of a channel that was not joined is delivered in no other channel, even a similar one."""
    for step in view.trace.of(view.party.name):
        message = step.arrived
        if message is None or message.channel_id in view.party.channels or message.message_id in view.arrivals:
            continue
        if message.kind is Kind.CONTENT and not in_another_layout(message, view.channel_id):
            delivered = [event.message_id for event in step.signals("delivered", view.channel_id)]
            met = message.message_id not in delivered
            expected = f"a message of channel {message.channel_id!r} not to be delivered in {view.channel_id!r}"
            seen = f"{message.message_id!r} is delivered there"
            yield observe_outcome(step, "delivered-elsewhere", met, expected, seen)


@check("SDS-INSWEEP-02", pb.CAPABILITY_MISSING, of="received unmet")
def missing_are_the_unmet(view: ChannelView) -> Iterator[Observation]:
    """The missing dependencies that are reported on arrival of a message are its unmet dependencies.

    An implementation may report each dependency once, or all of them each time, because the specification does not say.
    """
    earlier: set[str] = set()
    reported: set[str] = set()
    for received in view.received:
        entries = {entry.message_id for entry in missing_signals(view, received.step)}
        if received.acceptable and received.unmet and entries:
            # An implementation may leave out buffered messages: they are unmet, but not missing (AMB-70).
            new = received.unmet - received.unmet_buffered - reported
            foreign = entries - received.unmet
            if foreign & earlier:
                foreign -= earlier - _logged_before(view, received.step)
            code = "foreign-entry" if foreign else "missing-entry"
            expected = f"{sorted(received.unmet)} named as missing"
            yield observe_outcome(received.step, code, new <= entries and not foreign, expected, f"{sorted(entries)}")
        earlier |= received.unmet
        reported |= entries


def _logged_before(view: ChannelView, step: Step) -> set[str]:
    """IDs of the messages that were delivered before a step and meet dependencies: all but ephemeral messages."""
    delivered = (d for d in view.delivered if d.step.index < step.index)
    return {d.message_id for d in delivered if d.received is None or d.received.kind is not Kind.EPHEMERAL}


@check("SDS-INSWEEP-02", pb.CAPABILITY_MISSING, of="ticks")
def missing_at_a_sweep_are_the_unmet(view: ChannelView) -> Iterator[Observation]:
    """Missing dependencies that a sweep reports are unmet dependencies of received messages.

    The sweep may name messages that it delivers itself, because the specification does not say.
    """
    for tick in view.ticks:
        entries = {entry.message_id for entry in missing_signals(view, tick)}
        if entries:
            unmet = {i for r in view.received if r.step.index < tick.index for i in r.unmet}
            unmet -= _logged_before(view, tick)
            expected = f"only {sorted(unmet)} named as missing"
            yield observe_outcome(tick, "foreign-entry", entries <= unmet, expected, f"{sorted(entries)}")


@check("SDS-INSWEEP-05", pb.CAPABILITY_LOST, pb.CAPABILITY_VIRTUAL_CLOCK)
def given_up_after_the_timeout_only(view: ChannelView) -> Iterator[Observation]:
    """Dependencies are not reported lost before the timeout in force has passed; without a timeout, never."""
    if not view.configuration.HasField("lost_timeout_ms"):
        return
    timeout = view.configuration.lost_timeout_ms
    since = first_missed_ms(view)
    here = ((step, event.message_ids) for step, event in view.losses if event.channel_id == view.channel_id)
    lost = [(step, message_id) for step, message_ids in here for message_id in message_ids]
    for step, message_id in lost:
        elapsed = longest_wait(view, message_id, step) if message_id in since else None
        if not timeout:
            expected = "no dependency given up, because no time for this is configured"
            yield observe_violation(step, "given-up-without-timeout", expected, f"{message_id!r}")
        elif elapsed is not None and elapsed < timeout:
            expected = f"{message_id!r} not given up before {timeout} ms are over"
            yield observe_violation(step, "given-up-early", expected, f"given up after {elapsed} ms")
        elif elapsed is not None:
            yield observe_met(step)
    waiting = [r for r in view.received if r.unmet and r.acceptable]
    first = min((step.index for step, _ in lost), default=len(view.trace.steps) + 1)
    for tick in reversed(view.ticks) if waiting else ():
        before = (r for r in waiting if r.step.index < tick.index < first)
        waits = (r for r in before if not r.is_delivered_before(tick.index))
        if any(not timeout or tick.now_ms - r.step.now_ms < timeout for r in waits):
            yield observe_met(tick)
            return


@check("SDS-INSWEEP-04", *(pb.CAPABILITY_DELIVERED, pb.CAPABILITY_VIRTUAL_CLOCK), of="received unmet")
def sweeps_leave_nothing_ready(view: ChannelView) -> Iterator[Observation]:
    """A sweep that delivers any message delivers all messages whose dependencies were in the log before (AMB-94)."""
    logged = {sent.message.message_id: sent.step.index for sent in view.sent}
    for delivery in view.delivered:
        logged.setdefault(delivery.message_id, delivery.step.index)
    waited = [r for r in view.received if r.acceptable and r.unmet and r.delivered and not r.delivered_at_once]
    sweeps = sorted({d.step.index: d.step for r in waited for d in r.delivered if d.step.command == "tick"}.items())
    for received in waited if not view.losses else ():
        if not received.unmet <= logged.keys():
            continue
        ready = max(received.step.index, *(logged[message_id] for message_id in received.unmet))
        at = bisect_right(sweeps, ready, key=lambda sweep: sweep[0])
        if at < len(sweeps):
            index, step = sweeps[at]
            met = received.delivered[0].step.index <= index
            expected = (
                f"{received.message.message_id!r} delivered, whose dependencies were in the log since step {ready}"
            )
            seen = "other messages were delivered, but not this one"
            yield observe_outcome(step, "left-waiting", met, expected, seen, "AMB-94")


@check("SDS-INSWEEP-06", pb.CAPABILITY_DELIVERED, of="received unmet")
def delivered_messages_leave_the_buffer(view: ChannelView) -> Iterator[Observation]:
    """A delivered message leaves the incoming buffer: no state shows it there, and no further sweep delivers it."""
    for received in view.received:
        if not (received.acceptable and received.unmet and received.delivered):
            continue
        first, *again = [d for d in received.delivered if d.step.command == "tick"] or received.delivered[:1]
        more = next((d for d in again if d.step.command == "tick" and not _copy_may_wait(view, received, d.step)), None)
        if more is not None:
            expected = f"{received.message.message_id!r} delivered once"
            yield observe_violation(more.step, "delivered-twice", expected, "delivered by a second sweep")
        elif sum(1 for tick in view.ticks if tick.index > first.step.index):
            yield observe_met(first.step)
    for observed in view.states_showing("incoming"):
        waited = {
            r.message.message_id
            for r in view.received
            if r.acceptable and r.unmet and any(d.step.index < observed.step.index for d in r.delivered)
            if not _copy_may_wait(view, r, observed.step)
        }
        left = waited & set(observed.state.incoming.message_ids)
        if left:
            expected = f"{min(left)!r}, which was delivered, not in the incoming buffer"
            seen = "the incoming buffer still contains the message"
            yield observe_violation(observed.step, "still-buffered", expected, seen)
        elif waited:
            yield observe_met(observed.step)


def _copy_may_wait(view: ChannelView, received: Received, until: Step) -> bool:
    """Can a message that arrived more than once still wait after its delivery?

    It can, because the implementation need not deduplicate ("MAY deduplicate", AMB-24).
    """
    arrived = sum(r.step.index <= until.index for r in view.arrivals[received.message.message_id])
    return arrived > sum(d.step.index < until.index for d in received.delivered)


_MANY_OTHERS = 2
"""Minimum number of earlier messages in the incoming buffer, so that a message is neither first nor second in it."""


@dataclass(slots=True)
class _WaitingMessage:
    """A message that had to wait, and that was delivered later or should have been, because all of its dependencies
    arrived.
    """

    view: ChannelView
    received: Received
    chain: list[Received]
    """Dependencies of the message that had to wait in the incoming buffer, too."""
    other_was_delivered: bool
    """Was another message that waited for one of the same dependencies delivered?"""
    shown: bool | None
    """Is the message in the last shown incoming buffer? None if no buffer was shown after it arrived."""
    others: int
    """The number of earlier messages that still waited, for other dependencies, when this message was due."""
    own: str
    """ID of a dependency that the participant sent itself after the message had arrived; "" if there is none."""

    @property
    def step(self) -> Step:
        return self.received.step

    @property
    def delivered(self) -> bool:
        return bool(self.received.delivered)

    @property
    def shows_sweep(self) -> bool:
        """Was the message delivered, or is it certain that a sweep had to deliver it?

        Without a virtual clock, a tick does not prove a sweep.
        """
        is_shown = self.delivered or (self.shown is not False and self.view.can(pb.CAPABILITY_VIRTUAL_CLOCK))
        return is_shown and self.received.unmet <= self.view.logged_ids


def delivered_after_waiting(view: ChannelView) -> Iterator[_WaitingMessage]:
    """A message with unmet dependencies is kept, and delivered by a sweep after the dependencies arrived."""
    # The indices of the steps up to which messages wait, ascending: for all messages, and by unmet dependencies.
    ends: list[int] = []
    waits: dict[frozenset[str], list[int]] = {}
    waiting_for: dict[str, list[frozenset[str]]] = {}
    last_shown = next(reversed(view.states_showing("incoming")), None)
    for received in view.received:
        if not (received.acceptable and received.unmet) or received.delivered_silently is not None:
            continue
        until = received.delivered[0].step.index if received.delivered else NEVER
        if received.unmet not in waits:
            for message_id in received.unmet:
                waiting_for.setdefault(message_id, []).append(received.unmet)
        insort(waits.setdefault(received.unmet, []), until)
        insort(ends, until)
        due = not received.delivered and received.unmet <= view.logged_ids and nothing_is_pending_after(view, received)
        if received.delivered_at_once or not (received.delivered or due) or may_be_given_up(view, received):
            continue
        shown = last_shown if last_shown is not None and last_shown.step.index > received.step.index else None
        end = received.delivered[0].step.index if received.delivered else len(view.trace.steps) + 1
        same = {unmet for message_id in received.unmet for unmet in waiting_for[message_id]}
        own = (sent for message_id in received.unmet if (sent := view.own(message_id)) is not None)
        yield _WaitingMessage(
            view,
            received,
            waiting_dependencies(view, received),
            other_dependent_was_delivered(view, received),
            received.message.message_id in shown.state.incoming.message_ids if shown is not None else None,
            _count_after(ends, end) - sum(_count_after(waits[unmet], end) for unmet in same),
            next((sent.message.message_id for sent in own if sent.step.index > received.step.index), ""),
        )


def _count_after(steps: list[int], step: int) -> int:
    return len(steps) - bisect_right(steps, step)


def _describe_waiting(waited: _WaitingMessage, row: RuleRow[_WaitingMessage]) -> tuple[str, str]:
    missing = min(waited.received.unmet)
    why = row.why.format(missing=missing, others=waited.others, own=waited.own)
    return f"{waited.received.message.message_id!r} {why}", "never delivered: the message still waits, or was dropped"


def _is_evidence_of_waiting(waited: _WaitingMessage) -> bool:
    """Does the message show whether waiting messages are kept? SDS-INSWEEP-04 judges the other messages."""
    kept_or_dropped = waited.delivered or waited.shown is not True
    return kept_or_dropped and not waited.chain and not (waited.shown is None and waited.other_was_delivered)


def _is_due_from_hidden_buffer(waited: _WaitingMessage) -> bool:
    return not waited.delivered and is_never_shown(waited.view, "incoming")


def _is_due_behind_others(waited: _WaitingMessage) -> bool:
    if waited.chain or not waited.shows_sweep or (waited.other_was_delivered and not waited.delivered):
        return False  # SDS-INSWEEP-04 judges this message
    return waited.others >= _MANY_OTHERS or bool(waited.shown and not waited.delivered)


def _was_unblocked_by_own(waited: _WaitingMessage) -> bool:
    return bool(waited.own) and waited.shows_sweep


def _is_in_chain(waited: _WaitingMessage) -> bool:
    """Does the message wait for another waiting message?

    Messages that the buffer no longer shows are included: only this rule judges messages that were dropped while their
    dependencies waited.
    """
    return bool(waited.chain) and not any(may_be_given_up(waited.view, one) for one in waited.chain)


def _is_due_like_others(waited: _WaitingMessage) -> bool:
    return not waited.chain and waited.other_was_delivered and (waited.delivered or waited.shown is not False)


def _was_not_delivered(waited: _WaitingMessage) -> bool:
    return not waited.delivered


_KEPT = "to be kept, and delivered after {missing!r} had arrived"
_UNSEEN = "kept in the incoming buffer, and delivered from there"
_BESIDE = "delivered: its dependencies were delivered; the {others} messages buffered before it do not matter"
_BY_OWN = "delivered: it waited for the own message {own!r}, which is in the log now"
_CHAIN = "delivered: all of its dependencies have been delivered"
_LIKE_OTHERS = "delivered, like others that waited for {missing!r}"
DELIVERED = (pb.CAPABILITY_DELIVERED,)

table(
    delivered_after_waiting,
    _describe_waiting,
    [
        # the columns: requirement, applies, wrong, code, why, position, needs
        RuleRow("SDS-RECV-08", _is_evidence_of_waiting, _was_not_delivered, "not-kept", _KEPT, "", DELIVERED),
        RuleRow("SDS-STATE-09", _is_due_from_hidden_buffer, _was_not_delivered, "not-kept", _UNSEEN, "", DELIVERED),
        RuleRow("SDS-INSWEEP-01", _is_due_behind_others, _was_not_delivered, "never-delivered", _BESIDE, "", DELIVERED),
        RuleRow("SDS-INSWEEP-01", _was_unblocked_by_own, _was_not_delivered, "never-delivered", _BY_OWN, "", DELIVERED),
        RuleRow("SDS-INSWEEP-04", _is_in_chain, _was_not_delivered, "never-delivered", _CHAIN, "", DELIVERED),
        RuleRow(
            "SDS-INSWEEP-04", _is_due_like_others, _was_not_delivered, "never-delivered", _LIKE_OTHERS, "", DELIVERED
        ),
    ],
    of="received unmet",
    apart=True,
)

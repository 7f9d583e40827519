"""Properties of acknowledgements: the evidence of each acknowledgement, and the buffers at the end."""

from __future__ import annotations

from collections.abc import Iterator

from sds_harness.sds.group_trace import Act
from sds_proto.testee.v1 import testee_pb2 as pb
from sds_reference import Kind

from ....judging.view_cache import cache_per_view
from ...properties import Sighting, observe_met, observe_violation
from ..view.repair_terms import SECOND_MS
from ..view.resends import CAP
from .convergence import converged
from .group_view import GroupView
from .omissions import SWEEPS
from .registry import global_property, of_each_side, to_the_first_fault
from .sides import Key, MessageArrival, Side, dependencies


@global_property(
    "G-10",
    "Only received messages are acknowledged",
    "STATE-12",
    "ACK-04",
    "ACK-05",
    "OUTSWEEP-01",
    codes={"acknowledged-unreceived": "a message is acknowledged that no other participant received"},
)
@of_each_side
def only_what_was_received_is_acknowledged(view: GroupView, side: Side) -> Iterator[Sighting]:
    """A message is acknowledged only if another participant received it.

    A returned own copy (AMB-21) or a number of resends (AMB-64) is no acknowledgement. Participants may believe
    scripted peers, and two filters that hold the message ID, even by chance.
    """
    got, is_met = _first_arrivals(view), False
    for message_id, act in _acknowledged(side).items():
        if message_id not in side.sent:
            continue
        if any(who != side.who and at < act.number for who, at in got.get((side.channel_id, message_id), ())):
            is_met = True
            yield observe_met(act, side.channel_id)
        elif not _may_have_evidence(view, side, message_id, act):
            expected = f"{message_id!r} of {side.who} unacknowledged, because no other participant received it"
            seen = "the message is acknowledged"
            yield observe_violation(act, side.channel_id, "acknowledged-unreceived", expected, seen)
    alone = _last_arrival_with_unreceived(side, got) if not is_met and side.can(pb.CAPABILITY_ACKNOWLEDGED) else None
    if alone is not None:
        yield observe_met(alone, side.channel_id)


@cache_per_view
def _first_arrivals(view: GroupView) -> dict[Key, list[tuple[str, int]]]:
    """By content message: (participant that received the message, number of the step in which the message arrived
    first).
    """
    out: dict[Key, list[tuple[str, int]]] = {}
    for side in view.sides.values():
        for message_id, arrival in side.arrivals.items():
            out.setdefault((side.channel_id, message_id), []).append((side.who, arrival.act.number))
    return out


def _acknowledged(side: Side) -> dict[str, Act]:
    """By message ID: the step in which a participant first shows a message as acknowledged, by a signal or state."""
    out = dict(side.acks)
    for act, state in side.shown_states:
        for entry in state.outgoing.entries:
            if entry.state == pb.ACK_STATE_ACKNOWLEDGED:
                out.setdefault(entry.message_id, act)
    return out


def _may_have_evidence(view: GroupView, side: Side, message_id: str, act: Act) -> bool:
    """Has the participant received messages up to ``act`` that may acknowledge its message ``message_id``?"""
    if message_id in view.scripted_ids or side.hybrids:
        return True
    hits = 0
    for arrival in side.received:
        message = arrival.message
        if arrival.act.number > act.number:
            break
        if message.sender_id == side.id:
            if view.distinguishes_copies:
                continue
            if message_id in dependencies(message):
                return True
        if not message.bloom_filter:
            continue
        hits += view.filter_hit(side, message.bloom_filter, message_id) is not False
    return hits > 1


def _last_arrival_with_unreceived(side: Side, got: dict[Key, list[tuple[str, int]]]) -> Act | None:
    """The last step in which a participant received a message, if it had sent a message before that no other
    participant received; else None.
    """
    lost = [act.number for i, act in side.sent.items() if (side.channel_id, i) not in got]
    later = [a.act for a in side.received if lost and a.act.number > lost[0] and a.message.sender_id != side.id]
    return later[-1] if later else None


@global_property(
    "G-11",
    "A sent message acknowledges the messages that its sender received",
    "ACK-01",
    "ACK-02",
    "RECV-03",
    "SYNC-12",
    codes={
        "not-acknowledged": "a message that a causal history names is not acknowledged",
        "not-possibly-acknowledged": "a message that a filter holds is not even possibly acknowledged",
    },
)
@to_the_first_fault
@of_each_side
def who_says_something_acknowledges_what_it_got(view: GroupView, side: Side) -> Iterator[Sighting]:
    """A message acknowledges all messages in its causal history, and at least possibly all that its sender received.

    Possible acknowledgements need bloom filters of a profile that both participants can read. The specification does
    not promise that they become acknowledgements (AMB-61).
    """
    if not side.sent or not side.can(pb.CAPABILITY_ACKNOWLEDGED):
        return
    known: set[str] = set()
    done: set[str] = set()
    speakers = _speakers(view) if side.can(pb.CAPABILITY_POSSIBLY_ACKNOWLEDGED) else {}
    for arrival in side.received:
        act, message = arrival.act, arrival.message
        odd = (message.channel_id, message.message_id) in view.odd_messages
        if not arrival.taken or act.step.answer != "effects" or odd:
            continue
        if view.is_regular(message.kind) and (message.message_id in known or message.message_id in side.sent):
            continue  # copies, and other messages with known IDs, may be dropped before they are reviewed (AMB-23)
        known.add(message.message_id)
        named = {i for i in dependencies(message) if i in side.sent and side.sent[i].number < act.number}
        for message_id in sorted(named - done):
            done.add(message_id)
            acked, by = side.acks.get(message_id), _noticed_by(view, side, act)
            if by is None:
                continue
            if acked is None or acked.number > by:
                yield _unacknowledged(view, side, act, message_id, f"the message {message.message_id!r} names it")
            yield observe_met(act, side.channel_id)
        speaker = speakers.get(id(message))
        if speaker is None or len(done) == len(side.sent) or not _readable(view, side, speaker[0]):
            continue
        other, sent_at = speaker
        for message_id in [i for i in side.sent if i not in done]:
            received = other.arrivals.get(message_id)
            if received is None or received.act.number >= sent_at.number or received.act.step.answer != "effects":
                continue
            acts = [a for a in (side.acks.get(message_id), side.possibly.get(message_id)) if a is not None]
            if (by := _noticed_by(view, side, act)) is None:
                continue
            if not any(a.number <= by for a in acts):
                why = f"{other.who} received the message and sends {message.message_id!r}"
                yield _unacknowledged(view, side, act, message_id, why, "possibly ")
            done.add(message_id)
            yield observe_met(act, side.channel_id)


def _noticed_by(view: GroupView, side: Side, act: Act) -> int | None:
    """The number of the step by which an arrived message must have been reviewed for acknowledgements; None if no sweep
    ran.

    This step is the arrival, or the next sweep if the participant never reviews messages on arrival. SDS-RECV-11 judges
    the delay (AMB-143).
    """
    signals = [*side.acks.values(), *side.possibly.values()]
    if any(signal.step.command == "receive" for signal in signals):
        return act.number
    return next((tick.number for tick in view.ticks.get(side.who, ()) if tick.number > act.number), None)


@cache_per_view
def _speakers(view: GroupView) -> dict[int, tuple[Side, Act]]:
    """By ``id`` of a message object: (participant that sent the message, step that sent it)."""
    return {id(message): (side, act) for side in view.sides.values() for act, message in side.outgoing}


def _unacknowledged(view: GroupView, side: Side, act: Act, message_id: str, why: str, how: str = "") -> Sighting:
    before = (tick.step for tick in view.ticks.get(side.who, ()) if tick.number < act.number)
    copies = sum(message.message_id == message_id for step in before for message in step.messages)
    position = "AMB-64" if copies >= CAP else ""  # the participant may have given up the message, and dropped it
    expected = f"{message_id!r} of {side.who} {how}acknowledged, as {why}"
    code = "not-possibly-acknowledged" if how else "not-acknowledged"
    return observe_violation(act, side.channel_id, code, expected, "no signal or state shows this", position)


def _readable(view: GroupView, side: Side, other: Side) -> bool:
    """Can ``side`` read the bloom filters of ``other``, and do these filters contain all IDs that they must?"""
    mine, theirs = side.party.in_force, other.party.in_force
    return (
        side.declared.profile("bloom") == other.declared.profile("bloom") != ""
        and side.channel_id == other.channel_id
        and mine.bloom_capacity == theirs.bloom_capacity
        and mine.bloom_error_rate == theirs.bloom_error_rate
        and view.filter_is_complete(other)
    )


# ---- Buffers at the end ----------------------------------------------------------------------------------------------


@global_property(
    "G-12",
    "Buffers drain",
    "INSWEEP-06",
    "STATE-15",
    "R-RECV-01",
    "R-SWEEP-04",
    "SYNC-08",
    codes={
        "left-in-incoming": "a message that is in the log is still in the incoming buffer",
        "left-in-outgoing": "an acknowledged message is still unacknowledged in the outgoing buffer",
        "sync-in-outgoing": "a sync message is in the outgoing buffer",
        "left-in-requests": "a message that arrived is still in the outgoing repair request buffer",
        "left-in-responses": "a response that is overdue is still in the incoming repair request buffer",
    },
)
def buffers_drain(view: GroupView) -> Iterator[Sighting]:
    """After a calm phase, buffers contain no messages or requests that are delivered, acknowledged or answered.

    Possibly acknowledged messages may stay in the outgoing buffer (AMB-61). Messages that cannot be delivered must stay
    in the incoming buffer.
    """
    for channel_id, sides in view.steady.items():
        for side in sides:
            if not side.shown_states or view.ending is None or side.shown_states[-1][0].number < view.ending.last:
                continue
            act, state = side.shown_states[-1]
            fault = _leftover(view, side, act, state)
            if fault is not None:
                yield observe_violation(act, channel_id, *fault)
            elif _exercised(side, state) and converged(view, channel_id):
                yield observe_met(act, channel_id)


def _exercised(side: Side, state: pb.State) -> bool:
    """Does the state show an empty incoming buffer, in which a message waited before?"""
    waited = any(
        not any(d.act is a.act and d.message_id == i for d in side.deliveries) for i, a in side.arrivals.items()
    )
    return state.HasField("incoming") and waited and not state.incoming.message_ids


def _leftover(view: GroupView, side: Side, act: Act, state: pb.State) -> tuple[str, str, str] | None:
    """Return (code, expected, seen) for an entry that should have left its buffer; None if there is none."""
    log = set(act.step.shown_log) or set(side.logged)
    for message_id in state.incoming.message_ids:
        if message_id in log:
            expected = f"{message_id!r} removed from the incoming buffer of {side.who}, because it is in the log"
            return "left-in-incoming", expected, "the buffer still contains the message"
    named = _first_acknowledgements(view)[side.who, side.channel_id]
    for entry in state.outgoing.entries:
        unacknowledged = entry.state == pb.ACK_STATE_UNACKNOWLEDGED
        if unacknowledged and entry.message_id in named and entry.message_id in side.sent:
            expected = (
                f"{entry.message_id!r} removed from the outgoing buffer of {side.who}, because it was acknowledged"
            )
            return "left-in-outgoing", expected, "the buffer still contains the message as unacknowledged"
        sync = view.other_ids.get((side.channel_id, entry.message_id)) is Kind.SYNC
        if sync and not view.is_regular(Kind.SYNC) and entry.message_id not in side.sent:
            expected = f"no sync message in the outgoing buffer of {side.who}"
            return "sync-in-outgoing", expected, f"{entry.message_id!r} is in the buffer"
    for wanted in state.outgoing_repairs.entries:
        arrival, other = side.arrivals.get(wanted.message_id), (side.channel_id, wanted.message_id) in view.other_ids
        if arrival is not None and not other and wanted.message_id in log:
            expected = f"no arrived message in the outgoing repair request buffer of {side.who}"
            return (
                "left-in-requests",
                expected,
                f"{wanted.message_id!r} is in the buffer, but arrived at step {arrival.act.number}",
            )
    ticks = [t for t in view.ticks.get(side.who, ()) if t.number < act.number and side.who not in view.stepped]
    overdue = ticks[-SWEEPS].step.now_ms - SECOND_MS if len(ticks) >= SWEEPS else 0
    for asked in state.incoming_repairs.entries:
        if 0 < asked.due_ms <= overdue and side.terms.on and side.timed:
            expected = (
                f"{asked.message_id!r} answered by {side.who}, and its request removed from the incoming repair "
                "request buffer"
            )
            return (
                "left-in-responses",
                expected,
                f"the buffer still has the request, and the answer was due {act.step.now_ms - asked.due_ms} ms ago",
            )
    return None


@cache_per_view
def _first_acknowledgements(view: GroupView) -> dict[Key, dict[str, MessageArrival]]:
    """For each participant and channel: the first arrival that certainly acknowledges a message, by the ID of the
    message.

    Copies of received messages do not count, because they may be dropped before they are reviewed (AMB-23).
    """
    return {place: _first_acknowledgements_at(view, side) for place, side in view.sides.items()}


def _first_acknowledgements_at(view: GroupView, side: Side) -> dict[str, MessageArrival]:
    out: dict[str, MessageArrival] = {}
    for arrival in side.received:
        message_id = arrival.message.message_id
        if view.revision.syncs_are_logged:
            first = side.first_arrivals.get(message_id) is arrival and message_id not in side.sent
        else:
            first = arrival.message.kind is Kind.SYNC or side.arrivals.get(message_id) is arrival
        if not first or not arrival.taken or arrival.act.step.answer != "effects":
            continue
        for message_id in dependencies(arrival.message):
            if message_id in side.sent and side.sent[message_id].number < arrival.act.number:
                out.setdefault(message_id, arrival)
    return out

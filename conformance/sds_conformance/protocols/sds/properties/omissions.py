"""Omissions: messages that are missing from a log at the end, although a participant had a duty to prevent this.

Not every message that is missing after losses is an omission: a message is acknowledged as soon as one participant
names it in a causal history, and is then no longer resent, although others may miss it. An omission violates one of
three duties of the specification:

* delivery: a participant received the message and has all of its dependencies in its log (section "Periodic Incoming
  Buffer Sweep");
* resending: the message is not acknowledged, and the network loses nothing ("Periodic Outgoing Buffer Sweep");
* repair: with SDS-R and one response group, a request is due, or a participant with the message received a request. An
  implementation that never sends requests, or never answers them, has no such duty: each is only a SHOULD (AMB-141).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from sds_harness.sds.group_trace import Act
from sds_proto.testee.v1 import testee_pb2 as pb
from sds_reference import Kind

from ....judging.view_cache import cache_per_view
from ...properties import Sighting, observe_violation
from ..view.repair_terms import SECOND_MS, RepairTerms
from ..view.resends import CAP
from .group_view import REPAIR_CAP, GroupView
from .sides import Key, MessageArrival, Side, dependencies

SWEEPS = 2
"""Number of sweeps after which due work is late. The specification does not define the period of sweeps (AMB-94)."""

OMISSION_CODES = {
    "never-delivered": "a message that arrived, and whose dependencies are in the log, is not in the log",
    "never-resent": "a message that is not acknowledged is not resent",
    "never-asked": "SDS-R does not request a missing message",
    "never-answered": "a request for a message that others have is not answered",
}
"""Descriptions of the codes of omissions."""


class Omission(NamedTuple):
    """A message that is missing from a log at the end, and the violated duty."""

    side: Side
    """The participant whose log lacks the message."""
    message_id: str
    sighting: Sighting
    """The violation, with a code of ``OMISSION_CODES``."""


def _omit(side: Side, message_id: str, act: Act, code: str, expected: str, seen: str, position: str = "") -> Omission:
    return Omission(side, message_id, observe_violation(act, side.channel_id, code, expected, seen, position))


@cache_per_view
def omissions(view: GroupView) -> list[Omission]:
    """All omissions of a group trace."""
    return list(_find_omissions(view))


def _find_omissions(view: GroupView) -> Iterator[Omission]:
    for channel_id, sides in view.steady.items():
        sound = [key for key in view.origins if key[0] == channel_id and view.is_sound(key)]
        for side in sides:
            claims = view.claims(side)
            for key in sound:
                if key[1] in claims:
                    continue
                if key[1] in side.arrivals:
                    yield from _undelivered(view, side, side.arrivals[key[1]], claims)
                elif key[1] not in side.copies:
                    yield from _not_resent(view, side, key)
                    yield from _not_repaired(view, side, key, sides)


def _undelivered(view: GroupView, side: Side, arrival: MessageArrival, claims: set[str]) -> Iterator[Omission]:
    message_id, needs = arrival.message.message_id, set(dependencies(arrival.message))
    if not needs <= claims or message_id in needs:
        return
    sweeps_always = side.party.in_force.HasField("incoming_sweep_ms") and not side.party.in_force.incoming_sweep_ms
    if not (side.timed or sweeps_always):
        return
    ticks, allowed = view.ticks.get(side.who, []), SWEEPS
    if side.can(pb.CAPABILITY_DELIVERED):
        ready = max([arrival.act.number, *(side.logged.get(i, view.last_act(side).number) for i in needs)])
    else:  # It is unknown when dependencies were delivered: each sweep may have delivered only one of them.
        ready = max(other.act.number for other in side.arrivals.values())
        allowed += len(side.arrivals)
    last = view.last_act(side).number
    if sum(1 for tick in ticks if ready < tick.number <= last) >= allowed:
        got = f"which received the message at step {arrival.act.number} and has all of its dependencies"
        expected = f"{message_id!r} in the log of {side.who}, {got}"
        seen = f"the log lacks the message {allowed} sweeps after the arrival of the message and its dependencies"
        yield _omit(side, message_id, view.last_act(side), "never-delivered", expected, seen)


# ---- Resending -------------------------------------------------------------------------------------------------------


def _not_resent(view: GroupView, side: Side, key: Key) -> Iterator[Omission]:
    origin = view.origins[key]
    sender = view.side_of(key[0], origin.message.sender_id)
    if origin.act is None or sender is None or sender.who != origin.act.who:
        return
    overdue = overdue_resend(view, sender, key[1])
    if overdue is not None:
        tick, copies = overdue
        which = f"{key[1]!r}, which no received message acknowledges"
        expected = f"{sender.who} to resend {which}, so that {side.who} receives it"
        seen = f"this tick sends no copy, and {side.who} never receives the message"
        yield _omit(side, key[1], tick, "never-resent", expected, seen, "AMB-64" if copies >= CAP else "")


def overdue_resend(view: GroupView, sender: Side, message_id: str) -> tuple[Act, int] | None:
    """Return (tick in the last calm phase by which a message had to be resent, number of copies before this tick).

    None if the message was resent, or may be acknowledged.
    """
    ending, c = view.ending, sender.party.in_force
    if ending is None or sender.who in view.group_trace.crashed or sender.who in view.stepped:
        return None
    if not (sender.can(pb.CAPABILITY_RESEND) and sender.timed) or sender.hybrids:
        return None
    if not c.HasField("resend_unacknowledged_ms") and sender.can(pb.CAPABILITY_RESEND_PERIOD):
        return None
    period = c.resend_unacknowledged_ms
    until = _first_evidence_act(view, sender, message_id)
    sent = sender.sent[message_id]
    last, late, copies = sent, 0, 0
    for tick in view.ticks.get(sender.who, ()):
        if tick.number <= sent.number or tick.number >= until:
            continue
        if any(message.message_id == message_id for message in tick.step.messages):
            last, late, copies = tick, 0, copies + 1
        elif tick.step.now_ms - last.step.now_ms >= 2 * period and tick.step.now_ms > sent.step.now_ms:
            late += 1
            if late >= SWEEPS and tick.operation == ending.operation:
                return tick, copies
    return None


def _first_evidence_act(view: GroupView, sender: Side, message_id: str) -> int:
    """The number of the first step that may acknowledge a message of the sender; more than the number of all steps if
    there is none.
    """
    for arrival in sender.received:
        message = arrival.message
        if any(entry.message_id == message_id for entry in message.causal_history):
            return arrival.act.number
        if message.bloom_filter and view.filter_hit(sender, message.bloom_filter, message_id) is not False:
            return arrival.act.number
    return view.group_trace.steps + 1


# ---- Repair ----------------------------------------------------------------------------------------------------------


def _not_repaired(view: GroupView, side: Side, key: Key, sides: list[Side]) -> Iterator[Omission]:
    """Yield the omissions of the duty to repair.

    In the calm phase, a participant that knows of a missing message requests it, and a participant that has the message
    answers.
    """
    ending, terms, message_id = view.ending, side.terms, key[1]
    if ending is None or not terms.sound or side.who in view.stepped or message_id not in side.named:
        return
    author = view.origins[key].message.sender_id
    named = [(a, e) for a in side.received for e in a.message.causal_history if e.message_id == message_id]
    signed = all(entry.sender_id == author for _, entry in named)
    came = {message_id for message_id, arrival in side.arrivals.items() if arrival.act.number < ending.first}
    missing = side.named.keys() - side.sent.keys() - came
    if not named or not named[0][0].taken or not signed or len(missing) > (terms.cap or REPAIR_CAP):
        return  # the sender is unknown (AMB-72), or more messages are missing than one request may name
    holders = [h for h in sides if h is not side and can_answer(view, h, message_id, ending.first)]
    if not holders:
        return
    asking, answering = _requesters_and_responders(view)
    if side.who in asking and side.timed:
        yield from _not_asked(view, side, named[0][0], terms, message_id, ending.first)
    yield from _not_answered(view, side, [h for h in holders if h.who in answering and h.timed], author, message_id)


@cache_per_view
def _requesters_and_responders(view: GroupView) -> tuple[set[str], set[str]]:
    """Return (participants whose implementations send requests, participants whose implementations answer requests).

    An implementation that shows an overdue planned answer counts as answering, too. An implementation that drops
    answers when they are due does not count, because this violates only a SHOULD.
    """
    group_trace = view.group_trace
    asking = {id(act.trace) for act in group_trace.acts if any(message.repair_request for message in act.step.messages)}
    answering, ticked = set(), dict[tuple[int, str], int]()
    for act in group_trace.acts:
        trace, step, state = id(act.trace), act.step, act.step.state
        if step.command == "tick":
            ticked[trace, step.participant] = step.now_ms
        if state is not None and state.outgoing_repairs.entries:
            asking.add(trace)
        over = ticked.get((trace, step.participant), 0) - SECOND_MS
        if state is not None and any(entry.due_ms < over for entry in state.incoming_repairs.entries):
            answering.add(trace)
    for packet in group_trace.packets:
        message = packet.wire.message
        if packet.act and message is not None and message.kind is Kind.CONTENT and message.sender_id != packet.sender:
            answering.add(id(group_trace.cast[packet.sender]))
    asks, answers = (
        {who for who, trace in group_trace.cast.items() if id(trace) in those} for those in (asking, answering)
    )
    return asks, answers


def can_answer(view: GroupView, holder: Side, message_id: str, act: int) -> bool:
    """Must a participant answer requests for a message from the step with the number ``act`` on (AMB-119)?

    There must be only one response group, and the participant must have the message in its log before the step.
    """
    terms = holder.terms
    if not terms.t_max_ms or holder.who in view.stepped or holder.who in view.group_trace.crashed:
        return False
    alone = terms.groups is not None and terms.groups <= 1
    return alone and holder.logged.get(message_id, act) < act


def _not_asked(
    view: GroupView, side: Side, naming: MessageArrival, terms: RepairTerms, message_id: str, first: int
) -> Iterator[Omission]:
    """Yield an omission if a message that a participant sends after T_req does not request the missing message.

    Messages that are sent after the entry for the missing message may have expired are not judged (AMB-81).
    """
    detected = naming.act.step.now_ms
    offsets = terms.t_req(message_id)
    assert offsets is not None
    assert terms.t_max_ms is not None
    due, expires = detected + offsets.high + SECOND_MS, detected + offsets.low + terms.t_max_ms
    # The specification does not say whether the entry stays after any participant has sent a request (AMB-68).
    until = min([asked.act.number for asked in side.requested.get(message_id, ())], default=view.group_trace.steps + 1)
    for packet in view.group_trace.packets:
        message = packet.wire.message
        asks = message.repair_request if message is not None and packet.sender == side.who else ()
        if packet.act < until and any(entry.message_id == message_id for entry in asks):
            until = packet.act
    for act, _ in side.outgoing:
        if act.number >= until:
            return
        if act.number >= first and due <= act.step.now_ms < expires:
            expected = f"{side.who} to request {message_id!r}, which it has missed since step {naming.act.number}"
            later_ms = act.step.now_ms - detected
            seen = f"the message that {side.who} sends {later_ms} ms later does not request {message_id!r}"
            yield _omit(side, message_id, act, "never-asked", expected, seen)
            return


def _not_answered(view: GroupView, side: Side, holders: list[Side], author: str, message_id: str) -> Iterator[Omission]:
    ending = view.ending
    assert ending is not None
    content = ((p, m) for p in view.group_trace.packets if (m := p.wire.message) is not None and m.kind is Kind.CONTENT)
    copies = [p for p, m in content if (m.channel_id, m.message_id) == (side.channel_id, message_id)]
    for holder in holders:
        terms = holder.terms
        assert terms.t_max_ms is not None
        for asked in holder.requested.get(message_id, ()):
            act = asked.act
            proper = [e.sender_id == author for e in asked.message.repair_request if e.message_id == message_id]
            if act.number < ending.first or asked.packet.sender != side.who or not asked.taken or not all(proper):
                continue
            # A participant may answer no further request until T_min has passed since its last answer (AMB-80).
            pause = act.at_ms - (terms.t_min_ms or terms.t_max_ms) - SECOND_MS
            if any(p.act > act.number or (p.sender == holder.who and p.at_ms >= pause) for p in copies):
                continue
            if any(a.act.number > act.number and a.message.message_id == message_id for a in holder.received):
                continue
            over = act.step.now_ms + terms.t_max_ms + SECOND_MS
            ticks = (tick for tick in view.ticks.get(holder.who, ()) if tick.number > act.number)
            late = [tick for tick in ticks if tick.step.now_ms >= over]
            if len(late) >= SWEEPS:
                request = f"the request of {side.who} at step {act.number}"
                expected = f"{holder.who}, which has {message_id!r}, to answer {request}"
                seen = f"no participant has answered {late[SWEEPS - 1].step.now_ms - act.step.now_ms} ms later"
                yield _omit(side, message_id, late[SWEEPS - 1], "never-answered", expected, seen)
                return

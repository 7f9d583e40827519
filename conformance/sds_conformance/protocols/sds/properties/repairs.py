"""Properties of SDS-R: which participants send requests and answers, and when."""

from __future__ import annotations

from collections.abc import Iterator

from sds_harness.sds.group_trace import Act, Packet
from sds_reference import Kind, Message

from ....judging.view_cache import cache_per_view
from ...properties import Sighting, observe_met, observe_outcome, observe_violation
from ..view.repair_terms import SECOND_MS
from .group_view import GroupView
from .omissions import SWEEPS
from .registry import global_property, of_each_channel
from .sides import Key, MessageArrival, Side


@cache_per_view
def _copies(view: GroupView) -> dict[Key, list[Packet]]:
    """By content message: the packets in which participants broadcast it, in order."""
    copies: dict[Key, list[Packet]] = {}
    for packet in view.group_trace.packets:
        message = packet.wire.message
        if packet.act and message is not None and message.kind is Kind.CONTENT:
            copies.setdefault((message.channel_id, message.message_id), []).append(packet)
    return copies


def _answers(view: GroupView) -> Iterator[tuple[Side, Packet, Message]]:
    """Yield (participant, packet, message) for each broadcast of another participant's message."""
    if not any(side.terms.on for side in view.sides.values()):
        return
    for (channel_id, _), packets in _copies(view).items():
        for packet in packets:
            message, side = packet.wire.message, view.sides.get((packet.sender, channel_id))
            if message is None or side is None or message.message_id in side.sent or message.sender_id == side.id:
                continue
            yield side, packet, message


@global_property(
    "G-22",
    "The sender of a message answers first",
    "R-TRESP-02",
    "R-GROUP-02",
    "R-RECV-02",
    codes={"answered-late": "another participant answers a request before the author of the message does"},
)
@of_each_channel
def who_sent_a_message_answers_first(view: GroupView) -> Iterator[Sighting]:
    """The sender of a message answers a request by its second sweep, before other participants answer.

    Others may be as fast if their backoff is zero (AMB-114), or if the sender has not run two sweeps yet (AMB-113).
    """
    for side in view.sides.values():
        if not (side.terms.on and side.timed) or side.who in view.stepped:
            continue
        for message_id, requests in side.requested.items():
            if message_id not in side.sent or not view.is_sound((side.channel_id, message_id)):
                continue
            asked = next((a for a in requests if _is_proper(side, a, message_id)), None)
            if asked is None or asked is not requests[0]:
                continue
            late, copy = _own_answer(view, side, asked, message_id)
            other = _other_answer(view, side, asked, message_id, late)
            if late is not None and copy is None and other is not None:
                expected = (
                    f"{side.who}, who sent {message_id!r}, to answer the request at step {asked.act.number} first"
                )
                seen = f"{other.sender} answers the request, and {side.who} has not answered it in {SWEEPS} sweeps"
                code = "answered-late"
                yield observe_violation(view.group_trace.acts[other.act - 1], side.channel_id, code, expected, seen)
            elif copy is not None and (other is None or other.number > copy.number):
                yield observe_met(view.group_trace.acts[copy.act - 1], side.channel_id)


def _is_proper(side: Side, asked: MessageArrival, message_id: str) -> bool:
    entries = [entry for entry in asked.message.repair_request if entry.message_id == message_id]
    fresh = asked.message.kind is Kind.SYNC or side.arrivals.get(asked.message.message_id) is asked
    named = all(entry.sender_id == side.id for entry in entries)
    return asked.taken and fresh and named and asked.act.number > side.sent[message_id].number


def _own_answer(
    view: GroupView, side: Side, asked: MessageArrival, message_id: str
) -> tuple[Act | None, Packet | None]:
    """Return (sweep by which the sender must have answered, packet of the sender's first copy since the request).

    Each of the two is None if there is none.
    """
    ticks = [t for t in view.ticks.get(side.who, ()) if t.number > asked.act.number]
    late = ticks[SWEEPS - 1] if len(ticks) >= SWEEPS else None
    copies = _copies(view).get((side.channel_id, message_id), ())
    own = next((p for p in copies if p.sender == side.who and p.act >= asked.act.number), None)
    before = range(asked.act.number + 1, late.number) if late is not None else range(0)
    back = any(a.act.number in before and a.message.message_id == message_id for a in side.received)
    return (None if back else late), own  # a copy of another participant may have ended the request (AMB-22)


def _other_answer(
    view: GroupView, side: Side, asked: MessageArrival, message_id: str, late: Act | None
) -> Packet | None:
    """The first copy that another participant sent after ``late``, or after the request if ``late`` is None."""
    copies = _copies(view).get((side.channel_id, message_id), ())
    since = late.number if late is not None else asked.act.number
    return next((p for p in copies if p.sender != side.who and p.act > since), None)


@global_property(
    "G-23",
    "Only the response group answers",
    "R-GROUP-01",
    "R-GLOBAL-05",
    "R-RECV-11",
    codes={"answered-by-outsider": "a participant outside the response group answers"},
)
@of_each_channel
def only_the_response_group_answers(view: GroupView) -> Iterator[Sighting]:
    """With several response groups, a participant that answers for another sender is in the response group.

    Judged only with a known hash profile (AMB-01). Messages for which a request names a wrong sender are not judged,
    because the sender in the request decides the response group (AMB-73).
    """
    for side, packet, message in _answers(view):
        terms = side.terms
        if (terms.groups or 0) < 2 or message.message_id not in side.requested:
            continue
        entries = [e for a in side.requested[message.message_id] for e in a.message.repair_request]
        named = {e.sender_id for e in entries if e.message_id == message.message_id}
        inside = terms.in_group(message.sender_id, message.message_id)
        if inside is None or not named <= {message.sender_id, None, ""}:
            continue
        act = view.group_trace.acts[packet.act - 1]
        expected = f"no answer for {message.message_id!r} from {side.who}, which is not in its response group"
        seen = f"{side.who} answers, with {terms.groups} response groups"
        yield observe_outcome(act, side.channel_id, "answered-by-outsider", inside, expected, seen)


@global_property(
    "G-24",
    "No repair is early or unasked",
    "R-GLOBAL-09",
    "R-SEND-02",
    "R-RECV-09",
    codes={
        "asked-early": "a message is requested sooner than T_min after a causal history first named it",
        "never-named": "a message is requested that no causal history has named",
        "unasked": "a message of another participant is broadcast without a request",
    },
)
@of_each_channel
def no_repair_is_early_or_unasked(view: GroupView) -> Iterator[Sighting]:
    """Messages are requested T_min or more after they were first named; messages of others are sent only on request."""
    yield from _early(view)
    yield from _unasked(view)


def _early(view: GroupView) -> Iterator[Sighting]:
    for side in view.sides.values():
        terms = side.terms
        if not terms.sound or terms.t_min_ms is None or side.who in view.stepped:
            continue
        if not side.timed:
            continue
        for act, message in side.outgoing:
            for entry in message.repair_request:
                named = side.named.get(entry.message_id)
                if named is None or named.number > act.number:
                    expected = f"{side.who} to request only messages that a received causal history names"
                    seen = f"{message.message_id!r} requests {entry.message_id!r}"
                    yield observe_violation(act, side.channel_id, "never-named", expected, seen)
                    continue
                waited = act.step.now_ms - named.step.now_ms
                expected = (
                    f"{side.who} not to request {entry.message_id!r} within {terms.t_min_ms} ms of finding it missing"
                )
                seen = (
                    f"requested {waited} ms after step {named.number}, in which a causal history first named the "
                    "message"
                )
                met = waited + SECOND_MS >= terms.t_min_ms  # times may be kept in whole seconds (AMB-05)
                yield observe_outcome(act, side.channel_id, "asked-early", met, expected, seen)


def _unasked(view: GroupView) -> Iterator[Sighting]:
    for side, packet, message in _answers(view):
        if not view.is_sound((side.channel_id, message.message_id)):
            continue
        act = view.group_trace.acts[packet.act - 1]
        asked = side.requested.get(message.message_id, [])
        if not side.terms.on or not any(a.act.number <= act.number for a in asked):
            expected = f"no copy of {message.message_id!r} from {side.who}, because no participant requested it"
            yield observe_violation(act, side.channel_id, "unasked", expected, f"{side.who} broadcasts a copy")
        else:
            yield observe_met(act, side.channel_id)

"""Section STATE, joining late: a newcomer's clock is its place among the others, and nobody has to tell it anything."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import takewhile

from sds_harness.sds.trace import Step, Trace
from sds_proto.testee.v1 import testee_pb2 as pb
from sds_reference import Kind, Message

from .....judging.judgement import Observation, held, judged, violated
from ...register import check
from ...view.channel_view import ChannelView
from ...view.facts import LogItem
from ...view.log_orders import shown_orders, shows_its_log
from .receive import quiet_after


@dataclass(frozen=True, slots=True)
class _Arrival:
    """A participant that joined a channel in which there had been talk, and its first attempt to send."""

    opened: Step
    first: Step

    def older(self, trace: Trace, channel_id: str) -> int | None:
        """Largest Lamport timestamp of what others had said by then, as far as that is before the newcomer's clock;
        None if there had been no talk."""
        talk = takewhile(lambda said: said[0].index < self.opened.index, _talk(trace, channel_id))
        before = (message.lamport_timestamp or 0 for _, message in talk)
        clock = min(self.opened.now_ms, self.first.now_ms)
        return max((lamport for lamport in before if lamport < clock), default=None)


def _talk(trace: Trace, channel_id: str) -> Iterator[tuple[Step, Message]]:
    """Content of a channel, wherever it was sent or received."""
    for step in trace.steps:
        wires = [step.received] if step.command == "receive" else step.broadcasts
        for wire in wires:
            message = wire.message
            if message is not None and message.kind is Kind.CONTENT and message.channel_id == channel_id:
                yield step, message


def _newcomer(trace: Trace, name: str, channel_id: str) -> _Arrival | None:
    """A newcomer that sends before it has received anything; None if the participant is none."""
    opened = first = None
    for step in trace.of(name):
        if step.command == "open":
            opened = step
        elif step.command == "receive":
            message = step.received.message
            if message is not None and message.channel_id == channel_id:
                return None
        elif step.command == "send" and step.channel_id == channel_id:
            first = step
            break
    return None if opened is None or first is None else _Arrival(opened, first)


@check("SDS-STATE-04", pb.CAPABILITY_VIRTUAL_CLOCK)
def newcomers_speak_at_once_and_in_time(view: ChannelView) -> Iterator[Observation]:
    """A newcomer's first message carries a timestamp after all that is older than its clock, before all that is later.

    Nobody has to send it anything first. Clocks must agree better than what was said lies apart.
    """
    arrival = _newcomer(view.trace, view.party.name, view.channel_id)
    older = arrival.older(view.trace, view.channel_id) if arrival is not None else None
    if arrival is None or older is None or arrival.first.reply is None:
        return
    step = arrival.first
    sent = next((s for s in view.sent if s.step is step), None)
    if sent is None or sent.message.lamport_timestamp is None:
        sends = any(s.command == "send" and s.broadcasts for s in view.trace.steps)  # else it is SDS-SEND-10's matter
        if sends and not step.broadcasts and step.request.send.content and not step.request.send.message_id:
            yield violated(
                step,
                "refused" if step.answer == "rejected" else "not-broadcast",
                "a newcomer to be able to send before it has received anything",
                "nothing is sent",
            )
        return
    seen = sent.message.lamport_timestamp
    said = [m.lamport_timestamp or 0 for s, m in _talk(view.trace, view.channel_id) if s.index > step.index]
    later = min((lamport for lamport in said if lamport > max(sent.lamport.high, step.now_ms)), default=None)
    if seen <= older:
        expected = f"the newcomer's message after those older than its clock, the last of which has Lamport {older}"
        yield violated(step, "too-low", expected, f"{seen}, by a clock of {step.now_ms}")
    else:
        met = not (later is not None and seen >= later and not sent.lamport.tolerates(seen))
        expected = f"the newcomer's message before those later than its clock, the first of which has Lamport {later}"
        yield judged(step, "too-high", met, expected, f"{seen}, by a clock of {step.now_ms}")


@check("SDS-STATE-04", pb.CAPABILITY_VIRTUAL_CLOCK, pb.CAPABILITY_DELIVERED, of="received")
def newcomers_find_their_place(view: ChannelView) -> Iterator[Observation]:
    """In the logs of all others a newcomer's first message stands where its timestamp belongs, however late it came."""
    for received in view.received:
        message = received.message
        if message.sender_id not in view.trace.parties or not received.plain or received.unmet:
            continue
        arrival = _newcomer(view.trace, message.sender_id, view.channel_id)
        if arrival is None or message.message_id not in {sent.message_id for sent in arrival.first.messages}:
            continue
        older = arrival.older(view.trace, view.channel_id)
        if older is None or (message.lamport_timestamp or 0) <= older:
            continue  # its timestamp is wrong already, which is no fault of the one that receives it
        if not received.delivered:
            if view.delivered and quiet_after(view, received):
                expected = f"{message.message_id!r}, the first message of a newcomer, among the recent ones"
                yield violated(received.step, "never-delivered", expected, "it was never delivered")
            continue
        for step, order in shown_orders(view):
            place = next((n for n, item in enumerate(order) if item.message_id == message.message_id), None)
            if place is None or len(order) < 2:
                continue
            wrong = _misplaced(order, place)
            if wrong is not None and step.command != "observe" and shows_its_log(view):
                continue  # the order of causal histories is SDS-SEND-05's matter
            if wrong is not None:
                newcomer = f"{message.message_id!r} of a newcomer (Lamport {message.lamport_timestamp})"
                where = f"{'after' if wrong < order[place] else 'before'} {wrong.message_id!r} ({wrong.lamport})"
                yield violated(step, "wrong-order", f"{newcomer} {where}", "the other way round")
            else:
                yield held(step)


def _misplaced(order: list[LogItem], place: int) -> LogItem | None:
    """What stands on the wrong side of the item at that place; ties are another requirement's matter."""
    item = order[place]
    early = (other for other in order[:place] if other.lamport > item.lamport)
    late = (other for other in order[place + 1 :] if other.lamport < item.lamport)
    return next(early, None) or next(late, None)

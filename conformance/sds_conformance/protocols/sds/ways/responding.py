"""SDS-R from the side of who has what others miss: whether it answers, when, and with what."""

from __future__ import annotations

from collections.abc import Iterator

from sds_harness.sds.trace import Step

from ..register import way
from ..view.channel_view import ChannelView
from ..view.halves import answers_for_anything
from ..view.repair_tracker import NEVER, Asked
from ..view.responder import SWEEP_MS, asked_of, turns

TICKS = 2


def _in_vain(view: ChannelView, asked: Asked, since: Step, until: int = NEVER) -> Step | None:
    """The tick by which an answer would have gone out to somebody in the group, whatever its time; None before that."""
    if view.terms.groups not in (None, 0, 1) or not view.terms.t_max_ms:
        return None
    over = since.now_ms + view.terms.t_max_ms + SWEEP_MS
    late = [t for t in view.ticks if since.index < t.index < until and t.now_ms >= over]
    others = [answer.step.index for answer in asked.answers]
    return late[TICKS - 1] if len(late) >= TICKS and not others and not asked.copies else None


@way("AMB-71", {"answers": "answers", "does-not": "does not answer"}, of="asked sds-r")
def asked_for_what_waits(view: ChannelView) -> Iterator[tuple[Step, str]]:
    """What is asked for waits for its dependencies all the while: an answer goes out, or none in all the time."""
    for asked in view.repair.asked if view.terms.on else ():
        if not asked.buffered or not asked.certain:
            continue
        entered = min((d.step.index for d in view.delivered if d.message_id == asked.message_id), default=NEVER)
        if asked.answers and asked.answers[0].step.index < entered:
            yield asked.answers[0].step, "answers"
        elif (late := _in_vain(view, asked, asked.received.step, entered)) is not None:
            yield late, "does-not"


@way("AMB-72", {"answers": "answers, for it knows the sender", "ignores": "ignores it"}, of="asked sds-r")
def asked_without_a_sender(view: ChannelView) -> Iterator[tuple[Step, str]]:
    """All that ask for a message that is held name no sender: an answer goes out, or none in all the time for it."""
    for asked in view.repair.asked if view.terms.on else ():
        if not asked.held or asked.own or not asked.certain:
            continue
        if any(any(asked_of(view, r).get(asked.message_id, ())) for r in (asked.received, *asked.repeats)):
            continue
        if asked.answers:
            yield asked.answers[0].step, "answers"
        elif (late := _in_vain(view, asked, asked.received.step)) is not None:
            yield late, "ignores"


@way("AMB-113", {"at-once": "on the request", "on-a-sweep": "on the next sweep"}, of="asked sds-r")
def answers_of_the_sender(view: ChannelView) -> Iterator[tuple[Step, str]]:
    """The original sender is asked, and answers: in the step of the request, or on a tick."""
    for turn in turns(view):
        if turn.asked.own and turn.answer is not None and turn.sure:
            yield turn.answer, "on-a-sweep" if turn.answer.command == "tick" else "at-once"


@way("AMB-67", {"keeps": "leaves the old repair request in it", "leaves-out": "sends it without one"}, of="asked sds-r")
def requests_in_answers(view: ChannelView) -> Iterator[tuple[Step, str]]:
    """What others are answered with had a repair request when it came: it has that again, or none."""
    for asked in view.repair.asked if view.terms.on else ():
        old = asked.original.repair_request if asked.original is not None else ()
        for answer in asked.answers if old and not asked.own else ():
            if answer.message.repair_request in (old, ()):
                yield answer.step, "keeps" if answer.message.repair_request else "leaves-out"


@way("AMB-141", {"answers": "answers others", "answers-nobody": "answers nobody"}, of="asked sds-r")
def whether_it_answers(view: ChannelView) -> Iterator[tuple[Step, str]]:
    """A message of somebody else goes out on request; or no answer at all, where one was due beyond doubt."""
    if not view.terms.on:
        return
    answered = [turn for turn in turns(view) if turn.answer is not None and turn.sure and not turn.asked.own]
    if answered:
        yield answered[0].told, "answers"
    elif not answers_for_anything(view):
        yield from ((turn.since, "answers-nobody") for turn in turns(view) if turn.never and turn.due)

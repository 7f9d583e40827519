"""Sections R-STATE and R-RECV, the responder's side: which requests are queued and answered, and which are not."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from sds_harness.sds.trace import Step
from sds_reference import Kind

from .....judging.judgement import Observation, observe_met, observe_outcome, observe_violation
from .....judging.view_cache import cache_per_view
from ...register import check
from ...view.channel_view import ChannelView
from ...view.other_channels import requested_elsewhere
from ...view.repair_terms import SECOND_MS, TIMED
from ...view.repair_tracker import NEVER, Answer
from ...view.responder import ResponsePeriod, bound_delay, names_one_author, response_periods, shown_t_resp

# ---- R-STATE ---------------------------------------------------------------------------------------------------------


@check("SDS-R-STATE-04", *TIMED, of="answers-shown sds-r")
def only_what_can_be_answered_is_queued(view: ChannelView) -> Iterator[Observation]:
    """The incoming repair request buffer names only requested messages that the participant may repair."""
    content = (r for r in reversed(view.received) if r.kind is Kind.CONTENT and not r.rejected)
    arrived = {received.message.message_id: received.step.index for received in content}
    arrived |= {sent.message.message_id: sent.step.index for sent in reversed(view.sent)}
    named = _first_requested(view)
    outside = {
        period.message_id
        for period in response_periods(view)
        if period.eligible is False and names_one_author(period.asked)
    }
    for observed in view.states_showing("incoming_repairs"):
        at, queued = observed.step.index, {e.message_id for e in observed.state.incoming_repairs.entries}
        for message_id in sorted(queued):
            if requested_elsewhere(view).get(message_id, NEVER) < min(at, named.get(message_id, NEVER)):
                continue  # SDS-STATE-16 judges messages that were requested in another channel
            if named.get(message_id, NEVER) > at:
                seen = f"{message_id!r}"
                yield observe_violation(observed.step, "unasked", "only answers to requests of others", seen)
            elif arrived.get(message_id, NEVER) > at:
                expected = f"no answer planned for {message_id!r}, which never arrived"
                seen = "an answer is planned"
                yield observe_violation(observed.step, "not-held", expected, seen)
            else:
                expected = f"no answer planned for {message_id!r}, because the participant is not in its response group"
                seen = "an answer is planned"
                yield observe_outcome(observed.step, "not-eligible", message_id not in outside, expected, seen)
        lacking = {i for i, since in named.items() if since < at and arrived.get(i, NEVER) > at}
        if lacking - queued:
            yield observe_met(observed.step)


@cache_per_view
def _first_requested(view: ChannelView) -> dict[str, int]:
    """By message ID: the index of the first step that requests it."""
    return {e.message_id: r.step.index for r in reversed(view.received) for e in r.message.repair_request}


def unrequested_broadcasts(view: ChannelView) -> list[Answer]:
    """Broadcasts of other participants' messages, before any received message of the channel requested a repair of
    them.
    """
    named = _first_requested(view)
    return [a for a in view.repair.unrequested if named.get(a.message.message_id, NEVER) > a.step.index]


@check("SDS-R-STATE-04", *TIMED)
def only_what_was_asked_for_is_sent(view: ChannelView) -> Iterator[Observation]:
    """Messages of other participants are sent only after a request for them."""
    elsewhere = requested_elsewhere(view)
    for answer in unrequested_broadcasts(view):
        if elsewhere.get(answer.message.message_id, NEVER) < answer.step.index:
            continue  # SDS-STATE-16 judges messages that were requested in another channel
        expected = f"{answer.message.message_id!r} not sent, because no participant requested it"
        yield observe_violation(answer.step, "unasked", expected, "the message is broadcast")
    for period in response_periods(view):
        if period.answer is not None and not period.asked.own:
            yield observe_met(period.answer)


def _find_answer_after_copy(view: ChannelView, period: ResponsePeriod) -> tuple[Step | None, Step | None]:
    """The steps after a response period that ended because the requested message arrived from another participant.

    Returns (step of a later answer, last tick at which an answer would have been due). Each is None if there is none,
    and both are None if something else ended the period.
    """
    if period.copy is None or period.answer is not None or period.copy.step.index != period.end:
        return None, None
    answer = next((a.step for a in period.asked.answers if a.step.index > period.end), None)
    until = answer.index if answer is not None else period.next_request
    due = [t for t in view.ticks if period.end < t.index < until and period.window and t.now_ms >= period.window.high]
    return answer, due[-1] if due and period.due else None


@check("SDS-R-STATE-05", *TIMED, of="asked sds-r")
def no_answer_after_another_participants(view: ChannelView) -> Iterator[Observation]:
    """If a requested message arrives from another participant, this participant sends no answer."""
    for period in response_periods(view):
        answer, silent = _find_answer_after_copy(view, period)
        if answer is not None:
            expected = f"no answer for {period.message_id!r}, because a copy arrived at step {period.end}"
            yield observe_violation(answer, "answered-after-copy", expected, "another copy is sent")
        elif silent is not None:
            yield observe_met(silent)


@check("SDS-R-RECV-02", *TIMED, of="asked sds-r")
def a_copy_ends_the_request(view: ChannelView) -> Iterator[Observation]:
    """The arrival of a requested message removes the request. If the buffer is not shown, no answer follows."""
    for period in response_periods(view):
        if period.copy is None or period.copy.step.index != period.end or period.answer is not None:
            continue
        if not view.states_showing("incoming_repairs"):
            answer, silent = _find_answer_after_copy(view, period)
            if answer is not None:
                expected = f"the request for {period.message_id!r} dropped when the copy arrived"
                yield observe_violation(answer, "not-dropped", expected, "an answer")
            elif silent is not None:
                yield observe_met(silent)
            continue
        for observed in view.observed:
            if period.end < observed.step.index < period.next_request:
                queued = {entry.message_id for entry in observed.state.incoming_repairs.entries}
                if period.message_id in queued or period.shown:
                    expected = (
                        f"no pending answer for {period.message_id!r}, because a copy arrived at step {period.end}"
                    )
                    met = period.message_id not in queued
                    seen = "an answer is still planned"
                    yield observe_outcome(observed.step, "not-dropped", met, expected, seen)
                break


@check("SDS-R-STATE-06", *TIMED, of="asked sds-r")
def later_requests_change_nothing(view: ChannelView) -> Iterator[Observation]:
    """Further requests while an answer is pending do not change its time, and cause no second answer."""
    alone = any(len(asked.answers) > 1 for asked in view.repair.asked if not asked.repeats)
    for period in response_periods(view):
        if not period.repeats or not period.fixes_time:
            continue
        answers, most = period.asked.answers, 1 + len(period.asked.repeats)
        if 1 < len(answers) <= most and not period.asked.own and not alone:
            expected = f"one answer for {period.message_id!r}, requested {most} times before it was sent"
            yield observe_violation(answers[1].step, "answered-twice", expected, f"{len(answers)} answers")
        yield from _judge_moved(view, period)
        if not period.shown and not period.asked.own and period.answer is not None:
            yield from _judge_moved_by_answers(view, period, period.answer)


def _judge_moved(view: ChannelView, period: ResponsePeriod) -> Iterator[Observation]:
    """Judge whether a further request changed the shown T_resp."""
    shown = [(observed.step, due) for observed, due in shown_t_resp(view, period.asked) if due is not None]
    for (before, first), (after, second) in pairwise(shown):
        further = [r.step for r in period.repeats if before.index < r.step.index < after.index]
        # An answer that was due before the further request may have been dropped, because sending answers is only a
        # SHOULD.
        if further and after.index < period.end and all(step.now_ms < first for step in further):
            moved = second - first
            expected = f"T_resp of {period.message_id!r} unchanged since the first request"
            seen = f"T_resp is {abs(moved)} ms {'later' if moved > 0 else 'earlier'}, after a further request"
            yield observe_outcome(after, "moved", not moved, expected, seen)


def _judge_moved_by_answers(view: ChannelView, period: ResponsePeriod, answer: Step) -> Iterator[Observation]:
    """Compare the delay of an answer with the delay after a single request for the same message."""
    others = [p for p in response_periods(view) if p.message_id == period.message_id and p.fixes_time and not p.repeats]
    between = bound_delay(view, period)
    for other in others:
        usual = bound_delay(view, other)
        if usual is None or between is None:
            continue
        span = f"{usual.low} to {usual.high} ms after the first of several requests"
        expected = f"an answer for {period.message_id!r} {span}, as after a single request"
        hint = view.terms.clock_hint(between.overlaps(usual, SECOND_MS))
        seen = f"sent after {between.high} ms{hint}"
        yield observe_outcome(answer, "moved", between.overlaps(usual, view.terms.clock_ms), expected, seen)


# ---- R-RECV ----------------------------------------------------------------------------------------------------------


@check("SDS-R-RECV-09", *TIMED, of="asked sds-r")
def what_is_not_held_is_not_answered(view: ChannelView) -> Iterator[Observation]:
    """A request for a message that the participant lacks is never answered, even if the message arrives later."""
    t_max = view.terms.t_max_ms
    for asked in view.repair.asked:
        since = asked.received.step
        if asked.held or asked.buffered or asked.message_id == asked.received.message.message_id:
            continue
        if asked.answers and not asked.own:
            request = f"the request of step {since.index} for {asked.message_id!r}, which had not arrived by then"
            seen = "the message is broadcast"
            yield observe_violation(asked.answers[0].step, "answered-unheld", f"no answer to {request}", seen)
        elif t_max is not None and not asked.answers:
            waited = [tick for tick in view.ticks if tick.index > since.index and tick.now_ms >= since.now_ms + t_max]
            if waited:
                yield observe_met(waited[0])


@check("SDS-R-RECV-13", *TIMED, of="arrived sds-r")
def requests_in_sync_messages_are_not_refused(view: ChannelView) -> Iterator[Observation]:
    """A sync message with a request is not refused."""
    for received in view.refused:
        if received.valid and received.kind is Kind.SYNC and received.message.repair_request:
            asked = received.message.repair_request[0].message_id
            expected = f"the request for {asked!r} in a sync message accepted"
            yield observe_violation(received.step, "refused", expected, received.refusal)


@check("SDS-R-RECV-13", *TIMED, of="own-came received sds-r")
def own_requests_are_not_answered(view: ChannelView) -> Iterator[Observation]:
    """A request in the participant's own message, which the network returned, is ignored."""
    asked = view.first_requests
    for received in view.received if not unrequested_broadcasts(view) else ():
        for entry in received.message.repair_request if received.own else ():
            if view.repair.original(entry.message_id) is None or entry.message_id in asked:
                continue
            late = [a for a in view.repair.unrequested if a.message.message_id == entry.message_id]
            after = [a.step for a in late if a.step.index >= received.step.index]
            since, t_max = received.step, view.terms.t_max_ms
            silent = [t for t in view.ticks if t.index > since.index and t_max and t.now_ms >= since.now_ms + t_max]
            if after:
                expected = (
                    f"no answer to the participant's own request for {entry.message_id!r}, which the network returned"
                )
                yield observe_violation(after[0], "own-request-answered", expected, "an answer is sent", "AMB-74")
            elif silent:
                yield observe_met(silent[0])

"""Checks of answers to repair requests, from sections R-SWEEP and R-GLOBAL: when and how often a message is sent again,
and whether the answer equals the original message.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import NamedTuple

from sds_harness.sds.trace import Step
from sds_proto.testee.v1 import testee_pb2 as pb
from sds_reference import Message

from .....judging.judgement import Observation, observe_met, observe_outcome, observe_violation
from .....judging.table import RuleRow
from ...register import check, table
from ...view.channel_view import ChannelView
from ...view.facts import CODES_BY_FIELD, Observed, value_of
from ...view.refusals import arrived_in_order
from ...view.repair_terms import SECOND_MS, TIMED
from ...view.responder import (
    TICKS,
    ResponsePeriod,
    answers_and_originals,
    is_certainly_answer,
    is_no_resend,
    response_periods,
    slack_ms,
)
from ...view.timestamps import largest_lamport_elsewhere


def _periods_for_others(view: ChannelView) -> list[ResponsePeriod]:
    """The response periods for messages of other participants. Such a message is sent again only as an answer, because
    a participant resends only its own messages.
    """
    return [period for period in response_periods(view) if not period.asked.own]


def _is_late_by_the_sweep(view: ChannelView, period: ResponsePeriod, t_max: int) -> bool:
    """Is the answer late because a sweep sent it later than planned, or only after other messages had arrived?

    SDS-R-SWEEP-01 judges such answers.
    """
    planned = period.shown and period.window is not None and period.window.high <= period.since.now_ms + t_max
    return not period.in_time and (planned or _waited_for_traffic(view, period))


@check("SDS-R-GLOBAL-10", *TIMED, of="asked sds-r")
def no_answer_after_t_max(view: ChannelView) -> Iterator[Observation]:
    """An answer is sent by the first sweep after T_max has passed since the request, or earlier."""
    t_max = view.terms.t_max_ms
    for period in _periods_for_others(view) if t_max else ():
        # The answer may belong to a further request, or a further request may have changed its time (SDS-R-STATE-06).
        if period.answer is None or not t_max or period.repeats or _is_late_by_the_sweep(view, period, t_max):
            continue
        expected = f"an answer for {period.message_id!r} within {t_max} ms of the request of step {period.since.index}"
        seen = f"answered after {period.answer.now_ms - period.since.now_ms} ms"
        met = not (period.t_max_tick is not None and period.t_max_tick.index < period.answer.index)
        yield observe_outcome(period.answer, "answered-late", met, expected, seen)


def _waited_for_traffic(view: ChannelView, period: ResponsePeriod) -> bool:
    """Was an overdue answer sent only after another message had arrived?"""
    if period.overdue is None or period.answer is None:
        return False
    return any(period.overdue.index < r.step.index <= period.answer.index for r in view.received)


@check("SDS-R-SWEEP-01", *TIMED, of="asked sds-r")
def answers_wait_for_no_traffic(view: ChannelView) -> Iterator[Observation]:
    """An answer is sent by the first sweep after T_resp, even if no other message arrives."""
    for period in _periods_for_others(view):
        if period.in_time:
            yield observe_met(period.reported_step)
        elif period.overdue is None or period.window is None:
            continue
        elif _delayed_the_answer(view, period) and period.answer is not None:
            which = f"the answer for {period.message_id!r}, due {period.overdue.now_ms - period.window.high} ms ago"
            seen = f"not sent until step {period.answer.index}"
            yield observe_violation(period.overdue, "answered-late", f"{which}, sent by a sweep", seen)


def _delayed_the_answer(view: ChannelView, period: ResponsePeriod) -> bool:
    """Did a sweep delay the answer?

    If T_resp is not known exactly, only a wait for other messages proves this.
    """
    late = period.answer is not None and not period.in_time and not period.repeats
    return late and (period.exact or _waited_for_traffic(view, period))


@check("SDS-R-SWEEP-02", *TIMED, of="asked sds-r")
def all_that_is_due_goes_out(view: ChannelView) -> Iterator[Observation]:
    """A sweep that sends answers sends all answers that are due."""
    pending = [period for period in _periods_for_others(view) if period.window is not None and period.eligible]
    sweeps = {period.answer.index: period.answer for period in pending if period.answer is not None}
    ticks = {tick.index for tick in view.ticks}
    for period in pending:
        until = period.answer.index if period.answer is not None else period.end if period.shown else 0
        before = [s for s in sweeps.values() if period.since.index < s.index < until and s.index in ticks]
        passed_over = [step for step in before if period.window and period.window.high + slack_ms(view) < step.now_ms]
        if passed_over and not period.repeats:
            others = sum(other.answer is passed_over[0] for other in pending)
            expected = f"also the answer for {period.message_id!r}, because it is due"
            late_ms = passed_over[0].now_ms - period.window.high if period.window is not None else 0
            seen = f"{others} other answer{'s' if others > 1 else ''}, but not this one"
            seen = f"{seen}{view.terms.clock_hint(late_ms <= SECOND_MS)}"
            yield observe_violation(passed_over[0], "passed-over", expected, seen)
        elif period.in_time and period.answer is not None:
            yield observe_met(period.answer)


@check("SDS-R-SWEEP-03", *TIMED, of="asked sds-r")
def not_before_its_time(view: ChannelView) -> Iterator[Observation]:
    """No answer is sent before T_resp, and a sweep at exactly T_resp sends it."""
    pending = [period for period in _periods_for_others(view) if period.exact]
    answers = Counter(period.answer.index for period in _periods_for_others(view) if period.answer is not None)
    for period in pending:
        if period.answer is None or period.window is None:
            continue
        wait = period.window.low - period.since.now_ms
        if period.answer.now_ms < period.window.low - slack_ms(view):
            expected = (
                f"no answer for {period.message_id!r} within {wait} ms of the request of step {period.since.index}"
            )
            hint = view.terms.clock_hint(period.answer.now_ms >= period.window.low - SECOND_MS)
            seen = f"answered after {period.answer.now_ms - period.since.now_ms} ms{hint}"
            yield observe_violation(period.answer, "answered-early", expected, seen)
            continue
        yield observe_met(period.answer)
        # A tick that sent other answers ran a sweep. If another tick sent more answers than this one, no limit
        # explains why the answer is missing.
        missed = [
            tick
            for tick in view.ticks
            if tick.now_ms == period.window.low and period.since.index < tick.index < period.answer.index
            if not view.terms.clock_ms  # a coarse clock cannot show that T_resp is exactly now
            if 0 < answers[tick.index] < max(answers.values())
        ]
        if missed and period.since.now_ms < period.window.low:
            expected = f"the answer for {period.message_id!r}, which is due exactly now, with the others"
            late_ms = period.answer.now_ms - period.window.low
            seen = f"the answer was sent {late_ms} ms later{view.terms.clock_hint()}"
            yield observe_violation(missed[0], "answered-late", expected, seen)


@check("SDS-R-SWEEP-04", *TIMED, of="asked sds-r")
def a_request_is_answered_once(view: ChannelView) -> Iterator[Observation]:
    """A pending request is answered once, and not again without a new request.

    A repeated broadcast of an own message may be a resend without a request, because an implementation must resend
    unacknowledged messages. Such broadcasts are not judged, even if the implementation does not declare resends.
    """
    ignored = {e.message_id for r in arrived_in_order(view) if r.own or r.rejected for e in r.message.repair_request}
    for asked in view.repair.asked:
        answers = [a.step for a in asked.answers if not asked.own or is_no_resend(view, asked.message_id, a.step)]
        if asked.message_id in ignored or not answers:
            continue
        # One answer per request is allowed. Another requirement judges answers to further requests.
        allowed = 1 + len(asked.repeats)
        if len(answers) > allowed:
            expected = f"no further answer for {asked.message_id!r}, which was answered at step {answers[0].index}"
            seen = "another answer is sent without another request"
            yield observe_violation(answers[allowed], "answered-again", expected, seen)
        elif (quiet := [tick for tick in view.ticks if tick.index > answers[-1].index])[TICKS - 1 :]:
            yield observe_met(quiet[-1])


# ---- Contents of answers, and the state that they must not change ----------------------------------------------------


class ResentMessage(NamedTuple):
    """An answer to a request: the message as it was sent again, and the original."""

    step: Step
    original: Message
    copy: Message


def messages_sent_again(view: ChannelView) -> Iterator[ResentMessage]:
    """An answer is the full message, not just its ID, and equals the original in all immutable fields."""
    return (ResentMessage(answer.step, original, answer.message) for answer, original in answers_and_originals(view))


def _applies_to_every_answer(_: ResentMessage) -> bool:
    return True


def _value(message: Message, field: str) -> object:
    """The value of a field of a message; None if the field is empty."""
    value = value_of(message, field)
    return None if value in ("", b"", []) else value


def _has_lost(field: str) -> Callable[[ResentMessage], bool]:
    return lambda again: _value(again.original, field) is not None and _value(again.copy, field) is None


def _differs(field: str) -> Callable[[ResentMessage], bool]:
    return lambda again: _value(again.original, field) != _value(again.copy, field)


def _describe_answer(again: ResentMessage, row: RuleRow[ResentMessage]) -> tuple[str, str]:
    was, now = (f"{_value(message, row.why)!r:.60}" for message in (again.original, again.copy))
    return f"{again.original.message_id!r} sent again with its {row.why} {was}", now


_CODES_IF_MISSING = {
    "content": "missing-content",
    "lamport_timestamp": "missing-timestamp",
    "causal_history": "missing-history",
    "sender_id": "missing-sender",
}
"""By field: the code for an answer that lacks the field."""


def _rows(
    requirement: str, is_wrong: Callable[[str], Callable[[ResentMessage], bool]], codes: dict[str, str]
) -> list[RuleRow[ResentMessage]]:
    return [
        RuleRow(requirement, _applies_to_every_answer, is_wrong(field), code, field, "", TIMED)
        for field, code in codes.items()
    ]


table(
    messages_sent_again,
    _describe_answer,
    [*_rows("SDS-R-STATE-07", _has_lost, _CODES_IF_MISSING), *_rows("SDS-R-SWEEP-05", _differs, CODES_BY_FIELD)],
    of="asked",
)


@check("SDS-R-SWEEP-05", *TIMED, pb.CAPABILITY_OBSERVE, pb.CAPABILITY_DELIVERED, of="asked observed")
def answering_leaves_no_trace(view: ChannelView) -> Iterator[Observation]:
    """Answers change neither the log nor the Lamport timestamp nor the outgoing buffer of the responder.

    Without delivery signals, it is unknown whether the sweep that answered also delivered messages.
    """
    answers = [
        answer.step
        for asked in view.repair.asked
        for answer in asked.answers
        if not asked.own or is_certainly_answer(view, asked.message_id, answer.step)
    ]
    active = [s for s in view.trace.of(view.party.name) if s.command not in ("tick", "observe", "query_filter")]
    busy = [step for step in view.ticks if any(event.channel_id == view.channel_id for event in step.events)]
    for before, after in pairwise(view.observed):
        between = [step for step in answers if before.step.index < step.index < after.step.index]
        others = [step for step in (*active, *busy) if before.step.index < step.index < after.step.index]
        synced = [sent for sent in view.syncs if before.step.index < sent.step.index < after.step.index]
        if not between or others or synced:
            continue
        code, changed = _describe_change(before, after)
        expected = f"log, Lamport timestamp and outgoing buffer as at step {before.step.index}, before the answer"
        yield observe_outcome(between[-1], code, not code, expected, f"{changed} at step {after.step.index}")


def _describe_change(before: Observed, after: Observed) -> tuple[str, str]:
    """The first difference between two states: (code, description); empty strings if there is none."""
    one, other = before.state, after.state
    if one.HasField("log") and other.HasField("log") and before.step.shown_log != after.step.shown_log:
        added = [message_id for message_id in after.step.shown_log if message_id not in before.step.shown_log]
        more = f" and {len(added) - 1} more" if len(added) > 1 else ""
        return "log-changed", f"{added[0]!r}{more} also in the log" if added else "another log"
    entered = {e.message_id for e in other.outgoing.entries} - {e.message_id for e in one.outgoing.entries}
    if one.HasField("outgoing") and entered:
        return "entered-outgoing-buffer", f"{min(entered)!r} in the outgoing buffer"
    if one.HasField("lamport_timestamp") and one.lamport_timestamp != other.lamport_timestamp:
        moved = other.lamport_timestamp - one.lamport_timestamp
        return "moved-the-clock", f"a Lamport timestamp of {other.lamport_timestamp}, moved by {moved},"
    return "", ""


@check("SDS-R-SWEEP-05", *TIMED, of="asked outgoing")
def answering_is_no_sending(view: ChannelView) -> Iterator[Observation]:
    """An answer does not change the Lamport timestamp of the next own message.

    Wrong timestamps with another possible cause are not judged: another channel, more received messages than answers,
    or a local timestamp that was already wrong before the answer.
    """
    answers = [answer.step for asked in view.repair.asked if not asked.own for answer in asked.answers]
    previous: Step | None = None
    found: list[Observation] = []
    for sent in view.outgoing:
        since = previous.index if previous is not None else 0
        between = [step for step in answers if since < step.index < sent.step.index]
        previous = sent.step
        e, seen = sent.lamport, sent.message.lamport_timestamp
        if not sent.log_is_known or seen is None or sent.repeat:
            continue
        if not between and not e.tolerates(seen):
            return
        shown = [o for o in view.observed if between and since < o.step.index < between[0].index]
        if any(o.state.lamport_timestamp >= e.low for o in shown if o.state.HasField("lamport_timestamp")):
            continue  # SDS-DELIVER-01 judges the shown timestamp
        elsewhere = largest_lamport_elsewhere(view)
        if seen >= elsewhere > max(e.now.high, e.high) or (e.counts_messages(seen) and seen - e.low > len(between)):
            continue  # SDS-STATE-01 or SDS-DELIVER-01 judges this timestamp
        if between and e.low == e.high and e.low > sent.step.now_ms:
            expected = (
                f"the Lamport timestamp {e.low}, because the answers sent before this message are not new messages"
            )
            found.append(
                observe_outcome(sent.step, "moved-the-clock", e.tolerates(seen) or seen < e.low, expected, f"{seen}")
            )
    yield from found

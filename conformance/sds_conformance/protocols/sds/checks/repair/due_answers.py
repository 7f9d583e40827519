"""Requests that must be answered: section R-RECV, and the rules of R-STATE, R-GROUP and R-SWEEP on such requests.

A missing answer has many possible causes: the message was not kept, or the request was in a sync message or after other
entries. Each cause violates another requirement. A request without an answer is one violation, of the first requirement
that explains it. An implementation that answers nothing violates a SHOULD (SDS-R-RECV-08, AMB-141).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from operator import attrgetter

from sds_proto.testee.v1 import testee_pb2 as pb
from sds_reference import Kind

from .....judging.judgement import Observation, observe_outcome
from .....judging.table import RuleRow
from .....judging.view_cache import cache_per_view
from ...register import check, table
from ...view.channel_view import ChannelView
from ...view.other_channels import arrived_elsewhere
from ...view.repair_terms import TIMED
from ...view.repair_tracker import NEVER
from ...view.responder import (
    FEW,
    ResponsePeriod,
    answered_any,
    find_never_answered,
    position_in_request,
    response_periods,
)

EVICTED = 10
"""Minimum number of old messages in a repair request that are never sent, although all newer messages in the request
are sent. With fewer old messages, the pattern may be chance.
"""


class DueRequest:
    """A request that must be answered, and that was answered in time or never."""

    __slots__ = ("few", "own", "period", "request", "several", "step", "unanswered", "view")

    def __init__(self, view: ChannelView, period: ResponsePeriod) -> None:
        self.view, self.period, self.request, self.own = view, period, period.request, period.asked.own
        self.unanswered = period.is_never_answered
        self.step = period.overdue if self.unanswered and period.overdue else period.reported_step
        self.several = view.terms.groups is None or view.terms.groups > 1
        """Are there several response groups, or is their number unknown?"""
        self.few = period.pending_count <= FEW
        """Is the number of pending requests so small that no limit excuses a missing answer?"""

    def always_applies(self) -> bool:
        return True

    # ---- the message that is asked for -----------------------------------------------------------------------------

    def was_repaired(self) -> bool:
        missing = self.view.repair.tracked(self.period.message_id)
        return not self.own and missing is not None and bool(missing.requests)

    def had_waited(self) -> bool:
        arrivals = self.view.arrivals.get(self.period.message_id, ())
        at_once = any(r.delivered_at_once for r in arrivals if r.kind is Kind.CONTENT)
        return not (self.own or at_once or self.was_repaired())

    def was_delivered_on_arrival(self) -> bool:
        return not (self.own or self.was_repaired() or self.had_waited())

    def is_own_of_several_groups(self) -> bool:
        return self.own and self.several

    def is_of_the_only_group(self) -> bool:
        return not (self.own or self.several)

    def is_of_its_group(self) -> bool:
        return self.several and self.few and self.was_delivered_on_arrival()

    def is_refused_for_good(self) -> bool:
        return self.unanswered and self.period.message_id in find_never_answered(self.view)

    def was_evicted(self) -> bool:
        return self.period.message_id in _evicted(self.view)

    def has_a_namesake(self) -> bool:
        """Did a message with the ID of the requested message arrive in another channel after the request?"""
        return arrived_elsewhere(self.view).get(self.period.message_id, 0) > self.period.since.index

    # ---- the request -----------------------------------------------------------------------------------------------

    def is_in_a_sync(self) -> bool:
        return self.request.kind is Kind.SYNC and self.was_delivered_on_arrival()

    def is_in_a_copy(self) -> bool:
        return self.request.kind is not Kind.SYNC and self.request.duplicate and self.was_delivered_on_arrival()

    def is_in_a_blocked_message(self) -> bool:
        """Was the request in a content message that waits for dependencies itself?

        Requests in messages that arrive again and in sync messages are judged separately.
        """
        plain = self.request.kind is not Kind.SYNC and not self.request.duplicate
        return plain and bool(self.request.unmet) and self.was_delivered_on_arrival()

    def is_for_own_in_a_sync(self) -> bool:
        """Is the request unanswered, in a sync message and for an own message, although requests for own messages were
        answered?
        """
        applies = self.unanswered and self.own and self.request.kind is Kind.SYNC
        return applies and any(other.own and not other.unanswered for other in _due_requests(self.view))

    def is_one_of_several(self) -> bool:
        return self.few and len(self.request.message.repair_request) > 1 and self.was_delivered_on_arrival()

    def is_behind_the_only_answered(self) -> bool:
        """Is the request unanswered and not first in its repair request, and were only first entries ever answered?"""
        return (
            self.unanswered and self.few and position_in_request(self.period) > 0 and _answered_places(self.view) == {0}
        )

    # ---- what else was answered ------------------------------------------------------------------------------------

    def nothing_is_answered(self) -> bool:
        """Was no request for a message of the same kind (own, or of others) answered?"""
        return not answered_any(self.view, others=not self.own)

    def was_answered_before(self) -> bool:
        return _first_answers(self.view).get(self.period.message_id, NEVER) < self.period.since.index

    def is_planned(self) -> bool:
        return self.unanswered and self.period.shown

    def was_named_meanwhile(self) -> bool:
        """Did a causal history name the requested message while the answer was pending? This may have ended the
        request.
        """
        named = _naming_steps(self.view).get(self.period.message_id, ()) if self.unanswered else ()
        return any(self.period.since.index < index < self.step.index for index in named)

    @property
    def expected(self) -> str:
        return f"sent again after the request of step {self.period.since.index}"

    @property
    def seen(self) -> str:
        return f"nothing for {self.step.now_ms - self.period.since.now_ms} ms"


@cache_per_view
def _due_requests(view: ChannelView) -> list[DueRequest]:
    ended = (
        period
        for period in response_periods(view)
        if period.due and (period.is_never_answered or (period.in_time and period.is_no_resend))
    )
    return [DueRequest(view, period) for period in ended]


@cache_per_view
def _first_answers(view: ChannelView) -> dict[str, int]:
    """By message ID: the index of the first step with an answer."""
    answers = [
        (period.message_id, period.answer.index) for period in response_periods(view) if period.answer is not None
    ]
    return dict(sorted(answers, key=lambda answer: -answer[1]))


@cache_per_view
def _answered_places(view: ChannelView) -> set[int]:
    """The positions (from 0) within repair requests at which entries were answered."""
    return {position_in_request(period) for period in response_periods(view) if period.answer is not None}


@cache_per_view
def _evicted(view: ChannelView) -> frozenset[str]:
    """IDs of messages that the participant cannot send again, because newer messages seem to have evicted them.

    In one repair request, no request for an older message is answered, and all requests for newer messages are.
    """
    first = {received.message.message_id: received.step.index for received in reversed(view.received)}
    first |= {sent.message.message_id: sent.step.index for sent in reversed(view.sent)}
    requests: dict[int, list[ResponsePeriod]] = {}
    for period in response_periods(view):
        if period.due and (period.in_time or period.is_never_answered):
            requests.setdefault(period.since.index, []).append(period)
    evicted: set[str] = set()
    for together in requests.values():
        old = {period.message_id: first[period.message_id] for period in together if period.is_never_answered}
        new = [first[period.message_id] for period in together if not period.is_never_answered]
        if len(old) >= EVICTED and new and max(old.values()) < min(new):
            evicted |= old.keys()
    return frozenset(evicted)


@cache_per_view
def _naming_steps(view: ChannelView) -> dict[str, list[int]]:
    """By message ID: the indices of the steps that receive a causal history with this ID."""
    named: dict[str, list[int]] = {}
    for received in view.received:
        for entry in received.message.causal_history:
            named.setdefault(entry.message_id, []).append(received.step.index)
    return named


def requests_that_are_due(view: ChannelView) -> Iterator[DueRequest]:
    """A request for a message that the participant has and must repair is answered within T_max and a sweep."""
    return (due for due in _due_requests(view) if not due.has_a_namesake() or due.nothing_is_answered())


@check("SDS-STATE-16", pb.CAPABILITY_CHANNELS, *TIMED, of="asked channels sds-r")
def a_namesake_is_no_answer(view: ChannelView) -> Iterator[Observation]:
    """A message of another channel with the ID of a requested message is no answer to the request, and does not end it.

    Judged only if all other requests are answered.
    """
    if any(due.unanswered for due in _due_requests(view) if not due.has_a_namesake()):
        return
    for due in _due_requests(view):
        if due.has_a_namesake() and not due.nothing_is_answered():
            expected = f"{due.period.message_id!r}, requested in this channel, {due.expected}"
            yield observe_outcome(due.step, "response-ended-by-namesake", not due.unanswered, expected, due.seen)


def _describe_due(due: DueRequest, row: RuleRow[DueRequest]) -> tuple[str, str]:
    others = "" if row.applies is DueRequest.nothing_is_answered else ", although other requests were answered"
    return f"{due.period.message_id!r}, {row.why}, {due.expected}", f"{due.seen}{others}"


HELD, BEFORE, SEVERAL = "which is in the log", "answered before", "one of several entries"
PLANNED, OWN = "whose response is in the incoming repair request buffer", "an own message"
OLD = "in the log like newer messages whose requests were answered"
MEMBER = "whose response group contains the participant, by the declared hash"
ONLY = "whose only response group has all participants, like messages whose requests are always answered"
IN_SYNC, IN_COPY = "requested in a sync message", "requested in a copy of a known message"
BLOCKED, WAITED = "requested in a message that waits itself", "delivered after waiting"


def _row(
    requirement: str,
    applies: Callable[[DueRequest], object],
    code: str,
    why: str,
    *,
    position: str = "",
    wrong: Callable[[DueRequest], object] = attrgetter("unanswered"),
) -> RuleRow[DueRequest]:
    return RuleRow(requirement, applies, wrong, code, why, position, TIMED)


table(
    requests_that_are_due,
    _describe_due,
    [
        # the columns: requirement, applies, code, why
        _row("SDS-R-RECV-08", DueRequest.nothing_is_answered, "never-answered", HELD),
        _row("SDS-R-SWEEP-01", DueRequest.is_planned, "never-answered", PLANNED),
        _row("SDS-R-SWEEP-04", DueRequest.was_answered_before, "later-request-ignored", BEFORE),
        _row("SDS-R-RECV-12", DueRequest.is_behind_the_only_answered, "entry-ignored", SEVERAL),
        _row("SDS-R-STATE-07", DueRequest.was_evicted, "not-kept", OLD),
        _row("SDS-R-RECV-13", DueRequest.is_for_own_in_a_sync, "sync-request-ignored", IN_SYNC),
        _row("SDS-R-GROUP-02", DueRequest.is_own_of_several_groups, "never-answered", OWN),
        _row("SDS-R-STATE-08", attrgetter("own"), "own-left-out", OWN),
        _row(
            "SDS-R-GROUP-04",
            DueRequest.is_of_the_only_group,
            "never-answered",
            ONLY,
            wrong=DueRequest.is_refused_for_good,
        ),
        _row("SDS-R-STATE-08", DueRequest.was_repaired, "repaired-left-out", "repaired"),
        _row("SDS-R-STATE-08", DueRequest.had_waited, "buffered-left-out", WAITED),
        _row("SDS-R-GROUP-01", DueRequest.is_of_its_group, "member-left-out", MEMBER),
        _row("SDS-R-RECV-08", DueRequest.was_named_meanwhile, "never-answered", HELD),
        _row("SDS-R-RECV-13", DueRequest.is_in_a_sync, "sync-request-ignored", IN_SYNC),
        _row("SDS-R-RECV-13", DueRequest.is_in_a_copy, "duplicate-request-ignored", IN_COPY, position="AMB-23"),
        _row("SDS-R-RECV-13", DueRequest.is_in_a_blocked_message, "blocked-request-ignored", BLOCKED),
        _row("SDS-R-RECV-12", DueRequest.is_one_of_several, "entry-ignored", SEVERAL),
        _row("SDS-R-RECV-08", DueRequest.always_applies, "never-answered", HELD),
    ],
    of="asked sds-r",
)

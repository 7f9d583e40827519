"""The responder's side of SDS-R: the answers (repair responses) that each request must, may or must not get.

The specification does not define the period of sweeps (AMB-113), so an answer is late only after a long time and two
ticks that could have sent it. A request sets no time limit if it may be ignored, or if it has two possible meanings.

Each step of a response is a SHOULD: "SHOULD add the request to its incoming repair request buffer", "SHOULD broadcast
the corresponding Message". An implementation that does not answer at all violates only these SHOULDs (AMB-141).
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

from sds_harness.sds.trace import Step
from sds_proto.testee.v1 import testee_pb2 as pb
from sds_reference import Kind, Message

from ....judging.view_cache import cache_per_view
from .channel_view import ChannelView
from .clock import clock_never_goes_back, is_latest_time, next_step_back
from .facts import Observed, Received, is_same_message
from .repair_terms import SECOND_MS
from .repair_tracker import NEVER, Answer, RequestedMessage
from .windows import Window

SWEEP_MS = 60_000
"""The maximum sweep period that is assumed, in milliseconds: an answer is late only after this time."""
TICKS = 2
"""Number of ticks, besides `SWEEP_MS`, that must have passed before an answer is late."""
FEW = 10
"""If at most this number of requests is pending, no declared limit excuses a missing answer."""

TIMES, MESSAGES = 3, 12
"""Minimum number of requests for a message, and minimum number of such messages, before response groups count as the
reason for missing answers. With fewer, the pattern may be chance.
"""


@dataclass(slots=True)
class ResponsePeriod:
    """The time in which a request for a message is pending: from ``request`` to the answer, or to ``end``."""

    asked: RequestedMessage
    request: Received
    """The first message whose request must be honoured: it is not ephemeral, names the right author, and arrived T_min
    or more after the last answer or copy (AMB-72, AMB-73, AMB-80, AMB-84).
    """
    fixes_time: bool
    """Does ``request`` certainly fix the time of the answer? If not, an earlier request may have fixed it."""
    window: Window | None
    """Bounds of T_resp, in epoch milliseconds: from a shown state, else from the declared hash, else from T_max. None
    if unknown.
    """
    shown: bool
    """Did a shown incoming repair request buffer contain the request?"""
    eligible: bool | None
    """Is the participant in the response group of the message? None if unknown."""
    copy: Received | None
    """The first copy of the message that arrived while the request was pending."""
    end: int
    """Index of the first step that ends the period: a copy or a new request arrives, or the clock goes back. Without an
    answer, the period also ends when a log of declared size may have dropped the message.
    """
    overdue: Step | None
    """The tick by which the answer was due; None if ``end`` came first."""
    t_max_tick: Step | None
    """The tick by which the answer was due for every possible T_resp, because T_max had passed."""
    answer: Step | None
    """The step of the first broadcast of the message before ``end``. For an own message it may be a resend."""
    is_no_resend: bool
    """The answer is certainly no resend."""
    next_request: int
    """Index of the step of the next request after an answer or a copy; `NEVER` if there is none."""
    repeats: list[Received] = field(default_factory=list)
    """The messages that repeat the request before ``end``."""
    pending_count: int = 1
    """The number of requests that were pending at the time of the request, including this one."""

    @property
    def message_id(self) -> str:
        return self.asked.message_id

    @property
    def author(self) -> str:
        return self.asked.author

    @property
    def since(self) -> Step:
        return self.request.step

    @property
    def reported_step(self) -> Step:
        """The step to report: the step of the answer, or of the request if there is no answer."""
        return self.answer or self.request.step

    @property
    def due(self) -> bool:
        """Is an answer required, because the participant holds the message and is in the message's response group?"""
        return self.asked.held and self.eligible is True

    @property
    def in_time(self) -> bool:
        """Was the request answered in time?"""
        return self.answer is not None and (self.overdue is None or self.answer.index <= self.overdue.index)

    @property
    def is_never_answered(self) -> bool:
        """Was the request not answered, although its time limit has passed?"""
        return self.answer is None and self.overdue is not None

    @property
    def exact(self) -> bool:
        return self.window is not None and self.window.exact


def shown_t_resp(view: ChannelView, asked: RequestedMessage) -> Iterator[tuple[Observed, int | None]]:
    """For each state that shows the incoming repair request buffer while a request was pending: yield the state and
    T_resp, in epoch milliseconds. T_resp is None if the buffer does not contain the request.
    """
    ends = [copy.step.index for copy in asked.copies] + [answer.step.index for answer in asked.answers]
    until = min(ends, default=None)
    for observed in view.states_showing("incoming_repairs"):
        if asked.received.step.index < observed.step.index:
            if until is not None and observed.step.index >= until:
                return
            yield observed, _shown_due(view)[observed.step.index].get(asked.message_id)


@cache_per_view
def _shown_due(view: ChannelView) -> dict[int, dict[str, int]]:
    """Map the index of each step that shows the incoming repair request buffer to T_resp by message ID, in epoch
    milliseconds. If several entries have the same ID, the first counts.
    """
    return {
        observed.step.index: {e.message_id: e.due_ms for e in reversed(observed.state.incoming_repairs.entries)}
        for observed in view.states_showing("incoming_repairs")
    }


@cache_per_view
def response_periods(view: ChannelView) -> list[ResponsePeriod]:
    """The response periods of a participant in a channel, in the order of the first request for each message."""
    if not view.terms.on or not view.repair.asked:
        return []
    found: list[ResponsePeriod] = []
    last: dict[str, RequestedMessage] = {}
    for asked in view.repair.asked:
        found += _response_periods_of(view, asked, last.get(asked.message_id))
        last[asked.message_id] = asked
    begun = sorted(period.since.index for period in found)
    settled = sorted(period.answer.index if period.answer is not None else period.end for period in found)
    for period in found:
        period.pending_count = bisect_right(begun, period.since.index) - bisect_right(settled, period.since.index)
    return found


def must_honour_request(received: Received) -> bool:
    """Must the participant honour the repair request of a received message?"""
    return received.is_binding and not received.own and received.step.reply is not None


def all_copies_equal(view: ChannelView, original: Message) -> bool:
    """Were all messages that arrived with the ID of ``original`` equal to it?

    If they differ, the participant may have kept any of them.
    """
    return all(is_same_message(original, received.message) for received in view.arrivals.get(original.message_id, ()))


def answers_and_originals(view: ChannelView) -> Iterator[tuple[Answer, Message]]:
    """Yield each answer and the message that the answer must equal. IDs under which different messages arrived are left
    out.
    """
    for asked in view.repair.asked if view.terms.on else ():
        original = asked.original
        if original is not None and all_copies_equal(view, original):
            yield from ((answer, original) for answer in asked.answers)


def answered_any(view: ChannelView, *, others: bool) -> bool:
    """Was any request answered? With ``others``, only requests for messages of other participants count.

    An implementation that answers no request at all violates only a SHOULD (AMB-141).
    """
    return any(t.answer is not None and t.is_no_resend and not (others and t.asked.own) for t in response_periods(view))


@cache_per_view
def answers_any_request(view: ChannelView) -> bool:
    """Does any participant in the channel answer a request, even for its own message, or show a planned response?"""
    return any(
        answered_any(other, others=False) or any(o.state.incoming_repairs.entries for o in other.observed)
        for other in view.views_in_channel
    )


@cache_per_view
def find_never_answered(view: ChannelView) -> frozenset[str]:
    """IDs of other participants' messages of which the participant answers no request, although it answers all requests
    for the remaining messages; empty if some message has both answered and unanswered requests.

    This pattern shows that the implementation has response groups. If each request were answered with probability p
    instead, 12 messages with three requests each, at least three of them answered and three not, would show the pattern
    with a probability below 1e-6: the sum of C(12, k) p^(3(12 - k)) (1 - p)^(3k) over k = 3 to 9.
    """
    outcomes: dict[str, list[bool]] = {}
    for period in response_periods(view):
        if (
            period.asked.held
            and not period.asked.own
            and (period.in_time or period.is_never_answered)
            and period.eligible
        ):
            outcomes.setdefault(period.message_id, []).append(period.in_time)
    often = {message_id: all_of for message_id, all_of in outcomes.items() if len(all_of) >= TIMES}
    stable = all(len(set(all_of)) == 1 for all_of in often.values())
    refused = frozenset(message_id for message_id, all_of in often.items() if not any(all_of))
    return refused if stable and len(often) >= MESSAGES and 2 < len(refused) < len(often) - 2 else frozenset()


@cache_per_view
def ticks_with_room(view: ChannelView) -> frozenset[int]:
    """Indices of the ticks that could have sent more answers: they sent none, or another tick sent more.

    SDS-R-SWEEP-02 judges an implementation that sends one answer per sweep, so its answers do not count as late.
    """
    sent = Counter(answer.step.index for asked in view.repair.asked for answer in asked.answers)
    most = max((sent[tick.index] for tick in view.ticks), default=0)
    return frozenset(tick.index for tick in view.ticks if sent[tick.index] < max(most, 1))


@cache_per_view
def slack_ms(view: ChannelView) -> int:
    """The tolerance of T_resp, in milliseconds (AMB-05).

    It is the declared error of the clock if T_resp is known in milliseconds: a shown time is not a whole second, or no
    time is shown and the hash is known. Otherwise it is one second.
    """
    states = view.states_showing("incoming_repairs")
    due = [entry.due_ms for observed in states for entry in observed.state.incoming_repairs.entries]
    known = view.terms.profile is not None
    fine = any(time % SECOND_MS for time in due) if due else known
    return view.terms.clock_ms if fine else SECOND_MS


def bound_delay(view: ChannelView, period: ResponsePeriod) -> Window | None:
    """The smallest and largest possible delay of an answer for another participant's message, in milliseconds.

    None if there is no answer. A sweep may be late by two ticks or by one sweep period. So the smallest delay ends two
    ticks before the answer, or one sweep period before the last tick without an answer, whichever is earlier.
    """
    if period.answer is None or period.asked.own:
        return None
    free = ticks_with_room(view)
    earlier = [t for t in view.ticks if period.since.index < t.index < period.answer.index]
    silent = [tick.now_ms for tick in earlier if tick.index in free][-TICKS:]
    if len(silent) < TICKS:
        low = period.since.now_ms
    else:
        low = max(period.since.now_ms, min(silent[0], earlier[-1].now_ms - SWEEP_MS))
    return Window(low - period.since.now_ms, period.answer.now_ms - period.since.now_ms)


def measure_delay(view: ChannelView, period: ResponsePeriod) -> Window | None:
    """T_resp for another participant's message, in milliseconds after the request: as shown by a state, or bounded by
    the time of the answer.

    None if unknown, or if further requests may have changed it.
    """
    if period.asked.own or not period.fixes_time or period.repeats or period.end <= period.since.index:
        return None
    if period.shown and period.window is not None:
        offset = period.window.low - period.since.now_ms
        return Window(offset, offset)
    return bound_delay(view, period) if period.in_time else None


def names_one_author(asked: RequestedMessage) -> bool:
    """Do all requests name the right author, or no author? Another author can mean another response group (AMB-73)."""
    entries = [e for r in (asked.received, *asked.repeats) for e in r.message.repair_request]
    return all(e.sender_id in (None, "", asked.author) for e in entries if e.message_id == asked.message_id)


def position_in_request(period: ResponsePeriod) -> int:
    """The position of the requested message in the repair request: 0 for the first entry."""
    return [entry.message_id for entry in period.request.message.repair_request].index(period.message_id)


@cache_per_view
def _asked_at(view: ChannelView) -> dict[str, list[int]]:
    """By message ID: the indices of the steps with the first request for the message, and with the first request after
    each answer.
    """
    out: dict[str, list[int]] = {}
    for asked in view.repair.asked:
        out.setdefault(asked.message_id, []).append(asked.received.step.index)
    return out


def _response_periods_of(
    view: ChannelView, asked: RequestedMessage, previous: RequestedMessage | None
) -> Iterator[ResponsePeriod]:
    """Yield the response periods of a request and its repeats.

    A repeat starts a new period if it arrives after all time limits of the earlier request.
    """
    pause_until = _pause_until(view, previous, view.arrivals.get(asked.message_id, [])[1:], asked)
    requests = [asked.received, *asked.repeats]
    proper = [r for r in requests if _names_right_author(view, asked, r) and r.step.now_ms >= pause_until]
    if asked.original is None or not proper:
        return
    waiting = previous is not None and not previous.answers and not previous.copies
    clear = proper[0] is asked.received and not waiting and (previous is None or len(previous.answers) < 2)
    while proper:
        request = proper[0]
        period = _response_period(view, asked, request, fixes_time=clear)
        late = period.t_max_tick.index if period.t_max_tick is not None else NEVER
        proper = [r for r in proper if r.step.index > late]
        if period.answer is not None and period.answer.index < late:
            proper = []
        if proper:
            period.end = min(period.end, proper[0].step.index)
            if period.answer is not None and period.answer.index >= period.end:
                period.answer, period.is_no_resend = None, False
        period.repeats = [r for r in asked.repeats if request.step.index < r.step.index < period.end]
        yield period
        clear = False


def _response_period(
    view: ChannelView, asked: RequestedMessage, request: Received, *, fixes_time: bool
) -> ResponsePeriod:
    since = request.step
    following = next((at for at in _asked_at(view)[asked.message_id] if at > asked.received.step.index), NEVER)
    later = next((r for r in view.arrivals.get(asked.message_id, ()) if r.step.index > since.index), None)
    usual = later is not None and later.valid and later.step.reply is not None and later.kind is Kind.CONTENT
    copy = later if usual and later and asked.original and is_same_message(later.message, asked.original) else None
    back = next_step_back(view, since) if is_latest_time(view, since) else since.index
    end = min(following, later.step.index if later is not None else NEVER, back)
    window, shown = _window(view, asked, request, end, fixes_time=fixes_time)
    t_max = view.terms.t_max_ms
    bound = Window(since.now_ms, since.now_ms + t_max) if t_max else None
    answer = next((a.step for a in asked.answers if since.index <= a.step.index < end), None)
    if answer is None:  # A log of declared size may drop the message before its response is due (AMB-96).
        end = min(end, view.kept_entries.maybe_gone_from(asked.message_id, NEVER))
    return ResponsePeriod(
        asked,
        request,
        fixes_time,
        window,
        shown,
        view.terms.in_group(asked.author, asked.message_id),
        copy,
        end,
        _find_overdue_tick(view, since, window, end),
        _find_overdue_tick(view, since, bound, end),
        answer,
        answer is not None and (not asked.own or is_certainly_answer(view, asked.message_id, answer)),
        following,
    )


def _find_overdue_tick(view: ChannelView, since: Step, window: Window | None, end: int) -> Step | None:
    if window is None:
        return None
    could, free, waiting_since = ticks_with_room(view), 0, window.high
    for tick in view.ticks:
        if not since.index < tick.index < end or tick.now_ms < window.high:
            continue
        if tick.index not in could:
            free, waiting_since = 0, tick.now_ms
            continue
        free += 1
        if free >= TICKS and tick.now_ms >= waiting_since + SWEEP_MS:
            return tick
    return None


def _pause_until(
    view: ChannelView, previous: RequestedMessage | None, copies: list[Received], asked: RequestedMessage
) -> int:
    """The time, in epoch milliseconds, until which a request may be ignored because an answer or a copy came before."""
    ends = [c.step.now_ms for c in copies if c.step.index < asked.received.step.index]
    ends += [a.step.now_ms for a in previous.answers] if previous is not None else []
    if not ends:
        return 0
    return max(ends) + view.terms.t_min_ms if view.terms.t_min_ms is not None else NEVER


def _names_right_author(view: ChannelView, asked: RequestedMessage, received: Received) -> bool:
    """Must a received message's request be honoured, and does it name the right author of the requested message?"""
    if not must_honour_request(received) or received.message.message_id == asked.message_id:
        return False
    authors = authors_by_requested_id(view, received).get(asked.message_id)
    return authors == {asked.author}


def authors_by_requested_id(view: ChannelView, received: Received) -> dict[str, set[str | None]]:
    """By requested message ID: the authors of the message that a repair request names."""
    known, index = _known_requests(view), received.step.index
    if index not in known:
        authors = known[index] = {}
        for entry in received.message.repair_request:
            authors.setdefault(entry.message_id, set()).add(entry.sender_id)
    return known[index]


@cache_per_view
def _known_requests(_: ChannelView) -> dict[int, dict[str, set[str | None]]]:
    """Results of `authors_by_requested_id` by step, cached because many requests look up the same message."""
    return {}


def _window(
    view: ChannelView, asked: RequestedMessage, request: Received, end: int, *, fixes_time: bool
) -> tuple[Window | None, bool]:
    further = min((r.step.index for r in asked.repeats if r.step.index > request.step.index), default=NEVER)
    # An effect that shows only after a further request may belong to that request.
    until = min(further, end)
    shown = [d for observed, d in shown_t_resp(view, asked) if request.step.index < observed.step.index < until]
    due = next((due for due in shown if due is not None), None)
    if due is not None:
        return Window(due, due), True
    offsets = view.terms.t_resp(asked.author, asked.message_id)
    if not fixes_time and view.terms.t_max_ms:
        offsets = Window(0, view.terms.t_max_ms)
    return (offsets.after(request.step.now_ms) if offsets is not None else None), False


def is_certainly_answer(view: ChannelView, message_id: str, answer: Step) -> bool:
    """Is the broadcast of an own message in step ``answer`` certainly an answer?

    It always is if the implementation does not declare resends, because resends must be declared (AMB-120).
    """
    return not view.can(pb.CAPABILITY_RESEND) or is_no_resend(view, message_id, answer)


def is_no_resend(view: ChannelView, message_id: str, answer: Step) -> bool:
    """Is the broadcast of an own message in step ``answer`` certainly no resend, whether resends are declared or not?

    It is certainly no resend if the own message was acknowledged before, or if less than a resend period has passed
    since the first broadcast. A participant that does not declare CAPABILITY_RESEND_PERIOD may resend at every tick,
    whatever period it reports. If the clock has gone back, the time that has passed proves nothing, because resend
    timers may have gone back too.
    """
    if any(m.in_history and m.message_id == message_id and m.received.step.index < answer.index for m in view.mentions):
        return True
    c, sent = view.configuration, view.own(message_id)
    periods: list[int] = [p for p in (c.resend_unacknowledged_ms, c.resend_possibly_acknowledged_ms) if p]
    known = c.HasField("resend_unacknowledged_ms") and c.HasField("resend_possibly_acknowledged_ms") and bool(periods)
    known = known and view.can(pb.CAPABILITY_RESEND_PERIOD)
    if not known or sent is None or not clock_never_goes_back(view, sent.step, answer):
        return False
    waited: int = answer.now_ms - sent.step.now_ms
    return 0 <= waited < min(periods)
